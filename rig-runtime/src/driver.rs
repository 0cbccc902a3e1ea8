//! The thread that runs sockets and timers.
//!
//! A socket or a timer of tokio belongs to a runtime, and ends with it. Were it the caller's, every pooled connection
//! would end with the caller's runtime, and a caller without one could not call at all (A4). All rigs of a process share
//! one thread; it ends with the last of them.

use std::convert::Infallible;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::task::{Context, Poll};
use std::thread;

use tokio::runtime::{Builder, EnterGuard, Handle};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::transport::TransportError;

/// A handle of the thread. Dropping the last one ends it, and waits for nothing.
#[derive(Debug)]
pub(crate) struct Driver {
    handle: Handle,
    /// Nothing is ever sent: the thread waits for this to be dropped.
    _stop: oneshot::Sender<Infallible>,
}

/// Work on the thread. Dropping it aborts the work.
pub(crate) struct Task<T>(JoinHandle<T>);

static SHARED: Mutex<Weak<Driver>> = Mutex::new(Weak::new());

impl Driver {
    /// Returns the driver of this process, and starts it for the first who asks.
    ///
    /// # Errors
    ///
    /// When the system gives no thread, or nothing to wait for sockets with.
    pub(crate) fn shared() -> Result<Arc<Self>, TransportError> {
        let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(driver) = shared.upgrade() {
            return Ok(driver);
        }
        let driver = Self::start().map_err(|error| {
            TransportError::unsent(format!("the thread for sockets cannot be started: {error}"))
        })?;
        let driver = Arc::new(driver);
        *shared = Arc::downgrade(&driver);
        Ok(driver)
    }

    fn start() -> io::Result<Self> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let handle = runtime.handle().clone();
        let (stop, stopped) = oneshot::channel();
        thread::Builder::new()
            .name("modelrig-io".to_owned())
            .spawn(move || {
                // An error is the sender's end.
                let _ = runtime.block_on(stopped);
                // A look-up of a host name may still be under way, and nobody waits for it.
                runtime.shutdown_background();
            })?;
        Ok(Self {
            handle,
            _stop: stop,
        })
    }

    /// Makes sockets and timers belong to the thread for as long as the guard lives.
    pub(crate) fn enter(&self) -> EnterGuard<'_> {
        self.handle.enter()
    }

    /// Starts work on the thread.
    pub(crate) fn spawn<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
    ) -> Task<T> {
        Task(self.handle.spawn(work))
    }

    /// Starts work that nobody waits for.
    pub(crate) fn detach(&self, work: impl Future<Output = ()> + Send + 'static) {
        drop(self.handle.spawn(work));
    }
}

/// Waits for the end of the work; `None` if the thread has ended, or the work has panicked.
impl<T> Future for Task<T> {
    type Output = Option<T>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<T>> {
        Pin::new(&mut self.0).poll(cx).map(Result::ok)
    }
}

impl<T> Drop for Task<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}
