//! Which answers that conformed to a schema may not conform to another?
//!
//! The two are walked side by side. Where nothing is reported, every old answer conforms to the new schema; a test draws
//! schemas and answers to hold that. What cannot be compared is reported: it may be a false alarm, never a missing one.

mod rules;

use std::cell::RefCell;

use serde_json::{Map, Value};

/// A place of the new schema that an old answer may miss.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Unfit {
    /// The place in an answer, as a JSON pointer; `*` is any item or any other property.
    pub(super) pointer: String,
    /// What is wrong with an old answer there.
    pub(super) text: String,
}

/// Returns why an answer that conforms to the old schema may not conform to the new one. `None` takes any JSON value.
pub(super) fn unfit(old: Option<&str>, new: Option<&str>) -> Vec<Unfit> {
    let read = |text: Option<&str>| match text {
        None => Value::Bool(true),
        // A schema that the compiler has checked can be read.
        Some(text) => serde_json::from_str(text).unwrap_or(Value::Bool(false)),
    };
    let (old, new) = (read(old), read(new));
    let walk = Walk {
        old: &old,
        new: &new,
        under_way: RefCell::default(),
    };
    let mut out = walk.unfit(&old, &new, "", 0);
    out.sort();
    out.dedup();
    out
}

/// The roots, within which references are followed.
struct Walk<'a> {
    old: &'a Value,
    new: &'a Value,
    /// The pairs that are being compared and may lead to themselves. Of such a pair nothing more can be found by
    /// comparing it within itself.
    under_way: RefCell<Vec<(Value, Value)>>,
}

const INCOMPARABLE: &str = "the two cannot be compared here";

/// So deep schemas are walked; one that refers to itself is deeper.
const DEEPEST: usize = 24;

/// Keywords that say nothing about an answer, or are read with another.
const SILENT: [&str; 17] = [
    "$schema",
    "$id",
    "$comment",
    "$defs",
    "definitions",
    "$anchor",
    "title",
    "description",
    "default",
    "examples",
    "deprecated",
    "readOnly",
    "writeOnly",
    "format",
    "contentEncoding",
    "contentMediaType",
    "contentSchema",
];

/// Keywords that are compared one by one.
const READ: [&str; 20] = [
    "type",
    "enum",
    "const",
    "properties",
    "required",
    "additionalProperties",
    "items",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "minProperties",
    "maxProperties",
    "anyOf",
    "oneOf",
    "$ref",
];

/// Keywords that decide for which places others hold: two schemas with them are the same or cannot be compared.
const DECIDING: [&str; 5] = [
    "patternProperties",
    "prefixItems",
    "additionalItems",
    "unevaluatedProperties",
    "unevaluatedItems",
];

