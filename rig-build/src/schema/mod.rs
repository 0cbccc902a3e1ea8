//! What does a schema file mean?
//!
//! `valid` says whether it is a JSON Schema, `bundle` makes it self-contained, `types` turns it into Rust
//! types, `gate` into what the runtime judges answers by, `lower` says what a provider is sent of it.

pub(crate) mod answer_size;
mod bundle;
mod gate;
pub(crate) mod lower;
pub(crate) mod types;
mod valid;

use std::collections::HashMap;

use crate::diagnostic::Sink;
use crate::files::Files;
use crate::json;
use crate::names::pascal;
use crate::node::{Kind, Node};
use crate::source::{SourceId, Sources, Spanned};

/// A schema, valid and self-contained.
#[derive(Clone, Debug)]
pub(crate) struct Schema {
    /// The tree, with every reference within it.
    pub(crate) root: Node,
    /// The name of its root type.
    pub(crate) type_name: String,
    /// The tree as compact JSON.
    pub(crate) json: String,
    /// An answer in its simplest form, as compact JSON.
    pub(crate) skeleton: String,
    /// The tree, compiled for the runtime.
    pub(crate) gate: String,
    /// A hash of `json`.
    pub(crate) hash: u64,
}

/// Reads the schema file that a route names.
pub(crate) fn load(name: &Spanned<String>, files: &mut Files, sink: &mut Sink) -> Option<Schema> {
    let source = files.read_named("schema", name, sink)?;
    let root = json::parse(&files.sources, source, sink)?;
    let title = root.get("title").and_then(Node::as_str);
    let title = title.filter(|title| !title.trim().is_empty());
    let name = pascal(title.unwrap_or_else(|| stem(&files.sources.get(source).shown)));
    schema(root, name, files, sink)
}

/// Checks that the tree is a schema, and makes it self-contained. `None` where something was reported.
pub(crate) fn schema(
    root: Node,
    type_name: String,
    files: &mut Files,
    sink: &mut Sink,
) -> Option<Schema> {
    let mut own = Sink::default();
    valid::check(&root, &mut own);
    let root = bundle::bundle(root, files, &mut own);
    // What is broken already would only be reported twice.
    let gate = match &root {
        Some(root) if !own.has_errors() => gate::compile(root, &[], &mut own),
        _ => None,
    };
    let broken = own.has_errors();
    for finding in own.into_findings() {
        sink.push(finding);
    }
    let root = root.filter(|_| !broken)?;
    let json = root.to_json();
    let hash = fnv1a(&json);
    let skeleton = lower::skeleton(&root);
    Some(Schema {
        root,
        type_name,
        json,
        skeleton,
        gate: gate?,
        hash,
    })
}

/// Compiles a schema for the runtime; `documents` are others that it may refer to, each with its address.
///
/// # Errors
///
/// Why it cannot be compiled, with its place.
pub fn compile_schema(schema: &str, documents: &[(&str, &str)]) -> Result<String, String> {
    let mut sources = Sources::default();
    let mut sink = Sink::default();
    let mut parse = |shown: &str, text: &str, sources: &mut Sources| {
        let source = sources.add(shown.to_owned(), text.to_owned());
        json::parse(sources, source, &mut sink)
    };
    let root = parse("schema", schema, &mut sources);
    let others: Vec<_> = documents
        .iter()
        .filter_map(|(address, text)| Some((*address, parse(address, text, &mut sources)?)))
        .collect();
    let others: Vec<_> = others
        .iter()
        .map(|(address, node)| (*address, node))
        .collect();
    let gate = match &root {
        Some(root) if !sink.has_errors() => gate::compile(root, &others, &mut sink),
        _ => None,
    };
    gate.ok_or_else(|| {
        let findings = sink.into_findings();
        let texts = findings.iter().map(|finding| finding.render(&sources).text);
        texts.collect::<Vec<_>>().join("\n")
    })
}

/// Reads another schema file, which this one refers to, and checks that it is a schema.
fn read(source: SourceId, files: &Files, sink: &mut Sink) -> Option<Node> {
    let root = json::parse(&files.sources, source, sink)?;
    valid::check(&root, sink);
    Some(root)
}

