//! What does a reply mean? The contract's §K as far as it classifies.

use rig::__private::Rates;
use rig::FailureClass::{
    self, CacheInvalid, CapacityShed, ConfigAuth, ContentInvalid, Network, QualityRejected, Refusal,
};

use crate::sim::case::What;

/// What is reckoned where no price is known: 30 and 180 USD per million tokens.
pub(super) const CONSERVATIVE: Rates = Rates::nanos(30_000_000_000, 180_000_000_000);

/// Why an attempt serves nothing.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Why {
    /// Nothing but its class.
    Plain,
    /// It misses the schema.
    SchemaInvalid,
    /// The answer was cut at the token limit.
    Cut,
    /// The request cannot pass.
    Rejected,
    /// The provider asks to wait this many milliseconds.
    Asks(u64),
}

/// K4, K5, L10, L14: what a reply is where no tool may be called; nothing for one that serves. What is said of a cache
/// counts for a request that named one.
pub(super) fn failure(what: What, names_cache: bool) -> Option<(FailureClass, Why)> {
    Some(match what {
        What::Good => return None,
        What::Unliked => (QualityRejected, Why::Plain), // L8
        What::Bad | What::Prose => (ContentInvalid, Why::SchemaInvalid),
        What::Cut { .. } => (ContentInvalid, Why::Cut),
        What::Refusal => (Refusal, Why::Plain),
        What::Fault | What::Unsent => (Network, Why::Plain),
        What::Stale if names_cache => (CacheInvalid, Why::Plain),
        What::Stale => (ConfigAuth, Why::Plain),
        What::Status { status, code, asks } => {
            let asks = asks.map_or(Why::Plain, |seconds| Why::Asks(seconds * 1_000));
            match (status, code) {
                (_, "insufficient_quota" | "invalid_api_key") | (401 | 403, _) => {
                    (ConfigAuth, asks)
                }
                (429 | 503 | 529, _) => (CapacityShed, asks),
                (400..500, _) => (Network, Why::Rejected),
                _ => (Network, asks),
            }
        }
        // No text to repair.
        _ => (ContentInvalid, Why::Plain),
    })
}

/// E2: a request that was never sent, and an answer with a status of 400 to 599, which has no usage, are charged nothing.
pub(super) fn is_free(what: What) -> bool {
    matches!(what, What::Status { .. } | What::Stale | What::Unsent)
}

/// The default backoff: first, factor and cap.
pub(super) fn default_backoff(class: FailureClass) -> (u64, f64, u64) {
    match class {
        CapacityShed => (30_000, 2.0, 240_000),
        Network => (1_000, 2.0, 30_000),
        _ => (0, 1.0, 0),
    }
}
