//! What do the samples of a bake-off say of each variant?
//!
//! Pure: lines in, numbers and a verdict out. Contract W4 has the definitions.

use std::collections::BTreeMap;

use rig_spec::Usd;

use super::artifact::{Attempt, Ended, Log, Sample};
use super::expect::Expected;
use crate::stats::{Effective, Share, percentile};

/// What a variant came to.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Measured {
    pub(crate) variant: String,
    /// How many runs there were to be.
    pub(crate) planned: u64,
    /// The conformant ones of the runs that ended with an output or a failure.
    pub(crate) conformant: Share,
    /// What these runs cost.
    pub(crate) effective: Effective,
    /// Whether the price of every attempt is known.
    pub(crate) priced: bool,
    /// What everything of the variant cost, as far as its rows know.
    pub(crate) spent: Usd,
    /// The runs with a repair, of those that ended with an output or a failure.
    pub(crate) repaired: Share,
    /// What the repairs cost.
    pub(crate) repair_cost: Usd,
    /// Latencies of these runs in ms: p50, p90, p99.
    pub(crate) latency: [Option<u64>; 3],
    /// How many runs failed with which class.
    pub(crate) failures: BTreeMap<String, u64>,
    /// Runs that ended with a call of tools.
    pub(crate) tool_calls: u64,
    /// Captures that the prompt cannot be rendered from.
    pub(crate) unasked: u64,
    /// Runs that were begun, and whose end nobody knows.
    pub(crate) interrupted: u64,
    /// Why it is a part only.
    pub(crate) partial: Option<Partial>,
    /// Of the runs with an expectation, those whose output is as expected in every value.
    pub(crate) accuracy: Share,
    /// The values that are as expected, of all that are expected.
    pub(crate) values: Share,
    pub(crate) verdict: Verdict,
}

/// Why a variant has not run on every capture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Partial {
    /// Its envelope is spent.
    OutOfMoney(String),
    /// The bake-off has not gone to its end.
    Unfinished,
    /// Some runs were under way when it was cut off.
    Interrupted,
}

/// What is to be done with a variant. Nothing does it but people.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Verdict {
    /// It is what the others are held against.
    Incumbent,
    /// It conforms no less, and costs strictly less.
    Proposed,
    /// It is not proposed, for these reasons.
    Kept(Vec<Reason>),
}

/// Why a variant is not proposed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reason {
    /// The lower bound of its interval is below the incumbent's.
    ConformsLess,
    /// A conformant output does not cost strictly less.
    CostsNoLess,
    /// What it or the incumbent costs is not known.
    Unpriced,
}

/// Measures every variant, the incumbent first.
pub(crate) fn measure(log: &Log, expected: &BTreeMap<String, Expected>) -> Vec<Measured> {
    let variants = &log.header.variants;
    let mut all: Vec<_> = variants
        .iter()
        .map(|name| one(log, name, expected))
        .collect();
    if let Some((incumbent, others)) = all.split_first_mut() {
        for other in others {
            other.verdict = verdict(incumbent, other);
        }
    }
    all
}

/// W4: proposed only when its interval's lower bound is at least the incumbent's and its effective cost is strictly lower.
fn verdict(incumbent: &Measured, other: &Measured) -> Verdict {
    let is_priced = incumbent.priced && other.priced;
    let conforms = other.conformant.wilson().low >= incumbent.conformant.wilson().low;
    let is_cheaper = is_priced && other.effective.is_below(incumbent.effective);
    let reasons = [
        (!conforms, Reason::ConformsLess),
        (!is_priced, Reason::Unpriced),
        (is_priced && !is_cheaper, Reason::CostsNoLess),
    ];
    let reasons: Vec<_> = reasons
        .into_iter()
        .filter_map(|(holds, reason)| holds.then_some(reason))
        .collect();
    if reasons.is_empty() {
        Verdict::Proposed
    } else {
        Verdict::Kept(reasons)
    }
}

