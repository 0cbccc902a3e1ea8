//! Whom does one call leave out?
//!
//! Contract R1, as far as it depends on the call. One rule for the ladder, and for whoever tells what a call would do.

use crate::{Capabilities, Capability, Price, UsdPerMtok};

/// How a call narrows its route.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Narrowing {
    /// The providers that may serve; `None` lets all of them.
    pub only: Option<Vec<String>>,
    /// The providers that may not.
    pub ignore: Vec<String>,
    /// Whether only endpoints may serve that are designated to keep nothing.
    pub zero_retention: bool,
    /// The highest price of a token in and a token out together.
    pub max_price: Option<UsdPerMtok>,
}

impl Narrowing {
    /// Returns the first filter, in the contract's order, that removes a candidate: `is not one of …`.
    #[must_use]
    pub fn removes(
        &self,
        provider: &str,
        capabilities: Capabilities,
        price: Option<Price>,
    ) -> Option<String> {
        let is_provider = |name: &String| name == provider;
        if self
            .only
            .as_ref()
            .is_some_and(|only| !only.iter().any(is_provider))
        {
            return Some("is not one of `providers_only`".to_owned());
        }
        if self.ignore.iter().any(is_provider) {
            return Some("is one of `providers_ignore`".to_owned());
        }
        if self.zero_retention && !capabilities.has(Capability::ZeroRetention) {
            return Some("is not designated `zero_retention`".to_owned());
        }
        let most = self.max_price?;
        match price.map(|price| price.rates.blended()) {
            None => Some("has no known price to hold against `max_price`".to_owned()),
            Some(price) if price > most => Some("costs more than `max_price`".to_owned()),
            Some(_) => None,
        }
    }

    /// R6: whoever cannot search is told what a search found, and the query is a piece of the prompt. `designated` says
    /// of the search whether it keeps nothing.
    #[must_use]
    pub fn removes_searched(&self, capabilities: Capabilities, designated: bool) -> Option<String> {
        let hands_out = !designated && !capabilities.has(Capability::GroundedNative);
        (self.zero_retention && hands_out)
            .then(|| "needs a search, which is not designated `zero_retention`".to_owned())
    }
}
