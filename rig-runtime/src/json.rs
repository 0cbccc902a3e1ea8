//! How is JSON text read?
//!
//! RFC 8259 as one value after the other, from a text that is all there: so whoever reads can look ahead and come
//! back. No object repeats a key, nesting ends, and numbers keep their digits. It reads in one pass what
//! `serde_json` reads into a value first; the tests compare the two.

mod ahead;
mod text;

use std::borrow::Cow;
use std::fmt;

use rig_spec::Number;
use serde_json::{Map, Value};

pub(crate) use self::ahead::Broken;

/// Lists and objects nest no deeper than this.
pub(crate) const DEEPEST: u32 = 127;

/// Why a text was not read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// It is no JSON there.
    Syntax {
        /// Why not; says nothing of the text.
        reason: &'static str,
        /// Where, in bytes.
        at: usize,
    },
    /// An object repeats this key.
    Repeated(String),
    /// It does not conform to what it was read by.
    Refused,
    /// The type that it was read into expects this instead.
    Unfit(&'static str),
    /// The type that it was read into needs this property.
    Missing(&'static str),
}

/// A place in a text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reader<'t> {
    text: &'t str,
    at: usize,
    depth: u32,
}

/// What a value begins with; a scalar is there as a whole.
pub(crate) enum Token<'t> {
    Null,
    Bool(bool),
    /// The number, and how it is written.
    Number(Number, &'t str),
    Text(Cow<'t, str>),
    /// A list, after its bracket.
    List,
    /// An object, after its bracket.
    Object,
}

impl<'t> Reader<'t> {
    /// Returns a reader at the start of a text.
    pub(crate) fn new(text: &'t str) -> Self {
        Self {
            text,
            at: 0,
            depth: 0,
        }
    }

    /// Returns where it is, in bytes.
    pub(crate) fn at(&self) -> usize {
        self.at
    }

    /// Returns the byte that the next value begins with.
    #[inline]
    pub(crate) fn peek(&mut self) -> Option<u8> {
        let bytes = self.text.as_bytes();
        while let Some(byte) = bytes.get(self.at) {
            match byte {
                b' ' | b'\n' | b'\r' | b'\t' => self.at += 1,
                byte => return Some(*byte),
            }
        }
        None
    }

    /// Reads what the next value begins with.
    pub(crate) fn token(&mut self) -> Result<Token<'t>, Fault> {
        match self.peek() {
            Some(b'"') => self.string().map(Token::Text),
            Some(b'{') => self.enter().map(|()| Token::Object),
            Some(b'[') => self.enter().map(|()| Token::List),
            Some(b'-' | b'0'..=b'9') => {
                let (number, text) = self.number()?;
                Ok(Token::Number(number, text))
            }
            Some(b't') => self.word("true").map(|()| Token::Bool(true)),
            Some(b'f') => self.word("false").map(|()| Token::Bool(false)),
            Some(b'n') => self.word("null").map(|()| Token::Null),
            Some(_) => Err(self.fault("expected value")),
            None => Err(self.fault("EOF while parsing a value")),
        }
    }

    /// Returns whether a list goes on, before each of its items.
    pub(crate) fn has_item(&mut self, is_first: bool) -> Result<bool, Fault> {
        match self.peek() {
            Some(b']') => {
                self.leave();
                Ok(false)
            }
            Some(_) if is_first => Ok(true),
            Some(b',') => {
                self.at += 1;
                match self.peek() {
                    Some(b']') => Err(self.fault("trailing comma")),
                    _ => Ok(true),
                }
            }
            Some(_) => Err(self.fault("expected `,` or `]`")),
            None => Err(self.fault("EOF while parsing a list")),
        }
    }

    /// Steps over the end of an object, if it is there.
    #[inline]
    pub(crate) fn is_end_of_object(&mut self) -> bool {
        let is_end = self.peek() == Some(b'}');
        if is_end {
            self.leave();
        }
        is_end
    }

    /// Reads the next key of an object and its colon.
    pub(crate) fn key(&mut self, is_first: bool) -> Result<Cow<'t, str>, Fault> {
        match self.peek() {
            Some(b',') if !is_first => self.at += 1,
            Some(_) if is_first => {}
            Some(_) => return Err(self.fault("expected `,` or `}`")),
            None => return Err(self.fault("EOF while parsing an object")),
        }
        match self.peek() {
            Some(b'"') => {}
            Some(b'}') => return Err(self.fault("trailing comma")),
            Some(_) => return Err(self.fault("key must be a string")),
            None => return Err(self.fault("EOF while parsing an object")),
        }
        let key = self.string()?;
        match self.peek() {
            Some(b':') => self.at += 1,
            Some(_) => return Err(self.fault("expected `:`")),
            None => return Err(self.fault("EOF while parsing an object")),
        }
        Ok(key)
    }

    /// Reads the next key of an object and its colon, if they are written so. Else it stays where it is.
    #[inline]
    pub(crate) fn key_is(&mut self, written: &str, is_first: bool) -> bool {
        let start = self.at;
        let follows = is_first || self.peek() == Some(b',');
        if follows {
            self.at += usize::from(!is_first);
            self.peek();
            let rest = self.text.as_bytes().get(self.at..);
            if rest.is_some_and(|rest| rest.starts_with(written.as_bytes())) {
                self.at += written.len();
                return true;
            }
        }
        self.at = start;
        false
    }

    /// Reads a whole value. `1.0` becomes the integer 1 where whole numbers are to be whole.
    pub(crate) fn value(&mut self, whole: bool) -> Result<Value, Fault> {
        self.any(whole, |_, _| true)
    }

    /// Reads a whole value as [`Self::value`] does, but no integer that would lose digits.
    pub(crate) fn exact_value(&mut self, whole: bool) -> Result<Value, Fault> {
        self.any(whole, is_exact)
    }

    fn any(&mut self, whole: bool, fits: fn(Number, &str) -> bool) -> Result<Value, Fault> {
        Ok(match self.token()? {
            Token::Null => Value::Null,
            Token::Bool(value) => Value::Bool(value),
            Token::Number(number, text) if !fits(number, text) => return Err(INEXACT),
            Token::Number(number, text) => json_number(number, text, whole),
            Token::Text(text) => Value::String(text.into_owned()),
            Token::List => {
                let mut items = Vec::new();
                while self.has_item(items.is_empty())? {
                    items.push(self.any(whole, fits)?);
                }
                Value::Array(items)
            }
            Token::Object => {
                let mut entries = Map::new();
                while !self.is_end_of_object() {
                    let key = self.key(entries.is_empty())?;
                    if entries.contains_key(key.as_ref()) {
                        return Err(Fault::Repeated(key.into_owned()));
                    }
                    let value = self.any(whole, fits)?;
                    entries.insert(key.into_owned(), value);
                }
                Value::Object(entries)
            }
        })
    }

    /// Checks that nothing but blanks follows.
    pub(crate) fn end(&mut self) -> Result<(), Fault> {
        match self.peek() {
            None => Ok(()),
            Some(_) => Err(self.fault("something follows the first value")),
        }
    }

    fn fault(&self, reason: &'static str) -> Fault {
        Fault::Syntax {
            reason,
            at: self.at,
        }
    }

    /// Steps over an opening bracket.
    pub(crate) fn enter(&mut self) -> Result<(), Fault> {
        if self.depth == DEEPEST {
            return Err(self.fault("it nests too deeply"));
        }
        self.depth += 1;
        self.at += 1;
        Ok(())
    }

    /// Steps over a closing bracket.
    fn leave(&mut self) {
        self.depth -= 1;
        self.at += 1;
    }

    /// Steps over a word that is expected here.
    pub(crate) fn word(&mut self, word: &str) -> Result<(), Fault> {
        if !self.text[self.at..].starts_with(word) {
            return Err(self.fault("expected value"));
        }
        self.at += word.len();
        Ok(())
    }

    /// Reads a number, whose first byte is here; returns how it is written as well.
    pub(crate) fn number(&mut self) -> Result<(Number, &'t str), Fault> {
        let bytes = self.text.as_bytes();
        let start = self.at;
        if bytes[self.at] == b'-' {
            self.at += 1;
        }
        let integer = self.at;
        let length = self.digits()?;
        if length > 1 && bytes[integer] == b'0' {
            self.at = integer;
            return Err(self.fault("invalid number"));
        }
        let mut is_plain = true;
        let mut is_fraction = false;
        if bytes.get(self.at) == Some(&b'.') {
            is_plain = false;
            self.at += 1;
            self.digits()?;
            is_fraction = bytes[self.at - 1] != b'0';
        }
        if let Some(b'e' | b'E') = bytes.get(self.at) {
            (is_plain, is_fraction) = (false, false);
            self.at += 1;
            if let Some(b'+' | b'-') = bytes.get(self.at) {
                self.at += 1;
            }
            self.digits()?;
        }
        let text = &self.text[start..self.at];
        // Integers of eighteen digits fit without a look at their size.
        let number = if is_plain && length <= 18 {
            let digits = bytes[integer..self.at].iter();
            let number = digits.fold(0_i64, |sum, digit| sum * 10 + i64::from(digit - b'0'));
            let number = if integer > start { -number } else { number };
            Some(Number::Integer(number.into()))
        } else if is_fraction {
            let float = text.parse().ok().filter(|float: &f64| float.is_finite());
            float.map(Number::rounded)
        } else {
            Number::parse(text)
        };
        match number {
            Some(number) => Ok((number, text)),
            None => Err(self.fault("number out of range")),
        }
    }

    /// Steps over digits and returns how many there are: one or more.
    fn digits(&mut self) -> Result<usize, Fault> {
        let rest = &self.text.as_bytes()[self.at..];
        let length = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        self.at += length;
        if length == 0 {
            return Err(self.fault("invalid number"));
        }
        Ok(length)
    }
}

