//! Which Rust types hold what a schema lets through?
//!
//! A type is never narrower than its schema: what the conformance gate accepts, the type can hold. A place that
//! no type of ours describes yet becomes a JSON value, with a warning that names it.

mod read;

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
    /// Strings only.
    Enum(Vec<Variant<String>>),
    /// Scalars of several kinds.
    Scalars(Vec<Variant<Scalar>>),
    /// A root that is neither object nor enum.
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

/// A value of an enum.
#[derive(Debug)]
pub(crate) struct Variant<T> {
    pub(crate) name: String,
    pub(crate) value: T,
}

/// A value of an enum of several kinds.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Scalar {
    String(String),
    Integer(i64),
    Boolean(bool),
    Null,
}

impl Types {
    /// Boxes the fields through which a struct would contain itself.
    fn box_cycles(&mut self) {
        for owner in 0..self.defs.len() {
            let direct: Vec<Option<usize>> = match &self.defs[owner].shape {
                Shape::Struct { fields, .. } => {
                    fields.iter().map(|field| field.ty.direct()).collect()
                }
                _ => continue,
            };
            let cyclic: Vec<bool> = direct
                .iter()
                .map(|target| target.is_some_and(|target| self.contains(target, owner)))
                .collect();
            if let Shape::Struct { fields, .. } = &mut self.defs[owner].shape {
                for (field, _) in fields.iter_mut().zip(cyclic).filter(|(_, cyclic)| *cyclic) {
                    field.ty.put_in_box();
                }
            }
        }
    }

    /// Returns whether a value of `from` holds one of `wanted` without a pointer between.
    fn contains(&self, from: usize, wanted: usize) -> bool {
        let mut seen = vec![false; self.defs.len()];
        let mut open = vec![from];
        while let Some(index) = open.pop() {
            if index == wanted {
                return true;
            }
            if std::mem::replace(&mut seen[index], true) {
                continue;
            }
            if let Shape::Struct { fields, .. } = &self.defs[index].shape {
                open.extend(fields.iter().filter_map(|field| field.ty.direct()));
            }
        }
        false
    }
}

impl Def {
    fn types_mut(&mut self) -> Vec<&mut Ty> {
        match &mut self.shape {
            Shape::Struct { fields, rest } => {
                let fields = fields.iter_mut().map(|field| &mut field.ty);
                fields
                    .chain(rest.iter_mut().map(|rest| &mut rest.ty))
                    .collect()
            }
            Shape::Newtype(ty) => vec![ty],
            Shape::Open | Shape::Enum(_) | Shape::Scalars(_) => Vec::new(),
        }
    }
}

impl Ty {
    /// Returns the named type that this one holds without a pointer between.
    fn direct(&self) -> Option<usize> {
        match self {
            Self::Named(index) => Some(*index),
            Self::Nullable(inner) => inner.direct(),
            _ => None,
        }
    }

    fn put_in_box(&mut self) {
        match self {
            Self::Nullable(inner) => inner.put_in_box(),
            _ => *self = Self::Boxed(Box::new(self.clone())),
        }
    }

    fn rename(&mut self, turn: &impl Fn(usize) -> usize) {
        match self {
            Self::Named(index) => *index = turn(*index),
            Self::List(inner) | Self::Map(inner) | Self::Nullable(inner) | Self::Boxed(inner) => {
                inner.rename(turn)
            }
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
