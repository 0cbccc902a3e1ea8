//! How is money counted? In whole nano-dollars. Money is never a float.

use std::fmt;
use std::iter::Sum;
use std::ops::Add;

/// An amount of US dollars, in whole nano-dollars (10⁻⁹ USD).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Usd(u64);

/// A price in US dollars per million tokens, held as nano-dollars per million tokens so that every listed
/// price is exact.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct UsdPerMtok(u64);

/// What a candidate's tokens cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Price {
    /// Input tokens that were not read from a cache.
    pub input: UsdPerMtok,
    /// Output tokens, reasoning included.
    pub output: UsdPerMtok,
    /// Input tokens read from a cache; `None` bills them as input.
    pub cached_input: Option<UsdPerMtok>,
    /// Input tokens written to a cache; `None` bills them as input.
    pub cache_write: Option<UsdPerMtok>,
}

impl Usd {
    /// Nothing.
    pub const ZERO: Self = Self(0);

    /// Returns this many whole dollars.
    #[must_use]
    pub const fn dollars(dollars: u32) -> Self {
        Self(dollars as u64 * 1_000_000_000)
    }

    /// Returns this many nano-dollars.
    #[must_use]
    pub const fn nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    /// Returns the amount in nano-dollars.
    #[must_use]
    pub const fn as_nanos(self) -> u64 {
        self.0
    }
}

impl UsdPerMtok {
    /// Returns a price of this many nano-dollars per million tokens.
    #[must_use]
    pub const fn nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    /// Returns the price in nano-dollars per million tokens.
    #[must_use]
    pub const fn as_nanos(self) -> u64 {
        self.0
    }
}

impl Price {
    /// Returns the cost of one answer, rounded up to a whole nano-dollar.
    ///
    /// `tokens_in` is the whole input; `cached` and `cache_write` are the parts of it that were read from and
    /// written to a cache. Parts beyond the whole are ignored.
    #[must_use]
    pub fn cost(&self, tokens_in: u64, cached: u64, cache_write: u64, tokens_out: u64) -> Usd {
        let cached = cached.min(tokens_in);
        let written = cache_write.min(tokens_in - cached);
        let plain = tokens_in - cached - written;
        let parts = [
            (plain, self.input),
            (cached, self.cached_input.unwrap_or(self.input)),
            (written, self.cache_write.unwrap_or(self.input)),
            (tokens_out, self.output),
        ];
        let total: u128 = parts
            .iter()
            .map(|(tokens, price)| u128::from(*tokens) * u128::from(price.0))
            .sum();
        Usd(u64::try_from(total.div_ceil(1_000_000)).unwrap_or(u64::MAX))
    }
}

impl Add for Usd {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl Sum for Usd {
    fn sum<I: Iterator<Item = Self>>(amounts: I) -> Self {
        amounts.fold(Self::ZERO, Add::add)
    }
}

impl fmt::Display for Usd {
    /// Writes dollars without trailing zeros, with at least two decimals: `$0.00`, `$1.25`, `$0.000125`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let decimals = format!("{:09}", self.0 % 1_000_000_000);
        let kept = decimals.trim_end_matches('0').len().max(2);
        write!(f, "${}.{}", self.0 / 1_000_000_000, &decimals[..kept])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRICE: Price = Price {
        input: UsdPerMtok::nanos(2_800_000),
        output: UsdPerMtok::nanos(400_000_000),
        cached_input: Some(UsdPerMtok::nanos(280_000)),
        cache_write: None,
    };

    #[test]
    fn cost_is_exact_and_rounds_up_once() {
        assert_eq!(PRICE.cost(1_000_000, 0, 0, 0), Usd::nanos(2_800_000));
        assert_eq!(PRICE.cost(1, 0, 0, 0), Usd::nanos(3));
        assert_eq!(
            PRICE.cost(1_000_000, 400_000, 0, 100),
            Usd::nanos(1_680_000 + 112_000 + 40_000)
        );
    }

    #[test]
    fn cached_beyond_the_input_is_clamped() {
        assert_eq!(PRICE.cost(10, 1_000, 1_000, 0), PRICE.cost(10, 10, 0, 0));
    }

    #[test]
    fn display_keeps_every_nano_dollar() {
        assert_eq!(Usd::ZERO.to_string(), "$0.00");
        assert_eq!(Usd::dollars(25).to_string(), "$25.00");
        assert_eq!(Usd::nanos(125_000).to_string(), "$0.000125");
        assert_eq!(Usd::nanos(1_000_000_001).to_string(), "$1.000000001");
    }
}
