//! What is worked out of a compiled schema, once per process?
//!
//! Patterns, and for each node how a list or an object there can be read: by the rules of one node as it passes,
//! or only once all of it is there.

use std::collections::HashMap;
use std::sync::OnceLock;

use rig_spec::{Kinds, Literal, Logic, Node as Rules, NodeId, Pattern, read_gate};
use serde_json::Value;

use super::judge;
use super::read::{Bits, Fields};
use super::rules::View;
use crate::generated::Scalar;

/// A schema that answers can be judged by.
#[derive(Debug)]
pub(crate) struct Ready {
    pub(super) nodes: Vec<Node>,
}

/// A node and what belongs to it.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) id: NodeId,
    pub(super) rules: Rules<'static>,
    /// The kinds of scalar that conform whatever they are.
    pub(super) free: Kinds,
    /// The places of the keys that an object needs to have.
    pub(super) required: Bits,
    /// The `pattern` of strings.
    pub(super) pattern: Option<Pattern>,
    /// The patterns of keys, as in `patternProperties`.
    pub(super) key_patterns: Vec<(Pattern, NodeId)>,
    /// The lists and objects among the values of `enum`.
    pub(super) composites: Vec<Value>,
    /// The places of the object's keys by name, where there are many.
    by_name: HashMap<&'static str, usize>,
    /// Whether a key has to be looked at to say what its value has to conform to, or whether it may be there.
    pub(super) looks_at_keys: bool,
    /// What is known of the fields of the type that was read by this node first.
    known: OnceLock<(&'static Fields, Vec<Known>)>,
    /// Whether each string of the enum that was read by this node first conforms.
    takes: OnceLock<(&'static [Scalar], bool)>,
    /// How a list is read.
    pub(super) list: Way,
    /// How an object is read.
    pub(super) object: Way,
}

/// What is known of a key of an object.
#[derive(Clone, Copy, Debug)]
pub(super) struct Known {
    /// Its place among those that a rule names.
    pub(super) key: Option<u32>,
    /// What its value has to conform to, if no key has to be looked at for that.
    pub(super) rule: Option<NodeId>,
}

/// How a list or an object is read.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Way {
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
pub(super) struct Tag {
    pub(super) key: &'static str,
    cases: Vec<(&'static str, NodeId)>,
}

/// Objects with more keys are searched by a table.
const FEW: usize = 8;

impl Ready {
    /// Reads a compiled schema.
    pub(crate) fn new(gate: &'static str) -> Result<Self, String> {
        let gate = read_gate(gate).filter(|gate| !gate.nodes.is_empty());
        let nodes = gate.ok_or("it was compiled for another version")?.nodes;
        let ways: Vec<_> = (0..nodes.len())
            .map(|id| [Kinds::LIST, Kinds::OBJECT].map(|kind| way(&nodes, id, kind, 0)))
            .collect();
        let free: Vec<_> = (0..)
            .zip(&nodes)
            .map(|(id, _)| free(&nodes, id, 0))
            .collect();
        let nodes: Result<_, String> = (0..)
            .zip(nodes)
            .zip(ways.into_iter().zip(free))
            .map(|((id, rules), (ways, free))| Node::new(id, rules, ways, free))
            .collect();
        Ok(Self { nodes: nodes? })
    }

    pub(super) fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id as usize]
    }
}

impl Tag {
    /// Returns the branch of a value.
    pub(super) fn branch(&self, value: &str) -> Option<NodeId> {
        let mut cases = self.cases.iter();
        let found = cases.find(|(case, _)| *case == value);
        found.map(|(_, branch)| *branch)
    }

    /// Returns every value, in order.
    pub(super) fn values(&self) -> impl Iterator<Item = &'static str> {
        self.cases.iter().map(|(case, _)| *case)
    }
}

impl Node {
    fn new(
        id: NodeId,
        rules: Rules<'static>,
        [list, object]: [Way; 2],
        free: Kinds,
    ) -> Result<Self, String> {
        let pattern = |pattern: &str| Pattern::new(pattern).map_err(|fault| fault.reason);
        let of_object = rules.object.iter();
        let key_patterns = of_object
            .clone()
            .flat_map(|rules| &rules.patterns)
            .map(|(text, node)| Ok((pattern(text)?, *node)))
            .collect::<Result<_, String>>()?;
        let keys = of_object.flat_map(|rules| rules.keys.iter().enumerate());
        let by_name: HashMap<_, _> = keys.map(|(at, key)| (key.name, at)).collect();
        let keys = rules.object.iter().flat_map(|rules| &rules.keys);
        let keys = keys.enumerate();
        let mut required = Bits::default();
        for (at, _) in keys.filter(|(_, key)| key.required) {
            required.add(at);
        }
        let values = rules.values.iter().flat_map(|values| &values.all);
        let composites = values
            .filter_map(|value| match value {
                Literal::Json(json) => Some(serde_json::from_str(json)),
                _ => None,
            })
            .collect::<Result<_, _>>();
        Ok(Self {
            id,
            free,
            required,
            pattern: rules
                .text
                .as_ref()
                .and_then(|text| text.pattern)
                .map(pattern)
                .transpose()?,
            key_patterns,
            composites: composites.map_err(|error| error.to_string())?,
            by_name: if by_name.len() > FEW {
                by_name
            } else {
                HashMap::new()
            },
            looks_at_keys: rules.object.as_ref().is_some_and(|object| {
                object.most.is_some() || object.names.is_some() || !object.patterns.is_empty()
            }),
            known: OnceLock::new(),
            takes: OnceLock::new(),
            rules,
            list,
            object,
        })
    }

