//! How is an answer read into its type and judged in the same pass?
//!
//! A `Deserializer` over JSON text that looks at each value before the type gets it: scalars by their rules, lists
//! and objects by how `ready` says they can be read. What can only be judged as a whole is read, judged, and read
//! again. No list passes for an object, no repeated key for one, and no integer for a fraction; whole numbers
//! reach the type as integers, however they are written.

mod parts;
mod seen;

use std::borrow::Cow;
use std::fmt;

use rig_spec::{Kinds, NodeId, Number};
use serde::de::{self, Deserialize, Deserializer, IntoDeserializer, Visitor};

use self::parts::{Entries, Items};
use super::judge;
use super::ready::{Ready, Tag, Way};
use super::rules::View;
use crate::json::{Fault, Reader, Token, is_plain};

/// Reads an answer into a type and judges it by the schema's node `root`; without one it was judged before, or has
/// no schema.
pub(crate) fn read<T: for<'de> Deserialize<'de>>(
    ready: Option<&Ready>,
    root: Option<NodeId>,
    text: &str,
) -> Result<T, Fault> {
    let mut reader = Reader::new(text);
    let value = T::deserialize(Place {
        reader: &mut reader,
        ready,
        rule: root.map_or(Rule::None, Rule::One),
    })?;
    reader.end()?;
    Ok(value)
}

/// How far is looked ahead for a tag, in bytes.
const LOOK_AHEAD: usize = 4096;

/// What a value has to conform to.
enum Rule {
    /// Anything, or it was judged before.
    None,
    /// One node.
    One(NodeId),
    /// Each of these.
    Each(Vec<NodeId>),
}

/// A value that is to be read.
struct Place<'r, 't> {
    reader: &'r mut Reader<'t>,
    ready: Option<&'r Ready>,
    rule: Rule,
}

/// What a value begins with, once it was let through so far.
enum Passed<'t> {
    Scalar(Token<'t>),
    List(Option<NodeId>),
    Object(Option<NodeId>),
}

impl<'r, 't> Place<'r, 't> {
    /// Reads what the value begins with and judges it as far as that can be done.
    fn pass(&mut self) -> Result<Passed<'t>, Fault> {
        let start = *self.reader;
        let token = self.reader.token()?;
        let (Some(ready), false) = (self.ready, matches!(self.rule, Rule::None)) else {
            return Ok(match token {
                Token::List => Passed::List(None),
                Token::Object => Passed::Object(None),
                scalar => Passed::Scalar(scalar),
            });
        };
        let kind = match &token {
            Token::List => Kinds::LIST,
            Token::Object => Kinds::OBJECT,
            scalar => {
                let nodes = match &self.rule {
                    Rule::None => &[][..],
                    Rule::One(node) => std::slice::from_ref(node),
                    Rule::Each(nodes) => nodes,
                };
                let view = view(scalar);
                return match nodes.iter().all(|node| judge::conforms(ready, *node, view)) {
                    true => Ok(Passed::Scalar(token)),
                    false => Err(Fault::Refused),
                };
            }
        };
        let way = match &self.rule {
            Rule::One(node) if kind == Kinds::LIST => &ready.node(*node).list,
            Rule::One(node) => &ready.node(*node).object,
            Rule::None => &Way::Free,
            Rule::Each(_) => &Way::Whole,
        };
        let rule = match way {
            Way::Never => return Err(Fault::Refused),
            Way::Free => None,
            Way::By(node) => Some(*node),
            Way::Tagged(tag) => match self.tag(tag) {
                Some(Ok(node)) => Some(node),
                Some(Err(fault)) => return Err(fault),
                None => self.whole(start, ready)?,
            },
            Way::Whole => self.whole(start, ready)?,
        };
        Ok(match kind {
            Kinds::LIST => Passed::List(rule),
            _ => Passed::Object(rule),
        })
    }

    /// Looks ahead for the key that tells which branch an object is; `None` if it is not seen there.
    fn tag(&self, tag: &Tag) -> Option<Result<NodeId, Fault>> {
        let mut ahead = self.reader.ahead(LOOK_AHEAD);
        let mut is_first = true;
        while let Some(key) = ahead.key(is_first).ok()? {
            if key == tag.key {
                let Token::Text(value) = ahead.token().ok()? else {
                    return Some(Err(Fault::Refused));
                };
                return Some(tag.branch(&value).ok_or(Fault::Refused));
            }
            ahead.skip()?;
            is_first = false;
        }
        Some(Err(Fault::Refused))
    }

    /// Judges the whole value that begins at `start`, and comes back to be read again.
    fn whole(&mut self, start: Reader<'t>, ready: &Ready) -> Result<Option<NodeId>, Fault> {
        let here = *self.reader;
        *self.reader = start;
        let value = self.reader.value(true)?;
        let conforms = match &self.rule {
            Rule::None => true,
            Rule::One(node) => judge::conforms(ready, *node, View::from(&value)),
            Rule::Each(nodes) => nodes
                .iter()
                .all(|node| judge::conforms(ready, *node, View::from(&value))),
        };
        *self.reader = here;
        if conforms {
            Ok(None)
        } else {
            Err(Fault::Refused)
        }
    }

    fn visit<V: Visitor<'t>>(self, passed: Passed<'t>, visitor: V) -> Result<V::Value, Fault> {
        match passed {
            Passed::Scalar(Token::Null) => visitor.visit_unit(),
            Passed::Scalar(Token::Bool(value)) => visitor.visit_bool(value),
            Passed::Scalar(Token::Text(Cow::Borrowed(text))) => visitor.visit_borrowed_str(text),
            Passed::Scalar(Token::Text(Cow::Owned(text))) => visitor.visit_string(text),
            Passed::Scalar(Token::Number(number, text)) => self.number(number, text, visitor),
            Passed::Scalar(Token::List) | Passed::List(_) => {
                let node = match passed {
                    Passed::List(node) => node,
                    Passed::Scalar(_) | Passed::Object(_) => None,
                };
                let mut items = Items::new(self.reader, self.ready, node);
                let value = visitor.visit_seq(&mut items)?;
                // A tuple asks for its items, and not whether there are more.
                if items.is_done || items.advance()?.is_none() {
                    Ok(value)
                } else {
                    Err(Fault::Unfit)
                }
            }
            Passed::Scalar(Token::Object) | Passed::Object(_) => {
                let node = match passed {
                    Passed::Object(node) => node,
                    Passed::Scalar(_) | Passed::List(_) => None,
                };
                let mut entries = Entries::new(self.reader, self.ready, node);
                let value = visitor.visit_map(&mut entries)?;
                if entries.is_done {
                    Ok(value)
                } else {
                    Err(Fault::Unfit)
                }
            }
        }
    }

    fn number<V: Visitor<'t>>(
        &self,
        number: Number,
        text: &str,
        visitor: V,
    ) -> Result<V::Value, Fault> {
        match number {
            // Where there is no schema, nothing says that `1.0` is meant as an integer.
            Number::Integer(_) if self.ready.is_none() && !is_plain(text) => {
                visitor.visit_f64(text.parse().map_err(|_| Fault::Unfit)?)
            }
            Number::Integer(integer) => match (i64::try_from(integer), u64::try_from(integer)) {
                (_, Ok(integer)) => visitor.visit_u64(integer),
                (Ok(integer), _) => visitor.visit_i64(integer),
                _ => Err(Fault::Unfit),
            },
            Number::Float(float) => visitor.visit_f64(float),
        }
    }
}

