//! Which of a node's own rules does a value miss?
//!
//! The rules that need nothing but the value: its kind, its bounds, its length, what it is one of.

use std::collections::HashMap;
use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hash, Hasher};
use std::io;

use rig_spec::{Kinds, Literal, Logic, NodeId, Number, NumberRules, Values};
use serde_json::{Map, Value};

use super::problem::or;
use super::ready::{Node, Ready};

/// A value, seen by its kind.
#[derive(Clone, Copy)]
pub(super) enum View<'v> {
    Null,
    Bool(bool),
    Number(Number),
    Text(&'v str),
    List(&'v [Value]),
    Object(&'v Map<String, Value>),
}

/// What tells a value apart from all others of an answer: where a list or an object lies in memory.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Address {
    List(usize),
    Object(usize),
    /// A scalar has none; who judges it numbers it.
    Scalar(u64),
}

/// What a pattern that takes too long leaves.
pub(super) struct Undecided;

/// Returns the first keyword that a value misses by itself.
pub(super) fn missed(node: &Node, value: View<'_>) -> Result<Option<&'static str>, Undecided> {
    let rules = &node.rules;
    if !rules.kinds.meets(value.kind()) {
        return Ok(Some("type"));
    }
    if let Some(values) = &rules.values
        && !is_one_of(node, values, value)
    {
        return Ok(Some(if values.is_const { "const" } else { "enum" }));
    }
    Ok(match value {
        View::Number(number) => rules.number.as_ref().and_then(|rules| bound(rules, number)),
        View::Text(text) => {
            let Some(rules) = &rules.text else {
                return Ok(None);
            };
            if let Some(keyword) = length(rules.shortest, rules.longest, text) {
                return Ok(Some(keyword));
            }
            match &node.pattern {
                Some(pattern) if !pattern.is_match(text).ok_or(Undecided)? => Some("pattern"),
                _ => None,
            }
        }
        View::List(items) => rules.list.as_ref().and_then(|rules| {
            let counted = count(
                rules.fewest,
                rules.most,
                items.len(),
                "minItems",
                "maxItems",
            );
            let repeats = || (rules.unique && !all_differ(items)).then_some("uniqueItems");
            counted.or_else(repeats)
        }),
        View::Object(entries) => rules.object.as_ref().and_then(|rules| {
            let (min, max) = ("minProperties", "maxProperties");
            count(rules.fewest, rules.most, entries.len(), min, max)
        }),
        View::Null | View::Bool(_) => None,
    })
}

/// Returns the keyword that a length is beyond.
pub(super) fn count(
    fewest: Option<u64>,
    most: Option<u64>,
    length: usize,
    min: &'static str,
    max: &'static str,
) -> Option<&'static str> {
    let length = length as u64;
    if fewest.is_some_and(|fewest| length < fewest) {
        return Some(min);
    }
    most.is_some_and(|most| length > most).then_some(max)
}

fn length(shortest: Option<u64>, longest: Option<u64>, text: &str) -> Option<&'static str> {
    // A character has one byte to four, so most texts need no counting.
    let bytes = text.len() as u64;
    let is_long_enough = shortest.is_none_or(|shortest| bytes.div_ceil(4) >= shortest);
    if is_long_enough && longest.is_none_or(|longest| bytes <= longest) {
        return None;
    }
    let characters = text.chars().count();
    count(shortest, longest, characters, "minLength", "maxLength")
}

fn bound(rules: &NumberRules, number: Number) -> Option<&'static str> {
    let to = |bound: Option<Number>| bound.map(|bound| number.compare(bound));
    if to(rules.minimum).is_some_and(|order| order.is_lt()) {
        return Some("minimum");
    }
    if to(rules.maximum).is_some_and(|order| order.is_gt()) {
        return Some("maximum");
    }
    if to(rules.above).is_some_and(|order| order.is_le()) {
        return Some("exclusiveMinimum");
    }
    if to(rules.below).is_some_and(|order| order.is_ge()) {
        return Some("exclusiveMaximum");
    }
    let is_multiple = rules.multiple_of.is_none_or(|of| number.is_multiple_of(of));
    (!is_multiple).then_some("multipleOf")
}

fn is_one_of(node: &Node, values: &Values<'_>, value: View<'_>) -> bool {
    values.all.iter().any(|known| match (known, value) {
        (Literal::Null, View::Null) => true,
        (Literal::Bool(known), View::Bool(value)) => *known == value,
        (Literal::Text(known), View::Text(text)) => *known == text,
        (Literal::Number(known), View::Number(number)) => known.compare(number).is_eq(),
        _ => false,
    }) || match value {
        View::List(_) | View::Object(_) => {
            let mut composites = node.composites.iter();
            composites.any(|known| same(known.into(), value))
        }
        _ => false,
    }
}

