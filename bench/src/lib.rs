//! What is the gate timed on? A strict schema, its type, and answers that conform.

use rig_spec::Schema;
use serde_json::{Value, json};

/// The schema.
pub const SCHEMA: &str = include_str!("report.schema.json");

/// Returns the schema as generated code has it.
///
/// # Panics
///
/// If it is none.
#[must_use]
pub fn schema() -> &'static Schema {
    let gate = rig_build::compile_schema(SCHEMA, &[]).expect("a schema");
    Box::leak(Box::new(Schema {
        name: "Report",
        json: SCHEMA,
        skeleton: "",
        gate: gate.leak(),
        hash: 0,
    }))
}

/// Returns an answer of at least so many bytes.
#[must_use]
pub fn answer(bytes: usize) -> String {
    let mut events = Vec::new();
    loop {
        let n = events.len();
        events.push(match n % 3 {
            0 => json!({"kind": "note", "author": format!("person {n}"), "text": "The printer in room 12 does not answer.", "tags": ["printer", "urgent"]}),
            1 => json!({"kind": "payment", "amount": 12.5 + n as f64, "currency": "EUR", "invoice": null}),
            _ => json!({"kind": "visit", "minutes": n % 200, "place": {"city": "Graz", "zip": "8010"}, "rating": 4}),
        });
        let report = json!({"title": "Weekly report", "priority": "high", "score": 0.75, "owner": null, "count": n, "events": events});
        let text = report.to_string();
        if text.len() >= bytes {
            return text;
        }
    }
}

/// What the route compiler generates.
#[allow(dead_code)]
pub mod generated {
    use rig::__private as __rig;

    include!(concat!(env!("OUT_DIR"), "/types.rs"));
}

pub use generated::Report;

/// The validator that the macro of `jsonschema` generates.
#[jsonschema::validator(path = "src/report.schema.json", validate_formats = false)]
pub struct Generated;

/// Bytes → value → validator → type, with the validator given.
#[must_use]
pub fn by_value(text: &str, is_valid: impl FnOnce(&Value) -> bool) -> Option<Report> {
    let value: Value = serde_json::from_str(text).ok()?;
    if !is_valid(&value) {
        return None;
    }
    serde_json::from_value(value).ok()
}
