//! What does a run reserve? A store in memory that remembers what it was asked for.

use std::sync::{Arc, Mutex};

use rig::Usd;
use rig::store::{
    AttemptRow, Capture, Envelope, EnvelopeState, ObservedLatency, Reserve, Reserved, Spend,
    Spending, Store, StoreError,
};
use rig::testing::MemoryStore;
use rig::transport::BoxFuture;

/// Cloning it gives another handle.
#[derive(Clone, Default)]
pub(super) struct Purse {
    pub(super) store: MemoryStore,
    amounts: Arc<Mutex<Vec<u64>>>,
}

type Asked<'a, T> = BoxFuture<'a, Result<T, StoreError>>;

impl Purse {
    /// What was to be reserved, in order, in nano-dollars; what the envelope refused is the last.
    pub(super) fn amounts(&self) -> Vec<u64> {
        self.amounts.lock().unwrap().clone()
    }
}

impl Store for Purse {
    fn reserve(&self, wanted: Reserve) -> Asked<'_, Reserved> {
        self.amounts.lock().unwrap().push(wanted.amount.as_nanos());
        self.store.reserve(wanted)
    }

    fn record(&self, row: AttemptRow) {
        self.store.record(row);
    }

    fn record_captured(&self, row: AttemptRow, capture: Capture) {
        self.store.record_captured(row, capture);
    }

    fn flush(&self) -> Asked<'_, ()> {
        self.store.flush()
    }

    fn attempts(&self, run_id: &str) -> Asked<'_, Vec<AttemptRow>> {
        self.store.attempts(run_id)
    }

    fn captures(&self, route: &str) -> Asked<'_, Vec<Capture>> {
        self.store.captures(route)
    }

    fn observed_latency(&self, route: &str) -> Asked<'_, Vec<ObservedLatency>> {
        self.store.observed_latency(route)
    }

    fn spend(&self, of: Spending) -> Asked<'_, Spend> {
        self.store.spend(of)
    }

    fn open_envelope(&self, envelope: Envelope, now_ms: i64) -> Asked<'_, EnvelopeState> {
        self.store.open_envelope(envelope, now_ms)
    }

    fn settle(&self, id: &str, charge: Option<Usd>) {
        self.store.settle(id, charge);
    }

    fn envelope(&self, name: &str, now_ms: i64) -> Asked<'_, Option<EnvelopeState>> {
        self.store.envelope(name, now_ms)
    }
}
