//! Which knobs of a direct call does a provider honour, and for which of its models?
//!
//! One row a provider ([`table`]), and no other list: the guard that refuses a knob before anything is sent reads it,
//! the typed builders have the methods that it has entries for, and `docs/providers.md` is printed from it. A knob
//! without an entry is not honoured.

mod table;

pub use table::{
    Anthropic, AnyProvider, CONFLICTS, DeepInfra, DeepSeek, Fireworks, Gemini, Grok, NOTES, OpenAi,
    knobs,
};

use crate::Provider;

/// Something that a caller may set on a direct call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Knob {
    /// How freely words are drawn.
    Temperature,
    /// From how much of the likely words they are drawn.
    TopP,
    /// The most output tokens.
    MaxOutputTokens,
    /// The service tier.
    Tier,
    /// A JSON Schema that the provider enforces.
    JsonSchema,
    /// JSON without a schema.
    JsonMode,
    /// Tools that the model may ask the caller to run.
    Tools,
    /// The provider's own search of the web.
    Grounding,
    /// The provider's own directive to cache the system prompt.
    Cache,
    /// A place in the provider's prompt cache that the caller names.
    CacheHandle,
    /// How hard the model thinks.
    Reasoning,
}

/// How hard a model thinks before it answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Effort {
    /// Not at all.
    None,
    /// As little as it can.
    Minimal,
    /// A little.
    Low,
    /// Some.
    Medium,
    /// Much.
    High,
    /// More than much.
    XHigh,
    /// As much as it can.
    Max,
}

/// How a knob is honoured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    /// It is.
    Yes,
    /// It is not.
    No,
    /// It is if the call also says that the model is not to think.
    WithoutReasoning,
    /// These levels of it are.
    Efforts(&'static [Effort]),
}

/// How a knob is honoured by some models. Of the rules for a knob the first that names the model counts.
#[derive(Debug, PartialEq)]
pub struct Rule {
    /// What the names of the models begin with; every other model where there is none.
    pub models: &'static [&'static str],
    /// How they honour it.
    pub takes: Takes,
}

/// A knob that does not go with others.
#[derive(Debug, PartialEq)]
pub struct Conflict {
    /// The provider.
    pub provider: &'static Provider,
    /// What the names of the models begin with; every model where there is none.
    pub models: &'static [&'static str],
    /// The knob.
    pub knob: Knob,
    /// Those that it does not go with.
    pub others: &'static [Knob],
}

/// What the page on providers says that no code has to know.
#[derive(Debug, PartialEq)]
pub struct Notes {
    /// The provider.
    pub provider: &'static Provider,
    /// What tells the tier that served; empty where nothing does.
    pub served_tier: &'static str,
    /// What it caches without being asked.
    pub caches: &'static str,
    /// Whether it keeps nothing of what it is sent.
    pub zero_retention: &'static str,
    /// Where its token counts differ from what they mean here; empty where they do not.
    pub usage: &'static str,
}

/// A type that stands for a provider, so that the compiler knows what a call may set.
pub trait Known {
    /// The provider.
    const PROVIDER: &'static Provider;
}

/// The knob is honoured, by some model at least.
///
/// Implemented by the types that stand for providers, from the same table that the guard reads.
#[diagnostic::on_unimplemented(
    message = "provider `{Self}` does not honour the knob `{K}`",
    label = "`{Self}` has nothing that this could set",
    note = "docs/providers.md lists the knobs of every provider"
)]
pub trait Honours<K> {}

/// The knobs as types, for [`Honours`].
pub mod markers {
    macro_rules! types {
        ($($name:ident)*) => {$(
            /// Stands for the knob of this name.
            #[derive(Debug)]
            pub enum $name {}
        )*};
    }
    types! {
        Temperature TopP MaxOutputTokens Tier JsonSchema JsonMode Tools Grounding Cache CacheHandle Reasoning
    }
}

impl Knob {
    /// Every knob, in the order of the page on providers.
    pub const ALL: [Self; 11] = [
        Self::Temperature,
        Self::TopP,
        Self::MaxOutputTokens,
        Self::Tier,
        Self::JsonSchema,
        Self::JsonMode,
        Self::Tools,
        Self::Grounding,
        Self::Cache,
        Self::CacheHandle,
        Self::Reasoning,
    ];

