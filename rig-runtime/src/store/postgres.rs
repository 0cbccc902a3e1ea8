//! How are rows and envelopes kept in a PostgreSQL database, for many machines at once?
//!
//! As in [`super::sqlite`], with the same promises: one thread owns the connection that writes, and whatever has queued up
//! becomes one transaction; another reads and exports, on a second connection. A connection that is cut is made anew, and what it was asked is asked again: rows, reservations and
//! settlements have ids, so that doing them twice does them once. Everything is in a schema of its own, `modelrig`.
//!
//! **Invariant:** a row whose [`Store::flush`] has returned `Ok` is committed at the server.

use std::convert::Infallible;
use std::fmt;
use std::future::ready;
use std::time::Duration;

use ::postgres::Error;
use rig_spec::Usd;

use super::envelope::check_name;
use super::ledger::Ledger;
use super::location;
use super::queue::{Asked, Queue};
use super::{
    AttemptRow, Capture, ChargeRow, Envelope, EnvelopeState, ExportNext, ExportState, ExportTurn,
    Exported, Grade, ObservedLatency, Page, Prune, Pruned, Reserve, Reserved, Spend, Spending,
    Store, StoreCounts, StoreError, VerdictRow, VerdictsOf,
};
use crate::transport::BoxFuture;

mod accounts;
mod columns;
mod database;
mod exports;
mod prune;
mod reading;
mod schema;
mod session;
mod verdicts;

use accounts::{Money, Needs};
use database::Database;
use session::{Server, Session};

/// How long opening a database may take: connecting, and waiting for another process that creates the tables.
const OPENING: Duration = Duration::from_secs(20);

/// Keeps rows in the table `modelrig.inferences` of a PostgreSQL database.
///
/// Dropping the store writes what is queued, and waits for it for at most [`CLOSE`](super::CLOSE).
pub struct PostgresStore {
    location: String,
    queue: Queue<Database>,
}

impl PostgresStore {
    /// Opens a database by its URL, `postgres://user:password@host:port/database`, and creates the tables where they are
    /// missing.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::Newer`] for the tables of a newer version, and [`StoreError::Unavailable`] for a database that
    /// cannot be reached within 20 seconds, written or read as a telemetry store. Neither shows who connects, or with which password.
    pub fn open(url: &str) -> Result<Self, StoreError> {
        let location = location::shown(url);
        let server = Server::new(url).map_err(|reason| StoreError::Unavailable {
            location: location.clone(),
            reason,
        })?;
        let reader = Database::new(server.clone());
        let place = location.clone();
        // On the writer's thread, since the client must not wait on one that runs futures.
        let open = move || Database::open(server.clone(), place.clone());
        let queue = Queue::start(&location, OPENING, open, reader)?;
        Ok(Self { location, queue })
    }

    /// Returns how many rows could not be stored since the store was opened.
    #[must_use]
    pub fn lost_rows(&self) -> u64 {
        self.queue.counts().lost_rows
    }

    /// Returns how many rows were stored more than [`GRACE`](super::GRACE) after they were handed over.
    #[must_use]
    pub fn late_rows(&self) -> u64 {
        self.queue.counts().late_rows
    }

    /// Has the reader ask something, once more if the connection is cut.
    fn read<T: Send + 'static>(
        &self,
        read: impl FnMut(&mut Session) -> Result<T, Error> + Send + 'static,
    ) -> BoxFuture<'_, Result<T, StoreError>> {
        let (asked, answered) = Asked::new(read);
        self.queue.read(asked, answered)
    }

    /// Has the writer decide something about envelopes, as a part of a transaction.
    fn decide<T: Send + 'static>(
        &self,
        needs: Needs,
        mut decide: impl FnMut(&mut Ledger) -> T + Send + 'static,
    ) -> BoxFuture<'_, Result<T, StoreError>> {
        let (ask, answered) =
            Asked::new(move |ledger: &mut Ledger| Ok::<_, Infallible>(decide(ledger)));
        self.queue.write(Money { needs, ask }, answered)
    }
}

impl Store for PostgresStore {
    fn record(&self, row: AttemptRow) {
        self.queue.record(row, None);
    }

    fn record_captured(&self, row: AttemptRow, capture: Capture) {
        self.queue.record(row, Some(capture));
    }

