//! How are the types read out of a schema?

use std::collections::{BTreeMap, HashSet};

use super::{Def, Field, Rest, Scalar, Shape, Ty, Types, Variant, swap};
use crate::diagnostic::{Diagnostic, Sink};
use crate::names::{Taken, pascal, snake};
use crate::node::{Entry, Kind, Node};
use crate::schema::{Targets, pointer_part};
use crate::source::Span;

/// Reads the types of a schema whose root type has this name. `taken` are names that the module has already.
pub(crate) fn read(root: &Node, name: &str, taken: Taken, sink: &mut Sink) -> Types {
    let mut reader = Reader {
        targets: Targets::new(root),
        defs: Vec::new(),
        taken,
        known: BTreeMap::new(),
        depth: 0,
        sink,
    };
    let ty = reader.named(root, name, "");
    if ty != Ty::Named(0) {
        // The name belongs to the root, also where an inner type (a nullable root's) came to it first.
        if let Some(inner) = reader.defs.iter().position(|def| def.name == name) {
            reader.defs[inner].name = reader.taken.take(format!("{name}Value"));
        }
        let moved = reader.defs.len();
        reader.defs.push(Def {
            name: name.to_owned(),
            docs: docs(root),
            shape: Shape::Newtype(ty),
        });
        // The root comes first: whoever reads the generated file is looking for it.
        swap(&mut reader.defs, moved);
    }
    let mut types = Types { defs: reader.defs };
    types.box_cycles();
    types
}

/// Deeper chains than this are references in a circle without a type in it.
const MAX_DEPTH: usize = 128;

struct Reader<'a> {
    targets: Targets<'a>,
    defs: Vec<Def>,
    taken: Taken,
    known: BTreeMap<Span, Ty>,
    depth: usize,
    sink: &'a mut Sink,
}

