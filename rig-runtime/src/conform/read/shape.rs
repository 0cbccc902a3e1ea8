//! What does a type take, as data?
//!
//! A choice between types has to be decided before anything is built: what is built for a branch that turns out wrong
//! is built in vain, and where choices are within choices it is built again at every level. Types describe themselves
//! here, so that one function can decide for all of them, and look at each part of a text once for each type.

use std::cell::RefCell;
use std::collections::HashMap;

use super::{Fields, ReadJson};
use crate::json::{Reader, Token};
use crate::steps;

/// What a type takes.
///
/// Types name each other by functions, since a type may hold itself.
///
/// **Invariant:** a type that takes itself does so only within a property or an item.
#[derive(Debug)]
pub struct Shape(Form);

/// Returns what a type takes.
pub type ShapeOf = fn() -> &'static Shape;

#[derive(Debug)]
enum Form {
    /// A value that is neither a list nor an object.
    Scalar(fn(&Token<'_>) -> bool),
    /// Null, and what another type takes.
    Nullable(ShapeOf),
    Any,
    List(&'static [ItemShape]),
    Object {
        fields: &'static Fields,
        /// For each field whether it has to be there, and what its value is.
        values: &'static [(bool, ShapeOf)],
        /// Each other property.
        rest: Option<ShapeOf>,
    },
    Union(Branches),
}

/// What a list takes as its next item, or as its next items.
#[derive(Debug)]
pub enum ItemShape {
    /// One item that has to be there.
    Required(ShapeOf),
    /// One item that need not be there.
    Optional(ShapeOf),
    /// Every further item.
    Rest(ShapeOf),
}

/// The branches of a choice, in the order in which they are tried.
#[derive(Debug)]
pub(super) struct Branches {
    /// The property that says which branch an object is, if there is one.
    pub(super) tag: &'static Fields,
    /// For each branch the values of the tag that mean it.
    pub(super) tags: &'static [&'static [&'static str]],
    branches: &'static [ShapeOf],
}

impl Shape {
    /// Returns what a type takes that is neither a list nor an object.
    pub(crate) const fn scalar(takes: fn(&Token<'_>) -> bool) -> Self {
        Self(Form::Scalar(takes))
    }

    pub(super) const ANY: Self = Self(Form::Any);

    pub(super) const fn nullable(of: ShapeOf) -> Self {
        Self(Form::Nullable(of))
    }

    /// Returns what a list takes.
    #[must_use]
    pub const fn list(items: &'static [ItemShape]) -> Self {
        Self(Form::List(items))
    }

    /// Returns what an object takes.
    #[must_use]
    pub const fn object(
        fields: &'static Fields,
        values: &'static [(bool, ShapeOf)],
        rest: Option<ShapeOf>,
    ) -> Self {
        Self(Form::Object {
            fields,
            values,
            rest,
        })
    }

    /// Returns what a choice takes.
    #[must_use]
    pub const fn union(
        tag: &'static Fields,
        tags: &'static [&'static [&'static str]],
        branches: &'static [ShapeOf],
    ) -> Self {
        Self(Form::Union(Branches {
            tag,
            tags,
            branches,
        }))
    }

    /// Returns the branches, if it is a choice.
    pub(super) fn branches(&self) -> Option<&Branches> {
        match &self.0 {
            Form::Union(branches) => Some(branches),
            _ => None,
        }
    }

    /// Returns whether a value that begins with this byte may be taken.
    fn may_begin(&self, byte: u8) -> bool {
        match &self.0 {
            Form::Any => true,
            Form::Scalar(_) => !matches!(byte, b'{' | b'['),
            Form::Nullable(of) => byte == b'n' || of().may_begin(byte),
            Form::List(_) => byte == b'[',
            Form::Object { .. } => byte == b'{',
            Form::Union(union) => union.branches.iter().any(|of| of().may_begin(byte)),
        }
    }

    /// Returns whether an object with this first key may be taken.
    fn may_start_with(&self, key: &str) -> bool {
        match &self.0 {
            Form::Object { fields, rest, .. } => rest.is_some() || fields.names().contains(&key),
            _ => true,
        }
    }
}

impl Branches {
    /// Returns the branch that a value of the tag means.
    pub(super) fn tagged(&self, value: &str) -> Option<usize> {
        self.tags.iter().position(|tags| tags.contains(&value))
    }

    /// Returns the branch that the tag of the object here means, if it has one.
    fn by_tag(&self, reader: &Reader<'_>) -> Option<usize> {
        let tag = self.tag.names().first()?;
        let value = reader.text_at(tag, self.tag.written(0))?;
        self.tagged(&value)
    }

    /// Returns the branches that may take the value here, as far as its first byte and its first key tell.
    fn possible(&self, reader: &Reader<'_>) -> Vec<usize> {
        let mut reader = *reader;
        let Some(byte) = reader.peek() else {
            return Vec::new();
        };
        let first = reader.first_key();
        let may_be = |shape: &Shape| {
            shape.may_begin(byte) && first.as_ref().is_none_or(|key| shape.may_start_with(key))
        };
        let shapes = self.branches.iter().map(|of| of()).enumerate();
        let possible = shapes.filter(|(_, shape)| may_be(shape));
        possible.map(|(index, _)| index).collect()
    }
}

/// Returns what the type of a field takes.
#[must_use]
pub const fn shape_of_field<S, T: ReadJson>(_: fn(&S) -> &T) -> ShapeOf {
    T::shape
}

/// Returns what the type of an optional field takes where the field is there.
#[must_use]
pub const fn shape_of_optional<S, T: ReadJson>(_: fn(&S) -> &Option<T>) -> ShapeOf {
    T::shape
}

/// Returns what the items of a field take.
#[must_use]
pub const fn shape_of_items<S, T: ReadJson>(_: fn(&S) -> &Vec<T>) -> ShapeOf {
    T::shape
}

/// Returns what the values of a field take.
#[must_use]
pub const fn shape_of_values<S, T: ReadJson>(
    _: fn(&S) -> &std::collections::BTreeMap<String, T>,
) -> ShapeOf {
    T::shape
}

/// Returns what the type of a branch takes.
#[must_use]
pub const fn shape_of_branch<S, T: ReadJson>(_: fn(T) -> S) -> ShapeOf {
    T::shape
}

/// What was decided about the lists and objects of one text, each once for each type.
#[derive(Debug, Default)]
pub(super) struct Decided(RefCell<HashMap<Key, Option<Fit>>>);

/// A type, and where a value begins, in bytes.
type Key = (usize, usize);

fn key(shape: &'static Shape, reader: &Reader<'_>) -> Key {
    (std::ptr::from_ref(shape) as usize, reader.at())
}

/// A list or an object that a type takes.
#[derive(Clone, Copy, Debug)]
struct Fit {
    /// The branch that takes it, where the type is a choice.
    branch: usize,
    /// Where the value ends, in bytes.
    end: usize,
}

impl Decided {
    /// Returns the first branch of a choice that takes the value here, or the only one that may. `judge` is called
    /// before it is looked at more than its beginning.
    pub(super) fn branch<E>(
        &self,
        shape: &'static Shape,
        reader: &Reader<'_>,
        judge: impl FnOnce() -> Result<(), E>,
    ) -> Result<Option<usize>, E> {
        let known = self.known(shape, reader);
        if let Some(known) = known {
            return Ok(known.map(|fit| fit.branch));
        }
        let possible = shape.branches().map(|union| union.possible(reader));
        match possible.as_deref() {
            None | Some([]) => Ok(None),
            Some([only]) => Ok(Some(*only)),
            Some(_) => {
                judge()?;
                Ok(self.fit(shape, &mut { *reader }).map(|fit| fit.branch))
            }
        }
    }

    fn known(&self, shape: &'static Shape, reader: &Reader<'_>) -> Option<Option<Fit>> {
        let mut reader = *reader;
        reader.peek();
        self.0.borrow().get(&key(shape, &reader)).copied()
    }

    /// Returns whether a type takes the value here, and steps over it if it does. What no type takes, like a key that
    /// an object repeats, may be passed over: it is refused when it is read.
    fn takes(&self, shape: &'static Shape, reader: &mut Reader<'_>) -> bool {
        self.fit(shape, reader).is_some()
    }

    fn fit(&self, shape: &'static Shape, reader: &mut Reader<'_>) -> Option<Fit> {
        steps::count(1);
        if !matches!(reader.peek()?, b'{' | b'[') {
            let branch = self.fresh(shape, reader)?;
            let end = reader.at();
            return Some(Fit { branch, end });
        }
        let key = key(shape, reader);
        let known = self.0.borrow().get(&key).copied();
        if let Some(known) = known {
            reader.go_to(known?.end);
            return known;
        }
        let branch = self.fresh(shape, reader);
        let end = reader.at();
        let fit = branch.map(|branch| Fit { branch, end });
        self.0.borrow_mut().insert(key, fit);
        fit
    }

    /// Returns the branch that takes the value here, 0 where there is no choice, and steps over the value.
    fn fresh(&self, shape: &'static Shape, reader: &mut Reader<'_>) -> Option<usize> {
        let takes = match &shape.0 {
            Form::Scalar(takes) => reader.token().is_ok_and(|token| takes(&token)),
            Form::Nullable(_) if reader.peek() == Some(b'n') => reader.word("null").is_ok(),
            Form::Nullable(of) => self.takes(of(), reader),
            Form::Any => reader.step_over().is_ok(),
            Form::List(items) => self.list(items, reader).is_some(),
            Form::Object {
                fields,
                values,
                rest,
            } => self.object(fields, values, *rest, reader).is_some(),
            Form::Union(union) => return self.union(union, reader),
        };
        takes.then_some(0)
    }

    fn list(&self, items: &[ItemShape], reader: &mut Reader<'_>) -> Option<()> {
        if reader.peek() != Some(b'[') {
            return None;
        }
        reader.enter().ok()?;
        let mut left = items;
        let mut is_first = true;
        while reader.has_item(is_first).ok()? {
            is_first = false;
            let (ItemShape::Required(of) | ItemShape::Optional(of) | ItemShape::Rest(of)) =
                left.first()?;
            if !matches!(left, [ItemShape::Rest(_), ..]) {
                left = &left[1..];
            }
            self.takes(of(), reader).then_some(())?;
        }
        (!matches!(left, [ItemShape::Required(_), ..])).then_some(())
    }

    fn object(
        &self,
        fields: &Fields,
        values: &[(bool, ShapeOf)],
        rest: Option<ShapeOf>,
        reader: &mut Reader<'_>,
    ) -> Option<()> {
        if reader.peek() != Some(b'{') {
            return None;
        }
        reader.enter().ok()?;
        let mut missing = values.iter().filter(|(required, _)| *required).count();
        let mut is_first = true;
        while !reader.is_end_of_object() {
            let key = reader.key(is_first).ok()?;
            let field = fields.names().iter().position(|name| *name == key);
            let of = match field.and_then(|at| values.get(at)) {
                Some((required, of)) => {
                    missing = missing.saturating_sub(usize::from(*required));
                    *of
                }
                None => rest?,
            };
            self.takes(of(), reader).then_some(())?;
            is_first = false;
        }
        (missing == 0).then_some(())
    }

    fn union(&self, union: &Branches, reader: &mut Reader<'_>) -> Option<usize> {
        if let Some(branch) = union.by_tag(reader) {
            return self
                .takes(union.branches[branch](), reader)
                .then_some(branch);
        }
        union.possible(reader).into_iter().find(|branch| {
            let mut tried = *reader;
            let takes = self.takes(union.branches[*branch](), &mut tried);
            if takes {
                *reader = tried;
            }
            takes
        })
    }
}
