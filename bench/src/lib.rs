//! What is the gate timed on? A strict schema, its type, and answers that conform.

use rig_spec::Schema;
use serde::{Deserialize, Serialize};
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

/// What the route compiler would generate.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Report {
    pub title: String,
    pub priority: Priority,
    pub score: f64,
    pub owner: Option<String>,
    pub count: u64,
    pub events: Vec<Event>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Priority {
    Low,
    Normal,
    High,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub enum Event {
    Note {
        author: String,
        text: String,
        tags: Vec<String>,
    },
    Payment {
        amount: f64,
        currency: Currency,
        invoice: Option<String>,
    },
    Visit {
        minutes: u64,
        place: Place,
        rating: Option<i64>,
    },
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub enum Currency {
    #[serde(rename = "EUR")]
    Eur,
    #[serde(rename = "USD")]
    Usd,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Place {
    pub city: String,
    pub zip: String,
}

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
