//! How is an answer read into its type and judged in the same pass?
//!
//! A type asks a place for what it expects there: a string, a list, an object. The place looks at it before the type
//! gets it: scalars by their rules, lists and objects by how `ready` says they can be read. What can only be judged as
//! a whole is read, judged, and read again. No list passes for an object, no repeated key for one, and no integer for
//! a fraction; whole numbers reach the type as integers, however they are written.

mod list;
mod object;
mod plain;
mod seen;
mod shape;
mod union;

use std::borrow::Cow;

use rig_spec::Number;
use serde_json::Value;

use self::shape::Decided;
use super::judge;
use super::ready::{Node, Ready, Way};
use super::rules::View;
use crate::generated::Scalar;
use crate::json::{Fault, Reader, Token};
use crate::steps;

pub use list::List;
pub use object::{Entry, Fields, Object};
pub(super) use seen::Bits;
pub use shape::{
    ItemShape, Shape, ShapeOf, shape_of_branch, shape_of_field, shape_of_items, shape_of_optional,
    shape_of_values,
};
pub use union::{Union, read_union};

/// A type that is read from a JSON text.
///
/// The route compiler implements it for the types that it generates, by macros.
///
/// **Invariant:** whatever is read is held in full. Nothing is skipped, so that what was read is written again as the
/// same JSON value, and the first branch of a choice that can be read is one that holds all of it.
pub trait ReadJson: Sized {
    /// Reads the value at a place.
    ///
    /// # Errors
    ///
    /// When it does not conform, or the type cannot hold it.
    fn read_json(place: Place<'_, '_>) -> Result<Self, Fault>;

    /// Returns what the type takes.
    fn shape() -> &'static Shape;
}

/// Reads a text into a type and judges it by the schema; without one it was judged before, or has none.
pub(crate) fn read<T: ReadJson>(
    ready: Option<&Ready>,
    is_judged: bool,
    text: &str,
) -> Result<T, Fault> {
    let mut reader = Reader::new(text);
    let pass = Pass {
        ready,
        decided: Decided::default(),
    };
    let node = ready.filter(|_| !is_judged).map(|ready| ready.node(0));
    let value = T::read_json(Place::new(&mut reader, &pass, node))?;
    reader.end()?;
    Ok(value)
}

/// What holds for all places of a text.
#[derive(Debug)]
struct Pass<'r> {
    ready: Option<&'r Ready>,
    /// Which branches the text's choices are.
    decided: Decided,
}

/// A value that is to be read, and what it has to conform to.
#[derive(Debug)]
pub struct Place<'r, 't> {
    reader: &'r mut Reader<'t>,
    pass: &'r Pass<'r>,
    /// What it has to conform to; `None` for anything, or where it was judged before.
    node: Option<&'r Node>,
}

impl<'r, 't> Place<'r, 't> {
    #[inline]
    fn new(reader: &'r mut Reader<'t>, pass: &'r Pass<'r>, node: Option<&'r Node>) -> Self {
        steps::count(1);
        Self { reader, pass, node }
    }

