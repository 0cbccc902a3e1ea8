//! What is a lowered schema before it is text?
//!
//! The keywords of each place in their order, subschemas told from data, and with them what the way back needs.

use crate::node::{Entry, Kind, Node};
use crate::source::Span;

/// A lowered schema.
#[derive(Clone, Debug)]
pub(super) struct Low {
    pub(super) span: Span,
    pub(super) keywords: Vec<(String, Value)>,
    /// The properties whose null stands for absent.
    pub(super) absent: Vec<String>,
    /// The properties whose null stands for null.
    pub(super) nullable: Vec<String>,
}

/// The value of a keyword.
#[derive(Clone, Debug)]
pub(super) enum Value {
    Data(Kind),
    One(Box<Low>),
    List(Vec<Low>),
    Map(Vec<(String, Low)>),
}

impl Low {
    pub(super) fn new(span: Span) -> Self {
        Self {
            span,
            keywords: Vec::new(),
            absent: Vec::new(),
            nullable: Vec::new(),
        }
    }

    /// Returns a schema of one type.
    pub(super) fn of_type(span: Span, name: &str) -> Self {
        let mut low = Self::new(span);
        low.put("type", Value::Data(Kind::String(name.to_owned())));
        low
    }

    pub(super) fn put(&mut self, keyword: &str, value: Value) {
        self.keywords.push((keyword.to_owned(), value));
    }

    pub(super) fn get(&self, keyword: &str) -> Option<&Value> {
        let found = self.keywords.iter().find(|(name, _)| name == keyword);
        found.map(|(_, value)| value)
    }

    pub(super) fn get_mut(&mut self, keyword: &str) -> Option<&mut Value> {
        let found = self.keywords.iter_mut().find(|(name, _)| name == keyword);
        found.map(|(_, value)| value)
    }

    /// Returns the text of a keyword.
    pub(super) fn text(&self, keyword: &str) -> Option<&str> {
        match self.get(keyword)? {
            Value::Data(Kind::String(text)) => Some(text),
            _ => None,
        }
    }

    /// Returns the types that it names.
    pub(super) fn types(&self) -> Vec<&str> {
        match self.get("type") {
            Some(Value::Data(Kind::String(name))) => vec![name],
            Some(Value::Data(Kind::List(names))) => names.iter().filter_map(Node::as_str).collect(),
            _ => Vec::new(),
        }
    }

    /// Returns the properties that it names.
    pub(super) fn properties(&self) -> &[(String, Self)] {
        match self.get("properties") {
            Some(Value::Map(properties)) => properties,
            _ => &[],
        }
    }

    /// Returns its branches.
    pub(super) fn branches(&self) -> &[Self] {
        match self.get("anyOf") {
            Some(Value::List(branches)) => branches,
            _ => &[],
        }
    }

    /// Returns the subschemas, but for definitions.
    pub(super) fn children(&self) -> impl Iterator<Item = &Self> {
        self.keywords.iter().flat_map(|(_, value)| {
            let children: Vec<&Self> = match value {
                Value::Data(_) => Vec::new(),
                Value::One(low) => vec![low],
                Value::List(list) => list.iter().collect(),
                Value::Map(map) => map.iter().map(|(_, low)| low).collect(),
            };
            children
        })
    }

    /// Returns the schema as JSON.
    pub(super) fn to_node(&self) -> Node {
        let span = self.span;
        let map = |entries: Vec<(&String, Node)>| {
            let entries = entries.into_iter().map(|(key, value)| Entry {
                key: key.clone(),
                key_span: span,
                value,
            });
            Kind::Map(entries.collect())
        };
        let kind = |value: &Value| match value {
            Value::Data(kind) => kind.clone(),
            Value::One(low) => low.to_node().kind,
            Value::List(list) => Kind::List(list.iter().map(Self::to_node).collect()),
            Value::Map(entries) => map(entries
                .iter()
                .map(|(key, low)| (key, low.to_node()))
                .collect()),
        };
        let keywords = self.keywords.iter();
        let entries = keywords.map(|(key, value)| {
            let kind = kind(value);
            (key, Node { span, kind })
        });
        Node {
            span,
            kind: map(entries.collect()),
        }
    }
}
