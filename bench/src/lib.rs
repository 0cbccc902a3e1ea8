//! What is the gate timed on? A strict schema, its type, and answers that conform.

use rig_spec::Schema;
use serde_json::Value;

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

/// Returns an answer of at least so many bytes, its properties in the schema's order: so models write them.
#[must_use]
pub fn answer(bytes: usize) -> String {
    let mut events: Vec<String> = Vec::new();
    loop {
        let n = events.len();
        events.push(match n % 3 {
            0 => format!(
                r#"{{"kind":"note","author":"person {n}","text":"The printer in room 12 does not answer.","tags":["printer","urgent"]}}"#
            ),
            1 => format!(
                r#"{{"kind":"payment","amount":{}.5,"currency":"EUR","invoice":null}}"#,
                12 + n
            ),
            _ => format!(
                r#"{{"kind":"visit","minutes":{},"place":{{"city":"Graz","zip":"8010"}},"rating":4}}"#,
                n % 200
            ),
        });
        let text = format!(
            r#"{{"title":"Weekly report","priority":"high","score":0.75,"owner":null,"count":{n},"events":[{}]}}"#,
            events.join(",")
        );
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

/// The same types, as one writes them for serde.
pub mod peer {
    use serde::{Deserialize, Serialize};

    /// The whole answer.
    #[derive(Debug, Deserialize, Serialize)]
    #[serde(deny_unknown_fields)]
    pub struct Report {
        title: String,
        priority: Priority,
        score: f64,
        owner: Option<String>,
        count: i64,
        events: Vec<Event>,
    }

    #[derive(Debug, Deserialize, Serialize)]
    #[serde(rename_all = "lowercase")]
    enum Priority {
        Low,
        Normal,
        High,
    }

    #[derive(Debug, Deserialize, Serialize)]
    #[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
    enum Event {
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
            minutes: i64,
            place: Place,
            rating: Option<i64>,
        },
    }

    #[derive(Debug, Deserialize, Serialize)]
    enum Currency {
        #[serde(rename = "EUR")]
        Eur,
        #[serde(rename = "USD")]
        Usd,
    }

    #[derive(Debug, Deserialize, Serialize)]
    #[serde(deny_unknown_fields)]
    struct Place {
        city: String,
        zip: String,
    }
}

/// Bytes → value → validator → type, with the validator given.
#[must_use]
pub fn by_value(text: &str, is_valid: impl FnOnce(&Value) -> bool) -> Option<peer::Report> {
    let value: Value = serde_json::from_str(text).ok()?;
    if !is_valid(&value) {
        return None;
    }
    serde_json::from_value(value).ok()
}
