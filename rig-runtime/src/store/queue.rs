//! How do rows get to the one thread that writes them?
//!
//! Rows, writes and reads wait in a bounded queue for the thread that owns a store's connection, and whatever has queued
//! up becomes one transaction. What that is, and where it goes, is for [`Tables`] to know.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, channel, sync_channel};
use std::thread::JoinHandle;

use tokio::sync::oneshot;

use super::{AttemptRow, Capture, StoreError};
use crate::transport::BoxFuture;

/// Commands that may wait for the writer. A full queue makes [`super::Store::record`] wait.
const QUEUE: usize = 4_096;

/// Most commands that one transaction takes in.
const BATCH: usize = 512;

/// What owns the connection.
pub(super) trait Tables: 'static {
    /// What is a part of a transaction, beside rows.
    type Write: Send + 'static;
    /// What is asked between transactions.
    type Read: Send + 'static;

    /// Does all of it in one transaction, or nothing. It may be asked for the same again.
    fn commit(&mut self, records: &[Record], writes: &mut [Self::Write]) -> Result<(), StoreError>;

    /// Tells whoever asked for a write, once it is committed or given up.
    fn answer(write: Self::Write, committed: Result<(), StoreError>);

    /// Reads, and tells whoever asked.
    fn read(&mut self, read: Self::Read);
}

/// What one transaction has to hold whole.
pub(super) struct Record {
    pub(super) row: AttemptRow,
    pub(super) capture: Option<Capture>,
}

/// A store's queue. Dropping it has the writer do what is queued, and waits for it.
pub(super) struct Queue<T: Tables> {
    /// `None` only while the queue is being dropped.
    commands: Option<SyncSender<Command<T>>>,
    writer: Option<JoinHandle<()>>,
    lost: Arc<AtomicU64>,
}

enum Command<T: Tables> {
    Record(Box<Record>),
    Write(T::Write),
    Read(T::Read),
    /// Asks how many rows were lost.
    Flush(oneshot::Sender<u64>),
}

/// Something that is done with a `C`, and that somebody waits for.
pub(super) trait Ask<C, E>: Send {
    /// Does it; it may be done anew.
    fn apply(&mut self, with: &mut C) -> Result<(), E>;

    /// Tells whoever asked whether what was done holds.
    fn answer(self: Box<Self>, done: Result<(), StoreError>);
}

/// The answer to something asked.
pub(super) type Answered<T> = oneshot::Receiver<Result<T, StoreError>>;

/// Work whose result somebody waits for.
pub(super) struct Asked<T, W> {
    work: W,
    done: Option<T>,
    answer: oneshot::Sender<Result<T, StoreError>>,
}

impl<T, W> Asked<T, W> {
    /// Returns work, and where its result will be.
    pub(super) fn new(work: W) -> (Box<Self>, Answered<T>) {
        let (answer, answered) = oneshot::channel();
        let done = None;
        (Box::new(Self { work, done, answer }), answered)
    }
}

impl<C, E, T, W> Ask<C, E> for Asked<T, W>
where
    T: Send,
    W: FnMut(&mut C) -> Result<T, E> + Send,
{
    fn apply(&mut self, with: &mut C) -> Result<(), E> {
        self.done = Some((self.work)(with)?);
        Ok(())
    }

    fn answer(self: Box<Self>, done: Result<(), StoreError>) {
        let Self {
            done: result,
            answer,
            ..
        } = *self;
        let result = done.and_then(|()| result.ok_or_else(stopped));
        // Whoever asked may have gone away, and then nobody misses the answer.
        let _ = answer.send(result);
    }
}

impl<T: Tables> Queue<T> {
    /// Starts a writer, on whose thread the connection is opened and stays.
    ///
    /// # Errors
    ///
    /// Returns the error of opening, or that of `place` if there is no thread to be had.
    pub(super) fn start(
        place: &str,
        open: impl FnOnce() -> Result<T, StoreError> + Send + 'static,
    ) -> Result<Self, StoreError> {
        let (commands, queued) = sync_channel(QUEUE);
        let (opened, is_open) = channel();
        let lost = Arc::new(AtomicU64::new(0));
        let count = Arc::clone(&lost);
        let run = move || match open() {
            Ok(tables) => {
                let _ = opened.send(Ok(()));
                let lost = count;
                Writer { tables, lost }.run(&queued);
            }
            Err(error) => {
                let _ = opened.send(Err(error));
            }
        };
        let writer = std::thread::Builder::new()
            .name("modelrig-store".to_owned())
            .spawn(run)
            .map_err(|error| StoreError::Unavailable {
                location: place.to_owned(),
                reason: error.to_string(),
            })?;
        is_open.recv().map_err(|_| stopped())??;
        Ok(Self {
            commands: Some(commands),
            writer: Some(writer),
            lost,
        })
    }

    /// Returns how many rows could not be stored.
    pub(super) fn lost_rows(&self) -> u64 {
        self.lost.load(Ordering::SeqCst)
    }

