//! How are the types read out of a schema?
//!
//! Place by place. The fields of an object are read after everything around it, so that no chain of objects is
//! longer than the stack; a place that is met again while it is being read gets a type of its own name.

use std::collections::{HashMap, VecDeque};

use super::place::{Document, Key, Part, Place, address};
use super::words::Kinds;
use super::{Def, Shape, Ty, Types, Union, swap};
use crate::diagnostic::{Diagnostic, Sink};
use crate::names::{Taken, pascal};
use crate::node::{Kind, Node};
use crate::schema::pointer_part;

/// Reads the types of a schema whose root type has this name. `taken` are names that the module has already.
pub(crate) fn read(root: &Node, name: &str, mut taken: Taken, sink: &mut Sink) -> Types {
    // A tuple struct of this name would meet the route's table.
    taken.take("ROUTE".to_owned());
    let name = taken.clone().take(name.to_owned());
    let mut reader = Reader {
        document: Document::new(root),
        defs: Vec::new(),
        taken,
        known: HashMap::new(),
        objects: VecDeque::new(),
        untyped: HashMap::new(),
        depth: 0,
    };
    // The root has its name whatever it refers to.
    let schema = reader.document.speaker(root, |_| {});
    let ty = reader.place(&[Part::new(schema)], &name);
    while let Some(object) = reader.objects.pop_front() {
        reader.fields(object);
    }
    let index = match ty {
        Ty::Named(index) => index,
        ty => reader.define(String::new(), description(root), Shape::Newtype(ty)),
    };
    if reader.defs[index].name != name {
        // The name belongs to the root, also where an inner type (a nullable root's) came to it first.
        match reader.defs.iter().position(|def| def.name == name) {
            Some(inner) => reader.defs[inner].name = reader.taken.take(format!("{name}Value")),
            None => drop(reader.taken.take(name.clone())),
        }
        reader.defs[index].name = name;
    }
    report(root, &reader.untyped, sink);
    let mut types = Types { defs: reader.defs };
    // The root comes first: whoever reads the generated file is looking for it.
    swap(&mut types.defs, index);
    types.lay_out();
    types
}

/// More places within each other than this, with no object between them, are no longer told apart.
const MAX_DEPTH: usize = 100;

/// A schema has as many places as it has subschemas, unless it puts choices beside other keywords, within each other:
/// then each way through the choices is a place. This many more of them are told apart.
const MAX_MORE_PLACES: usize = 1_000;

/// What is being read.
pub(super) struct Reader<'a> {
    pub(super) document: Document<'a>,
    pub(super) defs: Vec<Def>,
    taken: Taken,
    known: HashMap<Key, Known>,
    /// The objects whose fields are still to be read.
    objects: VecDeque<Object<'a>>,
    /// The schemas that no type could be found for, by address, and why.
    untyped: HashMap<usize, String>,
    depth: usize,
}

/// A place that was met before.
enum Known {
    /// It is still being read; it has a name where it was met again.
    Open(Option<usize>),
    Read(Ty),
}

/// An object whose fields are still to be read.
pub(super) struct Object<'a> {
    pub(super) index: usize,
    pub(super) place: Place<'a>,
}

impl<'a> Reader<'a> {
    /// Reads a schema; `name` is what its type is called if it needs one and has no better.
    pub(super) fn schema(&mut self, schema: &'a Node, name: &str) -> Ty {
        let mut better = None;
        let schema = self
            .document
            .speaker(schema, |text| better = better_name(text).or(better.take()));
        self.place(&[Part::new(schema)], better.as_deref().unwrap_or(name))
    }

    /// Reads the place of a value that has to satisfy all of these schemas.
    pub(super) fn place(&mut self, parts: &[Part<'a>], name: &str) -> Ty {
        let place = self.document.place(parts);
        if place.parts.is_empty() {
            if let Some((schema, keyword)) = place.outside {
                self.fallback(schema, format!("only `{keyword}` says something about it"));
            }
            return Ty::Value;
        }
        let key = place.key();
        match self.known.get(&key) {
            Some(Known::Read(ty)) => return ty.clone(),
            Some(Known::Open(Some(index))) => return Ty::Named(*index),
            Some(Known::Open(None)) => {
                let index = self.reserve(name, place.docs);
                self.known.insert(key, Known::Open(Some(index)));
                return Ty::Named(index);
            }
            None => {}
        }
        if let Some(why) = self.is_too_much() {
            self.fallback(place.parts[0].schema, why.to_owned());
            return Ty::Value;
        }
        self.known.insert(key.clone(), Known::Open(None));
        self.depth += 1;
        let ty = self.shaped(place, &key, name);
        self.depth -= 1;
        let ty = match self.known.get(&key) {
            Some(Known::Open(Some(index))) if ty != Ty::Named(*index) => {
                let index = *index;
                self.defs[index].shape = Shape::Newtype(ty);
                Ty::Named(index)
            }
            _ => ty,
        };
        self.known.insert(key, Known::Read(ty.clone()));
        ty
    }

    /// Returns the reason once the limit of distinct places is reached.
    fn is_too_much(&self) -> Option<&'static str> {
        if self.depth > MAX_DEPTH {
            return Some("it is too deep within others");
        }
        let most = self.document.size + MAX_MORE_PLACES;
        let why = "the choices around it can be combined in too many ways";
        (self.known.len() > most).then_some(why)
    }

