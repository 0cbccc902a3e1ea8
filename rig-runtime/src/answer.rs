//! Which JSON value does a model's text hold?
//!
//! The text as it stands; else without its reasoning; else the single code fence around it or in its prose; else the
//! single object or array in its prose. Exactly one value must result, and no object in it may repeat a key. The text is
//! never altered before it is parsed.
//!
//! Prose may hold brackets as well: `[1]` or `{}`. Who knows the route's schema chooses among the values that were
//! found: one that does not conform is passed over where another does.

mod brackets;
mod prose;
mod reasoning;

use std::fmt;

use crate::json::{Broken, Fault, Reader};

/// Why a text holds no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Unreadable {
    /// There is no JSON value in it, for this reason, which quotes nothing of the text.
    NoJson(String),
    /// There is more than one.
    Several,
    /// An object repeats this key.
    RepeatedKey(String),
    /// The text ends within its reasoning, which is not an answer.
    UnclosedReasoning,
}

/// The values of a text that may be its answer.
#[derive(Debug)]
pub(crate) struct Found<'t> {
    /// What comes first counts more: fences, then prose.
    groups: Groups<'t>,
    /// Why the whole text is not JSON.
    reason: Unreadable,
}

/// The values of code fences, and the objects and arrays of prose.
type Groups<'t> = [Vec<Value<'t>>; 2];

/// A value as it is written, or why it is none.
type Value<'t> = Result<&'t str, Unreadable>;

/// Returns the values of a model's text that may be its answer.
///
/// # Errors
///
/// When the text ends within its reasoning.
pub(crate) fn read(text: &str) -> Result<Found<'_>, Unreadable> {
    let reason = match whole(text) {
        Ok(value) => return Ok(Found::one(value)),
        Err(reason) => reason,
    };
    let spoken = reasoning::left_out(text).ok_or(Unreadable::UnclosedReasoning)?;
    let mut groups = [Vec::new(), Vec::new()];
    if let Some((last, before)) = spoken.pieces.split_last() {
        before
            .iter()
            .for_each(|piece| prose::scan(piece, &mut groups));
        // What is left once the reasoning is out may be a single number or string as well.
        if (spoken.is_cut || before.is_empty())
            && groups.iter().all(Vec::is_empty)
            && let Ok(value) = whole(last)
        {
            return Ok(Found::one(value));
        }
        prose::scan(last, &mut groups);
    }
    Ok(Found { groups, reason })
}

impl<'t> Found<'t> {
    fn one(value: &'t str) -> Self {
        Self {
            groups: [vec![Ok(value)], Vec::new()],
            reason: Unreadable::Several,
        }
    }

    /// Returns the one value that is the answer. Where there are several, those that do not conform are passed over, if
    /// there is a schema to conform to. A single value is the answer whether it conforms or not.
    ///
    /// # Errors
    ///
    /// When there is none, or more than one, or the one repeats a key.
    pub(crate) fn the_one(
        self,
        conforms: Option<&dyn Fn(&str) -> bool>,
    ) -> Result<&'t str, Unreadable> {
        let count: usize = self.groups.iter().map(Vec::len).sum();
        if let Some(conforms) = conforms.filter(|_| count > 1) {
            for group in &self.groups {
                let values = group.iter().filter_map(|value| value.as_ref().ok());
                let mut good = values.filter(|value| conforms(value));
                match (good.next(), good.next()) {
                    (Some(only), None) => return Ok(only),
                    (Some(_), Some(_)) => return Err(Unreadable::Several),
                    (None, _) => {}
                }
            }
        }
        let mut groups = self.groups.into_iter().filter(|group| !group.is_empty());
        match groups.next() {
            None => Err(self.reason),
            Some(mut group) => match group.pop() {
                Some(only) if group.is_empty() => only,
                _ => Err(Unreadable::Several),
            },
        }
    }
}

impl fmt::Display for Unreadable {
    /// Says what is wrong without a word of the text.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoJson(reason) => write!(f, "the answer is not one JSON value: {reason}"),
            Self::Several => f.write_str("the answer holds more than one JSON value"),
            Self::RepeatedKey(_) => f.write_str("the answer repeats a key within one object"),
            Self::UnclosedReasoning => f.write_str("the answer ends within its reasoning"),
        }
    }
}

/// Returns the value of a text that is one JSON value and nothing else.
fn whole(text: &str) -> Value<'_> {
    let (value, after) = prefix(text).map_err(|broken| refused(text, &broken.fault))?;
    if after.trim_start().is_empty() {
        Ok(value)
    } else {
        let reason = "something follows the first value".to_owned();
        Err(Unreadable::NoJson(reason))
    }
}

/// Returns the value that a text starts with, and what follows it.
fn prefix(text: &str) -> Result<(&str, &str), Broken> {
    let mut reader = Reader::new(text);
    reader.check()?;
    Ok(text.split_at(reader.at()))
}

/// Says why a text does not start with a value.
fn refused(text: &str, fault: &Fault) -> Unreadable {
    if let Fault::Repeated(_) = fault {
        return Unreadable::RepeatedKey(fault.to_string());
    }
    let text = text.trim_start();
    let begins_a_value = |c: char| "{[\"-".contains(c) || c.is_ascii_digit();
    // Of a text that begins like prose the parser would say that a value is missing.
    Unreadable::NoJson(match text {
        "" => "it is empty".to_owned(),
        _ if text.starts_with(begins_a_value) => fault.describe(text),
        _ => "it does not begin like one".to_owned(),
    })
}

#[cfg(test)]
mod tests;
