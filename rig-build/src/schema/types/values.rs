//! What type holds just these values?

use std::collections::{HashMap, HashSet};

use super::place::Place;
use super::read::Reader;
use super::words::Kinds;
use super::{Branch, Field, Scalar, Shape, Ty, Union, Variant};
use crate::names::{Taken, pascal, snake};
use crate::node::{Kind, Node};

/// A value, and what is said about it.
pub(super) type Value<'a> = (&'a Node, Option<&'a str>);

impl<'a> Reader<'a> {
    /// Reads a place whose values are listed.
    pub(super) fn values_of(&mut self, place: &Place<'a>, name: &str) -> Ty {
        let mut lists = place.words.iter().filter_map(|words| words.values);
        let first = lists.next().unwrap_or_default();
        let others: Vec<HashSet<String>> = lists
            .map(|list| list.iter().map(Node::to_json).collect())
            .collect();
        let values = first.iter().filter(|value| {
            place.kinds.has(Kinds::of(value))
                && others.iter().all(|other| other.contains(&value.to_json()))
        });
        // A single `const` is described where it stands.
        let values: Vec<Value<'_>> = values.map(|value| (value, None)).collect();
        self.values(&values, name, place.docs)
    }

    /// Returns the values of a place that lists them and says nothing else.
    pub(super) fn listed(place: &Place<'a>) -> Option<Vec<Value<'a>>> {
        match place.words.as_slice() {
            [words] => {
                let docs = place.docs.or(words.title);
                let values = words.values?.iter();
                let docs = docs.filter(|_| values.len() == 1);
                Some(values.map(|value| (value, docs)).collect())
            }
            _ => None,
        }
    }

    /// Returns the type of these values: scalars become an enum, objects a struct, lists a list.
    pub(super) fn values(&mut self, values: &[Value<'_>], name: &str, docs: Option<&str>) -> Ty {
        let kinds = values.iter().map(|(value, _)| Kinds::of(value));
        let kinds = kinds.fold(Kinds::NONE, Kinds::or);
        let is_null = kinds.has(Kinds::NULL);
        let others = kinds.without(Kinds::NULL);
        let one = [Kinds::STRING, Kinds::NUMBER, Kinds::BOOLEAN]
            .iter()
            .any(|kind| others.without(*kind) == Kinds::NONE);
        let structured = others.has(Kinds::LIST.or(Kinds::OBJECT));
        if is_null && !one && !structured {
            // Beside values of several kinds, null is one more.
            return self.scalars(values, name, docs).unwrap_or(Ty::Value);
        }
        let not_null = |value: &&Value<'_>| value.0.kind != Kind::Null;
        let rest: Vec<Value<'_>> = values.iter().filter(not_null).copied().collect();
        let mut types = Vec::new();
        if let Some(ty) = self.scalars(&rest, name, docs) {
            types.push(("Scalar", ty));
        }
        let lists: Vec<_> = values
            .iter()
            .filter(|(value, _)| matches!(value.kind, Kind::List(_)))
            .collect();
        if !lists.is_empty() {
            let items: Vec<Value<'_>> = lists
                .iter()
                .flat_map(|(list, _)| list.items())
                .map(|item| (item, None))
                .collect();
            let item = match items.as_slice() {
                [] => Ty::Value,
                items => self.values(items, &format!("{name}Item"), None),
            };
            types.push(("List", Ty::List(Box::new(item))));
        }
        let objects: Vec<_> = values
            .iter()
            .filter(|(value, _)| matches!(value.kind, Kind::Map(_)))
            .collect();
        if !objects.is_empty() {
            let objects: Vec<_> = objects.iter().map(|(object, _)| *object).collect();
            types.push(("Object", self.objects_of(&objects, name, docs)));
        }
        let ty = match types.len() {
            0 => return if is_null { Ty::Null } else { Ty::Value },
            1 => types.remove(0).1,
            _ => {
                let branches = types.into_iter().map(|(name, ty)| Branch {
                    name: name.to_owned(),
                    docs: None,
                    ty,
                    tags: Vec::new(),
                });
                let union = Union {
                    tag: None,
                    branches: branches.collect(),
                };
                self.define_union(union, None, name, docs)
            }
        };
        if is_null { ty.or_null() } else { ty }
    }

    fn scalars(&mut self, values: &[Value<'_>], name: &str, docs: Option<&str>) -> Option<Ty> {
        let mut seen = HashSet::new();
        let mut taken = Taken::default();
        let mut variants = Vec::new();
        for (value, docs) in values {
            let Some(value) = scalar(value).filter(|value| seen.insert(value.clone())) else {
                continue;
            };
            variants.push(Variant {
                name: taken.take(scalar_name(&value)),
                docs: docs.map(str::to_owned),
                value,
            });
        }
        if variants.is_empty() {
            return None;
        }
        let index = self.reserve(name, docs);
        self.defs[index].shape = Shape::Enum(variants);
        Some(Ty::Named(index))
    }

    fn objects_of(&mut self, objects: &[&Node], name: &str, docs: Option<&str>) -> Ty {
        let index = self.reserve(name, docs);
        let mut order: Vec<&str> = Vec::new();
        let mut found: HashMap<&str, Vec<Value<'_>>> = HashMap::new();
        for entry in objects.iter().flat_map(|object| object.entries()) {
            let values = found.entry(&entry.key).or_default();
            if values.is_empty() {
                order.push(&entry.key);
            }
            values.push((&entry.value, None));
        }
        let mut taken = Taken::default();
        let mut fields = Vec::new();
        for key in order {
            let values = &found[key];
            fields.push(Field {
                name: taken.take(snake(key)),
                key: key.to_owned(),
                docs: None,
                ty: self.values(values, &format!("{name}{}", pascal(key)), None),
                required: values.len() == objects.len(),
            });
        }
        self.defs[index].shape = Shape::Struct { fields, rest: None };
        Ty::Named(index)
    }
}

fn scalar(node: &Node) -> Option<Scalar> {
    Some(match &node.kind {
        Kind::String(text) => Scalar::String(text.clone()),
        Kind::Bool(value) => Scalar::Boolean(*value),
        Kind::Number(text) => number(text)?,
        Kind::Null => Scalar::Null,
        Kind::List(_) | Kind::Map(_) => return None,
    })
}

/// To JSON Schema, `1.0` is the integer 1.
fn number(text: &str) -> Option<Scalar> {
    /// Up to 2^53 every whole float is exactly the integer it looks like.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if let Ok(number) = text.parse() {
        return Some(Scalar::Integer(number));
    }
    let number: f64 = text
        .parse()
        .ok()
        .filter(|number: &f64| number.is_finite())?;
    Some(if number.fract() == 0.0 && number.abs() <= EXACT {
        Scalar::Integer(number as i64)
    } else {
        Scalar::Number(number.to_bits())
    })
}

fn scalar_name(value: &Scalar) -> String {
    let minus = |is_negative| if is_negative { "Minus" } else { "N" };
    match value {
        Scalar::String(text) => pascal(text),
        Scalar::Integer(number) => format!("{}{}", minus(*number < 0), number.unsigned_abs()),
        Scalar::Number(bits) => {
            let number = f64::from_bits(*bits);
            let digits = number.abs().to_string();
            format!("{}{}", minus(number < 0.0), digits.replace('.', "_"))
        }
        Scalar::Boolean(true) => "True".to_owned(),
        Scalar::Boolean(false) => "False".to_owned(),
        Scalar::Null => "Null".to_owned(),
    }
}
