//! The rows: what each provider honours, as of August 2026.

use super::{Conflict, Effort, Honours, Knob, Known, Notes, Rule, Takes, markers};
use crate::{ANTHROPIC, DEEPINFRA, DEEPSEEK, FIREWORKS, GEMINI, GROK, OPENAI, Provider};

const fn rule(models: &'static [&'static str], takes: Takes) -> Rule {
    Rule { models, takes }
}

const ALWAYS: &[Rule] = &[rule(&[], Takes::Yes)];

/// Makes the table, and the types that have what it lists.
macro_rules! rows {
    ($($provider:ident, $type:ident { $($knob:ident: $rules:expr,)* })*) => {
        $(
            #[doc = concat!("Stands for [`", stringify!($provider), "`].")]
            #[derive(Debug)]
            pub enum $type {}

            impl Known for $type {
                const PROVIDER: &'static Provider = &$provider;
            }

            $(impl Honours<markers::$knob> for $type {})*
        )*

        type Row = (&'static Provider, &'static [(Knob, &'static [Rule])]);

        static ROWS: &[Row] = &[$((&$provider, &[$((Knob::$knob, $rules)),*])),*];
    };
}

/// Stands for a provider that is known only when the program runs: everything can be said, and the guard refuses what
/// is not honoured.
#[derive(Debug)]
pub enum AnyProvider {}

impl<K> Honours<K> for AnyProvider {}

/// Returns the knobs of a provider, each with its rules.
#[must_use]
pub fn knobs(provider: &Provider) -> &'static [(Knob, &'static [Rule])] {
    let row = ROWS.iter().find(|(known, _)| known.name == provider.name);
    row.map_or(&[], |(_, knobs)| knobs)
}

/// The levels of OpenAI's models since 5.1; each of them takes some.
const OPENAI_EFFORTS: Takes = Takes::Efforts(&[
    Effort::None,
    Effort::Minimal,
    Effort::Low,
    Effort::Medium,
    Effort::High,
    Effort::XHigh,
]);
const LOW_TO_HIGH: &[Effort] = &[Effort::Low, Effort::Medium, Effort::High];
const MINIMAL_TO_HIGH: Takes =
    Takes::Efforts(&[Effort::Minimal, Effort::Low, Effort::Medium, Effort::High]);
const DEEPSEEK_EFFORTS: &[Effort] = &Effort::ALL;

/// OpenAI's reasoning models refuse sampling; those since 5.1 take it when they are told not to think.
const OPENAI_SAMPLING: &[Rule] = &[
    rule(&["gpt-5-chat"], Takes::Yes),
    rule(&["gpt-5."], Takes::WithoutReasoning),
    rule(&["gpt-5", "o1", "o3", "o4"], Takes::No),
    rule(&[], Takes::Yes),
];

/// The models that think as they see fit, and refuse sampling.
const NEWEST_CLAUDE: &[&str] = &[
    "claude-opus-4-7",
    "claude-opus-4-8",
    "claude-opus-5",
    "claude-sonnet-5",
    "claude-fable-5",
    "claude-mythos-5",
];
const CLAUDE_SAMPLING: &[Rule] = &[rule(NEWEST_CLAUDE, Takes::No), rule(&[], Takes::Yes)];

/// A DeepSeek model that thinks ignores sampling.
const DEEPSEEK_SAMPLING: &[Rule] = &[
    rule(&["deepseek-chat"], Takes::Yes),
    rule(&["deepseek-reasoner"], Takes::No),
    rule(&[], Takes::WithoutReasoning),
];

rows! {
    OPENAI, OpenAi {
        Temperature: OPENAI_SAMPLING,
        TopP: OPENAI_SAMPLING,
        MaxOutputTokens: ALWAYS,
        Tier: ALWAYS,
        JsonSchema: ALWAYS,
        JsonMode: ALWAYS,
        Tools: ALWAYS,
        Grounding: &[
            rule(&["gpt-4o-search-preview", "gpt-4o-mini-search-preview", "gpt-5-search-api"], Takes::Yes),
            rule(&[], Takes::No),
        ],
        Cache: ALWAYS,
        CacheHandle: ALWAYS,
        Reasoning: &[
            rule(&["gpt-5-chat"], Takes::No),
            rule(&["gpt-5."], OPENAI_EFFORTS),
            rule(&["gpt-5"], MINIMAL_TO_HIGH),
            rule(&["o1", "o3", "o4"], Takes::Efforts(LOW_TO_HIGH)),
            rule(&[], Takes::No),
        ],
    }
    ANTHROPIC, Anthropic {
        Temperature: CLAUDE_SAMPLING,
        TopP: CLAUDE_SAMPLING,
        MaxOutputTokens: ALWAYS,
        Tier: ALWAYS,
        JsonSchema: ALWAYS,
        Tools: ALWAYS,
        Grounding: ALWAYS,
        Cache: ALWAYS,
        Reasoning: &[
            rule(&["claude-opus-4-6"], Takes::Efforts(&[Effort::Low, Effort::Medium, Effort::High, Effort::Max])),
            rule(
                NEWEST_CLAUDE,
                Takes::Efforts(&[Effort::Low, Effort::Medium, Effort::High, Effort::XHigh, Effort::Max]),
            ),
            rule(&[], Takes::No),
        ],
    }
    GEMINI, Gemini {
        Temperature: ALWAYS,
        TopP: ALWAYS,
        MaxOutputTokens: ALWAYS,
        Tier: ALWAYS,
        JsonSchema: ALWAYS,
        JsonMode: ALWAYS,
        Tools: ALWAYS,
        Grounding: ALWAYS,
        CacheHandle: ALWAYS,
        Reasoning: &[rule(&["gemini-3"], MINIMAL_TO_HIGH), rule(&[], Takes::No)],
    }
    DEEPSEEK, DeepSeek {
        Temperature: DEEPSEEK_SAMPLING,
        TopP: DEEPSEEK_SAMPLING,
        MaxOutputTokens: ALWAYS,
        JsonMode: ALWAYS,
        Tools: ALWAYS,
        Reasoning: &[
            rule(&["deepseek-chat", "deepseek-reasoner"], Takes::No),
            rule(&[], Takes::Efforts(DEEPSEEK_EFFORTS)),
        ],
    }
    GROK, Grok {
        Temperature: ALWAYS,
        TopP: ALWAYS,
        MaxOutputTokens: ALWAYS,
        Tier: ALWAYS,
        JsonSchema: ALWAYS,
        JsonMode: ALWAYS,
        Tools: ALWAYS,
        Cache: ALWAYS,
        CacheHandle: ALWAYS,
        Reasoning: &[rule(&[], Takes::Efforts(&[Effort::None, Effort::Low, Effort::Medium, Effort::High]))],
    }
    DEEPINFRA, DeepInfra {
        Temperature: ALWAYS,
        TopP: ALWAYS,
        MaxOutputTokens: ALWAYS,
        JsonSchema: ALWAYS,
        JsonMode: ALWAYS,
        Tools: ALWAYS,
        Cache: ALWAYS,
        CacheHandle: ALWAYS,
    }
    FIREWORKS, Fireworks {
        Temperature: ALWAYS,
        TopP: ALWAYS,
        MaxOutputTokens: ALWAYS,
        Tier: ALWAYS,
        JsonSchema: ALWAYS,
        JsonMode: ALWAYS,
        Tools: ALWAYS,
        Cache: ALWAYS,
        CacheHandle: ALWAYS,
        Reasoning: &[rule(&[], Takes::Efforts(LOW_TO_HIGH))],
    }
}

/// What the dialects do not take together.
pub static CONFLICTS: &[Conflict] = &[
    Conflict {
        provider: &ANTHROPIC,
        models: &[],
        knob: Knob::Grounding,
        others: &[Knob::JsonSchema],
    },
    Conflict {
        provider: &GEMINI,
        models: &[],
        knob: Knob::CacheHandle,
        others: &[Knob::Tools, Knob::Grounding],
    },
    Conflict {
        provider: &GEMINI,
        models: &["gemini-1", "gemini-2"],
        knob: Knob::Tools,
        others: &[Knob::JsonSchema, Knob::JsonMode],
    },
    Conflict {
        provider: &GEMINI,
        models: &["gemini-1", "gemini-2"],
        knob: Knob::Grounding,
        others: &[Knob::JsonSchema, Knob::JsonMode],
    },
];

/// In the order of `PROVIDERS`.
pub static NOTES: &[Notes] = &[
    Notes {
        provider: &OPENAI,
        served_tier: "`service_tier`",
        caches: "from 1,024 tokens",
        zero_retention: "by approval, not told per call",
        usage: "",
    },
    Notes {
        provider: &ANTHROPIC,
        served_tier: "`usage.service_tier`",
        caches: "nothing",
        zero_retention: "by agreement, not told per call",
        usage: "its input leaves out what a cache read or wrote: added",
    },
    Notes {
        provider: &GEMINI,
        served_tier: "`usageMetadata.serviceTier`, or a header",
        caches: "from 1,024 to 4,096 tokens, by model",
        zero_retention: "no",
        usage: "thoughts and what tools brought in are counted apart: added",
    },
    Notes {
        provider: &DEEPSEEK,
        served_tier: "",
        caches: "blocks of 64 tokens",
        zero_retention: "no",
        usage: "cached input is `prompt_cache_hit_tokens`",
    },
    Notes {
        provider: &GROK,
        served_tier: "`service_tier`",
        caches: "by itself, size not stated",
        zero_retention: "told in a header of each response",
        usage: "output leaves out reasoning: added",
    },
    Notes {
        provider: &DEEPINFRA,
        served_tier: "",
        caches: "not stated",
        zero_retention: "unknown",
        usage: "reasoning beyond the output is left out: added",
    },
    Notes {
        provider: &FIREWORKS,
        served_tier: "",
        caches: "by itself, size not stated",
        zero_retention: "unknown",
        usage: "cached input may stand in a header only",
    },
];
