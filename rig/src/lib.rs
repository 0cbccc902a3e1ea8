//! Makes an LLM call as dependable as a function call.
//!
//! A *route* is a YAML file: a prompt, a JSON Schema for the answer, the candidate models, and a policy for
//! everything that goes wrong. It is checked when your crate is compiled and bound to a function:
//!
//! ```text
//! #[rig::route("summarize")]
//! pub async fn summarize(input: SummarizeInput) -> rig::Result<Summary>;
//!
//! let summary = summarize(SummarizeInput { ticket }).await?;
//! ```
//!
//! - [`route`] binds a function to a compiled route; awaiting it gives the output.
//! - [`Call`] is what the function returns: `call.tag(…)`, `call.variant(…)`, `call.on(&rig)`, and
//!   `call.run().await` for the output with its [`RunMeta`].
//! - [`Events`] is what `call.stream()` returns: the same call, told while it goes on, one [`Event`] after the other.
//! - [`raw`] asks one model directly: no route, no ladder, one row.
//! - [`Rig`] holds keys, addresses, the store and the clock. Without one, the first call builds the process
//!   default from the environment; [`install`] sets it. [`guard`] ends a process well.
//! - [`Error`] says why there is no output: [`ConfigError`] before anything was dispatched, [`Failure`] after
//!   the ladder. [`failures`] explains every [`FailureClass`].
//! - [`testing`] has what a test needs: no network, no keys, no files, no waiting.

pub mod failures;

pub use rig_macros::route;
#[cfg(feature = "otlp")]
pub use rig_runtime::Otlp;
pub use rig_runtime::{
    AlreadyInstalled, AttemptCounts, CacheHandle, Call, Citation, Clock, ConfigError, Error, Event,
    Events, Failure, Finding, Guard, NoVariant, Result, Rig, RigBuilder, Run, RunMeta, Search,
    SearchError, Store, ToolCall, Transport, Turn, guard, install, raw, store, testing, transport,
};
pub use rig_spec::{FailureClass, Tier, Usd, UsdPerMtok};

/// The door for generated code. Not for use by hand, and not covered by version compatibility.
#[doc(hidden)]
pub mod __private {
    pub use rig_runtime::{
        __input as input, __items as items, __newtype as newtype, __object as object,
        __scalars as scalars, __union as union, Answer, Decoded, Output, RouteVariant,
        assert_schema, call, conform, read_response,
    };
    pub use rig_spec::{
        ANTHROPIC, Backoff, CONFLICTS, Cache, CacheDirective, Candidate, Capabilities, Capability,
        DEEPINFRA, DEEPSEEK, Dialect, Dimension, Enforcement, FIREWORKS, FailureClass, GEMINI,
        GROK, Grounding, Knob, Limits, Lowered, NOTES, NativeSchema, OPENAI, PROVIDERS, Plan,
        Policy, Price, Project, Provider, Rates, Repair, Route, Sampling, Schema, Search,
        SearchFee, Segment, Shape, Step, Takes, Template, Tier, TokenLimitKey, Tool, Usd,
        UsdPerMtok, Variant, knobs,
    };
    pub use serde::{self, Deserialize, Serialize};
    pub use serde_json::{self, Value};
}
