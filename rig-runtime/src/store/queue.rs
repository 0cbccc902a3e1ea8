//! How do rows get to the thread that writes them, and readers past it?
//!
//! Rows and writes wait in a queue for the thread that owns a store's connection, and whatever has queued up becomes one
//! transaction. Handing something over never waits: a run that would fill the queue further waits for [`Queue::room`] before it
//! dispatches. Reads are done by a second thread with a connection of its own. What a transaction is, and where it goes, is for
//! [`Tables`] to know.

use std::future::ready;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
use std::time::Duration;

use tokio::sync::oneshot;

use super::{AttemptRow, CLOSE, Capture, StoreCounts, StoreError};
use crate::transport::BoxFuture;

mod ask;
mod load;
mod reader;
#[cfg(test)]
mod tests;
mod thread;
mod writer;

pub(super) use ask::{Answered, Ask, Asked};

use ask::stopped;
use load::Load;
use reader::Reader;
use thread::Thread;
use writer::Writer;

/// How much longer than its own time a writer is waited for that is in the middle of something.
const MARGIN: Duration = Duration::from_millis(500);

/// What owns the connection that writes.
pub(super) trait Tables: Sized + 'static {
    /// What is a part of a transaction, beside rows: money.
    type Write: Send + 'static;
    /// What is written in a transaction of its own.
    type Aside: Send + 'static;
    /// What reads.
    type Reads: Reads;

    /// The longest pause between two tries at a store that is locked or down.
    const LONGEST_PAUSE: Duration;

    /// Does all of it in one transaction, or nothing. It may be asked for the same again.
    fn commit(&mut self, records: &[Record], writes: &mut [Self::Write]) -> Result<(), Trouble>;

    /// Tells whoever asked for a write, once it is committed or given up.
    fn answer(write: Self::Write, committed: Result<(), StoreError>);

    /// Does something in a transaction of its own. It may be asked for the same again.
    fn aside(&mut self, aside: &mut Self::Aside) -> Result<(), Trouble>;

    /// Tells whoever asked for that, once it is committed or given up.
    fn answer_aside(aside: Self::Aside, committed: Result<(), StoreError>);
}

/// What owns the connection that reads, which it opens when it is first needed.
pub(super) trait Reads: Send + 'static {
    /// What is asked.
    type Read: Send + 'static;

    /// Returns whether somebody still waits for it.
    fn is_awaited(read: &Self::Read) -> bool;

    /// Reads, and tells whoever asked.
    fn read(&mut self, read: Self::Read);
}

/// Why something failed, and whether that will pass.
#[derive(Debug)]
pub(super) enum Trouble {
    /// A lock, or a server that is away: the same may succeed later.
    Passing(StoreError),
    /// The same would fail again.
    Lasting(StoreError),
}

/// What one transaction has to hold whole.
pub(super) struct Record {
    pub(super) row: AttemptRow,
    pub(super) capture: Option<Capture>,
    /// When it was handed over, counted from the queue's start.
    since: Duration,
}

/// A store's queue. Dropping it has the writer do what is queued, and waits for it for as long as [`CLOSE`] says.
pub(super) struct Queue<T: Tables> {
    place: String,
    load: Arc<Load>,
    /// `None` only while the queue is being dropped.
    writer: Option<(Sender<Command<T>>, Thread)>,
    reader: Reader<T::Reads>,
}

enum Command<T: Tables> {
    Record(Box<Record>),
    Write(T::Write),
    Aside(T::Aside),
    /// Asks how many rows were lost, once everything before it is done.
    Flush(oneshot::Sender<u64>),
    /// Hears when everything before it is done.
    Mark(SyncSender<()>),
}

impl<T: Tables> Queue<T> {
    /// Starts a writer, on whose thread the connection is opened and stays. A store that is locked is opened as soon as it is
    /// not; until then whatever is asked of it waits.
    ///
    /// # Errors
    ///
    /// Returns the error of opening, or that of `place` if there is no thread to be had or nothing is known within `limit`.
    pub(super) fn start(
        place: &str,
        limit: Duration,
        open: impl FnMut() -> Result<T, Trouble> + Send + 'static,
        reads: T::Reads,
    ) -> Result<Self, StoreError> {
        let (commands, queued) = channel();
        let (opened, is_open) = channel();
        let load = Arc::new(Load::new());
        let of_writer = Arc::clone(&load);
        let run = move || Writer::run(open, &opened, &queued, of_writer);
        let thread = Thread::start("modelrig-store", place, run)?;
        match is_open.recv_timeout(limit) {
            Ok(opened) => opened?,
            Err(RecvTimeoutError::Disconnected) => return Err(stopped()),
            Err(RecvTimeoutError::Timeout) => {
                load.close(Duration::ZERO);
                return Err(StoreError::Unavailable {
                    location: place.to_owned(),
                    reason: format!("it did not answer within {} s", limit.as_secs()),
                });
            }
        }
        Ok(Self {
            place: place.to_owned(),
            load,
            writer: Some((commands, thread)),
            reader: Reader::new(reads),
        })
    }

