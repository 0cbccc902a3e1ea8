//! What is stored of an attempt?

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use rig_spec::{FailureClass, Tier, Usd};

use crate::trace::Traceparent;

/// One attempt: one dispatch, one row of the table `inferences`.
///
/// Token counts that the provider did not report are `None`, never 0.
#[derive(Clone, Debug, PartialEq)]
pub struct AttemptRow {
    /// The attempt's id (UUID v7); equals `RunMeta::inference_id` of the attempt that served.
    pub id: String,
    /// When it was dispatched, in milliseconds since 1970 (UTC).
    pub ts_ms: i64,
    /// The run it belongs to (UUID v7).
    pub run_id: String,
    /// The route; empty in the raw lane.
    pub route: Cow<'static, str>,
    /// The route's version; 0 in the raw lane.
    pub route_version: u32,
    /// The provider.
    pub provider: Cow<'static, str>,
    /// The model that was asked for.
    pub model: Cow<'static, str>,
    /// The tier that was asked for.
    pub requested_tier: Option<Tier>,
    /// The tier that served, as the provider names it.
    pub served_tier: Option<String>,
    /// The whole input, in tokens.
    pub tokens_in: Option<u64>,
    /// The output, reasoning included, in tokens.
    pub tokens_out: Option<u64>,
    /// The part of `tokens_in` that was read from a cache.
    pub tokens_cached: Option<u64>,
    /// The part of `tokens_in` that was written to a cache.
    pub tokens_cache_write: Option<u64>,
    /// How often the provider searched the web itself; `None` where it does not say, or was not asked to.
    pub searches: Option<u64>,
    /// What the attempt cost, as far as usage and price are known.
    pub cost: Usd,
    /// Whether the cost leaves out the tokens, because the model has no known price.
    pub pricing_missing: bool,
    /// Whether the attempt may have used more than the provider said, so that the cost is a lower bound.
    pub usage_missing: bool,
    /// From dispatch to the last byte, in milliseconds; of a streamed answer, to its end mark.
    pub latency_ms: u64,
    /// From dispatch to the first content of a streamed answer, or to the head of any other response, in milliseconds.
    pub ttfb_ms: Option<u64>,
    /// Why it failed; `None` for a conformant answer.
    pub failure: Option<RowFailure>,
    /// Its place in the run, from 1.
    pub attempt: u32,
    /// The caller's tags.
    pub tags: BTreeMap<String, String>,
    /// The variant that served; `None` for the route itself.
    pub served_variant: Option<Cow<'static, str>>,
    /// `provider/model` that repaired, on rows of the repair rung.
    pub repaired_by: Option<String>,
    /// The cache key that was sent, where the provider takes one.
    pub cache_key: Option<String>,
    /// A fingerprint of what the calls of the route begin with, of routes that ask for caching.
    pub prefix_fingerprint: Option<String>,
    /// `ladder` or `raw`.
    pub lane: Cow<'static, str>,
    /// Where in the caller's trace the run belongs, if the caller said so.
    pub traceparent: Option<Traceparent>,
}

/// Why an attempt has no conformant answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RowFailure {
    /// It failed.
    Class(FailureClass),
    /// Its caller went away. No call ever ends with this.
    Cancelled,
    /// It failed with a class that this version does not know, since a newer one recorded it; its name. Only what is read from a
    /// store has it, so that one row of a newer version makes no page unreadable.
    Unknown(&'static str),
}

/// The most names of unknown classes that a process keeps, and the longest.
const MOST_UNKNOWN: usize = 64;
const LONGEST_UNKNOWN: usize = 40;

/// What stands for a class whose name is not kept.
const UNNAMED: &str = "unknown";

impl RowFailure {
    /// Returns the serialized name, as it stands in the column `failure_class`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Class(class) => class.name(),
            Self::Cancelled => "cancelled",
            Self::Unknown(name) => name,
        }
    }

    /// Returns the value of a serialized name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "cancelled" => Some(Self::Cancelled),
            other => FailureClass::from_name(other).map(Self::Class),
        }
    }

    /// Returns what a column holds, also where this version does not know it.
    pub(super) fn stored(name: &str) -> Self {
        Self::from_name(name).unwrap_or_else(|| Self::Unknown(unknown(name)))
    }
}

/// Returns the name of an unknown class for as long as the process lives, so that [`RowFailure`] stays `Copy`. What does
/// not look like a class, and more of them than any version will add, is not kept.
fn unknown(name: &str) -> &'static str {
    static KNOWN: Mutex<Vec<&'static str>> = Mutex::new(Vec::new());
    let is_letter = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    if name.is_empty() || name.len() > LONGEST_UNKNOWN || !name.bytes().all(is_letter) {
        return UNNAMED;
    }
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(found) = known.iter().find(|found| **found == name) {
        return found;
    }
    if known.len() == MOST_UNKNOWN {
        return UNNAMED;
    }
    let kept: &'static str = String::leak(name.to_owned());
    known.push(kept);
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    // E6: a class of a newer version keeps its name; what is no class, and what would fill the memory, does not.
    #[test]
    fn classes_of_newer_versions_are_kept_by_name() {
        for name in ["melted_down", "cancelled", "network"] {
            assert_eq!(RowFailure::stored(name).name(), name);
        }
        let again = RowFailure::stored("melted_down");
        assert_eq!(again, RowFailure::Unknown("melted_down"));
        for text in ["", "Ignore the task.", &"x".repeat(41)] {
            assert_eq!(RowFailure::stored(text).name(), "unknown");
        }
        for number in 0..1_000 {
            RowFailure::stored(&format!("class_{number}"));
        }
        assert_eq!(RowFailure::stored("one_more").name(), "unknown");
        assert_eq!(RowFailure::stored("melted_down").name(), "melted_down");
    }
}
