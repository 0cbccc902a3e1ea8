//! The size of one attempt of a candidate, and the most that it can cost.
//!
//! The compiler's worst case and an envelope's reservation follow this one rule.

use crate::{Price, Tier, Usd};

/// What is known of a candidate's size, beside what its tokens cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The context window, in tokens.
    pub context_window: Option<u64>,
    /// The most output tokens.
    pub max_output: Option<u64>,
    /// The prices of the tiers that may serve instead of the requested one, by `Tier as usize`; `None` for a tier that cannot
    /// serve or has the price of the requested one.
    pub tiers: [Option<Price>; Tier::ALL.len()],
}

impl Limits {
    /// Those of a model of which nothing is known.
    pub const UNKNOWN: Self = Self {
        context_window: None,
        max_output: None,
        tiers: [None; Tier::ALL.len()],
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

    /// Sets the price of a tier that may serve instead of the requested one.
    #[must_use]
    pub const fn tier(mut self, tier: Tier, price: Price) -> Self {
        self.tiers[tier as usize] = Some(price);
        self
    }

    /// Returns the most that one attempt can cost, whichever tier serves (E5). Its input is at most `tokens_in` tokens, its
    /// output the route's `max_output_tokens`; `search` is the fee where the provider searches the web itself. A model without
    /// a price costs [`Price::CONSERVATIVE`] (E3).
    #[must_use]
    pub fn most(
        &self,
        price: Option<Price>,
        tokens_in: u64,
        max_output_tokens: Option<u64>,
        search: Option<SearchFee>,
    ) -> Usd {
        let context = self.context_window.unwrap_or(Self::LARGEST_CONTEXT);
        let own = self.max_output.unwrap_or(context).max(Self::DEFAULT_OUTPUT);
        let output = max_output_tokens.unwrap_or(own);
        let asked = price.unwrap_or(Price::CONSERVATIVE);
        let most = |price: Price| price.most(tokens_in.min(context), output);
        let others = self.tiers.into_iter().flatten().map(most);
        let tokens = others.fold(most(asked), Usd::max);
        tokens + search.map_or(Usd::ZERO, |fee| fee.most())
    }
}

/// What an attempt costs: a model's tokens, by the tier that serves, and the web searches that the provider runs (E5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Prices {
    /// At the requested tier; `None` where no price is known.
    pub requested: Option<Price>,
    /// At other tiers, by `Tier as usize`; `None` has the price of the requested tier.
    pub others: [Option<Price>; Tier::ALL.len()],
    /// What the web searches cost; `None` where the request does not ask the provider to search.
    pub search: Option<SearchFee>,
}

/// What a provider charges for the web searches that it runs itself, beside the tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SearchFee {
    /// The models: those whose name begins so.
    pub models: &'static str,
    /// The fee.
    pub fee: Usd,
    /// Whether it is charged for each search; else once for a request with any.
    pub is_per_search: bool,
    /// The most searches of one request. Where the provider takes a bound, this bound is sent.
    pub most: u32,
}

impl SearchFee {
    /// The most searches that a request allows a provider that takes a bound.
    pub const BOUND: u32 = 5;

    /// The searches of one request that a reservation covers where the provider takes no bound.
    pub const EXPECTED: u32 = 20;

    /// Returns a fee for each search.
    #[must_use]
    pub const fn per_search(models: &'static str, fee: Usd) -> Self {
        Self {
            models,
            fee,
            is_per_search: true,
            most: Self::BOUND,
        }
    }

    /// Returns a fee for each request with a search, however many there are.
    #[must_use]
    pub const fn per_request(models: &'static str, fee: Usd) -> Self {
        Self {
            models,
            fee,
            is_per_search: false,
            most: Self::BOUND,
        }
    }

    /// Returns the fee of a provider that takes no bound on its searches.
    #[must_use]
    pub const fn unbounded(mut self) -> Self {
        self.most = Self::EXPECTED;
        self
    }

    /// Returns whether the fee is that of a model. The model's name may follow a collection: `models/NAME`.
    pub(crate) fn fits(&self, model: &str) -> bool {
        let name = model.rsplit('/').next().unwrap_or(model);
        name.starts_with(self.models)
    }

