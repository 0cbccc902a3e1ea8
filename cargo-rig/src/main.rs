//! `cargo rig`: see, prove, decide.
//!
//! A command reads its arguments, decides in pure code, and prints once: text for people, one JSON document with
//! `--json`. Exit codes: 0 is good, 1 means that something wrong was found, 2 that the command could not do its work.

#![cfg_attr(test, allow(clippy::unwrap_used))]

mod check;
mod cli;
mod diff;
mod expand;
mod explain;
mod new;
mod output;
mod routes;
mod table;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::main()
}