    /// Returns what became of rows.
    pub(super) fn counts(&self) -> StoreCounts {
        self.load.counts()
    }

    /// Waits until there is room for the rows of another dispatch.
    pub(super) fn room(&self) -> BoxFuture<'_, ()> {
        Box::pin(self.load.room())
    }

    /// Hands over a row, and the capture that goes with it.
    pub(super) fn record(&self, row: AttemptRow, capture: Option<Capture>) {
        let since = self.load.now();
        let command = Command::Record(Box::new(Record {
            row,
            capture,
            since,
        }));
        if !self.load.fits(command.weight()) {
            self.load.lose(1, "the queue is full");
        } else if self.hand_over(command).is_err() {
            self.load.lose(1, "the writer has stopped");
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

    /// Hands over a write that nobody waits for, and that is taken however full the queue is.
    pub(super) fn settle(&self, write: T::Write) {
        // A writer that has stopped leaves the reservation, which is spent once it lapses.
        let _ = self.hand_over(Command::Write(write));
    }

    /// Hands over what is written in a transaction of its own, and waits for its answer.
    pub(super) fn aside<R: Send + 'static>(
        &self,
        aside: T::Aside,
        answered: Answered<R>,
    ) -> BoxFuture<'_, Result<R, StoreError>> {
        self.ask(Command::Aside(aside), answered)
    }

    /// Hands over a read, and waits for its answer. What was handed over before is stored first, unless that takes longer than
    /// the grace.
    pub(super) fn read<R: Send + 'static>(
        &self,
        read: <T::Reads as Reads>::Read,
        answered: Answered<R>,
    ) -> BoxFuture<'_, Result<R, StoreError>> {
        let handed_over = self
            .barrier()
            .and_then(|barrier| self.reader.read(&self.place, &self.load, read, barrier));
        wait(handed_over, answered)
    }

    fn barrier(&self) -> Result<Option<std::sync::mpsc::Receiver<()>>, StoreError> {
        if self.load.is_idle() {
            return Ok(None);
        }
        let (mark, marked) = sync_channel(1);
        self.hand_over(Command::Mark(mark))?;
        Ok(Some(marked))
    }

    fn ask<R: Send + 'static>(
        &self,
        command: Command<T>,
        answered: Answered<R>,
    ) -> BoxFuture<'_, Result<R, StoreError>> {
        if !self.load.fits(command.weight()) {
            let reason = "the queue is full".to_owned();
            return Box::pin(ready(Err(StoreError::Failed { reason })));
        }
        wait(self.hand_over(command), answered)
    }

    /// Hands a command to the writer, which is there unless it panicked.
    fn hand_over(&self, command: Command<T>) -> Result<(), StoreError> {
        let (commands, _) = self.writer.as_ref().ok_or_else(stopped)?;
        let weight = command.weight();
        self.load.take(weight);
        commands.send(command).map_err(|_| {
            self.load.give_back(weight);
            stopped()
        })
    }
}

fn wait<'a, R: Send + 'static>(
    handed_over: Result<(), StoreError>,
    answered: Answered<R>,
) -> BoxFuture<'a, Result<R, StoreError>> {
    Box::pin(async move {
        handed_over?;
        answered.await.map_err(|_| stopped())?
    })
}

impl<T: Tables> Drop for Queue<T> {
    fn drop(&mut self) {
        // First, so that the connection which writes is the last to close.
        self.reader.end();
        self.load.close(CLOSE);
        if let Some((commands, thread)) = self.writer.take() {
            // The writer ends when the queue is empty and nobody can fill it any more.
            drop(commands);
            thread.wake();
            if !thread.join(CLOSE + MARGIN) {
                let queued_rows = self.load.counts().queued_rows;
                tracing::warn!(
                    queued_rows,
                    "the telemetry store was closed before its rows were stored"
                );
            }
        }
    }
}
