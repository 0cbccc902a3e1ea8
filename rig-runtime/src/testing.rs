//! How is a route tested without network, keys, files and waiting?
//!
//! A [`Mock`] is a whole rig that answers by itself; a route's module has it ready as `mock()`, and as `drill()` what the
//! route does when candidates fail. What it is made of can be had singly: a [`ScriptedTransport`] answers what is
//! asked, a [`ManualClock`] lets no time pass but what somebody waits for, and a [`MemoryStore`] keeps the rows. The
//! ladder in between is the real one.
//!
//! ```
//! # use rig_runtime as rig;
//! use rig::Rig;
//! use rig::testing::{ManualClock, MemoryStore, Scripted, ScriptedTransport};
//!
//! let clock = ManualClock::new();
//! let transport = ScriptedTransport::new(&clock);
//! transport.push(Scripted::status(503, "overloaded"));
//! transport.push(Scripted::chat(r#"{"answer": "ok"}"#));
//! let rig = Rig::builder()
//!     .ignore_env()
//!     .key("openai", "test-key")
//!     .transport(transport.clone())
//!     .store(MemoryStore::default())
//!     .clock(clock.clone())
//!     .build()
//!     .expect("nothing is opened");
//! # let _ = rig;
//! ```

use std::collections::VecDeque;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use serde_json::json;

use crate::clock::Clock;
use crate::transport::{BoxFuture, Headers, Request, Response, Transport, TransportError};

pub use crate::store::memory::MemoryStore;

mod drill;
mod mock;
mod pieces;
mod search;

pub use drill::{Drill, DrillAttempt, DrillRun, drill};
pub use mock::Mock;
use pieces::{Piece, ScriptedBody};
pub use pieces::{chat_delta, chat_end};
pub use search::ScriptedSearch;

/// A clock that moves only when somebody waits.
///
/// Of everything that waits on it, the shortest wait ends first, and the time jumps to its end. Cloning it
/// gives another handle on the same time.
#[derive(Clone, Debug, Default)]
pub struct ManualClock(Arc<Mutex<Time>>);

#[derive(Debug, Default)]
struct Time {
    now: Duration,
    /// When the waits under way end; a wait is known by its number.
    waiting: Vec<(u64, Duration)>,
    /// How often something has happened, as that a wait has begun or ended; also the number of the last wait.
    changes: u64,
    waits: Vec<Duration>,
}

/// Answers requests from a script, in order. Cloning it gives another handle on the same script.
#[derive(Clone)]
pub struct ScriptedTransport {
    clock: ManualClock,
    script: Arc<Mutex<Script>>,
}

#[derive(Default)]
struct Script {
    replies: VecDeque<Scripted>,
    requests: Vec<Request>,
}

/// One answer of a [`ScriptedTransport`].
#[derive(Clone, Debug)]
pub struct Scripted {
    status: u16,
    headers: Vec<(String, String)>,
    body: VecDeque<Piece>,
    head_after: Duration,
    fault: Option<TransportError>,
}

/// Runs a future that waits for nothing but a [`ManualClock`], as a call on a [`Mock`] does. It needs no runtime.
///
/// # Panics
///
/// When the future waits for something else, which nothing here would bring.
pub fn block_on<T>(future: impl Future<Output = T>) -> T {
    const MOST_POLLS: u32 = 1_000_000;
    let mut future = pin!(future);
    let mut ctx = Context::from_waker(Waker::noop());
    for _ in 0..MOST_POLLS {
        if let Poll::Ready(value) = future.as_mut().poll(&mut ctx) {
            return value;
        }
    }
    panic!("the future waits for something that no manual clock brings");
}

impl ManualClock {
    /// When its time begins: 2026-01-01 00:00:00 UTC.
    const START: Duration = Duration::from_secs(1_767_225_600);

    /// Returns a clock that stands at 2026-01-01 00:00:00 UTC.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Moves the time on.
    pub fn advance(&self, by: Duration) {
        self.time().now += by;
    }

    /// Returns the waits that ran to their end, in order: backoffs, and timeouts that fired.
    #[must_use]
    pub fn waits(&self) -> Vec<Duration> {
        self.time().waits.clone()
    }

    fn time(&self) -> MutexGuard<'_, Time> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Holds the time where it is until everybody who waits has been asked once more.
    fn stir(&self) {
        self.time().changes += 1;
    }

    /// How many milliseconds of the machine's time [`Clock::linger`] leaves to a disk.
    const MOMENTS: u32 = 200;

    /// Waits without a trace in [`ManualClock::waits`].
    async fn pass(&self, duration: Duration) {
        if duration.is_zero() {
            return;
        }
        let mut wait = Wait {
            clock: self,
            duration,
            begun: None,
        };
        poll_fn(|cx| wait.poll(cx)).await;
    }
}

/// A wait under way; dropping it ends it.
struct Wait<'a> {
    clock: &'a ManualClock,
    duration: Duration,
    begun: Option<Begun>,
}

#[derive(Clone, Copy)]
struct Begun {
    number: u64,
    end: Duration,
    /// The changes that this wait had seen when it was last polled.
    seen: u64,
}

