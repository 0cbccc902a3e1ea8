//! `cargo rig`: see, prove, decide.
//!
//! A command reads its arguments, decides in pure code, and prints once: text for people, one JSON document with
//! `--json`. Exit codes: 0 is good, 1 means that something wrong was found, 2 that the command could not do its work.

#![cfg_attr(test, allow(clippy::unwrap_used))]

mod bakeoff;
mod check;
mod cli;
mod diff;
mod envelopes;
mod expand;
mod explain;
mod exports;
mod grade;
mod new;
mod output;
#[cfg(test)]
mod pictures;
mod place;
mod prune;
mod replay;
mod report;
mod routes;
mod run;
mod runs;
mod stats;
mod table;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::main()
}
