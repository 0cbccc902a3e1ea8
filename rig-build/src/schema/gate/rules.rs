//! Which rules does one schema state, keyword by keyword?

use std::collections::HashMap;

use rig_spec::{
    Contains, Key, Kinds, ListRules, Literal, Logic, Node as Compiled, NodeId, Number, NumberRules,
    ObjectRules, TextRules, Values,
};

use super::{Compiler, Draft, Place, ScopeId};
use crate::node::{Kind, Node};

/// The keywords of both drafts by which a value can be refused.
const JUDGING: [&str; 31] = [
    "type",
    "enum",
    "const",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "pattern",
    "minItems",
    "maxItems",
    "uniqueItems",
    "items",
    "additionalItems",
    "contains",
    "minProperties",
    "maxProperties",
    "required",
    "properties",
    "patternProperties",
    "additionalProperties",
    "propertyNames",
    "allOf",
    "anyOf",
    "oneOf",
    "not",
    "if",
    "then",
    "else",
];
const ONLY_DRAFT_07: [&str; 1] = ["dependencies"];
const ONLY_2020_12: [&str; 7] = [
    "$ref",
    "$dynamicRef",
    "prefixItems",
    "dependentRequired",
    "dependentSchemas",
    "unevaluatedItems",
    "unevaluatedProperties",
];

/// Returns whether a value can be refused by a keyword. In draft-07 `$ref` stands alone, and is seen to before.
pub(super) fn judges(keyword: &str, draft: Draft) -> bool {
    let own: &[&str] = match draft {
        Draft::Draft07 => &ONLY_DRAFT_07,
        Draft::Draft202012 => &ONLY_2020_12,
    };
    JUDGING.contains(&keyword) || own.contains(&keyword)
}

