//! Which keys were there?

use std::borrow::Cow;
use std::collections::HashSet;

/// A set of small numbers.
#[derive(Default)]
pub(super) struct Bits {
    first: u64,
    more: Vec<u64>,
}

impl Bits {
    /// Adds a number; returns whether it is new.
    pub(super) fn add(&mut self, number: usize) -> bool {
        let bit = 1 << (number % 64);
        let word = match number / 64 {
            0 => &mut self.first,
            at => {
                if self.more.len() < at {
                    self.more.resize(at, 0);
                }
                &mut self.more[at - 1]
            }
        };
        let is_new = *word & bit == 0;
        *word |= bit;
        is_new
    }

    /// Returns whether a number is in the set.
    pub(super) fn has(&self, number: usize) -> bool {
        let word = match number / 64 {
            0 => self.first,
            at => self.more.get(at - 1).copied().unwrap_or_default(),
        };
        word & (1 << (number % 64)) != 0
    }
}

/// A set of keys: a list while they are few.
#[derive(Default)]
pub(super) struct Keys<'t> {
    few: Vec<Cow<'t, str>>,
    many: HashSet<Cow<'t, str>>,
}

impl<'t> Keys<'t> {
    const FEW: usize = 16;

    /// Adds a key; returns whether it is new.
    pub(super) fn add(&mut self, key: Cow<'t, str>) -> bool {
        if self.few.len() < Self::FEW {
            let is_new = !self.few.contains(&key);
            self.few.push(key);
            return is_new;
        }
        if self.many.is_empty() {
            self.many.extend(self.few.iter().cloned());
        }
        self.many.insert(key)
    }
}