    /// Hands over a row, and the capture that goes with it.
    pub(super) fn record(&self, row: AttemptRow, capture: Option<Capture>) {
        let record = Box::new(Record { row, capture });
        if self.hand_over(Command::Record(record)).is_err() {
            count_lost(&self.lost, 1, "the writer has stopped");
        }
    }

    /// Waits until everything handed over before is durable.
    pub(super) fn flush(&self) -> BoxFuture<'_, Result<(), StoreError>> {
        let (answer, answered) = oneshot::channel();
        let handed_over = self.hand_over(Command::Flush(answer));
        Box::pin(async move {
            handed_over?;
            match answered.await.map_err(|_| stopped())? {
                0 => Ok(()),
                lost => Err(StoreError::Failed {
                    reason: format!("{lost} rows could not be stored"),
                }),
            }
        })
    }

    /// Hands over a write, at the call and not at the first poll, and waits for its answer.
    pub(super) fn write<R: Send + 'static>(
        &self,
        write: T::Write,
        answered: Answered<R>,
    ) -> BoxFuture<'_, Result<R, StoreError>> {
        self.ask(Command::Write(write), answered)
    }

    /// Hands over a read, and waits for its answer.
    pub(super) fn read<R: Send + 'static>(
        &self,
        read: T::Read,
        answered: Answered<R>,
    ) -> BoxFuture<'_, Result<R, StoreError>> {
        self.ask(Command::Read(read), answered)
    }

    fn ask<R: Send + 'static>(
        &self,
        command: Command<T>,
        answered: Answered<R>,
    ) -> BoxFuture<'_, Result<R, StoreError>> {
        let handed_over = self.hand_over(command);
        Box::pin(async move {
            handed_over?;
            answered.await.map_err(|_| stopped())?
        })
    }

    /// Hands a command to the writer, which is there unless it panicked.
    fn hand_over(&self, command: Command<T>) -> Result<(), StoreError> {
        let commands = self.commands.as_ref().ok_or_else(stopped)?;
        commands.send(command).map_err(|_| stopped())
    }
}

impl<T: Tables> Drop for Queue<T> {
    fn drop(&mut self) {
        // The writer ends when the queue is empty and nobody can fill it any more.
        drop(self.commands.take());
        if let Some(writer) = self.writer.take() {
            let _ = writer.join();
        }
    }
}

struct Writer<T> {
    tables: T,
    lost: Arc<AtomicU64>,
}

impl<T: Tables> Writer<T> {
    fn run(mut self, commands: &Receiver<Command<T>>) {
        while let Ok(first) = commands.recv() {
            let (mut records, mut writes) = (Vec::new(), Vec::new());
            let (mut reads, mut flushes) = (Vec::new(), Vec::new());
            for command in std::iter::once(first).chain(commands.try_iter().take(BATCH - 1)) {
                match command {
                    Command::Record(record) => records.push(*record),
                    Command::Write(write) => writes.push(write),
                    Command::Read(read) => reads.push(read),
                    Command::Flush(answer) => flushes.push(answer),
                }
            }
            self.store(&records, writes);
            for answer in flushes {
                let _ = answer.send(self.lost.load(Ordering::SeqCst));
            }
            // Whoever reads now sees what was recorded before, and perhaps some more.
            for read in reads {
                self.tables.read(read);
            }
        }
    }

    /// Stores everything together; else rows and writes apart, so that neither fails with the other. That is also a
    /// second time, since another process may have held a lock for too long.
    fn store(&mut self, records: &[Record], mut writes: Vec<T::Write>) {
        if records.is_empty() && writes.is_empty() {
            return;
        }
        let mut committed = self.tables.commit(records, &mut writes);
        if committed.is_err() {
            if let Err(error) = self.some(records, &mut []) {
                count_lost(&self.lost, records.len() as u64, &reason(&error));
            }
            committed = self.some(&[], &mut writes);
            if let Err(error) = &committed {
                let reason = reason(error);
                tracing::warn!(
                    reason,
                    "envelopes, verdicts or cursors could not be written"
                );
            }
        }
        for write in writes {
            T::answer(write, committed.clone());
        }
    }

    fn some(&mut self, records: &[Record], writes: &mut [T::Write]) -> Result<(), StoreError> {
        if records.is_empty() && writes.is_empty() {
            return Ok(());
        }
        self.tables.commit(records, writes)
    }
}

fn count_lost(lost: &AtomicU64, rows: u64, reason: &str) {
    lost.fetch_add(rows, Ordering::SeqCst);
    tracing::warn!(rows, reason, "telemetry rows could not be stored");
}

fn reason(error: &StoreError) -> String {
    match error {
        StoreError::Failed { reason } => reason.clone(),
        other => other.to_string(),
    }
}

fn stopped() -> StoreError {
    StoreError::Failed {
        reason: "the writer has stopped".to_owned(),
    }
}