    /// Returns the place of a key among the object's.
    pub(super) fn key(&self, name: &str) -> Option<usize> {
        let keys = &self.rules.object.as_ref()?.keys;
        if keys.len() > FEW {
            return self.by_name.get(name).copied();
        }
        keys.iter().position(|key| key.name == name)
    }

    /// Returns what is known of a key.
    pub(super) fn known_key(&self, name: &str) -> Known {
        let object = self.rules.object.as_ref();
        let key = self.key(name);
        let listed = key.and_then(|at| object?.keys[at].node);
        Known {
            key: key.and_then(|at| at.try_into().ok()),
            rule: listed.or(object.and_then(|object| object.rest)),
        }
    }

    /// Returns what is known of each field; `None` for any type but the first that was read by this node, and where
    /// keys have to be looked at.
    pub(super) fn known(&self, fields: &'static Fields) -> Option<&[Known]> {
        if self.looks_at_keys {
            return None;
        }
        let (of, known) = self.known.get_or_init(|| {
            let known = fields.names().iter().map(|name| self.known_key(name));
            (fields, known.collect())
        });
        std::ptr::eq(*of, fields).then_some(known)
    }

    /// Returns whether it is known that each of an enum's strings conforms.
    pub(super) fn takes(&self, values: &'static [Scalar], ready: &Ready) -> bool {
        let (of, takes) = self.takes.get_or_init(|| {
            let takes = values.iter().all(|value| match value {
                Scalar::String(text) => judge::conforms(ready, self, View::Text(text)),
                _ => true,
            });
            (values, takes)
        });
        *takes && std::ptr::eq(*of, values)
    }
}

/// Returns the kinds of scalar that conform to a node whatever they are, as far as is easily said.
fn free(nodes: &[Rules<'_>], id: NodeId, depth: u32) -> Kinds {
    let Some(rules) = nodes.get(id as usize).filter(|_| depth < DEEPEST) else {
        return Kinds::NONE;
    };
    if rules.values.is_some() {
        return Kinds::NONE;
    }
    let mut free = rules.kinds.0 & !(Kinds::LIST.0 | Kinds::OBJECT.0);
    if rules.number.is_some() {
        free &= !(Kinds::INTEGER.0 | Kinds::FRACTION.0);
    }
    if rules.text.is_some() {
        free &= !Kinds::STRING.0;
    }
    for logic in &rules.logic {
        let of = |id: &NodeId| self::free(nodes, *id, depth + 1).0;
        free &= match logic {
            Logic::All(all) => all.iter().map(of).fold(free, |all, kinds| all & kinds),
            Logic::Any(any) => any.iter().map(of).fold(0, |any, kinds| any | kinds),
            Logic::One(_) | Logic::Not(_) | Logic::If(..) => 0,
        };
    }
    Kinds(free)
}

/// How deep conditions are followed; the route compiler lets through no deeper ones.
const DEEPEST: u32 = 80;

fn way(nodes: &[Rules<'static>], id: usize, kind: Kinds, depth: u32) -> Way {
    let Some(rules) = nodes.get(id).filter(|_| depth < DEEPEST) else {
        return Way::Whole;
    };
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
        Some(false) => NodeId::try_from(id).map_or(Way::Whole, Way::By),
    };
    let of = |id: &NodeId| way(nodes, *id as usize, kind, depth + 1);
    let logic = rules.logic.iter().map(|logic| match logic {
        Logic::All(all) => every(all.iter().map(of)),
        Logic::Any(any) => {
            let ways: Vec<_> = any.iter().map(of).collect();
            if ways.contains(&Way::Free) {
                return Way::Free;
            }
            one(nodes, ways)
        }
        Logic::One(any) => one(nodes, any.iter().map(of).collect()),
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
    });
    every(std::iter::once(own).chain(logic))
}

/// Returns the way of what has to conform to each.
fn every(ways: impl Iterator<Item = Way>) -> Way {
    let mut found = Way::Free;
    for way in ways {
        found = match (found, way) {
            (Way::Never, _) | (_, Way::Never) => Way::Never,
            (Way::Free, way) | (way, Way::Free) => way,
            (one, other) if one == other => one,
            _ => Way::Whole,
        };
    }
    found
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
