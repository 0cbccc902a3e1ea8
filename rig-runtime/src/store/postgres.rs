//! How are rows and envelopes kept in a PostgreSQL database, for many machines at once?
//!
//! As in [`super::sqlite`], with the same promises: one thread owns the connection, and whatever has queued up becomes one
//! transaction. A connection that is cut is made anew, and what it was asked is asked again: rows, reservations and
//! settlements have ids, so that doing them twice does them once. Everything is in a schema of its own, `modelrig`.
//!
//! **Invariant:** a row whose [`Store::flush`] has returned `Ok` is committed at the server.

use std::convert::Infallible;
use std::fmt;
use std::future::ready;
use std::time::Duration;

use ::postgres::Error;
use rig_spec::Usd;

use super::ledger::Ledger;
use super::location;
use super::queue::{Ask, Asked, Queue, Record, Tables};
use super::{
    AttemptRow, Capture, ChargeRow, Envelope, EnvelopeState, ExportNext, ExportState, ExportTurn,
    Exported, Grade, ObservedLatency, Page, Prune, Pruned, Reserve, Reserved, Spend, Spending,
    Store, StoreError, VerdictRow, VerdictsOf,
};
use crate::transport::BoxFuture;

mod accounts;
mod columns;
mod exports;
mod prune;
mod reading;
mod schema;
mod session;
mod verdicts;

use accounts::{Money, Needs};
use session::{Server, Session};

/// How often something is tried at a server that is not there: at once, and after pauses that double from
/// [`FIRST_PAUSE`], 6.35 s together.
const TRIES: u32 = 8;

const FIRST_PAUSE: Duration = Duration::from_millis(50);

/// Keeps rows in the table `modelrig.inferences` of a PostgreSQL database.
///
/// Dropping the store writes what is queued and waits for it.
pub struct PostgresStore {
    location: String,
    queue: Queue<Database>,
}

/// The database, on the writer's thread.
struct Database {
    server: Server,
    /// `None` after a failure, until it is needed.
    session: Option<Session>,
    /// Whether the last work was given up because nobody answered. Then the next is tried once, so that calls do not each
    /// wait for a server that is gone.
    is_gone: bool,
}

/// What is asked between transactions.
type Read = Box<dyn Ask<Session, Error>>;

impl PostgresStore {
    /// Opens a database by its URL, `postgres://user:password@host:port/database`, and creates the tables where they are
    /// missing.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::Newer`] for the tables of a newer version, and [`StoreError::Unavailable`] for a database that
    /// cannot be reached, written or read as a telemetry store. Neither shows who connects, or with which password.
    pub fn open(url: &str) -> Result<Self, StoreError> {
        let location = location::shown(url);
        let server = Server::new(url).map_err(|reason| StoreError::Unavailable {
            location: location.clone(),
            reason,
        })?;
        let place = location.clone();
        // On the writer's thread, since the client must not wait on one that runs futures.
        let queue = Queue::start(&location, move || Database::open(server, place))?;
        Ok(Self { location, queue })
    }

    /// Returns how many rows could not be stored since the store was opened.
    #[must_use]
    pub fn lost_rows(&self) -> u64 {
        self.queue.lost_rows()
    }

    /// Has the writer ask something between two transactions, once more if the connection is cut.
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

    fn flush(&self) -> BoxFuture<'_, Result<(), StoreError>> {
        self.queue.flush()
    }

    fn attempts(&self, run_id: &str) -> BoxFuture<'_, Result<Vec<AttemptRow>, StoreError>> {
        let run_id = run_id.to_owned();
        let rows = self.read(move |session| columns::of_run(session, &run_id));
        Box::pin(async move { readable(rows.await?) })
    }

    fn page(&self, of: Page) -> BoxFuture<'_, Result<Vec<AttemptRow>, StoreError>> {
        let rows = self.read(move |session| columns::of_page(session, &of));
        Box::pin(async move { readable(rows.await?) })
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
        let envelope = storable(envelope);
        let needs = Needs {
            opens: Some(envelope.clone()),
            now_ms: Some(now_ms),
            ..Needs::default()
        };
        self.decide(needs, move |ledger| ledger.open(&envelope, now_ms))
    }

    fn reserve(&self, wanted: Reserve) -> BoxFuture<'_, Result<Reserved, StoreError>> {
        let envelope = storable(wanted.envelope);
        let wanted = Reserve { envelope, ..wanted };
        let needs = Needs {
            opens: Some(wanted.envelope.clone()),
            charge: Some(wanted.id.clone()),
            now_ms: Some(wanted.now_ms),
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
        // Nobody waits for it.
        drop(self.decide(needs, move |ledger| ledger.settle(&id, charge)));
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
        let is_known = self.read(move |session| verdicts::grade(session, &grade));
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

impl Database {
    fn open(server: Server, location: String) -> Result<Self, StoreError> {
        let opened = server.connect().map_err(schema::Unusable::from);
        let opened = opened.and_then(|mut session| {
            schema::migrate(session.client())?;
            Ok(session)
        });
        let session = opened.map_err(|unusable| unusable.at(location))?;
        Ok(Self {
            server,
            session: Some(session),
            is_gone: false,
        })
    }

    /// Does something that may be done twice, on a connection that is made anew as often as it is cut.
    fn persist(
        &mut self,
        mut work: impl FnMut(&mut Session) -> Result<(), Error>,
    ) -> Result<(), StoreError> {
        let tries = if self.is_gone { 1 } else { TRIES };
        let mut pause = Duration::ZERO;
        for left in (0..tries).rev() {
            let Err(error) = self.attempt(&mut work) else {
                self.is_gone = false;
                return Ok(());
            };
            // Whatever the transaction had done is undone with its connection.
            self.session = None;
            let is_passing = session::is_passing(&error);
            if left == 0 || !is_passing {
                self.is_gone = is_passing;
                return Err(failed(&error));
            }
            std::thread::park_timeout(pause);
            pause = (pause * 2).max(FIRST_PAUSE);
        }
        Ok(())
    }

    fn attempt(
        &mut self,
        work: &mut impl FnMut(&mut Session) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let session = match &mut self.session {
            Some(session) => session,
            none => none.insert(self.server.connect()?),
        };
        work(session)
    }
}

impl Tables for Database {
    type Write = Money;
    type Read = Read;

    fn commit(&mut self, records: &[Record], writes: &mut [Money]) -> Result<(), StoreError> {
        self.persist(|session| {
            let mut money: Vec<_> = writes.iter_mut().collect();
            accounts::open(session, &money)?;
            session.transact(|session| {
                columns::insert(session, records)?;
                accounts::decide(session, &mut money)
            })
        })
    }

    fn answer(write: Money, committed: Result<(), StoreError>) {
        write.ask.answer(committed);
    }

    fn read(&mut self, mut read: Read) {
        let done = self.persist(|session| read.apply(session));
        read.answer(done);
    }
}

/// Returns rows that this build can read, all of them.
fn readable(rows: Vec<Option<AttemptRow>>) -> Result<Vec<AttemptRow>, StoreError> {
    let rows: Option<Vec<_>> = rows.into_iter().collect();
    rows.ok_or_else(|| StoreError::Failed {
        reason: "a column holds an unknown value".to_owned(),
    })
}

/// Returns the envelope under a name that a database can hold.
fn storable(envelope: Envelope) -> Envelope {
    Envelope {
        name: columns::text(&envelope.name).into_owned(),
        ..envelope
    }
}

fn failed(error: &Error) -> StoreError {
    StoreError::Failed {
        reason: session::reason(error),
    }
}

#[cfg(test)]
mod tests;
