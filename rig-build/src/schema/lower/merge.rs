//! What do two schemas say that both have to hold?
//!
//! A plain merge, keyword by keyword. What cannot be said in one schema is a [`Clash`]. Subschemas that meet are left
//! as an `allOf` of the two, to be merged when their place is reached.

use crate::node::{Entry, Kind, Node};
use crate::source::Span;

/// A keyword whose two values no one schema can say.
#[derive(Debug)]
pub(super) struct Clash {
    pub(super) span: Span,
    pub(super) keyword: String,
}

impl Clash {
    pub(super) fn of(entry: &Entry) -> Self {
        Self {
            span: entry.key_span,
            keyword: entry.key.clone(),
        }
    }
}

/// Keywords that say nothing about what conforms.
const ANNOTATIONS: [&str; 13] = [
    "title",
    "description",
    "default",
    "examples",
    "deprecated",
    "readOnly",
    "writeOnly",
    "$comment",
    "$schema",
    "$id",
    "$anchor",
    "$defs",
    "definitions",
];

/// Keywords of which the larger value holds.
const LOWER_BOUNDS: [&str; 5] = [
    "minimum",
    "exclusiveMinimum",
    "minLength",
    "minItems",
    "minProperties",
];

/// Keywords of which the smaller value holds.
const UPPER_BOUNDS: [&str; 5] = [
    "maximum",
    "exclusiveMaximum",
    "maxLength",
    "maxItems",
    "maxProperties",
];

/// Keywords that mean something only together with their neighbours.
const GROUPS: [&[&str]; 4] = [
    &["if", "then", "else"],
    &["contains", "minContains", "maxContains"],
    &[
        "prefixItems",
        "items",
        "additionalItems",
        "unevaluatedItems",
    ],
    &[
        "properties",
        "patternProperties",
        "additionalProperties",
        "unevaluatedProperties",
    ],
];

/// Returns whether a keyword says nothing about what conforms.
pub(super) fn is_annotation(keyword: &str) -> bool {
    ANNOTATIONS.contains(&keyword) || !super::words::is_known(keyword)
}

/// Returns a schema of these keywords.
pub(super) fn schema(span: Span, entries: Vec<Entry>) -> Node {
    let kind = Kind::Map(entries);
    Node { span, kind }
}

/// Returns a keyword and its value, both at one place.
pub(super) fn entry(key: &str, span: Span, kind: Kind) -> Entry {
    Entry {
        key: key.to_owned(),
        key_span: span,
        value: Node { span, kind },
    }
}

/// Returns the schema of what conforms to both; `None` where nothing does. Neither has a `$ref` or an `allOf`.
pub(super) fn merge(first: &Node, second: &Node) -> Result<Option<Node>, Clash> {
    for group in [GROUPS[0], GROUPS[1]] {
        one_side(group, first, second)?;
    }
    if first
        .get("prefixItems")
        .or(second.get("prefixItems"))
        .is_some()
    {
        one_side(GROUPS[2], first, second)?;
    }
    let mut out = Vec::new();
    let Some(properties) = properties(first, second)? else {
        return Ok(None);
    };
    for entry in first.entries() {
        if GROUPS[3].contains(&entry.key.as_str()) {
            continue;
        }
        let Some(other) = second.get(&entry.key) else {
            out.push(entry.clone());
            continue;
        };
        match both(entry, other)? {
            Some(value) => out.push(Entry {
                value,
                ..entry.clone()
            }),
            None => return Ok(None),
        }
    }
    let fresh = second.entries().iter().filter(|entry| {
        !GROUPS[3].contains(&entry.key.as_str()) && first.get(&entry.key).is_none()
    });
    out.extend(fresh.cloned());
    let at = out
        .iter()
        .position(|entry| entry.key == "required")
        .unwrap_or(out.len());
    out.splice(at..at, properties);
    Ok(Some(schema(first.span, out)))
}

/// A group of keywords has to stand in one of the two only, or be the same in both.
fn one_side(group: &[&str], first: &Node, second: &Node) -> Result<(), Clash> {
    let has = |node: &Node| group.iter().any(|key| node.get(key).is_some());
    let text = |node: &Node, key: &str| node.get(key).map(Node::to_json);
    let same = group
        .iter()
        .all(|key| text(first, key) == text(second, key));
    if has(first) && has(second) && !same {
        let mut entries = group.iter().filter_map(|key| second.entry(key));
        return entries.next().map_or(Ok(()), |found| Err(Clash::of(found)));
    }
    Ok(())
}

