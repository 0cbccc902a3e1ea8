//! `cargo rig diff`: what has changed in what routes mean?

mod compare;
mod git;
mod schema;

use std::path::PathBuf;

use rig_build::{Compilation, compile_dir};
use serde_json::{Value, json};

use self::compare::{Change, RouteDiff, compare};
use crate::output::{BAD, Exit, GOOD, Output, Result, STRONG, WARN, paint};
use crate::routes;
use crate::table::wrapped;

/// What `cargo rig diff` is told.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The revision of git to compare with: `HEAD`, `main`, `v1.2.0`.
    revision: String,
    /// One route only.
    route: Option<String>,
    /// The folder of the routes [default: `routes` here or in the nearest folder above].
    #[arg(long, value_name = "DIR")]
    routes: Option<PathBuf>,
    /// Print one JSON document.
    #[arg(long)]
    json: bool,
}

/// Prints what has changed; a changed route with its old version is an exit code of 1.
pub(crate) fn run(arguments: &Arguments, output: &mut Output) -> Result {
    let routes = routes::find(arguments.routes.as_deref())?;
    let new = compile_dir(&routes.dir, &routes.shown);
    let old = git::at(&arguments.revision, &routes.dir, |dir| {
        compile_dir(dir, &routes.shown)
    })?;
    let mut diffs = diffs(&old, &new);
    if let Some(wanted) = &arguments.route {
        let known = |compilation: &Compilation| {
            compilation.routes.iter().any(|route| route.name == *wanted)
        };
        if !known(&old) && !known(&new) {
            let message = format!(
                "there is no route `{wanted}`, neither here nor in `{}`",
                arguments.revision
            );
            return Err(crate::output::Stop::new(message));
        }
        diffs.retain(|diff| diff.route == *wanted);
    }
    if arguments.json {
        output.json(&json!({ "routes": diffs.iter().map(document).collect::<Vec<_>>() }))?;
    } else {
        let width = output.width();
        let text: String = diffs.iter().map(|diff| text(diff, width)).collect();
        output.print(&text)?;
        if diffs.is_empty() {
            output.print(&format!(
                "no route means anything else than in `{}`\n",
                arguments.revision
            ))?;
        }
    }
    let is_unversioned = diffs.iter().any(RouteDiff::is_unversioned);
    Ok(if is_unversioned {
        Exit::Found
    } else {
        Exit::Good
    })
}

/// Compares the routes of two trees, by their names; those that mean the same are left out.
fn diffs(old: &Compilation, new: &Compilation) -> Vec<RouteDiff> {
    let find = |compilation: &'_ Compilation, name: &str| {
        compilation
            .routes
            .iter()
            .position(|route| route.name == name)
    };
    let gone = old
        .routes
        .iter()
        .filter(|route| find(new, &route.name).is_none());
    let names = new
        .routes
        .iter()
        .chain(gone)
        .map(|route| route.name.as_str());
    let diff = |name: &str| {
        let old = find(old, name).map(|at| &old.routes[at]);
        let new = find(new, name).map(|at| &new.routes[at]);
        compare(name, old, new)
    };
    names.filter_map(diff).collect()
}

fn text(diff: &RouteDiff, width: usize) -> String {
    let version = match (diff.old_version, diff.new_version) {
        (Some(old), Some(new)) if old == new => format!("version {new}"),
        (Some(old), Some(new)) => format!("version {old} → {new}"),
        (None, Some(new)) => format!("version {new}"),
        (Some(old), None) => format!("version {old}"),
        (None, None) => String::new(),
    };
    let mut out = format!("{} {version}\n", paint(STRONG, &diff.route));
    for change in &diff.changes {
        let line = match change {
            Change::Text(line) => line.clone(),
            Change::Callers(line) => format!("{line}; callers have to change"),
        };
        out += &wrapped(&format!("  {line}"), width, 4);
    }
    if !diff.unfit.is_empty() {
        out += &format!(
            "  {}\n",
            paint(BAD, "old answers that would no longer fit:")
        );
        for reason in &diff.unfit {
            out += &wrapped(
                &format!("    {}: {}", reason.pointer, reason.text),
                width,
                6,
            );
        }
    } else if diff.is_schema_changed {
        out += &format!(
            "  {}\n",
            paint(GOOD, "every old answer fits the new schema")
        );
    }
    if diff.is_unversioned() {
        let version = diff.new_version.unwrap_or_default();
        let line = format!(
            ": the route has changed, and its version is {version} as before: rows of both cannot be told apart"
        );
        out += &wrapped(&format!("  {}{line}", paint(WARN, "warning")), width, 4);
    }
    out + "\n"
}

fn document(diff: &RouteDiff) -> Value {
    let changes = diff.changes.iter().map(|change| match change {
        Change::Text(text) => json!({ "text": text, "callers_have_to_change": false }),
        Change::Callers(text) => json!({ "text": text, "callers_have_to_change": true }),
    });
    let unfit = diff.unfit.iter();
    let unfit = unfit.map(|reason| json!({ "pointer": reason.pointer, "text": reason.text }));
    json!({
        "route": diff.route,
        "old_version": diff.old_version,
        "new_version": diff.new_version,
        "changes": changes.collect::<Vec<_>>(),
        "schema_changed": diff.is_schema_changed,
        "old_answers_that_no_longer_fit": unfit.collect::<Vec<_>>(),
        "version_missing": diff.is_unversioned(),
    })
}