fn one(log: &Log, variant: &str, expected: &BTreeMap<String, Expected>) -> Measured {
    let mut measured = Measured {
        variant: variant.to_owned(),
        planned: log.header.captures.len() as u64,
        conformant: Share::default(),
        effective: Effective::default(),
        priced: true,
        spent: Usd::ZERO,
        repaired: Share::default(),
        repair_cost: Usd::ZERO,
        latency: [None; 3],
        failures: BTreeMap::new(),
        tool_calls: 0,
        unasked: 0,
        interrupted: log
            .open
            .iter()
            .filter(|pair| pair.variant == variant)
            .count() as u64,
        partial: None,
        accuracy: Share::default(),
        values: Share::default(),
        verdict: Verdict::Incumbent,
    };
    let mut latencies = Vec::new();
    let samples = log.samples.values();
    for sample in samples.filter(|sample| sample.pair.variant == variant) {
        measured.add(sample, expected.get(&sample.pair.capture));
        if sample.ended.is_counted() {
            latencies.push(sample.latency_ms);
        }
    }
    measured.latency = [50, 90, 99].map(|percent| percentile(&latencies, percent));
    let is_left = || log.left().iter().any(|pair| pair.variant == variant);
    measured.partial = match log.stopped.get(variant) {
        Some(message) => Some(Partial::OutOfMoney(message.clone())),
        None if is_left() => Some(Partial::Unfinished),
        None if measured.interrupted > 0 => Some(Partial::Interrupted),
        None => None,
    };
    measured
}

impl Ended {
    /// Returns whether the run says something of its variant.
    fn is_counted(&self) -> bool {
        matches!(self, Self::Output | Self::Failed(_))
    }
}

impl Sample {
    /// Returns what its attempts cost together.
    pub(crate) fn cost(&self) -> Usd {
        self.attempts.iter().map(Attempt::cost).sum()
    }
}

impl Attempt {
    fn cost(&self) -> Usd {
        Usd::nanos(self.cost_nanousd)
    }
}

impl Measured {
    fn add(&mut self, sample: &Sample, expected: Option<&Expected>) {
        self.spent = self.spent + sample.cost();
        self.priced &= sample
            .attempts
            .iter()
            .all(|attempt| !attempt.pricing_missing);
        match &sample.ended {
            Ended::Output => {}
            Ended::Failed(class) => *self.failures.entry(class.clone()).or_default() += 1,
            Ended::ToolCalls => self.tool_calls += 1,
            Ended::Unasked => self.unasked += 1,
            Ended::OutOfMoney => {}
        }
        if !sample.ended.is_counted() {
            return;
        }
        let conforms = sample.ended == Ended::Output;
        self.conformant.count(conforms);
        self.effective.good += u64::from(conforms);
        self.effective.cost = self.effective.cost + sample.cost();
        let repairs = sample.attempts.iter();
        let repairs: Vec<_> = repairs.filter(|row| row.repaired_by.is_some()).collect();
        self.repaired.count(!repairs.is_empty());
        let repair_cost: Usd = repairs.into_iter().map(Attempt::cost).sum();
        self.repair_cost = self.repair_cost + repair_cost;
        if let Some(expected) = expected {
            let values = expected.compare(sample.output.as_ref());
            self.accuracy.count(conforms && values.hits == values.of);
            self.values.hits += values.hits;
            self.values.of += values.of;
        }
    }

    /// Returns how many runs have ended.
    pub(crate) fn ended(&self) -> u64 {
        self.conformant.of + self.tool_calls + self.unasked
    }
}

#[cfg(test)]
mod tests {
    use super::super::artifact::tests::{header, pair, sample};
    use super::*;

