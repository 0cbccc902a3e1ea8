//! What do the items of a list have to conform to, one after the other?

use rig_spec::ListRules;

use super::{Pass, Place};
use crate::conform::ready::Node;
use crate::json::{Fault, Reader};

/// A list that is being read.
#[derive(Debug)]
pub struct List<'r, 't> {
    reader: &'r mut Reader<'t>,
    pass: &'r Pass<'r>,
    rules: Option<&'r ListRules>,
    count: usize,
    is_done: bool,
}

impl<'r, 't> List<'r, 't> {
    pub(super) fn new(
        reader: &'r mut Reader<'t>,
        pass: &'r Pass<'r>,
        node: Option<&'r Node>,
    ) -> Result<Self, Fault> {
        reader.enter()?;
        Ok(Self {
            reader,
            pass,
            rules: node.and_then(|node| node.rules.list.as_ref()),
            count: 0,
            is_done: false,
        })
    }

    /// Returns the place of the next item; `None` at the end.
    ///
    /// # Errors
    ///
    /// When the list is none from here on, or does not conform.
    pub fn item(&mut self) -> Result<Option<Place<'_, 't>>, Fault> {
        if self.is_done {
            return Ok(None);
        }
        let mut node = None;
        if self.reader.has_item(self.count == 0)? {
            if let Some(rules) = self.rules {
                if rules.most.is_some_and(|most| self.count as u64 >= most) {
                    return Err(Fault::Refused);
                }
                let id = rules.first.get(self.count).copied().or(rules.rest);
                node = self.pass.ready.zip(id).map(|(ready, id)| ready.node(id));
            }
            self.count += 1;
        } else {
            self.is_done = true;
            let fewest = self.rules.and_then(|rules| rules.fewest);
            return match fewest.is_some_and(|fewest| (self.count as u64) < fewest) {
                true => Err(Fault::Refused),
                false => Ok(None),
            };
        }
        Ok(Some(Place::new(self.reader, self.pass, node)))
    }

    /// Checks that nothing follows.
    ///
    /// # Errors
    ///
    /// When something does, or the list does not conform.
    pub fn end(mut self) -> Result<(), Fault> {
        match self.item()? {
            None => Ok(()),
            Some(_) => Err(Fault::Unfit("a shorter list")),
        }
    }
}
