//! What is wrong, where, and what can be done about it?
//!
//! A [`Diagnostic`] is data. It is rendered once, in rustc's form, with the offending source lines; nobody
//! else formats a finding.

use unicode_width::UnicodeWidthChar;

use crate::source::{Source, Sources, Span};

/// Whether a finding stops the route.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The route is not generated.
    Error,
    /// The route is generated all the same.
    Warning,
}

/// One finding.
#[derive(Debug)]
pub(crate) struct Diagnostic {
    pub(crate) code: &'static str,
    pub(crate) severity: Severity,
    pub(crate) message: String,
    pub(crate) primary: Option<Label>,
    pub(crate) secondary: Vec<Label>,
    pub(crate) notes: Vec<String>,
    pub(crate) help: Option<String>,
}

/// A piece of a file, and what to say about it.
#[derive(Debug)]
pub(crate) struct Label {
    pub(crate) span: Span,
    pub(crate) text: String,
}

/// Where findings are collected.
#[derive(Debug, Default)]
pub(crate) struct Sink {
    findings: Vec<Diagnostic>,
}

impl Diagnostic {
    /// Returns an error without a place.
    pub(crate) fn error(code: &'static str, message: impl Into<String>) -> Self {
        let (severity, message) = (Severity::Error, message.into());
        Self {
            code,
            severity,
            message,
            primary: None,
            secondary: Vec::new(),
            notes: Vec::new(),
            help: None,
        }
    }

    /// Returns a warning without a place.
    pub(crate) fn warning(code: &'static str, message: impl Into<String>) -> Self {
        Self {
            severity: Severity::Warning,
            ..Self::error(code, message)
        }
    }

    /// Sets the place that the finding is about.
    pub(crate) fn at(mut self, span: Span) -> Self {
        self.primary = Some(Label {
            span,
            text: String::new(),
        });
        self
    }

    /// Sets the place that the finding is about, and what stands under it.
    pub(crate) fn at_label(mut self, span: Span, text: impl Into<String>) -> Self {
        self.primary = Some(Label {
            span,
            text: text.into(),
        });
        self
    }

    /// Adds a further place.
    pub(crate) fn also(mut self, span: Span, text: impl Into<String>) -> Self {
        self.secondary.push(Label {
            span,
            text: text.into(),
        });
        self
    }

    /// Adds a line of reasoning.
    pub(crate) fn note(mut self, text: impl Into<String>) -> Self {
        self.notes.push(text.into());
        self
    }

    /// Sets what to do about it.
    pub(crate) fn help(mut self, text: impl Into<String>) -> Self {
        self.help = Some(text.into());
        self
    }

    /// Renders the finding with its source lines; the text ends with a line break.
    pub(crate) fn render(&self, sources: &Sources) -> String {
        let severity = match self.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        };
        let mut out = format!("{severity}[{}]: {}\n", self.code, self.message);
        let marks = self.marks(sources);
        let widest = marks.iter().map(|mark| mark.line + 1).max().unwrap_or(0);
        let gutter = widest.to_string().len();
        for file in marks.chunk_by(|a, b| a.span.source == b.span.source) {
            snippet(&mut out, sources.get(file[0].span.source), file, gutter);
        }
        for note in &self.notes {
            out += &format!("note: {note}\n");
        }
        if let Some(help) = &self.help {
            out += &format!("help: {help}\n");
        }
        out
    }

    /// Returns the labels grouped by file (the primary's first), and in the order of lines within one.
    fn marks(&self, sources: &Sources) -> Vec<Mark<'_>> {
        let mark = |label, primary| {
            let Label { span, text }: &Label = label;
            Mark {
                span: *span,
                text,
                primary,
                line: sources.get(span.source).line_of(span.start),
            }
        };
        let mut marks: Vec<_> = self.primary.iter().map(|label| mark(label, true)).collect();
        marks.extend(self.secondary.iter().map(|label| mark(label, false)));
        let first_of =
            |marks: &[Mark<'_>], source| marks.iter().position(|mark| mark.span.source == source);
        let order: Vec<_> = marks
            .iter()
            .map(|mark| first_of(&marks, mark.span.source))
            .collect();
        let mut keyed: Vec<_> = order.into_iter().zip(marks).collect();
        keyed.sort_by_key(|(file, mark)| (*file, mark.line, !mark.primary, mark.span.start));
        keyed.into_iter().map(|(_, mark)| mark).collect()
    }
}

