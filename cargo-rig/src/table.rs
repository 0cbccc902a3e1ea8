//! How do rows become a table that fits the terminal?

use anstyle::Style;
use unicode_width::UnicodeWidthStr;

use crate::output::{STRONG, paint};

/// Columns with a head, without lines. What does not fit is wrapped between words; no word is ever broken, so that a
/// name can be copied.
#[derive(Debug)]
pub(crate) struct Table {
    right: Vec<bool>,
    rows: Vec<Vec<Cell>>,
}

/// A text in one style.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cell {
    text: String,
    style: Style,
}

/// What stands between two columns.
const GAP: usize = 2;

impl Cell {
    /// Returns a text in a style.
    pub(crate) fn new(style: Style, text: impl Into<String>) -> Self {
        let text = text.into();
        Self { text, style }
    }
}

impl<T: Into<String>> From<T> for Cell {
    fn from(text: T) -> Self {
        Self::new(Style::new(), text)
    }
}

impl Table {
    /// Returns a table with these heads; one that begins with `>` has its column on the right.
    pub(crate) fn new(heads: &[&str]) -> Self {
        let cell = |head: &&str| Cell::new(STRONG, head.trim_start_matches('>'));
        Self {
            right: heads.iter().map(|head| head.starts_with('>')).collect(),
            rows: vec![heads.iter().map(cell).collect()],
        }
    }

    /// Adds a row.
    pub(crate) fn row<T: Into<Cell>>(&mut self, cells: impl IntoIterator<Item = T>) {
        self.rows.push(cells.into_iter().map(Into::into).collect());
    }

    /// Returns the text, no line of which is wider than `width` where the words allow it.
    pub(crate) fn text(self, width: usize) -> String {
        let widths = self.widths(width);
        let mut out = String::new();
        for row in &self.rows {
            let cells: Vec<Vec<String>> = row
                .iter()
                .zip(&widths)
                .map(|(cell, width)| broken(&cell.text, *width))
                .collect();
            let height = cells.iter().map(Vec::len).max().unwrap_or(0);
            for at in 0..height {
                out += &self.line(row, &cells, &widths, at);
            }
        }
        out
    }

    /// Returns one line of a row.
    fn line(&self, row: &[Cell], cells: &[Vec<String>], widths: &[usize], at: usize) -> String {
        let mut line = String::new();
        let mut pending = 0;
        for (column, lines) in cells.iter().enumerate() {
            let text = lines.get(at).map_or("", String::as_str);
            let room = widths[column].saturating_sub(wide(text));
            let is_right = self.right.get(column).is_some_and(|right| *right);
            if text.is_empty() {
                pending += room + GAP;
                continue;
            }
            let before = if is_right { room } else { 0 };
            line += &" ".repeat(pending + before);
            line += &paint(row[column].style, text);
            pending = room - before + GAP;
        }
        line + "\n"
    }

    /// Returns the width of each column: as wide as its widest cell, unless the words of the widest columns have to give
    /// way.
    fn widths(&self, width: usize) -> Vec<usize> {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let of = |column: usize, measure: &dyn Fn(&str) -> usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(column));
            cells.map(|cell| measure(&cell.text)).max().unwrap_or(0)
        };
        let longest_word = |text: &str| text.split(' ').map(wide).max().unwrap_or(0);
        let least: Vec<_> = (0..columns)
            .map(|column| of(column, &longest_word))
            .collect();
        let mut widths: Vec<_> = (0..columns).map(|column| of(column, &wide)).collect();
        let gaps = GAP * columns.saturating_sub(1);
        while widths.iter().sum::<usize>() + gaps > width {
            let widest = (0..columns).filter(|column| widths[*column] > least[*column]);
            let Some(widest) = widest.max_by_key(|column| widths[*column]) else {
                break;
            };
            widths[widest] -= 1;
        }
        widths
    }
}

/// Returns how many places of a terminal the text takes; colours take none.
fn wide(text: &str) -> usize {
    anstream::adapter::strip_str(text)
        .map(UnicodeWidthStr::width)
        .sum()
}

/// Returns the lines of a text, broken between words.
fn broken(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let last = lines.len() - 1;
        if lines[last].is_empty() {
            lines[last] = word.to_owned();
        } else if wide(&lines[last]) + 1 + wide(word) <= width {
            lines[last] += &format!(" {word}");
        } else {
            lines.push(word.to_owned());
        }
    }
    lines
}

/// Returns lines of at most `width` characters, broken between words; those behind the first are indented.
pub(crate) fn wrapped(text: &str, width: usize, indent: usize) -> String {
    let body = text.trim_start();
    let lead = text.len() - body.len();
    let lines = broken(body, width.saturating_sub(lead.max(indent)));
    let line = |(at, line): (usize, &String)| {
        let before = " ".repeat(if at == 0 { lead } else { indent });
        format!("{before}{line}\n")
    };
    lines.iter().enumerate().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let mut table = Table::new(&["name", ">price", "why"]);
        table.row(["one", "$1.00", "a short one"]);
        table.row(["a-name/that-is-long", "$10.00", "words that go on and on"]);
        table
    }

    fn plain(text: &str) -> String {
        anstream::adapter::strip_str(text).to_string()
    }

    #[test]
    fn a_table_fits_and_breaks_between_words_only() {
        let wide = "name                  price  why\none                   $1.00  a short one\na-name/that-is-long  $10.00  words that go on and on\n";
        assert_eq!(plain(&table().text(80)), wide);
        let narrow = "name                  price  why\none                   $1.00  a short\n                             one\na-name/that-is-long  $10.00  words\n                             that go\n                             on and\n                             on\n";
        assert_eq!(plain(&table().text(36)), narrow);
        // What cannot be narrower stays whole.
        assert!(plain(&table().text(5)).contains("a-name/that-is-long  $10.00  words\n"));
    }

    #[test]
    fn colours_take_no_room() {
        let mut table = Table::new(&["a", "b"]);
        table.row([Cell::new(STRONG, "x"), "y".into()]);
        assert_eq!(
            table.text(80),
            "\u{1b}[1ma\u{1b}[0m  \u{1b}[1mb\u{1b}[0m\n\u{1b}[1mx\u{1b}[0m  y\n"
        );
    }

    #[test]
    fn a_long_line_goes_on_below_its_indent() {
        let text = "  one two three four";
        assert_eq!(wrapped(text, 80, 4), "  one two three four\n");
        assert_eq!(wrapped(text, 12, 4), "  one two\n    three\n    four\n");
    }
}
