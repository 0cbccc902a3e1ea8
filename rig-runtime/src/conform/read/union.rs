//! How is a choice between types read?
//!
//! Where a property says which branch an object is, only the way to that property is read twice. Of any other value it
//! is decided first which branch it is, and then that one is read.

use super::shape::Branches;
use super::{Place, ReadJson, Shape};
use crate::conform::ready::Way;
use crate::json::Fault;

/// A choice between types.
pub trait Union: ReadJson {
    /// Reads the branch with this number.
    ///
    /// # Errors
    ///
    /// When the value is none of the branch's, and where there is no such branch.
    fn branch(index: usize, place: Place<'_, '_>) -> Result<Self, Fault>;
}

/// Reads the branch that an object's tag names, else the first branch that takes the value.
///
/// # Errors
///
/// When the value is none of the branches'.
pub fn read_union<T: Union>(mut place: Place<'_, '_>) -> Result<T, Fault> {
    let shape: &'static Shape = T::shape();
    let none = Fault::Unfit("one of the union's branches");
    let Some(union) = shape.branches() else {
        return Err(none);
    };
    if let Some(index) = place.narrow(union)? {
        return T::branch(index, place);
    }
    let mut is_judged = place.node.is_none();
    let index = place.pass.decided.branch(shape, place.reader, || {
        // What is looked at as a whole is judged as a whole.
        if !std::mem::replace(&mut is_judged, true) {
            place.judge_whole()?;
        }
        Ok(())
    })?;
    if is_judged {
        place.node = None;
    }
    match index {
        Some(index) => T::branch(index, place),
        None => Err(none),
    }
}

impl Place<'_, '_> {
    /// Judges what is here as far as it can be judged before a branch is chosen, so that what is left to conform to is
    /// the same for each; returns the branch if the tag tells it.
    fn narrow(&mut self, union: &Branches) -> Result<Option<usize>, Fault> {
        match self.reader.peek() {
            Some(b'{') => {}
            Some(b'[') => {
                self.node = self
                    .node
                    .map_or(Ok(None), |node| self.decided(&node.list))?;
                return Ok(None);
            }
            _ => {
                if self.node.is_some() {
                    let mut reader = *self.reader;
                    Place {
                        reader: &mut reader,
                        ..*self
                    }
                    .scalar()?;
                    self.node = None;
                }
                return Ok(None);
            }
        }
        let written = union.tag.written(0);
        let tag = union.tag.names().first().copied();
        let value = tag.and_then(|tag| self.reader.text_at(tag, written));
        self.node = match (self.node.map(|node| &node.object), self.pass.ready) {
            // Both look at the same property, as a rule.
            (Some(Way::Tagged(of)), Some(ready)) if tag == Some(of.key) => {
                let branch = value.as_deref().and_then(|value| of.branch(value));
                Some(ready.node(branch.ok_or(Fault::Refused)?))
            }
            (Some(way), _) => self.decided(way)?,
            (None, _) => None,
        };
        Ok(value.and_then(|value| union.tagged(&value)))
    }
}
