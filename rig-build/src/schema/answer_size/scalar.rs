//! How many bytes does a value take that has no parts, or that the schema spells out?

use super::{Shortest, Size};
use crate::node::{Kind, Node};

/// A set of JSON types. Numbers are two: those without and those with a fraction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Types(u8);

impl Types {
    const NULL: Self = Self(1);
    const BOOLEAN: Self = Self(2);
    const INTEGER: Self = Self(4);
    const FRACTION: Self = Self(8);
    const STRING: Self = Self(16);
    pub(super) const LIST: Self = Self(32);
    pub(super) const OBJECT: Self = Self(64);
    pub(super) const ALL: Self = Self(127);

    /// Returns the types that a schema's `type` lets through.
    pub(super) fn of_schema(schema: &Node) -> Self {
        let named = |node: &Node| match node.as_str() {
            Some("null") => Self::NULL,
            Some("boolean") => Self::BOOLEAN,
            Some("integer") => Self::INTEGER,
            Some("number") => Self(Self::INTEGER.0 | Self::FRACTION.0),
            Some("string") => Self::STRING,
            Some("array") => Self::LIST,
            Some("object") => Self::OBJECT,
            _ => Self::ALL,
        };
        match schema.get("type") {
            None => Self::ALL,
            Some(node) if node.items().is_empty() => named(node),
            Some(node) => {
                let types = node.items().iter().map(named);
                Self(types.fold(0, |all, next| all | next.0))
            }
        }
    }

    /// Returns the types that a value can pass for.
    fn of_value(value: &Node) -> Self {
        match &value.kind {
            Kind::Null => Self::NULL,
            Kind::Bool(_) => Self::BOOLEAN,
            Kind::Number(text) => match text.parse::<f64>() {
                Ok(number) if number.fract() == 0.0 => Self::INTEGER,
                Ok(number) if number.is_finite() => Self::FRACTION,
                _ => Self(Self::INTEGER.0 | Self::FRACTION.0),
            },
            Kind::String(_) => Self::STRING,
            Kind::List(_) => Self::LIST,
            Kind::Map(_) => Self::OBJECT,
        }
    }

    pub(super) fn both(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    pub(super) fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }
}

/// Returns the size of the scalars among these types under a schema's own keywords.
pub(super) fn scalars(schema: &Node, types: Types) -> Size {
    let mut size = Size::NOTHING;
    if types.has(Types::NULL) {
        size = size.or(Size::new(4, 1, 4));
    }
    if types.has(Types::BOOLEAN) {
        size = size.or(Size::new(4, 1, 5));
    }
    if types.has(Types::INTEGER) || types.has(Types::FRACTION) {
        let bounds = Bounds::of(schema);
        let longest = match types.has(Types::FRACTION) {
            true => u64::MAX,
            false => bounds.longest_integer(),
        };
        size = size.or(Size::new(bounds.shortest(), 1, longest));
    }
    if types.has(Types::STRING) {
        let least = count(schema, "minLength").unwrap_or(0);
        let most = count(schema, "maxLength").map(|most| most.saturating_mul(4));
        let longest = most.unwrap_or(u64::MAX).saturating_add(2);
        size = size.or(Size::new(least.saturating_add(2), 0, longest));
    }
    size
}

/// Returns the size of one of these values, as far as they are of one of the types.
pub(super) fn values(values: &[Node], types: Types) -> Size {
    let fitting = values
        .iter()
        .filter(|value| types.has(Types::of_value(value)));
    fitting.fold(Size::NOTHING, |size, next| size.or(value(next)))
}

fn value(node: &Node) -> Size {
    match &node.kind {
        Kind::Null | Kind::Bool(true) => Size::new(4, 1, 4),
        Kind::Bool(false) => Size::new(5, 1, 5),
        Kind::Number(text) => number(text),
        Kind::String(text) => {
            let Shortest { bytes, word_edges } = string(text);
            Size::new(bytes, word_edges, bytes)
        }
        Kind::List(items) => parts(items.iter().map(value), items.len()),
        Kind::Map(entries) => {
            let members = entries.iter().map(|entry| {
                let key = string(&entry.key).and_bytes(1);
                let Size { shortest, longest } = value(&entry.value);
                Size {
                    shortest: shortest.plus(key),
                    longest: longest.saturating_add(key.bytes),
                }
            });
            parts(members, entries.len())
        }
    }
}

fn parts(parts: impl Iterator<Item = Size>, count: usize) -> Size {
    let marks = 2 + (count as u64).saturating_sub(1);
    parts.fold(Size::new(marks, 0, marks), |all, next| Size {
        shortest: all.shortest.plus(next.shortest),
        longest: all.longest.saturating_add(next.longest),
    })
}

