//! How is a place brought into a form that has no `allOf`, and no reference or choice beside other keywords?

use std::borrow::Cow;
use std::cell::Cell;

use super::Obstacle;
use super::merge::{Clash, entry, is_annotation, merge, schema};
use crate::node::{Entry, Kind, Node};
use crate::schema::{Targets, children};

/// How often one schema is copied into another at most, and how deep within each other.
const MOST_COPIES: usize = 2_000;
/// How many bytes of the file are copied at most.
const MOST_BYTES: usize = 4 << 20;
const DEEPEST_COPY: usize = 24;

/// How many places it takes at most to see whether one may be null.
const MOST_LOOKS: usize = 200;

/// Keywords that choose between schemas.
const CHOICES: [&str; 2] = ["anyOf", "oneOf"];

/// What reads the places of a schema.
pub(super) struct Reader<'a> {
    root: &'a Node,
    targets: Targets<'a>,
    /// Whether the schema is of draft-07.
    pub(super) old_draft: bool,
    copies: usize,
    copied: usize,
    copy_depth: usize,
}

impl<'a> Reader<'a> {
    pub(super) fn new(root: &'a Node) -> Self {
        let draft = root.get("$schema").and_then(Node::as_str);
        Self {
            root,
            targets: Targets::new(root),
            old_draft: draft.is_some_and(|draft| draft.contains("draft-07")),
            copies: 0,
            copied: 0,
            copy_depth: 0,
        }
    }

