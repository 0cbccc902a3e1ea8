//! `cargo rig check`: what does the compiler find?

mod sarif;

use std::path::PathBuf;

use rig_build::{Compilation, Finding, Place, Severity, compile_dir};
use serde_json::{Value, json};

use crate::output::{BAD, Exit, GOOD, Output, Result, WARN, paint};
use crate::routes;

/// What `cargo rig check` is told.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The folder of the routes, or one route's file [default: `routes` here or in the nearest folder above].
    path: Option<PathBuf>,
    /// Print one JSON document.
    #[arg(long, conflicts_with = "sarif")]
    json: bool,
    /// Print one SARIF 2.1.0 log, for code review.
    #[arg(long)]
    sarif: bool,
}

/// Prints everything that is found; errors are an exit code of 1.
pub(crate) fn run(arguments: &Arguments, output: &mut Output) -> Result {
    let routes = routes::find(arguments.path.as_deref())?;
    let mut compilation = compile_dir(&routes.dir, &routes.shown);
    routes.narrow(&mut compilation)?;
    let found = Found::of(&compilation);
    if arguments.json {
        output.json(&found.document())?;
    } else if arguments.sarif {
        output.json(&sarif::log(&found, &routes.shown))?;
    } else {
        for (_, finding) in &found.findings {
            output.print(&format!("{}\n", finding.coloured()))?;
        }
        output.print(&found.summary())?;
    }
    Ok(match found.count(Severity::Error) {
        0 => Exit::Good,
        _ => Exit::Found,
    })
}

/// What a compilation found: of the directory first, then of each route.
struct Found<'a> {
    routes: usize,
    /// Each with the route that it is about; `None` is the directory.
    findings: Vec<(Option<&'a str>, &'a Finding)>,
}

impl<'a> Found<'a> {
    fn of(compilation: &'a Compilation) -> Self {
        let directory = compilation.directory.iter().map(|finding| (None, finding));
        let routes = compilation.routes.iter().flat_map(|route| {
            let name = Some(route.name.as_str());
            route.findings.iter().map(move |finding| (name, finding))
        });
        Self {
            routes: compilation.routes.len(),
            findings: directory.chain(routes).collect(),
        }
    }

    fn count(&self, severity: Severity) -> usize {
        let of_it = |(_, finding): &&(_, &Finding)| finding.severity == severity;
        self.findings.iter().filter(of_it).count()
    }

    /// Returns the last line for people.
    fn summary(&self) -> String {
        let errors = self.count(Severity::Error);
        let counted = |style, count, what| match count {
            0 => None,
            1 => Some(paint(style, format_args!("1 {what}"))),
            _ => Some(paint(style, format_args!("{count} {what}s"))),
        };
        let counts = [
            counted(BAD, errors, "error"),
            counted(WARN, self.count(Severity::Warning), "warning"),
        ];
        let counts: Vec<_> = counts.into_iter().flatten().collect();
        let checked = paint(if errors == 0 { GOOD } else { BAD }, "checked");
        let routes = match self.routes {
            1 => "1 route".to_owned(),
            routes => format!("{routes} routes"),
        };
        let joint = if counts.is_empty() { "" } else { ": " };
        format!("{checked} {routes}{joint}{}\n", counts.join(", "))
    }

    fn document(&self) -> Value {
        let findings = self.findings.iter();
        json!({
            "routes": self.routes,
            "errors": self.count(Severity::Error),
            "warnings": self.count(Severity::Warning),
            "findings": findings.map(|(route, one)| finding(*route, one)).collect::<Vec<_>>(),
        })
    }
}

fn finding(route: Option<&str>, finding: &Finding) -> Value {
    json!({
        "route": route,
        "code": finding.code,
        "severity": finding.severity.name(),
        "message": finding.message,
        "place": finding.place.as_ref().map(place),
        "related": finding.related.iter().map(place).collect::<Vec<_>>(),
        "notes": finding.notes,
        "help": finding.help,
        "text": finding.text,
    })
}

fn place(place: &Place) -> Value {
    json!({
        "file": place.file,
        "line": place.line,
        "column": place.column,
        "end_line": place.end_line,
        "end_column": place.end_column,
        "label": place.label,
    })
}
