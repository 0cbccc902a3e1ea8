//! How do YAML routes become typed Rust at build time?
//!
//! A `build.rs` calls [`compile`]; `#[rig::route("name")]` binds what it wrote. Every route file goes through
//! five stages, each the only input of the next: a tree with places (`yaml`), the route as written (`ast`), the
//! route as meant (`ir`), the route that keeps every rule (`check`), Rust (`emit`). Findings are collected on the
//! way and rendered once (`diagnostic`); one broken route never hides another's errors.
//!
//! This crate never fails a build for a fault in a route that a function binds, and compiles neither an HTTP
//! client nor a database.

#![cfg_attr(test, allow(clippy::unwrap_used))]

mod ast;
mod cargo;
mod check;
mod codes;
mod compile;
mod diagnostic;
mod emit;
mod explain;
mod facts;
mod fields;
mod files;
mod finding;
mod ir;
mod json;
mod limits;
mod load;
mod lower;
mod names;
mod node;
mod output;
mod project;
mod resolve;
mod schema;
mod source;
mod template;
mod tokens;
mod tool;
mod worst;
mod yaml;

pub use cargo::compile;
pub use codes::{CODES, Code};
pub use compile::{Compilation, CompiledRoute, compile_dir};
pub use diagnostic::{Severity, wants_colour};
pub use explain::{
    Budget, Dropped, Explained, Flag, RepairRung, Rung, Searcher, Variable, WorstCase,
};
pub use facts::Source as FlagSource;
pub use finding::{Finding, Place};
pub use load::{LoadedRoute, load_dir};
pub use names::{escaped, pascal, snake};
pub use output::compile_to;
pub use schema::compile_schema;
pub use worst::clock;
