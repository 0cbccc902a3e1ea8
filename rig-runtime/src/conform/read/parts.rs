//! What do the items of a list and the entries of an object have to conform to, one after the other?

use std::borrow::Cow;

use rig_spec::NodeId;
use serde::de::value::{BorrowedStrDeserializer, StrDeserializer};
use serde::de::{DeserializeSeed, MapAccess, SeqAccess};

use super::seen::{Bits, Keys};
use super::{Place, Rule};
use crate::conform::judge;
use crate::conform::ready::{Node, Ready};
use crate::conform::rules::View;
use crate::json::{Fault, Reader};

/// The items of a list that is being read.
pub(super) struct Items<'r, 't> {
    reader: &'r mut Reader<'t>,
    ready: Option<&'r Ready>,
    node: Option<&'r Node>,
    count: usize,
    pub(super) is_done: bool,
}

impl<'r, 't> Items<'r, 't> {
    pub(super) fn new(
        reader: &'r mut Reader<'t>,
        ready: Option<&'r Ready>,
        node: Option<NodeId>,
    ) -> Self {
        Self {
            reader,
            ready,
            node: ready.zip(node).map(|(ready, node)| ready.node(node)),
            count: 0,
            is_done: false,
        }
    }

    /// Returns what the next item has to conform to; `None` at the end.
    pub(super) fn advance(&mut self) -> Result<Option<Rule>, Fault> {
        let rules = self.node.and_then(|node| node.rules.list.as_ref());
        if !self.reader.has_item(self.count == 0)? {
            self.is_done = true;
            let is_short = rules
                .and_then(|rules| rules.fewest)
                .is_some_and(|fewest| (self.count as u64) < fewest);
            return if is_short {
                Err(Fault::Refused)
            } else {
                Ok(None)
            };
        }
        let Some(rules) = rules else {
            self.count += 1;
            return Ok(Some(Rule::None));
        };
        if rules.most.is_some_and(|most| self.count as u64 >= most) {
            return Err(Fault::Refused);
        }
        let node = rules.first.get(self.count).copied().or(rules.rest);
        self.count += 1;
        Ok(Some(node.map_or(Rule::None, Rule::One)))
    }
}

impl<'t> SeqAccess<'t> for &mut Items<'_, 't> {
    type Error = Fault;

    fn next_element_seed<S: DeserializeSeed<'t>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, Fault> {
        if self.is_done {
            return Ok(None);
        }
        let Some(rule) = self.advance()? else {
            return Ok(None);
        };
        let place = Place {
            reader: self.reader,
            ready: self.ready,
            rule,
        };
        seed.deserialize(place).map(Some)
    }
}

/// The entries of an object that is being read.
pub(super) struct Entries<'r, 't> {
    reader: &'r mut Reader<'t>,
    ready: Option<&'r Ready>,
    node: Option<&'r Node>,
    /// Which of the node's keys were there.
    seen: Bits,
    /// The keys that were there besides.
    others: Keys<'t>,
    count: usize,
    /// The key of the node that is likely to come next.
    expected: usize,
    rule: Rule,
    pub(super) is_done: bool,
}

impl<'r, 't> Entries<'r, 't> {
    pub(super) fn new(
        reader: &'r mut Reader<'t>,
        ready: Option<&'r Ready>,
        node: Option<NodeId>,
    ) -> Self {
        Self {
            reader,
            ready,
            node: ready.zip(node).map(|(ready, node)| ready.node(node)),
            seen: Bits::default(),
            others: Keys::default(),
            count: 0,
            expected: 0,
            rule: Rule::None,
            is_done: false,
        }
    }

    /// Reads the next key and finds out what its value has to conform to; `None` at the end.
    fn advance(&mut self) -> Result<Option<Cow<'t, str>>, Fault> {
        let Some(key) = self.reader.key(self.count == 0)? else {
            self.is_done = true;
            return self.finish().map(|()| None);
        };
        // `serde_json` gives its own values a meaning of their own under such keys.
        if key.starts_with("$serde_json::private::") {
            return Err(Fault::Unfit);
        }
        self.count += 1;
        let at = self.node.and_then(|node| node.key(&key, self.expected));
        let is_new = match at {
            Some(at) => {
                self.expected = at + 1;
                self.seen.add(at)
            }
            None => self.others.add(key.clone()),
        };
        if !is_new {
            return Err(Fault::Repeated(key.into_owned()));
        }
        self.rule = match (self.ready, self.node) {
            (Some(ready), Some(node)) => self.rule_of(ready, node, &key, at)?,
            _ => Rule::None,
        };
        Ok(Some(key))
    }

    /// Returns what the value of a key has to conform to, which is at this place among the node's.
    fn rule_of(
        &self,
        ready: &Ready,
        node: &Node,
        key: &str,
        at: Option<usize>,
    ) -> Result<Rule, Fault> {
        let Some(rules) = &node.rules.object else {
            return Ok(Rule::None);
        };
        let listed = at.and_then(|at| rules.keys[at].node);
        if rules.most.is_some_and(|most| self.count as u64 > most) {
            return Err(Fault::Refused);
        }
        if let Some(names) = rules.names
            && !judge::conforms(ready, names, View::Text(key))
        {
            return Err(Fault::Refused);
        }
        if node.key_patterns.is_empty() {
            return Ok(listed.or(rules.rest).map_or(Rule::None, Rule::One));
        }
        let mut nodes: Vec<NodeId> = listed.into_iter().collect();
        for (pattern, node) in &node.key_patterns {
            if pattern.is_match(key).ok_or(Fault::Refused)? {
                nodes.push(*node);
            }
        }
        Ok(match nodes.as_slice() {
            [] => rules.rest.map_or(Rule::None, Rule::One),
            [one] => Rule::One(*one),
            _ => Rule::Each(nodes),
        })
    }

    /// Checks what can be said of an object only at its end.
    fn finish(&mut self) -> Result<(), Fault> {
        let Some(rules) = self.node.and_then(|node| node.rules.object.as_ref()) else {
            return Ok(());
        };
        let mut keys = rules.keys.iter().enumerate();
        let has_required = keys.all(|(at, key)| !key.required || self.seen.has(at));
        let has_enough = rules
            .fewest
            .is_none_or(|fewest| self.count as u64 >= fewest);
        let has_needed = rules.needs.iter().all(|(key, needed)| {
            let mut needed = needed.iter();
            !self.seen.has(*key as usize) || needed.all(|key| self.seen.has(*key as usize))
        });
        if has_required && has_enough && has_needed {
            Ok(())
        } else {
            Err(Fault::Refused)
        }
    }
}

impl<'t> MapAccess<'t> for &mut Entries<'_, 't> {
    type Error = Fault;

    fn next_key_seed<S: DeserializeSeed<'t>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, Fault> {
        if self.is_done {
            return Ok(None);
        }
        match self.advance()? {
            None => Ok(None),
            Some(Cow::Borrowed(key)) => seed
                .deserialize(BorrowedStrDeserializer::new(key))
                .map(Some),
            Some(Cow::Owned(key)) => seed.deserialize(StrDeserializer::new(&key)).map(Some),
        }
    }

    fn next_value_seed<S: DeserializeSeed<'t>>(&mut self, seed: S) -> Result<S::Value, Fault> {
        let rule = std::mem::replace(&mut self.rule, Rule::None);
        seed.deserialize(Place {
            reader: self.reader,
            ready: self.ready,
            rule,
        })
    }
}
