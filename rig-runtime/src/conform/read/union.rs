//! How is a choice between types read?
//!
//! Where a property says which branch an object is, only the way to that property is read twice. Of any other value the
//! branches are tried in their order.

use super::{Fields, Place};
use crate::conform::ready::Way;
use crate::json::Fault;

/// A choice between types.
pub trait Union: Sized {
    /// The property that says which branch an object is, if there is one.
    const TAG: &'static Fields;
    /// For each branch the values of the tag that mean it.
    const TAGS: &'static [&'static [&'static str]];

    /// For each branch that is an object the properties that it needs. Looking for them first costs little, and where
    /// choices are within choices it keeps every level from trying all below it for each branch.
    const NEEDED: &'static [&'static [&'static str]];

    /// Reads the branch with this number.
    ///
    /// # Errors
    ///
    /// When the value is none of the branch's, and where there is no such branch.
    fn branch(index: usize, place: Place<'_, '_>) -> Result<Self, Fault>;
}

/// Reads the branch that an object's tag names, else the first branch that holds the value.
///
/// # Errors
///
/// When the value is none of the branches'.
pub fn read_union<T: Union>(mut place: Place<'_, '_>) -> Result<T, Fault> {
    if let Some(index) = place.narrow(T::TAG, T::TAGS)? {
        return T::branch(index, place);
    }
    let keys = match T::NEEDED.iter().all(|needed| needed.is_empty()) {
        true => Vec::new(),
        false => place.reader.keys(),
    };
    for (index, needed) in T::NEEDED.iter().enumerate() {
        if !needed
            .iter()
            .all(|key| keys.iter().any(|other| other == key))
        {
            continue;
        }
        let mut reader = *place.reader;
        let tried = Place {
            reader: &mut reader,
            ..place
        };
        if let Ok(value) = T::branch(index, tried) {
            *place.reader = reader;
            return Ok(value);
        }
    }
    Err(Fault::Unfit("one of the union's branches"))
}

impl Place<'_, '_> {
    /// Judges what is here as far as it can be judged before a branch is chosen, so that what is left to conform to is
    /// the same for each; returns the branch if the tag tells it.
    fn narrow(&mut self, tag: &Fields, tags: &[&[&str]]) -> Result<Option<usize>, Fault> {
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
        let written = tag.written(0);
        let tag = tag.names().first().copied();
        let value = tag.and_then(|tag| self.reader.text_at(tag, written));
        self.node = match (self.node.map(|node| &node.object), self.ready) {
            // Both look at the same property, as a rule.
            (Some(Way::Tagged(of)), Some(ready)) if tag == Some(of.key) => {
                let branch = value.as_deref().and_then(|value| of.branch(value));
                Some(ready.node(branch.ok_or(Fault::Refused)?))
            }
            (Some(way), _) => self.decided(way)?,
            (None, _) => None,
        };
        Ok(value.and_then(|value| tags.iter().position(|tags| tags.contains(&value.as_ref()))))
    }
}
