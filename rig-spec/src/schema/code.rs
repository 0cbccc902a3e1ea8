//! How is a compiled schema written in generated code, and read back?
//!
//! As one string literal, the cheapest thing that a compiler can read: numbers and strings one after the other,
//! each string behind its length. The runtime reads it once per process, and borrows every string from it.
//!
//! **Invariant:** whatever is read, nodes name only nodes that are there.

use std::fmt::Write as _;

use super::{
    Contains, Gate, Key, Kinds, ListRules, Literal, Logic, Node, NodeId, Number, NumberRules,
    ObjectRules, TextRules, Values,
};

/// Writes a gate as text.
#[must_use]
pub fn write(gate: &Gate<'_>) -> String {
    let mut out = Writer(String::new());
    out.each(&gate.nodes, |out, node| node.write(out));
    out.0
}

/// Reads a gate from text; `None` if it is none.
#[must_use]
pub fn read(text: &str) -> Option<Gate<'_>> {
    let mut from = Reader {
        rest: text,
        greatest: None,
    };
    let nodes = from.each(Node::read)?;
    let there = u64::try_from(nodes.len()).ok()?;
    let named = from.greatest.unwrap_or(0);
    (from.rest.is_empty() && named < there).then_some(Gate { nodes })
}

struct Writer(String);

impl Writer {
    fn number(&mut self, number: u64) {
        // Writing to a `String` cannot fail.
        let _ = write!(self.0, "{number} ");
    }

    fn text(&mut self, text: &str) {
        let _ = write!(self.0, "{}:{text}", text.len());
    }

    fn optional<T: Copy>(&mut self, value: Option<T>, write: impl FnOnce(&mut Self, T)) {
        match value {
            None => self.0.push('-'),
            Some(value) => write(self, value),
        }
    }

    fn each<T>(&mut self, list: &[T], mut write: impl FnMut(&mut Self, &T)) {
        self.number(list.len() as u64);
        for item in list {
            write(self, item);
        }
    }

    fn node(&mut self, node: NodeId) {
        self.number(u64::from(node));
    }

    fn nodes(&mut self, nodes: &[NodeId]) {
        self.each(nodes, |out, node| out.node(*node));
    }

    fn json_number(&mut self, number: Number) {
        let text = match number {
            Number::Integer(integer) => integer.to_string(),
            Number::Float(float) => format!("{float:e}"),
        };
        self.text(&text);
    }
}

struct Reader<'a> {
    rest: &'a str,
    /// The greatest node that was named.
    greatest: Option<u64>,
}

impl<'a> Reader<'a> {
    fn number(&mut self) -> Option<u64> {
        let (digits, rest) = self.rest.split_once(' ')?;
        self.rest = rest;
        digits.parse().ok()
    }

    fn text(&mut self) -> Option<&'a str> {
        let (digits, rest) = self.rest.split_once(':')?;
        let (text, rest) = rest.split_at_checked(digits.parse().ok()?)?;
        self.rest = rest;
        Some(text)
    }

    fn optional<T>(&mut self, read: impl FnOnce(&mut Self) -> Option<T>) -> Option<Option<T>> {
        match self.rest.strip_prefix('-') {
            Some(rest) => {
                self.rest = rest;
                Some(None)
            }
            None => read(self).map(Some),
        }
    }

    fn each<T>(&mut self, mut read: impl FnMut(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let count = self.number()?;
        let mut list = Vec::new();
        for _ in 0..count {
            list.push(read(self)?);
        }
        Some(list)
    }

    fn node(&mut self) -> Option<NodeId> {
        let node = self.number()?;
        self.greatest = self.greatest.max(Some(node));
        NodeId::try_from(node).ok()
    }

    fn nodes(&mut self) -> Option<Vec<NodeId>> {
        self.each(Self::node)
    }

    fn json_number(&mut self) -> Option<Number> {
        Number::parse(self.text()?)
    }

    /// A place within a list of this length.
    fn place(&mut self, length: usize) -> Option<u32> {
        let place = u32::try_from(self.number()?).ok()?;
        ((place as usize) < length).then_some(place)
    }
}