/// Returns the file's name without `.json` and `.schema`.
fn stem(shown: &str) -> &str {
    let name = shown.rsplit('/').next().unwrap_or(shown);
    let name = name.strip_suffix(".json").unwrap_or(name);
    name.strip_suffix(".schema")
        .filter(|stem| !stem.is_empty())
        .unwrap_or(name)
}

/// Returns the direct subschemas of a schema, each with its JSON pointer from there.
pub(crate) fn children(schema: &Node) -> Vec<(String, &Node)> {
    let mut out = Vec::new();
    for entry in schema.entries() {
        let key = entry.key.as_str();
        match (key, &entry.value.kind) {
            (
                "items"
                | "additionalItems"
                | "additionalProperties"
                | "contains"
                | "propertyNames"
                | "not"
                | "if"
                | "then"
                | "else"
                | "unevaluatedItems"
                | "unevaluatedProperties",
                Kind::Map(_) | Kind::Bool(_),
            ) => out.push((format!("/{key}"), &entry.value)),
            ("items" | "prefixItems" | "allOf" | "anyOf" | "oneOf", Kind::List(items)) => {
                out.extend(
                    items
                        .iter()
                        .enumerate()
                        .map(|(n, item)| (format!("/{key}/{n}"), item)),
                );
            }
            (
                "properties" | "patternProperties" | "$defs" | "definitions" | "dependentSchemas"
                | "dependencies",
                Kind::Map(entries),
            ) => {
                let schemas = entries
                    .iter()
                    .filter(|entry| !matches!(entry.value.kind, Kind::List(_)));
                out.extend(
                    schemas.map(|inner| {
                        (format!("/{key}/{}", pointer_part(&inner.key)), &inner.value)
                    }),
                );
            }
            _ => {}
        }
    }
    out
}

/// Escapes a key for a JSON pointer.
pub(crate) fn pointer_part(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

fn resolve<'a>(root: &'a Node, reference: &str) -> Option<&'a Node> {
    let pointer = reference.strip_prefix('#')?;
    let pointer = percent_decoded(pointer)?;
    if pointer.is_empty() {
        return Some(root);
    }
    let mut at = root;
    for part in pointer.strip_prefix('/')?.split('/') {
        let key = part.replace("~1", "/").replace("~0", "~");
        at = match &at.kind {
            Kind::Map(_) => at.get(&key)?,
            Kind::List(items) => items.get(key.parse::<usize>().ok()?)?,
            _ => return None,
        };
    }
    Some(at)
}

/// The keywords under which a schema keeps others.
const DEFINITIONS: [&str; 2] = ["$defs", "definitions"];

/// What the references of a schema point at. Definitions by the thousand are found without a search each.
pub(crate) struct Targets<'a> {
    root: &'a Node,
    definitions: HashMap<(&'static str, &'a str), &'a Node>,
}

impl<'a> Targets<'a> {
    /// Returns the targets within a schema.
    pub(crate) fn new(root: &'a Node) -> Self {
        let mut definitions = HashMap::new();
        for keyword in DEFINITIONS {
            let entries = root.get(keyword).map(Node::entries).unwrap_or_default();
            definitions.extend(
                entries
                    .iter()
                    .map(|entry| ((keyword, entry.key.as_str()), &entry.value)),
            );
        }
        Self { root, definitions }
    }

    /// Returns what a local reference (`#`, `#/a/b`) points at.
    pub(crate) fn resolve(&self, reference: &str) -> Option<&'a Node> {
        for keyword in DEFINITIONS {
            let key = reference
                .strip_prefix("#/")
                .and_then(|rest| rest.strip_prefix(keyword));
            let key = key.and_then(|rest| rest.strip_prefix('/'));
            // A key with one of these stands otherwise in a reference than in the file.
            if let Some(key) = key.filter(|key| !key.contains(['/', '~', '%'])) {
                return self.definitions.get(&(keyword, key)).copied();
            }
        }
        resolve(self.root, reference)
    }
}

fn percent_decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((first, tail)) = rest.split_first() {
        if *first == b'%' {
            let digits = std::str::from_utf8(tail.get(..2)?).ok()?;
            bytes.push(u8::from_str_radix(digits, 16).ok()?);
            rest = &tail[2..];
        } else {
            bytes.push(*first);
            rest = tail;
        }
    }
    String::from_utf8(bytes).ok()
}

/// The 64-bit FNV-1a hash: the same on every machine and for every compiler.
fn fnv1a(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}
