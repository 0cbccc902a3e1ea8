//! How do rows become a table that fits the terminal?

use tabled::builder::Builder;
use tabled::settings::object::Columns;
use tabled::settings::peaker::Priority;
use tabled::settings::{Alignment, Padding, Style, Width};

use crate::output::{STRONG, paint};

/// Columns with a head, without lines; what does not fit is wrapped at words.
#[derive(Debug)]
pub(crate) struct Table {
    builder: Builder,
    right: Vec<usize>,
}

impl Table {
    /// Returns a table with these heads; one that begins with `>` has its column on the right.
    pub(crate) fn new(heads: &[&str]) -> Self {
        let right = |(at, head): (usize, &&str)| head.starts_with('>').then_some(at);
        let mut builder = Builder::default();
        builder.push_record(
            heads
                .iter()
                .map(|head| paint(STRONG, head.trim_start_matches('>'))),
        );
        Self {
            builder,
            right: heads.iter().enumerate().filter_map(right).collect(),
        }
    }

    /// Adds a row.
    pub(crate) fn row<T: Into<String>>(&mut self, cells: impl IntoIterator<Item = T>) {
        self.builder.push_record(cells);
    }

    /// Returns the text, no line of which is wider than `width` where the words allow it.
    pub(crate) fn text(self, width: usize) -> String {
        let mut table = self.builder.build();
        table
            .with(Style::empty())
            .with(Padding::new(0, 2, 0, 0))
            .with(
                Width::wrap(width)
                    .keep_words(true)
                    .priority(Priority::max(true)),
            );
        for column in self.right {
            table.modify(Columns::one(column), Alignment::right());
        }
        let text = table.to_string();
        let lines = text.lines().map(|line| format!("{}\n", line.trim_end()));
        lines.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(text: &str) -> String {
        anstream::adapter::strip_str(text).to_string()
    }

    #[test]
    fn a_table_fits_and_breaks_between_words() {
        let table = || {
            let mut table = Table::new(&["name", ">price", "why"]);
            table.row(["one", "$1.00", "a short one"]);
            table.row([
                "two",
                "$10.00",
                "words that go on and on until they are wrapped",
            ]);
            table
        };
        assert_eq!(
            plain(&table().text(80)),
            "name   price  why\none    $1.00  a short one\ntwo   $10.00  words that go on and on until they are wrapped\n"
        );
        let narrow = plain(&table().text(34));
        assert!(narrow.lines().all(|line| line.len() <= 34), "{narrow}");
        assert!(
            narrow.contains("two   $10.00  words that go on"),
            "{narrow}"
        );
    }
}
