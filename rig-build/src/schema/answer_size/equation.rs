//! How does the size of what conforms to a schema follow from the sizes of its subschemas?

use std::collections::{BTreeMap, BTreeSet};

use super::Size;
use super::parts::{Id, List, Object, Property, Value};
use super::scalar::{Types, count, scalars, values};
use crate::node::{Kind, Node};
use crate::schema::resolve;

/// What a value has to be all at once.
pub(super) struct Equation(Vec<Part>);

/// One of the things that a schema says.
enum Part {
    /// The size is known.
    Fixed(Size),
    /// The value conforms to this schema.
    Is(Id),
    /// The value conforms to one of these schemas.
    OneOf(Vec<Id>),
    /// The value is what the schema's own keywords let through.
    Own {
        scalars: Size,
        list: Option<List>,
        object: Option<Object>,
    },
}

/// A schema with more parts than this is not looked into.
const MAX_EQUATIONS: usize = 50_000;

/// Returns the equations of a schema, its own first. `None` where there are too many, or where a part is of another
/// dialect.
pub(super) fn equations(root: &Node) -> Option<Vec<Equation>> {
    let names_below = |key: &str| root.entries().iter().any(|entry| names(&entry.value, key));
    if names_below("$schema") {
        return None;
    }
    let dialect = root
        .get("$schema")
        .and_then(Node::as_str)
        .unwrap_or_default();
    let mut reader = Reader {
        root,
        draft_07: dialect.contains("draft-07"),
        // A subschema with an `$id` may change what the references below it mean.
        follows_references: !names_below("$id"),
        known: BTreeMap::new(),
        open: Vec::new(),
    };
    reader.id(root, Types::ALL);
    let mut done = Vec::new();
    while let Some((schema, types)) = reader.open.get(done.len()).copied() {
        if done.len() == MAX_EQUATIONS {
            return None;
        }
        done.push(reader.equation(schema, types));
    }
    Some(done)
}

/// Returns whether there is such a keyword here or below; draft-07 writes anchors as `"$id": "#name"`.
fn names(node: &Node, key: &str) -> bool {
    let own = node.get(key).and_then(Node::as_str);
    own.is_some_and(|value| !value.starts_with('#'))
        || node.entries().iter().any(|entry| names(&entry.value, key))
        || node.items().iter().any(|item| names(item, key))
}

struct Reader<'a> {
    root: &'a Node,
    draft_07: bool,
    follows_references: bool,
    /// The equation of each schema, by its address: after bundling, two schemas may share a span.
    known: BTreeMap<(*const Node, Types), Id>,
    /// The schemas in the order of their equations.
    open: Vec<(&'a Node, Types)>,
}

impl<'a> Reader<'a> {
    /// Returns the equation of the values of these types that conform to a schema.
    fn id(&mut self, schema: &'a Node, types: Types) -> Id {
        let new = self.open.len();
        let key = (std::ptr::from_ref(schema), types);
        let id = *self.known.entry(key).or_insert(new);
        if id == new {
            self.open.push((schema, types));
        }
        id
    }

    fn equation(&mut self, schema: &'a Node, types: Types) -> Equation {
        if schema.kind == Kind::Bool(false) {
            return Equation(vec![Part::Fixed(Size::NOTHING)]);
        }
        let target = schema.get("$ref").and_then(Node::as_str);
        let target = target
            .filter(|_| self.follows_references)
            .and_then(|text| resolve(self.root, text));
        if self.draft_07 && schema.get("$ref").is_some() {
            // In this draft the other keywords beside a reference mean nothing.
            let part = match target {
                Some(target) => Part::Is(self.id(target, types)),
                None => Part::Fixed(Size::ANYTHING),
            };
            return Equation(vec![part]);
        }
        let members = schema.get("allOf").map(Node::items).unwrap_or_default();
        // What one part says of the type bounds what the others leave open.
        let types = [schema]
            .into_iter()
            .chain(members)
            .chain(target)
            .fold(types, |types, part| types.both(self.types(part)));
        let mut parts = vec![Part::Own {
            scalars: scalars(schema, types),
            list: types.has(Types::LIST).then(|| self.list(schema)),
            object: types.has(Types::OBJECT).then(|| self.object(schema)),
        }];
        if let Some(given) = schema.get("enum") {
            parts.push(Part::Fixed(values(given.items(), types)));
        }
        if let Some(given) = schema.get("const") {
            parts.push(Part::Fixed(values(std::slice::from_ref(given), types)));
        }
        parts.extend(target.map(|target| Part::Is(self.id(target, types))));
        for member in members {
            parts.push(Part::Is(self.id(member, types)));
        }
        for choice in ["anyOf", "oneOf"] {
            let members = schema.get(choice).map(Node::items).unwrap_or_default();
            let members: Vec<_> = members
                .iter()
                .map(|member| self.id(member, types))
                .collect();
            if !members.is_empty() {
                parts.push(Part::OneOf(members));
            }
        }
        Equation(parts)
    }

