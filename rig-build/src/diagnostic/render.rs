//! How does a finding look?

use unicode_width::UnicodeWidthChar;

use super::page::{Page, Style};
use super::{Diagnostic, Label, Severity};
use crate::source::{Source, Sources, Span};

impl Diagnostic {
    /// Renders the finding with its source lines; the text ends with a line break.
    pub(crate) fn render(&self, sources: &Sources) -> Page {
        let severity = self.severity.name();
        let style = match self.severity {
            Severity::Error => Style::Error,
            Severity::Warning => Style::Warning,
            Severity::Note => Style::Strong,
        };
        let mut page = Page::default();
        page.put(style, &format!("{severity}[{}]", self.code));
        let message = clipped(&self.message, LONGEST_MESSAGE);
        page.put(Style::Strong, &format!(": {message}\n"));
        let marks = self.marks(sources);
        let widest = marks.iter().map(|mark| mark.line + 1).max().unwrap_or(0);
        let gutter = widest.to_string().len();
        for file in marks.chunk_by(|a, b| a.span.source == b.span.source) {
            let source = sources.get(file[0].span.source);
            snippet(&mut page, source, file, gutter, style);
        }
        for note in &self.notes {
            page.put(Style::Strong, "note");
            page.put(Style::Plain, &format!(": {note}\n"));
        }
        if self.secondary.len() > MOST_LABELS {
            let more = self.secondary.len() - MOST_LABELS;
            let pad = " ".repeat(gutter);
            page.put(Style::Plain, &format!("{pad}... and {more} more\n"));
        }
        if let Some(help) = &self.help {
            page.put(Style::Help, "help");
            page.put(
                Style::Plain,
                &format!(": {}\n", clipped(help, LONGEST_MESSAGE)),
            );
        }
        page
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

/// A label with its 0-based line.
struct Mark<'a> {
    span: Span,
    text: &'a str,
    primary: bool,
    line: usize,
}

/// Writes the lines of one file that carry marks.
fn snippet(page: &mut Page, source: &Source, marks: &[Mark<'_>], gutter: usize, style: Style) {
    let head = marks.iter().find(|mark| mark.primary).unwrap_or(&marks[0]);
    let arrow = if head.primary { "-->" } else { ":::" };
    let column = source.before(head.span.start, head.line).chars().count() + 1;
    let pad = " ".repeat(gutter);
    let place = format!("{}:{}:{column}\n", printable(&source.shown), head.line + 1);
    page.put(Style::Gutter, &format!("{pad}{arrow} "));
    page.put(Style::Plain, &place);
    page.put(Style::Gutter, &format!("{pad} |\n"));
    let mut previous: Option<Piece<'_>> = None;
    for mark in marks {
        let piece = match previous {
            Some(piece) if piece.line == mark.line && piece.has(mark.span.start) => piece,
            _ => {
                if previous.is_some_and(|piece| piece.line + 1 < mark.line) {
                    page.put(Style::Gutter, "...\n");
                }
                let piece = Piece::around(mark, source);
                let text = piece.shown(piece.end());
                let more = if piece.cut.1 { "…" } else { "" };
                page.put(Style::Gutter, &format!("{:>gutter$} |", mark.line + 1));
                let shown = format!(" {text}{more}");
                page.put(Style::Plain, &format!("{}\n", shown.trim_end()));
                piece
            }
        };
        previous = Some(piece);
        let indent = width(&piece.shown(mark.span.start));
        let through = width(&piece.shown(mark.span.end.min(piece.end())));
        let length = through.saturating_sub(indent).max(1);
        let carets = if mark.primary { "^" } else { "-" }.repeat(length);
        let text = clipped(mark.text, LONGEST_LABEL);
        let shown = format!(" {}{carets} {text}", " ".repeat(indent));
        page.put(Style::Gutter, &format!("{pad} |"));
        let style = if mark.primary { style } else { Style::Gutter };
        page.put(style, &format!("{}\n", shown.trim_end()));
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
            .render(&sources)
            .text;
        let expected = "error[some-check]: found `x`\n --> r.yaml:2:7\n  |\n1 | a: 1\n  | - first\n2 |     日本: [x]\n  |            ^ here\n3 | z: 2\n  | -\nhelp: remove it\n";
        assert_eq!(shown, expected);
    }

    #[test]
    fn a_place_at_the_end_of_the_file_is_shown() {
        let mut sources = Sources::default();
        let source = sources.add("r.yaml".to_owned(), "a: 1\n".to_owned());
        let shown = Diagnostic::warning("w", "m")
            .at(Span::new(source, 5..5))
            .render(&sources)
            .text;
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
            .render(&sources)
            .text;
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
            .render(&sources)
            .text;
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
