//! Is the file a JSON Schema (2020-12 or draft-07)?
//!
//! Checks the values of the keywords that the two drafts define. Unknown keywords are left alone.

use std::collections::HashSet;

use rig_spec::Pattern;

use crate::diagnostic::{Diagnostic, Sink};
use crate::fields::unknown;
use crate::node::{Kind, Node};
use crate::source::Span;

/// What a keyword's value has to be.
#[derive(Clone, Copy)]
enum Shape {
    Schema,
    SchemaOrList,
    SchemaList,
    SchemaMap,
    SchemaByPattern,
    Text,
    Pattern,
    Flag,
    Count,
    Number,
    Names,
    Values,
    Types,
}

const KEYWORDS: [(&str, Shape); 47] = [
    ("$schema", Shape::Text),
    ("$id", Shape::Text),
    ("$ref", Shape::Text),
    ("$anchor", Shape::Text),
    ("$dynamicRef", Shape::Text),
    ("$dynamicAnchor", Shape::Text),
    ("$comment", Shape::Text),
    ("$defs", Shape::SchemaMap),
    ("definitions", Shape::SchemaMap),
    ("title", Shape::Text),
    ("description", Shape::Text),
    ("type", Shape::Types),
    ("enum", Shape::Values),
    ("properties", Shape::SchemaMap),
    ("patternProperties", Shape::SchemaByPattern),
    ("additionalProperties", Shape::Schema),
    ("unevaluatedProperties", Shape::Schema),
    ("propertyNames", Shape::Schema),
    ("required", Shape::Names),
    ("minProperties", Shape::Count),
    ("maxProperties", Shape::Count),
    ("dependentSchemas", Shape::SchemaMap),
    ("items", Shape::SchemaOrList),
    ("prefixItems", Shape::SchemaList),
    ("additionalItems", Shape::Schema),
    ("unevaluatedItems", Shape::Schema),
    ("contains", Shape::Schema),
    ("minContains", Shape::Count),
    ("maxContains", Shape::Count),
    ("minItems", Shape::Count),
    ("maxItems", Shape::Count),
    ("uniqueItems", Shape::Flag),
    ("minLength", Shape::Count),
    ("maxLength", Shape::Count),
    ("pattern", Shape::Pattern),
    ("format", Shape::Text),
    ("minimum", Shape::Number),
    ("maximum", Shape::Number),
    ("exclusiveMinimum", Shape::Number),
    ("exclusiveMaximum", Shape::Number),
    ("multipleOf", Shape::Number),
    ("allOf", Shape::SchemaList),
    ("anyOf", Shape::SchemaList),
    ("oneOf", Shape::SchemaList),
    ("not", Shape::Schema),
    ("if", Shape::Schema),
    ("then", Shape::Schema),
];

const TYPES: [&str; 7] = [
    "string", "number", "integer", "boolean", "array", "object", "null",
];

/// Reports every place where the tree is no schema.
pub(crate) fn check(root: &Node, sink: &mut Sink) {
    schema(root, "", sink);
}

fn schema(node: &Node, pointer: &str, sink: &mut Sink) {
    match node.kind {
        Kind::Bool(_) => return,
        Kind::Map(_) => {}
        _ => {
            let help = "write an object of keywords, e.g. `{\"type\": \"object\"}`";
            sink.push(
                bad(
                    pointer,
                    &format!("a schema has to be an object, found {}", node.described()),
                    node,
                )
                .help(help),
            );
            return;
        }
    }
    for entry in node.entries() {
        let key = entry.key.as_str();
        let shape = KEYWORDS
            .iter()
            .find(|(name, _)| *name == key)
            .map(|(_, shape)| *shape);
        let shape = shape.or((key == "else").then_some(Shape::Schema));
        if let Some(shape) = shape {
            keyword(key, shape, &entry.value, &format!("{pointer}/{key}"), sink);
        }
    }
}

