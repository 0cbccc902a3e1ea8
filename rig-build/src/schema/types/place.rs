//! What do all the schemas say together that the value of one place has to satisfy?

use std::collections::{HashMap, HashSet};

use super::words::{Kinds, Words};
use crate::node::{Kind, Node};
use crate::schema::Targets;

/// A schema of a place. The choices of a schema that was decided for a branch are left out.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part<'a> {
    pub(super) schema: &'a Node,
    pub(super) is_decided: bool,
}

/// A place: the schemas that speak of it, references followed and `allOf` taken apart.
#[derive(Clone, Debug)]
pub(super) struct Place<'a> {
    pub(super) parts: Vec<Part<'a>>,
    /// What each part says.
    pub(super) words: Vec<Words<'a>>,
    pub(super) kinds: Kinds,
    /// The first description.
    pub(super) docs: Option<&'a str>,
    /// A schema whose words no type can say, and the keyword.
    pub(super) outside: Option<(&'a Node, &'a str)>,
}

/// What tells one place from another.
pub(super) type Key = Vec<(usize, bool)>;

impl<'a> Part<'a> {
    pub(super) fn new(schema: &'a Node) -> Self {
        Self {
            schema,
            is_decided: false,
        }
    }

    pub(super) fn decided(self) -> Self {
        Self {
            is_decided: true,
            ..self
        }
    }
}

impl Place<'_> {
    /// Returns what tells the place from others: which schemas speak of it.
    pub(super) fn key(&self) -> Key {
        let mut key: Key = self
            .parts
            .iter()
            .map(|part| (address(part.schema), part.is_decided))
            .collect();
        key.sort_unstable();
        key
    }
}

/// Nodes stay where they are while a schema is read.
pub(super) fn address(node: &Node) -> usize {
    std::ptr::from_ref(node) as usize
}

/// The schema as a whole: where its references lead.
pub(super) struct Document<'a> {
    targets: Targets<'a>,
    /// `$anchor`s, and the schemas that have an `$id`.
    named: HashMap<&'a str, &'a Node>,
    pub(super) is_07: bool,
    /// How many values the schema's file has, within each other.
    pub(super) size: usize,
}

impl<'a> Document<'a> {
    pub(super) fn new(root: &'a Node) -> Self {
        let dialect = root.get("$schema").and_then(Node::as_str);
        let mut document = Self {
            targets: Targets::new(root),
            named: HashMap::new(),
            is_07: dialect.is_some_and(|dialect| dialect.contains("draft-07")),
            size: 0,
        };
        document.collect(root);
        document
    }

    fn collect(&mut self, root: &'a Node) {
        let mut open = vec![root];
        while let Some(node) = open.pop() {
            self.size += 1;
            for entry in node.entries() {
                if let ("$id" | "$anchor", Some(name)) = (entry.key.as_str(), entry.value.as_str())
                {
                    // Draft-07 writes anchors as `"$id": "#name"`.
                    self.named.entry(name.trim_matches('#')).or_insert(node);
                }
                open.push(&entry.value);
            }
            open.extend(node.items());
        }
    }

    /// Returns what a reference points at.
    pub(super) fn target(&self, reference: &str) -> Option<&'a Node> {
        let target = self.targets.resolve(reference);
        target.or_else(|| {
            let (id, fragment) = reference.split_once('#').unwrap_or((reference, ""));
            if id.is_empty() {
                return self.named.get(fragment).copied();
            }
            let document = self.named.get(id).copied()?;
            match fragment {
                "" => Some(document),
                pointer if pointer.starts_with('/') => {
                    crate::schema::resolve(document, &format!("#{pointer}"))
                }
                anchor => self.named.get(anchor).copied(),
            }
        })
    }

    pub(super) fn words(&self, schema: &'a Node) -> Words<'a> {
        Words::of(schema, self.is_07)
    }

    /// Follows references, and `allOf` around a single schema, to the schema that speaks. `name` is told the names
    /// that are met on the way: the last part of a reference, and titles.
    pub(super) fn speaker(&self, schema: &'a Node, mut name: impl FnMut(&str)) -> &'a Node {
        let mut seen = HashSet::new();
        let mut at = schema;
        while seen.insert(address(at)) {
            let words = self.words(at);
            if let Some(title) = words.title {
                name(title);
            }
            let next = match (words.reference, words.all_of) {
                _ if words.speaks() => None,
                (Some(reference), []) => {
                    let last = reference.rsplit('/').next().unwrap_or_default();
                    let last = last.replace("~1", "/").replace("~0", "~");
                    let last = last.trim_matches('#').trim_end_matches(".json");
                    if !last.is_empty() {
                        name(last);
                    }
                    self.target(reference)
                }
                (None, [one]) => Some(one),
                _ => None,
            };
            let Some(next) = next else { break };
            at = next;
        }
        at
    }

    /// Returns the place of a value that has to satisfy all of these.
    pub(super) fn place(&self, parts: &[Part<'a>]) -> Place<'a> {
        let mut place = Place {
            parts: Vec::new(),
            words: Vec::new(),
            kinds: Kinds::ALL,
            docs: None,
            outside: None,
        };
        let mut seen = HashSet::new();
        let mut open: Vec<Part<'a>> = parts.iter().rev().copied().collect();
        while let Some(part) = open.pop() {
            if part.schema.kind == Kind::Bool(false) {
                place.kinds = Kinds::NONE;
            }
            if !seen.insert(address(part.schema)) {
                continue;
            }
            let mut words = self.words(part.schema);
            place.docs = place.docs.or(words.docs);
            let follow = |schema| Part { schema, ..part };
            open.extend(words.all_of.iter().rev().map(follow));
            if let Some(reference) = words.reference {
                match self.target(reference) {
                    Some(target) => open.push(follow(target)),
                    None => words.outside = Some("$ref"),
                }
            }
            if part.is_decided {
                words = words.without_unions();
            }
            if let Some(keyword) = words.outside {
                place.outside = place.outside.or(Some((part.schema, keyword)));
            }
            if words.speaks() {
                place.kinds = place.kinds.and(words.kinds());
                place.parts.push(part);
                place.words.push(words);
            } else if words.required.is_some() {
                // Which fields are there is nothing by itself, but something beside others.
                place.parts.push(part);
                place.words.push(words);
            }
        }
        if !place.words.iter().any(Words::speaks) {
            place.parts.clear();
            place.words.clear();
        }
        place
    }
}
