//! How do rows leave the machine, where somebody asked for it?
//!
//! A destination has a thread of its own, which reads the store and never a run: it is given [`ExportRow`]s, and what has
//! arrived is behind its cursor for good. A run only tells it that there may be something; nothing waits for it but
//! [`Rig::close`](crate::Rig::close), and that not for long.

use std::sync::Arc;
use std::thread::{self, JoinHandle};

use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio::sync::{Notify, oneshot};

use crate::clock::{Clock, SystemClock};
use crate::error::ConfigError;
use crate::store::{ExportRow, Store};
use crate::transport::http::HttpTransport;
use crate::transport::{Request, TransportError};

mod desk;
mod ingest;
#[cfg(feature = "otlp")]
mod otlp;
mod pace;
mod settings;
#[cfg(test)]
mod tests;
mod worker;

#[cfg(feature = "otlp")]
pub use otlp::Otlp;
pub(crate) use settings::Told;

use desk::Desk;
use worker::Worker;

/// Where rows go, and in which form.
pub(crate) trait Destination: Send + Sync {
    /// The exporter's name, which is that of its cursor.
    fn name(&self) -> &'static str;

    /// Returns the request that brings rows; `None` if there is nothing to say of them.
    fn request(&self, rows: &[ExportRow]) -> Option<Request>;

    /// Returns a request without rows, which a destination takes unless it is itself at fault.
    fn empty(&self) -> Request;

    /// Returns whether the body of a good answer says something of the rows.
    fn reads_answers(&self) -> bool {
        false
    }

    /// Returns how many rows a good answer says that the destination does not want.
    fn rejected(&self, _answer: &[u8]) -> u64 {
        0
    }
}

/// The exporters of a rig. Dropping them ends them at once; what has not arrived is sent by the next process.
#[derive(Default)]
pub(crate) struct Exporters(Vec<Exporter>);

struct Exporter {
    /// Says that there may be rows.
    poke: Arc<Notify>,
    /// `None` only while the exporter is being dropped.
    orders: Option<UnboundedSender<Drain>>,
    thread: Option<JoinHandle<()>>,
}

/// Whoever waits until everything has arrived; told, or forgotten when it takes too long.
type Drain = oneshot::Sender<()>;

impl Exporters {
    /// Starts an exporter for each destination.
    ///
    /// # Errors
    ///
    /// When the HTTP client or a thread cannot be had.
    pub(crate) fn start(
        destinations: Vec<Box<dyn Destination>>,
        store: &Arc<dyn Store>,
    ) -> Result<Self, ConfigError> {
        let exporters = destinations
            .into_iter()
            .map(|destination| Exporter::start(destination, Arc::clone(store)));
        let exporters: Result<_, _> = exporters.collect();
        exporters.map(Self).map_err(ConfigError::Transport)
    }

    /// Returns an exporter that does nothing, and what hears that there may be rows.
    #[cfg(test)]
    pub(crate) fn idle() -> (Self, Arc<Notify>) {
        let poke = Arc::new(Notify::new());
        let exporter = Exporter {
            poke: Arc::clone(&poke),
            orders: None,
            thread: None,
        };
        (Self(vec![exporter]), poke)
    }

    /// Says that there may be new rows. It waits for nothing.
    pub(crate) fn poke(&self) {
        for exporter in &self.0 {
            exporter.poke.notify_one();
        }
    }

    /// Waits until every row that is stored by now has arrived, or five seconds.
    pub(crate) async fn drain(&self) {
        let waits: Vec<_> = self.0.iter().filter_map(Exporter::drain).collect();
        for wait in waits {
            // Without an answer the time is over.
            let _ = wait.await;
        }
    }
}

impl Exporter {
    fn start(
        destination: Box<dyn Destination>,
        store: Arc<dyn Store>,
    ) -> Result<Self, TransportError> {
        let failed = |error: std::io::Error| {
            TransportError::new(format!("the exporter cannot be started: {error}"))
        };
        let transport = HttpTransport::new()?;
        let clock: Arc<dyn Clock> = Arc::new(SystemClock::new()?);
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(failed)?;
        let poke = Arc::new(Notify::new());
        let (orders, ordered) = unbounded_channel();
        let pokes = Arc::clone(&poke);
        let thread = thread::Builder::new()
            .name(format!("modelrig-{}", destination.name()))
            .spawn(move || {
                let desk = Desk::new(pokes, ordered, Arc::clone(&clock));
                let worker = Worker::new(destination, store, Box::new(transport), clock);
                runtime.block_on(worker.run(desk));
            })
            .map_err(failed)?;
        Ok(Self {
            poke,
            orders: Some(orders),
            thread: Some(thread),
        })
    }

    fn drain(&self) -> Option<oneshot::Receiver<()>> {
        let (done, wait) = oneshot::channel();
        self.orders.as_ref()?.send(done).ok()?;
        Some(wait)
    }
}

impl Drop for Exporter {
    fn drop(&mut self) {
        // The thread ends where it is; joined, so that the store is not closed behind somebody who still waits for it.
        drop(self.orders.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
