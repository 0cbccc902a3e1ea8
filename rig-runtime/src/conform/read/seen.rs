//! Which keys were there?

use std::borrow::Cow;
use std::collections::HashSet;

/// A set of small numbers.
#[derive(Debug, Default)]
pub(in crate::conform) struct Bits {
    first: u64,
    more: Vec<u64>,
}

impl Bits {
    /// Adds a number; returns whether it is new.
    #[inline]
    pub(in crate::conform) fn add(&mut self, number: usize) -> bool {
        let word = match number / 64 {
            0 => &mut self.first,
            at => self.further(at),
        };
        let bit = 1 << (number % 64);
        let is_new = *word & bit == 0;
        *word |= bit;
        is_new
    }

    fn further(&mut self, at: usize) -> &mut u64 {
        if self.more.len() < at {
            self.more.resize(at, 0);
        }
        &mut self.more[at - 1]
    }

    /// Returns whether all of another set are in the set.
    #[inline]
    pub(super) fn has_all(&self, other: &Self) -> bool {
        let more = |at: usize| self.more.get(at).copied().unwrap_or_default();
        let mut others = other.more.iter().enumerate();
        other.first & !self.first == 0 && others.all(|(at, word)| word & !more(at) == 0)
    }

    /// Returns whether a number is in the set.
    #[inline]
    pub(super) fn has(&self, number: usize) -> bool {
        let word = match number / 64 {
            0 => self.first,
            at => self.more.get(at - 1).copied().unwrap_or_default(),
        };
        word & (1 << (number % 64)) != 0
    }
}

/// A set of keys, in their order.
#[derive(Debug, Default)]
pub(super) struct Keys<'t> {
    all: Vec<Cow<'t, str>>,
    /// The same, where they are many.
    many: Option<HashSet<Cow<'t, str>>>,
}

impl<'t> Keys<'t> {
    const FEW: usize = 16;

    /// Adds a key; gives it back if it is not new.
    pub(super) fn add(&mut self, key: Cow<'t, str>) -> Result<(), Cow<'t, str>> {
        let is_new = if self.all.len() < Self::FEW {
            !self.all.contains(&key)
        } else {
            let all = || self.all.iter().cloned().collect();
            self.many.get_or_insert_with(all).insert(key.clone())
        };
        if !is_new {
            return Err(key);
        }
        self.all.push(key);
        Ok(())
    }

    /// Returns the key that was added last; without any an empty one.
    pub(super) fn last(&self) -> &str {
        self.all.last().map_or("", |key| key)
    }
}
