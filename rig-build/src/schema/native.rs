//! Can a provider enforce this schema itself?
//!
//! Source of the rules: the providers' public documentation of structured output, as of August 2026.

use std::collections::{HashMap, HashSet};

use rig_spec::NativeSchema;

use super::{Targets, children};
use crate::node::{Kind, Node};
use crate::source::Span;

/// What keeps a provider from enforcing a schema.
#[derive(Debug)]
pub(crate) struct Obstacle {
    pub(crate) span: Span,
    pub(crate) pointer: String,
    pub(crate) reason: String,
}

/// OpenAI allows ten levels.
const OPENAI_DEPTH: usize = 10;

/// Returns the first thing in the schema that the provider does not take.
pub(crate) fn obstacle(kind: NativeSchema, root: &Node) -> Option<Obstacle> {
    if kind == NativeSchema::Any {
        return None;
    }
    let at = |reason: &str| {
        Some(Obstacle {
            span: root.span,
            pointer: "/".to_owned(),
            reason: reason.to_owned(),
        })
    };
    if root.get("type").and_then(Node::as_str) != Some("object") {
        return at("its root has to have `type: object`");
    }
    if root.get("anyOf").or(root.get("oneOf")).is_some() {
        return at("its root may not be a choice");
    }
    if kind == NativeSchema::Anthropic && is_recursive(root) {
        return at("it may not be recursive");
    }
    walk(kind, root, "", 0)
}

fn walk(kind: NativeSchema, node: &Node, pointer: &str, depth: usize) -> Option<Obstacle> {
    let found = |span, reason: String| {
        let pointer = if pointer.is_empty() { "/" } else { pointer };
        Some(Obstacle {
            span,
            pointer: pointer.to_owned(),
            reason,
        })
    };
    if let Some(entry) = node
        .entries()
        .iter()
        .find(|entry| refuses(kind, &entry.key, &entry.value))
    {
        return found(entry.key_span, format!("it does not take `{}`", entry.key));
    }
    if matches!(node.kind, Kind::Bool(_)) {
        return found(
            node.span,
            "it does not take `true` and `false` as schemas".to_owned(),
        );
    }
    if is_object(node) {
        let closed = node
            .get("additionalProperties")
            .is_some_and(|value| value.kind == Kind::Bool(false));
        if !closed {
            return found(
                node.span,
                "every object needs `\"additionalProperties\": false`".to_owned(),
            );
        }
        let required = node.get("required").map(Node::items).unwrap_or_default();
        let required: HashSet<_> = required.iter().filter_map(Node::as_str).collect();
        let mut properties = node
            .get("properties")
            .map(Node::entries)
            .unwrap_or_default()
            .iter();
        let optional = properties.find(|property| !required.contains(property.key.as_str()));
        if let Some(property) = optional
            && kind == NativeSchema::OpenAiStrict
        {
            return found(
                property.key_span,
                format!(
                    "every property has to be required, `{}` is not",
                    property.key
                ),
            );
        }
    }
    if kind == NativeSchema::OpenAiStrict && depth > 2 * OPENAI_DEPTH {
        return found(
            node.span,
            format!("it nests deeper than {OPENAI_DEPTH} levels"),
        );
    }
    children(node)
        .into_iter()
        .filter(|(part, _)| part != "/additionalProperties")
        .find_map(|(part, child)| walk(kind, child, &format!("{pointer}{part}"), depth + 1))
}

fn is_object(node: &Node) -> bool {
    let named = |node: &Node| node.as_str() == Some("object");
    node.get("properties").is_some()
        || node
            .get("type")
            .is_some_and(|kind| named(kind) || kind.items().iter().any(named))
}

fn refuses(kind: NativeSchema, keyword: &str, value: &Node) -> bool {
    match keyword {
        "allOf"
        | "oneOf"
        | "not"
        | "if"
        | "then"
        | "else"
        | "dependentRequired"
        | "dependentSchemas"
        | "dependencies"
        | "patternProperties"
        | "propertyNames"
        | "contains"
        | "prefixItems"
        | "unevaluatedProperties"
        | "unevaluatedItems" => true,
        "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" | "multipleOf"
        | "minLength" | "maxLength" | "maxItems" | "uniqueItems" | "minProperties"
        | "maxProperties" => kind == NativeSchema::Anthropic,
        "minItems" => {
            kind == NativeSchema::Anthropic
                && !matches!(&value.kind, Kind::Number(text) if text == "0" || text == "1")
        }
        _ => false,
    }
}

/// Returns whether a reference leads back to a schema that contains it. Without recursion: a chain of references
/// may be as long as the file.
fn is_recursive(root: &Node) -> bool {
    let targets = Targets::new(root);
    let is_definition = |part: &str| part.starts_with("/$defs") || part.starts_with("/definitions");
    // Whether a schema is still being looked through, or is known to lead back to none that contains it.
    let mut open: HashMap<Span, bool> = HashMap::new();
    let mut next = vec![Step::Into(root)];
    while let Some(step) = next.pop() {
        let node = match step {
            Step::OutOf(span) => {
                open.insert(span, false);
                continue;
            }
            Step::Into(node) => node,
        };
        match open.insert(node.span, true) {
            Some(true) => return true,
            Some(false) => {
                open.insert(node.span, false);
                continue;
            }
            None => next.push(Step::OutOf(node.span)),
        }
        let target = node.get("$ref").and_then(Node::as_str);
        let target = target.and_then(|text| targets.resolve(text));
        let below = children(node)
            .into_iter()
            .filter(|(part, _)| !is_definition(part))
            .map(|(_, child)| child);
        next.extend(target.into_iter().chain(below).map(Step::Into));
    }
    false
}

/// What is still to be done in `is_recursive`.
enum Step<'a> {
    Into(&'a Node),
    OutOf(Span),
}
