//! What does a compiled route run on?
//!
//! A [`Call`] goes down the candidate ladder: prompt, dispatch, conformance gate, repair, retry, next
//! candidate. Decisions are pure (`step`, `conform`, `render`, `provider`); effects go through the traits
//! [`Transport`], [`Store`] and [`Clock`]. Nothing here knows of YAML or of a route's own types beyond
//! [`Output`].

#![cfg_attr(test, allow(clippy::unwrap_used))]

mod access;
mod answer;
mod attempt;
mod cache;
mod call;
mod clock;
mod coach;
mod conform;
mod deadline;
mod dimensions;
mod dispatch;
mod driver;
mod envelope;
mod error;
mod exchange;
mod export;
mod generated;
mod ground;
mod id;
mod journal;
mod json;
mod key;
mod ladder;
mod prefix;
mod provider;
mod quality;
mod render;
mod repair;
mod resolve;
mod rig;
mod run;
mod search;
mod step;
mod steps;
mod stream;
mod trace;
mod turn;
mod undo;

pub mod raw;
pub mod replay;
pub mod store;
pub mod testing;
pub mod transport;

pub use cache::CacheHandle;
pub use call::{Answer, Call, NoVariant, Output, RouteVariant, call};
pub use clock::Clock;
#[doc(hidden)]
pub use conform::{
    Entry, Fields, ItemShape, List, Object, Place, ReadJson, Shape, ShapeOf, Union, judge_whole,
    read_checked, read_union, shape_of_branch, shape_of_field, shape_of_items, shape_of_optional,
    shape_of_values,
};
pub use error::{ConfigError, Error, Failure, Result};
#[cfg(feature = "otlp")]
pub use export::Otlp;
#[doc(hidden)]
pub use generated::{
    Scalar, ScalarEnum, assert_schema, conform, deserialize, read_scalar, serialize_scalar,
    shape_of_scalars,
};
#[doc(hidden)]
pub use json::Fault;
#[doc(hidden)]
pub use provider::{Decoded, DecodedAs, read_response};
pub use rig::{AlreadyInstalled, Guard, Rig, RigBuilder, guard, install};
pub use run::{AttemptCounts, Citation, Run, RunMeta};
pub use search::{Finding, Search, SearchError};
pub use store::Store;
pub use stream::{Event, Events};
pub use transport::Transport;
pub use turn::{ToolCall, Turn};

/// For the macros of generated code, which name everything from here.
#[doc(hidden)]
pub use serde;