fn view<'v>(scalar: &'v Token<'_>) -> View<'v> {
    match scalar {
        Token::Bool(value) => View::Bool(*value),
        Token::Number(number, _) => View::Number(*number),
        Token::Text(text) => View::Text(text),
        Token::Null | Token::List | Token::Object => View::Null,
    }
}

impl<'t> Deserializer<'t> for Place<'_, 't> {
    type Error = Fault;

    fn deserialize_any<V: Visitor<'t>>(mut self, visitor: V) -> Result<V::Value, Fault> {
        let passed = self.pass()?;
        self.visit(passed, visitor)
    }

    fn deserialize_option<V: Visitor<'t>>(mut self, visitor: V) -> Result<V::Value, Fault> {
        if self.reader.peek() != Some(b'n') {
            return visitor.visit_some(self);
        }
        self.pass()?;
        visitor.visit_none()
    }

    fn deserialize_newtype_struct<V: Visitor<'t>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Fault> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_struct<V: Visitor<'t>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        self.deserialize_map(visitor)
    }

    /// The visitors of structs would take a list, too.
    fn deserialize_map<V: Visitor<'t>>(mut self, visitor: V) -> Result<V::Value, Fault> {
        match self.pass()? {
            passed @ Passed::Object(_) => self.visit(passed, visitor),
            Passed::Scalar(_) | Passed::List(_) => Err(Fault::Unfit),
        }
    }

    /// A string is the name of a variant; an object of one key is a variant and what it holds.
    fn deserialize_enum<V: Visitor<'t>>(
        mut self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        let start = *self.reader;
        match self.pass()? {
            Passed::Scalar(Token::Text(text)) => {
                visitor.visit_enum(IntoDeserializer::<Fault>::into_deserializer(text.as_ref()))
            }
            Passed::Object(_) => {
                let ready = self.ready;
                *self.reader = start;
                let value = self.reader.value(ready.is_some())?;
                if let (Some(ready), Rule::One(node)) = (ready, &self.rule)
                    && !judge::conforms(ready, *node, View::from(&value))
                {
                    return Err(Fault::Refused);
                }
                let read = value.deserialize_enum(name, variants, visitor);
                read.map_err(|_| Fault::Unfit)
            }
            Passed::Scalar(_) | Passed::List(_) => Err(Fault::Unfit),
        }
    }

    serde::forward_to_deserialize_any! {
        <W: Visitor<'t>>
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit
        unit_struct seq tuple tuple_struct identifier ignored_any
    }
}

impl de::Error for Fault {
    fn custom<T: fmt::Display>(_: T) -> Self {
        Self::Unfit
    }
}
