//! What does a repair say to its model?
//!
//! The first repair asks the model that answered once more. The second gives the route's repair model the
//! answer, its errors and the schema, and nothing of the task.

use rig_spec::Schema;
use serde_json::{Value, json};

use crate::coach;
use crate::conform::Nonconformant;

/// Returns the user turn that asks the same model again.
pub(crate) fn ask_again(answer: &Nonconformant) -> String {
    format!(
        "Your last answer was not accepted:\n{}\nAnswer again, with the corrected JSON value only.",
        answer.problems
    )
}

/// Returns the system prompt of the repair model.
pub(crate) fn system(schema: Option<&Schema>) -> String {
    format!(
        "You repair JSON. You get an answer that was not accepted, the errors found in it, and the JSON Schema it has to conform to. Keep its content; change only what the errors ask for.\n{}",
        coach::instructions(schema)
    )
}

/// Returns the user turn for the repair model.
pub(crate) fn user(answer: &Nonconformant, schema: Option<&Schema>) -> String {
    let schema = schema.map_or(Value::Bool(true), |schema| {
        serde_json::from_str(schema.json).unwrap_or_else(|_| schema.json.into())
    });
    json!({ "invalid_output": answer.text, "errors": answer.problems, "schema": schema })
        .to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCHEMA: Schema = Schema {
        name: "s",
        json: r#"{"type":"object"}"#,
        skeleton: "{}",
        gate: "",
        hash: 1,
    };

    fn answer() -> Nonconformant {
        Nonconformant {
            text: r#"{"a": "wrong"}"#.to_owned(),
            problems: "- /a: \"wrong\" is not of type \"integer\"".to_owned(),
            message: "the answer misses the schema at `/a` (type)".to_owned(),
        }
    }

    // L7
    #[test]
    fn the_same_model_gets_the_error_summary() {
        assert_eq!(
            ask_again(&answer()),
            "Your last answer was not accepted:\n- /a: \"wrong\" is not of type \"integer\"\nAnswer again, with the corrected JSON value only."
        );
    }

    // L7
    #[test]
    fn the_repair_model_gets_the_output_the_errors_and_the_schema() {
        let turn: Value = serde_json::from_str(&user(&answer(), Some(&SCHEMA))).unwrap();
        assert_eq!(turn["invalid_output"], r#"{"a": "wrong"}"#);
        assert_eq!(turn["errors"], answer().problems);
        assert_eq!(turn["schema"], json!({ "type": "object" }));
        assert!(system(Some(&SCHEMA)).contains(SCHEMA.json));
    }
}
