//! How can a list or an object be read by a node, and which scalars conform to it in any case?
//!
//! Nodes refer to nodes: what was said of one is kept, since many may refer to it.

use std::collections::HashMap;

use rig_spec::{Kinds, Literal, Logic, Node as Rules, NodeId};

/// How a list or an object is read.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::conform) enum Way {
    /// Not at all: none conforms.
    Never,
    /// As it comes: every one conforms.
    Free,
    /// By the rules of this node.
    By(NodeId),
    /// By the rules of the node that the value of a key decides.
    Tagged(Tag),
    /// As a whole, and then it is judged.
    Whole,
}

/// A key whose value tells the branches of a union apart. It has to be there, and has to be one of these.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::conform) struct Tag {
    pub(in crate::conform) key: &'static str,
    cases: Vec<(&'static str, NodeId)>,
}

impl Tag {
    /// Returns the branch of a value.
    pub(in crate::conform) fn branch(&self, value: &str) -> Option<NodeId> {
        let mut cases = self.cases.iter();
        let found = cases.find(|(case, _)| *case == value);
        found.map(|(_, branch)| *branch)
    }

    /// Returns every value, in order.
    pub(in crate::conform) fn values(&self) -> impl Iterator<Item = &'static str> {
        self.cases.iter().map(|(case, _)| *case)
    }
}

/// What was said of the nodes so far.
pub(super) struct Ways<'n> {
    nodes: &'n [Rules<'static>],
    known: HashMap<(NodeId, u8), Way>,
    free: HashMap<NodeId, Kinds>,
}

/// How deep conditions are followed; the route compiler lets through no deeper ones.
const DEEPEST: u32 = 80;

impl<'n> Ways<'n> {
    pub(super) fn new(nodes: &'n [Rules<'static>]) -> Self {
        Self {
            nodes,
            known: HashMap::new(),
            free: HashMap::new(),
        }
    }

    fn rules(&self, id: NodeId, depth: u32) -> Option<&'n Rules<'static>> {
        let found = usize::try_from(id).ok().and_then(|id| self.nodes.get(id));
        found.filter(|_| depth < DEEPEST)
    }

    /// Returns the kinds of scalar that conform to a node whatever they are, as far as is easily said.
    pub(super) fn free(&mut self, id: NodeId, depth: u32) -> Kinds {
        if let Some(known) = self.free.get(&id) {
            return *known;
        }
        let Some(rules) = self.rules(id, depth) else {
            return Kinds::NONE;
        };
        let mut free = rules.kinds.0 & !(Kinds::LIST.0 | Kinds::OBJECT.0);
        if rules.values.is_some() {
            free = 0;
        }
        if rules.number.is_some() {
            free &= !(Kinds::INTEGER.0 | Kinds::FRACTION.0);
        }
        if rules.text.is_some() {
            free &= !Kinds::STRING.0;
        }
        for logic in &rules.logic {
            let mut of = |id: &NodeId| self.free(*id, depth + 1).0;
            free &= match logic {
                Logic::All(all) => all.iter().map(of).fold(free, |all, kinds| all & kinds),
                Logic::Any(any) => any.iter().map(&mut of).fold(0, |any, kinds| any | kinds),
                Logic::One(_) | Logic::Not(_) | Logic::If(..) => 0,
            };
        }
        self.free.insert(id, Kinds(free));
        Kinds(free)
    }

    /// Returns how a list or an object is read by a node.
    pub(super) fn way(&mut self, id: NodeId, kind: Kinds, depth: u32) -> Way {
        if let Some(known) = self.known.get(&(id, kind.0)) {
            return known.clone();
        }
        let way = match self.rules(id, depth) {
            Some(rules) => self.fresh(id, rules, kind, depth),
            None => Way::Whole,
        };
        self.known.insert((id, kind.0), way.clone());
        way
    }

    fn fresh(&mut self, id: NodeId, rules: &Rules<'static>, kind: Kinds, depth: u32) -> Way {
        if !rules.kinds.meets(kind) {
            return Way::Never;
        }
        if let Some(values) = &rules.values {
            let possible = values.all.iter().any(|value| value.kind() == kind);
            return if possible { Way::Whole } else { Way::Never };
        }
        let own = match kind {
            Kinds::LIST => rules
                .list
                .as_ref()
                .map(|list| list.unique || list.contains.is_some() || list.unevaluated.is_some()),
            _ => rules
                .object
                .as_ref()
                .map(|object| !object.dependents.is_empty() || object.unevaluated.is_some()),
        };
        let own = match own {
            None => Way::Free,
            Some(true) => Way::Whole,
            Some(false) => Way::By(id),
        };
        rules.logic.iter().fold(own, |way, logic| {
            both(way, self.of_logic(logic, kind, depth + 1))
        })
    }

    fn of_logic(&mut self, logic: &Logic, kind: Kinds, depth: u32) -> Way {
        let mut of = |id: &NodeId| self.way(*id, kind, depth);
        match logic {
            Logic::All(all) => all.iter().map(of).fold(Way::Free, both),
            Logic::Any(any) => {
                let ways: Vec<_> = any.iter().map(of).collect();
                if ways.contains(&Way::Free) {
                    return Way::Free;
                }
                one(self.nodes, ways)
            }
            Logic::One(any) => {
                let ways = any.iter().map(of).collect();
                one(self.nodes, ways)
            }
            Logic::Not(not) => match of(not) {
                Way::Never => Way::Free,
                Way::Free => Way::Never,
                Way::By(_) | Way::Tagged(_) | Way::Whole => Way::Whole,
            },
            Logic::If(condition, then, otherwise) => {
                let branch = match of(condition) {
                    Way::Never => otherwise,
                    Way::Free => then,
                    Way::By(_) | Way::Tagged(_) | Way::Whole => return Way::Whole,
                };
                branch.as_ref().map_or(Way::Free, of)
            }
        }
    }
}

