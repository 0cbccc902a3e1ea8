//! What does a compiled JSON Schema look like?
//!
//! One flat table of nodes, node 0 for the whole answer. Nodes name each other by number, so a schema that
//! refers to itself is no special case. References, anchors, dialects and defaults are resolved when the table
//! is made; who reads it only looks up and compares. `code` writes the table as the text that generated code
//! holds, and reads it back.
//!
//! **Invariant:** `code::read` gives no table in which a node names one that is not there.

mod code;
mod number;
mod pattern;

use std::borrow::Cow;

pub use code::{read as read_gate, write as write_gate};
pub use number::Number;
pub use pattern::{BadPattern, Pattern};

/// The number of a node within its gate.
pub type NodeId = u32;

/// A compiled schema. Node 0 is what the whole answer has to conform to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Gate<'a> {
    /// The nodes.
    pub nodes: Vec<Node<'a>>,
}

/// What one value has to conform to: every rule of these that speaks of its kind.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Node<'a> {
    /// The kinds of value that it takes.
    pub kinds: Kinds,
    /// The only values that it takes, of `enum` or `const`.
    pub values: Option<Values<'a>>,
    /// Rules for numbers.
    pub number: Option<NumberRules>,
    /// Rules for strings.
    pub text: Option<TextRules<'a>>,
    /// Rules for lists.
    pub list: Option<ListRules>,
    /// Rules for objects.
    pub object: Option<ObjectRules<'a>>,
    /// Other nodes that judge the same value.
    pub logic: Vec<Logic>,
}

/// A set of kinds of JSON value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kinds(pub u8);

/// The values of `enum` or `const`.
#[derive(Clone, Debug, PartialEq)]
pub struct Values<'a> {
    /// Whether they are one, of `const`.
    pub is_const: bool,
    /// The values.
    pub all: Vec<Literal<'a>>,
}

/// A JSON value of a schema.
#[derive(Clone, Debug, PartialEq)]
pub enum Literal<'a> {
    /// Null.
    Null,
    /// A boolean.
    Bool(bool),
    /// A number.
    Number(Number),
    /// A string.
    Text(&'a str),
    /// A list or an object, as JSON.
    Json(Cow<'a, str>),
}

/// Rules for numbers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NumberRules {
    /// `minimum`.
    pub minimum: Option<Number>,
    /// `maximum`.
    pub maximum: Option<Number>,
    /// `exclusiveMinimum`.
    pub above: Option<Number>,
    /// `exclusiveMaximum`.
    pub below: Option<Number>,
    /// `multipleOf`.
    pub multiple_of: Option<Number>,
}

/// Rules for strings. Lengths are in characters.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TextRules<'a> {
    /// `minLength`.
    pub shortest: Option<u64>,
    /// `maxLength`.
    pub longest: Option<u64>,
    /// `pattern`.
    pub pattern: Option<&'a str>,
}

/// Rules for lists.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ListRules {
    /// `minItems`.
    pub fewest: Option<u64>,
    /// `maxItems`.
    pub most: Option<u64>,
    /// `uniqueItems`.
    pub unique: bool,
    /// `prefixItems`: what the first items have to conform to.
    pub first: Vec<NodeId>,
    /// `items`: what all others have to conform to.
    pub rest: Option<NodeId>,
    /// `contains`.
    pub contains: Option<Contains>,
    /// `unevaluatedItems`.
    pub unevaluated: Option<NodeId>,
}

/// How many items have to conform to a node.
#[derive(Clone, Debug, PartialEq)]
pub struct Contains {
    /// The node.
    pub node: NodeId,
    /// `minContains`.
    pub fewest: u64,
    /// `maxContains`.
    pub most: Option<u64>,
}

/// Rules for objects.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ObjectRules<'a> {
    /// `minProperties`.
    pub fewest: Option<u64>,
    /// `maxProperties`.
    pub most: Option<u64>,
    /// Every key that a rule names; no two have the same name.
    pub keys: Vec<Key<'a>>,
    /// `patternProperties`.
    pub patterns: Vec<(&'a str, NodeId)>,
    /// `additionalProperties`.
    pub rest: Option<NodeId>,
    /// `propertyNames`.
    pub names: Option<NodeId>,
    /// `dependentRequired`: where the first key is there, the others have to be. Keys by their place in `keys`.
    pub needs: Vec<(u32, Vec<u32>)>,
    /// `dependentSchemas`: where the key is there, the object has to conform. Keys by their place in `keys`.
    pub dependents: Vec<(u32, NodeId)>,
    /// `unevaluatedProperties`.
    pub unevaluated: Option<NodeId>,
}

/// A key that a rule names.
#[derive(Clone, Debug, PartialEq)]
pub struct Key<'a> {
    /// Its name.
    pub name: &'a str,
    /// What its value has to conform to, where `properties` has it.
    pub node: Option<NodeId>,
    /// Whether it has to be there.
    pub required: bool,
}

