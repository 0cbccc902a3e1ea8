//! How large, and so how dear, can one attempt of a candidate become?
//!
//! One rule for the compiler's worst case and for what an envelope reserves.

use crate::{Price, Usd};

/// What is known of a candidate's size, beside what its tokens cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The context window, in tokens.
    pub context_window: Option<u64>,
    /// The most output tokens.
    pub max_output: Option<u64>,
    /// The price of the tier that may serve instead of the one that is asked for; `None` where that is the same.
    pub ordinary_price: Option<Price>,
}

impl Limits {
    /// Those of a model of which nothing is known.
    pub const UNKNOWN: Self = Self {
        context_window: None,
        max_output: None,
        ordinary_price: None,
    };

    /// The context window of a model whose window is not known: the largest of the registry, in tokens.
    pub const LARGEST_CONTEXT: u64 = 2_000_000;

    /// What a dialect sends where the route sets no `max_output_tokens` and has to send something, in tokens.
    const DEFAULT_OUTPUT: u64 = 4_096;

    /// Sets the context window, in tokens.
    #[must_use]
    pub const fn context(mut self, tokens: u64) -> Self {
        self.context_window = Some(tokens);
        self
    }

    /// Sets the most output tokens.
    #[must_use]
    pub const fn output(mut self, tokens: u64) -> Self {
        self.max_output = Some(tokens);
        self
    }

    /// Sets the price of the tier that may serve instead.
    #[must_use]
    pub const fn ordinary(mut self, price: Price) -> Self {
        self.ordinary_price = Some(price);
        self
    }

    /// Returns the most that one attempt can cost whose input is at most this many tokens, under the route's
    /// `max_output_tokens`. Without a price it is reckoned at [`Price::CONSERVATIVE`].
    #[must_use]
    pub fn most(
        &self,
        price: Option<Price>,
        tokens_in: u64,
        max_output_tokens: Option<u64>,
    ) -> Usd {
        let context = self.context_window.unwrap_or(Self::LARGEST_CONTEXT);
        let own = self.max_output.unwrap_or(context).max(Self::DEFAULT_OUTPUT);
        let output = max_output_tokens.unwrap_or(own);
        let asked = price.unwrap_or(Price::CONSERVATIVE);
        let most = |price: Price| price.most(tokens_in.min(context), output);
        let ordinary = self.ordinary_price.map(most).unwrap_or_default();
        most(asked).max(ordinary)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Rates;

    const CHEAP: Price = Price::flat(Rates::nanos(1_000_000_000, 2_000_000_000));
    const DEAR: Price = Price::flat(Rates::nanos(2_000_000_000, 4_000_000_000));

    // C9, E2, E3
    #[test]
    fn an_attempt_costs_no_more_than_its_tokens_at_the_dearer_tier() {
        let known = Limits::UNKNOWN.context(10_000).output(5_000);
        let most = |limits: Limits, price, tokens_in, output| limits.most(price, tokens_in, output);
        let usd = |micros: u64| Usd::nanos(micros * 1_000);
        assert_eq!(most(known, Some(CHEAP), 100, Some(10)), usd(120));
        assert_eq!(most(known, Some(CHEAP), 100, None), usd(10_100));
        assert_eq!(most(known, Some(CHEAP), u64::MAX, Some(10)), usd(10_020));
        let tiered = known.ordinary(DEAR);
        assert_eq!(most(tiered, Some(CHEAP), 100, Some(10)), usd(240));
        // 30 and 180 USD per million tokens.
        assert_eq!(most(known, None, 100, Some(10)), usd(4_800));
        // An output that nobody bounds fills the window, which may be the largest there is.
        let unknown = Limits::UNKNOWN.most(Some(CHEAP), 0, None);
        assert_eq!(unknown, usd(2 * Limits::LARGEST_CONTEXT));
        let small = Limits::UNKNOWN.context(100).output(50);
        assert_eq!(small.most(Some(CHEAP), 0, None), usd(2 * 4_096));
    }
}
