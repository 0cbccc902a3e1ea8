//! What do the properties of an object have to conform to, one after the other?

use rig_spec::ObjectRules;

use super::seen::{Bits, Keys};
use super::{Pass, Place};
use crate::conform::judge;
use crate::conform::ready::{Known, Node, Ready};
use crate::conform::rules::View;
use crate::json::{Fault, Reader, is_plain_name};

/// An object that is being read.
#[derive(Debug)]
pub struct Object<'r, 't> {
    reader: &'r mut Reader<'t>,
    pass: &'r Pass<'r>,
    by: Option<By<'r>>,
    fields: &'static Fields,
    /// The field that is likely to come next.
    expected: usize,
    /// Which of the fields were there.
    seen: Bits,
    /// Which of the node's keys were there.
    met: Bits,
    /// The keys that were there and have no field.
    others: Keys<'t>,
    count: usize,
    /// What the value of the last key has to conform to.
    rule: Option<&'r Node>,
}

/// What an object is read by.
#[derive(Clone, Copy, Debug)]
struct By<'r> {
    ready: &'r Ready,
    node: &'r Node,
    rules: &'r ObjectRules<'static>,
    /// What the node knows of each field, if that is enough.
    known: Option<&'r [Known]>,
}

/// A property.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry {
    /// That of the field with this number.
    Field(usize),
    /// One that has no field.
    Other,
}

impl<'r, 't> Object<'r, 't> {
    pub(super) fn new(
        reader: &'r mut Reader<'t>,
        pass: &'r Pass<'r>,
        node: Option<&'r Node>,
        fields: &'static Fields,
    ) -> Result<Self, Fault> {
        reader.enter()?;
        let by = |(ready, node): (_, &'r Node)| {
            Some(By {
                ready,
                node,
                rules: node.rules.object.as_ref()?,
                known: node.known(fields),
            })
        };
        Ok(Self {
            reader,
            pass,
            by: pass.ready.zip(node).and_then(by),
            fields,
            expected: 0,
            seen: Bits::default(),
            met: Bits::default(),
            others: Keys::default(),
            count: 0,
            rule: None,
        })
    }

    /// Reads the next property's key; `None` at the end.
    ///
    /// # Errors
    ///
    /// When the object is none from here on, repeats a key, or does not conform.
    pub fn entry(&mut self) -> Result<Option<Entry>, Fault> {
        let is_first = self.count == 0;
        // Most keys come in the schema's order.
        let next = self.fields.written(self.expected);
        let at = if next.is_some_and(|written| self.reader.key_is(written, is_first)) {
            self.expected
        } else if self.reader.is_end_of_object() {
            return self.end().map(|()| None);
        } else {
            match self.any_key(is_first)? {
                Some(at) => at,
                None => return Ok(Some(Entry::Other)),
            }
        };
        if !self.seen.add(at) {
            return Err(Fault::Repeated(self.fields.names[at].to_owned()));
        }
        self.expected = at + 1;
        if let Some(by) = &self.by {
            match by.known {
                Some(known) => {
                    let Known { key, rule } = known[at];
                    if let Some(key) = key {
                        self.met.add(key as usize);
                    }
                    self.rule = rule.map(|id| by.ready.node(id));
                }
                None => self.follow(*by, self.fields.names[at])?,
            }
        }
        self.count += 1;
        Ok(Some(Entry::Field(at)))
    }

    /// Reads a key; returns the field that has it.
    #[inline(never)]
    fn any_key(&mut self, is_first: bool) -> Result<Option<usize>, Fault> {
        let key = self.reader.key(is_first)?;
        let field = self.fields.names.iter().position(|name| *name == key);
        if field.is_none() {
            if let Some(by) = self.by {
                self.follow(by, &key)?;
            }
            self.count += 1;
            let added = self.others.add(key);
            added.map_err(|key| Fault::Repeated(key.into_owned()))?;
        }
        Ok(field)
    }

