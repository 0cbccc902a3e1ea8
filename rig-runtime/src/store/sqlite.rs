//! How are rows kept in a SQLite file?
//!
//! One thread owns the connection that writes. Rows, reservations and settlements wait for it in a queue, and whatever has
//! queued up becomes one transaction. Another thread reads, on a connection of its own. Several processes may share a file: it
//! is in WAL mode, and a writer waits for another's lock for as long as the process lives.
//!
//! **Invariant:** a row whose [`Store::flush`] has returned `Ok` survives `kill -9` and, as far as the disk
//! tells the truth, a loss of power: commits are synced (`synchronous = FULL`). Rows still in the queue do not.

// tidy: longer than 400 lines because the trait that it implements has that many methods.

use std::fmt;
use std::future::ready;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rig_spec::Usd;
use rusqlite::{Connection, TransactionBehavior};

use super::envelope::check_name;
use super::queue::{Ask, Asked, Queue, Reads, Record, Tables, Trouble};
use super::{
    AttemptRow, Capture, ChargeRow, Envelope, EnvelopeState, ExportNext, ExportState, ExportTurn,
    Exported, Grade, ObservedLatency, Page, Prune, Pruned, Reserve, Reserved, Spend, Spending,
    Store, StoreCounts, StoreError, VerdictRow, VerdictsOf,
};
use crate::transport::BoxFuture;

mod captures;
mod charges;
mod columns;
mod envelopes;
mod exports;
mod open;
mod prune;
mod reading;
mod schema;
mod verdicts;

/// How long opening a file may take. A lock does not count: a locked file is opened when the lock is gone.
const OPENING: Duration = Duration::from_secs(20);

/// Keeps rows in the table `inferences` of a SQLite file.
///
/// Dropping the store writes what is queued, and waits for it for at most [`CLOSE`](super::CLOSE).
pub struct SqliteStore {
    path: PathBuf,
    queue: Queue<File>,
}

/// The file, on the writer's thread.
struct File {
    connection: Connection,
}

/// The file, on the reader's thread.
struct Reader {
    path: PathBuf,
    /// `None` until it is needed.
    connection: Option<Connection>,
}

/// What is asked of the file.
type Work = Box<dyn for<'a> Ask<&'a Connection, rusqlite::Error>>;

/// What is done with envelopes, as a part of a transaction.
struct Money {
    work: Work,
    /// Whether it is left undone if nobody waits for it any more.
    needs_asker: bool,
}

impl SqliteStore {
    /// Opens the file, and creates it and its folder where they are missing.
    ///
    /// It waits for no lock. A file whose tables are not up to date, and that another process holds a lock of, is opened once
    /// the lock is gone; until then rows are queued, and whatever is asked waits.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::Newer`] for a file of a newer version, and [`StoreError::Unavailable`] for one that
    /// cannot be opened, written or read as a telemetry store. The file is then left as it was.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let of_writer = path.to_owned();
        Self::start(path, move || open::open(&of_writer))
    }

    fn start(
        path: &Path,
        mut open: impl FnMut() -> Result<Connection, Trouble> + Send + 'static,
    ) -> Result<Self, StoreError> {
        let reader = Reader {
            path: path.to_owned(),
            connection: None,
        };
        let open = move || open().map(|connection| File { connection });
        let queue = Queue::start(&open::location(path), OPENING, open, reader)?;
        let path = path.to_owned();
        Ok(Self { path, queue })
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

    /// Has the reader read something.
    fn read<T: Send + 'static>(
        &self,
        read: impl Fn(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> BoxFuture<'_, Result<T, StoreError>> {
        let (asked, answered) = Asked::new(move |connection: &mut &Connection| read(connection));
        self.queue.read(asked, answered)
    }

    /// Has the writer do something as a part of a transaction.
    fn transact<T: Send + 'static>(
        &self,
        needs_asker: bool,
        work: impl Fn(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> BoxFuture<'_, Result<T, StoreError>> {
        let (work, answered) = Asked::new(move |connection: &mut &Connection| work(connection));
        self.queue.write(Money { work, needs_asker }, answered)
    }

    /// Has the writer do something in a transaction of its own.
    fn aside<T: Send + 'static>(
        &self,
        work: impl Fn(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> BoxFuture<'_, Result<T, StoreError>> {
        let (asked, answered) = Asked::new(move |connection: &mut &Connection| work(connection));
        self.queue.aside(asked, answered)
    }
}

