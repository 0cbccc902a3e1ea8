//! What does a case's call meet? A transport that answers whoever is asked in his own dialect, and a clock whose
//! waits are told apart; both can make the caller go away.

use std::collections::VecDeque;
use std::future::pending;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use rig::Clock;
use rig::testing::{ManualClock, ScriptedTransport};
use rig::transport::{Body, BoxFuture, Request, Response, Transport, TransportError};

use super::case::{Reply, What};
use super::wire::scripted;

/// What the caller gives; it is in no request that is not about the task.
pub(super) const TASK: &str = "Is the zebra striped?";

/// What a conformant answer says.
pub(super) const GOOD: &str = r#"{"answer":"ok"}"#;

/// What the caller's quality gate rejects.
pub(super) const UNLIKED: &str = r#"{"answer":"no"}"#;

/// The caller's place in the cache of `echo`.
pub(super) const HANDLE: &str = "cachedContents/here";

/// What stands in answers that were cut; it is in no request.
pub(super) const CUT: &str = "walrus";

/// The world of one run. Cloning it gives another handle.
#[derive(Clone)]
pub(super) struct World {
    pub(super) clock: ManualClock,
    transport: ScriptedTransport,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    script: VecDeque<Reply>,
    /// The wait before a retry, from 1, in which the caller goes away.
    leaves_in_wait: Option<usize>,
    asked: Vec<Asked>,
    backoffs: Vec<u64>,
    backoffs_begun: usize,
    /// The requests that are under way; never more than one.
    under_way: u32,
    /// The caller goes away after this time.
    leaving: Option<Duration>,
}

/// What one request was.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Asked {
    /// The host's name.
    pub(super) host: String,
    pub(super) model: String,
    /// When, in milliseconds from the clock's start.
    pub(super) at: u64,
    /// Whether it states the schema in words.
    pub(super) coached: bool,
    /// Whether it holds what the caller gave.
    pub(super) has_task: bool,
    /// Whether it holds text of an answer that was cut.
    pub(super) has_cut: bool,
    /// Whether it carries its host's key.
    pub(super) has_key: bool,
    /// Whether it names the caller's place in a cache.
    pub(super) has_handle: bool,
    /// Whether it asks for a stream.
    pub(super) streams: bool,
}

impl World {
    pub(super) fn new(script: &[Reply], leaves_in_wait: Option<usize>) -> Self {
        let clock = ManualClock::new();
        let state = State {
            script: script.iter().copied().collect(),
            leaves_in_wait,
            ..State::default()
        };
        Self {
            transport: ScriptedTransport::new(&clock),
            clock,
            state: Arc::new(Mutex::new(state)),
        }
    }

    /// The time after which the caller goes away, once it has decided to.
    pub(super) fn leaving(&self) -> Option<Duration> {
        self.state().leaving
    }

    pub(super) fn asked(&self) -> Vec<Asked> {
        self.state().asked.clone()
    }

    /// The waits before retries that ran to their end, in milliseconds.
    pub(super) fn backoffs(&self) -> Vec<u64> {
        self.state().backoffs.clone()
    }

    /// The waits before retries that were begun.
    pub(super) fn backoffs_begun(&self) -> usize {
        self.state().backoffs_begun
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    fn leave(&self, after: u64) {
        self.state().leaving = Some(Duration::from_millis(after));
    }
}

impl Clock for World {
    fn wall(&self) -> Duration {
        self.clock.wall()
    }

    fn monotonic(&self) -> Duration {
        self.clock.monotonic()
    }

    /// A wait while a request is under way bounds it; any other is one before a retry.
    fn sleep(&self, duration: Duration) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            let is_backoff = self.state().under_way == 0;
            if is_backoff {
                let leaves = {
                    let mut state = self.state();
                    state.backoffs_begun += 1;
                    state.leaves_in_wait == Some(state.backoffs_begun)
                };
                if leaves {
                    self.leave(0);
                    pending::<()>().await;
                }
            }
            self.clock.sleep(duration).await;
            if is_backoff {
                self.state().backoffs.push(duration.as_millis() as u64);
            }
        })
    }
}

/// A request under way, until it is dropped.
struct UnderWay(World);

impl Drop for UnderWay {
    fn drop(&mut self) {
        self.0.state().under_way -= 1;
    }
}

impl Transport for World {
    fn send(&self, request: Request) -> BoxFuture<'_, Result<Response, TransportError>> {
        Box::pin(async move {
            let (number, reply) = {
                let mut state = self.state();
                state.under_way += 1;
                let at = self.clock.monotonic().as_millis() as u64;
                state.asked.push(Asked::of(&request, at));
                (state.asked.len() - 1, state.script.pop_front())
            };
            let under_way = UnderWay(self.clone());
            let reply = reply.unwrap_or(Reply::now(What::LeavesBeforeHead { after: 0 }));
            if let What::LeavesBeforeHead { after } = reply.what {
                self.leave(after);
                return pending().await;
            }
            let (url, streams) = (&*request.url, streams(&request));
            self.transport.push(scripted(reply, url, streams, number));
            let mut response = self.transport.send(request).await?;
            response.body = Box::new(WatchedBody {
                inner: response.body,
                what: reply.what,
                under_way,
            });
            Ok(response)
        })
    }
}

struct WatchedBody {
    inner: Box<dyn Body>,
    what: What,
    under_way: UnderWay,
}

impl Body for WatchedBody {
    fn chunk(&mut self) -> BoxFuture<'_, Result<Option<Vec<u8>>, TransportError>> {
        if let What::LeavesBeforeEnd { after } = self.what {
            self.under_way.0.leave(after);
            return Box::pin(pending());
        }
        self.inner.chunk()
    }
}

impl Asked {
    fn of(request: &Request, at: u64) -> Self {
        let body = str::from_utf8(&request.body).unwrap();
        let host = request.url.strip_prefix("http://").unwrap();
        let host = host.split(".test").next().unwrap().to_owned();
        // The model is in the body, or in the path.
        let model = body.split(r#""model":""#).nth(1);
        let model = model.or(request.url.split("/models/").nth(1));
        let model = model.map_or("search.test", |rest| rest.split(['"', ':']).next().unwrap());
        let is_key = |(_, value): &(&str, String)| value.contains(&key(&host));
        Self {
            at,
            model: model.to_owned(),
            coached: body.contains("JSON Schema"),
            has_task: body.contains(TASK),
            has_cut: body.contains(CUT),
            has_key: request.headers.iter().any(is_key),
            has_handle: body.contains(HANDLE),
            streams: streams(request),
            host,
        }
    }
}

/// The key of a host.
pub(super) fn key(host: &str) -> String {
    format!("key-of-{host}")
}

fn streams(request: &Request) -> bool {
    request.url.ends_with(":streamGenerateContent?alt=sse")
        || str::from_utf8(&request.body)
            .unwrap()
            .contains(r#""stream":true"#)
}
