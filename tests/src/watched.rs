//! A store in memory whose reservations somebody watches, or refuses, and that somebody freezes.

use std::future::{pending, ready};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rig::Usd;
use rig::store::{
    AttemptRow, Capture, ChargeRow, Envelope, EnvelopeState, ExportNext, ExportState, ExportTurn,
    Exported, Grade, ObservedLatency, Page, Prune, Pruned, Reserve, Reserved, Spend, Spending,
    Store, StoreError, VerdictRow, VerdictsOf,
};
use rig::testing::MemoryStore;
use rig::transport::BoxFuture;

type Watch = dyn Fn(&Reserve) -> Result<(), StoreError> + Send + Sync;

type Delay = dyn Fn(Waits) -> BoxFuture<'static, Result<(), StoreError>> + Send + Sync;

/// What a run waits for that asks the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waits {
    /// Room in the queue, before a dispatch.
    Room,
    /// A reservation, which is made by then.
    Reserve,
    /// The rows, at the run's end.
    Flush,
}

/// Cloning it gives another handle.
#[derive(Clone)]
pub struct Watched {
    store: MemoryStore,
    reserves: Arc<Watch>,
    is_frozen: Arc<AtomicBool>,
    delay: Option<Arc<Delay>>,
}

impl Watched {
    /// Returns a store that asks this before it reserves; an error is the reservation's.
    pub fn new(
        store: MemoryStore,
        reserves: impl Fn(&Reserve) -> Result<(), StoreError> + Send + Sync + 'static,
    ) -> Self {
        Self {
            store,
            reserves: Arc::new(reserves),
            is_frozen: Arc::default(),
            delay: None,
        }
    }

    /// Has runs wait for this before each answer; an error is the answer.
    #[must_use]
    pub fn delayed(
        self,
        delay: impl Fn(Waits) -> BoxFuture<'static, Result<(), StoreError>> + Send + Sync + 'static,
    ) -> Self {
        Self {
            delay: Some(Arc::new(delay)),
            ..self
        }
    }

    /// Has the store answer nobody who waits for it, or everybody again.
    pub fn freeze(&self, is_frozen: bool) {
        self.is_frozen.store(is_frozen, Ordering::SeqCst);
    }

    /// Returns what is answered after the delay, or something that never is while the store is frozen.
    fn answer<'a, T: Send + 'a>(
        &self,
        waits: Waits,
        answer: BoxFuture<'a, Result<T, StoreError>>,
    ) -> BoxFuture<'a, Result<T, StoreError>> {
        if self.is_frozen.load(Ordering::SeqCst) {
            return Box::pin(pending());
        }
        match self.delay.as_ref().map(|delay| delay(waits)) {
            None => answer,
            Some(delay) => Box::pin(async move {
                delay.await?;
                answer.await
            }),
        }
    }
}

impl Store for Watched {
    fn record(&self, row: AttemptRow) {
        self.store.record(row);
    }

    fn record_captured(&self, row: AttemptRow, capture: Capture) {
        self.store.record_captured(row, capture);
    }

    fn room(&self) -> BoxFuture<'_, ()> {
        let store = self.store.clone();
        let room = Box::pin(async move {
            store.room().await;
            Ok(())
        });
        let room = self.answer(Waits::Room, room);
        Box::pin(async move {
            // There is room in whatever is broken.
            let _ = room.await;
        })
    }

    fn flush(&self) -> BoxFuture<'_, Result<(), StoreError>> {
        self.answer(Waits::Flush, self.store.flush())
    }

    fn attempts(&self, run_id: &str) -> BoxFuture<'_, Result<Vec<AttemptRow>, StoreError>> {
        self.store.attempts(run_id)
    }

    fn captures(&self, route: &str) -> BoxFuture<'_, Result<Vec<Capture>, StoreError>> {
        self.store.captures(route)
    }

    fn observed_latency(
        &self,
        route: &str,
    ) -> BoxFuture<'_, Result<Vec<ObservedLatency>, StoreError>> {
        self.store.observed_latency(route)
    }

    fn spend(&self, of: Spending) -> BoxFuture<'_, Result<Spend, StoreError>> {
        self.store.spend(of)
    }

    fn open_envelope(
        &self,
        envelope: Envelope,
        now_ms: i64,
    ) -> BoxFuture<'_, Result<EnvelopeState, StoreError>> {
        self.store.open_envelope(envelope, now_ms)
    }

    fn reserve(&self, wanted: Reserve) -> BoxFuture<'_, Result<Reserved, StoreError>> {
        match (self.reserves)(&wanted) {
            Ok(()) => self.answer(Waits::Reserve, self.store.reserve(wanted)),
            Err(error) => Box::pin(ready(Err(error))),
        }
    }

    fn settle(&self, id: &str, charge: Option<Usd>) {
        self.store.settle(id, charge);
    }

    fn envelope(
        &self,
        name: &str,
        now_ms: i64,
    ) -> BoxFuture<'_, Result<Option<EnvelopeState>, StoreError>> {
        self.store.envelope(name, now_ms)
    }

    fn envelopes(&self, now_ms: i64) -> BoxFuture<'_, Result<Vec<EnvelopeState>, StoreError>> {
        self.store.envelopes(now_ms)
    }

    fn charges(&self, envelope: &str) -> BoxFuture<'_, Result<Vec<ChargeRow>, StoreError>> {
        self.store.charges(envelope)
    }

    fn page(&self, of: Page) -> BoxFuture<'_, Result<Vec<AttemptRow>, StoreError>> {
        self.store.page(of)
    }

    fn grade(&self, grade: Grade) -> BoxFuture<'_, Result<(), StoreError>> {
        self.store.grade(grade)
    }

    fn verdicts(&self, of: VerdictsOf) -> BoxFuture<'_, Result<Vec<VerdictRow>, StoreError>> {
        self.store.verdicts(of)
    }

    fn next_export(&self, turn: ExportTurn) -> BoxFuture<'_, Result<ExportNext, StoreError>> {
        self.store.next_export(turn)
    }

    fn exported(&self, done: Exported) -> BoxFuture<'_, Result<(), StoreError>> {
        self.store.exported(done)
    }

    fn exports(&self) -> BoxFuture<'_, Result<Vec<ExportState>, StoreError>> {
        self.store.exports()
    }

    fn prune(&self, prune: Prune, now_ms: i64) -> BoxFuture<'_, Result<Pruned, StoreError>> {
        self.store.prune(prune, now_ms)
    }
}