    /// Reads a place that something is said of.
    fn shaped(&mut self, place: Place<'a>, key: &Key, name: &str) -> Ty {
        for branches in place.words.clone().iter().flat_map(|words| words.unions) {
            if let Some(ty) = self.union(&place, branches, key, name) {
                return ty;
            }
        }
        let null = place.kinds.has(Kinds::NULL);
        let kinds = place.kinds.without(Kinds::NULL);
        let nullable = |ty: Ty| if null { ty.or_null() } else { ty };
        if place.words.iter().any(|words| words.values.is_some()) {
            return self.values_of(&place, name);
        }
        match kinds {
            // Nothing is ever let through, so that any type will do.
            Kinds::NONE if !null => Ty::Value,
            Kinds::NONE => Ty::Null,
            Kinds::OBJECT => {
                let Some(rest) = self.map(&place, name) else {
                    let index = self.reserve(name, place.docs);
                    let ty = nullable(Ty::Named(index));
                    // Known before its fields are read: they may hold it again.
                    self.known.insert(key.clone(), Known::Read(ty.clone()));
                    self.objects.push_back(Object { index, place });
                    return ty;
                };
                nullable(Ty::Map(Box::new(rest)))
            }
            kinds => match self.of_one_kind(&place, kinds, name) {
                Some(ty) => nullable(ty),
                None => self.several_kinds(&place, key, name),
            },
        }
    }

    /// Reads a place of a single kind; `None` where it has several.
    pub(super) fn of_one_kind(
        &mut self,
        place: &Place<'a>,
        kinds: Kinds,
        name: &str,
    ) -> Option<Ty> {
        Some(match kinds {
            Kinds::STRING => Ty::String,
            Kinds::BOOLEAN => Ty::Boolean,
            Kinds::INTEGER => integer(place),
            Kinds::LIST => self.list(place, name),
            Kinds::OBJECT => match self.map(place, name) {
                Some(rest) => Ty::Map(Box::new(rest)),
                None => {
                    let index = self.reserve(name, place.docs);
                    let place = place.clone();
                    self.objects.push_back(Object { index, place });
                    Ty::Named(index)
                }
            },
            kinds if kinds.without(Kinds::NUMBER) == Kinds::NONE => Ty::Number,
            _ => return None,
        })
    }

    /// Takes a name for a type.
    pub(super) fn reserve(&mut self, name: &str, docs: Option<&str>) -> usize {
        let name = self.taken.take(name.to_owned());
        self.define(name, docs, Shape::Open)
    }

    fn define(&mut self, name: String, docs: Option<&str>, shape: Shape) -> usize {
        let docs = docs.map(str::to_owned);
        self.defs.push(Def { name, docs, shape });
        self.defs.len() - 1
    }

    /// Makes a type of a union; where its place was met again, of that name.
    pub(super) fn define_union(
        &mut self,
        union: Union,
        key: Option<&Key>,
        name: &str,
        docs: Option<&str>,
    ) -> Ty {
        let known = key.and_then(|key| self.known.get(key));
        let index = match known {
            Some(Known::Open(Some(index))) => *index,
            _ => self.reserve(name, docs),
        };
        self.defs[index].shape = Shape::Union(union);
        Ty::Named(index)
    }

    fn fallback(&mut self, schema: &Node, why: String) {
        self.untyped.entry(address(schema)).or_insert(why);
    }
}

/// Returns the name of a type from a title or a reference, unless that is a sentence.
fn better_name(text: &str) -> Option<String> {
    Some(pascal(text)).filter(|name| name.len() <= 40)
}

/// Whole numbers are `i64`, unless the bounds say that only `u64` holds them.
fn integer(place: &Place<'_>) -> Ty {
    let positive =
        |words: &super::words::Words<'_>| words.minimum.is_some_and(|least| least >= 0.0);
    let large =
        |words: &super::words::Words<'_>| words.maximum.is_some_and(|most| most > i64::MAX as f64);
    if place.words.iter().any(positive) && place.words.iter().any(large) {
        Ty::Unsigned
    } else {
        Ty::Integer
    }
}

/// Returns what a schema says about itself.
pub(super) fn description(schema: &Node) -> Option<&str> {
    let text = schema.get("description").and_then(Node::as_str)?.trim();
    (!text.is_empty()).then_some(text)
}

/// Notes the places that no type was found for, each with its pointer.
fn report(root: &Node, untyped: &HashMap<usize, String>, sink: &mut Sink) {
    let mut left = untyped.len();
    let mut open = vec![(root, String::new())];
    while let Some((node, pointer)) = open.pop().filter(|_| left > 0) {
        if let Some(why) = untyped.get(&address(node)) {
            left -= 1;
            let shown = if pointer.is_empty() { "/" } else { &pointer };
            let message = format!("`{shown}` becomes a JSON value: {why}");
            let help = "answers are still checked against the whole schema; only the field's type is loose";
            sink.push(
                Diagnostic::noted("untyped-schema", message)
                    .at(node.span)
                    .help(help),
            );
        }
        match &node.kind {
            Kind::Map(entries) => open.extend(entries.iter().map(|entry| {
                (
                    &entry.value,
                    format!("{pointer}/{}", pointer_part(&entry.key)),
                )
            })),
            Kind::List(items) => {
                open.extend(
                    items
                        .iter()
                        .enumerate()
                        .map(|(n, item)| (item, format!("{pointer}/{n}"))),
                );
            }
            _ => {}
        }
    }
}
