//! How is a JSON file (a schema) read so that every value knows its place?
//!
//! RFC 8259, with duplicate keys as errors. `serde_json` has no places; the tests compare the two.

use std::collections::HashMap;

use crate::diagnostic::{Diagnostic, Sink};
use crate::node::{Entry, Kind, Node};
use crate::source::{SourceId, Sources, Span};

/// Deeper nesting is an error rather than a stack overflow.
const MAX_DEPTH: usize = 128;

/// Reads a JSON file. Duplicate keys are reported and the rest is read on; broken syntax yields nothing.
pub(crate) fn parse(sources: &Sources, source: SourceId, sink: &mut Sink) -> Option<Node> {
    let text = &sources.get(source).text;
    let mut reader = Reader {
        text,
        at: 0,
        source,
        duplicates: Vec::new(),
    };
    let parsed = reader.document();
    for duplicate in reader.duplicates {
        sink.push(duplicate);
    }
    match parsed {
        Ok(node) => Some(node),
        Err(fault) => {
            let at = Span::new(source, fault.at..fault.at + 1);
            let help = "the file has to hold one JSON value (RFC 8259)";
            sink.push(
                Diagnostic::error("json-syntax", fault.message)
                    .at(at)
                    .help(help),
            );
            None
        }
    }
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    source: SourceId,
    duplicates: Vec<Diagnostic>,
}

struct Fault {
    at: usize,
    message: String,
}

