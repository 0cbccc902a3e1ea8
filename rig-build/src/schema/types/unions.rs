//! Which types are the branches of a choice, and what tells them apart?

use std::collections::HashSet;

use super::place::{Key, Part, Place};
use super::read::Reader;
use super::words::Kinds;
use super::{Branch, Shape, Ty, Union};
use crate::names::{Taken, pascal};
use crate::node::Node;

/// A branch that is left, before it is read.
struct Choice<'a> {
    schema: &'a Node,
    /// Everything that a value of the branch has to satisfy.
    parts: Vec<Part<'a>>,
    place: Place<'a>,
    /// What the branch says by itself.
    own: Place<'a>,
}

impl<'a> Reader<'a> {
    /// Reads a choice between schemas, each beside what else is said of the place. Returns `None` where the choice
    /// is none between types, and can be left to the gate.
    pub(super) fn union(
        &mut self,
        place: &Place<'a>,
        branches: &'a [Node],
        key: &Key,
        name: &str,
    ) -> Option<Ty> {
        if branches.is_empty() {
            return None;
        }
        let beside: Vec<_> = place.parts.iter().map(|part| part.decided()).collect();
        let mut null = false;
        let mut choices = Vec::new();
        for schema in branches {
            let own = self.document.place(&[Part::new(schema)]);
            let mut parts = beside.clone();
            parts.push(Part::new(schema));
            let both = self.document.place(&parts);
            match place.kinds.and(own.kinds) {
                Kinds::NONE => {}
                Kinds::NULL => null = true,
                _ => choices.push(Choice {
                    schema,
                    parts,
                    place: both,
                    own,
                }),
            }
        }
        let is_shaped = |choice: &Choice<'_>| {
            place.kinds.and(choice.own.kinds) != place.kinds
                || choice.own.words.iter().any(|words| words.is_shaped())
        };
        let nothing_beside = self.document.place(&beside).parts.is_empty();
        if !nothing_beside && !choices.is_empty() && !choices.iter().any(is_shaped) {
            return None;
        }
        Some(
            match self.choose(choices, nothing_beside, Some(key), name, place.docs) {
                // Nothing is ever let through.
                None if null => Ty::Null,
                None => Ty::Value,
                Some(ty) if null => ty.or_null(),
                Some(ty) => ty,
            },
        )
    }

    /// Reads the type that holds what any of these lets through.
    pub(super) fn any_of(&mut self, schemas: Vec<&'a Node>, name: &str) -> Ty {
        if let [one] = schemas.as_slice() {
            return self.schema(one, name);
        }
        let choices = schemas.into_iter().map(|schema| {
            let parts = vec![Part::new(schema)];
            let place = self.document.place(&parts);
            Choice {
                schema,
                parts,
                own: place.clone(),
                place,
            }
        });
        let choices = choices.collect();
        self.choose(choices, true, None, name, None)
            .unwrap_or(Ty::Value)
    }

    fn choose(
        &mut self,
        choices: Vec<Choice<'a>>,
        nothing_beside: bool,
        key: Option<&Key>,
        name: &str,
        docs: Option<&str>,
    ) -> Option<Ty> {
        match choices.as_slice() {
            [] => return None,
            [one] if nothing_beside => return Some(self.schema(one.schema, name)),
            [one] => return Some(self.place(&one.parts, name)),
            _ => {}
        }
        let listed: Option<Vec<_>> = choices
            .iter()
            .map(|choice| Self::listed(&choice.own))
            .collect();
        if let Some(values) = listed.filter(|_| nothing_beside) {
            return Some(self.values(&values.concat(), name, docs));
        }
        let tag = self.tag(&choices);
        let mut null = false;
        let mut taken = Taken::default();
        let mut branches: Vec<Branch> = Vec::new();
        for (index, choice) in choices.iter().enumerate() {
            let tags = tag
                .as_ref()
                .map(|(_, tags)| tags[index].clone())
                .unwrap_or_default();
            let (variant, own) = self.names(choice, &tags, name);
            let mut ty = match nothing_beside {
                true => self.schema(choice.schema, &own),
                false => self.place(&choice.parts, &own),
            };
            if let Ty::Nullable(inner) = ty {
                (ty, null) = (*inner, true);
            }
            if ty == Ty::Null {
                null = true;
                continue;
            }
            let docs = choice.own.docs.map(str::to_owned);
            match branches.iter_mut().find(|branch| branch.ty == ty) {
                Some(same) => same.tags.extend(tags),
                None => branches.push(Branch {
                    name: variant,
                    docs,
                    ty,
                    tags,
                }),
            }
        }
        for branch in &mut branches {
            branch.name = taken.take(std::mem::take(&mut branch.name));
        }
        let tag = tag
            .map(|(tag, _)| tag)
            .filter(|_| self.are_told_by_tag(&branches));
        let ty = self.joined(branches, tag, key.filter(|_| !null), name, docs);
        Some(if null { ty.or_null() } else { ty })
    }

    /// Makes one type of the branches: what is never reached is left out, and a single one needs no union.
    fn joined(
        &mut self,
        mut branches: Vec<Branch>,
        tag: Option<String>,
        key: Option<&Key>,
        name: &str,
        docs: Option<&str>,
    ) -> Ty {
        if let Some(any) = branches.iter().position(|branch| branch.ty == Ty::Value) {
            branches.truncate(any + 1);
        }
        if branches.iter().any(|branch| branch.ty == Ty::Number) {
            branches.retain(|branch| !matches!(branch.ty, Ty::Integer | Ty::Unsigned));
        }
        match branches.len() {
            0 => Ty::Null,
            1 => branches.remove(0).ty,
            _ => self.define_union(Union { tag, branches }, key, name, docs),
        }
    }

    /// Reads a place whose values are of several kinds.
    pub(super) fn several_kinds(&mut self, place: &Place<'a>, key: &Key, name: &str) -> Ty {
        const EACH: [(Kinds, &str); 5] = [
            (Kinds::OBJECT, "Object"),
            (Kinds::LIST, "List"),
            (Kinds::STRING, "String"),
            (Kinds::NUMBER, "Number"),
            (Kinds::BOOLEAN, "Boolean"),
        ];
        let null = place.kinds.has(Kinds::NULL);
        let is_any = place.kinds.or(Kinds::NULL) == Kinds::ALL;
        let says = |kind: Kinds| {
            place.words.iter().any(|words| {
                (kind == Kinds::OBJECT && words.has_fields())
                    || (kind == Kinds::LIST && words.has_items())
            })
        };
        let mut branches = Vec::new();
        for (kind, variant) in EACH {
            let kinds = place.kinds.and(kind);
            if kinds == Kinds::NONE || (is_any && !says(kind)) {
                continue;
            }
            let variant = if kinds == Kinds::INTEGER {
                "Integer"
            } else {
                variant
            };
            let ty = self.of_one_kind(place, kinds, &format!("{name}{variant}"));
            branches.extend(ty.map(|ty| branch(variant, ty)));
        }
        if is_any {
            branches.push(branch("Other", Ty::Value));
        }
        let ty = self.joined(
            branches,
            None,
            Some(key).filter(|_| !null || is_any),
            name,
            place.docs,
        );
        if null && !is_any { ty.or_null() } else { ty }
    }

    /// Returns the name of a branch, and that of its type if it needs one.
    fn names(&self, choice: &Choice<'a>, tags: &[String], name: &str) -> (String, String) {
        let mut better = None;
        self.document
            .speaker(choice.schema, |text| better = Some(pascal(text)));
        if let Some(better) = better.filter(|name| name.len() <= 40) {
            return (better.clone(), better);
        }
        let variant = match tags.first() {
            Some(tag) => pascal(tag),
            None => kind_name(choice.place.kinds.without(Kinds::NULL)).to_owned(),
        };
        let own = format!("{name}{variant}");
        (variant, own)
    }

    /// Returns the property that tells the branches apart, and its values for each.
    fn tag(&self, choices: &[Choice<'a>]) -> Option<(String, Vec<Vec<String>>)> {
        let first = choices
            .iter()
            .find(|choice| choice.place.kinds.has(Kinds::OBJECT))?;
        let named = choices
            .iter()
            .flat_map(|choice| &choice.place.words)
            .find_map(|words| words.discriminator);
        let properties = first
            .place
            .words
            .iter()
            .filter_map(|words| words.properties);
        let keys = properties
            .flat_map(Node::entries)
            .map(|entry| entry.key.as_str());
        named.into_iter().chain(keys).find_map(|key| {
            let mut seen = HashSet::new();
            let mut all = Vec::new();
            for choice in choices {
                if !choice.place.kinds.has(Kinds::OBJECT) {
                    all.push(Vec::new());
                    continue;
                }
                let tags = self.tags(&choice.place, key)?;
                if !tags.iter().all(|tag| seen.insert(tag.clone())) {
                    return None;
                }
                all.push(tags);
            }
            Some((key.to_owned(), all))
        })
    }

    /// Returns the strings that a property can be, where they are listed.
    fn tags(&self, place: &Place<'a>, key: &str) -> Option<Vec<String>> {
        let properties = place.words.iter().filter_map(|words| words.properties);
        let property = properties.filter_map(|properties| properties.get(key));
        let parts: Vec<_> = property.map(Part::new).collect();
        let values = self
            .document
            .place(&parts)
            .words
            .into_iter()
            .find_map(|words| words.values)?;
        values
            .iter()
            .map(|value| value.as_str().map(str::to_owned))
            .collect()
    }

    /// Returns whether the branches that objects can be are structs, so that a tag leads to one and no further.
    fn are_told_by_tag(&self, branches: &[Branch]) -> bool {
        branches.iter().all(|branch| match &branch.ty {
            Ty::Named(index) if branch.tags.is_empty() => {
                matches!(
                    self.defs[*index].shape,
                    Shape::Enum(_) | Shape::Items { .. }
                )
            }
            Ty::Named(index) => {
                matches!(self.defs[*index].shape, Shape::Open | Shape::Struct { .. })
            }
            Ty::Value | Ty::Map(_) => false,
            _ => branch.tags.is_empty(),
        })
    }
}

fn branch(name: &str, ty: Ty) -> Branch {
    Branch {
        name: name.to_owned(),
        docs: None,
        ty,
        tags: Vec::new(),
    }
}

fn kind_name(kinds: Kinds) -> &'static str {
    match kinds {
        Kinds::OBJECT => "Object",
        Kinds::LIST => "List",
        Kinds::STRING => "String",
        Kinds::INTEGER => "Integer",
        Kinds::NUMBER => "Number",
        Kinds::BOOLEAN => "Boolean",
        _ => "Other",
    }
}
