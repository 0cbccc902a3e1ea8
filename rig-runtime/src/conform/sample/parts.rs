//! Which list or object conforms to the rules of a place?

use std::collections::BTreeSet;

use rig_spec::{Contains, ListRules, NodeId, ObjectRules, Pattern};
use serde_json::{Map, Value};

use super::super::ready::Node;
use super::Sampler;

/// How many items or keys more there are than have to be, at most.
const MORE: u64 = 2;
/// The most items or keys of a value.
const MOST_PARTS: usize = 1_000;
/// How often an item is drawn that is not yet in the list, and a key that is not yet in the object.
const TRIES: usize = 24;

impl Sampler<'_> {
    /// Draws a list.
    pub(super) fn list(&mut self, all: &[&Node], hint: &Value, depth: usize) -> Option<Value> {
        let rules: Vec<&ListRules> = all
            .iter()
            .filter_map(|node| node.rules.list.as_ref())
            .collect();
        let wanted = |contains: &Contains| (contains.node, count(contains.fewest));
        let contained: Vec<_> = rules
            .iter()
            .filter_map(|rules| rules.contains.as_ref())
            .map(wanted)
            .collect();
        let fewest = rules.iter().filter_map(|rules| rules.fewest).map(count);
        let fewest = fewest
            .chain(contained.iter().map(|(_, fewest)| *fewest))
            .max()
            .unwrap_or(0);
        let most = rules
            .iter()
            .filter_map(|rules| rules.most)
            .map(count)
            .min()
            .unwrap_or(MOST_PARTS);
        let places = rules
            .iter()
            .map(|rules| rules.first.len())
            .max()
            .unwrap_or(0);
        let usual = if self.is_tight(depth) {
            fewest
        } else {
            places.max(1) + self.chance.below(MORE) as usize
        };
        let length = fewest.max(usual).min(most);
        if fewest > most || fewest > MOST_PARTS {
            return None;
        }
        let unique = rules.iter().any(|rules| rules.unique);
        let mut items: Vec<Value> = Vec::new();
        for at in 0..length {
            let mut nodes: Vec<NodeId> = rules.iter().filter_map(|rules| item(rules, at)).collect();
            let is_one = |(_, fewest): &&(NodeId, usize)| at < *fewest;
            nodes.extend(contained.iter().filter(is_one).map(|(node, _)| *node));
            let hint = hint.get(at).or_else(|| hint.get(0).filter(|_| !unique));
            let drawn = self.item(
                &nodes,
                hint.unwrap_or(&Value::Null),
                depth,
                unique.then_some(&items),
            );
            match drawn {
                Some(item) => items.push(item),
                None if at >= fewest => break,
                None => return None,
            }
        }
        Some(Value::Array(items))
    }

    fn item(
        &mut self,
        nodes: &[NodeId],
        hint: &Value,
        depth: usize,
        others: Option<&Vec<Value>>,
    ) -> Option<Value> {
        let first = self.value(nodes, hint, depth + 1)?;
        let is_there = |item: &Value| others.is_some_and(|others| others.contains(item));
        if !is_there(&first) {
            return Some(first);
        }
        (0..TRIES).find_map(|_| {
            let next = self.value(nodes, &Value::Null, depth + 1);
            next.filter(|item| !is_there(item))
        })
    }

    /// Draws an object.
    pub(super) fn object(&mut self, all: &[&Node], hint: &Value, depth: usize) -> Option<Value> {
        let nodes: Vec<&Node> = all
            .iter()
            .filter(|node| node.rules.object.is_some())
            .copied()
            .collect();
        let rules: Vec<&ObjectRules<'static>> = nodes
            .iter()
            .filter_map(|node| node.rules.object.as_ref())
            .collect();
        let fewest = rules
            .iter()
            .filter_map(|rules| rules.fewest)
            .map(count)
            .max()
            .unwrap_or(0);
        let most = rules
            .iter()
            .filter_map(|rules| rules.most)
            .map(count)
            .min()
            .unwrap_or(MOST_PARTS);
        let mut required: BTreeSet<&str> = BTreeSet::new();
        // Keys in the order of the schema, as models write them.
        let mut known: Vec<&'static str> = Vec::new();
        for key in rules.iter().flat_map(|rules| &rules.keys) {
            if !known.contains(&key.name) {
                known.push(key.name);
            }
            if key.required {
                required.insert(key.name);
            }
        }
        let mut object = Map::new();
        let mut room = most.checked_sub(required.len())?;
        for key in known {
            let needed = required.contains(key);
            let wanted = !self.is_tight(depth) && self.chance.below(8) > 0;
            let short = object.len()
                + required
                    .iter()
                    .filter(|key| !object.contains_key(**key))
                    .count()
                < fewest;
            if !needed && (room == 0 || !(wanted || short)) {
                continue;
            }
            let places: Vec<NodeId> = nodes.iter().flat_map(|node| property(node, key)).collect();
            let hint = hint.get(key).unwrap_or(&Value::Null);
            match self.value(&places, hint, depth + 1) {
                Some(value) => {
                    object.insert(key.to_owned(), value);
                    room -= usize::from(!needed);
                }
                None if needed => return None,
                None => {}
            }
        }
        self.leave_out_what_needs_more(&rules, &mut object, &required);
        let is_map = rules
            .iter()
            .any(|rules| rules.rest.is_some() || !rules.patterns.is_empty());
        let usual = if is_map && object.is_empty() && !self.is_tight(depth) {
            1 + self.chance.below(MORE) as usize
        } else {
            0
        };
        let length = fewest.max(usual).min(most);
        let mut tries = 0;
        while object.len() < length && tries < length + TRIES {
            tries += 1;
            let Some(key) = self.key(&rules, depth) else {
                continue;
            };
            if object.contains_key(&key) {
                continue;
            }
            let places: Vec<NodeId> = nodes.iter().flat_map(|node| property(node, &key)).collect();
            match self.value(&places, &Value::Null, depth + 1) {
                Some(value) => {
                    object.insert(key, value);
                }
                None if object.len() >= fewest => break,
                None => {}
            }
        }
        Some(Value::Object(object))
    }

    /// Takes out optional keys that need others which are not there.
    fn leave_out_what_needs_more(
        &self,
        rules: &[&ObjectRules<'static>],
        object: &mut Map<String, Value>,
        required: &BTreeSet<&str>,
    ) {
        let mut is_done = false;
        while !is_done {
            is_done = true;
            for rules in rules {
                let name = |at: u32| rules.keys.get(at as usize).map_or("", |key| key.name);
                for (key, needs) in &rules.needs {
                    let lacks = needs.iter().any(|need| !object.contains_key(name(*need)));
                    if lacks
                        && !required.contains(name(*key))
                        && object.remove(name(*key)).is_some()
                    {
                        is_done = false;
                    }
                }
            }
        }
    }

    /// Draws a key that no rule names.
    fn key(&mut self, rules: &[&ObjectRules<'static>], depth: usize) -> Option<String> {
        let patterns: Vec<&str> = rules
            .iter()
            .flat_map(|rules| &rules.patterns)
            .map(|(pattern, _)| *pattern)
            .collect();
        let names: Vec<NodeId> = rules.iter().filter_map(|rules| rules.names).collect();
        if !patterns.is_empty() && (names.is_empty() || self.chance.below(2) == 0) {
            let pattern = *self.chance.of(&patterns)?;
            let mut pick = |below| self.chance.below(below);
            return Pattern::example(pattern, &(0..=usize::MAX), &mut pick);
        }
        if !names.is_empty() {
            let name = self.value(&names, &Value::Null, depth + 1)?;
            return name.as_str().map(str::to_owned);
        }
        Some(self.words().replace(' ', "_"))
    }
}

/// Returns what an item at this place has to conform to.
fn item(rules: &ListRules, at: usize) -> Option<NodeId> {
    let place = rules.first.get(at).copied();
    place.or(rules.rest).or(rules.unevaluated)
}

/// Returns what the value of a key has to conform to.
fn property(node: &Node, key: &str) -> Vec<NodeId> {
    let Some(rules) = &node.rules.object else {
        return Vec::new();
    };
    let named = rules
        .keys
        .iter()
        .find(|known| known.name == key && known.node.is_some());
    let by_pattern = node
        .key_patterns
        .iter()
        .filter(|(pattern, _)| pattern.is_match(key) == Some(true));
    let mut nodes: Vec<_> = named.and_then(|key| key.node).into_iter().collect();
    nodes.extend(by_pattern.map(|(_, node)| *node));
    if nodes.is_empty() {
        nodes.extend(rules.rest.or(rules.unevaluated));
    }
    nodes
}

fn count(count: u64) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX)
}
