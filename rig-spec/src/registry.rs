//! What is known about a model: prices, limits, capabilities declared and probed?
//!
//! The facts are in `registry.txt`, one line a model, with their origin and date at its head. It is read when a
//! route is compiled, and by direct calls; a binary without those does not hold it.

use crate::{Capabilities, Capability, LongPrompt, Price, Rates, Tier, UsdPerMtok};

const TABLE: &str = include_str!("registry.txt");

/// What is known about a model. What is not known is `None`, never 0.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ModelFacts {
    /// What its tokens cost at the standard tier.
    pub price: Option<Price>,
    /// What they cost at another tier.
    pub tiers: Vec<(Tier, Price)>,
    /// The context window, in tokens.
    pub context_window: Option<u64>,
    /// The most output tokens.
    pub max_output: Option<u64>,
    /// What the provider or its price list claims; `None` where it claims nothing.
    pub declared: Option<Capabilities>,
    /// What a probe found.
    pub probes: Vec<Probe>,
    /// Whether the provider says that it keeps nothing, for a key of one's own.
    pub zero_retention: Option<bool>,
}

/// What a probe found about one capability.
#[derive(Clone, Debug, PartialEq)]
pub struct Probe {
    /// The capability.
    pub capability: Capability,
    /// Whether the model has it.
    pub holds: bool,
    /// How many requests were made.
    pub samples: u32,
    /// The share of them that showed it, 0 to 1.
    pub rate: f64,
    /// When, as `2026-08-18`.
    pub date: String,
}

/// Returns what is known about a model, or `None` for one that nothing is known about.
#[must_use]
pub fn model_facts(provider: &str, model: &str) -> Option<ModelFacts> {
    let key = format!("{provider}/{model}");
    let mut words = TABLE
        .lines()
        .map(|line| line.split(' '))
        .find(|words| words.clone().next() == Some(&key))?;
    words.next();
    let pairs: Vec<_> = words.filter_map(|word| word.split_once('=')).collect();
    Some(ModelFacts::read(&pairs))
}

impl ModelFacts {
    /// Returns what the model's tokens cost at a tier; the standard price where the tier has none of its own.
    #[must_use]
    pub fn price_at(&self, tier: Tier) -> Option<Price> {
        let listed = self.tiers.iter().find(|(known, _)| *known == tier);
        listed.map(|(_, price)| *price).or(self.price)
    }

    fn read(pairs: &[(&str, &str)]) -> Self {
        let get = |key: &str| {
            pairs
                .iter()
                .find(|(name, _)| *name == key)
                .map(|(_, value)| *value)
        };
        let tiers = [Tier::Flex, Tier::Priority].into_iter();
        let tiers =
            tiers.filter_map(|tier| Some((tier, price(pairs, &format!("{}.", tier.name()))?)));
        Self {
            price: price(pairs, ""),
            tiers: tiers.collect(),
            context_window: get("context").and_then(|tokens| tokens.parse().ok()),
            max_output: get("max").and_then(|tokens| tokens.parse().ok()),
            declared: get("declared").map(flags),
            probes: pairs
                .iter()
                .filter(|(key, _)| *key == "probed")
                .filter_map(|(_, text)| Probe::read(text))
                .collect(),
            zero_retention: get("zero_retention").map(|value| value == "yes"),
        }
    }
}

impl Probe {
    /// Reads `structured_native:yes:95:1:2026-08-18`.
    fn read(text: &str) -> Option<Self> {
        let mut parts = text.split(':');
        Some(Self {
            capability: Capability::from_name(parts.next()?)?,
            holds: parts.next()? == "yes",
            samples: parts.next()?.parse().ok()?,
            rate: parts.next()?.parse().ok()?,
            date: parts.next()?.to_owned(),
        })
    }
}

fn flags(names: &str) -> Capabilities {
    let flags: Vec<_> = names.split(',').filter_map(Capability::from_name).collect();
    Capabilities::of(&flags)
}

/// Reads the prices whose keys begin with `prefix`. A model without a price for input and output has none.
fn price(pairs: &[(&str, &str)], prefix: &str) -> Option<Price> {
    let rate = |prefix: &str, name: &str| {
        let key = format!("{prefix}{name}");
        let found = pairs.iter().find(|(known, _)| *known == key);
        found.and_then(|(_, text)| UsdPerMtok::from_decimal(text))
    };
    let long = pairs.iter().find_map(|(key, _)| {
        let over = key.strip_prefix("over.")?.strip_suffix(".in")?;
        let prefix = format!("over.{over}.");
        Some(LongPrompt {
            over: over.parse().ok()?,
            rates: rates(&|name| rate(&prefix, name))?,
        })
    });
    Some(Price {
        rates: rates(&|name| rate(prefix, name))?,
        // Bands are listed for the ordinary tier only; another tier's price holds for every length.
        long: long.filter(|_| prefix.is_empty()),
    })
}

fn rates(rate: &dyn Fn(&str) -> Option<UsdPerMtok>) -> Option<Rates> {
    Some(Rates {
        input: rate("in")?,
        output: rate("out")?,
        cached_input: rate("cached"),
        cache_write: rate("write"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_are_those_of_the_table() {
        let facts = model_facts("openai", "gpt-5.4").expect("the table knows it");
        let price = facts.price.expect("it is priced");
        assert_eq!(price.rates.blended(), UsdPerMtok::nanos(17_500_000_000));
        assert_eq!(price.long.map(|long| long.over), Some(272_000));
        assert_eq!(facts.tiers.len(), 2);
        assert_eq!(
            (facts.context_window, facts.max_output),
            (Some(1_050_000), Some(128_000))
        );
        assert!(
            facts
                .declared
                .is_some_and(|flags| flags.has(Capability::StructuredNative))
        );
        assert!(facts.probes[0].holds);
        assert_eq!(model_facts("openai", "gpt-99"), None);
    }

    /// C11 needs it: a probe that found nothing is told apart from no probe.
    #[test]
    fn a_probed_false_is_read() {
        let facts = model_facts("deepseek", "deepseek-v4-flash").expect("the table knows it");
        assert_eq!(facts.probes.len(), 1);
        assert!(!facts.probes[0].holds);
        assert_eq!(facts.probes[0].samples, 95);
    }

    #[test]
    fn every_line_is_read_whole() {
        for line in TABLE
            .lines()
            .filter(|line| !line.is_empty() && !line.starts_with('#'))
        {
            let (key, rest) = line.split_once(' ').expect("a model has facts");
            let (provider, model) = key.split_once('/').expect("a key has a provider");
            let facts = model_facts(provider, model).expect("it is found again");
            for word in rest.split(' ') {
                let (name, value) = word.split_once('=').expect("a fact is a pair");
                let known = match name {
                    "context" => facts.context_window.is_some(),
                    "max" => facts.max_output.is_some(),
                    "declared" => facts.declared.is_some(),
                    "probed" => Probe::read(value).is_some(),
                    "zero_retention" => facts.zero_retention.is_some(),
                    _ => UsdPerMtok::from_decimal(value).is_some(),
                };
                assert!(known, "{line}: {word}");
            }
        }
    }
}
