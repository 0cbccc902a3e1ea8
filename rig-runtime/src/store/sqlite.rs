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
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

use rig_spec::Usd;
use rusqlite::{Connection, TransactionBehavior};
use tokio::sync::oneshot;

use super::{
    AttemptRow, Capture, Envelope, EnvelopeState, ExportNext, ExportTurn, Exported, Grade,
    ObservedLatency, Page, Reserve, Reserved, Spend, Spending, Store, StoreError, VerdictRow,
    VerdictsOf,
};
use crate::transport::BoxFuture;

mod asked;
mod captures;
mod columns;
mod envelopes;
mod exports;
mod open;
mod reading;
mod schema;
mod verdicts;

use asked::{Asked, Money};

/// Rows that may wait for the writer. A full queue makes [`Store::record`] wait.
const QUEUE: usize = 4_096;

/// Most commands that one transaction takes in.
const BATCH: usize = 512;

/// Keeps rows in the table `inferences` of a SQLite file.
///
/// Dropping the store writes what is queued and waits for it.
pub struct SqliteStore {
    path: PathBuf,
    /// `None` only while the store is being dropped.
    queue: Option<SyncSender<Command>>,
    writer: Option<JoinHandle<()>>,
    lost: Arc<AtomicU64>,
}

enum Command {
    Record(Box<Record>),
    Money(Box<dyn Money>),
    Read(Read),
}

type Read = Box<dyn FnOnce(&Connection) + Send>;

/// What one transaction has to hold whole.
struct Record {
    row: AttemptRow,
    capture: Option<Capture>,
}

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
        let (queue, commands) = sync_channel(QUEUE);
        let lost = Arc::new(AtomicU64::new(0));
        let writer = Writer {
            connection,
            lost: Arc::clone(&lost),
        };
        let writer = std::thread::Builder::new()
            .name("modelrig-store".to_owned())
            .spawn(move || writer.run(&commands))
            .map_err(|error| open::unavailable(path, error))?;
        Ok(Self {
            path: path.to_owned(),
            queue: Some(queue),
            writer: Some(writer),
            lost,
        })
    }

    /// Returns how many rows could not be stored since the store was opened.
    #[must_use]
    pub fn lost_rows(&self) -> u64 {
        self.lost.load(Ordering::SeqCst)
    }

    fn keep(&self, record: Record) {
        if self.hand_over(Command::Record(Box::new(record))).is_err() {
            count_lost(&self.lost, 1, "the writer has stopped");
        }
    }

    /// Has the writer read something.
    fn read<T: Send + 'static>(
        &self,
        read: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> BoxFuture<'_, Result<T, StoreError>> {
        let (answer, answered) = oneshot::channel();
        self.ask(
            answered,
            Command::Read(Box::new(move |connection| {
                let _ = answer.send(read(connection).map_err(failed));
            })),
        )
    }

    /// Has the writer do something as a part of a transaction.
    fn transact<T: Send + 'static>(
        &self,
        work: impl Fn(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> BoxFuture<'_, Result<T, StoreError>> {
        let (answer, answered) = oneshot::channel();
        let done = None;
        self.ask(
            answered,
            Command::Money(Box::new(Asked { work, done, answer })),
        )
    }

    /// Hands over a command, and waits for its answer. It is queued at the call and not at the first poll.
    fn ask<T: Send + 'static>(
        &self,
        answered: oneshot::Receiver<Result<T, StoreError>>,
        command: Command,
    ) -> BoxFuture<'_, Result<T, StoreError>> {
        let handed_over = self.hand_over(command).map_err(|_| stopped());
        Box::pin(async move {
            handed_over?;
            answered.await.map_err(|_| stopped())?
        })
    }

    /// Hands a command to the writer; gives it back if the writer is gone, which only a panic explains.
    fn hand_over(&self, command: Command) -> Result<(), Command> {
        match &self.queue {
            Some(queue) => queue.send(command).map_err(|unsent| unsent.0),
            None => Err(command),
        }
    }
}

impl Store for SqliteStore {
    fn record(&self, row: AttemptRow) {
        self.keep(Record { row, capture: None });
    }

    fn record_captured(&self, row: AttemptRow, capture: Capture) {
        let capture = Some(capture);
        self.keep(Record { row, capture });
    }

    fn flush(&self) -> BoxFuture<'_, Result<(), StoreError>> {
        let lost = Arc::clone(&self.lost);
        let lost = self.read(move |_| Ok(lost.load(Ordering::SeqCst)));
        Box::pin(async move {
            match lost.await? {
                0 => Ok(()),
                lost => Err(StoreError::Failed {
                    reason: format!("{lost} rows could not be stored"),
                }),
            }
        })
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
}

impl Drop for SqliteStore {
    fn drop(&mut self) {
        // The writer ends when the queue is empty and nobody can fill it any more.
        drop(self.queue.take());
        if let Some(writer) = self.writer.take() {
            let _ = writer.join();
        }
    }
}

impl fmt::Debug for SqliteStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqliteStore")
            .field("path", &self.path)
            .finish_non_exhaustive()
    }
}

struct Writer {
    connection: Connection,
    lost: Arc<AtomicU64>,
}

impl Writer {
    fn run(mut self, commands: &Receiver<Command>) {
        while let Ok(first) = commands.recv() {
            let (mut records, mut money, mut reads) = (Vec::new(), Vec::new(), Vec::new());
            for command in std::iter::once(first).chain(commands.try_iter().take(BATCH - 1)) {
                match command {
                    Command::Record(record) => records.push(*record),
                    Command::Money(asked) => money.push(asked),
                    Command::Read(read) => reads.push(read),
                }
            }
            self.store(&records, money);
            // Whoever reads now sees what was recorded before, and perhaps some more.
            for read in reads {
                read(&self.connection);
            }
        }
    }

    /// Stores everything together; else rows and money apart, so that neither fails with the other. That is also a
    /// second time, since another process may have held the lock beyond the busy timeout.
    fn store(&mut self, records: &[Record], mut money: Vec<Box<dyn Money>>) {
        let mut stored = self.commit(records, &mut money);
        if stored.is_err() {
            if let Err(error) = self.commit(records, &mut []) {
                count_lost(&self.lost, records.len() as u64, &error.to_string());
            }
            stored = self.commit(&[], &mut money);
            if let Err(error) = &stored {
                let reason = error.to_string();
                tracing::warn!(
                    reason,
                    "envelopes, verdicts or cursors could not be written"
                );
            }
        }
        let committed = stored.map_err(failed);
        for asked in money {
            asked.answer(committed.clone());
        }
    }

    fn commit(&mut self, records: &[Record], money: &mut [Box<dyn Money>]) -> rusqlite::Result<()> {
        if records.is_empty() && money.is_empty() {
            return Ok(());
        }
        let transaction = self
            .connection
            .transaction_with_behavior(TransactionBehavior::Immediate)?;
        insert(&transaction, records)?;
        for asked in money {
            asked.apply(&transaction)?;
        }
        transaction.commit()
    }
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

fn count_lost(lost: &AtomicU64, rows: u64, reason: &str) {
    lost.fetch_add(rows, Ordering::SeqCst);
    tracing::warn!(rows, reason, "telemetry rows could not be stored");
}

fn failed(error: rusqlite::Error) -> StoreError {
    StoreError::Failed {
        reason: error.to_string(),
    }
}

fn stopped() -> StoreError {
    StoreError::Failed {
        reason: "the writer has stopped".to_owned(),
    }
}

#[cfg(test)]
mod tests;
