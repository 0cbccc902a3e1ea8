//! A thread that is waited for, but not for ever.

use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use super::super::StoreError;

/// A thread of a store.
pub(super) struct Thread {
    handle: JoinHandle<()>,
    /// Hears of the end, whatever it is.
    ended: Mutex<Receiver<()>>,
}

impl Thread {
    /// Starts a thread for the store at `place`.
    pub(super) fn start(
        name: &str,
        place: &str,
        run: impl FnOnce() + Send + 'static,
    ) -> Result<Self, StoreError> {
        let (end, ended) = channel::<()>();
        let spawned = thread::Builder::new().name(name.to_owned()).spawn(move || {
            let _end = end;
            run();
        });
        let handle = spawned.map_err(|error| StoreError::Unavailable {
            location: place.to_owned(),
            reason: error.to_string(),
        })?;
        let ended = Mutex::new(ended);
        Ok(Self { handle, ended })
    }

    /// Ends a pause of the thread.
    pub(super) fn wake(&self) {
        self.handle.thread().unpark();
    }

    /// Waits for the end, and returns whether it came in time. Otherwise the thread goes on by itself.
    pub(super) fn join(self, within: Duration) -> bool {
        let ended = self
            .ended
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner);
        let is_over = ended.recv_timeout(within) == Err(RecvTimeoutError::Disconnected);
        if is_over {
            let _ = self.handle.join();
        }
        is_over
    }
}