impl Reader<'_> {
    /// Reads a schema; `name` is what its type is called if it needs one.
    fn named(&mut self, node: &Node, name: &str, pointer: &str) -> Ty {
        if let Some(known) = self.known.get(&node.span) {
            return known.clone();
        }
        if self.depth > MAX_DEPTH {
            return self.fallback(node, pointer, "the references go round in a circle");
        }
        self.depth += 1;
        let ty = self.read(node, name, pointer);
        self.depth -= 1;
        self.known.insert(node.span, ty.clone());
        ty
    }

    fn read(&mut self, node: &Node, name: &str, pointer: &str) -> Ty {
        if matches!(node.kind, Kind::Bool(_)) {
            return Ty::Value;
        }
        if let Some(reference) = node.get("$ref").and_then(Node::as_str) {
            return self.reference(node, reference, name, pointer);
        }
        let title = node
            .get("title")
            .and_then(Node::as_str)
            .filter(|title| pascal(title).len() <= 40);
        let name = title
            .filter(|_| !pointer.is_empty())
            .map_or(name.to_owned(), pascal);
        if let Some(values) = node.get("enum") {
            return self.values(node, values.items(), &name, pointer);
        }
        if let Some(value) = node.get("const") {
            return self.values(node, std::slice::from_ref(value), &name, pointer);
        }
        match node.get("type").map(|kind| &kind.kind) {
            Some(Kind::String(kind)) => self.typed(node, kind, &name, pointer),
            Some(Kind::List(kinds)) => self.several(node, kinds, &name, pointer),
            _ => self.untyped(node, &name, pointer),
        }
    }

    fn reference(&mut self, node: &Node, reference: &str, name: &str, pointer: &str) -> Ty {
        let Some(target) = self.targets.resolve(reference) else {
            return self.fallback(node, pointer, "a reference by anchor or `$id`");
        };
        let last = reference.rsplit('/').next().unwrap_or("");
        let last = last.replace("~1", "/").replace("~0", "~");
        let name = if last.is_empty() || last == "#" {
            name.to_owned()
        } else {
            pascal(last.trim_end_matches(".json"))
        };
        let pointer = reference.trim_start_matches('#').to_owned();
        self.named(target, &name, &pointer)
    }

    fn typed(&mut self, node: &Node, kind: &str, name: &str, pointer: &str) -> Ty {
        match kind {
            "string" => Ty::String,
            "integer" => integer(node),
            "number" => Ty::Number,
            "boolean" => Ty::Boolean,
            "null" => Ty::Null,
            "array" => self.array(node, name, pointer),
            _ => self.object(node, name, pointer),
        }
    }

    fn several(&mut self, node: &Node, kinds: &[Node], name: &str, pointer: &str) -> Ty {
        let names: Vec<_> = kinds.iter().filter_map(Node::as_str).collect();
        let nullable = names.contains(&"null");
        let others: Vec<_> = names.into_iter().filter(|kind| *kind != "null").collect();
        let ty = match others.as_slice() {
            [] => return Ty::Null,
            [kind] => self.typed(node, kind, name, pointer),
            ["integer", "number"] | ["number", "integer"] => Ty::Number,
            _ => return self.fallback(node, pointer, "a choice of several types"),
        };
        if nullable {
            Ty::Nullable(Box::new(ty))
        } else {
            ty
        }
    }

    /// A schema without `type`: a choice with null, a wrapper around one schema, anything at all, or too much.
    fn untyped(&mut self, node: &Node, name: &str, pointer: &str) -> Ty {
        const SILENT: [&str; 9] = [
            "title",
            "description",
            "$comment",
            "$schema",
            "$id",
            "default",
            "examples",
            "$defs",
            "definitions",
        ];
        let said: Vec<_> = node
            .entries()
            .iter()
            .filter(|entry| !SILENT.contains(&entry.key.as_str()))
            .collect();
        match said.as_slice() {
            [] => Ty::Value,
            [Entry { key, value, .. }] if matches!(key.as_str(), "anyOf" | "oneOf" | "allOf") => {
                let is_null =
                    |item: &&Node| item.get("type").and_then(Node::as_str) == Some("null");
                let real: Vec<_> = value.items().iter().filter(|item| !is_null(item)).collect();
                let nullable = real.len() < value.items().len();
                match real.as_slice() {
                    [one] if !(nullable && key == "allOf") => {
                        let index = value
                            .items()
                            .iter()
                            .position(|item| item.span == one.span)
                            .unwrap_or(0);
                        let ty = self.named(one, name, &format!("{pointer}/{key}/{index}"));
                        if nullable { nullable_of(ty) } else { ty }
                    }
                    _ => self.fallback(node, pointer, &format!("`{key}` over several schemas")),
                }
            }
            _ if node.get("properties").is_some() => {
                self.fallback(node, pointer, "`properties` without `\"type\": \"object\"`")
            }
            _ => self.fallback(node, pointer, "a schema without `type`"),
        }
    }

    fn array(&mut self, node: &Node, name: &str, pointer: &str) -> Ty {
        if node.get("prefixItems").is_some()
            || node
                .get("items")
                .is_some_and(|items| matches!(items.kind, Kind::List(_)))
        {
            return self.fallback(node, pointer, "a tuple");
        }
        let Some(items) = node.get("items") else {
            return Ty::List(Box::new(Ty::Value));
        };
        let item = self.named(items, &item_name(name), &format!("{pointer}/items"));
        Ty::List(Box::new(item))
    }

    fn object(&mut self, node: &Node, name: &str, pointer: &str) -> Ty {
        let properties = node
            .get("properties")
            .map(Node::entries)
            .unwrap_or_default();
        let patterns = node
            .get("patternProperties")
            .is_some_and(|patterns| !patterns.entries().is_empty());
        let additional = node.get("additionalProperties");
        let closed = additional.is_some_and(|value| value.kind == Kind::Bool(false));
        if properties.is_empty() && (!closed || patterns) {
            return Ty::Map(Box::new(self.rest(additional, patterns, name, pointer)));
        }
        let index = self.reserve(node, name);
        let name = self.defs[index].name.clone();
        let required = node.get("required").map(Node::items).unwrap_or_default();
        let required: HashSet<_> = required.iter().filter_map(Node::as_str).collect();
        let mut taken = Taken::default();
        let mut fields = Vec::new();
        for property in properties {
            let key = property.key.as_str();
            let at = format!("{pointer}/properties/{}", pointer_part(key));
            let ty = self.named(&property.value, &format!("{name}{}", pascal(key)), &at);
            let required = required.contains(key);
            let docs = docs(&property.value);
            fields.push(Field {
                name: taken.take(snake(key)),
                key: key.to_owned(),
                docs,
                ty,
                required,
            });
        }
        let rest = (!closed || patterns).then(|| {
            let ty = self.rest(additional, patterns, &name, pointer);
            Rest {
                name: taken.take("additional_properties".to_owned()),
                ty,
            }
        });
        self.defs[index].shape = Shape::Struct { fields, rest };
        Ty::Named(index)
    }

    /// The type of the properties that are not listed.
    fn rest(&mut self, additional: Option<&Node>, patterns: bool, name: &str, pointer: &str) -> Ty {
        match additional {
            Some(schema) if !patterns && matches!(schema.kind, Kind::Map(_)) => self.named(
                schema,
                &format!("{name}Value"),
                &format!("{pointer}/additionalProperties"),
            ),
            _ => Ty::Value,
        }
    }

    fn values(&mut self, node: &Node, values: &[Node], name: &str, pointer: &str) -> Ty {
        let mut scalars: Vec<Scalar> = Vec::new();
        let mut seen = HashSet::new();
        for value in values {
            match scalar(value) {
                Some(value) if !seen.insert(value.clone()) => {}
                Some(value) => scalars.push(value),
                None => {
                    return self.fallback(
                        node,
                        pointer,
                        "an enum of other than strings, whole numbers, booleans and null",
                    );
                }
            }
        }
        let nullable = scalars.contains(&Scalar::Null);
        let others: Vec<_> = scalars
            .iter()
            .filter(|value| **value != Scalar::Null)
            .cloned()
            .collect();
        if others.is_empty() {
            return Ty::Null;
        }
        let mut taken = Taken::default();
        let texts: Option<Vec<_>> = others
            .iter()
            .map(|value| match value {
                Scalar::String(text) => Some(text.clone()),
                _ => None,
            })
            .collect();
        let index = self.reserve(node, name);
        if let Some(texts) = texts {
            let named = texts.into_iter().map(|value| Variant {
                name: taken.take(pascal(&value)),
                value,
            });
            self.defs[index].shape = Shape::Enum(named.collect());
            let ty = Ty::Named(index);
            return if nullable {
                Ty::Nullable(Box::new(ty))
            } else {
                ty
            };
        }
        let named = scalars.into_iter().map(|value| Variant {
            name: taken.take(scalar_name(&value)),
            value,
        });
        self.defs[index].shape = Shape::Scalars(named.collect());
        Ty::Named(index)
    }

    /// Takes a name for the type of this schema; references to it find the name while it is still being read.
    fn reserve(&mut self, node: &Node, name: &str) -> usize {
        let index = self.defs.len();
        let name = self.taken.take(name.to_owned());
        self.defs.push(Def {
            name,
            docs: docs(node),
            shape: Shape::Open,
        });
        self.known.insert(node.span, Ty::Named(index));
        index
    }

    fn fallback(&mut self, node: &Node, pointer: &str, what: &str) -> Ty {
        let pointer = if pointer.is_empty() { "/" } else { pointer };
        let message = format!("`{pointer}` becomes a JSON value: {what} has no Rust type yet");
        let help =
            "answers are still checked against the whole schema; only the field's type is loose";
        self.sink.push(
            Diagnostic::warning("untyped-schema", message)
                .at(node.span)
                .help(help),
        );
        Ty::Value
    }
}

