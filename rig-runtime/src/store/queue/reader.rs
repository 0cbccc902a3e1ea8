//! The thread that reads, on a connection of its own, so that no call waits for a reader.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::super::{GRACE, StoreError};
use super::Reads;
use super::ask::stopped;
use super::load::Load;
use super::thread::Thread;

/// How long a reader that is in the middle of something is waited for.
const END: Duration = Duration::from_secs(1);

/// The reader of a store; its thread starts with the first read.
pub(super) struct Reader<R: Reads>(Mutex<State<R>>);

enum State<R: Reads> {
    /// Nobody has read yet.
    Idle(R),
    Running(Sender<Job<R>>, Thread),
    /// There is no thread to be had, or the reader is being dropped.
    Gone,
}

/// A read, and what has to be stored before.
struct Job<R: Reads> {
    read: R::Read,
    /// `None` where nothing was queued before the read.
    barrier: Option<Receiver<()>>,
    /// When it was asked for.
    since: Duration,
}

impl<R: Reads> Reader<R> {
    pub(super) fn new(reads: R) -> Self {
        Self(Mutex::new(State::Idle(reads)))
    }

    /// Has something read, once what the barrier waits for is stored.
    ///
    /// # Errors
    ///
    /// When there is no thread.
    pub(super) fn read(
        &self,
        place: &str,
        load: &Arc<Load>,
        read: R::Read,
        barrier: Option<Receiver<()>>,
    ) -> Result<(), StoreError> {
        let since = load.now();
        let job = Job {
            read,
            barrier,
            since,
        };
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let State::Idle(_) = &*state
            && let State::Idle(reads) = std::mem::replace(&mut *state, State::Gone)
        {
            let (jobs, queued) = channel();
            let load = Arc::clone(load);
            let run = move || run(reads, &load, &queued);
            *state = State::Running(jobs, Thread::start("modelrig-reader", place, run)?);
        }
        match &*state {
            State::Running(jobs, _) => jobs.send(job).map_err(|_| stopped()),
            State::Idle(_) | State::Gone => Err(stopped()),
        }
    }

    /// Ends the thread, and waits for it a moment.
    pub(super) fn end(&self) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let State::Running(jobs, thread) = std::mem::replace(&mut *state, State::Gone) {
            drop(jobs);
            thread.join(END);
        }
    }
}

fn run<R: Reads>(mut reads: R, load: &Load, queued: &Receiver<Job<R>>) {
    while let Ok(job) = queued.recv() {
        if !R::is_awaited(&job.read) {
            continue;
        }
        if let Some(barrier) = job.barrier {
            // A writer that is stuck does not keep what is committed from readers.
            let waited = load.now().saturating_sub(job.since);
            let _ = barrier.recv_timeout(GRACE.saturating_sub(waited));
        }
        reads.read(job.read);
    }
}
