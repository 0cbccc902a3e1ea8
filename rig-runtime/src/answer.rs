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
                Unreadable::NoJson(error.to_string())
            }
        }),
        None => Err(Unreadable::NoJson("it is empty".to_owned())),
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
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn values(cases: &[(&str, Value)]) {
        for (text, value) in cases {
            assert_eq!(read(text).as_ref(), Ok(value), "{text}");
        }
    }

    // K5: the text as it stands, e.g. with fences and tags in its strings.
    #[test]
    fn what_parses_as_it_stands_is_not_altered() {
        values(&[
            (r#"{"a": 1}"#, json!({"a": 1})),
            ("\n\n  \"text\"  \n", json!("text")),
            ("-0.5", json!(-0.5)),
            ("null", json!(null)),
            (
                r#"{"snippet": "```python\nprint(\"}\")\n```"}"#,
                json!({"snippet": "```python\nprint(\"}\")\n```"}),
            ),
            (
                r#"{"answer": "write <think>x</think> here"}"#,
                json!({"answer": "write <think>x</think> here"}),
            ),
        ]);
    }

    // K5
    #[test]
    fn closed_reasoning_before_the_answer_is_left_out() {
        values(&[
            (
                "<think>\nMaybe {\"a\": 0}.\n</think>\n\n{\"a\": 1}\n",
                json!({"a": 1}),
            ),
            (
                "<think>[1] {\"a\":0}</think>\n```json\n{\"a\": 1}\n```",
                json!({"a": 1}),
            ),
            ("<think>a</think><thinking>b</thinking> 42", json!(42)),
            ("Maybe {\"a\": 0}, no.</think>{\"a\": 1}", json!({"a": 1})),
            (
                "<think>a <think>{\"a\":0}</think> b</think> {\"a\": 1}",
                json!({"a": 1}),
            ),
            (
                "Well. <think>{\"a\":0}</think> So: {\"a\": 1}",
                json!({"a": 1}),
            ),
            (
                "So: {\"a\": \"<think>x</think>\"}",
                json!({"a": "<think>x</think>"}),
            ),
        ]);
    }

    // K5
    #[test]
    fn the_single_fence_is_opened_whatever_its_strings_hold() {
        values(&[
            ("```json\n{\"a\": 1}\n```", json!({"a": 1})),
            ("```\n[1]\n```", json!([1])),
            (
                "```json\n{\"a\": \"```x```\"}\n```",
                json!({"a": "```x```"}),
            ),
            ("```json{\"a\": 1}```", json!({"a": 1})),
            ("Here you are:\n````json\n\"x\"\n````\nBye [1].", json!("x")),
            (
                "Run\n```sh\nls {}\n```\nthen\n```json\n{\"a\": 1}\n```",
                json!({"a": 1}),
            ),
            ("```json\n{\"a\": 1}", json!({"a": 1})),
        ]);
    }

    // K5
    #[test]
    fn the_single_object_or_array_in_prose_is_the_answer() {
        values(&[
            (
                "Sure! {\"a\": {\"b\": [1]}} Anything else?",
                json!({"a": {"b": [1]}}),
            ),
            ("The list: [1, 2]", json!([1, 2])),
            ("As {name} said [see below]: {\"a\": 1}", json!({"a": 1})),
            ("It is `{\"a\": 1}`.", json!({"a": 1})),
        ]);
    }

    // K5
    #[test]
    fn everything_else_holds_no_answer() {
        let no_json = |text: &str| match read(text) {
            Err(Unreadable::NoJson(_)) => {}
            other => panic!("{text}: {other:?}"),
        };
        no_json("");
        no_json("I cannot answer that.");
        no_json(r#"{"a": 1"#);
        no_json(r#"{"x": {"a": 1}, oops}"#);
        no_json(r#"{'a': {"b": 1}}"#);
        no_json(r#"Draft {"a": 1}</think>"#);
        no_json("```json\n{\"a\": 1}\n{\"a\": 2}\n```");
        assert_eq!(
            read("<think>\nI would say {\"a\": 1} but"),
            Err(Unreadable::UnclosedReasoning)
        );
        for several in [
            r#"{"a": 1}{"a": 2}"#,
            r#"[1] {"a": 1}"#,
            "```json\n1\n```\nor\n```json\n2\n```",
            r#"{"a": 0} <think>hm</think> {"a": 1}"#,
        ] {
            assert_eq!(read(several), Err(Unreadable::Several), "{several}");
        }
    }

    // K5
    #[test]
    fn a_repeated_key_is_refused_wherever_it_is() {
        for text in [
            r#"{"qty": 1, "name": "a", "qty": -1}"#,
            r#"{"a": [{"b": 1, "b": 1}]}"#,
            r#"Sure: {"a": 1, "a": 1}"#,
            "```json\n{\"a\": 1, \"a\": 2}\n```",
            r#"<think>x</think>{"a": 1, "\u0061": 2}"#,
        ] {
            assert!(
                matches!(read(text), Err(Unreadable::RepeatedKey(_))),
                "{text}"
            );
        }
    }

    #[test]
    fn deep_nesting_is_refused_and_not_a_stack_overflow() {
        let text = "[".repeat(100_000);
        assert!(matches!(read(&text), Err(Unreadable::NoJson(_))));
    }

    // Messages hold no word of the text.
    #[test]
    fn messages_quote_nothing() {
        for text in [r#"{"secret": 1, "secret": 2}"#, "secret", "{\"a\": secret}"] {
            let message = read(text).unwrap_err().to_string();
            assert!(!message.contains("secret"), "{message}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_without_panic(text in "[<>/a-z`{}\\[\\]\",:\\\\é 0-9\n]{0,60}|(<think>|</think>|```|json|\\{\"a\":1\\}|[ x\n]){0,12}") {
            let _ = read(&text);
        }

        #[test]
        fn a_value_survives_prose_fence_and_reasoning(key in "[a-z`<>{}\\[\\]]{0,9}", number: i64) {
            let value = json!({ key: number });
            for text in [
                format!("{value}"),
                format!("Here: {value}."),
                format!("```json\n{value}\n```"),
                format!("<think>{{</think>{value}"),
            ] {
                prop_assert_eq!(read(&text), Ok(value.clone()));
            }
        }
    }
}
