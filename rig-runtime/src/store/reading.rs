//! What do stored rows say together?

use std::collections::BTreeMap;
use std::ops::Range;

use rig_spec::Usd;

use super::AttemptRow;

/// How long the served attempts of a route at one model took: the least latency that so many in a hundred do not exceed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObservedLatency {
    /// The provider.
    pub provider: String,
    /// The model.
    pub model: String,
    /// How many attempts were served.
    pub attempts: u64,
    /// Half of them took no longer, in milliseconds.
    pub p50_ms: u64,
    /// Nine of ten, in milliseconds.
    pub p90_ms: u64,
    /// 99 of a hundred, in milliseconds.
    pub p99_ms: u64,
}

/// Which rows are read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// When they were dispatched, in milliseconds since 1970 (UTC).
    pub window_ms: Range<i64>,
    /// The id of the last row of the page before; empty for the first page.
    pub after: String,
    /// How many rows there are at most.
    pub limit: u32,
}

/// Which rows are added up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spending {
    /// A tag's key and value; `None` takes rows of any tags.
    pub tag: Option<(String, String)>,
    /// When they were dispatched, in milliseconds since 1970 (UTC).
    pub window_ms: Range<i64>,
}

/// What rows add up to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spend {
    /// How many attempts there are.
    pub attempts: u64,
    /// What they cost.
    pub cost: Usd,
    /// How many of them have a cost without their tokens, because the model has no known price.
    pub unpriced: u64,
    /// How many of them may have cost more, since their providers did not report all that they used.
    pub usage_missing: u64,
}

impl Page {
    /// Returns the first page of a window, of this many rows at most.
    #[must_use]
    pub fn first(window_ms: Range<i64>, limit: u32) -> Self {
        Self {
            window_ms,
            after: String::new(),
            limit,
        }
    }

    /// Returns the page behind one with these rows; `None` where that was the last.
    #[must_use]
    pub fn next(&self, rows: &[AttemptRow]) -> Option<Self> {
        let last = rows.last().filter(|_| rows.len() >= self.limit as usize)?;
        Some(Self {
            after: last.id.clone(),
            ..self.clone()
        })
    }

    /// Returns whether a row is in the window and behind the page before.
    pub(super) fn takes(&self, row: &AttemptRow) -> bool {
        self.window_ms.contains(&row.ts_ms) && row.id > self.after
    }
}

impl Spending {
    /// Returns whether a row is added.
    pub(super) fn takes(&self, row: &AttemptRow) -> bool {
        let is_tagged = |(key, value): &(String, String)| row.tags.get(key) == Some(value);
        self.window_ms.contains(&row.ts_ms) && self.tag.as_ref().is_none_or(is_tagged)
    }
}

impl Spend {
    /// Adds a row.
    pub(super) fn add(self, row: &AttemptRow) -> Self {
        Self {
            attempts: self.attempts + 1,
            cost: self.cost + row.cost,
            unpriced: self.unpriced + u64::from(row.pricing_missing),
            usage_missing: self.usage_missing + u64::from(row.usage_missing),
        }
    }
}

/// Returns the latencies of a route's served attempts, by provider and model.
pub(super) fn observed<'a>(
    route: &str,
    rows: impl Iterator<Item = &'a AttemptRow>,
) -> Vec<ObservedLatency> {
    let mut served: BTreeMap<_, Vec<u64>> = BTreeMap::new();
    for row in rows.filter(|row| row.route == route && row.failure.is_none()) {
        let model = (row.provider.to_string(), row.model.to_string());
        served.entry(model).or_default().push(row.latency_ms);
    }
    observed_of(served)
}

/// Returns what latencies come to, which are given by provider and model.
pub(super) fn observed_of(served: BTreeMap<(String, String), Vec<u64>>) -> Vec<ObservedLatency> {
    let of_model = |((provider, model), mut latencies): ((String, String), Vec<u64>)| {
        latencies.sort_unstable();
        let at_most = |percent: usize| latencies[(latencies.len() * percent).div_ceil(100) - 1];
        ObservedLatency {
            provider,
            model,
            attempts: latencies.len() as u64,
            p50_ms: at_most(50),
            p90_ms: at_most(90),
            p99_ms: at_most(99),
        }
    };
    served.into_iter().map(of_model).collect()
}
