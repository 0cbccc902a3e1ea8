//! What could an answer be that conforms to a schema?
//!
//! A value is drawn along the compiled schema and then judged as any answer is, part by part: what the rules of a place
//! ask for one by one is met on purpose, what they ask for together (`not`, `oneOf`, `if`) by drawing again. The same
//! seed draws the same value.

mod parts;
mod scalar;

use std::collections::HashSet;

use rig_spec::{Kinds, Literal, Logic, NodeId};
use serde_json::Value;

use super::judge;
use super::ready::{Node, Ready};

/// Draws values that conform to a schema.
pub(super) struct Sampler<'r> {
    ready: &'r Ready,
    /// The fewest levels of a value of each node.
    heights: Vec<u32>,
    chance: Chance,
    /// How many values were drawn so far.
    drawn: usize,
}

/// Numbers at random, the same for the same seed (splitmix64).
pub(super) struct Chance(u64);

/// The nodes that judge one value together, with the branches that were chosen for it.
#[derive(Default)]
struct Place {
    nodes: Vec<NodeId>,
    seen: HashSet<NodeId>,
}

/// How often a value is drawn anew before its place is given up.
const TRIES: usize = 16;
/// How many values are drawn for one answer at most.
const MOST: usize = 4_000;
/// From how many values on only what has to be there is drawn.
const MANY: usize = 150;
/// From how many levels on only what has to be there is drawn.
const DEEP: usize = 5;
/// The most levels of an answer.
const DEEPEST: usize = 64;
/// A height that no value has.
const NEVER: u32 = u32::MAX;

impl Chance {
    /// Returns a number below this one; 0 where there is none.
    pub(super) fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)).checked_rem(end).unwrap_or(0)
    }

    fn of<'a, T>(&mut self, items: &'a [T]) -> Option<&'a T> {
        items.get(self.below(items.len() as u64) as usize)
    }
}

impl<'r> Sampler<'r> {
    pub(super) fn new(ready: &'r Ready, seed: u64) -> Self {
        Self {
            ready,
            heights: heights(ready),
            chance: Chance(seed),
            drawn: 0,
        }
    }

    /// Returns an answer; `None` if none was found. Where the hint has a text of its own in a place, it is taken.
    pub(super) fn answer(&mut self, hint: &Value) -> Option<Value> {
        self.value(&[0], hint, 0)
    }

    /// Returns a value that conforms to all of these nodes.
    fn value(&mut self, nodes: &[NodeId], hint: &Value, depth: usize) -> Option<Value> {
        for _ in 0..TRIES {
            self.drawn += 1;
            if self.drawn > MOST || depth > DEEPEST {
                return None;
            }
            let drawn = self.draw(nodes, hint, depth);
            if let Some(value) = drawn.filter(|value| self.conforms(nodes, value)) {
                return Some(value);
            }
        }
        None
    }

    fn conforms(&self, nodes: &[NodeId], value: &Value) -> bool {
        let conforms =
            |id: &NodeId| judge::conforms(self.ready, self.ready.node(*id), value.into());
        nodes.iter().all(conforms)
    }

    fn draw(&mut self, nodes: &[NodeId], hint: &Value, depth: usize) -> Option<Value> {
        let mut place = Place::default();
        for node in nodes {
            self.gather(*node, &mut place, depth);
        }
        let all: Vec<&'r Node> = place.nodes.iter().map(|id| self.ready.node(*id)).collect();
        if let Some(values) = all.iter().find_map(|node| node.rules.values.as_ref()) {
            let values: Vec<Value> = values.all.iter().filter_map(literal).collect();
            let good = |value: &&Value| self.conforms(nodes, value);
            let good: Vec<_> = values.iter().filter(good).collect();
            return self.chance.of(&good).map(|value| (*value).clone());
        }
        match self.kind(&all)? {
            Kinds::LIST => self.list(&all, hint, depth),
            Kinds::OBJECT => self.object(&all, hint, depth),
            Kinds::STRING => self.text(&all, hint),
            Kinds::INTEGER => self.number(&all, true),
            Kinds::FRACTION => self.number(&all, false),
            Kinds::BOOLEAN => Some(Value::Bool(self.chance.below(2) == 0)),
            _ => Some(Value::Null),
        }
    }

    /// Notes the nodes that judge a value beside one, and chooses where there is a choice.
    fn gather(&mut self, id: NodeId, place: &mut Place, depth: usize) {
        if !place.seen.insert(id) {
            return;
        }
        place.nodes.push(id);
        let node = self.ready.node(id);
        for logic in &node.rules.logic {
            match logic {
                Logic::All(nodes) => nodes.iter().for_each(|id| self.gather(*id, place, depth)),
                Logic::Any(nodes) | Logic::One(nodes) => {
                    if let Some(branch) = self.branch(nodes, depth) {
                        self.gather(branch, place, depth);
                    }
                }
                // What must not be is seen when the value is judged.
                Logic::Not(_) => {}
                Logic::If(condition, then, otherwise) => {
                    if self.chance.below(2) == 0 {
                        self.gather(*condition, place, depth);
                        then.iter().for_each(|id| self.gather(*id, place, depth));
                    } else {
                        otherwise
                            .iter()
                            .for_each(|id| self.gather(*id, place, depth));
                    }
                }
            }
        }
        let dependents = node.rules.object.iter().flat_map(|rules| &rules.dependents);
        for (_, dependent) in dependents {
            if self.chance.below(2) == 0 {
                self.gather(*dependent, place, depth);
            }
        }
    }

