//! How are rows kept in a SQLite file?
//!
//! One thread owns the connection. Rows, reservations and settlements wait for it in a bounded queue, and whatever has
//! queued up becomes one transaction. Several processes may share a file: it is in WAL mode, and a writer waits for
//! another's lock.
//!
//! **Invariant:** a row whose [`Store::flush`] has returned `Ok` survives `kill -9` and, as far as the disk
//! tells the truth, a loss of power: commits are synced (`synchronous = FULL`). Rows still in the queue do not.

use std::fmt;
use std::future::ready;
use std::path::{Path, PathBuf};

use rig_spec::Usd;
use rusqlite::{Connection, TransactionBehavior};

use super::queue::{Ask, Asked, Queue, Record, Tables};
use super::{
    AttemptRow, Capture, ChargeRow, Envelope, EnvelopeState, ExportNext, ExportState, ExportTurn,
    Exported, Grade, ObservedLatency, Page, Prune, Pruned, Reserve, Reserved, Spend, Spending,
    Store, StoreError, VerdictRow, VerdictsOf,
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

/// Keeps rows in the table `inferences` of a SQLite file.
///
/// Dropping the store writes what is queued and waits for it.
pub struct SqliteStore {
    path: PathBuf,
    queue: Queue<File>,
}

/// The file, on the writer's thread.
struct File {
    connection: Connection,
}

/// What is asked of the file, in a transaction or between two.
type Work = Box<dyn for<'a> Ask<&'a Connection, rusqlite::Error>>;

impl SqliteStore {
    /// Opens the file, and creates it and its folder where they are missing.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::Newer`] for a file of a newer version, and [`StoreError::Unavailable`] for one that
    /// cannot be opened, written or read as a telemetry store. The file is then left as it was.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        Self::start(path, open::open(path)?)
    }

    fn start(path: &Path, connection: Connection) -> Result<Self, StoreError> {
        let queue = Queue::start(&open::location(path), || Ok(File { connection }))?;
        let path = path.to_owned();
        Ok(Self { path, queue })
    }

    /// Returns how many rows could not be stored since the store was opened.
    #[must_use]
    pub fn lost_rows(&self) -> u64 {
        self.queue.lost_rows()
    }

    /// Has the writer read something.
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
        work: impl Fn(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> BoxFuture<'_, Result<T, StoreError>> {
        let (asked, answered) = Asked::new(move |connection: &mut &Connection| work(connection));
        self.queue.write(asked, answered)
    }
}

impl Store for SqliteStore {
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
        self.transact(move |connection| envelopes::open(connection, &envelope, now_ms))
    }

    fn reserve(&self, wanted: Reserve) -> BoxFuture<'_, Result<Reserved, StoreError>> {
        self.transact(move |connection| envelopes::reserve(connection, &wanted))
    }

    fn settle(&self, id: &str, charge: Option<Usd>) {
        let id = id.to_owned();
        // Nobody waits for it.
        drop(self.transact(move |connection| envelopes::settle(connection, &id, charge)));
    }

    fn envelope(
        &self,
        name: &str,
        now_ms: i64,
    ) -> BoxFuture<'_, Result<Option<EnvelopeState>, StoreError>> {
        let name = name.to_owned();
        self.transact(move |connection| envelopes::state(connection, &name, now_ms))
    }

    fn envelopes(&self, now_ms: i64) -> BoxFuture<'_, Result<Vec<EnvelopeState>, StoreError>> {
        self.transact(move |connection| envelopes::all(connection, now_ms))
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
        let is_known = self.transact(move |connection| verdicts::grade(connection, &grade));
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
        self.transact(move |connection| exports::next(connection, &turn))
    }

    fn exported(&self, done: Exported) -> BoxFuture<'_, Result<(), StoreError>> {
        self.transact(move |connection| exports::done(connection, &done))
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
    type Write = Work;
    type Read = Work;

    fn commit(&mut self, records: &[Record], writes: &mut [Work]) -> Result<(), StoreError> {
        commit(&mut self.connection, records, writes).map_err(failed)
    }

    fn answer(write: Work, committed: Result<(), StoreError>) {
        write.answer(committed);
    }

    fn read(&mut self, mut read: Work) {
        let done = read.apply(&mut &self.connection).map_err(failed);
        read.answer(done);
    }
}

fn commit(
    connection: &mut Connection,
    records: &[Record],
    writes: &mut [Work],
) -> rusqlite::Result<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    insert(&transaction, records)?;
    for write in writes {
        write.apply(&mut &*transaction)?;
    }
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

fn failed(error: rusqlite::Error) -> StoreError {
    StoreError::Failed {
        reason: error.to_string(),
    }
}

#[cfg(test)]
mod tests;
