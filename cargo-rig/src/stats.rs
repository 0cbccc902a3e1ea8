//! What do counts, prices and times say?
//!
//! Three formulas, and no statistics library for them: Wilson's score interval, the least value that so many in a
//! hundred do not exceed (as the store's own view computes it), and a ratio of whole nano-dollars.

use rig_spec::Usd;

/// So many of so many.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Share {
    /// How many are.
    pub(crate) hits: u64,
    /// How many there are.
    pub(crate) of: u64,
}

/// Between which two shares the true one lies, 95 times in a hundred.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Interval {
    /// 0 to 1.
    pub(crate) low: f64,
    /// 0 to 1.
    pub(crate) high: f64,
}

/// The 97.5 % quantile of the normal distribution.
const Z: f64 = 1.959_963_984_540_054;

impl Share {
    /// Returns the share, 0 to 1; `None` of nothing.
    pub(crate) fn rate(self) -> Option<f64> {
        (self.of > 0).then(|| float(self.hits) / float(self.of))
    }

    /// Returns Wilson's score interval at 95 % (Wilson 1927, without continuity correction). Of nothing it is everything.
    pub(crate) fn wilson(self) -> Interval {
        let Some(rate) = self.rate() else {
            return Interval {
                low: 0.0,
                high: 1.0,
            };
        };
        let n = float(self.of);
        let scale = 1.0 / (1.0 + Z * Z / n);
        let middle = scale * (rate + Z * Z / (2.0 * n));
        let half = scale * Z * (rate * (1.0 - rate) / n + Z * Z / (4.0 * n * n)).sqrt();
        // None and all are exact ends, which rounding would miss.
        Interval {
            low: if self.hits == 0 { 0.0 } else { middle - half },
            high: if self.hits == self.of {
                1.0
            } else {
                middle + half
            },
        }
    }

    /// Counts one more.
    pub(crate) fn count(&mut self, is_hit: bool) {
        self.of += 1;
        self.hits += u64::from(is_hit);
    }
}

/// What so many good things have cost together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Effective {
    /// What everything has cost, the failures too.
    pub(crate) cost: Usd,
    /// How many are good.
    pub(crate) good: u64,
}

impl Effective {
    /// Returns the cost of a thousand good ones, rounded to whole nano-dollars; `None` where none was good.
    pub(crate) fn per_thousand(self) -> Option<Usd> {
        let good = u128::from(self.good);
        let nanos = u128::from(self.cost.as_nanos()) * 1_000;
        let rounded = (nanos + good / 2).checked_div(good)?;
        Some(Usd::nanos(u64::try_from(rounded).unwrap_or(u64::MAX)))
    }

    /// Returns whether a good one is strictly cheaper here than there. Compared exactly, not as rounded; what has no good
    /// one is never cheaper, and anything with one is cheaper than that.
    pub(crate) fn is_below(self, other: Self) -> bool {
        let across = |a: Self, b: Self| u128::from(a.cost.as_nanos()) * u128::from(b.good);
        self.good > 0 && (other.good == 0 || across(self, other) < across(other, self))
    }
}

/// Returns the least of these values that `percent` in a hundred do not exceed; `None` of none.
pub(crate) fn percentile(values: &[u64], percent: usize) -> Option<u64> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable();
    let at = (sorted.len() * percent).div_ceil(100).max(1) - 1;
    sorted.get(at).copied()
}