/// Returns whether a JSON text writes a name as it is.
pub(crate) const fn is_plain_name(name: &str) -> bool {
    let bytes = name.as_bytes();
    let mut is_plain = true;
    let mut at = 0;
    while at < bytes.len() {
        is_plain &= bytes[at] >= b' ' && bytes[at] != b'"' && bytes[at] != b'\\';
        at += 1;
    }
    is_plain
}

/// Returns a number as JSON values have it.
fn json_number(number: Number, text: &str, whole: bool) -> Value {
    match number {
        Number::Integer(integer) if whole || is_plain(text) => match i64::try_from(integer) {
            Ok(integer) => integer.into(),
            Err(_) => u64::try_from(integer).map_or(Value::Null, Value::from),
        },
        Number::Integer(_) => text.parse().map_or(Value::Null, |float: f64| float.into()),
        Number::Float(float) => float.into(),
    }
}

/// What is said of a number that would not be held as it is written.
const INEXACT: Fault = Fault::Unfit("an integer of 64 bits");

/// Returns whether a JSON value holds a number as it is written: an integer of more than 64 bits would become a float.
/// Decimals are the nearest float, as everywhere.
fn is_exact(number: Number, text: &str) -> bool {
    matches!(number, Number::Integer(_)) || !is_plain(text)
}

/// Returns whether a number is written without point and exponent.
pub(crate) fn is_plain(text: &str) -> bool {
    !text.bytes().any(|byte| matches!(byte, b'.' | b'e' | b'E'))
}

impl Fault {
    /// Says why a text is no JSON, with line and column, and no word of it.
    pub(crate) fn describe(&self, text: &str) -> String {
        let Self::Syntax { reason, at } = self else {
            return self.to_string();
        };
        let before = &text.as_bytes()[..(*at).min(text.len())];
        let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
        let start = before.iter().rposition(|byte| *byte == b'\n');
        let column = before.len() - start.map_or(0, |start| start + 1);
        format!("{reason} at line {line} column {}", column + 1)
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Syntax { reason, .. } => f.write_str(reason),
            Self::Repeated(key) => write!(f, "the key {key:?} is repeated"),
            Self::Refused => f.write_str("it does not conform"),
            Self::Unfit(expected) => write!(f, "expected {expected}"),
            Self::Missing(key) => write!(f, "the property {key:?} is missing"),
        }
    }
}

impl std::error::Error for Fault {}

#[cfg(test)]
mod tests;