    /// Returns the key that was read last, which has no field.
    #[must_use]
    pub fn key(&self) -> String {
        self.others.last().to_owned()
    }

    /// Returns the place of the value whose key was read last.
    #[inline]
    pub fn value(&mut self) -> Place<'_, 't> {
        Place::new(self.reader, self.pass, self.rule.take())
    }

    /// Finds out what the value of a key has to conform to.
    fn follow(&mut self, by: By<'r>, key: &str) -> Result<(), Fault> {
        let known = by.node.known_key(key);
        if let Some(at) = known.key {
            self.met.add(at as usize);
        }
        self.rule = match by.node.looks_at_keys {
            false => known.rule.map(|id| by.ready.node(id)),
            true => self.looked_at(by, known, key)?,
        };
        Ok(())
    }

    /// Returns what the value of a key has to conform to, where more than a look at the listed keys is needed.
    fn looked_at(&self, by: By<'r>, known: Known, key: &str) -> Result<Option<&'r Node>, Fault> {
        let By {
            ready, node, rules, ..
        } = by;
        if rules.most.is_some_and(|most| self.count as u64 >= most) {
            return Err(Fault::Refused);
        }
        if let Some(names) = rules.names
            && !judge::conforms(ready, ready.node(names), View::Text(key))
        {
            return Err(Fault::Refused);
        }
        let listed = known.key.and_then(|at| rules.keys[at as usize].node);
        let mut nodes: Vec<&Node> = listed.iter().map(|id| ready.node(*id)).collect();
        for (pattern, id) in &node.key_patterns {
            if pattern.is_match(key).ok_or(Fault::Refused)? {
                nodes.push(ready.node(*id));
            }
        }
        match nodes.as_slice() {
            [] => Ok(rules.rest.map(|id| ready.node(id))),
            [one] => Ok(Some(one)),
            // It has to conform to each, so it is judged here and now.
            _ => {
                let mut ahead = *self.reader;
                let value = ahead.value(true)?;
                let conforms = |node: &&Node| judge::conforms(ready, node, View::from(&value));
                match nodes.iter().all(conforms) {
                    true => Ok(None),
                    false => Err(Fault::Refused),
                }
            }
        }
    }

    /// Checks what can be said of an object only at its end.
    fn end(&self) -> Result<(), Fault> {
        let Some(By { node, rules, .. }) = self.by else {
            return Ok(());
        };
        let has = |key: &u32| self.met.has(*key as usize);
        let has_enough = rules
            .fewest
            .is_none_or(|fewest| self.count as u64 >= fewest);
        let mut needs = rules.needs.iter();
        let has_needed = needs.all(|(key, needed)| !has(key) || needed.iter().all(has));
        if self.met.has_all(&node.required) && has_enough && has_needed {
            Ok(())
        } else {
            Err(Fault::Refused)
        }
    }
}

/// The names of the properties that have a field.
#[derive(Debug)]
pub struct Fields {
    names: &'static [&'static str],
    /// Each as a JSON text writes it, with its quotes and colon; none where one of them needs an escape.
    written: &'static [&'static str],
}

impl Fields {
    /// Returns those with these names, which are written so.
    #[must_use]
    pub const fn new(names: &'static [&'static str], written: &'static [&'static str]) -> Self {
        let mut is_plain = true;
        let mut at = 0;
        while at < names.len() {
            is_plain &= is_plain_name(names[at]);
            at += 1;
        }
        let written: &[&str] = if is_plain { written } else { &[] };
        Self { names, written }
    }

    /// Returns the names.
    pub(in crate::conform) fn names(&self) -> &'static [&'static str] {
        self.names
    }

    /// Returns how a name is written as a key, with its quotes and colon.
    #[inline]
    pub(super) fn written(&self, at: usize) -> Option<&'static str> {
        self.written.get(at).copied()
    }
}