fn keyword(key: &str, shape: Shape, value: &Node, pointer: &str, sink: &mut Sink) {
    let mut wrong = |wanted: &str| {
        let message = format!("`{key}` has to be {wanted}, found {}", value.described());
        sink.push(
            bad(pointer, &message, value).help("see the JSON Schema reference for the keyword"),
        );
    };
    match (shape, &value.kind) {
        (Shape::Text, Kind::String(_)) | (Shape::Flag, Kind::Bool(_)) => {}
        (Shape::Pattern, Kind::String(text)) => pattern(text, value.span, pointer, sink),
        (Shape::Text | Shape::Pattern, _) => wrong("a string"),
        (Shape::Flag, _) => wrong("`true` or `false`"),
        (Shape::Count, Kind::Number(text)) if is_count(text) => {}
        (Shape::Count, _) => wrong("a whole number that is not negative"),
        (Shape::Number, Kind::Number(text)) => {
            let positive = text.parse::<f64>().is_ok_and(|number| number > 0.0);
            if key == "multipleOf" && !positive {
                wrong("a number above 0");
            }
        }
        (Shape::Number, _) => wrong("a number"),
        (Shape::Values, Kind::List(items)) if !items.is_empty() => {}
        (Shape::Values, _) => wrong("a list of values that is not empty"),
        (Shape::Names, Kind::List(items)) => {
            let mut seen = HashSet::new();
            let mut texts = items.iter().map(Node::as_str);
            if !texts.all(|text| text.is_some_and(|text| seen.insert(text))) {
                wrong("a list of different strings");
            }
        }
        (Shape::Names, _) => wrong("a list of strings"),
        (Shape::Types, Kind::List(items)) if !items.is_empty() => {
            items.iter().for_each(|item| type_name(item, pointer, sink));
        }
        (Shape::Types, _) => type_name(value, pointer, sink),
        (Shape::SchemaOrList, Kind::List(items)) => list(items, pointer, sink),
        (Shape::SchemaList, Kind::List(items)) if !items.is_empty() => list(items, pointer, sink),
        (Shape::SchemaList, _) => wrong("a list of schemas that is not empty"),
        (Shape::Schema | Shape::SchemaOrList, _) => schema(value, pointer, sink),
        (Shape::SchemaMap | Shape::SchemaByPattern, Kind::Map(entries)) => {
            for entry in entries {
                if let Shape::SchemaByPattern = shape {
                    pattern(&entry.key, entry.key_span, pointer, sink);
                }
                schema(
                    &entry.value,
                    &format!("{pointer}/{}", super::pointer_part(&entry.key)),
                    sink,
                );
            }
        }
        (Shape::SchemaMap | Shape::SchemaByPattern, _) => {
            wrong("an object whose values are schemas")
        }
    }
}

fn list(items: &[Node], pointer: &str, sink: &mut Sink) {
    for (index, item) in items.iter().enumerate() {
        schema(item, &format!("{pointer}/{index}"), sink);
    }
}

fn type_name(node: &Node, pointer: &str, sink: &mut Sink) {
    match node.as_str() {
        Some(name) if TYPES.contains(&name) => {}
        Some(name) => {
            let message = format!("there is no type `{name}` (at `{pointer}`)");
            sink.push(unknown("bad-schema", message, name, &TYPES, node.span));
        }
        None => {
            let message = format!("`type` has to be a type's name, found {}", node.described());
            sink.push(
                bad(pointer, &message, node)
                    .help("write e.g. `\"string\"`, or a list of such names"),
            );
        }
    }
}

/// Reports a text that is no ECMA-262 pattern.
fn pattern(text: &str, span: Span, pointer: &str, sink: &mut Sink) {
    if let Err(fault) = Pattern::new(text) {
        let message = format!(
            "`{text}` is not a pattern: {}, at character {} (at `{pointer}`)",
            fault.reason,
            fault.at + 1
        );
        sink.push(
            Diagnostic::error("bad-schema", message)
                .at(span)
                .help("write an ECMA-262 regular expression"),
        );
    }
}

/// A count may be written `2.0`: JSON Schema compares values, not spellings.
fn is_count(text: &str) -> bool {
    text.parse::<f64>()
        .is_ok_and(|number| number >= 0.0 && number.fract() == 0.0)
}

fn bad(pointer: &str, message: &str, node: &Node) -> Diagnostic {
    let pointer = if pointer.is_empty() { "/" } else { pointer };
    Diagnostic::error("bad-schema", format!("{message} (at `{pointer}`)")).at(node.span)
}
