//! What is in an object, and what in a list?

use std::collections::{HashMap, HashSet};

use super::place::{Part, Place};
use super::read::{Object, Reader, description};
use super::{Field, Item, Rest, Shape, Ty};
use crate::names::{Taken, pascal, snake};
use crate::node::{Kind, Node};

/// The longest list that is a tuple: Rust's own traits end there.
const LONGEST_TUPLE: usize = 12;

impl<'a> Reader<'a> {
    /// Reads the fields of an object.
    pub(super) fn fields(&mut self, object: Object<'a>) {
        let Object { index, place } = object;
        let name = self.defs[index].name.clone();
        let required = place.words.iter().filter_map(|words| words.required);
        let required: HashSet<_> = required
            .flat_map(Node::items)
            .filter_map(Node::as_str)
            .collect();
        let mut taken = Taken::default();
        let mut fields = Vec::new();
        for (key, parts) in properties(&place) {
            let own = format!("{name}{}", pascal(key));
            let ty = match parts.as_slice() {
                [one] => self.schema(one.schema, &own),
                parts => self.place(parts, &own),
            };
            fields.push(Field {
                name: taken.take(snake(key)),
                key: key.to_owned(),
                docs: parts
                    .iter()
                    .find_map(|part| description(part.schema))
                    .map(str::to_owned),
                ty,
                required: required.contains(key),
            });
        }
        let rest = self.rest(&place, &name).map(|ty| Rest {
            name: taken.take("additional_properties".to_owned()),
            ty,
        });
        self.defs[index].shape = Shape::Struct { fields, rest };
    }

    /// Returns the type of an object's values where it has no fields, but may have any others.
    pub(super) fn map(&mut self, place: &Place<'a>, name: &str) -> Option<Ty> {
        let has_fields = !properties(place).is_empty();
        if has_fields {
            None
        } else {
            self.rest(place, name)
        }
    }

    /// Returns the type of the properties that are not listed; `None` where there can be none.
    fn rest(&mut self, place: &Place<'a>, name: &str) -> Option<Ty> {
        let is_false = |schema: &&Node| schema.kind == Kind::Bool(false);
        let speaking = place.words.iter().filter(|words| words.has_fields());
        let mut candidates = Vec::new();
        for words in speaking {
            let patterns = words.patterns.map(Node::entries).unwrap_or_default();
            let mut schemas: Vec<&Node> = patterns.iter().map(|entry| &entry.value).collect();
            match words.additional {
                Some(closed) if is_false(&closed) && patterns.is_empty() => return None,
                Some(closed) if is_false(&closed) => {}
                Some(schema) if schema.kind != Kind::Bool(true) => schemas.push(schema),
                _ => continue,
            }
            schemas.retain(|schema| !is_false(schema));
            if schemas.is_empty() {
                return None;
            }
            candidates.push(schemas);
        }
        let name = format!("{name}Value");
        let typed = candidates
            .into_iter()
            .map(|schemas| self.any_of(schemas, &name));
        Some(typed.fold(
            Ty::Value,
            |known, ty| if known == Ty::Value { ty } else { known },
        ))
    }

    /// Reads a list.
    pub(super) fn list(&mut self, place: &Place<'a>, name: &str) -> Ty {
        let words = &place.words;
        let least = words
            .iter()
            .filter_map(|words| words.min_items)
            .max()
            .unwrap_or(0);
        let most = words.iter().filter_map(|words| words.max_items).min();
        let first = words
            .iter()
            .map(|words| words.first)
            .max_by_key(|first| first.len());
        let first = first.unwrap_or_default();
        if first.is_empty() {
            let items = words.iter().filter_map(|words| words.items);
            let parts: Vec<_> = items.map(Part::new).collect();
            let name = item_name(name);
            let item = match parts.as_slice() {
                [] => Ty::Value,
                [one] => self.schema(one.schema, &name),
                parts => self.place(parts, &name),
            };
            return Ty::List(Box::new(item));
        }
        let first = &first[..most.unwrap_or(first.len()).min(first.len())];
        if first.is_empty() {
            return Ty::List(Box::new(Ty::Value));
        }
        let rest = words.iter().filter_map(|words| words.items).next();
        let is_closed = most.is_some_and(|most| most <= first.len())
            || rest.is_some_and(|rest| rest.kind == Kind::Bool(false));
        let types = first.iter().enumerate();
        let types: Vec<_> = types
            .map(|(n, item)| self.schema(item, &format!("{name}{n}")))
            .collect();
        if is_closed && least >= first.len() && first.len() <= LONGEST_TUPLE {
            return Ty::Tuple(types);
        }
        let rest = (!is_closed).then(|| match rest {
            Some(rest) => self.schema(rest, &item_name(name)),
            None => Ty::Value,
        });
        let items = first
            .iter()
            .zip(types)
            .enumerate()
            .map(|(n, (schema, ty))| Item {
                docs: description(schema).map(str::to_owned),
                ty,
                required: n < least,
            });
        let items = items.collect();
        let index = self.reserve(name, place.docs);
        self.defs[index].shape = Shape::Items { items, rest };
        Ty::Named(index)
    }
}

/// Returns the properties that an object may have, in the order in which they are first mentioned.
fn properties<'a>(place: &Place<'a>) -> Vec<(&'a str, Vec<Part<'a>>)> {
    let mut found: Vec<(&str, Vec<Part<'a>>)> = Vec::new();
    let mut at: HashMap<&str, usize> = HashMap::new();
    let properties = place.words.iter().filter_map(|words| words.properties);
    for entry in properties.flat_map(Node::entries) {
        let part = Part::new(&entry.value);
        match at.get(entry.key.as_str()) {
            Some(index) => found[*index].1.push(part),
            None => {
                at.insert(&entry.key, found.len());
                found.push((&entry.key, vec![part]));
            }
        }
    }
    // A property that is never let through is none.
    let is_false = |part: &Part<'_>| part.schema.kind == Kind::Bool(false);
    found.retain(|(_, parts)| !parts.iter().any(is_false));
    found
}

/// `Tags` holds `Tag`s, `Items` holds `Item`s; anything else holds `…Item`s.
fn item_name(name: &str) -> String {
    match name.strip_suffix('s') {
        Some(one) if one.len() > 2 && !one.ends_with(['s', 'u', 'i']) => one.to_owned(),
        _ => format!("{name}Item"),
    }
}
