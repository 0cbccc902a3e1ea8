//! What do the route compiler and the runtime both have to know?
//!
//! Closed enums with one table row per variant, and the const form of a compiled route. A fact that two
//! crates need has its home here. Nothing in this crate does I/O, waits, or depends on another crate.

mod capability;
mod failure;
mod money;
mod provider;
mod registry;
mod route;
mod schema;
mod template;

pub use capability::{Capabilities, Capability};
pub use failure::{Backoff, ClassSpec, Disposition, FAILURE_DOCS, FailureClass};
pub use money::{LongPrompt, Price, Rates, Usd, UsdPerMtok};
pub use provider::{
    ANTHROPIC, DEEPINFRA, DEEPSEEK, Dialect, FIREWORKS, GROK, NativeSchema, OPENAI, PROVIDERS,
    Provider, TokenLimitKey,
};
pub use registry::{ModelFacts, Probe, model_facts};
pub use route::{
    Cache, Candidate, Dimension, Enforcement, Grounding, Plan, Policy, Project, Repair, Route,
    Sampling, Schema, Search, Tier, Tool, Variant,
};
pub use schema::{Lowered, Shape, Step, coaching};
pub use template::{Segment, Template};
