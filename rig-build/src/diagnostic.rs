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
        let message = clipped(&self.message, LONGEST_MESSAGE);
        let mut out = format!("{severity}[{}]: {message}\n", self.code);
        let marks = self.marks(sources);
        let widest = marks.iter().map(|mark| mark.line + 1).max().unwrap_or(0);
        let gutter = widest.to_string().len();
        for file in marks.chunk_by(|a, b| a.span.source == b.span.source) {
            snippet(&mut out, sources.get(file[0].span.source), file, gutter);
        }
        for note in &self.notes {
            out += &format!("note: {note}\n");
        }
        if self.secondary.len() > MOST_LABELS {
            out += &format!(
                "{}... and {} more\n",
                " ".repeat(gutter),
                self.secondary.len() - MOST_LABELS
            );
        }
        if let Some(help) = &self.help {
            out += &format!("help: {}\n", clipped(help, LONGEST_MESSAGE));
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
        let secondary = self.secondary.iter().take(MOST_LABELS);
        marks.extend(secondary.map(|label| mark(label, false)));
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
        printable(&source.shown),
        head.line + 1
    );
    let mut previous: Option<Piece<'_>> = None;
    for mark in marks {
        let piece = match previous {
            Some(piece) if piece.line == mark.line && piece.has(mark.span.start) => piece,
            _ => {
                if previous.is_some_and(|piece| piece.line + 1 < mark.line) {
                    *out += "...\n";
                }
                let piece = Piece::around(mark, source);
                let text = piece.shown(piece.end());
                let more = if piece.cut.1 { "…" } else { "" };
                let shown = format!("{:>gutter$} | {text}{more}", mark.line + 1);
                *out += shown.trim_end();
                *out += "\n";
                piece
            }
        };
        previous = Some(piece);
        let indent = width(&piece.shown(mark.span.start));
        let through = width(&piece.shown(mark.span.end.min(piece.end())));
        let length = through.saturating_sub(indent).max(1);
        let carets = if mark.primary { "^" } else { "-" }.repeat(length);
        let text = clipped(mark.text, LONGEST_LABEL);
        let shown = format!("{pad} | {}{carets} {text}", " ".repeat(indent));
        *out += shown.trim_end();
        *out += "\n";
    }
}

/// What is shown of a line: all of it, but for one that no terminal holds.
#[derive(Clone, Copy)]
struct Piece<'a> {
    line: usize,
    start: usize,
    text: &'a str,
    /// Whether something of the line stands before it, and behind.
    cut: (bool, bool),
}

/// A line may have this many bytes; of a longer one this much is shown, and this much before the mark.
const LONGEST_LINE: usize = 500;
const SHOWN: usize = 200;
const SHOWN_BEFORE: usize = 60;

/// What a message or a help, and a label, may take: they quote what the user wrote, whatever it is.
const LONGEST_MESSAGE: usize = 4_000;
const LONGEST_LABEL: usize = 400;

/// As many places as a reader looks through.
const MOST_LABELS: usize = 40;

impl<'a> Piece<'a> {
    fn around(mark: &Mark<'_>, source: &'a Source) -> Self {
        let line = source.line(mark.line);
        let (mut start, mut end) = (line.start, line.end);
        if line.len() > LONGEST_LINE {
            let from = mark.span.start.clamp(line.start, line.end);
            start = source
                .text
                .floor_char_boundary(from.saturating_sub(SHOWN_BEFORE).max(start));
            end = source.text.floor_char_boundary((start + SHOWN).min(end));
        }
        Self {
            line: mark.line,
            start,
            text: &source.text[start..end],
            cut: (start > line.start, end < line.end),
        }
    }

    fn end(&self) -> usize {
        self.start + self.text.len()
    }

    fn has(&self, byte: usize) -> bool {
        self.start <= byte && (byte < self.end() || !self.cut.1)
    }

    /// Returns what is shown up to this byte of the file.
    fn shown(&self, byte: usize) -> String {
        let length = byte.clamp(self.start, self.end()) - self.start;
        let text = &self.text[..self.text.floor_char_boundary(length)];
        format!("{}{}", if self.cut.0 { "…" } else { "" }, printable(text))
    }
}

/// Returns text as a terminal may have it: a tab is as wide as four blanks, wherever it stands, and what would move
/// the cursor, ring the bell or turn the direction of writing is a picture of itself.
fn printable(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\t' => out += "    ",
            '\0'..='\x1f' => out.extend(char::from_u32(0x2400 + u32::from(c))),
            '\x7f' => out.push('\u{2421}'),
            c if c.is_control() || is_direction(c) => out.push(char::REPLACEMENT_CHARACTER),
            c => out.push(c),
        }
    }
    out
}

fn is_direction(c: char) -> bool {
    matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Returns the text, printable, of a message that may have lines; what is too long is cut.
fn clipped(text: &str, most: usize) -> String {
    let end = text.floor_char_boundary(most.min(text.len()));
    let lines: Vec<_> = text[..end].split('\n').map(printable).collect();
    lines.join("\n") + if end < text.len() { "…" } else { "" }
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

    #[test]
    fn what_would_act_on_a_terminal_is_a_picture() {
        let mut sources = Sources::default();
        let text = "- \u{1b}[2J\u{1e}\u{202e}x\n";
        let source = sources.add("r.yaml".to_owned(), text.to_owned());
        let at = text.find('x').expect("it is there");
        let shown = Diagnostic::error("e", "found `\u{7}\u{9b}`")
            .at(Span::new(source, at..at + 1))
            .render(&sources);
        let expected = "error[e]: found `␇\u{fffd}`\n --> r.yaml:1:9\n  |\n1 | - ␛[2J␞\u{fffd}x\n  |         ^\n";
        assert_eq!(shown, expected);
    }

    #[test]
    fn of_a_line_that_no_terminal_holds_a_piece_is_shown() {
        let mut sources = Sources::default();
        let text = format!("{}here{}", "é".repeat(1_000), "z".repeat(1_000));
        let source = sources.add("r.yaml".to_owned(), text);
        let shown = Diagnostic::error("e", "x".repeat(10_000))
            .at(Span::new(source, 2_000..2_004))
            .also(Span::new(source, 0..2), "first")
            .render(&sources);
        assert!(shown.contains(&format!(
            "\n1 | …{}here{}…\n",
            "é".repeat(30),
            "z".repeat(136)
        )));
        assert!(shown.contains(&format!("\n  | {}^^^^\n", " ".repeat(31))));
        assert!(shown.contains(&format!("\n1 | {}…\n  | - first\n", "é".repeat(100))));
        assert!(
            shown.contains(":1:1001\n") && shown.len() < 6_000,
            "{shown}"
        );
    }
}
