//! What does the runtime have to know of a schema, to judge answers by it?
//!
//! Turns the tree of a valid, self-contained schema into the flat table of `rig_spec::Gate`: references, anchors,
//! dynamic scopes and dialects end here. A schema that is reached in several dynamic scopes becomes several nodes.
//!
//! **Invariant:** no node judges a value by way of itself, so judging ends.

mod index;
mod rules;
mod uri;

use std::collections::{BTreeMap, HashMap, HashSet};

use rig_spec::{Gate, Node as Compiled, NodeId};

use self::index::{Draft, Index, Place, ResourceId, address};
use crate::diagnostic::{Diagnostic, Sink};
use crate::node::{Kind, Node};

/// Compiles a schema; `others` are documents that it may refer to, with their addresses.
pub(crate) fn compile(root: &Node, others: &[(&str, &Node)], sink: &mut Sink) -> Option<String> {
    let mut compiler = Compiler {
        index: Index::new(root, others),
        scopes: Vec::new(),
        known: HashMap::new(),
        nodes: Vec::new(),
        sources: Vec::new(),
        faults: Vec::new(),
    };
    let scope = compiler.scope(BTreeMap::new());
    compiler.node(root, 0, scope);
    let mut next = 0;
    while let Some(source) = compiler.sources.get(next).copied() {
        if let Some((place, scope)) = source {
            compiler.nodes[next] = compiler.rules(place, scope);
        }
        next += 1;
        if compiler.nodes.len() > MOST_NODES {
            compiler.fault(
                "the schema is too large once its references are followed",
                root,
            );
            break;
        }
    }
    compiler.judging_ends(root);
    let sound = compiler.faults.is_empty();
    compiler.faults.drain(..).for_each(|fault| sink.push(fault));
    let gate = Gate {
        nodes: compiler.nodes,
    };
    sound.then(|| rig_spec::write_gate(&gate))
}

/// The most nodes of a gate.
const MOST_NODES: usize = 200_000;
/// The most conditions that one value goes through, one within the other.
const MOST_NESTED: u32 = 64;
/// The most conditions that one value goes through in all.
const MOST_CONDITIONS: u64 = 100_000;

/// What each dynamic anchor leads to, once it was entered.
type Scope<'a> = BTreeMap<&'a str, (usize, ResourceId)>;

type ScopeId = usize;