// The parts of a node that are there, as bits.
const VALUES: u64 = 1;
const NUMBER: u64 = 2;
const TEXT: u64 = 4;
const LIST: u64 = 8;
const OBJECT: u64 = 16;
const LOGIC: u64 = 32;

impl<'a> Node<'a> {
    fn write(&self, out: &mut Writer) {
        let part = |there: bool, bit: u64| if there { bit } else { 0 };
        out.number(u64::from(self.kinds.0));
        out.number(
            part(self.values.is_some(), VALUES)
                | part(self.number.is_some(), NUMBER)
                | part(self.text.is_some(), TEXT)
                | part(self.list.is_some(), LIST)
                | part(self.object.is_some(), OBJECT)
                | part(!self.logic.is_empty(), LOGIC),
        );
        if let Some(values) = &self.values {
            out.number(u64::from(values.is_const));
            out.each(&values.all, |out, value| value.write(out));
        }
        if let Some(rules) = &self.number {
            for bound in rules.bounds() {
                out.optional(bound, Writer::json_number);
            }
        }
        if let Some(rules) = &self.text {
            out.optional(rules.shortest, Writer::number);
            out.optional(rules.longest, Writer::number);
            out.optional(rules.pattern, Writer::text);
        }
        if let Some(rules) = &self.list {
            rules.write(out);
        }
        if let Some(rules) = &self.object {
            rules.write(out);
        }
        if !self.logic.is_empty() {
            out.each(&self.logic, |out, logic| logic.write(out));
        }
    }

    fn read(from: &mut Reader<'a>) -> Option<Self> {
        let kinds = Kinds(u8::try_from(from.number()?).ok()?);
        let parts = from.number()?;
        let has = |bit: u64| parts & bit != 0;
        let mut node = Self {
            kinds,
            ..Self::default()
        };
        if has(VALUES) {
            node.values = Some(Values {
                is_const: from.number()? == 1,
                all: from.each(Literal::read)?,
            });
        }
        if has(NUMBER) {
            let mut bound = || from.optional(Reader::json_number);
            node.number = Some(NumberRules {
                minimum: bound()?,
                maximum: bound()?,
                above: bound()?,
                below: bound()?,
                multiple_of: bound()?,
            });
        }
        if has(TEXT) {
            node.text = Some(TextRules {
                shortest: from.optional(Reader::number)?,
                longest: from.optional(Reader::number)?,
                pattern: from.optional(Reader::text)?,
            });
        }
        if has(LIST) {
            node.list = Some(ListRules::read(from)?);
        }
        if has(OBJECT) {
            node.object = Some(ObjectRules::read(from)?);
        }
        if has(LOGIC) {
            node.logic = from.each(Logic::read)?;
        }
        Some(node)
    }
}

impl NumberRules {
    fn bounds(&self) -> [Option<Number>; 5] {
        [
            self.minimum,
            self.maximum,
            self.above,
            self.below,
            self.multiple_of,
        ]
    }
}

impl<'a> Literal<'a> {
    fn write(&self, out: &mut Writer) {
        match self {
            Self::Null => out.number(0),
            Self::Bool(value) => out.number(1 + u64::from(*value)),
            Self::Number(number) => {
                out.number(3);
                out.json_number(*number);
            }
            Self::Text(text) => {
                out.number(4);
                out.text(text);
            }
            Self::Json(json) => {
                out.number(5);
                out.text(json);
            }
        }
    }

    fn read(from: &mut Reader<'a>) -> Option<Self> {
        Some(match from.number()? {
            0 => Self::Null,
            1 => Self::Bool(false),
            2 => Self::Bool(true),
            3 => Self::Number(from.json_number()?),
            4 => Self::Text(from.text()?),
            5 => Self::Json(from.text()?.into()),
            _ => return None,
        })
    }
}

