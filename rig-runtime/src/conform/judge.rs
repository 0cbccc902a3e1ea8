//! Does a value conform to a node, and if not, what is wrong with it?
//!
//! One walk answers both: quietly it stops at the first miss, else it collects all of them. What was judged once is
//! not judged again, so the work is bounded by nodes times values however the schema refers to itself.

mod branches;
mod parts;

use std::collections::{BTreeSet, HashMap, HashSet};
use std::rc::Rc;

use rig_spec::NodeId;
use serde_json::Value;

use super::problem::{Place, Problem};
use super::ready::{Node, Ready};
use super::rules::{self, Address, View};
use crate::steps;

/// Returns whether a value conforms.
pub(super) fn conforms(ready: &Ready, node: &Node, value: View<'_>) -> bool {
    // Most values are scalars without conditions.
    if value.address().is_none() && node.rules.logic.is_empty() {
        return matches!(rules::missed(node, value), Ok(None));
    }
    let mut judge = Judge::new(ready, None);
    judge.node(node.id, value, &Place::Top, None) && !judge.in_doubt
}

/// Returns whether a whole answer conforms.
pub(super) fn is_good(ready: &Ready, value: &Value) -> bool {
    conforms(ready, ready.node(0), value.into())
}

/// Returns what is wrong with a value: nothing if it conforms, at most `most` problems if it does not.
pub(super) fn problems(ready: &Ready, value: &Value, most: usize) -> Vec<Problem> {
    if is_good(ready, value) {
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

struct Judge<'r, 'v> {
    ready: &'r Ready,
    /// How many problems are wanted; `None` while it is quiet.
    most: Option<usize>,
    problems: Vec<Problem>,
    /// What was judged quietly.
    known: HashMap<Key, bool>,
    /// The same with what was looked at, if it was good.
    looked_at: HashMap<Key, Option<Rc<Marks<'v>>>>,
    /// Of what the problems were collected.
    told: HashSet<Key>,
    depth: u32,
    /// How many scalars were judged, and how many nodes judge the last one at the moment.
    scalars: u64,
    within_scalar: u32,
    /// Whether something could not be decided.
    in_doubt: bool,
}

/// A node, and the value that it judges.
type Key = (NodeId, Address);

/// The parts of a value that some rule has looked at.
#[derive(Clone, Default)]
struct Marks<'v> {
    keys: BTreeSet<&'v str>,
    items: BTreeSet<usize>,
}

impl<'r, 'v> Judge<'r, 'v> {
    fn new(ready: &'r Ready, most: Option<usize>) -> Self {
        Self {
            ready,
            most,
            problems: Vec::new(),
            known: HashMap::new(),
            looked_at: HashMap::new(),
            told: HashSet::new(),
            depth: 0,
            scalars: 0,
            within_scalar: 0,
            in_doubt: false,
        }
    }

    /// Judges a value by a node; `marks` takes what it looked at.
    fn node(
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
        steps::count(1);
        self.depth += 1;
        let node = self.ready.node(id);
        let address = self.enter(value);
        let is_scalar = matches!(address, Address::Scalar(_));
        // What a scalar takes by itself is soon seen.
        let is_soon_judged = is_scalar && node.rules.logic.is_empty();
        let key = Some(address).filter(|_| node.is_shared && !is_soon_judged);
        let good = match (key, marks) {
            (None, marks) => self.judge(node, value, place, marks),
            (Some(address), None) => self.once((id, address), node, value, place),
            (Some(address), Some(marks)) => {
                self.once_marked((id, address), node, value, place, marks)
            }
        };
        self.depth -= 1;
        self.within_scalar -= u32::from(is_scalar);
        good
    }

    /// Returns what tells a value apart from all others. Nodes that judge a scalar by way of others judge the same one,
    /// since it has no parts.
    fn enter(&mut self, value: View<'v>) -> Address {
        if let Some(address) = value.address() {
            return address;
        }
        if self.within_scalar == 0 {
            self.scalars += 1;
        }
        self.within_scalar += 1;
        Address::Scalar(self.scalars)
    }

    fn once(&mut self, key: Key, node: &'r Node, value: View<'v>, place: &Place<'_>) -> bool {
        let good = match self.known.get(&key) {
            Some(known) => *known,
            None => {
                let good = self.quietly(|judge| judge.judge(node, value, place, None));
                self.known.insert(key, good);
                good
            }
        };
        good || self.tell(key, node, value, place)
    }

    fn once_marked(
        &mut self,
        key: Key,
        node: &'r Node,
        value: View<'v>,
        place: &Place<'_>,
        marks: &mut Marks<'v>,
    ) -> bool {
        if !self.looked_at.contains_key(&key) {
            let mut own = Marks::default();
            let good = self.quietly(|judge| judge.judge(node, value, place, Some(&mut own)));
            self.looked_at.insert(key, good.then(|| Rc::new(own)));
        }
        match self.looked_at.get(&key).cloned().flatten() {
            Some(own) => {
                marks.add(Marks::clone(&own));
                true
            }
            None => self.tell(key, node, value, place),
        }
    }

    /// Collects what is wrong with a value that does not conform, if that is wanted and was not yet done.
    fn tell(&mut self, key: Key, node: &'r Node, value: View<'v>, place: &Place<'_>) -> bool {
        if self.most.is_some() && self.told.insert(key) {
            self.judge(node, value, place, None);
        }
        false
    }

    fn judge(
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

    /// Judges by a node and keeps what it looked at, if it was good.
    fn and_mark(
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