/// Returns whether two values are the same to JSON Schema: `1.0` is `1`, and keys have no order.
fn same(one: View<'_>, other: View<'_>) -> bool {
    match (one, other) {
        (View::Null, View::Null) => true,
        (View::Bool(one), View::Bool(other)) => one == other,
        (View::Number(one), View::Number(other)) => one.compare(other).is_eq(),
        (View::Text(one), View::Text(other)) => one == other,
        (View::List(one), View::List(other)) => {
            let mut pairs = one.iter().zip(other);
            one.len() == other.len() && pairs.all(|(one, other)| same(one.into(), other.into()))
        }
        (View::Object(one), View::Object(other)) => {
            let mut entries = one.iter();
            one.len() == other.len()
                && entries.all(|(key, one)| {
                    other
                        .get(key)
                        .is_some_and(|other| same(one.into(), other.into()))
                })
        }
        _ => false,
    }
}

/// Returns whether no two items are the same. The work is that of reading them, but for a few comparisons.
fn all_differ(items: &[Value]) -> bool {
    let state = RandomState::new();
    let mut seen: HashMap<u64, Vec<&Value>> = HashMap::with_capacity(items.len());
    items.iter().all(|item| {
        let alike = seen.entry(digest(&state, item.into())).or_default();
        let is_new = !alike.iter().any(|other| same((*other).into(), item.into()));
        alike.push(item);
        is_new
    })
}

/// Returns a number that is the same for values that are the same.
fn digest(state: &RandomState, value: View<'_>) -> u64 {
    let mut hasher = state.build_hasher();
    value.kind().0.hash(&mut hasher);
    match value {
        View::Null => {}
        View::Bool(value) => value.hash(&mut hasher),
        View::Number(Number::Integer(integer)) => integer.hash(&mut hasher),
        View::Number(Number::Float(float)) => float.to_bits().hash(&mut hasher),
        View::Text(text) => text.hash(&mut hasher),
        View::List(items) => {
            for item in items {
                digest(state, item.into()).hash(&mut hasher);
            }
        }
        View::Object(entries) => {
            // Keys have no order, so neither has their sum.
            let sum = entries.iter().fold(0_u64, |sum, (key, value)| {
                sum.wrapping_add(state.hash_one((key, digest(state, value.into()))))
            });
            sum.hash(&mut hasher);
        }
    }
    hasher.finish()
}

/// Says what a value should have been by a keyword that it misses, and what it is.
pub(super) fn expected(node: &Node, keyword: &str, value: View<'_>) -> String {
    let rules = &node.rules;
    let shown = value.shown();
    let number = |pick: fn(&NumberRules) -> Option<Number>| {
        let bound = rules.number.as_ref().and_then(pick);
        bound
            .map(|bound| View::Number(bound).shown())
            .unwrap_or_default()
    };
    let text = rules.text.as_ref();
    let list = rules.list.as_ref();
    let object = rules.object.as_ref();
    let counted = |count: Option<u64>| count.unwrap_or_default();
    match keyword {
        "type" => {
            let types: Vec<_> = rules
                .kinds
                .types()
                .iter()
                .map(|name| format!("{name:?}"))
                .collect();
            match types.as_slice() {
                [] => format!("False schema does not allow {shown}"),
                [one] => format!("{shown} is not of type {one}"),
                many => format!("{shown} is not of types {}", many.join(", ")),
            }
        }
        "const" | "enum" => {
            let values = rules.values.iter().flat_map(|values| &values.all);
            let values: Vec<_> = values.map(literal).collect();
            match keyword {
                "const" => format!("{} was expected", or(&values)),
                _ => format!("{shown} is not one of {}", or(&values)),
            }
        }
        "minimum" => format!(
            "{shown} is less than the minimum of {}",
            number(|rules| rules.minimum)
        ),
        "maximum" => format!(
            "{shown} is greater than the maximum of {}",
            number(|rules| rules.maximum)
        ),
        "exclusiveMinimum" => format!(
            "{shown} is less than or equal to the minimum of {}",
            number(|rules| rules.above)
        ),
        "exclusiveMaximum" => format!(
            "{shown} is greater than or equal to the maximum of {}",
            number(|rules| rules.below)
        ),
        "multipleOf" => format!(
            "{shown} is not a multiple of {}",
            number(|rules| rules.multiple_of)
        ),
        "minLength" => format!(
            "{shown} is shorter than {} characters",
            counted(text.and_then(|text| text.shortest))
        ),
        "maxLength" => format!(
            "{shown} is longer than {} characters",
            counted(text.and_then(|text| text.longest))
        ),
        "pattern" => format!(
            "{shown} does not match {:?}",
            text.and_then(|text| text.pattern).unwrap_or_default()
        ),
        "minItems" => format!(
            "{shown} has less than {} items",
            counted(list.and_then(|list| list.fewest))
        ),
        "maxItems" => format!(
            "{shown} has more than {} items",
            counted(list.and_then(|list| list.most))
        ),
        "uniqueItems" => format!("{shown} has non-unique elements"),
        "minProperties" => format!(
            "{shown} has less than {} properties",
            counted(object.and_then(|object| object.fewest))
        ),
        _ => format!(
            "{shown} has more than {} properties",
            counted(object.and_then(|object| object.most))
        ),
    }
}

