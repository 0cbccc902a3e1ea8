//! The harness of the behaviour tests.
//!
//! [`check`] makes one call of a compiled route on a real ladder with a scripted world, and compares what came of
//! it, rows first, with the text that the test gives. [`Seen`] has what was sent.

// The cases of `ui/` are compiled against this package as well, with routes of their own and without these.
#![cfg(not(trybuild))]
#![allow(
    clippy::unwrap_used,
    reason = "a test that cannot go on says so by panicking"
)]

use std::path::Path;
use std::{env, fs};

pub mod recordings;
#[deny(warnings, missing_docs, rust_2018_idioms, clippy::pedantic)]
pub mod routes;
mod streamed;
mod transcript;
mod watched;
mod world;

pub use rig::testing::block_on;
pub use streamed::{check_stream, delta, events_of, listen};
pub use transcript::{Seen, check};
pub use watched::{Waits, Watched};
pub use world::{KEY_MARKER, World, messages_reply};

/// Compares a text with a file of this package; `UPDATE_EXPECT=1` writes the file anew.
///
/// # Panics
///
/// When they differ.
#[expect(
    clippy::disallowed_methods,
    reason = "whoever runs the tests says so in the environment"
)]
pub fn expect_file(file: &str, actual: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
    if env::var_os("UPDATE_EXPECT").is_some() {
        fs::write(&path, actual).unwrap();
    }
    let expected = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        expected == actual,
        "{file} differs\n--- expected\n{expected}\n--- actual\n{actual}"
    );
}

/// The Rust of the README compiles, and what can run without a key runs.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
pub mod readme {}

/// So does that of the page on tests.
#[cfg(doctest)]
#[doc = include_str!("../../docs/testing.md")]
pub mod testing {}

/// And of the pages on routing, on streaming, and for those who come from a plain client.
#[cfg(doctest)]
#[doc = include_str!("../../docs/routing.md")]
#[doc = include_str!("../../docs/streaming.md")]
#[doc = include_str!("../../docs/migration.md")]
pub mod pages {}

/// `rig` by another name, as a crate has it that also depends on the other `rig`.
pub mod modelrig {
    pub use ::rig::*;
}

/// What `rig-build` is expected to generate for the routes of its `tests/accept`, in a crate that denies every
/// warning. What is allowed is what the attribute allows.
#[deny(
    warnings,
    missing_docs,
    missing_debug_implementations,
    rust_2018_idioms,
    clippy::pedantic
)]
#[allow(
    dead_code,
    unreachable_pub,
    unused_qualifications,
    clippy::doc_markdown,
    clippy::enum_variant_names,
    clippy::module_name_repetitions,
    clippy::pub_underscore_fields,
    clippy::struct_field_names
)]
pub mod accept {
    include!(concat!(env!("OUT_DIR"), "/accept.rs"));
}

/// Routes with candidates on trial, which the build script draws and has compiled for the simulation.
#[allow(
    dead_code,
    missing_docs,
    unreachable_pub,
    reason = "the simulation is about what they do, and takes nothing of them but their tables"
)]
pub mod drawn {
    include!(concat!(env!("OUT_DIR"), "/drawn.rs"));
}
