//! What does an answer in a provider's dialect mean in the route's own schema?
//!
//! Pure. A dialect that has no optional properties is told that null stands for absent, one that takes only objects
//! gets the answer wrapped. Both are undone here, before anything judges the answer. The text of all other parts is
//! copied, so that numbers keep their digits.

use std::borrow::Cow;

use rig_spec::{Lowered, Shape, Step};

use crate::json::{Fault, Reader};

/// Returns the answer as the route's schema has it; `json` is one JSON value. An answer that is not as the dialect
/// wanted it is left alone: the host may have ignored the schema, and the gate judges it anyway.
///
/// # Errors
///
/// When the text is no JSON value.
pub(crate) fn undo<'t>(lowered: &Lowered, json: &'t str) -> Result<Cow<'t, str>, Fault> {
    let json = match lowered.wrapped_in {
        Some(name) => unwrapped(name, json)?.unwrap_or(json),
        None => json,
    };
    let Some(shape) = lowered.shapes.first() else {
        return Ok(Cow::Borrowed(json));
    };
    let mut restored = Restored {
        lowered,
        json,
        reader: Reader::new(json),
        out: String::with_capacity(json.len()),
    };
    restored.value(shape)?;
    Ok(Cow::Owned(restored.out))
}

/// Returns the value of an object that has this one property and no other.
fn unwrapped<'t>(name: &str, json: &'t str) -> Result<Option<&'t str>, Fault> {
    let mut reader = Reader::new(json);
    if reader.peek() != Some(b'{') {
        return Ok(None);
    }
    reader.enter()?;
    if reader.is_end_of_object() || reader.key(true)? != name {
        return Ok(None);
    }
    let start = reader.at();
    reader.skip();
    let inner = &json[start..reader.at()];
    Ok(reader.is_end_of_object().then_some(inner))
}

/// An answer without what stands for absent.
struct Restored<'a, 't> {
    lowered: &'a Lowered,
    json: &'t str,
    reader: Reader<'t>,
    out: String,
}

impl<'a> Restored<'a, '_> {
    /// Copies the value here, which has this shape.
    fn value(&mut self, shape: &'a Shape) -> Result<(), Fault> {
        let items = shape.within.iter().find(|(step, _)| *step == Step::Items);
        match (self.reader.peek(), items) {
            (Some(b'{'), _) => self.object(shape),
            (Some(b'['), Some((_, next))) => self.list(*next),
            _ => {
                self.copy();
                Ok(())
            }
        }
    }

    fn object(&mut self, shape: &'a Shape) -> Result<(), Fault> {
        self.reader.enter()?;
        self.out.push('{');
        let (mut is_first, mut is_empty) = (true, true);
        while !self.reader.is_end_of_object() {
            let key = self.reader.key(is_first)?;
            is_first = false;
            if self.reader.peek() == Some(b'n') && shape.absent.contains(&key.as_ref()) {
                self.reader.word("null")?;
                continue;
            }
            if !std::mem::take(&mut is_empty) {
                self.out.push(',');
            }
            self.out
                .push_str(&serde_json::Value::from(key.as_ref()).to_string());
            self.out.push(':');
            let mut within = shape.within.iter();
            let next =
                within.find(|(step, _)| matches!(step, Step::Property(name) if *name == key));
            self.part(next.map(|(_, next)| *next))?;
        }
        self.out.push('}');
        Ok(())
    }

    fn list(&mut self, next: usize) -> Result<(), Fault> {
        self.reader.enter()?;
        self.out.push('[');
        let mut is_first = true;
        while self.reader.has_item(is_first)? {
            if !std::mem::take(&mut is_first) {
                self.out.push(',');
            }
            self.part(Some(next))?;
        }
        self.out.push(']');
        Ok(())
    }

    fn part(&mut self, shape: Option<usize>) -> Result<(), Fault> {
        match shape.and_then(|shape| self.lowered.shapes.get(shape)) {
            Some(shape) => self.value(shape)?,
            None => self.copy(),
        }
        Ok(())
    }

    /// Copies the value here as it is written.
    fn copy(&mut self) {
        self.reader.peek();
        let start = self.reader.at();
        self.reader.skip();
        self.out.push_str(&self.json[start..self.reader.at()]);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn undone(lowered: &Lowered, answer: &Value) -> Value {
        let text = answer.to_string();
        serde_json::from_str(&undo(lowered, &text).unwrap()).unwrap()
    }

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
        assert_eq!(undone(&TREES, &answer), meant);
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
            assert_eq!(undone(&TREES, &answer), answer);
        }
        let nulls = json!({"a": null, "note": null});
        assert_eq!(undone(&Lowered::AS_WRITTEN, &nulls), nulls);
    }

    #[test]
    fn digits_and_escapes_stay_as_they_are_written() {
        let text = r#"{"answer":[ {"note" : null, "value":18446744073709551616, "\u0061":"\u00e9 }" , "children":[]} ]}"#;
        let meant = r#"[{"value":18446744073709551616,"a":"\u00e9 }","children":[]}]"#;
        assert_eq!(undo(&TREES, text).as_deref(), Ok(meant));
        let repeated = r#"{"answer":[{"value":1,"value":2}]}"#;
        assert_eq!(
            undo(&TREES, repeated).as_deref(),
            Ok(r#"[{"value":1,"value":2}]"#)
        );
    }
}
