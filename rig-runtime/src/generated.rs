//! What does generated code lean on, beyond data and one call?
//!
//! Reading and writing of what serde's derives cannot say: an optional property that may be null, and an enum
//! whose values are of several kinds.

use std::fmt;
use std::marker::PhantomData;

use rig_spec::Route;
use serde::de::{Deserialize, Deserializer, Error, Unexpected, Visitor};
use serde::ser::Serializer;

use crate::call::Output;

/// A JSON value that is neither a list nor an object nor a fraction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scalar {
    /// A string.
    String(&'static str),
    /// An integer.
    Integer(i64),
    /// A boolean.
    Boolean(bool),
    /// Null.
    Null,
}

/// An enum of JSON scalars.
pub trait ScalarEnum: Copy + PartialEq + 'static {
    /// Each variant with its value.
    const VALUES: &'static [(Self, Scalar)];
}

/// Fails to compile where a type was generated from another schema than the route's.
///
/// # Panics
///
/// If the hashes differ. Any JSON value holds every schema's answers.
pub const fn assert_schema<T: Output>(route: &Route) {
    let hash = match &route.schema {
        Some(schema) => schema.hash,
        None => 0,
    };
    assert!(
        T::SCHEMA == 0 || T::SCHEMA == hash,
        "the output type was generated from another schema than the route's\nhelp: name the output type of this route's own module"
    );
}

/// Reads a property that is there, so that null stays apart from absent.
///
/// # Errors
///
/// When the value is none of the type's.
pub fn present<'de, T, D>(deserializer: D) -> Result<Option<T>, D::Error>
where
    T: Deserialize<'de>,
    D: Deserializer<'de>,
{
    T::deserialize(deserializer).map(Some)
}

/// Writes a variant as its value.
///
/// # Errors
///
/// When the serializer fails.
pub fn serialize_scalar<T: ScalarEnum, S: Serializer>(
    variant: &T,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let found = T::VALUES.iter().find(|(known, _)| known == variant);
    match found.map_or(Scalar::Null, |(_, value)| *value) {
        Scalar::String(text) => serializer.serialize_str(text),
        Scalar::Integer(number) => serializer.serialize_i64(number),
        Scalar::Boolean(value) => serializer.serialize_bool(value),
        Scalar::Null => serializer.serialize_unit(),
    }
}

/// Reads the variant of a value.
///
/// # Errors
///
/// When no variant has the value.
pub fn deserialize_scalar<'de, T: ScalarEnum, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<T, D::Error> {
    deserializer.deserialize_any(ScalarVisitor(PhantomData))
}

struct ScalarVisitor<T>(PhantomData<T>);

impl<T: ScalarEnum> ScalarVisitor<T> {
    fn find<E: Error>(&self, is: impl Fn(Scalar) -> bool, found: Unexpected<'_>) -> Result<T, E> {
        let known = T::VALUES.iter().find(|(_, value)| is(*value));
        known
            .map(|(variant, _)| *variant)
            .ok_or_else(|| E::invalid_value(found, self))
    }
}

impl<T: ScalarEnum> Visitor<'_> for ScalarVisitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("one of the enum's values")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<T, E> {
        self.find(
            |value| matches!(value, Scalar::String(known) if known == text),
            Unexpected::Str(text),
        )
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<T, E> {
        self.find(
            |value| value == Scalar::Integer(number),
            Unexpected::Signed(number),
        )
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<T, E> {
        let is =
            |value| matches!(value, Scalar::Integer(known) if u64::try_from(known) == Ok(number));
        self.find(is, Unexpected::Unsigned(number))
    }

    /// To JSON Schema, `1.0` is the integer 1.
    fn visit_f64<E: Error>(self, number: f64) -> Result<T, E> {
        let is = |value| matches!(value, Scalar::Integer(known) if known as f64 == number);
        self.find(is, Unexpected::Float(number))
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<T, E> {
        self.find(
            |known| known == Scalar::Boolean(value),
            Unexpected::Bool(value),
        )
    }

    fn visit_unit<E: Error>(self) -> Result<T, E> {
        self.find(|value| value == Scalar::Null, Unexpected::Unit)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[derive(Clone, Copy, Debug, PartialEq)]
    enum Mixed {
        Text,
        One,
        Yes,
        Nothing,
    }

    impl ScalarEnum for Mixed {
        const VALUES: &'static [(Self, Scalar)] = &[
            (Self::Text, Scalar::String("1")),
            (Self::One, Scalar::Integer(1)),
            (Self::Yes, Scalar::Boolean(true)),
            (Self::Nothing, Scalar::Null),
        ];
    }

    #[test]
    fn values_of_several_kinds_are_told_apart_both_ways() {
        for (variant, _) in Mixed::VALUES {
            let value = serialize_scalar(variant, serde_json::value::Serializer).unwrap();
            assert_eq!(deserialize_scalar::<Mixed, _>(value).unwrap(), *variant);
        }
        assert_eq!(
            deserialize_scalar::<Mixed, _>(json!(1.0)).ok(),
            Some(Mixed::One)
        );
        for other in [
            json!("true"),
            json!("yes"),
            json!(2),
            json!(-1),
            json!(false),
            json!([]),
        ] {
            assert!(deserialize_scalar::<Mixed, Value>(other).is_err());
        }
    }

    // C10: a type of another schema does not compile; checked here where it does.
    #[test]
    fn any_json_value_holds_every_schema() {
        const { assert_schema::<Value>(&Route::BLANK) };
    }

    #[test]
    fn null_is_a_value_that_is_present() {
        assert_eq!(present::<Option<i64>, _>(json!(null)).unwrap(), Some(None));
        assert_eq!(present::<Option<i64>, _>(json!(7)).unwrap(), Some(Some(7)));
        assert!(present::<i64, _>(json!(null)).is_err());
    }
}