    fn room(&self) -> BoxFuture<'_, ()> {
        self.queue.room()
    }

    fn counts(&self) -> StoreCounts {
        self.queue.counts()
    }

    fn flush(&self) -> BoxFuture<'_, Result<(), StoreError>> {
        self.queue.flush()
    }

    fn attempts(&self, run_id: &str) -> BoxFuture<'_, Result<Vec<AttemptRow>, StoreError>> {
        let run_id = run_id.to_owned();
        self.read(move |session| columns::of_run(session, &run_id))
    }

    fn page(&self, of: Page) -> BoxFuture<'_, Result<Vec<AttemptRow>, StoreError>> {
        self.read(move |session| columns::of_page(session, &of))
    }

    fn captures(&self, route: &str) -> BoxFuture<'_, Result<Vec<Capture>, StoreError>> {
        let route = route.to_owned();
        self.read(move |session| columns::captures(session, &route))
    }

    fn observed_latency(
        &self,
        route: &str,
    ) -> BoxFuture<'_, Result<Vec<ObservedLatency>, StoreError>> {
        let route = route.to_owned();
        self.read(move |session| reading::observed(session, &route))
    }

    fn spend(&self, of: Spending) -> BoxFuture<'_, Result<Spend, StoreError>> {
        self.read(move |session| reading::spend(session, &of))
    }

    fn open_envelope(
        &self,
        envelope: Envelope,
        now_ms: i64,
    ) -> BoxFuture<'_, Result<EnvelopeState, StoreError>> {
        if let Err(error) = check_name("envelope", &envelope.name) {
            return Box::pin(ready(Err(error)));
        }
        let envelope = storable(envelope);
        let needs = Needs {
            opens: Some(envelope.clone()),
            now_ms: Some(now_ms),
            ..Needs::default()
        };
        self.decide(needs, move |ledger| ledger.open(&envelope, now_ms))
    }

    fn reserve(&self, wanted: Reserve) -> BoxFuture<'_, Result<Reserved, StoreError>> {
        if let Err(error) = check_name("envelope", &wanted.envelope.name) {
            return Box::pin(ready(Err(error)));
        }
        let envelope = storable(wanted.envelope);
        let wanted = Reserve { envelope, ..wanted };
        let needs = Needs {
            opens: Some(wanted.envelope.clone()),
            charge: Some(wanted.id.clone()),
            now_ms: Some(wanted.now_ms),
            // Whoever has gone away keeps nothing from those who still wait.
            asker: true,
            ..Needs::default()
        };
        self.decide(needs, move |ledger| ledger.reserve(&wanted))
    }

    fn settle(&self, id: &str, charge: Option<Usd>) {
        let id = id.to_owned();
        let needs = Needs {
            charge: Some(id.clone()),
            ..Needs::default()
        };
        let settle = move |ledger: &mut Ledger| {
            ledger.settle(&id, charge);
            Ok::<_, Infallible>(())
        };
        // Nobody waits for it.
        let (ask, _) = Asked::new(settle);
        self.queue.settle(Money { needs, ask });
    }

    fn envelope(
        &self,
        name: &str,
        now_ms: i64,
    ) -> BoxFuture<'_, Result<Option<EnvelopeState>, StoreError>> {
        let name = columns::text(name).into_owned();
        let needs = Needs {
            looks_at: Some(name.clone()),
            now_ms: Some(now_ms),
            ..Needs::default()
        };
        self.decide(needs, move |ledger| ledger.state(&name, now_ms).cloned())
    }

    fn envelopes(&self, now_ms: i64) -> BoxFuture<'_, Result<Vec<EnvelopeState>, StoreError>> {
        let names = self.read(accounts::names);
        Box::pin(async move {
            let mut states = Vec::new();
            for name in names.await? {
                states.extend(self.envelope(&name, now_ms).await?);
            }
            Ok(states)
        })
    }

    fn charges(&self, envelope: &str) -> BoxFuture<'_, Result<Vec<ChargeRow>, StoreError>> {
        let envelope = envelope.to_owned();
        self.read(move |session| accounts::charges(session, &envelope))
    }

    fn grade(&self, grade: Grade) -> BoxFuture<'_, Result<(), StoreError>> {
        if !grade.verdict.is_finite() {
            return Box::pin(ready(Err(StoreError::Score)));
        }
        let id = grade.of.id().to_owned();
        let (asked, answered) =
            Asked::new(move |session: &mut Session| verdicts::grade(session, &grade));
        let is_known = self.queue.aside(asked, answered);
        Box::pin(async move {
            match is_known.await? {
                true => Ok(()),
                false => Err(StoreError::Unknown { id }),
            }
        })
    }

    fn verdicts(&self, of: VerdictsOf) -> BoxFuture<'_, Result<Vec<VerdictRow>, StoreError>> {
        self.read(move |session| verdicts::of(session, &of))
    }

    fn next_export(&self, turn: ExportTurn) -> BoxFuture<'_, Result<ExportNext, StoreError>> {
        if let Err(error) = turn.check() {
            return Box::pin(ready(Err(error)));
        }
        self.read(move |session| session.transact(|session| exports::next(session, &turn)))
    }

    fn exported(&self, done: Exported) -> BoxFuture<'_, Result<(), StoreError>> {
        self.read(move |session| session.transact(|session| exports::done(session, &done)))
    }

    fn exports(&self) -> BoxFuture<'_, Result<Vec<ExportState>, StoreError>> {
        self.read(exports::states)
    }

    fn prune(&self, prune: Prune, now_ms: i64) -> BoxFuture<'_, Result<Pruned, StoreError>> {
        Box::pin(async move {
            let of = prune.clone();
            let counted = self.read(move |session| prune::counted(session, &of, now_ms));
            let counted = counted.await?;
            if prune.is_dry {
                return Ok(counted);
            }
            let mut pruned = Pruned {
                kept_unexported: counted.kept_unexported,
                ..Pruned::default()
            };
            let mut after = String::new();
            loop {
                let of = prune.clone();
                let step = self.read(move |session| {
                    session.transact(|session| prune::step(session, &of, now_ms, &after))
                });
                let Some((step, last)) = step.await? else {
                    return Ok(pruned);
                };
                pruned.add(&step);
                after = last;
            }
        })
    }
}

impl fmt::Debug for PostgresStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostgresStore")
            .field("location", &self.location)
            .finish_non_exhaustive()
    }
}

/// Returns the envelope under a name that a database can hold.
fn storable(envelope: Envelope) -> Envelope {
    Envelope {
        name: columns::text(&envelope.name).into_owned(),
        ..envelope
    }
}

#[cfg(test)]
mod tests;