    /// Returns the schema of a place with everything said in it; `None` where nothing conforms.
    pub(super) fn flat<'n>(
        &mut self,
        node: &'n Node,
        at: &str,
    ) -> Result<Option<Cow<'n, Node>>, Obstacle> {
        let entries = match &node.kind {
            Kind::Bool(false) => return Ok(None),
            Kind::Bool(true) => return Ok(Some(Cow::Owned(schema(node.span, Vec::new())))),
            _ => node.entries(),
        };
        let says_more = |except: &[&str]| {
            entries
                .iter()
                .any(|entry| !except.contains(&entry.key.as_str()) && !is_annotation(&entry.key))
        };
        if node.get("$ref").is_some() && (self.old_draft || !says_more(&["$ref"])) {
            // In draft-07 nothing beside a reference counts.
            let kept = |entry: &&Entry| entry.key == "$ref" || is_annotation(&entry.key);
            let kept = entries.iter().filter(kept).cloned().collect();
            return Ok(Some(Cow::Owned(schema(node.span, kept))));
        }
        if let Some(Kind::List(parts)) = node.get("allOf").map(|node| &node.kind)
            && let [only] = parts.as_slice()
            && only.get("$ref").is_some()
            && only.entries().len() == 1
            && !says_more(&["allOf"])
        {
            // Older generators write a described reference so.
            let mut kept: Vec<_> = entries.to_vec();
            kept.retain(|entry| entry.key != "allOf");
            kept.extend(only.entries().iter().cloned());
            return Ok(Some(Cow::Owned(schema(node.span, kept))));
        }
        let whole = match node.get("$ref").or(node.get("allOf")) {
            None => Cow::Borrowed(node),
            Some(_) => match self.merged(node, at)? {
                None => return Ok(None),
                Some(merged) => Cow::Owned(merged),
            },
        };
        self.distributed(whole, at)
    }

    /// Returns a schema with its reference and its `allOf` merged in.
    fn merged(&mut self, node: &Node, at: &str) -> Result<Option<Node>, Obstacle> {
        let own = node.entries().iter();
        let own = own
            .filter(|entry| entry.key != "$ref" && entry.key != "allOf")
            .cloned()
            .collect();
        let mut out = schema(node.span, own);
        let reference = node.entry("$ref").cloned();
        let target = reference.map(|reference| schema(node.span, vec![reference]));
        let parts = node.get("allOf").map(Node::items).unwrap_or_default();
        for part in target.iter().chain(parts) {
            let Some(part) = self.copied(part, at)? else {
                return Ok(None);
            };
            match joined(&out, &part, at)? {
                Some(merged) => out = merged,
                None => return Ok(None),
            }
        }
        Ok(Some(out))
    }

    /// Returns a schema to be merged into another: a reference is replaced by what it points at.
    fn copied(&mut self, node: &Node, at: &str) -> Result<Option<Node>, Obstacle> {
        self.copies += 1;
        self.copied += node.span.end - node.span.start;
        self.copy_depth += 1;
        let is_too_much = self.copies > MOST_COPIES || self.copied > MOST_BYTES;
        let out = if is_too_much || self.copy_depth > DEEPEST_COPY {
            Err(Obstacle::new(
                node.span,
                at,
                "its schemas that refer to each other within `allOf` or beside other keywords go too deep",
            ))
        } else {
            self.copy(node, at)
        };
        self.copy_depth -= 1;
        out
    }

    fn copy(&mut self, node: &Node, at: &str) -> Result<Option<Node>, Obstacle> {
        match &node.kind {
            Kind::Bool(false) => return Ok(None),
            Kind::Bool(true) => return Ok(Some(schema(node.span, Vec::new()))),
            _ => {}
        }
        let own = || {
            let own = node.entries().iter();
            let kept = own.filter(|entry| {
                !matches!(
                    entry.key.as_str(),
                    "$ref" | "allOf" | "$defs" | "definitions"
                )
            });
            schema(node.span, kept.cloned().collect())
        };
        let target = match node.get("$ref") {
            None => None,
            Some(reference) => Some(self.target(reference, at)?),
        };
        let alone = self.old_draft && target.is_some();
        let mut out = if alone {
            schema(node.span, Vec::new())
        } else {
            own()
        };
        let parts = node.get("allOf").map(Node::items).unwrap_or_default();
        for part in target.into_iter().chain(parts.iter().filter(|_| !alone)) {
            let Some(part) = self.copied(part, at)? else {
                return Ok(None);
            };
            match joined(&out, &part, at)? {
                Some(merged) => out = merged,
                None => return Ok(None),
            }
        }
        Ok(Some(out))
    }

    /// Returns a schema whose choice stands alone: what stands beside it goes into each branch.
    fn distributed<'n>(
        &mut self,
        node: Cow<'n, Node>,
        at: &str,
    ) -> Result<Option<Cow<'n, Node>>, Obstacle> {
        let Some(choice) = node
            .entries()
            .iter()
            .find(|entry| CHOICES.contains(&entry.key.as_str()))
        else {
            return Ok(Some(node));
        };
        let is_beside = |entry: &&Entry| entry.key != choice.key && !is_annotation(&entry.key);
        let beside: Vec<_> = node.entries().iter().filter(is_beside).cloned().collect();
        if beside.is_empty() {
            return Ok(Some(node));
        }
        let base = schema(node.span, beside);
        let mut branches = Vec::new();
        for branch in choice.value.items() {
            let Some(branch) = self.copied(branch, at)? else {
                continue;
            };
            if let Some(merged) = joined(&base, &branch, at)? {
                branches.push(merged);
            }
        }
        if branches.is_empty() {
            return Ok(None);
        }
        let kept = node
            .entries()
            .iter()
            .filter(|entry| is_annotation(&entry.key));
        let mut kept: Vec<_> = kept.cloned().collect();
        kept.push(entry(&choice.key, choice.key_span, Kind::List(branches)));
        Ok(Some(Cow::Owned(schema(node.span, kept))))
    }

    /// Returns what a reference points at.
    pub(super) fn target(&self, reference: &Node, at: &str) -> Result<&'a Node, Obstacle> {
        let text = reference.as_str().unwrap_or("");
        let found = self.targets.resolve(text).or_else(|| {
            let name = text.strip_prefix('#')?;
            anchored(self.root, name)
        });
        found.ok_or_else(|| {
            let reason = format!("`$ref` to `{text}` goes by an identifier");
            Obstacle::new(reference.span, at, reason)
        })
    }

    /// Returns whether null conforms, as far as types, values, references and choices tell.
    pub(super) fn takes_null(&self, node: &Node) -> bool {
        self.takes_null_within(node, &Cell::new(MOST_LOOKS))
    }

    fn takes_null_within(&self, node: &Node, looks: &Cell<usize>) -> bool {
        if let Kind::Bool(takes) = node.kind {
            return takes;
        }
        let Some(left) = looks.get().checked_sub(1) else {
            return false;
        };
        looks.set(left);
        let each = |part: &Node| self.takes_null_within(part, looks);
        let is_null = |node: &Node| node.kind == Kind::Null;
        let of = |key: &str| node.get(key);
        let target = of("$ref").and_then(|text| self.target(text, "").ok());
        if let Some(target) = target.filter(|_| self.old_draft) {
            return each(target);
        }
        of("type").is_none_or(|types| {
            let names = |node: &Node| node.as_str() == Some("null");
            names(types) || types.items().iter().any(names)
        }) && of("enum").is_none_or(|values| values.items().iter().any(is_null))
            && of("const").is_none_or(is_null)
            && target.is_none_or(each)
            && of("allOf").is_none_or(|parts| parts.items().iter().all(each))
            && of("anyOf").is_none_or(|parts| parts.items().iter().any(each))
            // Of `oneOf`, a second branch that takes it is one too many.
            && of("oneOf").is_none_or(|parts| parts.items().iter().filter(|part| each(part)).count() == 1)
    }
}

/// Returns the merge of a schema and a part of it.
fn joined(whole: &Node, part: &Node, at: &str) -> Result<Option<Node>, Obstacle> {
    // In a part they are about what the part itself names.
    let unevaluated = ["unevaluatedProperties", "unevaluatedItems"];
    let merged = match unevaluated.iter().find_map(|key| part.entry(key)) {
        Some(found) => Err(Clash::of(found)),
        None => merge(whole, part),
    };
    merged.map_err(|clash| {
        let reason = format!("`{}` of two schemas cannot be said in one", clash.keyword);
        Obstacle::new(clash.span, at, reason)
    })
}

/// Returns the schema that has an anchor.
fn anchored<'a>(root: &'a Node, name: &str) -> Option<&'a Node> {
    let mut next = vec![root];
    while let Some(node) = next.pop() {
        let is = |key: &str, wanted: &str| node.get(key).and_then(Node::as_str) == Some(wanted);
        if is("$anchor", name) || is("$id", &format!("#{name}")) {
            return Some(node);
        }
        next.extend(children(node).into_iter().map(|(_, child)| child));
    }
    None
}