    /// Chooses a branch: rather one that is more than null, and far down the lowest one.
    fn branch(&mut self, nodes: &[NodeId], depth: usize) -> Option<NodeId> {
        let height = |id: &NodeId| self.heights.get(*id as usize).copied().unwrap_or(NEVER);
        if self.is_tight(depth) {
            return nodes.iter().copied().min_by_key(height);
        }
        let is_null = |id: &NodeId| self.ready.node(*id).rules.kinds == Kinds::NULL;
        let possible = nodes.iter().copied().filter(|id| height(id) != NEVER);
        let (nulls, others): (Vec<_>, Vec<_>) = possible.partition(is_null);
        let others = if others.is_empty() || self.chance.below(8) == 0 {
            [others, nulls].concat()
        } else {
            others
        };
        self.chance.of(&others).copied()
    }

    /// Chooses the kind of a value: rather one that a rule speaks of.
    fn kind(&mut self, all: &[&Node]) -> Option<Kinds> {
        const KINDS: [(Kinds, u64); 7] = [
            (Kinds::STRING, 8),
            (Kinds::INTEGER, 8),
            (Kinds::FRACTION, 8),
            (Kinds::BOOLEAN, 8),
            (Kinds::LIST, 8),
            (Kinds::OBJECT, 8),
            (Kinds::NULL, 1),
        ];
        let taken = all
            .iter()
            .fold(Kinds::ALL.0, |kinds, node| kinds & node.rules.kinds.0);
        let spoken_of = all.iter().fold(Kinds::NONE, |kinds, node| {
            let number = Kinds::INTEGER.and(Kinds::FRACTION);
            let rules = &node.rules;
            [
                (rules.object.is_some(), Kinds::OBJECT),
                (rules.list.is_some(), Kinds::LIST),
                (rules.text.is_some(), Kinds::STRING),
                (rules.number.is_some(), number),
            ]
            .into_iter()
            .filter(|(speaks, _)| *speaks)
            .fold(kinds, |kinds, (_, kind)| kinds.and(kind))
        });
        let wanted = match Kinds(taken & spoken_of.0) {
            // A place without rules is a text, if it may be one.
            Kinds::NONE if taken == Kinds::ALL.0 => Kinds::STRING,
            Kinds::NONE => Kinds(taken),
            // Null is often allowed beside what the rules are for.
            kinds => kinds.and(Kinds(taken & Kinds::NULL.0)),
        };
        let possible: Vec<_> = KINDS
            .iter()
            .filter(|(kind, _)| wanted.meets(*kind))
            .collect();
        let mut at = self
            .chance
            .below(possible.iter().map(|(_, weight)| weight).sum());
        possible.into_iter().find_map(|(kind, weight)| {
            let found = at < *weight;
            at = at.saturating_sub(*weight);
            found.then_some(*kind)
        })
    }

    /// Returns whether only what has to be there is drawn.
    fn is_tight(&self, depth: usize) -> bool {
        depth > DEEP || self.drawn > MANY
    }
}

fn literal(literal: &Literal<'_>) -> Option<Value> {
    Some(match literal {
        Literal::Null => Value::Null,
        Literal::Bool(value) => Value::Bool(*value),
        Literal::Number(number) => scalar::json(*number)?,
        Literal::Text(text) => Value::String((*text).to_owned()),
        Literal::Json(json) => serde_json::from_str(json).ok()?,
    })
}

/// Returns the fewest levels of a value of each node, so that a recursion can be ended.
fn heights(ready: &Ready) -> Vec<u32> {
    let mut heights = vec![NEVER; ready.nodes.len()];
    loop {
        let next: Vec<_> = ready
            .nodes
            .iter()
            .map(|node| height(node, &heights))
            .collect();
        // Heights only fall, and none below zero.
        if next == heights {
            return heights;
        }
        heights = next;
    }
}

fn height(node: &Node, heights: &[u32]) -> u32 {
    let of = |id: NodeId| heights.get(id as usize).copied().unwrap_or(NEVER);
    let rules = &node.rules;
    let scalars = Kinds(Kinds::ALL.0 & !Kinds::LIST.0 & !Kinds::OBJECT.0);
    let own = if rules.values.is_some() || rules.kinds.meets(scalars) {
        0
    } else if rules.kinds == Kinds::NONE {
        NEVER
    } else {
        let of_list = rules.kinds.meets(Kinds::LIST).then(|| {
            let list = rules.list.as_ref();
            let items = list.filter(|list| list.fewest.unwrap_or(0) > 0);
            let items = items
                .into_iter()
                .flat_map(|list| list.first.iter().chain(&list.rest));
            items.map(|id| of(*id)).max().unwrap_or(0)
        });
        let of_object = rules.kinds.meets(Kinds::OBJECT).then(|| {
            let keys = rules.object.iter().flat_map(|object| &object.keys);
            let required = keys.filter(|key| key.required).filter_map(|key| key.node);
            required.map(of).max().unwrap_or(0)
        });
        let least = of_list.into_iter().chain(of_object).min();
        least.map_or(NEVER, |least| least.saturating_add(1))
    };
    rules.logic.iter().fold(own, |height, logic| {
        height.max(match logic {
            Logic::All(nodes) => nodes.iter().map(|id| of(*id)).max().unwrap_or(0),
            Logic::Any(nodes) | Logic::One(nodes) => {
                nodes.iter().map(|id| of(*id)).min().unwrap_or(NEVER)
            }
            Logic::Not(_) | Logic::If(..) => 0,
        })
    })
}
