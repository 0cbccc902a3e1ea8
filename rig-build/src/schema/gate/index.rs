//! Where does a reference of a schema lead?
//!
//! Every part of a schema that has an `$id` is a resource with a base address, anchors and a dialect of its own.

use std::collections::HashMap;

use super::super::{children, percent_decoded};
use super::uri;
use crate::node::{Kind, Node};

/// Which JSON Schema a resource is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Draft {
    Draft07,
    Draft202012,
}

/// The place of a resource in the index.
pub(super) type ResourceId = usize;

/// A schema and the resource that it stands in.
#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    pub(super) node: &'a Node,
    pub(super) resource: ResourceId,
}

/// A part of a schema with an address of its own.
pub(super) struct Resource<'a> {
    uri: String,
    root: &'a Node,
    pub(super) draft: Draft,
    anchors: HashMap<&'a str, &'a Node>,
    /// The dynamic anchors, in their order.
    pub(super) dynamic: Vec<(&'a str, Place<'a>)>,
}

/// All resources of a schema.
pub(super) struct Index<'a> {
    pub(super) resources: Vec<Resource<'a>>,
    by_uri: HashMap<String, ResourceId>,
    /// The resource of each subschema, by its address in memory.
    homes: HashMap<usize, ResourceId>,
    /// The entries of maps that have many, by the map's address in memory.
    tables: HashMap<usize, HashMap<&'a str, &'a Node>>,
    /// Whether anything depends on where a schema was entered from.
    pub(super) is_dynamic: bool,
}

impl<'a> Index<'a> {
    /// Returns the index of a schema and of other documents, each with its address.
    pub(super) fn new(root: &'a Node, others: &[(&str, &'a Node)]) -> Self {
        let mut index = Self {
            resources: Vec::new(),
            by_uri: HashMap::new(),
            homes: HashMap::new(),
            tables: HashMap::new(),
            is_dynamic: false,
        };
        index.document("", root);
        for (uri, document) in others {
            index.document(uri, document);
        }
        index
    }

    /// Returns the place of a subschema that stands in, or below, a place.
    pub(super) fn place(&self, node: &'a Node, above: ResourceId) -> Place<'a> {
        let resource = self.homes.get(&address(node)).copied().unwrap_or(above);
        Place { node, resource }
    }

    /// Returns what a reference leads to, seen from a resource.
    pub(super) fn resolve(&self, from: ResourceId, reference: &str) -> Option<Place<'a>> {
        let (path, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        let resource = if path.is_empty() {
            from
        } else {
            let uri = uri::join(&self.resources[from].uri, path);
            *self.by_uri.get(&uri)?
        };
        let root = self.resources[resource].root;
        let fragment = percent_decoded(fragment)?;
        if fragment.is_empty() {
            return Some(Place {
                node: root,
                resource,
            });
        }
        let Some(pointer) = fragment.strip_prefix('/') else {
            let node = self.resources[resource].anchors.get(fragment.as_str())?;
            return Some(self.place(node, resource));
        };
        let mut at = Place {
            node: root,
            resource,
        };
        for part in pointer.split('/') {
            let key = part.replace("~1", "/").replace("~0", "~");
            let next = match &at.node.kind {
                Kind::Map(_) => self.get(at.node, &key)?,
                Kind::List(items) => items.get(key.parse::<usize>().ok()?)?,
                _ => return None,
            };
            at = self.place(next, at.resource);
        }
        Some(at)
    }

    fn get(&self, map: &'a Node, key: &str) -> Option<&'a Node> {
        match self.tables.get(&address(map)) {
            Some(table) => table.get(key).copied(),
            None => map.get(key),
        }
    }

    /// Returns the name of the dynamic anchor that a reference names, where it leads to one.
    pub(super) fn dynamic_anchor(&self, target: Place<'a>, reference: &str) -> Option<&'a str> {
        let (_, fragment) = reference.split_once('#')?;
        let dynamic = &self.resources[target.resource].dynamic;
        let found = dynamic
            .iter()
            .find(|(name, place)| *name == fragment && std::ptr::eq(place.node, target.node));
        found.map(|(name, _)| *name)
    }

    fn document(&mut self, uri: &str, root: &'a Node) {
        let draft = draft(root).unwrap_or(Draft::Draft202012);
        let resource = self.resource(uri.to_owned(), root, draft);
        self.walk(root, resource);
    }

    fn resource(&mut self, uri: String, root: &'a Node, draft: Draft) -> ResourceId {
        let id = self.resources.len();
        self.by_uri.entry(uri.clone()).or_insert(id);
        self.resources.push(Resource {
            uri,
            root,
            draft,
            anchors: HashMap::new(),
            dynamic: Vec::new(),
        });
        id
    }

    fn walk(&mut self, node: &'a Node, above: ResourceId) {
        let mut home = above;
        let draft_above = self.resources[above].draft;
        let text = |key: &str| node.get(key).and_then(Node::as_str);
        let is_only_reference = draft_above == Draft::Draft07 && node.get("$ref").is_some();
        if let Some(id) = text("$id").filter(|_| !is_only_reference) {
            let (path, fragment) = id.split_once('#').unwrap_or((id, ""));
            if !path.is_empty() {
                let uri = uri::join(&self.resources[above].uri, path);
                let is_root = std::ptr::eq(self.resources[above].root, node);
                if is_root {
                    self.by_uri.entry(uri.clone()).or_insert(above);
                    self.resources[above].uri = uri;
                } else {
                    home = self.resource(uri, node, draft(node).unwrap_or(draft_above));
                }
            }
            if !fragment.is_empty() && draft_above == Draft::Draft07 {
                self.resources[home].anchors.insert(fragment, node);
            }
        }
        self.homes.insert(address(node), home);
        if self.resources[home].draft == Draft::Draft202012 {
            self.is_dynamic |= node.get("$dynamicRef").is_some();
            for key in ["$anchor", "$dynamicAnchor"] {
                if let Some(name) = text(key) {
                    self.resources[home].anchors.insert(name, node);
                }
            }
            if let Some(name) = text("$dynamicAnchor") {
                let place = Place {
                    node,
                    resource: home,
                };
                self.resources[home].dynamic.push((name, place));
            }
        }
        // Definitions by the thousand are found without a search each.
        const FEW: usize = 16;
        for map in node.entries().iter().map(|entry| &entry.value) {
            if map.entries().len() > FEW {
                let entries = map.entries().iter();
                let table = entries.map(|entry| (entry.key.as_str(), &entry.value));
                self.tables.insert(address(map), table.collect());
            }
        }
        for (_, child) in children(node) {
            self.walk(child, home);
        }
    }
}

/// Returns a node's address in memory; nodes are not moved while there is an index of them.
pub(super) fn address(node: &Node) -> usize {
    std::ptr::from_ref(node) as usize
}

/// Returns the draft that a schema says it is written in.
fn draft(root: &Node) -> Option<Draft> {
    let dialect = root.get("$schema").and_then(Node::as_str)?;
    Some(if dialect.contains("draft-07") {
        Draft::Draft07
    } else {
        Draft::Draft202012
    })
}
