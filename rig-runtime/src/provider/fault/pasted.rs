//! Which object did somebody paste into a text?
//!
//! Gateways put the answer of their upstream into a message: as JSON, as JSON that is escaped once more, as Python prints
//! a dictionary or bytes, and cut off at some length. All of these are read. What is no object of names and values is
//! left alone.

use serde_json::{Map, Value};

/// How much of a text is read, in bytes.
const LONGEST: usize = 64 << 10;

/// How many opening braces are tried.
const MOST_STARTS: usize = 8;

/// How often an object may have been escaped.
const MOST_ESCAPES: usize = 3;

/// How deep an object that is not strict JSON may nest.
const DEEPEST: usize = 32;

/// Returns the text before the first object that could be an error, and the object.
pub(super) fn object_in(text: &str) -> Option<(&str, Value)> {
    let text = &text[..text.floor_char_boundary(LONGEST)];
    let starts = text.match_indices('{').take(MOST_STARTS);
    let mut objects =
        starts.filter_map(|(at, _)| Some((before(&text[..at]), object(&text[at..])?)));
    objects.next()
}

/// Returns what stands before an object, without what leads over to it.
fn before(text: &str) -> &str {
    let text = text.trim_end_matches(['"', '\'', '`', '\\', '[', '(']);
    // Python prints bytes with a letter in front.
    let text = text.strip_suffix(" b").unwrap_or(text);
    text.trim_end_matches([' ', '-', ':', '=', ',', '\n'])
}

/// Returns the object that a text starts with.
fn object(text: &str) -> Option<Value> {
    let mut text = std::borrow::Cow::from(text);
    for _ in 0..=MOST_ESCAPES {
        let strict = serde_json::Deserializer::from_str(&text)
            .into_iter::<Value>()
            .next();
        let found = match strict {
            Some(Ok(value)) => Some(value),
            _ => Reader::new(&text).value(0),
        };
        if let Some(found) = found.filter(is_told) {
            return Some(found);
        }
        text = unescaped(&text)?.into();
    }
    None
}

/// Returns whether a value has a field that errors have.
pub(super) fn is_told(value: &Value) -> bool {
    const FIELDS: [&str; 8] = [
        "error",
        "errors",
        "message",
        "detail",
        "code",
        "type",
        "status",
        "innererror",
    ];
    FIELDS.iter().any(|field| !value[*field].is_null())
}

/// Returns a text with the escapes of quotes, line breaks and backslashes undone; `None` where there are none.
fn unescaped(text: &str) -> Option<String> {
    let mut plain = String::with_capacity(text.len());
    let mut chars = text.chars();
    let mut is_changed = false;
    while let Some(c) = chars.next() {
        let escaped = match c {
            '\\' => chars.clone().next(),
            _ => None,
        };
        let Some(escaped) = escaped.filter(|c| matches!(c, 'n' | 'r' | 't' | '"' | '\'' | '\\'))
        else {
            plain.push(c);
            continue;
        };
        chars.next();
        is_changed = true;
        plain.push(match escaped {
            'n' | 'r' | 't' => ' ',
            c => c,
        });
    }
    is_changed.then_some(plain)
}

/// Reads what is nearly JSON.
struct Reader<'a> {
    rest: &'a str,
}

impl<'a> Reader<'a> {
    fn new(text: &'a str) -> Self {
        Self { rest: text }
    }

    /// Reads a value. One that the text breaks off in is read as far as it goes.
    fn value(&mut self, depth: usize) -> Option<Value> {
        if depth == DEEPEST {
            return None;
        }
        match self.peek()? {
            '{' => self.object(depth),
            '[' | '(' => self.list(depth),
            '"' | '\'' => Some(Value::String(self.string())),
            'b' | 'u' | 'r' if self.rest[1..].starts_with(['"', '\'']) => {
                self.skip('b');
                self.skip('u');
                self.skip('r');
                Some(Value::String(self.string()))
            }
            _ => Some(self.word()),
        }
    }

    fn object(&mut self, depth: usize) -> Option<Value> {
        let mut members = Map::new();
        self.skip('{');
        while let Some(next) = self.peek() {
            match next {
                '}' => {
                    self.skip('}');
                    break;
                }
                ',' => self.skip(','),
                '"' | '\'' => {
                    let name = self.string();
                    match self.peek() {
                        Some(':') => self.skip(':'),
                        Some(_) => return None,
                        None => break,
                    }
                    let Some(value) = self.value(depth + 1) else {
                        break;
                    };
                    members.insert(name, value);
                }
                _ => return None,
            }
        }
        Some(Value::Object(members))
    }