impl<'a> Compiler<'a> {
    /// Returns the rules of one schema.
    pub(super) fn rules(&mut self, place: Place<'a>, scope: ScopeId) -> Compiled<'a> {
        let schema = place.node;
        if let Kind::Bool(takes) = schema.kind {
            let kinds = if takes { Kinds::ALL } else { Kinds::NONE };
            return Compiled {
                kinds,
                ..Compiled::default()
            };
        }
        let draft = self.index.resources[place.resource].draft;
        let from = From {
            schema,
            place,
            scope,
            draft,
        };
        let mut logic = self.logic(&from);
        Compiled {
            kinds: schema.get("type").map_or(Kinds::ALL, kinds),
            values: self.values(&from, &mut logic),
            number: number(schema),
            text: text(schema),
            list: self.list(&from),
            object: self.object(&from),
            logic,
        }
    }

    fn values(&mut self, from: &From<'a>, logic: &mut Vec<Logic>) -> Option<Values<'a>> {
        let of_enum = from.schema.get("enum").map(|values| Values {
            is_const: false,
            all: values.items().iter().map(literal).collect(),
        });
        let Some(value) = from.schema.get("const") else {
            return of_enum;
        };
        if let Some(values) = of_enum {
            let both = Compiled {
                values: Some(values),
                ..Compiled::default()
            };
            logic.push(Logic::All(vec![self.add(both, None)]));
        }
        Some(Values {
            is_const: true,
            all: vec![literal(value)],
        })
    }

    fn list(&mut self, from: &From<'a>) -> Option<ListRules> {
        let get = |key: &str| from.schema.get(key);
        let is_2020 = from.draft == Draft::Draft202012;
        let (first, rest) = match get("items") {
            // In 2020-12 a list under `items` is an old way to write `prefixItems`.
            Some(Node {
                kind: Kind::List(items),
                ..
            }) => (items.as_slice(), get("additionalItems")),
            items if is_2020 => (get("prefixItems").map_or(&[][..], Node::items), items),
            items => (&[][..], items),
        };
        let first = first.iter().map(|node| self.below(from, node)).collect();
        let rest = rest.map(|node| self.below(from, node));
        let contains = get("contains").map(|node| Contains {
            node: self.below(from, node),
            fewest: get("minContains").filter(|_| is_2020).map_or(1, count),
            most: get("maxContains").filter(|_| is_2020).map(count),
        });
        let unevaluated = get("unevaluatedItems").filter(|_| is_2020);
        let unevaluated = unevaluated.map(|node| self.below(from, node));
        let rules = ListRules {
            fewest: get("minItems").map(count),
            most: get("maxItems").map(count),
            unique: matches!(
                get("uniqueItems").map(|node| &node.kind),
                Some(Kind::Bool(true))
            ),
            first,
            rest,
            contains,
            unevaluated,
        };
        (rules != ListRules::default()).then_some(rules)
    }

    fn object(&mut self, from: &From<'a>) -> Option<ObjectRules<'a>> {
        let get = |key: &str| from.schema.get(key);
        let mut keys = Keys::default();
        for entry in get("properties").map_or(&[][..], Node::entries) {
            let node = self.below(from, &entry.value);
            let at = keys.of(&entry.key);
            keys.list[at as usize].node = Some(node);
        }
        for name in names(get("required")) {
            let at = keys.of(name);
            keys.list[at as usize].required = true;
        }
        let patterns = get("patternProperties").map_or(&[][..], Node::entries);
        let patterns = patterns
            .iter()
            .map(|entry| (entry.key.as_str(), self.below(from, &entry.value)))
            .collect();
        let mut needs = Vec::new();
        let mut dependents = Vec::new();
        let dependencies: &[&str] = match from.draft {
            Draft::Draft07 => &["dependencies"],
            Draft::Draft202012 => &["dependentRequired", "dependentSchemas"],
        };
        for keyword in dependencies {
            for entry in get(keyword).map_or(&[][..], Node::entries) {
                let key = keys.of(&entry.key);
                if let Kind::List(_) = entry.value.kind {
                    let needed = names(Some(&entry.value)).map(|name| keys.of(name));
                    needs.push((key, needed.collect()));
                } else {
                    dependents.push((key, self.below(from, &entry.value)));
                }
            }
        }
        let mut node = |key: &str| get(key).map(|node| self.below(from, node));
        let rules = ObjectRules {
            fewest: get("minProperties").map(count),
            most: get("maxProperties").map(count),
            keys: keys.list,
            patterns,
            rest: node("additionalProperties"),
            names: node("propertyNames"),
            needs,
            dependents,
            unevaluated: match from.draft {
                Draft::Draft07 => None,
                Draft::Draft202012 => node("unevaluatedProperties"),
            },
        };
        (rules != ObjectRules::default()).then_some(rules)
    }

    fn logic(&mut self, from: &From<'a>) -> Vec<Logic> {
        let mut logic = Vec::new();
        if from.draft == Draft::Draft202012 {
            for keyword in ["$ref", "$dynamicRef"] {
                if let Some((target, scope)) = self.reference(from.place, keyword, from.scope) {
                    let node = self.node(target.node, target.resource, scope);
                    logic.push(Logic::All(vec![node]));
                }
            }
        }
        let list = |key: &str| from.schema.get(key).map(Node::items).unwrap_or_default();
        let mut all = |key: &str| -> Vec<NodeId> {
            list(key)
                .iter()
                .map(|node| self.below(from, node))
                .collect()
        };
        let (every, any, one) = (all("allOf"), all("anyOf"), all("oneOf"));
        let made = [Logic::All(every), Logic::Any(any), Logic::One(one)];
        logic.extend(made.into_iter().filter(
            |logic| !matches!(logic, Logic::All(nodes) | Logic::Any(nodes) | Logic::One(nodes) if nodes.is_empty()),
        ));
        let mut node = |key: &str| {
            let node = from.schema.get(key)?;
            Some(self.below(from, node))
        };
        logic.extend(node("not").map(Logic::Not));
        if let Some(condition) = node("if") {
            let (then, otherwise) = (node("then"), node("else"));
            if then.is_some() || otherwise.is_some() || from.draft == Draft::Draft202012 {
                logic.push(Logic::If(condition, then, otherwise));
            }
        }
        logic
    }

    fn below(&mut self, from: &From<'a>, node: &'a Node) -> NodeId {
        self.node(node, from.place.resource, from.scope)
    }
}

/// The schema that rules are read from.
struct From<'a> {
    schema: &'a Node,
    place: Place<'a>,
    scope: ScopeId,
    draft: Draft,
}

/// The keys of an object, each once.
#[derive(Default)]
struct Keys<'a> {
    list: Vec<Key<'a>>,
    places: HashMap<&'a str, u32>,
}

impl<'a> Keys<'a> {
    /// Returns the place of a key.
    fn of(&mut self, name: &'a str) -> u32 {
        *self.places.entry(name).or_insert_with(|| {
            self.list.push(Key {
                name,
                node: None,
                required: false,
            });
            // A file of four billion keys is not read.
            u32::try_from(self.list.len() - 1).unwrap_or(u32::MAX)
        })
    }
}

fn kinds(node: &Node) -> Kinds {
    let of = |node: &Node| node.as_str().map_or(Kinds::NONE, Kinds::of_type);
    let listed = node.items().iter().map(of);
    listed.fold(of(node), Kinds::and)
}

fn number(schema: &Node) -> Option<NumberRules> {
    let get = |key: &str| schema.get(key).and_then(json_number);
    let rules = NumberRules {
        minimum: get("minimum"),
        maximum: get("maximum"),
        above: get("exclusiveMinimum"),
        below: get("exclusiveMaximum"),
        multiple_of: get("multipleOf"),
    };
    (rules != NumberRules::default()).then_some(rules)
}

fn text(schema: &Node) -> Option<TextRules<'_>> {
    let rules = TextRules {
        shortest: schema.get("minLength").map(count),
        longest: schema.get("maxLength").map(count),
        pattern: schema.get("pattern").and_then(Node::as_str),
    };
    (rules != TextRules::default()).then_some(rules)
}

fn names(node: Option<&Node>) -> impl Iterator<Item = &str> {
    let items = node.map_or(&[][..], Node::items);
    items.iter().filter_map(Node::as_str)
}

/// Returns a number; one beyond all floats becomes the furthest.
fn json_number(node: &Node) -> Option<Number> {
    let Kind::Number(text) = &node.kind else {
        return None;
    };
    let furthest = if text.starts_with('-') {
        f64::MIN
    } else {
        f64::MAX
    };
    Some(Number::parse(text).unwrap_or(Number::Float(furthest)))
}

fn count(node: &Node) -> u64 {
    match json_number(node) {
        Some(Number::Integer(integer)) => u64::try_from(integer).unwrap_or(0),
        Some(Number::Float(float)) if float > 0.0 => u64::MAX,
        Some(Number::Float(_)) | None => 0,
    }
}

fn literal(node: &Node) -> Literal<'_> {
    match &node.kind {
        Kind::Null => Literal::Null,
        Kind::Bool(value) => Literal::Bool(*value),
        Kind::Number(_) => Literal::Number(json_number(node).unwrap_or(Number::Integer(0))),
        Kind::String(text) => Literal::Text(text),
        Kind::List(_) | Kind::Map(_) => Literal::Json(node.to_json().into()),
    }
}
