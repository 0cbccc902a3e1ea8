//! Does a string hold a match of an ECMA-262 pattern?
//!
//! Only whether, never where: so a pattern becomes an automaton (`parse` → `program` → `search`) that visits each
//! of its states at most once per character, whatever the pattern and the text. There is no backtracking to run
//! away. Look-ahead and look-behind start a search of their own; a budget of steps bounds those.
//!
//! Patterns have the `u` flag's meaning, but forgive `\-`, `\@`, `{` and `]` where they can only mean themselves.
//! Back-references (`\1`) are refused: no automaton has them.

mod class;
mod example;
mod parse;
mod program;
mod search;

#[cfg(test)]
mod tests;

use program::Program;

/// A pattern, ready to search.
#[derive(Clone, Debug)]
pub struct Pattern(Program);

/// Why a text is no pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadPattern {
    /// What is wrong.
    pub reason: String,
    /// Where, in characters.
    pub at: usize,
}

impl Pattern {
    /// Reads a pattern.
    ///
    /// # Errors
    ///
    /// When it is none, or one of those that are not supported.
    pub fn new(pattern: &str) -> Result<Self, BadPattern> {
        let (tree, length) = parse::parse(pattern)?;
        program::compile(&tree).map(Self).ok_or(BadPattern {
            reason: "it repeats more than can be searched for".to_owned(),
            at: length,
        })
    }

    /// Returns whether the text holds a match; `None` if that takes too many steps to say.
    #[must_use]
    pub fn is_match(&self, text: &str) -> Option<bool> {
        search::is_match(&self.0, text)
    }
}
