//! Which Rust types hold what a schema lets through?
//!
//! A type is never narrower than its schema: what the conformance gate accepts, the type can hold, all of it. It may
//! be wider: what the gate alone can check (`pattern`, `not`, `if`, …) is not in a type. A place of which nothing
//! else is said becomes a JSON value, with a note that names it.

mod fields;
mod layout;
mod place;
mod read;
mod unions;
mod values;
mod words;

pub(crate) use read::read;

/// The types of one schema.
#[derive(Debug)]
pub(crate) struct Types {
    /// The named types; the root is the first.
    pub(crate) defs: Vec<Def>,
}

/// A type, as a field has it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Ty {
    String,
    Integer,
    Unsigned,
    Number,
    Boolean,
    Null,
    Value,
    List(Box<Ty>),
    Map(Box<Ty>),
    /// A list of so many items, each with its type.
    Tuple(Vec<Ty>),
    Nullable(Box<Ty>),
    Boxed(Box<Ty>),
    Named(usize),
}

/// A named type.
#[derive(Debug)]
pub(crate) struct Def {
    pub(crate) name: String,
    pub(crate) docs: Option<String>,
    pub(crate) shape: Shape,
}

/// What a named type is.
#[derive(Debug)]
pub(crate) enum Shape {
    /// Still being read; only seen while `read` runs.
    Open,
    Struct {
        fields: Vec<Field>,
        rest: Option<Rest>,
    },
    /// A list whose first items have types of their own, and need not all be there.
    Items { items: Vec<Item>, rest: Option<Ty> },
    /// Scalars.
    Enum(Vec<Variant>),
    /// One of several types.
    Union(Union),
    /// A root, or a type within itself, that is none of the others.
    Newtype(Ty),
}

/// A property of an object.
#[derive(Debug)]
pub(crate) struct Field {
    /// Its name in Rust, not escaped.
    pub(crate) name: String,
    /// Its name in JSON.
    pub(crate) key: String,
    pub(crate) docs: Option<String>,
    pub(crate) ty: Ty,
    pub(crate) required: bool,
}

/// The properties that an object may have besides its fields.
#[derive(Debug)]
pub(crate) struct Rest {
    pub(crate) name: String,
    pub(crate) ty: Ty,
}

/// An item of a list with a place of its own.
#[derive(Debug)]
pub(crate) struct Item {
    pub(crate) docs: Option<String>,
    pub(crate) ty: Ty,
    pub(crate) required: bool,
}

/// A value of an enum.
#[derive(Debug)]
pub(crate) struct Variant {
    pub(crate) name: String,
    pub(crate) docs: Option<String>,
    pub(crate) value: Scalar,
}

/// A JSON scalar. Null is one only beside values of several kinds; elsewhere it makes a type nullable.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Scalar {
    String(String),
    Integer(i64),
    /// Every other number, as the bits of its value.
    Number(u64),
    Boolean(bool),
    Null,
}

/// A choice between types.
#[derive(Debug)]
pub(crate) struct Union {
    /// The property whose value says which branch an object is.
    pub(crate) tag: Option<String>,
    /// In the order in which they are tried.
    pub(crate) branches: Vec<Branch>,
}

/// One of the types of a union.
#[derive(Debug)]
pub(crate) struct Branch {
    pub(crate) name: String,
    pub(crate) docs: Option<String>,
    pub(crate) ty: Ty,
    /// The values of the tag that mean this branch.
    pub(crate) tags: Vec<String>,
}

impl Def {
    /// Returns the types that this one is made of.
    fn types(&self) -> Vec<&Ty> {
        match &self.shape {
            Shape::Struct { fields, rest } => {
                let fields = fields.iter().map(|field| &field.ty);
                fields.chain(rest.iter().map(|rest| &rest.ty)).collect()
            }
            Shape::Items { items, rest } => items.iter().map(|item| &item.ty).chain(rest).collect(),
            Shape::Union(union) => union.branches.iter().map(|branch| &branch.ty).collect(),
            Shape::Newtype(ty) => vec![ty],
            Shape::Open | Shape::Enum(_) => Vec::new(),
        }
    }

    fn types_mut(&mut self) -> Vec<&mut Ty> {
        match &mut self.shape {
            Shape::Struct { fields, rest } => {
                let fields = fields.iter_mut().map(|field| &mut field.ty);
                let rest = rest.iter_mut().map(|rest| &mut rest.ty);
                fields.chain(rest).collect()
            }
            Shape::Items { items, rest } => {
                let items = items.iter_mut().map(|item| &mut item.ty);
                items.chain(rest).collect()
            }
            Shape::Union(union) => {
                let branches = union.branches.iter_mut();
                branches.map(|branch| &mut branch.ty).collect()
            }
            Shape::Newtype(ty) => vec![ty],
            Shape::Open | Shape::Enum(_) => Vec::new(),
        }
    }
}

impl Ty {
    /// Returns the type that also takes null.
    fn or_null(self) -> Self {
        match self {
            Self::Nullable(_) | Self::Value | Self::Null => self,
            other => Self::Nullable(Box::new(other)),
        }
    }

    fn rename(&mut self, turn: &impl Fn(usize) -> usize) {
        match self {
            Self::Named(index) => *index = turn(*index),
            Self::List(inner) | Self::Map(inner) | Self::Nullable(inner) | Self::Boxed(inner) => {
                inner.rename(turn)
            }
            Self::Tuple(items) => items.iter_mut().for_each(|item| item.rename(turn)),
            _ => {}
        }
    }
}

/// Exchanges the first type with another, and every mention of the two.
fn swap(defs: &mut [Def], other: usize) {
    defs.swap(0, other);
    let turn = |index: usize| match index {
        0 => other,
        index if index == other => 0,
        index => index,
    };
    for def in defs {
        for ty in def.types_mut() {
            ty.rename(&turn);
        }
    }
}
