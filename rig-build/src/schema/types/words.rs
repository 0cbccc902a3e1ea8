//! What does one schema say of the values that it lets through, as far as a type can say it too?

use crate::node::{Kind, Node};

/// Kinds of JSON values, as a set. Whole numbers and fractions are two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Kinds(u8);

impl Kinds {
    pub(super) const NONE: Self = Self(0);
    pub(super) const NULL: Self = Self(1);
    pub(super) const BOOLEAN: Self = Self(2);
    pub(super) const INTEGER: Self = Self(4);
    pub(super) const NUMBER: Self = Self(4 | 8);
    pub(super) const STRING: Self = Self(16);
    pub(super) const LIST: Self = Self(32);
    pub(super) const OBJECT: Self = Self(64);
    pub(super) const ALL: Self = Self(127);

    /// Returns the kinds of a type's name.
    fn named(name: &str) -> Self {
        match name {
            "null" => Self::NULL,
            "boolean" => Self::BOOLEAN,
            "integer" => Self::INTEGER,
            "number" => Self::NUMBER,
            "string" => Self::STRING,
            "array" => Self::LIST,
            "object" => Self::OBJECT,
            _ => Self::NONE,
        }
    }

    /// Returns the kind of a value.
    pub(super) fn of(value: &Node) -> Self {
        match &value.kind {
            Kind::Null => Self::NULL,
            Kind::Bool(_) => Self::BOOLEAN,
            Kind::Number(text) if text.parse().is_ok_and(|number: f64| number.fract() == 0.0) => {
                Self::INTEGER
            }
            Kind::Number(_) => Self(8),
            Kind::String(_) => Self::STRING,
            Kind::List(_) => Self::LIST,
            Kind::Map(_) => Self::OBJECT,
        }
    }

    pub(super) fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    pub(super) fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(super) fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    pub(super) fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }
}

/// The keywords of a schema that bear on its type.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Words<'a> {
    pub(super) title: Option<&'a str>,
    pub(super) docs: Option<&'a str>,
    pub(super) reference: Option<&'a str>,
    pub(super) all_of: &'a [Node],
    /// `anyOf` and `oneOf`: to a type they are the same.
    pub(super) unions: [&'a [Node]; 2],
    /// The property that `discriminator` names, as OpenAPI has it.
    pub(super) discriminator: Option<&'a str>,
    pub(super) types: Option<&'a Node>,
    /// The values of `enum`, or the one of `const`.
    pub(super) values: Option<&'a [Node]>,
    pub(super) properties: Option<&'a Node>,
    pub(super) required: Option<&'a Node>,
    pub(super) patterns: Option<&'a Node>,
    pub(super) additional: Option<&'a Node>,
    /// What the first items are, each by itself.
    pub(super) first: &'a [Node],
    /// What every further item is.
    pub(super) items: Option<&'a Node>,
    pub(super) min_items: Option<usize>,
    pub(super) max_items: Option<usize>,
    pub(super) minimum: Option<f64>,
    pub(super) maximum: Option<f64>,
    /// A keyword that no type can say.
    pub(super) outside: Option<&'a str>,
}

impl<'a> Words<'a> {
    /// Reads a schema. Draft-07 says some things in other words.
    pub(super) fn of(schema: &'a Node, is_07: bool) -> Self {
        let mut words = Self::default();
        let mut additional_items = None;
        for entry in schema.entries() {
            let value = &entry.value;
            match entry.key.as_str() {
                "title" => words.title = value.as_str().filter(|title| !title.trim().is_empty()),
                "description" => {
                    words.docs = value.as_str().map(str::trim).filter(|d| !d.is_empty())
                }
                "$ref" => words.reference = value.as_str(),
                "allOf" => words.all_of = value.items(),
                "anyOf" => words.unions[0] = value.items(),
                "oneOf" => words.unions[1] = value.items(),
                "discriminator" => {
                    words.discriminator = value.get("propertyName").and_then(Node::as_str);
                }
                "type" => words.types = Some(value),
                "enum" if words.values.is_none() => words.values = Some(value.items()),
                "const" => words.values = Some(std::slice::from_ref(value)),
                "properties" => words.properties = Some(value),
                "required" => words.required = Some(value),
                "patternProperties" if !value.entries().is_empty() => words.patterns = Some(value),
                "additionalProperties" => words.additional = Some(value),
                "prefixItems" if !is_07 => words.first = value.items(),
                "items" => match &value.kind {
                    Kind::List(items) => words.first = items,
                    _ => words.items = Some(value),
                },
                "additionalItems" if is_07 => additional_items = Some(value),
                "minItems" => words.min_items = count(value),
                "maxItems" => words.max_items = count(value),
                "minimum" => words.minimum = number(value),
                "maximum" => words.maximum = number(value),
                key @ ("not"
                | "if"
                | "then"
                | "else"
                | "contains"
                | "propertyNames"
                | "dependencies"
                | "dependentSchemas"
                | "dependentRequired"
                | "unevaluatedItems"
                | "unevaluatedProperties"
                | "$dynamicRef"
                | "$recursiveRef") => words.outside = words.outside.or(Some(key)),
                _ => {}
            }
        }
        if words.items.is_none() && !words.first.is_empty() {
            words.items = additional_items;
        }
        if is_07 && words.reference.is_some() {
            // Beside a reference, the draft looks at nothing else.
            let (reference, docs, title) = (words.reference, words.docs, words.title);
            words = Self {
                title,
                docs,
                reference,
                ..Self::default()
            };
        }
        words
    }

    /// Returns the words without the choices between others.
    pub(super) fn without_unions(mut self) -> Self {
        self.unions = [&[], &[]];
        self
    }

    /// Returns whether the schema says something of the type beyond what it refers to.
    pub(super) fn speaks(&self) -> bool {
        self.types.is_some() || self.is_shaped()
    }

    /// Returns whether the schema says more than which kinds of values there are.
    pub(super) fn is_shaped(&self) -> bool {
        self.values.is_some()
            || self.unions.iter().any(|branches| !branches.is_empty())
            || self.has_fields()
            || self.has_items()
    }

    pub(super) fn has_fields(&self) -> bool {
        self.properties.is_some() || self.patterns.is_some() || self.additional.is_some()
    }

    pub(super) fn has_items(&self) -> bool {
        self.items.is_some() || !self.first.is_empty()
    }

    /// Returns the kinds of values that the schema lets through.
    pub(super) fn kinds(&self) -> Kinds {
        let union = |kinds: Kinds, more: Kinds| kinds.or(more);
        let mut kinds = Kinds::ALL;
        if let Some(types) = self.types {
            let names = std::iter::once(types)
                .chain(types.items())
                .filter_map(Node::as_str);
            kinds = names.map(Kinds::named).fold(Kinds::NONE, union);
        }
        if let Some(values) = self.values {
            let values = values.iter().map(Kinds::of).fold(Kinds::NONE, union);
            kinds = kinds.and(values);
        }
        kinds
    }
}

fn count(value: &Node) -> Option<usize> {
    number(value)
        .filter(|number| *number >= 0.0 && *number <= f64::from(u32::MAX))
        .map(|number| number as usize)
}

fn number(value: &Node) -> Option<f64> {
    match &value.kind {
        Kind::Number(text) => text.parse().ok(),
        _ => None,
    }
}
