//! Is an output what was expected?
//!
//! Conformance says that an answer has the right shape; here is whether its values are right. Only what the expectation
//! names is compared: a key that it leaves out may be anything.

use std::collections::BTreeMap;
use std::path::Path;

use rig_runtime::store::Capture;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::output::{Result, Stop};
use crate::stats::Share;

/// What the output of a capture should be.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Expected(Value);

/// An entry of a file of expectations.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    /// The capture's id.
    capture: Option<String>,
    /// The variables of the captures that it is about, those that matter.
    variables: Option<Map<String, Value>>,
    output: Value,
}

impl Expected {
    /// Counts the values that are as expected.
    pub(crate) fn compare(&self, output: Option<&Value>) -> Share {
        let mut share = Share::default();
        compare(&self.0, output, &mut share);
        share
    }
}

/// Numbers are compared by value, objects by the keys that are expected, lists item by item and by their length.
fn compare(expected: &Value, found: Option<&Value>, share: &mut Share) {
    match expected {
        Value::Object(entries) => {
            for (key, value) in entries {
                let found = found.and_then(Value::as_object);
                compare(value, found.and_then(|found| found.get(key)), share);
            }
        }
        Value::Array(items) if !items.is_empty() => {
            let list = found.and_then(Value::as_array);
            for (at, item) in items.iter().enumerate() {
                compare(item, list.and_then(|list| list.get(at)), share);
            }
            if list.is_some_and(|list| list.len() > items.len()) {
                share.count(false);
            }
        }
        Value::Number(number) => {
            let same = found.and_then(Value::as_number).is_some_and(|found| {
                found == number
                    || found
                        .as_f64()
                        .is_some_and(|value| Some(value) == number.as_f64())
            });
            share.count(same);
        }
        Value::Array(_) | Value::Null | Value::Bool(_) | Value::String(_) => {
            share.count(found == Some(expected));
        }
    }
}

/// Reads a file: a JSON list of entries, or one entry a line. Of two entries for one capture the last counts.
pub(crate) fn read(path: &Path, captures: &[Capture]) -> Result<BTreeMap<String, Expected>> {
    let shown = path.display();
    let text = std::fs::read_to_string(path)
        .map_err(|error| Stop::new(format!("`{shown}` cannot be read: {error}")))?;
    let entries = entries(&text).map_err(|what| {
        Stop::new(format!("`{shown}` {what}")).help(
            "an entry is e.g. `{\"capture\": \"<id>\", \"output\": {…}}`, or has `variables` in place of `capture`",
        )
    })?;
    let mut expected = BTreeMap::new();
    for entry in entries {
        for capture in captures.iter().filter(|capture| entry.is_about(capture)) {
            expected.insert(capture.id.clone(), Expected(entry.output.clone()));
        }
    }
    if expected.is_empty() {
        let message = format!("`{shown}` is about none of the {} captures", captures.len());
        return Err(Stop::new(message));
    }
    Ok(expected)
}

fn entries(text: &str) -> std::result::Result<Vec<Entry>, String> {
    if text.trim_start().starts_with('[') {
        return serde_json::from_str(text)
            .map_err(|error| format!("is no list of entries: {error}"));
    }
    let lines = text.lines().enumerate();
    let lines = lines.filter(|(_, line)| !line.trim().is_empty());
    lines
        .map(|(at, line)| {
            serde_json::from_str(line).map_err(|error| format!("line {}: {error}", at + 1))
        })
        .collect()
}

impl Entry {
    fn is_about(&self, capture: &Capture) -> bool {
        let Some(wanted) = &self.variables else {
            return self.capture.as_ref() == Some(&capture.id);
        };
        let variables: Option<Map<String, Value>> = serde_json::from_str(&capture.variables).ok();
        let has = |(key, value): (&String, &Value)| {
            variables
                .as_ref()
                .is_some_and(|variables| variables.get(key) == Some(value))
        };
        self.capture.as_ref().is_none_or(|id| *id == capture.id) && wanted.iter().all(has)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn compared(expected: Value, output: Value) -> (u64, u64) {
        let share = Expected(expected).compare(Some(&output));
        (share.hits, share.of)
    }

    #[test]
    fn only_what_is_expected_is_compared() {
        let output = json!({ "a": 1.0, "b": "x", "c": [1, { "d": true }], "e": null });
        let cases = [
            (json!({ "a": 1 }), (1, 1)),
            (json!({ "a": 1, "b": "y" }), (1, 2)),
            (json!({ "c": [1, { "d": true }] }), (2, 2)),
            (json!({ "c": [1] }), (1, 2)),
            (json!({ "c": [1, { "d": true }, 3] }), (2, 3)),
            (json!({ "c": [] }), (0, 1)),
            (json!({ "e": null }), (1, 1)),
            (json!({ "f": null }), (0, 1)),
            (json!({ "b": { "x": 1 } }), (0, 1)),
            (json!("x"), (0, 1)),
            (json!({}), (0, 0)),
        ];
        for (expected, found) in cases {
            assert_eq!(
                compared(expected.clone(), output.clone()),
                found,
                "{expected}"
            );
        }
        let share = Expected(json!({ "a": 1, "b": 2 })).compare(None);
        assert_eq!(
            (share.hits, share.of),
            (0, 2),
            "what has no output is wrong"
        );
    }

    #[test]
    fn an_entry_is_about_a_capture_or_about_variables() {
        let capture = |id: &str, variables: Value| Capture {
            id: id.to_owned(),
            ts_ms: 0,
            run_id: String::new(),
            route: "r".into(),
            route_version: 1,
            variables: variables.to_string(),
            output: String::new(),
        };
        let captures = [
            capture("c1", json!({ "q": "one", "lang": "en" })),
            capture("c2", json!({ "q": "one", "lang": "de" })),
            capture("c3", json!({ "q": "two" })),
        ];
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("expected.jsonl");
        let found = |text: &str| {
            std::fs::write(&path, text).unwrap();
            read(&path, &captures).map(|all| {
                let all = all
                    .into_iter()
                    .map(|(id, expected)| format!("{id}={}", expected.0));
                all.collect::<Vec<_>>().join(" ")
            })
        };
        let lines =
            "{\"variables\":{\"q\":\"one\"},\"output\":1}\n\n{\"capture\":\"c2\",\"output\":2}\n";
        assert_eq!(found(lines).unwrap(), "c1=1 c2=2");
        assert_eq!(found(r#"[{"capture":"c3","output":3}]"#).unwrap(), "c3=3");
        for wrong in [
            "{\"capture\":\"c9\",\"output\":1}",
            "{\"capture\":1}",
            "[{]",
            "{\"captures\":\"c1\",\"output\":1}",
            "",
        ] {
            assert!(found(wrong).is_err(), "{wrong}");
        }
    }
}
