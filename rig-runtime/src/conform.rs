//! Does an answer conform to the route's schema?
//!
//! The conformance gate: text in, the one conformant JSON value out, or what is wrong with it. Validators
//! are compiled once per schema and process; `format` is an annotation, and no schema is ever fetched.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::{Arc, PoisonError, RwLock};

use jsonschema::{Draft, ValidationError, Validator};
use rig_spec::{Enforcement, Schema};
use serde_json::Value;

use crate::answer::{self, Unreadable};
use crate::undo::undo;

/// An answer that the gate did not let through.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Nonconformant {
    /// The answer. It may only go into a repair prompt.
    pub(crate) text: String,
    /// What is wrong with it, for the model. It may quote the answer, so it may only go into a repair prompt.
    pub(crate) problems: String,
    /// What is wrong with it, for errors: places and keywords, no word of the answer.
    pub(crate) message: String,
}

/// Why the gate did not let an answer through.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Rejected {
    /// The answer is at fault.
    Answer(Nonconformant),
    /// The route's schema is not one, for this reason.
    Schema(String),
}

/// Returns the value of an answer that conforms to the schema and that the route's output type can hold.
///
/// The answer is in the form that its candidate was asked for, and is judged in the route's own.
pub(crate) fn gate(
    schema: Option<&'static Schema>,
    asked: Enforcement,
    fits: fn(&Value) -> bool,
    text: &str,
) -> Result<Value, Rejected> {
    let mut value = answer::read(text).map_err(|fault| unreadable(text, &fault))?;
    if let Enforcement::Native(lowered) = asked {
        value = undo(lowered, value);
    }
    let Some(schema) = schema else {
        return Ok(value);
    };
    let validator = validator(schema).map_err(Rejected::Schema)?;
    if !validator.is_valid(&value) {
        return Err(misses(schema, &validator, text, &value));
    }
    write_whole_numbers_whole(&mut value);
    if !fits(&value) {
        return Err(too_large(text));
    }
    Ok(value)
}

/// Turns `3.0` into `3`: JSON Schema takes it for an integer, and Rust's integers do not.
fn write_whole_numbers_whole(value: &mut Value) {
    match value {
        Value::Number(number) => {
            // Up to 2^53 every whole float is exactly the integer it looks like.
            const EXACT: f64 = 9_007_199_254_740_992.0;
            let whole = number
                .as_f64()
                .filter(|float| float.fract() == 0.0 && float.abs() <= EXACT);
            if let Some(whole) = whole.filter(|_| number.is_f64()) {
                *number = (whole as i64).into();
            }
        }
        Value::Array(items) => items.iter_mut().for_each(write_whole_numbers_whole),
        Value::Object(entries) => entries.values_mut().for_each(write_whole_numbers_whole),
        Value::Null | Value::Bool(_) | Value::String(_) => {}
    }
}

/// The one thing that a schema lets through and its type does not: an integer without bounds beyond 64 bits.
fn too_large(text: &str) -> Rejected {
    let message = "the answer holds an integer beyond 64 bits";
    Rejected::Answer(Nonconformant {
        text: text.to_owned(),
        problems: format!("- {message}"),
        message: message.to_owned(),
    })
}

/// How many errors a summary lists.
const MOST_ERRORS: usize = 8;
/// The longest piece of an answer in a summary, in characters.
const LONGEST_VALUE: usize = 60;
/// The longest line of a summary, in characters.
const LONGEST_LINE: usize = 240;

fn unreadable(text: &str, fault: &Unreadable) -> Rejected {
    let problems = match fault {
        Unreadable::RepeatedKey(which) => which.clone(),
        Unreadable::NoJson(_) | Unreadable::Several | Unreadable::UnclosedReasoning => {
            fault.to_string()
        }
    };
    Rejected::Answer(Nonconformant {
        text: text.to_owned(),
        problems: format!("- {}", shortened(&problems, LONGEST_LINE)),
        message: fault.to_string(),
    })
}