    /// A log of what each variant's runs ended with and cost; what is left out is left to be asked.
    fn log(variants: &[(&str, &[(&str, u64)])], captures: usize) -> Log {
        let names: Vec<_> = variants.iter().map(|(name, _)| *name).collect();
        let mut log = Log {
            header: header(&names, captures),
            samples: BTreeMap::new(),
            open: std::collections::BTreeSet::new(),
            stopped: BTreeMap::new(),
        };
        for (name, runs) in variants {
            for (at, (ended, cost)) in runs.iter().enumerate() {
                let ended = match *ended {
                    "good" => Ended::Output,
                    "tools" => Ended::ToolCalls,
                    "unasked" => Ended::Unasked,
                    "spent" => Ended::OutOfMoney,
                    class => Ended::Failed(class.to_owned()),
                };
                let sample = sample(pair(name, at), ended, *cost, 10 * (at as u64 + 1));
                log.samples.insert(sample.pair.clone(), sample);
            }
        }
        log
    }

    fn verdicts(log: &Log) -> Vec<Verdict> {
        let measured = measure(log, &BTreeMap::new());
        measured.into_iter().map(|one| one.verdict).collect()
    }

    // W4: the rule, at its edges.
    #[test]
    fn a_variant_is_proposed_when_it_conforms_no_less_and_costs_strictly_less() {
        use Reason::{ConformsLess, CostsNoLess, Unpriced};
        let good = |cost| [("good", cost); 4];
        let found = verdicts(&log(
            &[
                ("default", &good(10)),
                ("cheaper", &good(9)),
                ("as-dear", &good(10)),
                (
                    "worse",
                    &[
                        ("good", 1),
                        ("good", 1),
                        ("good", 1),
                        ("content_invalid", 1),
                    ],
                ),
                (
                    "worse-and-dear",
                    &[("good", 90), ("refusal", 90), ("good", 90), ("good", 90)],
                ),
                // A bound at least as high is one from more runs, too: fewer runs say less.
                ("fewer", &[("good", 1); 3]),
                ("nothing", &[]),
            ],
            4,
        ));
        assert_eq!(
            found,
            [
                Verdict::Incumbent,
                Verdict::Proposed,
                Verdict::Kept(vec![CostsNoLess]),
                Verdict::Kept(vec![ConformsLess]),
                Verdict::Kept(vec![ConformsLess, CostsNoLess]),
                Verdict::Kept(vec![ConformsLess]),
                Verdict::Kept(vec![ConformsLess, CostsNoLess]),
            ]
        );
        let mut unpriced = log(&[("default", &good(10)), ("free", &good(0))], 4);
        let first = unpriced.samples.get_mut(&pair("free", 0)).unwrap();
        first.attempts[0].pricing_missing = true;
        assert_eq!(verdicts(&unpriced)[1], Verdict::Kept(vec![Unpriced]));
    }

    #[test]
    fn only_what_was_asked_and_ended_is_counted() {
        let runs = [
            ("good", 5),
            ("tools", 7),
            ("unasked", 0),
            ("spent", 11),
            ("refusal", 13),
        ];
        let mut log = log(&[("default", &runs)], 7);
        log.open.insert(pair("default", 5));
        let measured = measure(&log, &BTreeMap::new()).remove(0);
        assert_eq!(measured.conformant, Share { hits: 1, of: 2 });
        assert_eq!(measured.effective.per_thousand(), Some(Usd::nanos(18_000)));
        assert_eq!(measured.spent, Usd::nanos(36));
        assert_eq!(measured.latency, [Some(10), Some(50), Some(50)]);
        assert_eq!(
            measured.failures,
            BTreeMap::from([("refusal".to_owned(), 1)])
        );
        assert_eq!(
            (measured.tool_calls, measured.unasked, measured.interrupted),
            (1, 1, 1)
        );
        assert_eq!(measured.partial, Some(Partial::Unfinished));
        log.stopped.insert("default".to_owned(), "spent".to_owned());
        let partial = measure(&log, &BTreeMap::new()).remove(0).partial;
        assert_eq!(partial, Some(Partial::OutOfMoney("spent".to_owned())));
    }
}