impl Reader<'_> {
    fn document(&mut self) -> Result<Node, Fault> {
        let node = self.value(0)?;
        self.blanks();
        match self.peek() {
            None => Ok(node),
            Some(_) => Err(self.fault("the file goes on after its JSON value")),
        }
    }

    fn value(&mut self, depth: usize) -> Result<Node, Fault> {
        self.blanks();
        let start = self.at;
        if depth > MAX_DEPTH {
            return Err(self.fault(format!("nesting is deeper than {MAX_DEPTH} levels")));
        }
        let kind = match self.peek() {
            Some(b'{') => self.map(depth)?,
            Some(b'[') => self.list(depth)?,
            Some(b'"') => Kind::String(self.string()?),
            Some(b'-' | b'0'..=b'9') => self.number()?,
            Some(b'a'..=b'z') => self.word()?,
            Some(_) => return Err(self.fault("expected a JSON value")),
            None => return Err(self.fault("the file ends where a JSON value is expected")),
        };
        Ok(Node {
            span: Span::new(self.source, start..self.at),
            kind,
        })
    }

    fn map(&mut self, depth: usize) -> Result<Kind, Fault> {
        self.at += 1;
        let mut entries: Vec<Entry> = Vec::new();
        let mut seen: HashMap<String, Span> = HashMap::new();
        loop {
            self.blanks();
            match self.peek() {
                Some(b'}') if entries.is_empty() => break,
                Some(b'"') => {}
                _ => return Err(self.fault("expected a key in double quotes")),
            }
            let start = self.at;
            let key = self.string()?;
            let key_span = Span::new(self.source, start..self.at);
            self.blanks();
            self.expect(b':', "expected `:` after the key")?;
            let value = self.value(depth + 1)?;
            match seen.get(&key) {
                Some(first) => self.duplicates.push(duplicate_key(&key, key_span, *first)),
                None => {
                    seen.insert(key.clone(), key_span);
                    entries.push(Entry {
                        key,
                        key_span,
                        value,
                    });
                }
            }
            if !self.goes_on(b'}')? {
                return Ok(Kind::Map(entries));
            }
        }
        self.at += 1;
        Ok(Kind::Map(entries))
    }

    fn list(&mut self, depth: usize) -> Result<Kind, Fault> {
        self.at += 1;
        let mut items = Vec::new();
        self.blanks();
        if self.peek() == Some(b']') {
            self.at += 1;
            return Ok(Kind::List(items));
        }
        loop {
            items.push(self.value(depth + 1)?);
            if !self.goes_on(b']')? {
                return Ok(Kind::List(items));
            }
        }
    }

    /// Steps over a comma (there is more) or the closing bracket (there is not).
    fn goes_on(&mut self, close: u8) -> Result<bool, Fault> {
        self.blanks();
        let more = match self.peek() {
            Some(b',') => true,
            Some(byte) if byte == close => false,
            _ => return Err(self.fault(format!("expected `,` or `{}`", char::from(close)))),
        };
        self.at += 1;
        Ok(more)
    }

    fn number(&mut self) -> Result<Kind, Fault> {
        let start = self.at;
        self.skip(|byte| byte == b'-');
        let whole = self.digits()?;
        if whole > 1 && self.text[start..].trim_start_matches('-').starts_with('0') {
            self.at = start;
            return Err(self.fault("a number has no leading zeros"));
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.digits()?;
        }
        Ok(Kind::Number(self.text[start..self.at].to_owned()))
    }

    fn digits(&mut self) -> Result<usize, Fault> {
        let start = self.at;
        self.skip(|byte| byte.is_ascii_digit());
        if self.at == start {
            Err(self.fault("expected a digit"))
        } else {
            Ok(self.at - start)
        }
    }

    fn word(&mut self) -> Result<Kind, Fault> {
        let start = self.at;
        self.skip(|byte| byte.is_ascii_alphanumeric());
        match &self.text[start..self.at] {
            "null" => Ok(Kind::Null),
            "true" => Ok(Kind::Bool(true)),
            "false" => Ok(Kind::Bool(false)),
            other => {
                let message = format!("`{other}` is no JSON value");
                Err(Fault { at: start, message })
            }
        }
    }

    fn string(&mut self) -> Result<String, Fault> {
        self.at += 1;
        let mut out = String::new();
        loop {
            let rest = &self.text[self.at..];
            let stop = rest
                .find(|c: char| c == '"' || c == '\\' || c < ' ')
                .unwrap_or(rest.len());
            out += &rest[..stop];
            self.at += stop;
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(out);
                }
                Some(b'\\') => out.push(self.escape()?),
                Some(_) => {
                    return Err(self.fault("a control character in a string has to be escaped"));
                }
                None => return Err(self.fault("the file ends within a string")),
            }
        }
    }

    fn escape(&mut self) -> Result<char, Fault> {
        let start = self.at;
        self.at += 1;
        let escape = self.peek();
        self.at += usize::from(escape.is_some_and(|byte| byte.is_ascii()));
        Ok(match escape {
            Some(byte @ (b'"' | b'\\' | b'/')) => char::from(byte),
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => self.unicode_escape(start)?,
            _ => {
                return Err(Fault {
                    at: start,
                    message: "unknown escape in a string".to_owned(),
                });
            }
        })
    }

    fn unicode_escape(&mut self, start: usize) -> Result<char, Fault> {
        let lone = || Fault {
            at: start,
            message: "half of a surrogate pair in a string".to_owned(),
        };
        let high = self.hex()?;
        if !(0xd800..0xe000).contains(&high) {
            return char::from_u32(high).ok_or_else(lone);
        }
        if high >= 0xdc00 || !self.text[self.at..].starts_with("\\u") {
            return Err(lone());
        }
        self.at += 2;
        let low = self.hex()?;
        if !(0xdc00..0xe000).contains(&low) {
            return Err(lone());
        }
        char::from_u32(0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00)).ok_or_else(lone)
    }

    fn hex(&mut self) -> Result<u32, Fault> {
        let digits = self.text.get(self.at..self.at + 4).unwrap_or("");
        let digits = Some(digits).filter(|text| text.bytes().all(|byte| byte.is_ascii_hexdigit()));
        let value = digits.and_then(|text| u32::from_str_radix(text, 16).ok());
        let value = value.ok_or_else(|| self.fault("expected four hexadecimal digits"))?;
        self.at += 4;
        Ok(value)
    }

    fn blanks(&mut self) {
        self.skip(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r'));
    }

    fn skip(&mut self, wanted: impl Fn(u8) -> bool) {
        while self.peek().is_some_and(&wanted) {
            self.at += 1;
        }
    }

    fn expect(&mut self, byte: u8, message: &str) -> Result<(), Fault> {
        if self.peek() == Some(byte) {
            self.at += 1;
            return Ok(());
        }
        Err(self.fault(message))
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn fault(&self, message: impl Into<String>) -> Fault {
        Fault {
            at: self.at,
            message: message.into(),
        }
    }
}

/// The finding for a key that a map has twice; YAML and JSON report it alike.
pub(crate) fn duplicate_key(key: &str, second: Span, first: Span) -> Diagnostic {
    Diagnostic::error(
        "duplicate-key",
        format!("the key `{key}` stands twice in one map"),
    )
    .at_label(second, "second time")
    .also(first, "first time")
    .help("keep one of the two")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Option<String> {
        let mut sources = Sources::default();
        let source = sources.add("t.json".to_owned(), text.to_owned());
        let mut sink = Sink::default();
        let node = parse(&sources, source, &mut sink);
        if sink.has_errors() {
            None
        } else {
            node.map(|node| node.to_json())
        }
    }

    fn same_as_serde_json(text: &str) {
        let theirs = serde_json::from_str::<serde_json::Value>(text).ok();
        let ours = read(text).map(|json| {
            serde_json::from_str::<serde_json::Value>(&json).expect("what we write is JSON")
        });
        assert_eq!(ours, theirs, "{text:?}");
    }

    #[test]
    fn reads_what_serde_json_reads() {
        let cases = [
            "{}",
            "[]",
            " [1, -2.5e+3, 0, 10, 0.5] ",
            r#"{"a":{"b":[null,true,false]}}"#,
            r#""\u00e9\ud83d\ude00\/\b\f\n\r\t\"\\ ü日""#,
            "01",
            "-",
            "1.",
            ".5",
            "1e",
            "+1",
            "nul",
            "{a:1}",
            "[1,]",
            "{\"a\":1,}",
            "[1 2]",
            "\"\\x\"",
            "\"\\ud800\"",
            "\"\\udc00\\ud800\"",
            "\"a\nb\"",
            "\"abc",
            "",
            " ",
            "1 2",
            "\"\\u12\"",
            "\"\\u+123\"",
            "\"\\é\"",
            "[",
            "{\"a\"",
            "-01",
            "00",
        ];
        cases.iter().for_each(|case| same_as_serde_json(case));
    }

    #[test]
    fn deep_nesting_is_an_error_and_no_crash() {
        assert_eq!(read(&"[".repeat(100_000)), None);
    }

    #[test]
    fn a_duplicate_key_is_an_error() {
        assert_eq!(read(r#"{"a":1,"\u0061":2}"#), None);
    }

    proptest::proptest! {
        #[test]
        fn never_disagrees_with_serde_json(text in r#"[\[\]{}:,"0-9a-du\\. e+-]{0,12}"#) {
            let theirs = serde_json::from_str::<serde_json::Value>(&text);
            // serde_json rounds huge exponents to an error, and keeps the last of two equal keys.
            if !text.contains('e') && !text.contains("\":") {
                proptest::prop_assert_eq!(read(&text).is_some(), theirs.is_ok(), "{}", text);
            }
        }
    }
}
