//! What does an answer in a provider's dialect mean in the route's own schema?
//!
//! Pure. A dialect that has no optional properties is told that null stands for absent, one that takes only objects
//! gets the answer wrapped. Both are undone here, before anything judges the answer.

use rig_spec::{Lowered, Step};
use serde_json::Value;

/// Returns the answer as the route's schema has it. An answer that is not as the dialect wanted it is left alone: the
/// host may have ignored the schema, and the gate judges it anyway.
pub(crate) fn undo(lowered: &Lowered, value: Value) -> Value {
    let mut value = match lowered.wrapped_in {
        Some(name) => unwrapped(name, value),
        None => value,
    };
    restore(lowered, 0, &mut value);
    value
}

fn unwrapped(name: &str, value: Value) -> Value {
    match value {
        Value::Object(mut members) if members.len() == 1 => match members.remove(name) {
            Some(inner) => inner,
            None => Value::Object(members),
        },
        other => other,
    }
}

/// Takes out what stands for absent, in a part of the answer that has this shape.
fn restore(lowered: &Lowered, shape: usize, value: &mut Value) {
    let Some(shape) = lowered.shapes.get(shape) else {
        return;
    };
    match value {
        Value::Object(members) => {
            for name in shape.absent {
                if members.get(*name).is_some_and(Value::is_null) {
                    members.remove(*name);
                }
            }
            for (step, next) in shape.within {
                if let Step::Property(name) = step
                    && let Some(member) = members.get_mut(*name)
                {
                    restore(lowered, *next, member);
                }
            }
        }
        Value::Array(items) => {
            let next = shape.within.iter().find(|(step, _)| *step == Step::Items);
            if let Some((_, next)) = next {
                items
                    .iter_mut()
                    .for_each(|item| restore(lowered, *next, item));
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use rig_spec::Shape;
    use serde_json::json;

    use super::*;

    /// A tree: each node has a `note` and `children`, both optional, in a list of trees.
    static TREES: Lowered = Lowered {
        json: None,
        wrapped_in: Some("answer"),
        shapes: &[
            Shape {
                absent: &[],
                within: &[(Step::Items, 1)],
            },
            Shape {
                absent: &["note", "children"],
                within: &[(Step::Property("children"), 0)],
            },
        ],
    };

    #[test]
    fn null_becomes_absent_where_it_stands_for_it_on_every_level() {
        let answer = json!({"answer": [
            {"note": null, "value": null, "children": [
                {"note": "n", "children": null},
                {"note": null, "children": []},
            ]},
        ]});
        let meant = json!([
            {"value": null, "children": [{"note": "n"}, {"children": []}]},
        ]);
        assert_eq!(undo(&TREES, answer), meant);
    }

    #[test]
    fn an_answer_of_another_form_is_left_alone() {
        for answer in [
            json!([{"value": 1}]),
            json!({"answer": 1, "more": null}),
            json!({"other": null}),
            json!({}),
            json!("text"),
            json!([null, 1, [null]]),
        ] {
            assert_eq!(undo(&TREES, answer.clone()), answer);
        }
        let nulls = json!({"a": null, "note": null});
        assert_eq!(undo(&Lowered::AS_WRITTEN, nulls.clone()), nulls);
    }
}
