//! Which JSON value does a model's text hold?
//!
//! The text as it stands; else without reasoning blocks that were closed before it; else the single code
//! fence around it or in its prose; else the single object or array in its prose. Exactly one value must
//! result, and no object in it may repeat a key. The text is never altered before it is parsed.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::error::Category;
use serde_json::{Map, Number, Value};

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

/// Reads the one JSON value of a model's text.
pub(crate) fn read(text: &str) -> Result<Value, Unreadable> {
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
    fenced: Vec<Value>,
    /// The objects and arrays outside of fences.
    bare: Vec<Value>,
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

    fn the_one(mut self) -> Result<Option<Value>, Unreadable> {
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
fn whole(text: &str) -> Result<Value, Unreadable> {
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
fn prefix(text: &str) -> Result<(Value, &str), Unreadable> {
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<Unique>();
    match values.next() {
        Some(Ok(Unique(value))) => Ok((value, &text[values.byte_offset()..])),
        Some(Err(error)) => Err(match error.classify() {
            Category::Data => Unreadable::RepeatedKey(error.to_string()),
            Category::Io | Category::Syntax | Category::Eof => {
                Unreadable::NoJson(no_json(text, &error))
            }
        }),
        None => Err(Unreadable::NoJson("it is empty".to_owned())),
    }
}

/// Says why a text is no JSON. Of one that begins like prose the parser would say that an identifier is missing.
fn no_json(text: &str, error: &serde_json::Error) -> String {
    let begins_a_value = |c: char| "{[\"-".contains(c) || c.is_ascii_digit();
    if text.trim_start().starts_with(begins_a_value) {
        error.to_string()
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

/// A JSON value in which no object repeats a key.
struct Unique(Value);

impl<'de> Deserialize<'de> for Unique {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(UniqueVisitor).map(Self)
    }
}

struct UniqueVisitor;

impl<'de> Visitor<'de> for UniqueVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(Unique(item)) = items.next_element()? {
            list.push(item);
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some(key) = entries.next_key::<String>()? {
            if object.contains_key(&key) {
                return Err(A::Error::custom(format_args!(
                    "the key {key:?} is repeated"
                )));
            }
            let Unique(value) = entries.next_value()?;
            object.insert(key, value);
        }
        Ok(Value::Object(object))
    }
}

#[cfg(test)]
mod tests;
