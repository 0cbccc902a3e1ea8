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
    /// What they cost.
    pub rates: Rates,
    /// What they cost in an attempt with a long prompt; `None` costs the same.
    pub long: Option<LongPrompt>,
}

/// The rates of an attempt whose prompt is long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LongPrompt {
    /// They hold for more input tokens than this.
    pub over: u64,
    /// The rates of the whole attempt.
    pub rates: Rates,
}

/// What each kind of token costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rates {
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

    /// Reads a decimal number of dollars, exactly: digits, and at most nine behind a point.
    #[must_use]
    pub fn from_decimal(text: &str) -> Option<Self> {
        nanos(text).map(Self)
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

    /// Reads a decimal number of dollars, exactly: digits, and at most nine behind a point.
    #[must_use]
    pub fn from_decimal(text: &str) -> Option<Self> {
        nanos(text).map(Self)
    }

    /// Returns the price in nano-dollars per million tokens.
    #[must_use]
    pub const fn as_nanos(self) -> u64 {
        self.0
    }
}

/// Reads a decimal number as whole billionths.
fn nanos(text: &str) -> Option<u64> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || fraction.len() > 9 || !digits(whole) || !digits(fraction) {
        return None;
    }
    format!("{whole}{fraction:0<9}").parse().ok()
}

impl Rates {
    /// Returns rates of these nano-dollars per million input and output tokens.
    #[must_use]
    pub const fn nanos(input: u64, output: u64) -> Self {
        Self {
            input: UsdPerMtok(input),
            output: UsdPerMtok(output),
            cached_input: None,
            cache_write: None,
        }
    }

    /// Sets the rate of input tokens read from a cache.
    #[must_use]
    pub const fn cached(mut self, nanos: u64) -> Self {
        self.cached_input = Some(UsdPerMtok(nanos));
        self
    }

    /// Sets the rate of input tokens written to a cache.
    #[must_use]
    pub const fn written(mut self, nanos: u64) -> Self {
        self.cache_write = Some(UsdPerMtok(nanos));
        self
    }

    /// Returns input and output rate together, the figure that candidates are compared by.
    #[must_use]
    pub fn blended(&self) -> UsdPerMtok {
        UsdPerMtok(self.input.0.saturating_add(self.output.0))
    }

    /// Returns the dearest rate that an input token can be billed at.
    #[must_use]
    pub fn dearest_input(&self) -> UsdPerMtok {
        let others = [self.cached_input, self.cache_write];
        others.into_iter().flatten().fold(self.input, Ord::max)
    }
}

impl Price {
    /// What an unpriced model is reckoned at where money has to be capped: the rates of the dearest model of the
    /// registry (`openai/gpt-5.5-pro`, 30 USD per million input and 180 per million output tokens).
    pub const CONSERVATIVE: Self = Self::flat(Rates::nanos(30_000_000_000, 180_000_000_000));

    /// Returns a price that does not depend on the prompt's length.
    #[must_use]
    pub const fn flat(rates: Rates) -> Self {
        Self { rates, long: None }
    }

    /// Sets the rates of attempts with more than `over` input tokens.
    #[must_use]
    pub const fn above(mut self, over: u64, rates: Rates) -> Self {
        self.long = Some(LongPrompt { over, rates });
        self
    }

    /// Returns the cost of one answer, rounded up to a whole nano-dollar.
    ///
    /// `tokens_in` is the whole input; `cached` and `cache_write` are the parts of it that were read from and
    /// written to a cache. Parts beyond the whole are ignored.
    #[must_use]
    pub fn cost(&self, tokens_in: u64, cached: u64, cache_write: u64, tokens_out: u64) -> Usd {
        let rates = match self.long {
            Some(long) if tokens_in > long.over => long.rates,
            _ => self.rates,
        };
        let cached = cached.min(tokens_in);
        let written = cache_write.min(tokens_in - cached);
        let plain = tokens_in - cached - written;
        total(&[
            (plain, rates.input),
            (cached, rates.cached_input.unwrap_or(rates.input)),
            (written, rates.cache_write.unwrap_or(rates.input)),
            (tokens_out, rates.output),
        ])
    }

    /// Returns the most that an answer of so many tokens can cost, whatever was read from or written to a cache.
    #[must_use]
    pub fn most(&self, tokens_in: u64, tokens_out: u64) -> Usd {
        let long = self.long.filter(|long| tokens_in > long.over);
        let most = |rates: &Rates, tokens_in| {
            total(&[
                (tokens_in, rates.dearest_input()),
                (tokens_out, rates.output),
            ])
        };
        // A prompt just below the band may be the dearer one.
        let below = self.long.map_or(tokens_in, |long| tokens_in.min(long.over));
        let short = most(&self.rates, below);
        long.map_or(short, |long| short.max(most(&long.rates, tokens_in)))
    }
}

fn total(parts: &[(u64, UsdPerMtok)]) -> Usd {
    let nanos: u128 = parts
        .iter()
        .map(|(tokens, rate)| u128::from(*tokens) * u128::from(rate.0))
        .sum();
    Usd(u64::try_from(nanos.div_ceil(1_000_000)).unwrap_or(u64::MAX))
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

    const PRICE: Price = Price::flat(Rates::nanos(2_800_000, 400_000_000).cached(280_000));

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
    fn a_long_prompt_has_rates_of_its_own() {
        let price = PRICE.above(100, Rates::nanos(5_600_000, 800_000_000));
        assert_eq!(price.cost(100, 0, 0, 1), PRICE.cost(100, 0, 0, 1));
        assert_eq!(price.cost(101, 50, 0, 1), Usd::nanos(566 + 800));
    }

    #[test]
    fn the_most_covers_every_split_of_the_input() {
        let price = Price::flat(
            Rates::nanos(2_000_000, 3_000_000)
                .cached(200_000)
                .written(2_500_000),
        )
        .above(1_000, Rates::nanos(1_000_000, 3_000_000));
        for tokens_in in [0, 1, 999, 1_000, 1_001, 2_600] {
            let most = price.most(tokens_in, 7);
            for actual in [0, tokens_in / 2, tokens_in] {
                for (cached, written) in
                    [(0, 0), (actual, 0), (0, actual), (actual / 2, actual / 2)]
                {
                    assert!(
                        price.cost(actual, cached, written, 7) <= most,
                        "{tokens_in} {actual}"
                    );
                }
            }
        }
    }

    #[test]
    fn prices_are_read_exactly() {
        let nanos = |text| UsdPerMtok::from_decimal(text).map(UsdPerMtok::as_nanos);
        assert_eq!(nanos("0.0028"), Some(2_800_000));
        assert_eq!(nanos("3"), Some(3_000_000_000));
        for bad in ["", "-1", "1e3", ".5", "1.0000000001", "99999999999"] {
            assert_eq!(nanos(bad), None, "{bad}");
        }
    }

    #[test]
    fn display_keeps_every_nano_dollar() {
        assert_eq!(Usd::ZERO.to_string(), "$0.00");
        assert_eq!(Usd::dollars(25).to_string(), "$25.00");
        assert_eq!(Usd::nanos(125_000).to_string(), "$0.000125");
        assert_eq!(Usd::nanos(1_000_000_001).to_string(), "$1.000000001");
    }
}