impl ListRules {
    fn write(&self, out: &mut Writer) {
        out.optional(self.fewest, Writer::number);
        out.optional(self.most, Writer::number);
        out.number(u64::from(self.unique));
        out.nodes(&self.first);
        out.optional(self.rest, Writer::node);
        out.optional(self.contains.as_ref(), |out, contains| {
            out.node(contains.node);
            out.number(contains.fewest);
            out.optional(contains.most, Writer::number);
        });
        out.optional(self.unevaluated, Writer::node);
    }

    fn read(from: &mut Reader<'_>) -> Option<Self> {
        Some(Self {
            fewest: from.optional(Reader::number)?,
            most: from.optional(Reader::number)?,
            unique: from.number()? == 1,
            first: from.nodes()?,
            rest: from.optional(Reader::node)?,
            contains: from.optional(|from| {
                Some(Contains {
                    node: from.node()?,
                    fewest: from.number()?,
                    most: from.optional(Reader::number)?,
                })
            })?,
            unevaluated: from.optional(Reader::node)?,
        })
    }
}

impl<'a> ObjectRules<'a> {
    fn write(&self, out: &mut Writer) {
        out.optional(self.fewest, Writer::number);
        out.optional(self.most, Writer::number);
        out.each(&self.keys, |out, key| {
            out.text(key.name);
            out.optional(key.node, Writer::node);
            out.number(u64::from(key.required));
        });
        out.each(&self.patterns, |out, (pattern, node)| {
            out.text(pattern);
            out.node(*node);
        });
        out.optional(self.rest, Writer::node);
        out.optional(self.names, Writer::node);
        out.each(&self.needs, |out, (key, needed)| {
            out.number(u64::from(*key));
            out.each(needed, |out, key| out.number(u64::from(*key)));
        });
        out.each(&self.dependents, |out, (key, node)| {
            out.number(u64::from(*key));
            out.node(*node);
        });
        out.optional(self.unevaluated, Writer::node);
    }

    fn read(from: &mut Reader<'a>) -> Option<Self> {
        let fewest = from.optional(Reader::number)?;
        let most = from.optional(Reader::number)?;
        let keys = from.each(|from| {
            Some(Key {
                name: from.text()?,
                node: from.optional(Reader::node)?,
                required: from.number()? == 1,
            })
        })?;
        let length = keys.len();
        Some(Self {
            fewest,
            most,
            keys,
            patterns: from.each(|from| Some((from.text()?, from.node()?)))?,
            rest: from.optional(Reader::node)?,
            names: from.optional(Reader::node)?,
            needs: from.each(|from| {
                let key = from.place(length)?;
                Some((key, from.each(|from| from.place(length))?))
            })?,
            dependents: from.each(|from| Some((from.place(length)?, from.node()?)))?,
            unevaluated: from.optional(Reader::node)?,
        })
    }
}

impl Logic {
    fn write(&self, out: &mut Writer) {
        let (which, nodes) = match self {
            Self::All(nodes) => (0, nodes),
            Self::Any(nodes) => (1, nodes),
            Self::One(nodes) => (2, nodes),
            Self::Not(node) => {
                out.number(3);
                return out.node(*node);
            }
            Self::If(condition, then, otherwise) => {
                out.number(4);
                out.node(*condition);
                out.optional(*then, Writer::node);
                return out.optional(*otherwise, Writer::node);
            }
        };
        out.number(which);
        out.nodes(nodes);
    }

    fn read(from: &mut Reader<'_>) -> Option<Self> {
        Some(match from.number()? {
            0 => Self::All(from.nodes()?),
            1 => Self::Any(from.nodes()?),
            2 => Self::One(from.nodes()?),
            3 => Self::Not(from.node()?),
            4 => Self::If(
                from.node()?,
                from.optional(Reader::node)?,
                from.optional(Reader::node)?,
            ),
            _ => return None,
        })
    }
}
