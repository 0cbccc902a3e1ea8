//! What do the calls of a case meet? A transport that answers whoever is asked in his own dialect, a store that takes its
//! time, and a clock whose waits are told apart; all can make the caller go away.
//!
//! There may be two runs in one world. Whose turn it is is known from who is polled.

use std::collections::VecDeque;
use std::future::{pending, poll_fn, ready};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::Poll;
use std::time::Duration;

use rig::Clock;
use rig::store::{Reserve, StoreError};
use rig::testing::{ManualClock, ScriptedTransport};
use rig::transport::{Body, BoxFuture, Request, Response, Transport, TransportError};
use tests::Waits;

use super::asked::{Asked, streams};
use super::case::{Answers, Case, Keeper, Reply, What, output};
use super::wire::{Written, scripted};

/// What the caller of each run gives; it is in no request that is not about the task.
pub(super) const TASKS: [&str; 2] = ["Is the zebra striped?", "Is the whale a fish?"];

/// What a conformant answer says, in each run.
pub(super) const GOOD: [&str; 2] = [r#"{"answer":"ok"}"#, r#"{"answer":"fine"}"#];

/// What the caller's quality gate rejects.
pub(super) const UNLIKED: &str = r#"{"answer":"no"}"#;

/// The caller's place in the cache of `echo`.
pub(super) const HANDLE: &str = "cachedContents/here";

/// What stands in answers that were cut; it is in no request.
pub(super) const CUT: &str = "walrus";

/// The world of one or two runs. Cloning it gives another handle.
#[derive(Clone)]
pub(super) struct World {
    pub(super) clock: ManualClock,
    transport: ScriptedTransport,
    runs: Arc<[Mutex<State>]>,
    turn: Arc<AtomicUsize>,
}

/// What happens to one run. Times are in milliseconds from its start.
#[derive(Default)]
pub(super) struct State {
    script: VecDeque<Reply>,
    store: Keeper,
    /// The most output tokens that an answer has.
    output: u64,
    /// When it began, from the clock's start.
    began: u64,
    /// The wait before a retry, from 1, in which the caller goes away.
    leaves_in_wait: Option<usize>,
    pub(super) asked: Vec<Asked>,
    /// The waits before retries that ran to their end.
    pub(super) backoffs: Vec<u64>,
    /// The waits before retries that were begun.
    pub(super) backoffs_begun: usize,
    /// What was to be reserved: ids, and amounts in nano-dollars.
    pub(super) reserves: Vec<(String, u64)>,
    /// The waits for the store and for the caller's gate, from when to when.
    pub(super) pauses: Vec<(u64, u64)>,
    /// When the rows began to be waited for.
    pub(super) flushed: Option<u64>,
    /// The requests that are under way; never more than one.
    under_way: u32,
    /// Whether the last request is held back by the transport.
    pub(super) is_held: bool,
    /// What is waited for in a pause.
    pub(super) pausing: Option<Pausing>,
    /// The caller goes away after this time.
    leaving: Option<Duration>,
}

/// What a run waits for that is neither an answer nor a retry.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Pausing {
    Gate,
    Room,
    Reserve,
    Flush,
}

impl World {
    pub(super) fn new(cases: &[&Case]) -> Self {
        let clock = ManualClock::new();
        let state = |case: &&Case| {
            Mutex::new(State {
                script: case.script.iter().copied().collect(),
                store: case.store.clone(),
                output: output(case.route),
                leaves_in_wait: case.leaves_in_wait,
                ..State::default()
            })
        };
        Self {
            transport: ScriptedTransport::new(&clock),
            clock,
            runs: cases.iter().map(state).collect(),
            turn: Arc::default(),
        }
    }

    /// Whether there are two runs.
    pub(super) fn is_shared(&self) -> bool {
        self.runs.len() > 1
    }

    /// Says whose turn it is.
    pub(super) fn turn(&self, run: usize) {
        self.turn.store(run, Ordering::Relaxed);
    }