    /// Returns the types that a schema's own `type` lets through.
    fn types(&self, schema: &Node) -> Types {
        match self.draft_07 && schema.get("$ref").is_some() {
            true => Types::ALL,
            false => Types::of_schema(schema),
        }
    }

    fn list(&mut self, schema: &'a Node) -> List {
        let items = schema.get("items");
        let tuple = items.filter(|items| matches!(items.kind, Kind::List(_)));
        let (first, rest) = match (self.draft_07, tuple) {
            (true, Some(_)) => (tuple, schema.get("additionalItems")),
            (true, None) => (None, items),
            // Here a list of schemas means nothing.
            (false, Some(_)) => (schema.get("prefixItems"), None),
            (false, None) => (schema.get("prefixItems"), items),
        };
        let first = first.map(Node::items).unwrap_or_default();
        List {
            first: first.iter().map(|item| self.any(item)).collect(),
            rest: rest.map(|rest| self.any(rest)),
            least: count(schema, "minItems").unwrap_or(0),
            most: count(schema, "maxItems").unwrap_or(u64::MAX),
        }
    }

    fn object(&mut self, schema: &'a Node) -> Object {
        let described = schema
            .get("properties")
            .map(Node::entries)
            .unwrap_or_default();
        let required = schema.get("required").map(Node::items).unwrap_or_default();
        let required: BTreeSet<_> = required.iter().filter_map(Node::as_str).collect();
        let has_patterns = schema.get("patternProperties").is_some();
        let additional = schema.get("additionalProperties").filter(|_| !has_patterns);
        let other = match additional {
            None => Value::Anything,
            Some(schema) if schema.kind == Kind::Bool(false) => Value::Nothing,
            Some(schema) => Value::Schema(self.any(schema)),
        };
        let mut object = Object {
            required: Vec::new(),
            optional: Vec::new(),
            closed: matches!(other, Value::Nothing),
            least: count(schema, "minProperties").unwrap_or(0),
        };
        for entry in described {
            let value = Value::Schema(self.any(&entry.value));
            let target = match required.contains(entry.key.as_str()) {
                true => &mut object.required,
                false => &mut object.optional,
            };
            target.push(Property::new(&entry.key, value));
        }
        let described: BTreeSet<_> = described.iter().map(|entry| entry.key.as_str()).collect();
        let others = required.difference(&described);
        object
            .required
            .extend(others.map(|key| Property::new(key, other)));
        object
    }

    /// Returns the equation of the values of any type that conform to a schema.
    fn any(&mut self, schema: &'a Node) -> Id {
        self.id(schema, Types::ALL)
    }
}

impl Equation {
    /// Returns the equations whose sizes this one asks for.
    pub(super) fn asks(&self) -> Vec<Id> {
        let mut out = Vec::new();
        for part in &self.0 {
            match part {
                Part::Fixed(_) => {}
                Part::Is(id) => out.push(*id),
                Part::OneOf(ids) => out.extend(ids),
                Part::Own { list, object, .. } => {
                    out.extend(list.iter().flat_map(List::asks));
                    out.extend(object.iter().flat_map(Object::asks));
                }
            }
        }
        out
    }

    /// Returns the size that follows from the others.
    pub(super) fn size(&self, sizes: &[Size]) -> Size {
        let parts = self.0.iter().map(|part| part.size(sizes));
        parts.fold(Size::ANYTHING, Size::and)
    }
}

impl Part {
    fn size(&self, sizes: &[Size]) -> Size {
        match self {
            Self::Fixed(size) => *size,
            Self::Is(id) => sizes[*id],
            Self::OneOf(ids) => {
                let choices = ids.iter().map(|id| sizes[*id]);
                choices.fold(Size::NOTHING, Size::or)
            }
            Self::Own {
                scalars,
                list,
                object,
            } => {
                let list = list.as_ref().map(|list| list.size(sizes));
                let object = object.as_ref().map(|object| object.size(sizes));
                let parts = list.into_iter().chain(object);
                parts.fold(*scalars, Size::or)
            }
        }
    }
}