struct Compiler<'a> {
    index: Index<'a>,
    scopes: Vec<(Scope<'a>, BTreeMap<&'a str, Place<'a>>)>,
    known: HashMap<(usize, ScopeId), NodeId>,
    nodes: Vec<Compiled<'a>>,
    /// The schema that each node was made from, if there is one.
    sources: Vec<Option<(Place<'a>, ScopeId)>>,
    faults: Vec<Diagnostic>,
}

impl<'a> Compiler<'a> {
    /// Returns the node of a subschema, which is filled in later.
    fn node(&mut self, node: &'a Node, above: ResourceId, scope: ScopeId) -> NodeId {
        let mut place = self.index.place(node, above);
        let mut scope = self.enter(place.resource, scope);
        // What only refers to something else has the node of that; each is followed once.
        let mut followed = Vec::new();
        let mut seen = HashSet::new();
        let id = loop {
            let key = (address(place.node), scope);
            if let Some(known) = self.known.get(&key) {
                break *known;
            }
            let target = self.alias(place, scope);
            if !seen.insert(key) {
                // What only refers to itself says nothing.
                break self.add(Compiled::default(), None);
            }
            followed.push(key);
            let Some(target) = target else {
                break self.add(Compiled::default(), Some((place, scope)));
            };
            (place, scope) = target;
        };
        self.known.extend(followed.into_iter().map(|key| (key, id)));
        id
    }

    fn add(&mut self, node: Compiled<'a>, source: Option<(Place<'a>, ScopeId)>) -> NodeId {
        let id = self.nodes.len();
        self.nodes.push(node);
        self.sources.push(source);
        // There are at most MOST_NODES and the children of one.
        NodeId::try_from(id).unwrap_or(NodeId::MAX)
    }

    /// Returns what a schema stands for that only refers to another.
    fn alias(&mut self, place: Place<'a>, scope: ScopeId) -> Option<(Place<'a>, ScopeId)> {
        let draft = self.index.resources[place.resource].draft;
        if draft == Draft::Draft07 && place.node.get("$ref").is_some() {
            return self.reference(place, "$ref", scope);
        }
        let mut judging = place
            .node
            .entries()
            .iter()
            .filter(|entry| rules::judges(&entry.key, draft));
        let (only, None) = (judging.next()?, judging.next()) else {
            return None;
        };
        match (only.key.as_str(), &only.value.kind) {
            ("$ref" | "$dynamicRef", _) => self.reference(place, &only.key, scope),
            ("allOf", Kind::List(items)) if items.len() == 1 => {
                let inner = self.index.place(&items[0], place.resource);
                let scope = self.enter(inner.resource, scope);
                Some((inner, scope))
            }
            _ => None,
        }
    }

    /// Returns what a reference of a schema leads to.
    fn reference(
        &mut self,
        from: Place<'a>,
        keyword: &str,
        scope: ScopeId,
    ) -> Option<(Place<'a>, ScopeId)> {
        let value = from.node.get(keyword)?;
        let reference = value.as_str()?;
        let Some(mut target) = self.index.resolve(from.resource, reference) else {
            let message = format!("`{keyword}` points at `{reference}`, which is not there");
            self.fault(&message, value);
            return None;
        };
        if keyword == "$dynamicRef"
            && let Some(name) = self.index.dynamic_anchor(target, reference)
            && let Some(outermost) = self.scopes[scope].1.get(name)
        {
            target = *outermost;
        }
        let scope = self.enter(target.resource, scope);
        Some((target, scope))
    }

    /// Returns the scope within a resource that was entered: anchors of outer ones go before its own.
    fn enter(&mut self, resource: ResourceId, scope: ScopeId) -> ScopeId {
        if !self.index.is_dynamic {
            return scope;
        }
        let places = &self.scopes[scope].1;
        let own = &self.index.resources[resource].dynamic;
        let fresh = own.iter().filter(|(name, _)| !places.contains_key(name));
        let fresh: Vec<_> = fresh.copied().collect();
        if fresh.is_empty() {
            return scope;
        }
        let mut places = places.clone();
        for (name, place) in fresh {
            places.entry(name).or_insert(place);
        }
        self.scope(places)
    }

    fn scope(&mut self, places: BTreeMap<&'a str, Place<'a>>) -> ScopeId {
        let scope: Scope<'a> = places
            .iter()
            .map(|(name, place)| (*name, (address(place.node), place.resource)))
            .collect();
        let known = self.scopes.iter().position(|(other, _)| *other == scope);
        known.unwrap_or_else(|| {
            self.scopes.push((scope, places));
            self.scopes.len() - 1
        })
    }

    /// Reports nodes that judge a value by way of themselves, or by too many others.
    fn judging_ends(&mut self, root: &'a Node) {
        let mut costs: Vec<Cost> = vec![Cost::Unknown; self.nodes.len()];
        for start in 0..self.nodes.len() {
            let mut path = vec![(start, false)];
            while let Some((at, is_done)) = path.pop() {
                let inner: Vec<usize> = self.nodes[at].in_place().map(|id| id as usize).collect();
                match (costs[at], is_done) {
                    (Cost::Unknown, false) => {
                        costs[at] = Cost::UnderWay;
                        path.push((at, true));
                        path.extend(inner.into_iter().map(|id| (id, false)));
                    }
                    (Cost::UnderWay, true) => costs[at] = Cost::sum(&inner, &costs),
                    (Cost::UnderWay, false) => {
                        let message = "the schema refers to itself without going into a property or an item, so that judging by it never ends";
                        return self.fault(message, self.node_of(at, root));
                    }
                    (Cost::Known { .. }, _) | (Cost::Unknown, true) => {}
                }
                if let Cost::Known { nested, all } = costs[at]
                    && (nested > MOST_NESTED || all > MOST_CONDITIONS)
                {
                    let message = "the schema puts one value through too many conditions";
                    return self.fault(message, self.node_of(at, root));
                }
            }
        }
    }

    fn node_of(&self, id: usize, root: &'a Node) -> &'a Node {
        self.sources[id].map_or(root, |(place, _)| place.node)
    }

    fn fault(&mut self, message: &str, at: &Node) {
        // The same part can be reached in several ways.
        if self.faults.is_empty() {
            self.faults.push(
                Diagnostic::error("bad-schema", message)
                    .at(at.span)
                    .help("see the JSON Schema reference for what a schema can refer to"),
            );
        }
    }
}

/// How many nodes a node judges a value by.
#[derive(Clone, Copy)]
enum Cost {
    Unknown,
    UnderWay,
    Known { nested: u32, all: u64 },
}

impl Cost {
    fn sum(inner: &[usize], costs: &[Self]) -> Self {
        let (mut most, mut sum) = (0, 1_u64);
        for id in inner {
            if let Some(Self::Known { nested, all }) = costs.get(*id) {
                most = most.max(*nested);
                sum = sum.saturating_add(*all);
            }
        }
        Self::Known {
            nested: most + 1,
            all: sum,
        }
    }
}
