//! What do types and values of a place say about each other?

use std::collections::HashSet;

use super::tree::{Low, Value};
use crate::node::{Entry, Kind, Node};

const TYPES: [&str; 7] = [
    "object", "array", "string", "number", "integer", "boolean", "null",
];

/// The most branches that are held against each other.
const MOST_COMPARED: usize = 64;

/// Returns whether a lowered schema takes null by itself.
pub(super) fn takes_null(low: &Low) -> bool {
    let of_values = || match low.get("enum") {
        Some(Value::Data(Kind::List(values))) => {
            values.iter().any(|value| value.kind == Kind::Null)
        }
        _ => true,
    };
    low.branches().iter().any(takes_null) || (low.types().contains(&"null") && of_values())
}

/// Returns the types that a place names or whose values it lists; `None` where it does neither.
pub(super) fn types(flat: &Node) -> Option<Vec<&'static str>> {
    let known = |name: &str| TYPES.iter().find(|known| **known == name).copied();
    let mut out: Vec<&'static str> = match flat.get("type") {
        Some(node) => {
            let names = node.items().iter().chain([node]).filter_map(Node::as_str);
            names.filter_map(known).collect()
        }
        None => {
            let values = flat.get("enum").map(Node::items);
            let values = values.or(flat.get("const").map(std::slice::from_ref))?;
            let kinds = |value: &Node| TYPES.iter().rev().find(|name| is_of(value, name)).copied();
            values.iter().filter_map(kinds).collect()
        }
    };
    let mut seen = Vec::new();
    out.retain(|name| {
        let fresh = !seen.contains(name);
        seen.push(*name);
        fresh
    });
    Some(out)
}

/// Returns the values that a place lists and that are of its types.
pub(super) fn allowed(flat: &Node, types: &[&str]) -> Option<Vec<Node>> {
    let listed = flat.get("enum").map(|node| node.items().to_vec());
    let only = flat.get("const");
    let mut out = match (listed, only) {
        (None, None) => return None,
        (None, Some(only)) => vec![only.clone()],
        (Some(listed), None) => listed,
        (Some(mut listed), Some(only)) => {
            listed.retain(|value| value.to_json() == only.to_json());
            listed
        }
    };
    out.retain(|value| types.iter().any(|name| is_of(value, name)));
    let mut seen = HashSet::new();
    out.retain(|value| seen.insert(value.to_json()));
    Some(out)
}

pub(super) fn is_of(value: &Node, name: &str) -> bool {
    match (&value.kind, name) {
        (Kind::Null, "null")
        | (Kind::Bool(_), "boolean")
        | (Kind::Number(_), "number")
        | (Kind::String(_), "string")
        | (Kind::List(_), "array")
        | (Kind::Map(_), "object") => true,
        (Kind::Number(_), "integer") => number(value).is_some_and(|number| number.fract() == 0.0),
        _ => false,
    }
}

/// Returns the value of a number.
pub(super) fn number(node: &Node) -> Option<f64> {
    match &node.kind {
        Kind::Number(text) => text.parse().ok(),
        _ => None,
    }
}

/// Returns `type` as it is sent.
pub(super) fn named(flat: &Node, types: &[&str]) -> Kind {
    let text = |name: &&str| Kind::String((*name).to_owned());
    match types {
        [only] => text(only),
        _ => Kind::List(
            types
                .iter()
                .map(|name| Node {
                    span: flat.span,
                    kind: text(name),
                })
                .collect(),
        ),
    }
}

/// Returns whether a keyword holds for everything.
pub(super) fn says_nothing(flat: &Node, entry: &Entry) -> bool {
    match (entry.key.as_str(), &entry.value.kind) {
        ("uniqueItems", Kind::Bool(false)) => true,
        ("minLength" | "minItems" | "minProperties", _) => number(&entry.value) == Some(0.0),
        // With `if` they are left out together, and without it they mean nothing.
        ("then" | "else", _) => true,
        ("if", _) => flat.get("then").or(flat.get("else")).is_none(),
        ("minContains" | "maxContains", _) => flat.get("contains").is_none(),
        ("unevaluatedProperties" | "unevaluatedItems" | "additionalItems", Kind::Bool(true)) => {
            true
        }
        _ => false,
    }
}

/// Returns whether no value can conform to two of the branches.
pub(super) fn are_apart(branches: &[Low]) -> bool {
    let apart = |first: &Low, second: &Low| {
        let kinds = |low: &Low| {
            low.types()
                .iter()
                .map(|name| (*name).to_owned())
                .collect::<Vec<_>>()
        };
        let (mine, theirs) = (kinds(first), kinds(second));
        let is_number = |name: &String| name == "number" || name == "integer";
        let overlap = mine
            .iter()
            .any(|name| theirs.contains(name) || (is_number(name) && theirs.iter().any(is_number)));
        if !mine.is_empty() && !theirs.is_empty() && !overlap {
            return true;
        }
        // Two objects with a required property whose values differ.
        first.properties().iter().any(|(name, property)| {
            let other = second.properties().iter().find(|(other, _)| other == name);
            other.is_some_and(|(_, other)| {
                let values = |low: &Low| match low.get("enum") {
                    Some(Value::Data(Kind::List(values))) => {
                        values.iter().map(Node::to_json).collect()
                    }
                    _ => Vec::new(),
                };
                let (mine, theirs) = (values(property), values(other));
                !mine.is_empty()
                    && !theirs.is_empty()
                    && !mine.iter().any(|value| theirs.contains(value))
                    && required(first).contains(name.as_str())
                    && required(second).contains(name.as_str())
            })
        })
    };
    branches.len() <= MOST_COMPARED
        && branches.iter().enumerate().all(|(index, first)| {
            branches[index + 1..]
                .iter()
                .all(|second| apart(first, second))
        })
}

/// Returns the properties that an object requires.
pub(super) fn required(low: &Low) -> HashSet<&str> {
    match low.get("required") {
        Some(Value::Data(Kind::List(names))) => names.iter().filter_map(Node::as_str).collect(),
        _ => HashSet::new(),
    }
}
