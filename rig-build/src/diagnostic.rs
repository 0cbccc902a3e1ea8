//! What is wrong, where, and what can be done about it?
//!
//! A [`Diagnostic`] is data. It is rendered once (`render`), in rustc's form, with the offending source lines; nobody
//! else formats a finding.

mod page;
mod render;

pub(crate) use page::Parts;
pub use page::wants_colour;

use crate::source::Span;

/// Whether a finding stops the route.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The route is not generated.
    Error,
    /// The route is generated all the same.
    Warning,
    /// Nothing is at fault: what the author of the route may want to know. Cargo does not print it.
    Note,
}

impl Severity {
    /// Returns the word for it, as a finding begins with it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Note => "note",
        }
    }
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

    /// Returns a note without a place.
    pub(crate) fn noted(code: &'static str, message: impl Into<String>) -> Self {
        Self {
            severity: Severity::Note,
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