impl Sink {
    /// Takes a finding in.
    pub(crate) fn push(&mut self, finding: Diagnostic) {
        self.findings.push(finding);
    }

    /// Returns whether an error was found.
    pub(crate) fn has_errors(&self) -> bool {
        self.findings
            .iter()
            .any(|finding| finding.severity == Severity::Error)
    }

    /// Returns the findings: errors first, then in the order of their places.
    pub(crate) fn into_findings(mut self) -> Vec<Diagnostic> {
        self.findings.sort_by_key(|finding| {
            (
                finding.severity,
                finding.primary.as_ref().map(|label| label.span),
            )
        });
        self.findings
    }
}

/// A label with its 0-based line.
struct Mark<'a> {
    span: Span,
    text: &'a str,
    primary: bool,
    line: usize,
}

/// Writes the lines of one file that carry marks.
fn snippet(out: &mut String, source: &Source, marks: &[Mark<'_>], gutter: usize) {
    let head = marks.iter().find(|mark| mark.primary).unwrap_or(&marks[0]);
    let arrow = if head.primary { "-->" } else { ":::" };
    let column = source.before(head.span.start, head.line).chars().count() + 1;
    let pad = " ".repeat(gutter);
    *out += &format!(
        "{pad}{arrow} {}:{}:{column}\n{pad} |\n",
        source.shown,
        head.line + 1
    );
    let mut previous: Option<usize> = None;
    for mark in marks {
        if previous != Some(mark.line) {
            if previous.is_some_and(|line| line + 1 < mark.line) {
                *out += "...\n";
            }
            let text = expand_tabs(&source.text[source.line(mark.line)]);
            let shown = format!("{:>gutter$} | {text}", mark.line + 1);
            *out += shown.trim_end();
            *out += "\n";
        }
        previous = Some(mark.line);
        let indent = width(&expand_tabs(source.before(mark.span.start, mark.line)));
        let end = mark.span.end.min(source.line(mark.line).end);
        let through = width(&expand_tabs(source.before(end, mark.line)));
        let length = through.saturating_sub(indent).max(1);
        let carets = if mark.primary { "^" } else { "-" }.repeat(length);
        let shown = format!("{pad} | {}{carets} {}", " ".repeat(indent), mark.text);
        *out += shown.trim_end();
        *out += "\n";
    }
}

/// A tab is as wide as four blanks, wherever it stands.
fn expand_tabs(text: &str) -> String {
    text.replace('\t', "    ")
}

/// Returns how many terminal cells the text takes.
fn width(text: &str) -> usize {
    text.chars().map(|c| c.width().unwrap_or(0)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn carets_stand_under_wide_characters_and_tabs() {
        let mut sources = Sources::default();
        let text = "a: 1\r\n\t日本: [x]\r\nz: 2\n";
        let source = sources.add("r.yaml".to_owned(), text.to_owned());
        let at = text.find('x').expect("it is there");
        let z = text.find('z').expect("it is there");
        let shown = Diagnostic::error("some-check", "found `x`")
            .at_label(Span::new(source, at..at + 1), "here")
            .also(Span::new(source, 0..1), "first")
            .also(Span::new(source, z..z + 1), "")
            .help("remove it")
            .render(&sources);
        let expected = "error[some-check]: found `x`\n --> r.yaml:2:7\n  |\n1 | a: 1\n  | - first\n2 |     日本: [x]\n  |            ^ here\n3 | z: 2\n  | -\nhelp: remove it\n";
        assert_eq!(shown, expected);
    }

    #[test]
    fn a_place_at_the_end_of_the_file_is_shown() {
        let mut sources = Sources::default();
        let source = sources.add("r.yaml".to_owned(), "a: 1\n".to_owned());
        let shown = Diagnostic::warning("w", "m")
            .at(Span::new(source, 5..5))
            .render(&sources);
        assert_eq!(shown, "warning[w]: m\n --> r.yaml:2:1\n  |\n2 |\n  | ^\n");
    }
}
