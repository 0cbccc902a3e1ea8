//! What does a call return?

use std::borrow::Cow;
use std::time::Duration;

use rig_spec::{FailureClass, Tier, Usd};

use crate::turn::ToolCall;

/// A conformant output and how it came about.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Run<T> {
    /// The output; it conforms to the route's schema.
    pub output: T,
    /// How it came about.
    pub meta: RunMeta,
}

/// How an output came about. Provider, tokens, cost and latency are those of the attempt that served.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct RunMeta {
    /// The id of the attempt that served, and of its row (UUID v7).
    pub inference_id: String,
    /// The run's id; on every row of its attempts (UUID v7).
    pub run_id: String,
    /// The route; empty in the raw lane.
    pub route: &'static str,
    /// The route's version; 0 in the raw lane.
    pub route_version: u32,
    /// The provider that served.
    pub provider: &'static str,
    /// The model that served.
    pub model: Cow<'static, str>,
    /// The tier that was asked for.
    pub requested_tier: Option<Tier>,
    /// The tier that served, as the provider names it.
    pub served_tier: Option<String>,
    /// The whole input, in tokens; `None` if the provider did not say.
    pub tokens_in: Option<u64>,
    /// The output, reasoning included, in tokens; `None` if the provider did not say.
    pub tokens_out: Option<u64>,
    /// The part of `tokens_in` that was read from a cache; `None` if the provider did not say.
    pub tokens_cached: Option<u64>,
    /// The part of `tokens_in` that was written to a cache; `None` if the provider did not say.
    pub tokens_cache_write: Option<u64>,
    /// How often the provider searched the web itself; `None` where it does not say, or was not asked to.
    pub searches: Option<u64>,
    /// The key that the provider's prompt cache was told; `None` where it was told none.
    pub cache_key: Option<String>,
    /// What the attempt cost; zero where usage or price are unknown.
    pub cost: Usd,
    /// What all attempts of the run cost together.
    pub run_cost: Usd,
    /// Whether `cost` leaves out the tokens, because the model has no known price.
    pub pricing_missing: bool,
    /// From dispatch to the last byte.
    pub latency: Duration,
    /// Whether the output passed the conformance gate; a call of tools is returned before it, and the raw
    /// lane has none.
    pub validated: bool,
    /// The attempts of the run, by what they ended with.
    pub attempts: AttemptCounts,
    /// The variant that served; `None` for the route itself.
    pub served_variant: Option<&'static str>,
    /// `provider/model` that repaired the output; `None` if it needed no repair.
    pub repaired_by: Option<String>,
    /// What the output draws on: what the candidate cites, or what was found for it. None on a route without grounding.
    pub citations: Vec<Citation>,
    /// The tools that the model asks the caller to run; none where there is an output.
    pub tool_calls: Vec<ToolCall>,
}

/// A page that an output draws on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Citation {
    /// Its title; empty where nobody said.
    pub title: String,
    /// Its address.
    pub url: String,
}

/// How many attempts a run took, by what they ended with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AttemptCounts {
    total: u32,
    failed: [u32; FailureClass::ALL.len()],
}

impl AttemptCounts {
    /// Returns the number of attempts, the conformant one included.
    #[must_use]
    pub fn total(&self) -> u32 {
        self.total
    }

    /// Returns the number of attempts that failed with a class.
    #[must_use]
    pub fn failed(&self, class: FailureClass) -> u32 {
        self.failed[class as usize]
    }

    /// Counts an attempt at its dispatch and returns its number, from 1.
    pub(crate) fn dispatch(&mut self) -> u32 {
        self.total += 1;
        self.total
    }

    /// Counts the failure of an attempt.
    pub(crate) fn fail(&mut self, class: FailureClass) {
        self.failed[class as usize] += 1;
    }
}
