//! Does a value conform to a node, and if not, what is wrong with it?
//!
//! One walk answers both: quietly it stops at the first miss, else it collects all of them. What was judged once is
//! not judged again, so the work is bounded by nodes times values however the branches of unions nest.

mod branches;

use std::collections::{BTreeSet, HashMap};

use rig_spec::{ListRules, NodeId, ObjectRules};
use serde_json::{Map, Value};

use super::problem::{Place, Problem, unexpected};
use super::ready::{Node, Ready};
use super::rules::{self, Address, View};

/// Returns whether a value conforms.
pub(super) fn conforms(ready: &Ready, node: &Node, value: View<'_>) -> bool {
    // Most values are scalars without conditions.
    if value.address().is_none() && node.rules.logic.is_empty() {
        return matches!(rules::missed(node, value), Ok(None));
    }
    let mut judge = Judge::new(ready, None);
    judge.node(node.id, value, &Place::Top, None) && !judge.in_doubt
}

/// Returns what is wrong with a value: nothing if it conforms, at most `most` problems if it does not.
pub(super) fn problems(ready: &Ready, value: &Value, most: usize) -> Vec<Problem> {
    if conforms(ready, ready.node(0), value.into()) {
        return Vec::new();
    }
    let mut judge = Judge::new(ready, Some(most));
    judge.node(0, value.into(), &Place::Top, None);
    if judge.problems.is_empty() {
        // What cannot be decided is not let through.
        let reason = "it nests too deeply, or a pattern takes too long to search for";
        judge.miss(&Place::Top, "limits", || reason.to_owned());
    }
    judge.problems
}

/// Judging nests no deeper than this: the nesting of values times that of conditions.
const DEEPEST: u32 = 1_000;

struct Judge<'r> {
    ready: &'r Ready,
    /// How many problems are wanted; `None` while it is quiet.
    most: Option<usize>,
    problems: Vec<Problem>,
    /// What was judged quietly, by node and by the address of the list or object.
    known: HashMap<(NodeId, Address), bool>,
    depth: u32,
    /// Whether something could not be decided.
    in_doubt: bool,
}

/// The parts of a value that some rule has looked at.
#[derive(Default)]
struct Marks<'v> {
    keys: BTreeSet<&'v str>,
    items: BTreeSet<usize>,
}

impl<'r> Judge<'r> {
    fn new(ready: &'r Ready, most: Option<usize>) -> Self {
        Self {
            ready,
            most,
            problems: Vec::new(),
            known: HashMap::new(),
            depth: 0,
            in_doubt: false,
        }
    }

    /// Judges a value by a node; `marks` takes what it looked at.
    fn node<'v>(
        &mut self,
        id: NodeId,
        value: View<'v>,
        place: &Place<'_>,
        marks: Option<&mut Marks<'v>>,
    ) -> bool {
        if self.depth == DEEPEST {
            self.in_doubt = true;
            return false;
        }
        self.depth += 1;
        let node = self.ready.node(id);
        // Only where there are branches could the same be judged again.
        let key = value.address().filter(|_| !node.rules.logic.is_empty());
        let good = match key {
            Some(address) if marks.is_none() => self.once((id, address), node, value, place),
            _ => self.judge(node, value, place, marks),
        };
        self.depth -= 1;
        good
    }

    fn once<'v>(
        &mut self,
        key: (NodeId, Address),
        node: &'r Node,
        value: View<'v>,
        place: &Place<'_>,
    ) -> bool {
        let known = self.known.get(&key).copied();
        if known == Some(true) {
            return true;
        }
        if known.is_none() {
            let most = self.most.take();
            let good = self.judge(node, value, place, None);
            self.known.insert(key, good);
            self.most = most;
            if good {
                return true;
            }
        }
        if self.most.is_some() {
            self.judge(node, value, place, None);
        }
        false
    }

    fn judge<'v>(
        &mut self,
        node: &'r Node,
        value: View<'v>,
        place: &Place<'_>,
        marks: Option<&mut Marks<'v>>,
    ) -> bool {
        let rules = &node.rules;
        match rules::missed(node, value) {
            Ok(None) => {}
            Ok(Some(keyword)) => {
                self.miss(place, keyword, || rules::expected(node, keyword, value));
                return false;
            }
            Err(rules::Undecided) => {
                self.in_doubt = true;
                return false;
            }
        }
        let unevaluated = match value {
            View::List(_) => rules.list.as_ref().and_then(|list| list.unevaluated),
            View::Object(_) => rules.object.as_ref().and_then(|object| object.unevaluated),
            _ => None,
        };
        let mut seen = (marks.is_some() || unevaluated.is_some()).then(Marks::default);
        let mut good = match value {
            View::List(items) => match &rules.list {
                Some(list) => self.list(list, items, place, seen.as_mut()),
                None => true,
            },
            View::Object(entries) => match &rules.object {
                Some(object) => self.object(node, object, entries, place, seen.as_mut()),
                None => true,
            },
            _ => true,
        };
        for logic in &rules.logic {
            if !good && self.is_done() {
                return false;
            }
            good &= self.logic(node, logic, value, place, seen.as_mut());
        }
        if let (true, Some(unevaluated), Some(seen)) = (good, unevaluated, seen.as_mut()) {
            good = self.unevaluated(unevaluated, value, place, seen);
        }
        if let (true, Some(marks), Some(seen)) = (good, marks, seen) {
            marks.add(seen);
        }
        good
    }

    fn list<'v>(
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

    fn object<'v>(
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

    /// Judges by a node and keeps what it looked at, if it was good.
    fn and_mark<'v>(
        &mut self,
        id: NodeId,
        value: View<'v>,
        place: &Place<'_>,
        marks: Option<&mut Marks<'v>>,
    ) -> bool {
        let Some(marks) = marks else {
            return self.node(id, value, place, None);
        };
        let mut own = Marks::default();
        let good = self.node(id, value, place, Some(&mut own));
        if good {
            marks.add(own);
        }
        good
    }

    fn quietly<T>(&mut self, ask: impl FnOnce(&mut Self) -> T) -> T {
        let most = self.most.take();
        let answer = ask(self);
        self.most = most;
        answer
    }

    /// Returns whether nobody wants to know more of a value that does not conform.
    fn is_done(&self) -> bool {
        self.most.is_none_or(|most| self.problems.len() >= most)
    }

    fn miss(&mut self, place: &Place<'_>, keyword: &'static str, what: impl FnOnce() -> String) {
        if !self.is_done() {
            self.problems.push(Problem {
                pointer: place.pointer(),
                keyword,
                what: what(),
            });
        }
    }
}

impl<'v> Marks<'v> {
    fn add(&mut self, other: Self) {
        self.keys.extend(other.keys);
        self.items.extend(other.items);
    }
}
