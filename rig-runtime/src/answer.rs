//! Which JSON value does a model's text hold?
//!
//! The text as it stands; else without reasoning blocks that were closed before it; else the single code
//! fence around it or in its prose; else the single object or array in its prose. Exactly one value must
//! result, and no object in it may repeat a key. The text is never altered before it is parsed.

use std::fmt;

use crate::json::{Fault, Reader};

/// Why a text holds no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Unreadable {
    /// There is no JSON value in it, for this reason, which quotes nothing of the text.
    NoJson(String),
    /// There is more than one.
    Several,
    /// An object repeats this key.
    RepeatedKey(String),
    /// A reasoning block was not closed, so what is in it is no answer.
    UnclosedReasoning,
}

/// Returns the one JSON value of a model's text, as it is written there.
pub(crate) fn read(text: &str) -> Result<&str, Unreadable> {
    match whole(text) {
        Err(no_json @ Unreadable::NoJson(_)) => Scan::of(text)?.the_one()?.ok_or(no_json),
        decided => decided,
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

/// The names of the blocks in which models reason aloud.
const REASONING: [&str; 3] = ["think", "thinking", "reasoning"];

/// What was found in a text that is not JSON as it stands.
#[derive(Default)]
struct Scan<'a> {
    /// The text after the reasoning, if there was any before the first value.
    answer: Option<&'a str>,
    /// The values of code fences.
    fenced: Vec<&'a str>,
    /// The objects and arrays outside of fences.
    bare: Vec<&'a str>,
}

impl<'a> Scan<'a> {
    fn of(text: &'a str) -> Result<Self, Unreadable> {
        let mut scan = Self::default();
        let mut ahead = text;
        while let Some(at) = ahead.find(['<', '`', '{', '[']) {
            ahead = scan.take(&ahead[at..])?;
        }
        Ok(scan)
    }

    /// Takes what `text` starts with and returns what follows it.
    fn take(&mut self, text: &'a str) -> Result<&'a str, Unreadable> {
        for name in REASONING {
            if let Some(block) = tag(text, "<", name) {
                let after = after_close(block, name).ok_or(Unreadable::UnclosedReasoning)?;
                if self.fenced.is_empty() && self.bare.is_empty() {
                    self.answer = Some(after);
                }
                return Ok(after);
            }
            if let Some(after) = tag(text, "</", name) {
                *self = Self {
                    answer: Some(after),
                    ..Self::default()
                };
                return Ok(after);
            }
        }
        match text.as_bytes() {
            [b'`', b'`', b'`', ..] => self.fence(text.trim_start_matches('`')),
            [b'{' | b'[', ..] => self.brackets(text),
            _ => Ok(&text[1..]),
        }
    }

    /// Takes a code fence; `text` is what follows its opening backticks.
    fn fence(&mut self, text: &'a str) -> Result<&'a str, Unreadable> {
        let is_language = |c: char| c.is_ascii_alphanumeric() || "_+-".contains(c);
        let content = text.trim_start_matches(is_language);
        if let Some((value, after)) = if_json(prefix(content))? {
            let after = after.trim_start();
            if after.is_empty() || after.starts_with("```") {
                self.fenced.push(value);
                return Ok(after.trim_start_matches('`'));
            }
        }
        let close = content.find("```").map_or("", |at| &content[at..]);
        Ok(close.trim_start_matches('`'))
    }

    /// Takes an object or array; brackets that are no JSON are skipped with everything in them, since what is
    /// in them is not at the top level.
    fn brackets(&mut self, text: &'a str) -> Result<&'a str, Unreadable> {
        let Some((value, after)) = if_json(prefix(text))? else {
            return Ok(after_brackets(text));
        };
        self.bare.push(value);
        Ok(after)
    }

    fn the_one(mut self) -> Result<Option<&'a str>, Unreadable> {
        if let Some(answer) = self.answer
            && let Some(value) = if_json(whole(answer))?
        {
            return Ok(Some(value));
        }
        let found = if self.fenced.is_empty() {
            &mut self.bare
        } else {
            &mut self.fenced
        };
        let first = found.pop();
        if found.is_empty() {
            Ok(first)
        } else {
            Err(Unreadable::Several)
        }
    }
}

/// Returns what follows the tag that `text` starts with.
fn tag<'a>(text: &'a str, open: &str, name: &str) -> Option<&'a str> {
    text.strip_prefix(open)?
        .strip_prefix(name)?
        .strip_prefix('>')
}

/// Returns what follows the closing tag.
fn after_close<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let close = format!("</{name}>");
    text.split_once(&close).map(|(_, after)| after)
}

/// Returns what follows the bracket that closes the first one; nothing if none does. Brackets in strings do
/// not count.
fn after_brackets(text: &str) -> &str {
    let mut depth = 0_usize;
    let mut in_string = false;
    let mut bytes = text.bytes().enumerate();
    while let Some((at, byte)) = bytes.next() {
        match byte {
            b'"' => in_string = !in_string,
            b'\\' if in_string => {
                bytes.next();
            }
            b'{' | b'[' if !in_string => depth += 1,
            b'}' | b']' if !in_string => {
                depth -= 1;
                if depth == 0 {
                    return &text[at + 1..];
                }
            }
            _ => {}
        }
    }
    ""
}

/// Returns the value of a text that is one JSON value and nothing else.
fn whole(text: &str) -> Result<&str, Unreadable> {
    let (value, after) = prefix(text)?;
    if after.trim_start().is_empty() {
        Ok(value)
    } else {
        Err(Unreadable::NoJson(
            "something follows the first value".to_owned(),
        ))
    }
}

/// Returns the value that a text starts with, and what follows it.
fn prefix(text: &str) -> Result<(&str, &str), Unreadable> {
    let mut reader = Reader::new(text);
    if reader.peek().is_none() {
        return Err(Unreadable::NoJson("it is empty".to_owned()));
    }
    match reader.value(false) {
        Ok(_) => Ok(text.split_at(reader.at())),
        Err(fault @ Fault::Repeated(_)) => Err(Unreadable::RepeatedKey(fault.to_string())),
        Err(fault) => Err(Unreadable::NoJson(no_json(text, &fault))),
    }
}

/// Says why a text is no JSON. Of one that begins like prose the parser would say that a value is missing.
fn no_json(text: &str, fault: &Fault) -> String {
    let begins_a_value = |c: char| "{[\"-".contains(c) || c.is_ascii_digit();
    if text.trim_start().starts_with(begins_a_value) {
        fault.describe(text)
    } else {
        "it does not begin like one".to_owned()
    }
}

/// Turns "no JSON here" into `None`.
fn if_json<T>(read: Result<T, Unreadable>) -> Result<Option<T>, Unreadable> {
    match read {
        Ok(found) => Ok(Some(found)),
        Err(Unreadable::NoJson(_)) => Ok(None),
        Err(fault) => Err(fault),
    }
}

#[cfg(test)]
mod tests;