#[expect(clippy::cast_precision_loss, reason = "no count comes near 2^53")]
fn float(count: u64) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn share(hits: u64, of: u64) -> Share {
        Share { hits, of }
    }

    /// W4. The cases are those of Newcombe (1998), "Two-sided confidence intervals for the single proportion", table I, score
    /// method without continuity correction, which prints four digits.
    #[test]
    fn the_interval_is_wilsons() {
        let cases = [
            (81, 263, 0.2553, 0.3662),
            (15, 148, 0.0624, 0.1605),
            (0, 20, 0.0, 0.1611),
            (1, 29, 0.0061, 0.1718),
        ];
        for (hits, of, low, high) in cases {
            let found = share(hits, of).wilson();
            assert!((found.low - low).abs() < 0.5e-4, "{hits}/{of}: {found:?}");
            assert!((found.high - high).abs() < 0.5e-4, "{hits}/{of}: {found:?}");
        }
        assert_eq!(
            share(0, 0).wilson(),
            Interval {
                low: 0.0,
                high: 1.0
            }
        );
    }

    #[test]
    fn a_percentile_is_a_value_that_was_there() {
        let values: Vec<u64> = (1..=200).rev().collect();
        let found = [50, 90, 99, 100].map(|percent| percentile(&values, percent));
        assert_eq!(found, [Some(100), Some(180), Some(198), Some(200)]);
        assert_eq!(percentile(&[7], 1), Some(7));
        assert_eq!(percentile(&[], 50), None);
    }

    #[test]
    fn a_thousand_good_ones_cost_what_the_bad_ones_cost_too() {
        let of = |nanos, good| Effective {
            cost: Usd::nanos(nanos),
            good,
        };
        assert_eq!(of(3_000, 2).per_thousand(), Some(Usd::nanos(1_500_000)));
        assert_eq!(of(1, 3).per_thousand(), Some(Usd::nanos(333)));
        assert_eq!(of(u64::MAX, 1).per_thousand(), Some(Usd::nanos(u64::MAX)));
        assert_eq!(of(5, 0).per_thousand(), None);
        assert!(of(100, 3).is_below(of(100, 2)) && !of(100, 2).is_below(of(200, 4)));
        assert!(of(9, 1).is_below(of(0, 0)) && !of(0, 0).is_below(of(9, 1)));
    }

    proptest! {
        /// The definition: the ends of the interval are the shares p with |hits/n - p| = z sqrt(p (1 - p) / n).
        #[test]
        fn the_ends_solve_the_equation_of_the_score_test((of, hits) in (1_u64..5_000).prop_flat_map(|of| (Just(of), 0..=of))) {
            let Interval { low, high } = share(hits, of).wilson();
            let (n, rate) = (float(of), float(hits) / float(of));
            prop_assert!(0.0 <= low && low <= rate && rate <= high && high <= 1.0);
            for end in [low, high] {
                let score = (rate - end).abs() - Z * (end * (1.0 - end) / n).sqrt();
                prop_assert!(score.abs() < 1e-7, "{hits}/{of} at {end}: {score}");
            }
        }

        /// Mirrored counts have mirrored intervals, and more of the same makes them narrower.
        #[test]
        fn the_interval_is_symmetric_and_narrows((of, hits) in (1_u64..2_000).prop_flat_map(|of| (Just(of), 0..=of))) {
            let (one, other) = (share(hits, of).wilson(), share(of - hits, of).wilson());
            prop_assert!((one.low - (1.0 - other.high)).abs() < 1e-9);
            let twice = share(2 * hits, 2 * of).wilson();
            prop_assert!(twice.high - twice.low < one.high - one.low);
        }

        /// A percentile is the least value with enough values at or below it.
        #[test]
        fn so_many_do_not_exceed_the_percentile(
            values in prop::collection::vec(0_u64..50, 1..60),
            percent in 1_usize..=100,
        ) {
            let found = percentile(&values, percent).unwrap();
            let at_most = |most: u64| values.iter().filter(|value| **value <= most).count() * 100;
            prop_assert!(at_most(found) >= values.len() * percent);
            prop_assert!(found == 0 || at_most(found - 1) < values.len() * percent);
        }

        /// What is strictly cheaper is never so the other way round, and agrees with the printed number.
        #[test]
        fn cheaper_is_an_order(a in 0_u64..1_000_000, m in 0_u64..50, b in 0_u64..1_000_000, n in 0_u64..50) {
            let (one, other) = (
                Effective { cost: Usd::nanos(a), good: m },
                Effective { cost: Usd::nanos(b), good: n },
            );
            prop_assert!(!(one.is_below(other) && other.is_below(one)));
            if let (Some(x), Some(y)) = (one.per_thousand(), other.per_thousand()) {
                prop_assert!(x >= y || one.is_below(other));
            }
        }
    }
}
