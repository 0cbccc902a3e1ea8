//! How are rows kept in a SQLite file?
//!
//! One thread owns the connection. Rows wait for it in a bounded queue, and whatever has queued up becomes one
//! transaction. Several processes may share a file: it is in WAL mode, and a writer waits for another's lock.
//!
//! **Invariant:** a row whose [`Store::flush`] has returned `Ok` survives `kill -9` and, as far as the disk
//! tells the truth, a loss of power: commits are synced (`synchronous = FULL`). Rows still in the queue do not.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

use rusqlite::{Connection, TransactionBehavior};
use tokio::sync::oneshot;

use super::{AttemptRow, Capture, Store, StoreError};
use crate::transport::BoxFuture;

mod captures;
mod columns;
mod open;
mod schema;

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
    Flush(oneshot::Sender<Result<(), StoreError>>),
    Attempts {
        run_id: String,
        answer: oneshot::Sender<Result<Vec<AttemptRow>, StoreError>>,
    },
    Captures {
        route: String,
        answer: oneshot::Sender<Result<Vec<Capture>, StoreError>>,
    },
}

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
        let connection = open::open(path)?;
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
        let (answer, answered) = oneshot::channel();
        // Queued at the call and not at the first poll: "so far" means the call.
        let handed_over = self.hand_over(Command::Flush(answer));
        Box::pin(async move {
            handed_over.map_err(|_| stopped())?;
            answered.await.map_err(|_| stopped())?
        })
    }

    fn attempts(&self, run_id: &str) -> BoxFuture<'_, Result<Vec<AttemptRow>, StoreError>> {
        let (answer, answered) = oneshot::channel();
        let handed_over = self.hand_over(Command::Attempts {
            run_id: run_id.to_owned(),
            answer,
        });
        Box::pin(async move {
            handed_over.map_err(|_| stopped())?;
            answered.await.map_err(|_| stopped())?
        })
    }

    fn captures(&self, route: &str) -> BoxFuture<'_, Result<Vec<Capture>, StoreError>> {
        let (answer, answered) = oneshot::channel();
        let handed_over = self.hand_over(Command::Captures {
            route: route.to_owned(),
            answer,
        });
        Box::pin(async move {
            handed_over.map_err(|_| stopped())?;
            answered.await.map_err(|_| stopped())?
        })
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
            let mut records = Vec::new();
            let mut questions = Vec::new();
            for command in std::iter::once(first).chain(commands.try_iter().take(BATCH - 1)) {
                match command {
                    Command::Record(record) => records.push(*record),
                    question => questions.push(question),
                }
            }
            self.store(&records);
            // Every question now sees the rows that were recorded before it, and perhaps some more.
            for question in questions {
                self.answer(question);
            }
        }
    }

    fn store(&mut self, records: &[Record]) {
        if records.is_empty() {
            return;
        }
        // A second time, since another process may have held the lock beyond the busy timeout.
        let stored = self.insert(records).or_else(|_| self.insert(records));
        if let Err(error) = stored {
            count_lost(&self.lost, records.len() as u64, &error.to_string());
        }
    }

    fn insert(&mut self, records: &[Record]) -> rusqlite::Result<()> {
        let transaction = self
            .connection
            .transaction_with_behavior(TransactionBehavior::Immediate)?;
        {
            let mut insert = transaction.prepare_cached(columns::INSERT)?;
            let mut capture = transaction.prepare_cached(captures::INSERT)?;
            for record in records {
                columns::insert(&mut insert, &record.row)?;
                if let Some(captured) = &record.capture {
                    captures::insert(&mut capture, captured)?;
                }
            }
        }
        transaction.commit()
    }

    /// Whoever asked may have gone away, and then nobody misses the answer.
    fn answer(&self, question: Command) {
        match question {
            Command::Record(_) => {}
            Command::Flush(answer) => {
                let _ = answer.send(match self.lost.load(Ordering::SeqCst) {
                    0 => Ok(()),
                    lost => Err(StoreError::Failed {
                        reason: format!("{lost} rows could not be stored"),
                    }),
                });
            }
            Command::Attempts { run_id, answer } => {
                let rows = columns::of_run(&self.connection, &run_id);
                let _ = answer.send(rows.map_err(unreadable));
            }
            Command::Captures { route, answer } => {
                let captures = captures::of_route(&self.connection, &route);
                let _ = answer.send(captures.map_err(unreadable));
            }
        }
    }
}

fn count_lost(lost: &AtomicU64, rows: u64, reason: &str) {
    lost.fetch_add(rows, Ordering::SeqCst);
    tracing::warn!(rows, reason, "telemetry rows could not be stored");
}

fn unreadable(error: rusqlite::Error) -> StoreError {
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