    /// Reads a string.
    ///
    /// # Errors
    ///
    /// When it is none, or does not conform.
    pub fn text(mut self) -> Result<Cow<'t, str>, Fault> {
        if !self.is_text() {
            return Err(Fault::Unfit("a string"));
        }
        let text = self.reader.string()?;
        self.judge(View::Text(&text))?;
        Ok(text)
    }

    /// Begins to read a list.
    ///
    /// # Errors
    ///
    /// When it is none, or cannot conform.
    pub fn list(self) -> Result<List<'r, 't>, Fault> {
        if self.reader.peek() != Some(b'[') {
            return Err(Fault::Unfit("a list"));
        }
        let node = self
            .node
            .map_or(Ok(None), |node| self.decided(&node.list))?;
        List::new(self.reader, self.pass, node)
    }

    /// Begins to read an object into these fields.
    ///
    /// # Errors
    ///
    /// When it is none, or cannot conform.
    pub fn object(self, fields: &'static Fields) -> Result<Object<'r, 't>, Fault> {
        if self.reader.peek() != Some(b'{') {
            return Err(Fault::Unfit("an object"));
        }
        let node = self
            .node
            .map_or(Ok(None), |node| self.decided(&node.object))?;
        Object::new(self.reader, self.pass, node, fields)
    }

    /// Reads null, if there is one.
    fn null(&mut self) -> Result<bool, Fault> {
        if self.reader.peek() != Some(b'n') {
            return Ok(false);
        }
        self.reader.word("null")?;
        self.judge(View::Null)?;
        Ok(true)
    }

    /// Reads anything that is neither a list nor an object.
    pub(crate) fn scalar(self) -> Result<Token<'t>, Fault> {
        let token = self.reader.token()?;
        self.judge(match &token {
            Token::Null => View::Null,
            Token::Bool(value) => View::Bool(*value),
            Token::Number(number, _) => View::Number(*number),
            Token::Text(text) => View::Text(text),
            Token::List | Token::Object => return Err(Fault::Unfit("a scalar")),
        })?;
        Ok(token)
    }

    fn number(self) -> Result<Number, Fault> {
        if !matches!(self.reader.peek(), Some(b'-' | b'0'..=b'9')) {
            return Err(Fault::Unfit("a number"));
        }
        let (number, _) = self.reader.number()?;
        self.judge(View::Number(number))?;
        Ok(number)
    }

    /// Reads a string that is one of these values; returns which, or `None` if it is another one.
    pub(crate) fn text_among(self, values: &'static [Scalar]) -> Result<Option<usize>, Fault> {
        let text = self.reader.string()?;
        let is = |value: &Scalar| matches!(value, Scalar::String(known) if *known == text);
        let index = values.iter().position(is);
        let is_known = match (self.pass.ready, self.node) {
            (Some(ready), Some(node)) => node.takes(values, ready),
            _ => true,
        };
        if !is_known {
            self.judge(View::Text(&text))?;
        }
        Ok(index)
    }

    /// Reads any value.
    fn value(self) -> Result<Value, Fault> {
        // Where there is no schema, nothing says that `1.0` is meant as an integer.
        let value = self.reader.exact_value(self.pass.ready.is_some())?;
        self.judge(View::from(&value))?;
        Ok(value)
    }

    /// Returns whether a string begins here.
    #[inline]
    pub(crate) fn is_text(&mut self) -> bool {
        self.reader.peek() == Some(b'"')
    }

    #[inline]
    fn judge(&self, value: View<'_>) -> Result<(), Fault> {
        let (Some(ready), Some(node)) = (self.pass.ready, self.node) else {
            return Ok(());
        };
        if node.free.meets(value.kind()) || judge::conforms(ready, node, value) {
            Ok(())
        } else {
            Err(Fault::Refused)
        }
    }

    /// Returns the node whose rules the list or the object here is read by, as far as that can be said before it is
    /// read.
    #[inline]
    fn decided(&self, way: &Way) -> Result<Option<&'r Node>, Fault> {
        match (way, self.pass.ready) {
            (Way::By(id), Some(ready)) => Ok(Some(ready.node(*id))),
            (Way::Free, _) | (_, None) => Ok(None),
            (way, Some(ready)) => self.looked_up(way, ready),
        }
    }

    #[inline(never)]
    fn looked_up(&self, way: &Way, ready: &'r Ready) -> Result<Option<&'r Node>, Fault> {
        match way {
            Way::Never => Err(Fault::Refused),
            Way::Free => Ok(None),
            Way::By(id) => Ok(Some(ready.node(*id))),
            Way::Tagged(tag) => {
                let value = self.reader.text_at(tag.key, None);
                let branch = value.and_then(|value| tag.branch(&value));
                Ok(Some(ready.node(branch.ok_or(Fault::Refused)?)))
            }
            Way::Whole => self.judge_whole().map(|()| None),
        }
    }

    /// Judges the value here as a whole, and stays before it.
    fn judge_whole(&self) -> Result<(), Fault> {
        let mut ahead = *self.reader;
        let value = ahead.value(true)?;
        self.judge(View::from(&value))
    }
}
