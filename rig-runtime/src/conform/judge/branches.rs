//! Does a value conform to the other nodes that judge it, and to what is left over for it?

use rig_spec::{Logic, NodeId};
use serde_json::{Map, Value};

use super::{Judge, Marks};
use crate::conform::problem::{Place, or, unexpected};
use crate::conform::ready::{Node, Tag, Way};
use crate::conform::rules::{self, View};

impl<'r, 'v> Judge<'r, 'v> {
    pub(super) fn logic(
        &mut self,
        node: &'r Node,
        logic: &Logic,
        value: View<'v>,
        place: &Place<'_>,
        mut marks: Option<&mut Marks<'v>>,
    ) -> bool {
        match logic {
            Logic::All(all) => {
                let mut good = true;
                for id in all {
                    good &= self.and_mark(*id, value, place, marks.as_deref_mut());
                    if !good && self.is_done() {
                        return false;
                    }
                }
                good
            }
            Logic::Any(any) | Logic::One(any) => {
                let is_one = matches!(logic, Logic::One(_));
                let mut found = 0;
                for id in any {
                    let marks = marks.as_deref_mut();
                    let wants_all = is_one || marks.is_some();
                    let good = self.quietly(|judge| judge.and_mark(*id, value, place, marks));
                    found += usize::from(good);
                    if good && !wants_all {
                        break;
                    }
                }
                if found == 1 || found > 1 && !is_one {
                    return true;
                }
                if self.most.is_some() {
                    self.no_branch(node, any, found, is_one, value, place);
                }
                false
            }
            Logic::Not(not) => {
                let good = !self.quietly(|judge| judge.node(*not, value, place, None));
                if !good {
                    self.miss(place, "not", || {
                        format!("{} is what the schema does not allow", value.shown())
                    });
                }
                good
            }
            Logic::If(condition, then, otherwise) => {
                let marks_of_if = marks.as_deref_mut();
                let holds =
                    self.quietly(|judge| judge.and_mark(*condition, value, place, marks_of_if));
                match if holds { then } else { otherwise } {
                    Some(id) => self.and_mark(*id, value, place, marks),
                    None => true,
                }
            }
        }
    }

    /// Says what is wrong with a value that none of these branches takes, or more than the one that should: where
    /// it is clear which branch was meant, what is wrong with it by that one.
    fn no_branch(
        &mut self,
        node: &'r Node,
        branches: &[NodeId],
        found: usize,
        is_one: bool,
        value: View<'v>,
        place: &Place<'_>,
    ) {
        let keyword = if is_one { "oneOf" } else { "anyOf" };
        let shown = || value.shown();
        if found > 1 {
            return self.miss(place, keyword, || {
                format!("{} is valid under more than one of the schemas listed in the '{keyword}' keyword", shown())
            });
        }
        if let (View::Object(entries), Way::Tagged(tag)) = (value, &node.object) {
            return self.wrong_tag_or_branch(tag, entries, value, place, keyword);
        }
        let ready = self.ready;
        let mut possible = branches
            .iter()
            .filter(|id| rules::takes_kind(ready, **id, value));
        if let (Some(id), None) = (possible.next(), possible.next()) {
            self.node(*id, value, place, None);
            return;
        }
        self.miss(place, keyword, || {
            format!(
                "{} is not valid under any of the schemas listed in the '{keyword}' keyword",
                shown()
            )
        });
    }

    fn wrong_tag_or_branch(
        &mut self,
        tag: &'r Tag,
        entries: &'v Map<String, Value>,
        value: View<'v>,
        place: &Place<'_>,
        keyword: &'static str,
    ) {
        let found = entries.get(tag.key);
        if let Some(branch) = found
            .and_then(Value::as_str)
            .and_then(|text| tag.branch(text))
        {
            self.node(branch, value, place, None);
            return;
        }
        let Some(found) = found else {
            return self.miss(place, "required", || {
                format!("{:?} is a required property", tag.key)
            });
        };
        let cases: Vec<_> = tag.values().map(|case| format!("{case:?}")).collect();
        self.miss(&Place::Key(place, tag.key), keyword, || {
            format!("{} is not one of {}", View::from(found).shown(), or(&cases))
        });
    }

    pub(super) fn unevaluated(
        &mut self,
        id: NodeId,
        value: View<'v>,
        place: &Place<'_>,
        marks: &mut Marks<'v>,
    ) -> bool {
        let mut good = true;
        match value {
            View::List(items) => {
                for (at, item) in items.iter().enumerate() {
                    if marks.items.insert(at)
                        && !self.quietly(|judge| judge.node(id, item.into(), place, None))
                    {
                        good = false;
                        self.miss(&Place::Item(place, at), "unevaluatedItems", || {
                            "Unevaluated items are not allowed".to_owned()
                        });
                    }
                }
            }
            View::Object(entries) => {
                let mut extra = Vec::new();
                for (key, value) in entries {
                    if marks.keys.insert(key)
                        && !self.quietly(|judge| judge.node(id, value.into(), place, None))
                    {
                        extra.push(key.as_str());
                    }
                }
                good = extra.is_empty();
                if !good {
                    self.miss(place, "unevaluatedProperties", || {
                        unexpected("Unevaluated", &extra)
                    });
                }
            }
            _ => {}
        }
        good
    }
}