    fn list(&mut self, depth: usize) -> Option<Value> {
        let mut items = Vec::new();
        self.rest = &self.rest[1..];
        while let Some(next) = self.peek() {
            match next {
                ']' | ')' => {
                    self.rest = &self.rest[1..];
                    break;
                }
                ',' => self.skip(','),
                _ => items.push(self.value(depth + 1)?),
            }
        }
        Some(Value::Array(items))
    }

    /// Reads a text in quotes, and undoes its escapes.
    fn string(&mut self) -> String {
        let mut chars = self.rest.chars();
        let quote = chars.next();
        let mut text = String::new();
        while let Some(c) = chars.next() {
            match c {
                c if Some(c) == quote => break,
                '\\' => match chars.next() {
                    Some('n' | 'r' | 't') => text.push(' '),
                    Some('u') => text.extend(code_point(&mut chars, 4)),
                    Some('x') => text.extend(code_point(&mut chars, 2)),
                    Some(c) => text.push(c),
                    None => {}
                },
                c => text.push(c),
            }
        }
        self.rest = chars.as_str();
        text
    }

    /// Reads a number, a constant, or what else stands up to the next mark.
    fn word(&mut self) -> Value {
        let ends = |c: char| matches!(c, ',' | '}' | ']' | ')' | ':' | '"' | '\'' | '{' | '[');
        let end = self.rest.find(ends).unwrap_or(self.rest.len());
        // What is none of this is passed over, so that reading goes on.
        let end = end.max(self.rest.chars().next().map_or(0, char::len_utf8));
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        match word.trim() {
            "True" | "true" => true.into(),
            "False" | "false" => false.into(),
            "None" | "null" => Value::Null,
            word => word
                .parse::<u64>()
                .map_or_else(|_| word.into(), Value::from),
        }
    }

    /// Returns the next character that is not white space.
    fn peek(&mut self) -> Option<char> {
        self.rest = self.rest.trim_start();
        self.rest.chars().next()
    }

    fn skip(&mut self, mark: char) {
        self.rest = self.rest.strip_prefix(mark).unwrap_or(self.rest);
    }
}

/// Reads a character by its number in this many hexadecimal digits.
fn code_point(chars: &mut std::str::Chars<'_>, digits: usize) -> Option<char> {
    let text = chars.as_str();
    let number = u32::from_str_radix(text.get(..digits)?, 16).ok()?;
    *chars = text[digits..].chars();
    char::from_u32(number)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn an_object_is_found_however_it_was_written() {
        let error = json!({ "error": { "message": "it's \"no\"", "code": 429, "param": null } });
        let json = error.to_string();
        let escaped = json!(json).to_string();
        let ways = [
            json.clone(),
            escaped.clone(),
            json!(escaped).to_string(),
            "{'error': {'message': 'it\\'s \"no\"', 'code': 429, 'param': None}}".to_owned(),
            "{'error': {'message': \"it's \\\"no\\\"\", 'code': 429, 'param': None,}}".to_owned(),
            json.replace(',', ", "),
        ];
        for way in ways {
            for (start, end) in [("up: ", " and so on"), ("up - b'", "'"), ("", "")] {
                let text = format!("{start}{way}{end}");
                let (before, found) = object_in(&text).unwrap_or_else(|| panic!("{text}"));
                assert_eq!(found, error, "{text}");
                assert_eq!(before, if start.is_empty() { "" } else { "up" }, "{text}");
            }
        }
    }

    #[test]
    fn an_object_that_breaks_off_is_read_as_far_as_it_goes() {
        for text in [
            r#"{"error": {"code": "insufficient_quota", "message": "no mon"#,
            r#"{"error": {"code": "insufficient_quota", "mess"#,
            r#"{"error": {"code": "insufficient_quota""#,
            "{'error': {'code': 'insufficient_quota', 'a': [1, {",
        ] {
            let (_, found) = object_in(text).unwrap();
            assert_eq!(found["error"]["code"], "insufficient_quota", "{text}");
        }
    }

    #[test]
    fn braces_in_prose_are_no_object() {
        for text in [
            "no such field {name}",
            "{",
            "{}",
            "{{code}}",
            "use {\"a\": 1}",
            "{'note': 'insufficient_quota'}",
            "nothing",
        ] {
            assert_eq!(object_in(text), None, "{text}");
        }
        let (before, found) = object_in("in {x}: {\"code\": 1}").unwrap();
        assert_eq!((before, found), ("in {x}", json!({ "code": 1 })));
    }

    proptest! {
        // Whatever comes is read in the time that its length takes.
        #[test]
        fn any_text_is_read(text in r#"(?s)[{}\[\]()"':,\\ nux0a-cé]{0,200}"#, deep in 0..300_usize) {
            let _ = object_in(&text);
            let _ = object_in(&("{'error':".repeat(deep) + &text));
            let _ = object_in(&(r#"{"error":"#.repeat(deep) + &text));
        }
    }
}
