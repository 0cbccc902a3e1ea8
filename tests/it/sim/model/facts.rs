//! What does a reply mean, and how long does it take? The contract's §K as far as it classifies, and L12.

use rig::__private::Rates;
use rig::FailureClass::{
    self, CacheInvalid, CapacityShed, ConfigAuth, ContentInvalid, Network, QualityRejected, Refusal,
};

use crate::sim::case::{Reply, What};

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

/// How long the body of a failure is waited for, in milliseconds, as `docs/streaming.md` says.
const LINGER: u64 = 1_500;

/// What a dispatch under a time limit looks like from outside.
pub(super) struct Met {
    pub(super) head: Option<u64>,
    pub(super) took: u64,
    pub(super) in_time: bool,
    pub(super) caller_left: bool,
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
        What::Fault => (Network, Why::Plain),
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

/// E2: an answer with a status of 400 to 599, which has no usage, is charged nothing.
pub(super) fn is_free(what: What) -> bool {
    matches!(what, What::Status { .. } | What::Stale)
}

/// The default backoff: first, factor and cap.
pub(super) fn default_backoff(class: FailureClass) -> (u64, f64, u64) {
    match class {
        CapacityShed => (30_000, 2.0, 240_000),
        Network => (1_000, 2.0, 30_000),
        _ => (0, 1.0, 0),
    }
}

/// K4: what a reply is known to be within this time. Of a failure whose body does not come the status decides.
pub(super) fn known(reply: Reply, limit: u64) -> Reply {
    let is_there = reply.body_ms <= LINGER && reply.head_ms + reply.body_ms <= limit;
    let bare = |status, asks| What::Status {
        status,
        code: "",
        asks,
    };
    let what = match reply.what {
        What::Status { status, asks, .. } if !is_there => bare(status, asks),
        What::Stale if !is_there => bare(403, None),
        what => what,
    };
    Reply { what, ..reply }
}

/// L12: what is done at the last moment is in time. Who listens counts to the first content. A failure is known by its
/// head; a model's body is waited for a little, and that of a search is not.
pub(super) fn meet(reply: Reply, limit: u64, streams: bool, is_search: bool) -> Met {
    let is_failure = matches!(reply.what, What::Status { .. } | What::Stale);
    let body = match reply.what {
        What::Fault => 0,
        _ if is_failure && is_search => 0,
        _ if is_failure => reply.body_ms.min(LINGER),
        _ => reply.body_ms,
    };
    let whole = reply.head_ms + body;
    let has_head = reply.head_ms <= limit && reply.what != What::Fault;
    let head = match reply.what {
        _ if !has_head => None,
        What::Status { .. } | What::Stale => Some(reply.head_ms),
        What::Refusal | What::LeavesBeforeEnd { .. } if streams => None,
        _ if streams => (whole <= limit).then_some(whole),
        _ => Some(reply.head_ms),
    };
    let left = |head, took| Met {
        head,
        took,
        in_time: false,
        caller_left: true,
    };
    match reply.what {
        What::LeavesBeforeHead { after } => left(None, after),
        What::LeavesBeforeEnd { after } if has_head => left(head, reply.head_ms + after),
        _ => Met {
            head,
            took: whole.min(limit),
            in_time: whole <= limit || (is_failure && has_head),
            caller_left: false,
        },
    }
}
