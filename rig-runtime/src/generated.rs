//! What does generated code lean on, beyond data and one call?
//!
//! How its types are read and written: objects, lists whose first items have types of their own, enums of scalars, and
//! choices between types. serde's derives would write them too, but take long to expand. They would not read them as an
//! answer is to be read: they take a list for a struct, know nothing of the rules, and buffer every choice.

mod items;
mod object;
mod scalar;
mod union;

use rig_spec::{Enforcement, Route};
use serde::de::{Deserialize, Deserializer, Error};
use serde_json::Value;

use crate::call::{Answer, Output};
use crate::conform::{ReadJson, Rejected, gate, hold, read};

pub use scalar::{Scalar, ScalarEnum, read_scalar, serialize_scalar, shape_of_scalars};

/// Reads a type with serde: what it reads as any JSON value is read once more as an answer is, though not judged.
///
/// # Errors
///
/// When the type cannot hold the value.
pub fn deserialize<'de, T: ReadJson, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    let value = Value::deserialize(deserializer)?;
    read(None, true, &value.to_string()).map_err(D::Error::custom)
}

/// Fails to compile where a type was generated from another schema than the route's, or a route with tools is bound
/// without [`crate::Turn`], or one without tools with it.
///
/// # Panics
///
/// If the hashes differ, or tools meet no `Turn`. Any JSON value holds every schema's answers.
pub const fn assert_schema<T: Answer>(route: &Route) {
    assert!(
        T::TOOLS || route.tools.is_empty(),
        "the route declares tools, so that its answer may be a call of one\nhelp: return `rig::Result<rig::Turn<…>>`"
    );
    assert!(
        !T::TOOLS || !route.tools.is_empty(),
        "the route declares no tools, so that its answer is never a call of one\nhelp: return the output type without `Turn`"
    );
    let hash = match &route.schema {
        Some(schema) => schema.hash,
        None => 0,
    };
    assert!(
        T::Output::SCHEMA == 0 || T::Output::SCHEMA == hash,
        "the output type was generated from another schema than the route's\nhelp: name the output type of this route's own module"
    );
}

/// Returns the output that a call would make of an answer, or what is wrong with the answer.
///
/// This is for tools that judge schemas and types; a call does the same in its attempts.
///
/// # Errors
///
/// When the answer does not conform to the schema, or the schema is none.
pub fn conform<T: Output>(schema: &'static rig_spec::Schema, answer: &str) -> Result<T, String> {
    let held = gate(Some(schema), Enforcement::Coached, hold::<T>, answer);
    let held = held.map_err(|rejected| match rejected {
        Rejected::Answer(answer) => answer.message,
        Rejected::Schema(fault) => format!("the schema is none: {fault}"),
    })?;
    held.into()
        .ok_or_else(|| "the answer was read into another type".to_owned())
}