impl Wait<'_> {
    /// Lets the time jump only if nothing has changed since the last poll, so that everything which waits at
    /// this moment is known before the shortest wait ends.
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let mut time = self.clock.time();
        let Some(begun) = &mut self.begun else {
            let end = time.now + self.duration;
            time.changes += 1;
            let number = time.changes;
            time.waiting.push((number, end));
            self.begun = Some(Begun {
                number,
                end,
                seen: number,
            });
            cx.waker().wake_by_ref();
            return Poll::Pending;
        };
        let is_quiet = begun.seen == time.changes;
        let is_shortest = time.waiting.iter().all(|(_, end)| begun.end <= *end);
        if begun.end > time.now && !(is_quiet && is_shortest) {
            begun.seen = time.changes;
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        time.now = time.now.max(begun.end);
        Poll::Ready(())
    }
}

impl Drop for Wait<'_> {
    fn drop(&mut self) {
        if let Some(begun) = self.begun {
            let mut time = self.clock.time();
            time.changes += 1;
            time.waiting.retain(|(number, _)| *number != begun.number);
        }
    }
}

impl Clock for ManualClock {
    fn wall(&self) -> Duration {
        Self::START + self.monotonic()
    }

    fn monotonic(&self) -> Duration {
        self.time().now
    }

    fn sleep(&self, duration: Duration) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            if duration.is_zero() {
                self.stir();
            }
            self.pass(duration).await;
            self.time().waits.push(duration);
        })
    }

    fn linger(&self, duration: Duration) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            let mut moments = 0;
            poll_fn(|cx| {
                if moments == Self::MOMENTS {
                    return Poll::Ready(());
                }
                moments += 1;
                std::thread::park_timeout(Duration::from_millis(1));
                cx.waker().wake_by_ref();
                Poll::Pending
            })
            .await;
            self.sleep(duration).await;
        })
    }
}

impl ScriptedTransport {
    /// Returns a transport without replies, whose delays pass on this clock.
    #[must_use]
    pub fn new(clock: &ManualClock) -> Self {
        Self {
            clock: clock.clone(),
            script: Arc::default(),
        }
    }

    /// Adds a reply to the end of the script. A request that finds the script empty fails.
    pub fn push(&self, reply: Scripted) {
        self.script().replies.push_back(reply);
    }

    /// Returns the requests so far, in order.
    #[must_use]
    pub fn requests(&self) -> Vec<Request> {
        self.script().requests.iter().map(copy).collect()
    }

    fn script(&self) -> MutexGuard<'_, Script> {
        self.script.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Transport for ScriptedTransport {
    fn send(&self, request: Request) -> BoxFuture<'_, Result<Response, TransportError>> {
        Box::pin(async move {
            let reply = {
                let mut script = self.script();
                script.requests.push(request);
                script.replies.pop_front()
            };
            let reply = reply.unwrap_or_else(|| Scripted::fault("the script has no reply left"));
            reply.arrive(&self.clock).await
        })
    }
}

impl Scripted {
    /// Replies with a status and a body.
    #[must_use]
    pub fn status(status: u16, body: impl Into<Vec<u8>>) -> Self {
        Self {
            status,
            headers: Vec::new(),
            body: [Piece::Bytes(Duration::ZERO, body.into())].into(),
            head_after: Duration::ZERO,
            fault: None,
        }
    }

    /// Replies with 200 and this answer, as the OpenAI chat dialect writes it; it used 100 tokens in and 20
    /// out.
    #[must_use]
    pub fn chat(answer: &str) -> Self {
        Self::status(200, chat_completion(answer, "stop", 100, 20))
    }

    /// Fails without a response.
    #[must_use]
    pub fn fault(message: impl Into<String>) -> Self {
        Self {
            fault: Some(TransportError::new(message)),
            ..Self::status(0, "")
        }
    }

    /// Fails without a response, and no byte of the request was sent.
    #[must_use]
    pub fn unsent(message: impl Into<String>) -> Self {
        Self {
            fault: Some(TransportError::unsent(message)),
            ..Self::status(0, "")
        }
    }

    /// Arrives as a transport brings it, in the time of this clock.
    async fn arrive(self, clock: &ManualClock) -> Result<Response, TransportError> {
        clock.pass(self.head_after).await;
        if let Some(fault) = self.fault {
            return Err(fault);
        }
        Ok(Response {
            status: self.status,
            headers: Headers::new(self.headers),
            body: Box::new(ScriptedBody {
                clock: clock.clone(),
                pieces: self.body,
            }),
        })
    }

    /// Adds a header.
    #[must_use]
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// Lets this much time pass before the head, or the fault.
    #[must_use]
    pub fn after(mut self, delay: Duration) -> Self {
        self.head_after = delay;
        self
    }

    /// Lets this much time pass between head and body.
    #[must_use]
    pub fn body_after(mut self, delay: Duration) -> Self {
        if let Some(Piece::Bytes(after, _)) = self.body.front_mut() {
            *after = delay;
        }
        self
    }
}

/// Returns a response body of the OpenAI chat dialect.
#[must_use]
pub fn chat_completion(
    answer: &str,
    finish_reason: &str,
    tokens_in: u64,
    tokens_out: u64,
) -> String {
    json!({
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "model": "scripted",
        "choices": [{
            "index": 0,
            "message": { "role": "assistant", "content": answer },
            "finish_reason": finish_reason,
        }],
        "usage": {
            "prompt_tokens": tokens_in,
            "completion_tokens": tokens_out,
            "total_tokens": tokens_in.saturating_add(tokens_out),
        },
    })
    .to_string()
}

fn copy(request: &Request) -> Request {
    Request {
        url: request.url.clone(),
        headers: request.headers.clone(),
        body: request.body.clone(),
        departure: request.departure.clone(),
    }
}
