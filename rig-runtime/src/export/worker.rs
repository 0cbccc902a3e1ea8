//! What does an exporter do all day?
//!
//! Rows after the cursor go out in a batch; once they have arrived, the cursor moves. Whatever fails is done again, later and
//! later, and since the rows are in the store nothing is lost meanwhile.

use std::sync::Arc;
use std::time::Duration;

use uuid::Uuid;

use super::Destination;
use super::desk::{Attended, Desk};
use crate::clock::{Clock, within};
use crate::id;
use crate::provider::asked_wait;
use crate::store::{ExportNext, ExportTurn, Exported, Store};
use crate::transport::Transport;

/// The most rows of a request.
const MOST: u32 = 512;

/// How long rows are collected after the first.
const COLLECT: Duration = Duration::from_millis(500);

/// How often an exporter looks that nobody has told of new rows: another process may write to the store.
const IDLE: Duration = Duration::from_secs(30);

/// How long an exporter lets another process have its turn before it asks again.
const OTHERS_TURN: Duration = Duration::from_secs(1);

/// The longest that a request may take.
const TIMEOUT: Duration = Duration::from_secs(30);

/// How long a turn binds others, if its process dies.
const LEASE: Duration = Duration::from_secs(60);

/// The longest wait after failures.
const LONGEST_BACKOFF: Duration = Duration::from_secs(60);

/// The longest wait that a receiver may ask for.
const LONGEST_WISH: Duration = Duration::from_secs(240);

pub(super) struct Worker {
    destination: Box<dyn Destination>,
    store: Arc<dyn Store>,
    transport: Box<dyn Transport>,
    clock: Arc<dyn Clock>,
    id: Uuid,
}

/// What came of asking for rows once.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Round {
    /// Rows have arrived.
    Delivered,
    /// There was none.
    Nothing,
    /// It is another process's turn.
    Taken,
    /// They have not arrived.
    Failed(Refused),
}

/// Why rows have not arrived.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Refused {
    reason: String,
    /// How long the receiver asks to wait.
    wish: Option<Duration>,
    /// Whether fewer rows at once would help.
    is_too_much: bool,
}

/// What failures have taught.
struct Pace {
    failures: u32,
    most: u32,
}

impl Pace {
    const fn new() -> Self {
        Self {
            failures: 0,
            most: MOST,
        }
    }

    /// Returns how long to wait after another failure: 1 s, doubled each time, at most a minute; longer if the receiver
    /// asks for it.
    fn fail(&mut self, refused: &Refused) -> Duration {
        if refused.is_too_much {
            self.most = (self.most / 2).max(1);
        }
        let backoff = Duration::from_secs(1 << self.failures.min(6)).min(LONGEST_BACKOFF);
        self.failures += 1;
        let wish = refused.wish.map(|wish| wish.min(LONGEST_WISH));
        wish.map_or(backoff, |wish| wish.max(backoff))
    }
}

impl Worker {
    pub(super) fn new(
        destination: Box<dyn Destination>,
        store: Arc<dyn Store>,
        transport: Box<dyn Transport>,
        clock: Arc<dyn Clock>,
    ) -> Self {
        let id = id::fresh(&*clock);
        Self {
            destination,
            store,
            transport,
            clock,
            id,
        }
    }

    /// Exports until nobody needs it any more.
    pub(super) async fn run(self, mut desk: Desk) {
        let mut pace = Pace::new();
        while let Some(round) = desk.work(self.round(pace.most)).await {
            let paused = match round {
                Round::Delivered => {
                    pace.failures = 0;
                    continue;
                }
                Round::Nothing => {
                    desk.settle();
                    self.rest(&mut desk).await
                }
                Round::Taken => desk.pause(OTHERS_TURN).await,
                Round::Failed(refused) => {
                    let wait = pace.fail(&refused);
                    let (exporter, reason) = (self.destination.name(), refused.reason);
                    let wait_s = wait.as_secs();
                    tracing::warn!(exporter, reason, wait_s, "rows could not be exported");
                    desk.pause(wait).await
                }
            };
            if paused == Attended::Stopped {
                break;
            }
        }
        // Nobody has to wait for a turn that nobody uses. It is not ours if the store cannot say so.
        let _ = self.done(None).await;
    }

    /// Waits for rows, and for some more.
    async fn rest(&self, desk: &mut Desk) -> Attended<()> {
        match desk.until_poked(IDLE).await {
            Attended::Done(()) if !desk.is_hurried() => desk.pause(COLLECT).await,
            other => other,
        }
    }

    /// Sends the next rows, if there are any.
    pub(super) async fn round(&self, most: u32) -> Round {
        let now_ms = millis(self.clock.wall());
        let turn = ExportTurn {
            exporter: self.destination.name().to_owned(),
            worker: self.id.to_string(),
            now_ms,
            lapses_ms: now_ms.saturating_add(millis(LEASE)),
            most,
        };
        let batch = match self.store.next_export(turn).await {
            Ok(ExportNext::Rows(batch)) => batch,
            Ok(ExportNext::Nothing) => return Round::Nothing,
            Ok(ExportNext::Taken) => return Round::Taken,
            Err(error) => return Round::Failed(Refused::of(error.to_string())),
        };
        let sent = match self.destination.request(&batch.rows) {
            Some(request) => self.send(request).await,
            None => Ok(()),
        };
        let cursor = sent.is_ok().then_some(batch.cursor);
        let noted = self.done(cursor).await;
        match sent.and(noted) {
            Ok(()) => Round::Delivered,
            Err(refused) => Round::Failed(refused),
        }
    }

    async fn done(&self, cursor: Option<String>) -> Result<(), Refused> {
        let done = Exported {
            exporter: self.destination.name().to_owned(),
            worker: self.id.to_string(),
            cursor,
        };
        let done = self.store.exported(done).await;
        done.map_err(|error| Refused::of(error.to_string()))
    }

    /// Sends a request. The answer's body says nothing that would change anything.
    async fn send(&self, request: crate::transport::Request) -> Result<(), Refused> {
        let sent = within(&*self.clock, TIMEOUT, self.transport.send(request)).await;
        let response = match sent {
            Some(Ok(response)) => response,
            Some(Err(error)) => return Err(Refused::of(error.message)),
            None => return Err(Refused::of("no answer".to_owned())),
        };
        response.body.finish();
        if (200..300).contains(&response.status) {
            return Ok(());
        }
        Err(Refused {
            reason: format!("status {}", response.status),
            wish: asked_wait(&response.headers),
            is_too_much: response.status == 413,
        })
    }
}

impl Refused {
    fn of(reason: String) -> Self {
        Self {
            reason,
            wish: None,
            is_too_much: false,
        }
    }
}

fn millis(time: Duration) -> i64 {
    i64::try_from(time.as_millis()).unwrap_or(i64::MAX)
}
