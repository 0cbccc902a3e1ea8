//! What can be asked of `cargo rig`, and who answers?

use std::ffi::OsString;
use std::process::ExitCode;

use anstyle::{AnsiColor, Effects};
use clap::builder::Styles;
use clap::{Parser, Subcommand};

use crate::output::{Colour, Output, Stop};
use crate::{
    bakeoff, check, diff, envelopes, expand, explain, exports, grade, new, prune, replay, report,
    run, runs,
};

/// Check routes, see what a call would do, and read what happened.
#[derive(Debug, Parser)]
#[command(
    name = "cargo-rig",
    bin_name = "cargo rig",
    version,
    styles = STYLES,
    after_help = "Exit codes: 0 good, 1 something wrong was found, 2 the command could not do its work."
)]
struct Cli {
    /// When to colour what is printed.
    #[arg(
        long,
        global = true,
        value_name = "WHEN",
        env = "CARGO_TERM_COLOR",
        default_value = "auto",
        hide_env = true
    )]
    color: Colour,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Add a first route to a crate, with all that it needs to build.
    New(new::Arguments),
    /// Print everything that the route compiler finds, without building the crate.
    Check(check::Arguments),
    /// Tell what a call of a route would do, or what a check or a failure class means.
    Explain(explain::Arguments),
    /// Print the code that is generated for a route.
    Expand(expand::Arguments),
    /// Replay captured traffic through variants, and hold their conformance and cost against each other.
    Bakeoff(Box<bakeoff::Arguments>),
    /// Ask again what was captured.
    Replay(Box<replay::Arguments>),
    /// Print cost, conformance, failures and latency of what was called.
    Report(report::Arguments),
    /// Print the newest runs.
    Runs(runs::Arguments),
    /// Print what the ladder did in one run.
    Run(run::Arguments),
    /// Say what an answer was worth.
    Grade(grade::Arguments),
    /// Print what envelopes hold.
    Envelopes(envelopes::Arguments),
    /// Print what exporters have not sent, and what they have set aside.
    Exports(exports::Arguments),
    /// Delete rows or captures from the telemetry database.
    Prune(prune::Arguments),
    /// Tell what has changed in the meaning of routes since a revision of git.
    Diff(diff::Arguments),
}

/// The colours of cargo's own help.
const STYLES: Styles = Styles::styled()
    .header(AnsiColor::BrightGreen.on_default().effects(Effects::BOLD))
    .usage(AnsiColor::BrightGreen.on_default().effects(Effects::BOLD))
    .literal(AnsiColor::BrightCyan.on_default().effects(Effects::BOLD))
    .placeholder(AnsiColor::Cyan.on_default());

/// Does what the command line says.
pub(crate) fn main() -> ExitCode {
    let cli = match Cli::try_parse_from(arguments(std::env::args_os())) {
        Ok(cli) => cli,
        Err(error) => error.exit(),
    };
    let mut output = Output::new(cli.color);
    let result = match &cli.command {
        Command::New(arguments) => new::run(arguments, &mut output),
        Command::Check(arguments) => check::run(arguments, &mut output),
        Command::Explain(arguments) => explain::run(arguments, &mut output),
        Command::Expand(arguments) => expand::run(arguments, &mut output),
        Command::Bakeoff(arguments) => bakeoff::run(arguments, &mut output),
        Command::Replay(arguments) => replay::run(arguments, &mut output),
        Command::Report(arguments) => report::run(arguments, &mut output),
        Command::Runs(arguments) => runs::run(arguments, &mut output),
        Command::Run(arguments) => run::run(arguments, &mut output),
        Command::Grade(arguments) => grade::run(arguments, &mut output),
        Command::Envelopes(arguments) => envelopes::run(arguments, &mut output),
        Command::Exports(arguments) => exports::run(arguments, &mut output),
        Command::Prune(arguments) => prune::run(arguments, &mut output),
        Command::Diff(arguments) => diff::run(arguments, &mut output),
    };
    match result {
        Ok(exit) => ExitCode::from(exit.code()),
        Err(stop) => {
            stop.report();
            ExitCode::from(Stop::CODE)
        }
    }
}

/// Returns the arguments without the `rig` that cargo hands on.
fn arguments(given: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut arguments: Vec<_> = given.collect();
    if arguments.get(1).is_some_and(|first| first == "rig") {
        arguments.remove(1);
    }
    arguments
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn cargo_and_a_shell_are_answered_alike() {
        let with = |given: &[&str]| arguments(given.iter().map(OsString::from));
        let expected: Vec<OsString> = vec!["cargo-rig".into(), "check".into()];
        assert_eq!(with(&["cargo-rig", "rig", "check"]), expected);
        assert_eq!(with(&["cargo-rig", "check"]), expected);
    }
}
