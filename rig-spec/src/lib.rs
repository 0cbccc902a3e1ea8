//! What do the route compiler and the runtime both have to know?
//!
//! Closed enums with one table row per variant, and the const form of a compiled route. A fact that two
//! crates need has its home here. Nothing in this crate does I/O, waits, or depends on more than a table of Unicode.

mod capability;
mod failure;
mod knob;
mod limits;
mod lowered;
mod money;
mod narrowing;
mod provider;
mod registry;
mod route;
mod schema;
mod template;
mod trial;

pub use capability::{Capabilities, Capability};
pub use failure::{Backoff, ClassSpec, Disposition, FAILURE_DOCS, FailureClass};
pub use knob::{
    Anthropic, AnyProvider, CONFLICTS, Conflict, DeepInfra, DeepSeek, Effort, Fireworks, Gemini,
    Grok, Honours, Knob, Known, NOTES, Notes, OpenAi, Rule, Takes, knobs, markers,
};
pub use limits::{Limits, Prices, SearchFee};
pub use lowered::{Lowered, Shape, Step, coaching};
pub use money::{LongPrompt, Price, Rates, Usd, UsdPerMtok};
pub use narrowing::Narrowing;
pub use provider::{
    ANTHROPIC, CacheDirective, DEEPINFRA, DEEPSEEK, Dialect, FIREWORKS, GEMINI, GROK, NativeSchema,
    OPENAI, PROVIDERS, Provider, TokenLimitKey,
};
pub use registry::{ModelFacts, Probe, model_facts};
pub use route::{
    Cache, Candidate, Dimension, Enforcement, Grounding, Plan, Policy, Project, Repair, Route,
    Sampling, Schema, Search, Tier, Tool, Variant,
};
pub use schema::{
    BadPattern, Contains, Gate, Key, Kinds, ListRules, Literal, Logic, Node, NodeId, Number,
    NumberRules, ObjectRules, Pattern, TextRules, Values, read_gate, write_gate,
};
pub use template::{Segment, Template};
pub use trial::TrialRoute;
