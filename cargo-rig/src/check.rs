//! `cargo rig check`: what does the compiler find?

use std::path::PathBuf;

use rig_build::{Compilation, Finding, Severity, compile_dir};
use serde_json::{Value, json};

use crate::output::{BAD, Exit, GOOD, Output, Result, WARN, paint};
use crate::routes;

/// What `cargo rig check` is told.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The folder of the routes [default: `routes` here or in the nearest folder above].
    path: Option<PathBuf>,
    /// Print one JSON document.
    #[arg(long)]
    json: bool,
}

/// Prints everything that is found; errors are an exit code of 1.
pub(crate) fn run(arguments: &Arguments, output: &mut Output) -> Result {
    let routes = routes::find(arguments.path.as_deref())?;
    let compilation = compile_dir(&routes.dir, &routes.shown);
    let found: Vec<_> = findings(&compilation).collect();
    if arguments.json {
        output.json(&document(&compilation, &found))?;
    } else {
        for finding in &found {
            output.print(&format!("{}\n", finding.coloured()))?;
        }
        output.print(&summary(&compilation, &found))?;
    }
    let has_errors = count(&found, Severity::Error) > 0;
    Ok(if has_errors { Exit::Found } else { Exit::Good })
}

/// Returns every finding: those about the directory, then those of each route.
fn findings(compilation: &Compilation) -> impl Iterator<Item = &Finding> {
    let routes = compilation.routes.iter().flat_map(|route| &route.findings);
    compilation.directory.iter().chain(routes)
}

fn count(found: &[&Finding], severity: Severity) -> usize {
    found
        .iter()
        .filter(|finding| finding.severity == severity)
        .count()
}

/// Returns the last line.
fn summary(compilation: &Compilation, found: &[&Finding]) -> String {
    let errors = count(found, Severity::Error);
    let warnings = count(found, Severity::Warning);
    let routes = counted(compilation.routes.len(), "route");
    let mut text = match errors {
        0 => format!("{} {routes}", paint(GOOD, "checked")),
        _ => format!(
            "{} {routes}: {}",
            paint(BAD, "checked"),
            counted(errors, "error")
        ),
    };
    if warnings > 0 {
        let joint = if errors > 0 { ", " } else { ": " };
        text += &format!("{joint}{}", paint(WARN, counted(warnings, "warning")));
    }
    text + "\n"
}

fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

fn document(compilation: &Compilation, found: &[&Finding]) -> Value {
    let findings: Vec<_> = found
        .iter()
        .map(|finding| {
            json!({
                "code": finding.code,
                "severity": finding.severity.name(),
                "text": finding.text,
            })
        })
        .collect();
    json!({
        "routes": compilation.routes.len(),
        "errors": count(found, Severity::Error),
        "warnings": count(found, Severity::Warning),
        "findings": findings,
    })
}
