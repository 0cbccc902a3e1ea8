//! The keywords that hold for a value by itself.

use serde_json::{Map, Value};

use super::{Unfit, said};

/// Every type of a JSON value, integers apart.
const KINDS: [&str; 7] = [
    "null", "boolean", "integer", "number", "string", "array", "object",
];

/// Keywords of lower bounds, then of upper ones, each with the types that it holds for.
const LEAST: [(&str, &[&str]); 5] = [
    ("minimum", &["integer", "number"]),
    ("exclusiveMinimum", &["integer", "number"]),
    ("minLength", &["string"]),
    ("minItems", &["array"]),
    ("minProperties", &["object"]),
];
const MOST: [(&str, &[&str]); 5] = [
    ("maximum", &["integer", "number"]),
    ("exclusiveMaximum", &["integer", "number"]),
    ("maxLength", &["string"]),
    ("maxItems", &["array"]),
    ("maxProperties", &["object"]),
];

/// Compares types, values and bounds.
pub(super) fn plain(old: &Map<String, Value>, new: &Map<String, Value>, at: &str) -> Vec<Unfit> {
    let mut out = Vec::new();
    let (before, after) = (kinds(old), kinds(new));
    for kind in before.iter().filter(|kind| !takes(&after, kind)) {
        // Of a number that is no integer, where integers are taken still, there is nothing shorter to say.
        out.push(said(at, &format!("{} is no longer allowed", article(kind))));
    }
    match (values(old), values(new)) {
        (_, None) => {}
        (Some(before), Some(after)) => {
            let gone = before.iter().filter(|value| !after.contains(value));
            out.extend(gone.map(|value| said(at, &format!("`{value}` is no longer allowed"))));
        }
        (None, Some(_)) => out.push(said(at, "only some values are allowed now")),
    }
    // What an old answer may hold is known where its values are; their bounds are then those of the values.
    for (key, held) in LEAST {
        bound(old, new, (key, held), |old, new| old >= new, at, &mut out);
    }
    for (key, held) in MOST {
        bound(old, new, (key, held), |old, new| old <= new, at, &mut out);
    }
    out
}

fn bound(
    old: &Map<String, Value>,
    new: &Map<String, Value>,
    (key, held): (&str, &[&str]),
    keeps: impl Fn(f64, f64) -> bool,
    at: &str,
    out: &mut Vec<Unfit>,
) {
    let Some(wanted) = new.get(key) else { return };
    let before = kinds(old);
    if !held.iter().any(|kind| before.contains(kind)) || old.get(key) == Some(wanted) {
        return;
    }
    let number = |value: &Value| value.as_f64();
    let known = old.get(key).and_then(number).zip(number(wanted));
    if known.is_some_and(|(old, new)| keeps(old, new)) {
        return;
    }
    let was = old.get(key).map_or("none".to_owned(), Value::to_string);
    out.push(said(at, &format!("`{key}` is {wanted} now, was {was}")));
}

/// Returns the types that a schema takes, as far as `type`, `enum` and `const` say.
pub(super) fn kinds(schema: &Map<String, Value>) -> Vec<&'static str> {
    let named = |value: &Value| KINDS.into_iter().find(|kind| value.as_str() == Some(kind));
    let said: Vec<_> = match schema.get("type") {
        None => KINDS.to_vec(),
        Some(Value::Array(items)) => items.iter().filter_map(named).collect(),
        Some(one) => named(one).into_iter().collect(),
    };
    let Some(values) = values(schema) else {
        return said;
    };
    let mut kinds: Vec<_> = values
        .iter()
        .map(kind)
        .filter(|kind| takes(&said, kind))
        .collect();
    kinds.sort_unstable();
    kinds.dedup();
    kinds
}

fn takes(kinds: &[&str], kind: &str) -> bool {
    kinds.contains(&kind) || (kind == "integer" && kinds.contains(&"number"))
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

fn article(kind: &str) -> String {
    match kind {
        "null" => "null".to_owned(),
        "integer" | "array" | "object" => format!("an {kind}"),
        kind => format!("a {kind}"),
    }
}

/// Returns the values of `enum` or `const`.
fn values(schema: &Map<String, Value>) -> Option<Vec<Value>> {
    if let Some(only) = schema.get("const") {
        return Some(vec![only.clone()]);
    }
    schema.get("enum")?.as_array().cloned()
}

/// Returns the strings of a list.
pub(super) fn names(list: Option<&Value>) -> Vec<&str> {
    let items = list.and_then(Value::as_array).into_iter().flatten();
    items.filter_map(Value::as_str).collect()
}

/// JSON Schema knows one kind of number: 1 is 1.0.
fn is_same(one: &Value, other: &Value) -> bool {
    match (one.as_f64(), other.as_f64()) {
        (Some(one), Some(other)) => one == other,
        _ => one == other,
    }
}

/// Returns whether no value conforms to two of the branches, as their types or their values tell.
pub(super) fn are_exclusive(branches: &[Value]) -> bool {
    let pairs = branches
        .iter()
        .enumerate()
        .flat_map(|(at, one)| branches[at + 1..].iter().map(move |other| (one, other)));
    let mut pairs = pairs;
    pairs.all(|(one, other)| match (one.as_object(), other.as_object()) {
        (Some(one), Some(other)) => {
            if let (Some(one), Some(other)) = (values(one), values(other)) {
                return !one
                    .iter()
                    .any(|value| other.iter().any(|other| is_same(value, other)));
            }
            let refers = one.contains_key("$ref") || other.contains_key("$ref");
            let (one, other) = (kinds(one), kinds(other));
            !refers
                && !one.iter().any(|kind| takes(&other, kind))
                && !other.iter().any(|kind| takes(&one, kind))
        }
        _ => false,
    })
}
