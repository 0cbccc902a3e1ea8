//! How does a schema of several files become one?
//!
//! Every file that a `$ref` names is read and put under the root's `$defs`, and the references are rewritten
//! to point there. Nothing is fetched from a network.

use std::collections::{BTreeMap, HashSet};

use super::{Targets, pointer_part, read};
use crate::diagnostic::{Diagnostic, Sink};
use crate::files::Files;
use crate::names::Taken;
use crate::node::{Entry, Kind, Node};
use crate::source::{SourceId, Span, Spanned};

/// Keywords whose value is data, where `$ref` is a key like any other.
const DATA: [&str; 4] = ["enum", "const", "default", "examples"];

/// Returns the schema with everything that it refers to within it.
pub(crate) fn bundle(mut root: Node, files: &mut Files, sink: &mut Sink) -> Option<Node> {
    let mut names = Taken::with(["$defs", "definitions"].iter().flat_map(|key| {
        root.get(key)
            .map(Node::entries)
            .unwrap_or_default()
            .iter()
            .map(|entry| entry.key.clone())
    }));
    let mut bundler = Bundler {
        home: root.span.source,
        files,
        sink,
        names: &mut names,
        known: BTreeMap::new(),
        found: Vec::new(),
    };
    bundler.rewrite(&mut root);
    let mut embedded = Vec::new();
    while let Some((source, key)) = bundler.found.pop() {
        let mut document = read(source, bundler.files, bundler.sink)?;
        if let Kind::Map(entries) = &mut document.kind {
            // An embedded `$id` would change what the references below it mean.
            entries.retain(|entry| entry.key != "$id" && entry.key != "$schema");
        }
        bundler.rewrite(&mut document);
        embedded.push(Entry {
            key,
            key_span: document.span,
            value: document,
        });
    }
    if let Kind::Map(entries) = &mut root.kind
        && !embedded.is_empty()
    {
        match entries.iter_mut().find(|entry| entry.key == "$defs") {
            Some(Entry {
                value:
                    Node {
                        kind: Kind::Map(defs),
                        ..
                    },
                ..
            }) => defs.extend(embedded),
            _ => {
                let value = Node {
                    span: root.span,
                    kind: Kind::Map(embedded),
                };
                entries.push(Entry {
                    key: "$defs".to_owned(),
                    key_span: root.span,
                    value,
                });
            }
        }
    }
    dangling(&root, &Known::new(&root), sink);
    Some(root)
}

struct Bundler<'a> {
    home: SourceId,
    files: &'a mut Files,
    sink: &'a mut Sink,
    names: &'a mut Taken,
    known: BTreeMap<SourceId, String>,
    found: Vec<(SourceId, String)>,
}

impl Bundler<'_> {
    fn rewrite(&mut self, node: &mut Node) {
        match &mut node.kind {
            Kind::List(items) => items.iter_mut().for_each(|item| self.rewrite(item)),
            Kind::Map(entries) => {
                for entry in entries
                    .iter_mut()
                    .filter(|entry| !DATA.contains(&entry.key.as_str()))
                {
                    match &mut entry.value.kind {
                        Kind::String(text) if entry.key == "$ref" => {
                            if let Some(new) = self.reference(text, entry.value.span) {
                                *text = new;
                            }
                        }
                        _ => self.rewrite(&mut entry.value),
                    }
                }
            }
            _ => {}
        }
    }

    /// Returns the reference as seen from the root, or `None` where it stays as it is.
    fn reference(&mut self, text: &str, span: Span) -> Option<String> {
        let (path, fragment) = text.split_once('#').unwrap_or((text, ""));
        if path.contains(':') {
            return None;
        }
        let target = if path.is_empty() {
            span.source
        } else {
            let name = Spanned::new(path.to_owned(), span);
            self.files
                .read_named("referenced schema", &name, self.sink)?
        };
        Some(format!("{}{fragment}", self.prefix(target, path)))
    }

    fn prefix(&mut self, target: SourceId, path: &str) -> String {
        if target == self.home {
            return "#".to_owned();
        }
        if let Some(key) = self.known.get(&target) {
            return format!("#/$defs/{}", pointer_part(key));
        }
        let file = path.rsplit('/').next().unwrap_or(path);
        let key = self.names.take(file.to_owned());
        self.known.insert(target, key.clone());
        self.found.push((target, key.clone()));
        format!("#/$defs/{}", pointer_part(&key))
    }
}

/// What a reference of a schema can point at.
struct Known<'a> {
    targets: Targets<'a>,
    ids: HashSet<&'a str>,
    anchors: HashSet<&'a str>,
}

impl<'a> Known<'a> {
    fn new(root: &'a Node) -> Self {
        let mut known = Self {
            targets: Targets::new(root),
            ids: HashSet::new(),
            anchors: HashSet::new(),
        };
        known.collect(root);
        known
    }

    fn collect(&mut self, node: &'a Node) {
        for entry in node.entries() {
            if let Some(value) = entry.value.as_str() {
                // Draft-07 writes anchors as `"$id": "#name"`.
                let value = value.trim_start_matches('#');
                match entry.key.as_str() {
                    "$id" => drop(self.ids.insert(value)),
                    "$anchor" | "$dynamicAnchor" => drop(self.anchors.insert(value)),
                    _ => {}
                }
            }
            self.collect(&entry.value);
        }
        node.items().iter().for_each(|item| self.collect(item));
    }

    fn has(&self, text: &str) -> bool {
        match text.strip_prefix('#') {
            Some(name) if !name.is_empty() && !name.starts_with('/') => {
                self.anchors.contains(name) || self.ids.contains(name)
            }
            _ => self.targets.resolve(text).is_some() || self.ids.contains(text),
        }
    }
}

/// Reports references that point at nothing.
fn dangling(node: &Node, known: &Known<'_>, sink: &mut Sink) {
    for entry in node.entries() {
        if DATA.contains(&entry.key.as_str()) {
            continue;
        }
        match &entry.value.kind {
            Kind::String(text) if entry.key == "$ref" => {
                // A file that is not there was reported when it was looked for.
                if !text.starts_with('#') && !text.contains(':') {
                    continue;
                }
                if !known.has(text) {
                    let message = format!("`$ref` points at `{text}`, which is not there");
                    let help = match text.contains("://") {
                        true => {
                            "nothing is fetched from a network: put the schema into a file and refer to that"
                        }
                        false => {
                            "point it at a definition of this file (`#/$defs/name`) or at a file beside it"
                        }
                    };
                    sink.push(
                        Diagnostic::error("bad-schema", message)
                            .at(entry.value.span)
                            .help(help),
                    );
                }
            }
            _ => dangling(&entry.value, known, sink),
        }
    }
    node.items()
        .iter()
        .for_each(|item| dangling(item, known, sink));
}