    /// The state of the run whose turn it is.
    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.runs[self.turn.load(Ordering::Relaxed)].lock().unwrap()
    }

    /// The time after which the caller goes away, once it has decided to.
    pub(super) fn leaving(&self) -> Option<Duration> {
        self.state().leaving
    }

    /// Milliseconds from the run's start.
    pub(super) fn now(&self) -> u64 {
        self.clock.monotonic().as_millis() as u64 - self.state().began
    }

    /// Begins the run whose turn it is, after this many milliseconds.
    pub(super) async fn begin(&self, after: u64) {
        self.clock.sleep(Duration::from_millis(after)).await;
        self.state().began = after;
    }

    /// The caller's judgement takes this many milliseconds.
    pub(super) async fn judge(self, ms: u64) {
        let _pause = Pause::begin(&self, Pausing::Gate);
        self.clock.sleep(Duration::from_millis(ms)).await;
    }

    /// Lets everybody else have a turn, and no time pass.
    pub(super) async fn step_aside(&self) {
        let mut is_back = false;
        poll_fn(|cx| {
            if std::mem::replace(&mut is_back, true) {
                return Poll::Ready(());
            }
            // A wait that begins and ends holds the time where it is until everybody was polled once more.
            let mut wait = self.clock.sleep(Duration::from_millis(1));
            let _ = wait.as_mut().poll(cx);
            Poll::Pending
        })
        .await;
    }

    /// Notes what is to be reserved.
    pub(super) fn reserves(&self, wanted: &Reserve) {
        let reserve = (wanted.id.clone(), wanted.amount.as_nanos());
        self.state().reserves.push(reserve);
    }

    /// How the store answers.
    pub(super) fn answers(&self, waits: Waits) -> BoxFuture<'static, Result<(), StoreError>> {
        let (answers, pausing) = {
            let now = self.now();
            let mut state = self.state();
            let number = state.reserves.len().wrapping_sub(1);
            match waits {
                Waits::Room => (state.store.room, Pausing::Room),
                Waits::Reserve => {
                    let reserves = &state.store.reserves;
                    let answers = reserves.get(number).copied().unwrap_or_default();
                    (answers, Pausing::Reserve)
                }
                Waits::Flush => {
                    state.flushed = Some(now);
                    (state.store.flush, Pausing::Flush)
                }
            }
        };
        if let Answers::After(0) = answers {
            return Box::pin(ready(Ok(())));
        }
        let world = self.clone();
        Box::pin(async move {
            let _pause = Pause::begin(&world, pausing);
            let (Answers::After(ms) | Answers::Fails(ms)) = answers else {
                return pending().await;
            };
            world.clock.sleep(Duration::from_millis(ms)).await;
            match answers {
                Answers::Fails(_) => Err(StoreError::Failed {
                    reason: "the disk is full".to_owned(),
                }),
                Answers::After(_) | Answers::Never => Ok(()),
            }
        })
    }

    fn leave(&self, after: u64) {
        self.state().leaving = Some(Duration::from_millis(after));
    }
}

/// A wait for the store or the gate, until it is dropped.
struct Pause {
    world: World,
    pausing: Pausing,
    since: u64,
}

impl Pause {
    fn begin(world: &World, pausing: Pausing) -> Self {
        world.state().pausing = Some(pausing);
        Self {
            world: world.clone(),
            pausing,
            since: world.now(),
        }
    }
}

impl Drop for Pause {
    fn drop(&mut self) {
        let now = self.world.now();
        let mut state = self.world.state();
        if self.pausing != Pausing::Flush && self.since < now {
            state.pauses.push((self.since, now));
        }
        state.pausing = None;
    }
}

impl Clock for World {
    fn wall(&self) -> Duration {
        self.clock.wall()
    }

    fn monotonic(&self) -> Duration {
        self.clock.monotonic()
    }

    /// A wait while a request is under way, or a judgement, bounds it; any other is one before a retry.
    fn sleep(&self, duration: Duration) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            let is_backoff = {
                let state = self.state();
                state.under_way == 0 && state.pausing.is_none()
            };
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
                let ms = duration.as_millis() as u64;
                self.state().backoffs.push(ms);
            }
        })
    }

    /// Everything that is waited for comes in this clock's time.
    fn linger(&self, duration: Duration) -> BoxFuture<'_, ()> {
        self.clock.sleep(duration)
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
                let at = self.now();
                let run = self.turn.load(Ordering::Relaxed);
                let mut state = self.state();
                state.under_way += 1;
                state.asked.push(Asked::of(&request, at, TASKS[run]));
                (state.asked.len() - 1, state.script.pop_front())
            };
            let under_way = UnderWay(self.clone());
            let reply = reply.unwrap_or(Reply::now(What::LeavesBeforeHead { after: 0 }));
            let is_held = reply.held_ms > 0;
            self.state().is_held = is_held;
            if is_held {
                request.departure.hold();
            }
            if let What::LeavesBeforeHead { after } = reply.what {
                self.leave(after);
                return pending().await;
            }
            if is_held {
                let held = Duration::from_millis(reply.held_ms);
                self.clock.sleep(held).await;
                if reply.what != What::Unsent {
                    assert!(request.departure.leave(), "nobody has given up");
                    self.state().is_held = false;
                }
            }
            let written = Written {
                run: self.turn.load(Ordering::Relaxed),
                streams: streams(&request),
                tokens: {
                    let bytes = request.body.len() as u64;
                    reply.usage.tokens(number, bytes, self.state().output)
                },
            };
            self.transport.push(scripted(reply, &request.url, written));
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