    /// Returns the name, which is that of the method that sets it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Temperature => "temperature",
            Self::TopP => "top_p",
            Self::MaxOutputTokens => "max_output_tokens",
            Self::Tier => "tier",
            Self::JsonSchema => "json_schema",
            Self::JsonMode => "json_mode",
            Self::Tools => "tool",
            Self::Grounding => "grounding",
            Self::Cache => "cache",
            Self::CacheHandle => "cache_at",
            Self::Reasoning => "reasoning",
        }
    }

    /// Returns how a model honours the knob.
    #[must_use]
    pub fn at(self, provider: &Provider, model: &str) -> Takes {
        let entries = knobs(provider).iter();
        let rules = entries.filter(|(knob, _)| *knob == self);
        let mut rules = rules.flat_map(|(_, rules)| *rules);
        let found = rules.find(|rule| names(rule.models, model));
        found.map_or(Takes::No, |rule| rule.takes)
    }
}

impl Conflict {
    /// Returns whether it is one of this provider's model.
    #[must_use]
    pub fn is_of(&self, provider: &Provider, model: &str) -> bool {
        self.provider.name == provider.name && names(self.models, model)
    }
}

impl Effort {
    /// Every level, from the least.
    pub const ALL: [Self; 7] = [
        Self::None,
        Self::Minimal,
        Self::Low,
        Self::Medium,
        Self::High,
        Self::XHigh,
        Self::Max,
    ];

    /// Returns the name on the wire.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Minimal => "minimal",
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::XHigh => "xhigh",
            Self::Max => "max",
        }
    }
}

/// Returns whether one of the beginnings is that of the model's name; none is that of every model.
fn names(beginnings: &[&str], model: &str) -> bool {
    beginnings.is_empty() || beginnings.iter().any(|begins| model.starts_with(begins))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CacheDirective, Capability, PROVIDERS};

    fn has(provider: &Provider, knob: Knob) -> bool {
        knobs(provider).iter().any(|(known, _)| *known == knob)
    }

    /// What the provider's row says by itself, the knobs say as well.
    #[test]
    fn the_knobs_agree_with_the_rows() {
        for provider in PROVIDERS {
            let can = |flag| provider.capabilities.has(flag);
            let marks = !matches!(
                provider.cache,
                CacheDirective::None | CacheDirective::CachedContent
            );
            for (knob, is_there) in [
                (Knob::Tier, !provider.tiers.is_empty()),
                (Knob::Cache, marks),
                (Knob::CacheHandle, provider.cache.takes_handle()),
                (Knob::JsonMode, can(Capability::JsonMode)),
            ] {
                assert_eq!(has(provider, knob), is_there, "{} {knob:?}", provider.name);
            }
            for (knob, flag) in [
                (Knob::JsonSchema, Capability::StructuredNative),
                (Knob::Grounding, Capability::GroundedNative),
            ] {
                assert!(
                    has(provider, knob) || !can(flag),
                    "{} {knob:?}",
                    provider.name
                );
            }
        }
    }

    /// Every provider has a row, every knob of it a rule for each model, and its own notes.
    #[test]
    fn a_row_leaves_no_model_open() {
        for provider in PROVIDERS {
            assert!(!knobs(provider).is_empty(), "{}", provider.name);
            for (knob, rules) in knobs(provider) {
                let last = rules.last().map(|rule| rule.models);
                assert_eq!(last, Some(&[][..]), "{} {knob:?}", provider.name);
                let takes = rules.iter().any(|rule| rule.takes != Takes::No);
                assert!(takes, "{} {knob:?}", provider.name);
            }
        }
        let noted: Vec<_> = NOTES.iter().map(|notes| notes.provider.name).collect();
        let names: Vec<_> = PROVIDERS.iter().map(|provider| provider.name).collect();
        assert_eq!(noted, names);
    }

    #[test]
    fn the_first_rule_that_names_the_model_counts() {
        let at = |knob: Knob, provider, model| knob.at(provider, model);
        let openai = <OpenAi as Known>::PROVIDER;
        for (model, takes) in [
            ("gpt-4.1", Takes::Yes),
            ("o3-mini", Takes::No),
            ("gpt-5-mini", Takes::No),
            ("gpt-5-chat-latest", Takes::Yes),
            ("gpt-5.4-mini", Takes::WithoutReasoning),
        ] {
            assert_eq!(at(Knob::Temperature, openai, model), takes, "{model}");
        }
        let deepseek = <DeepSeek as Known>::PROVIDER;
        assert_eq!(at(Knob::Grounding, deepseek, "deepseek-chat"), Takes::No);
    }
}
