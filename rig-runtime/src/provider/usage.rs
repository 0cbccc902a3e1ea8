//! The counts of an answer, with one meaning for all providers.

/// Counts of tokens and of searches; `None` is unknown, never 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Usage {
    /// The whole input.
    pub(crate) tokens_in: Option<u64>,
    /// The output, reasoning included.
    pub(crate) tokens_out: Option<u64>,
    /// The part of the input that was read from a cache.
    pub(crate) tokens_cached: Option<u64>,
    /// The part of the input that was written to a cache.
    pub(crate) tokens_cache_write: Option<u64>,
    /// How often the provider searched the web itself.
    pub(crate) searches: Option<u64>,
}

impl Usage {
    /// Returns the counts without the errors that providers are known for: an input of no token was not counted, and the
    /// cached parts are at most the whole.
    pub(super) fn checked(self) -> Self {
        let tokens_in = self.tokens_in.filter(|input| *input > 0);
        if tokens_in.is_none() && self.tokens_out.unwrap_or(0) == 0 {
            return Self::default();
        }
        let whole = tokens_in.unwrap_or(u64::MAX);
        let cached = self.tokens_cached.map(|part| part.min(whole));
        let beside = whole - cached.unwrap_or(0);
        Self {
            tokens_in,
            tokens_cached: cached,
            tokens_cache_write: self.tokens_cache_write.map(|part| part.min(beside)),
            ..self
        }
    }

    /// Returns the usage of an answer after one more report of it. Usage only grows: a part that is missing, or smaller,
    /// does not replace what was reported before.
    pub(super) fn grown(self, reported: Self) -> Self {
        Self {
            tokens_in: self.tokens_in.max(reported.tokens_in),
            tokens_out: self.tokens_out.max(reported.tokens_out),
            tokens_cached: self.tokens_cached.max(reported.tokens_cached),
            tokens_cache_write: self.tokens_cache_write.max(reported.tokens_cache_write),
            searches: self.searches.max(reported.searches),
        }
    }

    /// Returns the counts with this number of searches; without it if the provider has reported no count.
    pub(super) fn with_searches(self, searches: u64) -> Self {
        let searches = self.is_told().then_some(searches);
        Self { searches, ..self }
    }

    /// Returns whether the provider has reported any count. A count under a dialect's own name also shows that a response is of
    /// that dialect.
    pub(crate) fn is_told(&self) -> bool {
        *self != Self::default()
    }

    /// Returns whether both counts that decide the cost are known. An output of nothing may have been counted too early.
    pub(crate) fn is_known(&self) -> bool {
        self.tokens_in.is_some() && self.tokens_out.is_some_and(|output| output > 0)
    }
}

/// Returns the output of an answer whose provider reports a total as well. The total decides, since hosts differ in
/// whether the output they report includes the reasoning. A total that leaves nothing for an output that was reported
/// contradicts it, and then the output is unknown.
pub(super) fn output(
    reported: Option<u64>,
    tokens_in: Option<u64>,
    total: Option<u64>,
) -> Option<u64> {
    let (Some(output), Some(input)) = (reported, tokens_in) else {
        return reported;
    };
    match above(total, input.max(output)) {
        Some(total) => Some(total - input).filter(|left| *left > 0 || output == 0),
        None => reported,
    }
}

/// Returns a total if it can be the total of counts of which this is the largest. The largest number that there is stands for
/// a sum that was too large.
pub(super) fn above(total: Option<u64>, largest: u64) -> Option<u64> {
    total.filter(|total| (largest..u64::MAX).contains(total))
}

#[cfg(test)]
mod tests;