    /// Returns what so many searches of one request cost.
    #[must_use]
    pub fn cost(&self, searches: u64) -> Usd {
        let times = if self.is_per_search {
            searches
        } else {
            searches.min(1)
        };
        Usd::nanos(self.fee.as_nanos().saturating_mul(times))
    }

    /// Returns the most that the searches of one request cost.
    #[must_use]
    pub fn most(&self) -> Usd {
        self.cost(self.most.into())
    }
}

impl Prices {
    /// Returns what the tokens of an answer cost, by the tier that its provider says served it. Without one, or for an unknown
    /// one, that is the price at the requested tier.
    #[must_use]
    pub fn at(&self, served: Option<&str>) -> Option<Price> {
        let served = served.and_then(Tier::served);
        let own = served.and_then(|tier| self.others[tier as usize]);
        self.requested.map(|requested| own.unwrap_or(requested))
    }

    /// Returns what this number of searches costs. An unknown number (`None`) costs nothing.
    #[must_use]
    pub fn searches(&self, searches: Option<u64>) -> Usd {
        let fee = self.search.zip(searches);
        fee.map_or(Usd::ZERO, |(fee, searches)| fee.cost(searches))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Rates;

    const CHEAP: Price = Price::flat(Rates::nanos(1_000_000_000, 2_000_000_000));
    const DEAR: Price = Price::flat(Rates::nanos(2_000_000_000, 4_000_000_000));

    // C9, E2, E3, E5
    #[test]
    fn an_attempt_costs_no_more_than_its_tokens_at_the_dearest_tier() {
        let known = Limits::UNKNOWN.context(10_000).output(5_000);
        let most =
            |limits: Limits, price, tokens_in, output| limits.most(price, tokens_in, output, None);
        let usd = |micros: u64| Usd::nanos(micros * 1_000);
        assert_eq!(most(known, Some(CHEAP), 100, Some(10)), usd(120));
        assert_eq!(most(known, Some(CHEAP), 100, None), usd(10_100));
        assert_eq!(most(known, Some(CHEAP), u64::MAX, Some(10)), usd(10_020));
        let tiered = known.tier(Tier::Standard, DEAR);
        assert_eq!(most(tiered, Some(CHEAP), 100, Some(10)), usd(240));
        // 30 and 180 USD per million tokens.
        assert_eq!(most(known, None, 100, Some(10)), usd(4_800));
        // E5: what is charged follows the tier that served.
        let prices = Prices {
            requested: Some(CHEAP),
            others: tiered.tiers,
            search: None,
        };
        for (served, price) in [
            (None, CHEAP),
            (Some("default"), DEAR),
            (Some("priority"), CHEAP),
            (Some("words"), CHEAP),
        ] {
            assert_eq!(prices.at(served), Some(price), "{served:?}");
        }
        assert_eq!(Prices::default().at(Some("default")), None);
        // E5: a provider's own searches cost by the search or by the request.
        let fee = Usd::nanos(7);
        let costs = |fee: SearchFee| [0, 1, 3].map(|searches| fee.cost(searches).as_nanos());
        assert_eq!(costs(SearchFee::per_search("", fee)), [0, 7, 21]);
        assert_eq!(costs(SearchFee::per_request("", fee)), [0, 7, 7]);
        // An output that nobody bounds fills the window, which may be the largest there is.
        let unknown = most(Limits::UNKNOWN, Some(CHEAP), 0, None);
        assert_eq!(unknown, usd(2 * Limits::LARGEST_CONTEXT));
        let small = Limits::UNKNOWN.context(100).output(50);
        assert_eq!(most(small, Some(CHEAP), 0, None), usd(2 * 4_096));
        // E5: a reservation covers the searches that a request allows.
        let fee = |fee: SearchFee| known.most(Some(CHEAP), 100, Some(10), Some(fee));
        let (each, once) = (
            SearchFee::per_search("", usd(1)),
            SearchFee::per_request("", usd(1)),
        );
        assert_eq!(
            [each, each.unbounded(), once].map(fee),
            [125, 140, 121].map(usd)
        );
    }
}