impl Store for SqliteStore {
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
        self.read(move |connection| columns::of_run(connection, &run_id))
    }

    fn captures(&self, route: &str) -> BoxFuture<'_, Result<Vec<Capture>, StoreError>> {
        let route = route.to_owned();
        self.read(move |connection| captures::of_route(connection, &route))
    }

    fn observed_latency(
        &self,
        route: &str,
    ) -> BoxFuture<'_, Result<Vec<ObservedLatency>, StoreError>> {
        let route = route.to_owned();
        self.read(move |connection| reading::observed(connection, &route))
    }

    fn spend(&self, of: Spending) -> BoxFuture<'_, Result<Spend, StoreError>> {
        self.read(move |connection| reading::spend(connection, &of))
    }

    fn page(&self, of: Page) -> BoxFuture<'_, Result<Vec<AttemptRow>, StoreError>> {
        self.read(move |connection| columns::of_page(connection, &of))
    }

    fn open_envelope(
        &self,
        envelope: Envelope,
        now_ms: i64,
    ) -> BoxFuture<'_, Result<EnvelopeState, StoreError>> {
        if let Err(error) = check_name("envelope", &envelope.name) {
            return Box::pin(ready(Err(error)));
        }
        self.transact(false, move |connection| {
            envelopes::open(connection, &envelope, now_ms)
        })
    }

    fn reserve(&self, wanted: Reserve) -> BoxFuture<'_, Result<Reserved, StoreError>> {
        if let Err(error) = check_name("envelope", &wanted.envelope.name) {
            return Box::pin(ready(Err(error)));
        }
        // Whoever has gone away keeps nothing from those who still wait.
        self.transact(true, move |connection| {
            envelopes::reserve(connection, &wanted)
        })
    }

    fn settle(&self, id: &str, charge: Option<Usd>) {
        let id = id.to_owned();
        let settle = move |connection: &mut &Connection| envelopes::settle(connection, &id, charge);
        // Nobody waits for it.
        let (work, _) = Asked::new(settle);
        self.queue.settle(Money {
            work,
            needs_asker: false,
        });
    }

    fn envelope(
        &self,
        name: &str,
        now_ms: i64,
    ) -> BoxFuture<'_, Result<Option<EnvelopeState>, StoreError>> {
        let name = name.to_owned();
        self.transact(false, move |connection| {
            envelopes::state(connection, &name, now_ms)
        })
    }

    fn envelopes(&self, now_ms: i64) -> BoxFuture<'_, Result<Vec<EnvelopeState>, StoreError>> {
        self.transact(false, move |connection| envelopes::all(connection, now_ms))
    }

    fn charges(&self, envelope: &str) -> BoxFuture<'_, Result<Vec<ChargeRow>, StoreError>> {
        let envelope = envelope.to_owned();
        self.read(move |connection| charges::of(connection, &envelope))
    }

    fn grade(&self, grade: Grade) -> BoxFuture<'_, Result<(), StoreError>> {
        if !grade.verdict.is_finite() {
            return Box::pin(ready(Err(StoreError::Score)));
        }
        let id = grade.of.id().to_owned();
        let is_known = self.aside(move |connection| verdicts::grade(connection, &grade));
        Box::pin(async move {
            match is_known.await? {
                true => Ok(()),
                false => Err(StoreError::Unknown { id }),
            }
        })
    }

    fn verdicts(&self, of: VerdictsOf) -> BoxFuture<'_, Result<Vec<VerdictRow>, StoreError>> {
        self.read(move |connection| verdicts::of(connection, &of))
    }

    fn next_export(&self, turn: ExportTurn) -> BoxFuture<'_, Result<ExportNext, StoreError>> {
        if let Err(error) = turn.check() {
            return Box::pin(ready(Err(error)));
        }
        let asked = turn.clone();
        let looked = self.read(move |connection| exports::look(connection, &asked));
        Box::pin(async move {
            let (next, seen) = looked.await?;
            if !matches!(next, ExportNext::Rows(_)) {
                return Ok(next);
            }
            // Somebody may have come between, since nothing was locked meanwhile.
            let take = move |connection: &Connection| exports::take(connection, &turn, &seen);
            match self.aside(take).await? {
                true => Ok(next),
                false => Ok(ExportNext::Taken),
            }
        })
    }

    fn exported(&self, done: Exported) -> BoxFuture<'_, Result<(), StoreError>> {
        self.aside(move |connection| exports::done(connection, &done))
    }

    fn exports(&self) -> BoxFuture<'_, Result<Vec<ExportState>, StoreError>> {
        self.read(exports::states)
    }

    fn prune(&self, prune: Prune, now_ms: i64) -> BoxFuture<'_, Result<Pruned, StoreError>> {
        let path = self.path.clone();
        Box::pin(async move {
            // Whatever was recorded before is in the file by then.
            let _ = self.queue.flush().await;
            prune::run(&path, prune, now_ms).await
        })
    }
}