fn nullable_of(ty: Ty) -> Ty {
    match ty {
        Ty::Nullable(_) | Ty::Value | Ty::Null => ty,
        other => Ty::Nullable(Box::new(other)),
    }
}

/// `Tags` holds `Tag`s, `Items` holds `Item`s; anything else holds `…Item`s.
fn item_name(name: &str) -> String {
    match name.strip_suffix('s') {
        Some(one) if one.len() > 2 && !one.ends_with(['s', 'u', 'i']) => one.to_owned(),
        _ => format!("{name}Item"),
    }
}

/// Whole numbers are `i64`, unless the bounds say that only `u64` holds them.
fn integer(node: &Node) -> Ty {
    let bound = |key: &str| match node.get(key).map(|value| &value.kind) {
        Some(Kind::Number(text)) => text.parse::<f64>().ok(),
        _ => None,
    };
    let positive = bound("minimum").is_some_and(|least| least >= 0.0);
    let large = bound("maximum").is_some_and(|most| most > i64::MAX as f64);
    if positive && large {
        Ty::Unsigned
    } else {
        Ty::Integer
    }
}

fn scalar(node: &Node) -> Option<Scalar> {
    Some(match &node.kind {
        Kind::String(text) => Scalar::String(text.clone()),
        Kind::Bool(value) => Scalar::Boolean(*value),
        Kind::Null => Scalar::Null,
        Kind::Number(text) => Scalar::Integer(text.parse().ok()?),
        Kind::List(_) | Kind::Map(_) => return None,
    })
}

fn scalar_name(value: &Scalar) -> String {
    match value {
        Scalar::String(text) => pascal(text),
        Scalar::Integer(number) if *number < 0 => format!("Minus{}", number.unsigned_abs()),
        Scalar::Integer(number) => format!("N{number}"),
        Scalar::Boolean(true) => "True".to_owned(),
        Scalar::Boolean(false) => "False".to_owned(),
        Scalar::Null => "Null".to_owned(),
    }
}

fn docs(node: &Node) -> Option<String> {
    let text = node.get("description").and_then(Node::as_str)?.trim();
    (!text.is_empty()).then(|| text.to_owned())
}