fn misses(schema: &Schema, validator: &Validator, text: &str, value: &Value) -> Rejected {
    let mut problems = String::new();
    let mut places: Vec<String> = Vec::new();
    let mut errors = validator.iter_errors(value);
    for error in errors.by_ref().take(MOST_ERRORS) {
        let line = expectation(&error);
        // Writing to a `String` cannot fail.
        let _ = writeln!(problems, "- {}", shortened(&line, LONGEST_LINE));
        let place = place(schema, &error);
        if !places.contains(&place) {
            places.push(place);
        }
    }
    let more = if errors.next().is_some() {
        ", and more"
    } else {
        ""
    };
    Rejected::Answer(Nonconformant {
        text: text.to_owned(),
        problems: problems.trim_end().to_owned(),
        message: format!(
            "the answer misses the schema at {}{more}",
            places.join(", ")
        ),
    })
}

/// Says where an answer is wrong and what was expected there; quotes a short piece of it.
fn expectation(error: &ValidationError<'_>) -> String {
    let found = shortened(&error.instance().to_string(), LONGEST_VALUE);
    let pointer = match error.instance_path().as_str() {
        "" => "the value",
        pointer => pointer,
    };
    format!("{pointer}: {}", error.masked_with(found.as_str()))
}

/// Says where an answer is wrong without a word of it: names that the schema does not know become `*`.
fn place(schema: &Schema, error: &ValidationError<'_>) -> String {
    let keyword = error.kind().keyword();
    let known = |segment: &str| {
        segment.bytes().all(|byte| byte.is_ascii_digit())
            || schema.json.contains(&format!(
                "{:?}",
                segment.replace("~1", "/").replace("~0", "~")
            ))
    };
    let pointer = error.instance_path().as_str();
    if pointer.is_empty() {
        return format!("the top level ({keyword})");
    }
    let segments = pointer.split('/').skip(1);
    let shown: String = segments
        .map(|segment| format!("/{}", if known(segment) { segment } else { "*" }))
        .collect();
    format!("`{shown}` ({keyword})")
}