impl fmt::Debug for SqliteStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqliteStore")
            .field("path", &self.path)
            .finish_non_exhaustive()
    }
}

impl Tables for File {
    type Write = Money;
    type Aside = Work;
    type Reads = Reader;

    /// SQLite has waited for the lock itself. Another process may release the lock for a moment only, so the pause is short.
    const LONGEST_PAUSE: Duration = Duration::from_millis(20);

    fn commit(&mut self, records: &[Record], writes: &mut [Money]) -> Result<(), Trouble> {
        commit(&mut self.connection, records, writes).map_err(trouble)
    }

    fn answer(write: Money, committed: Result<(), StoreError>) {
        write.work.answer(committed);
    }

    fn aside(&mut self, aside: &mut Work) -> Result<(), Trouble> {
        transact(&mut self.connection, |connection| {
            aside.apply(&mut &*connection)
        })
        .map_err(trouble)
    }

    fn answer_aside(aside: Work, committed: Result<(), StoreError>) {
        aside.answer(committed);
    }
}

impl Reads for Reader {
    type Read = Work;

    fn is_awaited(read: &Work) -> bool {
        read.is_awaited()
    }

    fn read(&mut self, mut read: Work) {
        let connection = match &mut self.connection {
            Some(connection) => Ok(&*connection),
            none => open::reader(&self.path).map(|opened| &*none.insert(opened)),
        };
        let done = connection.and_then(|mut connection| read.apply(&mut connection));
        read.answer(done.map_err(failed));
    }
}

fn commit(
    connection: &mut Connection,
    records: &[Record],
    writes: &mut [Money],
) -> rusqlite::Result<()> {
    transact(connection, |connection| {
        insert(connection, records)?;
        let is_due = |write: &&mut Money| !write.needs_asker || write.work.is_awaited();
        for write in writes.iter_mut().filter(is_due) {
            write.work.apply(&mut &*connection)?;
        }
        Ok(())
    })
}

fn transact(
    connection: &mut Connection,
    work: impl FnOnce(&Connection) -> rusqlite::Result<()>,
) -> rusqlite::Result<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    work(&transaction)?;
    transaction.commit()
}

fn insert(connection: &Connection, records: &[Record]) -> rusqlite::Result<()> {
    if records.is_empty() {
        return Ok(());
    }
    let mut row = connection.prepare_cached(columns::INSERT)?;
    let mut capture = connection.prepare_cached(captures::INSERT)?;
    for record in records {
        columns::insert(&mut row, &record.row)?;
        if let Some(captured) = &record.capture {
            captures::insert(&mut capture, captured)?;
        }
    }
    Ok(())
}

/// Returns the trouble of a write: another's lock passes.
fn trouble(error: rusqlite::Error) -> Trouble {
    let is_busy = open::is_busy(&error);
    let error = failed(error);
    match is_busy {
        true => Trouble::Passing(error),
        false => Trouble::Lasting(error),
    }
}

fn failed(error: rusqlite::Error) -> StoreError {
    StoreError::Failed {
        reason: error.to_string(),
    }
}

#[cfg(test)]
mod tests;
