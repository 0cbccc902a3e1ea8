//! What an exporter does all day.
//!
//! It sends the rows after its cursor in batches, and moves the cursor once they have arrived. What an answer means is
//! decided in [`super::pace`]. Since the rows are in the store, nothing is lost while it waits.

use std::sync::Arc;
use std::time::Duration;

use uuid::Uuid;

use super::Destination;
use super::desk::{Attended, Desk};
use super::pace::{Next, Pace, Refused, Sent};
use crate::clock::{Clock, answer_within, within};
use crate::id;
use crate::provider::asked_wait;
use crate::store::{ExportBatch, ExportNext, ExportTurn, Exported, GRACE, PassedOver, Store};
use crate::transport::{Pieces, Request, Response, Transport};

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

/// The longest answer that is looked at, in bytes.
const LONGEST_ANSWER: usize = 64 << 10;

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
    /// There may be more to do at once.
    Again,
    /// There was no row.
    Nothing,
    /// It is another process's turn.
    Taken,
    /// The same is tried again after this long.
    Wait(Duration),
    /// The destination is left alone for this long.
    Pause(Duration),
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
        while let Some(round) = desk.work(self.round(&mut pace)).await {
            let paused = match round {
                Round::Again => continue,
                Round::Nothing => {
                    desk.settle();
                    self.rest(&mut desk).await
                }
                Round::Taken => desk.pause(OTHERS_TURN).await,
                Round::Wait(wait) => desk.pause(wait).await,
                Round::Pause(pause) => {
                    // Whoever waits for it to be done would wait in vain.
                    desk.dismiss();
                    desk.pause(pause).await
                }
            };
            if paused == Attended::Stopped {
                break;
            }
        }
        // Nobody has to wait for a turn that nobody uses. It is not ours if the store cannot say so, and nobody waits for a
        // store that says nothing.
        let end = self.store.exported(self.end_of_turn());
        let _ = answer_within(&*self.clock, GRACE, end).await;
    }

    /// Waits for rows, and for some more.
    async fn rest(&self, desk: &mut Desk) -> Attended<()> {
        match desk.until_poked(IDLE).await {
            Attended::Done(()) if !desk.is_hurried() => desk.pause(COLLECT).await,
            other => other,
        }
    }

    /// Sends the next rows, if there are any.
    pub(super) async fn round(&self, pace: &mut Pace) -> Round {
        let now_ms = millis(self.clock.wall());
        let turn = ExportTurn {
            exporter: self.destination.name().to_owned(),
            worker: self.id.to_string(),
            now_ms,
            lapses_ms: now_ms.saturating_add(millis(LEASE)),
            most: pace.limit(),
        };
        let batch = match self.store.next_export(turn).await {
            Ok(ExportNext::Rows(batch)) => batch,
            Ok(ExportNext::Nothing) => return Round::Nothing,
            Ok(ExportNext::Taken) => return Round::Taken,
            Err(error) => return self.end(pace.after_store(), &error.to_string()),
        };
        let (next, reason) = self.offer(pace, &batch).await;
        let done = Exported {
            cursor: matches!(next, Next::Deliver | Next::SetAside).then_some(batch.cursor),
            set_aside: match next {
                Next::Deliver => batch.passed_over,
                Next::SetAside => {
                    let of = |row: &crate::store::ExportRow| PassedOver {
                        id: row.id.to_string(),
                        reason: reason.clone(),
                    };
                    let refused = batch.rows.iter().map(of);
                    refused.chain(batch.passed_over).collect()
                }
                _ => Vec::new(),
            },
            fault: matches!(next, Next::Wait(_) | Next::Pause(_)).then(|| reason.clone()),
            ..self.end_of_turn()
        };
        self.report_set_aside(&done.set_aside);
        match self.store.exported(done).await {
            Ok(()) => self.end(next, &reason),
            Err(error) => self.end(pace.after_store(), &error.to_string()),
        }
    }

    /// Sends rows, and perhaps an empty request after them; returns what to do, and why.
    async fn offer(&self, pace: &mut Pace, batch: &ExportBatch) -> (Next, String) {
        let Some(request) = self.destination.request(&batch.rows) else {
            return (Next::Deliver, String::new());
        };
        let sent = self.send(request).await;
        let rows: Vec<_> = batch.rows.iter().map(|row| row.id).collect();
        match pace.after(&sent, &rows) {
            Next::Probe => {
                let sent = self.send(self.destination.empty()).await;
                let reason = reason(&sent);
                (pace.after_probe(&sent, rows.first().copied()), reason)
            }
            next => (next, reason(&sent)),
        }
    }

    /// Says what there is to say, and returns how the round ends.
    fn end(&self, next: Next, reason: &str) -> Round {
        let exporter = self.destination.name();
        match next {
            Next::Deliver | Next::Again | Next::Probe | Next::SetAside => Round::Again,
            Next::Wait(wait) => {
                let wait_s = wait.as_secs();
                tracing::warn!(exporter, reason, wait_s, "rows could not be exported");
                Round::Wait(wait)
            }
            Next::Pause(pause) => {
                let pause_s = pause.as_secs();
                tracing::error!(
                    exporter,
                    reason,
                    pause_s,
                    "the destination of exports refuses every request: check its address and its key; no row is lost"
                );
                Round::Pause(pause)
            }
        }
    }

    fn report_set_aside(&self, rows: &[PassedOver]) {
        let Some(first) = rows.first() else {
            return;
        };
        let (exporter, count) = (self.destination.name(), rows.len());
        let (id, reason) = (first.id.as_str(), first.reason.as_str());
        tracing::error!(
            exporter,
            count,
            id,
            reason,
            "rows cannot be exported and were set aside; `cargo rig exports` lists them"
        );
    }

    /// Returns what ends a turn and changes nothing.
    fn end_of_turn(&self) -> Exported {
        Exported {
            exporter: self.destination.name().to_owned(),
            worker: self.id.to_string(),
            cursor: None,
            set_aside: Vec::new(),
            fault: None,
            now_ms: millis(self.clock.wall()),
        }
    }

    /// Sends a request, and reads of the answer what the destination says of its rows.
    async fn send(&self, request: Request) -> Sent {
        let exchange = async {
            let response = self.transport.send(request).await?;
            if !(200..300).contains(&response.status) {
                let wish = asked_wait(&response.headers);
                response.body.finish();
                return Ok(Sent::Refused(Refused::status(response.status, wish)));
            }
            let rejected = match self.destination.reads_answers() {
                true => self.destination.rejected(&answer(response).await),
                false => {
                    response.body.finish();
                    0
                }
            };
            Ok(Sent::Taken { rejected })
        };
        let sent = within(&*self.clock, TIMEOUT, exchange).await;
        match sent {
            Some(Ok(sent)) => sent,
            Some(Err(error)) => {
                let error: crate::transport::TransportError = error;
                Sent::Refused(Refused::passing(error.message))
            }
            None => Sent::Refused(Refused::passing("no answer")),
        }
    }
}

/// Reads the body of a good answer, as far as it comes and no further than it can say something.
async fn answer(response: Response) -> Vec<u8> {
    let mut body = Vec::new();
    let mut pieces = Pieces::new(response.body);
    while let Ok(Some(piece)) = pieces.next(false).await {
        body.extend_from_slice(&piece);
        if body.len() > LONGEST_ANSWER {
            break;
        }
    }
    body
}

/// Returns why rows have not arrived. No word of an answer's body is in it.
fn reason(sent: &Sent) -> String {
    match sent {
        Sent::Taken { rejected: 0 } => String::new(),
        Sent::Taken { .. } => "rejected by a partial success".to_owned(),
        Sent::Refused(refused) => refused.reason.clone(),
    }
}

fn millis(time: Duration) -> i64 {
    i64::try_from(time.as_millis()).unwrap_or(i64::MAX)
}