fn literal(value: &Literal<'_>) -> String {
    match value {
        Literal::Null => "null".to_owned(),
        Literal::Bool(value) => value.to_string(),
        Literal::Number(number) => View::Number(*number).shown(),
        Literal::Text(text) => View::Text(text).shown(),
        Literal::Json(json) => json.to_string(),
    }
}

/// Returns whether a node could take a value of this kind.
pub(super) fn takes_kind(ready: &Ready, id: NodeId, value: View<'_>) -> bool {
    let rules = &ready.node(id).rules;
    let kind = value.kind();
    let of_values = |values: &Values<'_>| values.all.iter().any(|value| value.kind() == kind);
    rules.kinds.meets(kind)
        && rules.values.as_ref().is_none_or(of_values)
        && rules.logic.iter().all(|logic| match logic {
            Logic::All(all) => all.iter().all(|id| takes_kind(ready, *id, value)),
            Logic::Any(any) | Logic::One(any) => any.iter().any(|id| takes_kind(ready, *id, value)),
            Logic::Not(_) | Logic::If(..) => true,
        })
}

/// The longest piece of an answer that is shown, in characters.
const LONGEST_VALUE: usize = 60;

impl<'v> View<'v> {
    pub(super) fn kind(self) -> Kinds {
        match self {
            Self::Null => Kinds::NULL,
            Self::Bool(_) => Kinds::BOOLEAN,
            Self::Number(number) => number.kind(),
            Self::Text(_) => Kinds::STRING,
            Self::List(_) => Kinds::LIST,
            Self::Object(_) => Kinds::OBJECT,
        }
    }

    /// Returns what tells this list or object apart from all others of its value. Empty ones are all the same.
    pub(super) fn address(self) -> Option<Address> {
        match self {
            Self::List(items) => Some(Address::List(items.as_ptr() as usize)),
            Self::Object(entries) => Some(Address::Object(std::ptr::from_ref(entries) as usize)),
            _ => None,
        }
    }

    /// Returns the value as JSON, or what it begins with.
    pub(super) fn shown(self) -> String {
        let mut start = Start(Vec::new());
        let written = match self {
            Self::Null => serde_json::to_writer(&mut start, &()),
            Self::Bool(value) => serde_json::to_writer(&mut start, &value),
            Self::Number(Number::Integer(integer)) => serde_json::to_writer(&mut start, &integer),
            Self::Number(Number::Float(float)) => serde_json::to_writer(&mut start, &float),
            Self::Text(text) => serde_json::to_writer(&mut start, text),
            Self::List(items) => serde_json::to_writer(&mut start, items),
            Self::Object(entries) => serde_json::to_writer(&mut start, entries),
        };
        let text = String::from_utf8_lossy(&start.0);
        match text.char_indices().nth(LONGEST_VALUE) {
            Some((end, _)) => format!("{}…", &text[..end]),
            None if written.is_err() => format!("{text}…"),
            None => text.into_owned(),
        }
    }
}

/// The start of a text that may be long.
struct Start(Vec<u8>);

impl io::Write for Start {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let room = (LONGEST_VALUE + 1) * 4 - self.0.len();
        let taken = bytes.len().min(room);
        self.0.extend_from_slice(&bytes[..taken]);
        if taken < bytes.len() {
            return Err(io::ErrorKind::WriteZero.into());
        }
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'v> From<&'v Value> for View<'v> {
    fn from(value: &'v Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(value) => Self::Bool(*value),
            Value::Number(number) => Self::Number(match (number.as_i64(), number.as_u64()) {
                (Some(integer), _) => Number::Integer(integer.into()),
                (_, Some(integer)) => Number::Integer(integer.into()),
                _ => Number::from_f64(number.as_f64().unwrap_or_default()),
            }),
            Value::String(text) => Self::Text(text),
            Value::Array(items) => Self::List(items),
            Value::Object(entries) => Self::Object(entries),
        }
    }
}