/// Returns the way of what has to conform to both.
fn both(one: Way, other: Way) -> Way {
    match (one, other) {
        (Way::Never, _) | (_, Way::Never) => Way::Never,
        (Way::Free, way) | (way, Way::Free) => way,
        (one, other) if one == other => one,
        _ => Way::Whole,
    }
}

/// Returns the way of what has to conform to exactly one, or to one or more.
fn one(nodes: &[Rules<'static>], mut ways: Vec<Way>) -> Way {
    ways.retain(|way| *way != Way::Never);
    match ways.len() {
        0 => Way::Never,
        1 => ways.remove(0),
        _ => tagged(nodes, &ways).map_or(Way::Whole, Way::Tagged),
    }
}

/// Returns the key that tells all these branches apart, if there is one.
fn tagged(nodes: &[Rules<'static>], ways: &[Way]) -> Option<Tag> {
    let branches: Option<Vec<NodeId>> = ways
        .iter()
        .map(|way| match way {
            Way::By(id) => Some(*id),
            _ => None,
        })
        .collect();
    let branches = branches?;
    let first = nodes.get(*branches.first()? as usize)?.object.as_ref()?;
    first.keys.iter().find_map(|key| {
        let mut cases = Vec::new();
        for branch in &branches {
            let values = tag_values(nodes, *branch, key.name)?;
            cases.extend(values.into_iter().map(|value| (value, *branch)));
        }
        cases.sort_unstable();
        let mut pairs = cases.windows(2);
        if pairs.any(|pair| pair[0].0 == pair[1].0) {
            return None;
        }
        Some(Tag {
            key: key.name,
            cases,
        })
    })
}

/// Returns the strings that a key of a branch can have, where it has to be there and can be nothing else.
fn tag_values(nodes: &[Rules<'static>], branch: NodeId, key: &str) -> Option<Vec<&'static str>> {
    let keys = &nodes.get(branch as usize)?.object.as_ref()?.keys;
    let key = keys
        .iter()
        .find(|known| known.name == key && known.required)?;
    let values = nodes.get(key.node? as usize)?.values.as_ref()?;
    let texts = values.all.iter().map(|value| match value {
        Literal::Text(text) => Some(*text),
        _ => None,
    });
    texts.collect()
}
