//! How is an enum of JSON scalars read and written?

use std::fmt;

use serde::de::{Deserializer, Error, Unexpected, Visitor};
use serde::ser::Serializer;

/// A JSON value that is neither a list nor an object.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scalar {
    /// A string.
    String(&'static str),
    /// An integer.
    Integer(i64),
    /// Another number.
    Number(f64),
    /// A boolean.
    Boolean(bool),
    /// Null.
    Null,
}

/// An enum of JSON scalars.
pub trait ScalarEnum: Copy + 'static {
    /// Its variants, as they are declared.
    const VARIANTS: &'static [Self];
    /// The value of each.
    const VALUES: &'static [Scalar];
}

/// Says which value each variant of an enum has; the variants stand in the order of their declaration.
#[doc(hidden)]
#[macro_export]
macro_rules! __scalars {
    ($name:ident { $($variant:ident = $kind:ident $(($value:expr))?),+ $(,)? }) => {
        impl $crate::ScalarEnum for $name {
            const VARIANTS: &'static [Self] = &[$(Self::$variant),+];
            const VALUES: &'static [$crate::Scalar] = &[$($crate::Scalar::$kind $(($value))?),+];
        }

        impl $crate::serde::Serialize for $name {
            fn serialize<S: $crate::serde::Serializer>(
                &self,
                serializer: S,
            ) -> ::core::result::Result<S::Ok, S::Error> {
                $crate::serialize_scalar(<Self as $crate::ScalarEnum>::VALUES, *self as usize, serializer)
            }
        }

        impl<'de> $crate::serde::Deserialize<'de> for $name {
            fn deserialize<D: $crate::serde::Deserializer<'de>>(
                deserializer: D,
            ) -> ::core::result::Result<Self, D::Error> {
                $crate::deserialize_scalar::<Self, D>(deserializer)
            }
        }
    };
}

/// Writes the value of the variant with this number.
///
/// # Errors
///
/// When the serializer fails.
pub fn serialize_scalar<S: Serializer>(
    values: &[Scalar],
    variant: usize,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    match values.get(variant) {
        Some(Scalar::String(text)) => serializer.serialize_str(text),
        Some(Scalar::Integer(number)) => serializer.serialize_i64(*number),
        Some(Scalar::Number(number)) => serializer.serialize_f64(*number),
        Some(Scalar::Boolean(value)) => serializer.serialize_bool(*value),
        Some(Scalar::Null) | None => serializer.serialize_unit(),
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
    let index = deserializer.deserialize_any(ScalarVisitor(T::VALUES))?;
    T::VARIANTS
        .get(index)
        .copied()
        .ok_or_else(|| D::Error::custom("no variant has this value"))
}

/// Finds the number of a value.
struct ScalarVisitor(&'static [Scalar]);

impl ScalarVisitor {
    fn find<E: Error>(
        &self,
        is: impl Fn(Scalar) -> bool,
        found: Unexpected<'_>,
    ) -> Result<usize, E> {
        let known = self.0.iter().position(|value| is(*value));
        known.ok_or_else(|| E::invalid_value(found, self))
    }
}

impl Visitor<'_> for ScalarVisitor {
    type Value = usize;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("one of the enum's values")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<usize, E> {
        let is = |value| matches!(value, Scalar::String(known) if known == text);
        self.find(is, Unexpected::Str(text))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<usize, E> {
        self.find(
            |value| value == Scalar::Integer(number),
            Unexpected::Signed(number),
        )
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<usize, E> {
        let is = |value| match value {
            Scalar::Integer(known) => u64::try_from(known) == Ok(number),
            Scalar::Number(known) => known == number as f64,
            Scalar::String(_) | Scalar::Boolean(_) | Scalar::Null => false,
        };
        self.find(is, Unexpected::Unsigned(number))
    }

    /// To JSON Schema, `1.0` is the integer 1.
    fn visit_f64<E: Error>(self, number: f64) -> Result<usize, E> {
        let is = |value| match value {
            Scalar::Integer(known) => known as f64 == number,
            Scalar::Number(known) => known == number,
            Scalar::String(_) | Scalar::Boolean(_) | Scalar::Null => false,
        };
        self.find(is, Unexpected::Float(number))
    }

    fn visit_unit<E: Error>(self) -> Result<usize, E> {
        self.find(|known| known == Scalar::Null, Unexpected::Unit)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<usize, E> {
        self.find(
            |known| known == Scalar::Boolean(value),
            Unexpected::Bool(value),
        )
    }
}

#[cfg(test)]
mod tests {
    use serde::{Deserialize, Serialize};
    use serde_json::json;

    #[derive(Clone, Copy, Debug, PartialEq)]
    enum Mixed {
        Text,
        One,
        Half,
        Huge,
        Yes,
        Nothing,
    }

    crate::__scalars!(Mixed {
        Text = String("1"),
        One = Integer(1),
        Half = Number(0.5),
        Huge = Number(1e30),
        Yes = Boolean(true),
        Nothing = Null,
    });

    #[test]
    fn values_of_several_kinds_are_told_apart_both_ways() {
        use super::ScalarEnum;
        for variant in Mixed::VARIANTS {
            let value = variant.serialize(serde_json::value::Serializer).unwrap();
            assert_eq!(Mixed::deserialize(value).unwrap(), *variant);
        }
        assert_eq!(Mixed::deserialize(json!(1.0)).ok(), Some(Mixed::One));
        for other in [
            json!("true"),
            json!("yes"),
            json!(2),
            json!(-1),
            json!(false),
            json!([]),
            json!({"1": null}),
        ] {
            assert!(Mixed::deserialize(other).is_err());
        }
    }
}