/// How other nodes judge the same value.
#[derive(Clone, Debug, PartialEq)]
pub enum Logic {
    /// It conforms to each.
    All(Vec<NodeId>),
    /// It conforms to one or more.
    Any(Vec<NodeId>),
    /// It conforms to exactly one.
    One(Vec<NodeId>),
    /// It does not conform.
    Not(NodeId),
    /// Where it conforms to the first it conforms to the second, else to the third.
    If(NodeId, Option<NodeId>, Option<NodeId>),
}

impl Kinds {
    /// No kind.
    pub const NONE: Self = Self(0);
    /// Null.
    pub const NULL: Self = Self(1);
    /// Booleans.
    pub const BOOLEAN: Self = Self(2);
    /// Numbers that are whole, however they are written.
    pub const INTEGER: Self = Self(4);
    /// Numbers that are not whole.
    pub const FRACTION: Self = Self(8);
    /// Strings.
    pub const STRING: Self = Self(16);
    /// Lists.
    pub const LIST: Self = Self(32);
    /// Objects.
    pub const OBJECT: Self = Self(64);
    /// Every kind.
    pub const ALL: Self = Self(127);

    /// Returns the kinds that a name of `type` stands for.
    #[must_use]
    pub fn of_type(name: &str) -> Self {
        match name {
            "null" => Self::NULL,
            "boolean" => Self::BOOLEAN,
            "integer" => Self::INTEGER,
            "number" => Self::INTEGER.and(Self::FRACTION),
            "string" => Self::STRING,
            "array" => Self::LIST,
            "object" => Self::OBJECT,
            _ => Self::NONE,
        }
    }

    /// Returns the kinds of both.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Returns whether a kind of the other set is in this one.
    #[must_use]
    pub const fn meets(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// Returns the names of `type` that make up the set.
    #[must_use]
    pub fn types(self) -> Vec<&'static str> {
        let number = Self::of_type("number");
        let named = [
            ("null", Self::NULL),
            ("boolean", Self::BOOLEAN),
            ("number", number),
            ("integer", Self::INTEGER),
            ("string", Self::STRING),
            ("array", Self::LIST),
            ("object", Self::OBJECT),
        ];
        let has_numbers = self.0 & number.0 == number.0;
        let has = |name: &str, kinds: Self| match name {
            "number" => has_numbers,
            "integer" => self.meets(kinds) && !has_numbers,
            _ => self.meets(kinds),
        };
        let found = named.into_iter().filter(|(name, kinds)| has(name, *kinds));
        found.map(|(name, _)| name).collect()
    }
}

impl Default for Kinds {
    fn default() -> Self {
        Self::ALL
    }
}

impl Literal<'_> {
    /// Returns the value's kind.
    #[must_use]
    pub fn kind(&self) -> Kinds {
        match self {
            Self::Null => Kinds::NULL,
            Self::Bool(_) => Kinds::BOOLEAN,
            Self::Number(number) => number.kind(),
            Self::Text(_) => Kinds::STRING,
            Self::Json(json) if json.starts_with('[') => Kinds::LIST,
            Self::Json(_) => Kinds::OBJECT,
        }
    }
}

impl Node<'_> {
    /// Returns the nodes that judge the same value.
    pub fn in_place(&self) -> impl Iterator<Item = NodeId> + '_ {
        let dependents = self.object.iter().flat_map(|rules| &rules.dependents);
        let of_logic = self.logic.iter().flat_map(|logic| match logic {
            Logic::All(nodes) | Logic::Any(nodes) | Logic::One(nodes) => nodes.clone(),
            Logic::Not(node) => vec![*node],
            Logic::If(condition, then, otherwise) => [Some(*condition), *then, *otherwise]
                .into_iter()
                .flatten()
                .collect(),
        });
        of_logic.chain(dependents.map(|(_, node)| *node))
    }

    /// Returns the nodes that judge the items, properties and names of a value.
    pub fn below(&self) -> impl Iterator<Item = NodeId> + '_ {
        let of_lists = self.list.iter().flat_map(|list| {
            let contained = list.contains.iter().map(|contains| contains.node);
            let others = list.rest.iter().chain(&list.unevaluated);
            list.first.iter().chain(others).copied().chain(contained)
        });
        let of_objects = self.object.iter().flat_map(|object| {
            let listed = object.keys.iter().filter_map(|key| key.node);
            let matched = object.patterns.iter().map(|(_, node)| *node);
            let others = [object.rest, object.names, object.unevaluated];
            listed.chain(matched).chain(others.into_iter().flatten())
        });
        of_lists.chain(of_objects)
    }

    /// Returns whether it takes every value.
    #[must_use]
    pub fn takes_all(&self) -> bool {
        *self == Self::default()
    }
}
