//! How does the size of a list or an object follow from those of its items and properties?

use super::scalar::string;
use super::{Shortest, Size};

/// The number of an equation.
pub(super) type Id = usize;

/// The lists that a schema lets through.
pub(super) struct List {
    pub(super) first: Vec<Id>,
    /// The items after the first ones.
    pub(super) rest: Option<Id>,
    pub(super) least: u64,
    pub(super) most: u64,
}

/// The objects that a schema lets through.
pub(super) struct Object {
    /// The properties that have to be there.
    pub(super) required: Vec<Property>,
    /// The other ones that are described.
    pub(super) optional: Vec<Property>,
    /// Whether there are no others.
    pub(super) closed: bool,
    /// How many there have to be, the required ones among them.
    pub(super) least: u64,
}

pub(super) struct Property {
    /// Its key, with the colon.
    key: Shortest,
    value: Value,
}

/// What is known of a property's value.
#[derive(Clone, Copy)]
pub(super) enum Value {
    Anything,
    Nothing,
    Schema(Id),
}

impl List {
    /// Returns the equations whose sizes this one asks for.
    pub(super) fn asks(&self) -> impl Iterator<Item = Id> {
        self.first.iter().chain(&self.rest).copied()
    }

    pub(super) fn size(&self, sizes: &[Size]) -> Size {
        let first = self.first.iter().map(|id| sizes[*id]);
        let rest = self.rest.map_or(Size::ANYTHING, |id| sizes[id]);
        let count = self.first.len() as u64;
        let given = usize::try_from(self.least).unwrap_or(usize::MAX);
        let shortest = first
            .clone()
            .take(given)
            .map(|size| size.shortest)
            .chain([rest.shortest.times(self.least.saturating_sub(count))])
            .fold(Shortest::default(), Shortest::plus)
            .and_bytes(2 + self.least.saturating_sub(1));

        // An item that nothing conforms to cannot be there, and so none after it.
        let possible = first.take_while(|size| size.longest > 0);
        let possible: Vec<_> = possible.map(|size| size.longest).collect();
        let is_cut = possible.len() < self.first.len() || rest.longest == 0;
        let most = match is_cut {
            true => self.most.min(possible.len() as u64),
            false => self.most,
        };
        let first = possible
            .iter()
            .take(usize::try_from(most).unwrap_or(usize::MAX))
            .fold(0, |all: u64, next| all.saturating_add(*next));
        let longest = first
            .saturating_add(rest.longest.saturating_mul(most.saturating_sub(count)))
            .saturating_add(most.saturating_sub(1))
            .saturating_add(2);
        Size { shortest, longest }
    }
}

impl Object {
    /// Returns the equations whose sizes this one asks for.
    pub(super) fn asks(&self) -> impl Iterator<Item = Id> {
        let all = self.required.iter().chain(&self.optional);
        all.filter_map(|property| match property.value {
            Value::Schema(id) => Some(id),
            Value::Anything | Value::Nothing => None,
        })
    }

    pub(super) fn size(&self, sizes: &[Size]) -> Size {
        let required = self
            .required
            .iter()
            .map(|property| property.size(sizes).shortest);
        let named = self.required.len() as u64;
        let more = self.least.saturating_sub(named);
        let count = named.max(self.least);
        let shortest = required
            .chain([self.shortest_others(more, sizes)])
            .fold(Shortest::default(), Shortest::plus)
            .and_bytes(2 + count.saturating_sub(1));
        let longest = match self.closed {
            false => u64::MAX,
            true => {
                let all = self.required.iter().chain(&self.optional);
                let sizes = all.map(|property| property.size(sizes).longest);
                let possible = sizes.filter(|longest| *longest > 0);
                let each = possible.fold(0, |all: u64, next| {
                    all.saturating_add(next.saturating_add(1))
                });
                each.saturating_sub(1).saturating_add(2)
            }
        };
        Size { shortest, longest }
    }

    /// Returns the least that this many properties take which are not required, without commas.
    fn shortest_others(&self, more: u64, sizes: &[Size]) -> Shortest {
        if !self.closed {
            // `"":1`, then keys of one byte.
            return Shortest::default().and_bytes(more.saturating_mul(5).saturating_sub(1));
        }
        if more == 0 {
            return Shortest::default();
        }
        let Ok(more) = usize::try_from(more) else {
            return Shortest::NEVER;
        };
        let optional = self
            .optional
            .iter()
            .map(|property| property.size(sizes).shortest);
        let (mut bytes, mut word_edges): (Vec<_>, Vec<_>) = optional
            .map(|least| (least.bytes, least.word_edges))
            .unzip();
        if bytes.len() < more {
            return Shortest::NEVER;
        }
        let least = |all: &mut Vec<u64>| {
            all.sort_unstable();
            all.iter()
                .take(more)
                .fold(0, |sum: u64, next| sum.saturating_add(*next))
        };
        Shortest {
            bytes: least(&mut bytes),
            word_edges: least(&mut word_edges),
        }
    }
}

impl Property {
    pub(super) fn new(key: &str, value: Value) -> Self {
        Self {
            key: string(key).and_bytes(1),
            value,
        }
    }

    /// Returns the size with the key; where no value conforms, the longest is 0.
    pub(super) fn size(&self, sizes: &[Size]) -> Size {
        let value = match self.value {
            Value::Anything => Size::ANYTHING,
            Value::Nothing => Size::NOTHING,
            Value::Schema(id) => sizes[id],
        };
        let longest = match value.longest {
            0 => 0,
            longest => longest.saturating_add(self.key.bytes),
        };
        Size {
            shortest: value.shortest.plus(self.key),
            longest,
        }
    }
}
