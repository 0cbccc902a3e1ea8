//! What does the compiler tell others of a finding?
//!
//! The text, rendered once, and the parts that it is made of, for programs.

use crate::diagnostic::{Diagnostic, Label, Parts, Severity, Sink};
use crate::files::Files;

/// A finding, rendered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The stable code: the name of the check.
    pub code: &'static str,
    /// Whether it stops the route.
    pub severity: Severity,
    /// The whole text, with the offending source lines.
    pub text: String,
    /// What is wrong, in one sentence.
    pub message: String,
    /// What it is about; `None` for the directory as such.
    pub place: Option<Place>,
    /// Further places, and what to say about each.
    pub related: Vec<Place>,
    /// How it comes about, a line each.
    pub notes: Vec<String>,
    /// What to do about it.
    pub help: Option<String>,
    parts: Parts,
}

/// A piece of a file, and what to say about it. Lines and columns begin at 1, columns are counted in characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The file, as messages say it.
    pub file: String,
    /// The line of its first character.
    pub line: usize,
    /// The column of its first character.
    pub column: usize,
    /// The line of the character behind its last.
    pub end_line: usize,
    /// The column of the character behind its last.
    pub end_column: usize,
    /// What stands under it; may be empty.
    pub label: String,
}

impl Finding {
    /// Returns the text with the escape sequences that colour it on a terminal. Whether one wants them is told by
    /// [`wants_colour`](crate::wants_colour).
    #[must_use]
    pub fn coloured(&self) -> String {
        self.parts.coloured(&self.text)
    }
}

/// So many findings of one file are shown; a reader who has worked through them builds again.
const MOST_FINDINGS: usize = 200;

/// Renders what was found.
pub(crate) fn rendered(sink: Sink, files: &Files) -> Vec<Finding> {
    let mut findings = sink.into_findings();
    let more = findings.len().saturating_sub(MOST_FINDINGS);
    findings.truncate(MOST_FINDINGS);
    if let Some(last) = findings.last_mut().filter(|_| more > 0) {
        last.notes.push(format!("there are {more} more findings"));
    }
    findings
        .into_iter()
        .map(|finding| render(finding, files))
        .collect()
}

fn render(finding: Diagnostic, files: &Files) -> Finding {
    let page = finding.render(&files.sources);
    let place = |label: &Label| place(label, files);
    Finding {
        code: finding.code,
        severity: finding.severity,
        text: page.text,
        place: finding.primary.as_ref().map(place),
        related: finding.secondary.iter().map(place).collect(),
        message: finding.message,
        notes: finding.notes,
        help: finding.help,
        parts: page.parts,
    }
}

fn place(label: &Label, files: &Files) -> Place {
    let source = files.sources.get(label.span.source);
    let at = |byte| {
        let line = source.line_of(byte);
        (line + 1, source.before(byte, line).chars().count() + 1)
    };
    let ((line, column), (end_line, end_column)) = (at(label.span.start), at(label.span.end));
    Place {
        file: source.shown.clone(),
        line,
        column,
        end_line,
        end_column,
        label: label.text.clone(),
    }
}
