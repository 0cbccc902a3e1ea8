//! What is worked out of a compiled schema, once per process?
//!
//! Patterns, and for each node how a list or an object there can be read: by the rules of one node as it passes,
//! or only once all of it is there.

mod way;

use std::collections::HashMap;
use std::sync::OnceLock;

use rig_spec::{Kinds, Literal, Node as Rules, NodeId, Pattern, read_gate};
use serde_json::Value;

use super::judge;
use super::read::{Bits, Fields};
use super::rules::View;
use crate::generated::Scalar;
use way::Ways;
pub(super) use way::{Tag, Way};

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
    /// Whether a value may be judged by it in more than one way: several nodes name it.
    pub(super) is_shared: bool,
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

/// What the nodes say together about one of them.
struct Reading {
    id: NodeId,
    is_shared: bool,
    list: Way,
    object: Way,
    free: Kinds,
}

/// What is known of a key of an object.
#[derive(Clone, Copy, Debug)]
pub(super) struct Known {
    /// Its place among those that a rule names.
    pub(super) key: Option<u32>,
    /// What its value has to conform to, if no key has to be looked at for that.
    pub(super) rule: Option<NodeId>,
}

/// Objects with more keys are searched by a table.
const FEW: usize = 8;

impl Ready {
    /// Reads a compiled schema.
    pub(crate) fn new(gate: &'static str) -> Result<Self, String> {
        let gate = read_gate(gate).filter(|gate| !gate.nodes.is_empty());
        let nodes = gate.ok_or("it was compiled for another version")?.nodes;
        let mut named = vec![0_u32; nodes.len()];
        for id in nodes
            .iter()
            .flat_map(|node| node.in_place().chain(node.below()))
        {
            named[id as usize] += 1;
        }
        let mut known = Ways::new(&nodes);
        let mut of = |id| Reading {
            id,
            is_shared: named[id as usize] > 1,
            list: known.way(id, Kinds::LIST, 0),
            object: known.way(id, Kinds::OBJECT, 0),
            free: known.free(id, 0),
        };
        let readings: Vec<_> = (0..).zip(&nodes).map(|(id, _)| of(id)).collect();
        let nodes = nodes.into_iter().zip(readings);
        let nodes: Result<_, String> = nodes
            .map(|(rules, reading)| Node::new(rules, reading))
            .collect();
        Ok(Self { nodes: nodes? })
    }

    pub(super) fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id as usize]
    }
}

impl Node {
    fn new(rules: Rules<'static>, reading: Reading) -> Result<Self, String> {
        let Reading {
            id,
            is_shared,
            list,
            object,
            free,
        } = reading;
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
            is_shared,
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
