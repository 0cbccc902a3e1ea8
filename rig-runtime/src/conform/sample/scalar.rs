//! Which number or text conforms to the rules of a place?

use rig_spec::{Number, Pattern};
use serde_json::Value;

use super::super::ready::Node;
use super::Sampler;

/// What texts are made of.
const WORDS: [&str; 16] = [
    "amber", "birch", "cedar", "delta", "ember", "fjord", "grove", "harbor", "iris", "juniper",
    "lumen", "maple", "north", "opal", "quartz", "river",
];
/// The most characters of a text that may be longer.
const LONG: usize = 4_000;
/// How far a number is from its only bound at most.
const FAR: f64 = 100.0;

impl Sampler<'_> {
    /// Returns one or two words.
    pub(super) fn words(&mut self) -> String {
        let first = self.chance.of(&WORDS).copied().unwrap_or_default();
        match self.chance.below(2) {
            0 => first.to_owned(),
            _ => format!(
                "{first} {}",
                self.chance.of(&WORDS).copied().unwrap_or_default()
            ),
        }
    }

    /// Draws a text.
    pub(super) fn text(&mut self, all: &[&Node], hint: &Value) -> Option<Value> {
        let rules = || all.iter().filter_map(|node| node.rules.text.as_ref());
        let count = |count: u64| usize::try_from(count).unwrap_or(usize::MAX);
        let least = rules()
            .filter_map(|rules| rules.shortest)
            .map(count)
            .max()
            .unwrap_or(0);
        let most = rules()
            .filter_map(|rules| rules.longest)
            .map(count)
            .min()
            .unwrap_or(usize::MAX);
        if least > most {
            return None;
        }
        if let Some(pattern) = rules().find_map(|rules| rules.pattern) {
            let mut pick = |below| self.chance.below(below);
            return Pattern::example(pattern, &(least..=most), &mut pick).map(Value::String);
        }
        // A hint knows the format that a rule only mentions.
        if let Value::String(text) = hint
            && !text.is_empty()
            && !text.contains('…')
        {
            return Some(Value::String(text.clone()));
        }
        let mut text = self.words();
        while text.len() < least {
            text = format!("{text} {}", self.words());
        }
        text.truncate(most.min(least.max(LONG)));
        Some(Value::String(text))
    }

    /// Draws a number.
    pub(super) fn number(&mut self, all: &[&Node], whole: bool) -> Option<Value> {
        let rules = || all.iter().filter_map(|node| node.rules.number.as_ref());
        let lows = rules().flat_map(|rules| rules.minimum.into_iter().chain(rules.above));
        let highs = rules().flat_map(|rules| rules.maximum.into_iter().chain(rules.below));
        let low = lows.map(float).reduce(f64::max);
        let high = highs.map(float).reduce(f64::min);
        let (low, high) = match (low, high) {
            (Some(low), Some(high)) => (low, high),
            (Some(low), None) => (low, low + FAR),
            (None, Some(high)) => (high - FAR, high),
            (None, None) => (0.0, FAR),
        };
        let steps = rules().filter_map(|rules| rules.multiple_of).map(float);
        let step = steps
            .reduce(f64::max)
            .unwrap_or(if whole { 1.0 } else { 0.0 });
        let number = if step > 0.0 {
            let (first, last) = ((low / step).ceil(), (high / step).floor());
            // Both ends may be forbidden; the value is judged later.
            let count = (last - first).clamp(0.0, 1e6) as u64 + 1;
            (first + self.chance.below(count) as f64) * step
        } else {
            let shares = [0.5, 0.25, 0.75, 0.9, 0.1];
            let share = self.chance.of(&shares).copied().unwrap_or(0.5);
            low + (high - low) * share + f64::from(u8::from(low == 0.0 && high == FAR)) * 0.5
        };
        // Sums of decimals are no decimals: `3 × 0.1`.
        let rounded = (number * 1e9).round() / 1e9;
        let number = if rounded.is_finite() { rounded } else { number };
        json(Number::from_f64(number)).filter(|_| number.is_finite())
    }
}

/// Returns a number as JSON.
pub(super) fn json(number: Number) -> Option<Value> {
    match number {
        Number::Integer(whole) => {
            let signed = i64::try_from(whole).ok().map(Value::from);
            signed.or_else(|| u64::try_from(whole).ok().map(Value::from))
        }
        Number::Float(float) => serde_json::Number::from_f64(float).map(Value::Number),
    }
}

fn float(number: Number) -> f64 {
    match number {
        Number::Integer(whole) => whole as f64,
        Number::Float(float) => float,
    }
}