/// Returns what a string takes with its quotes, each character spelled in the shortest way that JSON has.
pub(super) fn string(text: &str) -> Shortest {
    let bytes = text.chars().map(|c| match c {
        '"' | '\\' | '\n' | '\r' | '\t' | '\u{8}' | '\u{c}' => 2,
        c if c < ' ' => 6,
        c => c.len_utf8() as u64,
    });
    let is_word = |c: Option<char>| u64::from(c.is_some_and(|c| c.is_ascii_alphanumeric()));
    Shortest {
        bytes: bytes.sum::<u64>() + 2,
        word_edges: is_word(text.chars().next()) + is_word(text.chars().next_back()),
    }
}

/// Returns the size of a number that is given: as it is written, or as short as a number that reads the same.
fn number(text: &str) -> Size {
    let Some(value) = text.parse::<f64>().ok().filter(|value| value.is_finite()) else {
        return Size::new(1, 1, u64::MAX);
    };
    let plain = value.to_string();
    Size::new(
        shortest_number(value),
        1,
        text.len().max(plain.len()) as u64,
    )
}

/// Returns the least bytes of a number that reads as this one: its digits, and what moves the point.
///
/// `{:e}` writes the fewest digits that read as the number: `1.25e-7`.
fn shortest_number(value: f64) -> u64 {
    let written = format!("{:e}", value.abs());
    let (digits, exponent) = written.split_once('e').unwrap_or((&written, "0"));
    let digits = digits.replace('.', "").len() as i64;
    // The number is its digits, taken as a whole number, times ten to the power of this.
    let shift = exponent.parse::<i64>().unwrap_or(0) + 1 - digits;
    let with_exponent = digits + 1 + shift.to_string().len() as i64;
    let least = match shift {
        0.. => with_exponent.min(digits + shift),
        // `0.05` has a zero in front of the point and one behind it.
        _ => with_exponent.min(digits.max(1 - shift) + 1),
    };
    let sign = i64::from(value < 0.0);
    (least + sign).unsigned_abs()
}

/// The bounds of numbers, and whether a bound itself is left out.
struct Bounds {
    low: Option<(f64, bool)>,
    high: Option<(f64, bool)>,
}

impl Bounds {
    fn of(schema: &Node) -> Self {
        let read = |key: &str, open: bool| {
            let Some(Kind::Number(text)) = schema.get(key).map(|node| &node.kind) else {
                return None;
            };
            let value = text.parse::<f64>().ok().filter(|value| value.is_finite());
            value.map(|value| (value, open))
        };
        let (low, open_low) = (read("minimum", false), read("exclusiveMinimum", true));
        let (high, open_high) = (read("maximum", false), read("exclusiveMaximum", true));
        let either = |closed, open, open_wins: fn(f64, f64) -> bool| match (closed, open) {
            (Some((a, _)), Some((b, _))) if open_wins(b, a) => open,
            (None, open) => open,
            (closed, _) => closed,
        };
        Self {
            low: either(low, open_low, |open, closed| open >= closed),
            high: either(high, open_high, |open, closed| open <= closed),
        }
    }

    /// Returns the least bytes of a number within the bounds.
    fn shortest(&self) -> u64 {
        let above = self.low.map_or(0, |(low, open)| beyond(low, open));
        let below = self.high.map_or(0, |(high, open)| beyond(-high, open) + 1);
        let negative = self.high.is_some_and(|(high, _)| high < 0.0);
        above.max(if negative { below } else { 1 })
    }

    /// Returns the most bytes of an integer within the bounds, as a plain decimal.
    fn longest_integer(&self) -> u64 {
        /// Up to here powers of ten are exact, so that rounding loses no digit.
        const EXACT: f64 = 1e22;
        let (Some((low, _)), Some((high, _))) = (self.low, self.high) else {
            return u64::MAX;
        };
        if low.abs() > EXACT || high.abs() > EXACT {
            return u64::MAX;
        }
        let length = |number: f64| number.to_string().len() as u64;
        length(low.ceil()).max(length(high.floor()))
    }
}

/// Returns the least bytes of a number that is at least `low`, or above it.
fn beyond(low: f64, open: bool) -> u64 {
    // The largest number of one byte is 9, of two 99, of three 9e9, of four 9e99.
    let reached = [9.0, 99.0, 9e9, 9e99]
        .iter()
        .position(|most| low < *most || (low == *most && !open));
    reached.map_or(5, |bytes| bytes as u64 + 1)
}

/// Returns the value of a keyword that counts something. It may be written `2.0`.
pub(super) fn count(schema: &Node, key: &str) -> Option<u64> {
    let Some(Kind::Number(text)) = schema.get(key).map(|node| &node.kind) else {
        return None;
    };
    let whole = text.parse::<u64>().ok();
    // A float beyond what fits becomes the largest count.
    whole.or_else(|| text.parse::<f64>().ok().map(|number| number as u64))
}