/// Returns the value of a keyword that stands in both; `None` where nothing conforms.
fn both(entry: &Entry, other: &Node) -> Result<Option<Node>, Clash> {
    let value = &entry.value;
    let keyword = entry.key.as_str();
    if is_annotation(keyword) || value.to_json() == other.to_json() {
        return Ok(Some(value.clone()));
    }
    let number = |node: &Node| match &node.kind {
        Kind::Number(text) => text.parse::<f64>().ok(),
        _ => None,
    };
    let tighter = |other_is_tighter: fn(f64, f64) -> bool| {
        let pair = number(value).zip(number(other));
        let swap = pair.is_some_and(|(mine, theirs)| other_is_tighter(mine, theirs));
        Ok(Some(if swap { other.clone() } else { value.clone() }))
    };
    let of_list = |items: Vec<Node>| {
        let kind = Kind::List(items);
        Node {
            span: value.span,
            kind,
        }
    };
    match keyword {
        _ if LOWER_BOUNDS.contains(&keyword) => tighter(|mine, theirs| theirs > mine),
        _ if UPPER_BOUNDS.contains(&keyword) => tighter(|mine, theirs| theirs < mine),
        "uniqueItems" => Ok(Some(match &value.kind {
            Kind::Bool(true) => value.clone(),
            _ => other.clone(),
        })),
        "type" => {
            let kept = types(value, other);
            Ok((!kept.is_empty()).then(|| of_list(kept)))
        }
        "enum" => {
            let theirs: Vec<_> = other.items().iter().map(Node::to_json).collect();
            let kept = value.items().iter();
            let kept: Vec<_> = kept
                .filter(|item| theirs.contains(&item.to_json()))
                .cloned()
                .collect();
            Ok((!kept.is_empty()).then(|| of_list(kept)))
        }
        "const" => Ok(None),
        "required" => {
            let mut items = value.items().to_vec();
            let known: Vec<_> = value.items().iter().filter_map(Node::as_str).collect();
            let fresh = other.items().iter();
            items.extend(
                fresh
                    .filter(|item| item.as_str().is_none_or(|name| !known.contains(&name)))
                    .cloned(),
            );
            Ok(Some(of_list(items)))
        }
        "items" => Ok(Some(all_of(value, other))),
        _ => Err(Clash::of(entry)),
    }
}

/// Returns the types that are in both, an integer being a number.
fn types(first: &Node, second: &Node) -> Vec<Node> {
    let names = |node: &Node| match node.items() {
        [] => vec![node.clone()],
        items => items.to_vec(),
    };
    let (first, second) = (names(first), names(second));
    let has = |list: &[Node], name: &str| list.iter().any(|item| item.as_str() == Some(name));
    let mut kept: Vec<Node> = Vec::new();
    for item in first.iter().chain(&second) {
        let name = item.as_str().unwrap_or("");
        let within = |list: &[Node]| has(list, name) || (name == "integer" && has(list, "number"));
        if within(&first) && within(&second) && !has(&kept, name) {
            kept.push(item.clone());
        }
    }
    if has(&kept, "number") {
        kept.retain(|item| item.as_str() != Some("integer"));
    }
    kept
}

fn all_of(first: &Node, second: &Node) -> Node {
    let items = Kind::List(vec![first.clone(), second.clone()]);
    schema(first.span, vec![entry("allOf", first.span, items)])
}

/// Returns `properties` and what an object may have besides them; `None` where nothing conforms.
fn properties(first: &Node, second: &Node) -> Result<Option<Vec<Entry>>, Clash> {
    let mentions = |node: &Node| GROUPS[3].iter().any(|key| node.get(key).is_some());
    let own = |node: &Node| {
        let own = node.entries().iter();
        own.filter(|entry| GROUPS[3].contains(&entry.key.as_str()))
            .cloned()
            .collect()
    };
    match (mentions(first), mentions(second)) {
        (_, false) => return Ok(Some(own(first))),
        (false, true) => return Ok(Some(own(second))),
        (true, true) => {}
    }
    for key in ["patternProperties", "unevaluatedProperties"] {
        one_side(&[key, "additionalProperties"], first, second)?;
    }
    let named = |node: &Node| {
        node.get("properties")
            .map(Node::entries)
            .unwrap_or_default()
            .to_vec()
    };
    let others = |node: &Node| node.get("additionalProperties").cloned();
    let (mine, theirs) = (named(first), named(second));
    let is_required = |name: &str| {
        [first, second].iter().any(|node| {
            let required = node.get("required").map(Node::items).unwrap_or_default();
            required.iter().any(|item| item.as_str() == Some(name))
        })
    };
    let mut merged: Vec<Entry> = Vec::new();
    let pairs = mine.iter().map(|property| (property, &theirs, second));
    let only_theirs = theirs
        .iter()
        .filter(|property| !mine.iter().any(|own| own.key == property.key))
        .map(|property| (property, &mine, first));
    for (property, across, side) in pairs.chain(only_theirs) {
        let found = across.iter().find(|other| other.key == property.key);
        let other = found
            .map(|other| other.value.clone())
            .or_else(|| others(side));
        let value = match other {
            None => property.value.clone(),
            Some(other) if other.kind == Kind::Bool(true) => property.value.clone(),
            Some(other) if other.kind == Kind::Bool(false) => {
                if is_required(&property.key) {
                    return Ok(None);
                }
                continue;
            }
            Some(other) => all_of(&property.value, &other),
        };
        merged.push(Entry {
            value,
            ..property.clone()
        });
    }
    let mut out = vec![entry("properties", first.span, Kind::Map(merged))];
    let rest = ["patternProperties", "unevaluatedProperties"];
    out.extend(
        rest.iter()
            .filter_map(|key| first.entry(key).or(second.entry(key)))
            .cloned(),
    );
    let additional = match (others(first), others(second)) {
        (None, other) | (other, None) => other,
        (Some(mine), Some(theirs)) if mine.to_json() == theirs.to_json() => Some(mine),
        (Some(mine), Some(theirs)) => Some(match (&mine.kind, &theirs.kind) {
            (Kind::Bool(false), _) | (_, Kind::Bool(true)) => mine,
            (_, Kind::Bool(false)) | (Kind::Bool(true), _) => theirs,
            _ => all_of(&mine, &theirs),
        }),
    };
    if let Some(value) = additional {
        out.push(Entry {
            key: "additionalProperties".to_owned(),
            key_span: value.span,
            value,
        });
    }
    Ok(Some(out))
}