fn shortened(text: &str, longest: usize) -> String {
    match text.char_indices().nth(longest) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// The compiled validators, by the address and length of the schema's text, which lives as long as the process.
static VALIDATORS: RwLock<Option<Validators>> = RwLock::new(None);

type Validators = HashMap<(usize, usize), Arc<Validator>>;

fn validator(schema: &'static Schema) -> Result<Arc<Validator>, String> {
    let key = (schema.json.as_ptr() as usize, schema.json.len());
    let known = VALIDATORS.read().unwrap_or_else(PoisonError::into_inner);
    let found = known.as_ref().and_then(|all| all.get(&key).cloned());
    drop(known);
    if let Some(validator) = found {
        return Ok(validator);
    }
    let validator = Arc::new(compile(schema.json)?);
    let mut all = VALIDATORS.write().unwrap_or_else(PoisonError::into_inner);
    all.get_or_insert_default()
        .insert(key, Arc::clone(&validator));
    Ok(validator)
}

fn compile(json: &str) -> Result<Validator, String> {
    let schema: Value = serde_json::from_str(json).map_err(|error| error.to_string())?;
    let dialect = schema.get("$schema").and_then(Value::as_str).unwrap_or("");
    let draft = if dialect.contains("draft-07") {
        Draft::Draft7
    } else {
        Draft::Draft202012
    };
    jsonschema::options()
        .with_draft(draft)
        .should_validate_formats(false)
        .offline()
        .build(&schema)
        .map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    static SCHEMA: Schema = Schema {
        name: "ticket",
        json: r#"{"type":"object","required":["priority","tags"],"additionalProperties":{"type":"integer"},"properties":{"priority":{"enum":["low","high"]},"tags":{"type":"array","items":{"type":"string","format":"email"}}}}"#,
        skeleton: "null",
        hash: 1,
    };

    fn rejected(text: &str) -> Nonconformant {
        match gate(Some(&SCHEMA), Enforcement::Coached, |_| true, text) {
            Err(Rejected::Answer(answer)) => answer,
            other => panic!("{text}: {other:?}"),
        }
    }

    // F2: `format` is an annotation.
    #[test]
    fn a_conformant_answer_passes_as_the_value_that_was_validated() {
        let text = r#"Sure: {"priority": "low", "tags": ["no mail"], "extra": 1}"#;
        let value = json!({"priority": "low", "tags": ["no mail"], "extra": 1});
        assert_eq!(
            gate(Some(&SCHEMA), Enforcement::Coached, |_| true, text),
            Ok(value)
        );
        assert_eq!(
            gate(None, Enforcement::Coached, |_| true, "[1]"),
            Ok(json!([1]))
        );
    }

    #[test]
    fn the_message_names_places_and_the_summary_what_was_expected() {
        let answer = rejected(r#"{"priority": "urgent", "tags": ["a", 7]}"#);
        assert_eq!(
            answer.message,
            "the answer misses the schema at `/priority` (enum), `/tags/1` (type)"
        );
        assert_eq!(
            answer.problems,
            "- /priority: \"urgent\" is not one of \"low\" or \"high\"\n- /tags/1: 7 is not of type \"string\""
        );
        let answer = rejected(r#"{"priority": "low"}"#);
        assert_eq!(
            answer.message,
            "the answer misses the schema at the top level (required)"
        );
    }

    // Errors hold no word of an output, not even a name that the model made up.
    #[test]
    fn messages_quote_no_output() {
        for text in [
            r#"{"priority": "sesame", "tags": "sesame"}"#,
            r#"{"priority": "low", "tags": [], "sesame": "sesame"}"#,
            r#"{"sesame": 1, "sesame": 2}"#,
            "sesame",
        ] {
            let message = rejected(text).message;
            assert!(!message.contains("sesame"), "{message}");
        }
    }

    #[test]
    fn summaries_are_short_however_wrong_the_answer() {
        let many: Vec<_> = (0..50).collect();
        let answer = rejected(&json!({"priority": "x".repeat(9_000), "tags": many}).to_string());
        assert_eq!(answer.problems.lines().count(), MOST_ERRORS);
        assert!(answer.problems.chars().count() < MOST_ERRORS * (LONGEST_LINE + 4));
        assert!(!answer.problems.contains(&"x".repeat(LONGEST_VALUE + 1)));
        assert!(answer.message.ends_with(", and more"));
    }

    // F2: 2020-12 unless the schema says draft-07; nothing is fetched.
    #[test]
    fn the_dialect_is_the_schemas() {
        let takes = |schema: &str| compile(schema).unwrap().is_valid(&json!(["text"]));
        let draft_07 =
            r#"{"$schema":"http://json-schema.org/draft-07/schema#","items":[{"type":"number"}]}"#;
        assert!(!takes(draft_07));
        assert!(!takes(r#"{"prefixItems":[{"type":"number"}]}"#));
        assert!(takes(&draft_07.replace("items", "prefixItems")));
        assert!(takes(
            r#"{"$schema":"https://example.com/own","items":{"x-unknown":1}}"#
        ));
        assert!(compile(r#"{"$ref":"https://example.com/schema.json"}"#).is_err());
    }

    #[test]
    fn a_broken_schema_is_not_the_answers_fault() {
        static BROKEN: Schema = Schema {
            name: "b",
            json: r#"{"type":7}"#,
            skeleton: "null",
            hash: 2,
        };
        assert!(matches!(
            gate(Some(&BROKEN), Enforcement::Coached, |_| true, "1"),
            Err(Rejected::Schema(_))
        ));
    }

    #[test]
    fn a_whole_float_is_an_integer_and_a_larger_one_is_no_answer() {
        static COUNT: Schema = Schema {
            name: "Count",
            json: r#"{"type":"integer"}"#,
            skeleton: "null",
            hash: 3,
        };
        let gate = |text| {
            gate(
                Some(&COUNT),
                Enforcement::Coached,
                |value| value.is_i64(),
                text,
            )
        };
        assert_eq!(gate("3.0"), Ok(json!(3)));
        assert_eq!(
            gate("9007199254740993"),
            Ok(json!(9_007_199_254_740_993_i64))
        );
        let Err(Rejected::Answer(answer)) = gate("1e30") else {
            panic!("no 64-bit integer holds it");
        };
        assert_eq!(answer.message, "the answer holds an integer beyond 64 bits");
        assert!(matches!(gate("3.5"), Err(Rejected::Answer(_))));
    }
}