impl Walk<'_> {
    fn unfit(&self, old: &Value, new: &Value, at: &str, depth: usize) -> Vec<Unfit> {
        if self.is_taken(old, new) {
            return Vec::new();
        }
        let may_return = refers(old) || refers(new);
        if may_return {
            let pair = (old.clone(), new.clone());
            if self.under_way.borrow().contains(&pair) {
                return Vec::new();
            }
            self.under_way.borrow_mut().push(pair);
        }
        let found = self.walked(old, new, at, depth);
        if may_return {
            self.under_way.borrow_mut().pop();
        }
        found
    }

    /// Whether the new schema is the old one, or has it among its choices.
    fn is_taken(&self, old: &Value, new: &Value) -> bool {
        if self.old != self.new && refers(old) {
            return false;
        }
        let choices = new.as_object().filter(|new| new.len() == 1);
        let choices = choices
            .and_then(|new| new.get("anyOf"))
            .and_then(Value::as_array);
        old == new || choices.is_some_and(|choices| choices.contains(old))
    }

    fn walked(&self, old: &Value, new: &Value, at: &str, depth: usize) -> Vec<Unfit> {
        let (old, new) = match (resolved(self.old, old), resolved(self.new, new)) {
            (Some(old), Some(new)) if depth < DEEPEST => (old, new),
            _ => return vec![said(at, INCOMPARABLE)],
        };
        let empty = Map::new();
        let (old, new) = match (old, new) {
            // Nothing conforms to `false`, everything to `true`.
            (Value::Bool(false), _) | (_, Value::Bool(true)) => return Vec::new(),
            (_, Value::Bool(false)) => return vec![said(at, "nothing fits any more")],
            (Value::Object(old), Value::Object(new)) => (old, new),
            (_, Value::Object(new)) => (&empty, new),
            _ => return vec![said(at, INCOMPARABLE)],
        };
        if let Some(branches) = choice(old) {
            // Whatever an answer conformed to, it was one of the branches, with what stands beside them.
            let new = Value::Object(new.clone());
            let one = |branch: &Value| self.unfit(&beside(old, branch), &new, at, depth + 1);
            return branches.iter().flat_map(one).collect();
        }
        self.compared(old, new, at, depth)
    }

    /// Compares two schemas, the old of which is no choice.
    fn compared(
        &self,
        old: &Map<String, Value>,
        new: &Map<String, Value>,
        at: &str,
        depth: usize,
    ) -> Vec<Unfit> {
        let decides = |schema: &Map<String, Value>| {
            let by_position = schema.get("items").is_some_and(Value::is_array);
            by_position || DECIDING.iter().any(|key| schema.contains_key(*key))
        };
        if decides(old) || decides(new) {
            return vec![said(at, INCOMPARABLE)];
        }
        let mut out = rules::plain(old, new, at);
        for key in ["anyOf", "oneOf"] {
            if let Some(branches) = new.get(key).and_then(Value::as_array) {
                out.extend(self.chosen(old, key, branches, at, depth));
            }
        }
        let kinds = rules::kinds(old);
        if kinds.contains(&"object") {
            out.extend(self.object(old, new, at, depth));
        }
        if kinds.contains(&"array") {
            let any = Value::Bool(true);
            let items =
                |schema: &Map<String, Value>| schema.get("items").cloned().unwrap_or(any.clone());
            let place = format!("{at}/*");
            out.extend(self.unfit(&items(old), &items(new), &place, depth + 1));
        }
        // Of the rest only what stands in the old one word for word is known to hold.
        let is_other =
            |key: &&String| !SILENT.contains(&key.as_str()) && !READ.contains(&key.as_str());
        for key in new.keys().filter(is_other) {
            let is_kept = old.get(key) == new.get(key) && !refers(&new[key]);
            if !is_kept {
                out.push(said(at, &format!("`{key}` is new or another")));
            }
        }
        out
    }

    /// A new choice takes what one of its branches takes; `oneOf` takes it only if no other branch does.
    fn chosen(
        &self,
        old: &Map<String, Value>,
        key: &str,
        branches: &[Value],
        at: &str,
        depth: usize,
    ) -> Vec<Unfit> {
        let old_one = Value::Object(old.clone());
        let fits = branches
            .iter()
            .any(|branch| self.unfit(&old_one, branch, at, depth + 1).is_empty());
        if !fits {
            return vec![said(at, "it may be none of the new choices")];
        }
        if key == "oneOf" && !rules::are_exclusive(branches) {
            return vec![said(at, "it may be more than one of the new choices")];
        }
        Vec::new()
    }

    fn object(
        &self,
        old: &Map<String, Value>,
        new: &Map<String, Value>,
        at: &str,
        depth: usize,
    ) -> Vec<Unfit> {
        let mut out = Vec::new();
        let empty = Map::new();
        let properties = |schema: &'_ Map<String, Value>| match schema.get("properties") {
            Some(Value::Object(properties)) => properties.clone(),
            _ => empty.clone(),
        };
        let rest = |schema: &Map<String, Value>| {
            schema
                .get("additionalProperties")
                .cloned()
                .unwrap_or(Value::Bool(true))
        };
        let (old_own, new_own) = (properties(old), properties(new));
        let (old_rest, new_rest) = (rest(old), rest(new));
        let required = rules::names(old.get("required"));
        for name in rules::names(new.get("required")) {
            if !required.contains(&name) {
                out.push(said(
                    &place(at, name),
                    "it is required now, and may be missing",
                ));
            }
        }
        for (name, old_one) in &old_own {
            let new_one = new_own.get(name).unwrap_or(&new_rest);
            match new_one {
                Value::Bool(false) if *old_one != Value::Bool(false) => {
                    out.push(said(&place(at, name), "it is no longer allowed"));
                }
                new_one => out.extend(self.unfit(old_one, new_one, &place(at, name), depth + 1)),
            }
        }
        for (name, new_one) in new_own
            .iter()
            .filter(|(name, _)| !old_own.contains_key(*name))
        {
            // An open object may have held anything under a name that it did not say.
            out.extend(self.unfit(&old_rest, new_one, &place(at, name), depth + 1));
        }
        match (&old_rest, &new_rest) {
            (Value::Bool(false), _) => {}
            (_, Value::Bool(false)) => out.push(said(
                &place(at, "*"),
                "further properties are no longer allowed",
            )),
            (old_rest, new_rest) => {
                out.extend(self.unfit(old_rest, new_rest, &place(at, "*"), depth + 1))
            }
        }
        out
    }
}

fn said(at: &str, text: &str) -> Unfit {
    let pointer = if at.is_empty() { "/" } else { at };
    Unfit {
        pointer: pointer.to_owned(),
        text: text.to_owned(),
    }
}

fn place(at: &str, name: &str) -> String {
    format!("{at}/{}", name.replace('~', "~0").replace('/', "~1"))
}

/// Returns the branches of a choice.
fn choice(schema: &Map<String, Value>) -> Option<&Vec<Value>> {
    let choices = ["anyOf", "oneOf"].map(|key| schema.get(key).and_then(Value::as_array));
    choices.into_iter().flatten().next()
}

/// Returns a branch with what stands beside the choice; of a keyword that both have, the branch's, which is the narrower or
/// none that holds alone.
fn beside(schema: &Map<String, Value>, branch: &Value) -> Value {
    let Value::Object(branch) = branch else {
        return branch.clone();
    };
    let mut out = schema.clone();
    let key = if out.contains_key("anyOf") {
        "anyOf"
    } else {
        "oneOf"
    };
    out.remove(key);
    // These two hold for each other: those of a branch are read without those beside it.
    let pair = ["properties", "additionalProperties"];
    if pair.iter().any(|key| branch.contains_key(*key)) {
        out.retain(|key, _| !pair.contains(&key.as_str()));
    }
    out.extend(branch.clone());
    Value::Object(out)
}

fn refers(value: &Value) -> bool {
    match value {
        Value::Object(map) => map.contains_key("$ref") || map.values().any(refers),
        Value::Array(items) => items.iter().any(refers),
        _ => false,
    }
}

/// Returns the schema that a reference means, where it is alone in its place; `None` where it cannot be followed.
fn resolved<'a>(root: &'a Value, schema: &'a Value) -> Option<&'a Value> {
    let mut schema = schema;
    for _ in 0..DEEPEST {
        let Some(target) = schema.get("$ref") else {
            return Some(schema);
        };
        let speaks = |key: &String| key != "$ref" && !SILENT.contains(&key.as_str());
        if schema.as_object()?.keys().any(speaks) {
            return None;
        }
        schema = root.pointer(target.as_str()?.strip_prefix('#')?)?;
    }
    None
}

#[cfg(test)]
mod tests;
