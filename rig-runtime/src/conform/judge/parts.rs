//! Do the items of a list and the properties of an object conform?

use rig_spec::{ListRules, NodeId, ObjectRules};
use serde_json::{Map, Value};

use super::{Judge, Marks};
use crate::conform::problem::{Place, unexpected};
use crate::conform::ready::Node;
use crate::conform::rules::View;

impl<'r, 'v> Judge<'r, 'v> {
    pub(super) fn list(
        &mut self,
        rules: &ListRules,
        items: &'v [Value],
        place: &Place<'_>,
        mut marks: Option<&mut Marks<'v>>,
    ) -> bool {
        let mut good = true;
        for (at, item) in items.iter().enumerate() {
            let Some(node) = rules.first.get(at).copied().or(rules.rest) else {
                break;
            };
            good &= self.node(node, item.into(), &Place::Item(place, at), None);
            if !good && self.is_done() {
                return false;
            }
            if let Some(marks) = &mut marks {
                marks.items.insert(at);
            }
        }
        let Some(contains) = &rules.contains else {
            return good;
        };
        let mut found = 0_u64;
        for (at, item) in items.iter().enumerate() {
            if self.quietly(|judge| judge.node(contains.node, item.into(), place, None)) {
                found += 1;
                if let Some(marks) = &mut marks {
                    marks.items.insert(at);
                }
            }
        }
        if found < contains.fewest || contains.most.is_some_and(|most| found > most) {
            self.miss(place, "contains", || {
                format!("{found} of its items are what the schema asks it to contain")
            });
            good = false;
        }
        good
    }

    pub(super) fn object(
        &mut self,
        node: &'r Node,
        rules: &'r ObjectRules<'static>,
        entries: &'v Map<String, Value>,
        place: &Place<'_>,
        mut marks: Option<&mut Marks<'v>>,
    ) -> bool {
        let mut good = self.keys_are_there(rules, entries, place);
        let mut extra = Vec::new();
        for (key, value) in entries {
            if !good && self.is_done() {
                return false;
            }
            let inner = Place::Key(place, key);
            if let Some(names) = rules.names
                && !self.quietly(|judge| judge.node(names, View::Text(key), &inner, None))
            {
                self.miss(place, "propertyNames", || {
                    format!("{key:?} is not a name that a property can have here")
                });
                good = false;
            }
            let mut is_known = false;
            let listed = node.key(key).and_then(|at| rules.keys[at].node);
            for node in listed.into_iter().chain(self.matching(node, key)) {
                is_known = true;
                good &= self.node(node, value.into(), &inner, None);
            }
            if let Some(rest) = rules.rest.filter(|_| !is_known) {
                is_known = true;
                if self.ready.node(rest).rules.kinds == rig_spec::Kinds::NONE {
                    extra.push(key.as_str());
                    good = false;
                } else {
                    good &= self.node(rest, value.into(), &inner, None);
                }
            }
            if let (true, Some(marks)) = (is_known, &mut marks) {
                marks.keys.insert(key);
            }
        }
        if !extra.is_empty() {
            self.miss(place, "additionalProperties", || {
                unexpected("Additional", &extra)
            });
        }
        for (key, node) in &rules.dependents {
            if entries.contains_key(rules.keys[*key as usize].name) {
                good &= self.and_mark(*node, View::Object(entries), place, marks.as_deref_mut());
            }
        }
        good
    }

    /// Returns the nodes whose pattern a key matches.
    fn matching(&mut self, node: &Node, key: &str) -> Vec<NodeId> {
        let mut nodes = Vec::new();
        for (pattern, node) in &node.key_patterns {
            match pattern.is_match(key) {
                Some(true) => nodes.push(*node),
                Some(false) => {}
                None => self.in_doubt = true,
            }
        }
        nodes
    }

    fn keys_are_there(
        &mut self,
        rules: &ObjectRules<'static>,
        entries: &Map<String, Value>,
        place: &Place<'_>,
    ) -> bool {
        let required = rules.keys.iter().filter(|key| key.required);
        let required = required.map(|key| ("required", key.name));
        let needs = rules
            .needs
            .iter()
            .filter(|(key, _)| entries.contains_key(rules.keys[*key as usize].name));
        let needed = needs.flat_map(|(_, needed)| needed);
        let needed = needed.map(|key| ("dependentRequired", rules.keys[*key as usize].name));
        let mut good = true;
        for (keyword, name) in required.chain(needed) {
            if !entries.contains_key(name) {
                self.miss(place, keyword, || {
                    format!("{name:?} is a required property")
                });
                good = false;
            }
        }
        good
    }
}
