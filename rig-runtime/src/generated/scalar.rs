//! How is an enum of JSON scalars read and written?

use rig_spec::Number;
use serde::ser::Serializer;

use crate::conform::{Place, Shape};
use crate::json::{Fault, Token};

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

        impl $crate::ReadJson for $name {
            fn read_json(
                place: $crate::Place<'_, '_>,
            ) -> ::core::result::Result<Self, $crate::Fault> {
                $crate::read_scalar(place)
            }

            fn shape() -> &'static $crate::Shape {
                const { &$crate::shape_of_scalars::<Self>() }
            }
        }

        $crate::__deserialize!($name);
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
/// When no variant has the value, or it does not conform.
pub fn read_scalar<T: ScalarEnum>(mut place: Place<'_, '_>) -> Result<T, Fault> {
    let index = if place.is_text() {
        place.text_among(T::VALUES)?
    } else {
        let token = place.scalar()?;
        T::VALUES.iter().position(|value| is(*value, &token))
    };
    let variant = index.and_then(|index| T::VARIANTS.get(index).copied());
    variant.ok_or(Fault::Unfit("one of the enum's values"))
}

/// Returns what an enum takes.
#[must_use]
pub const fn shape_of_scalars<T: ScalarEnum>() -> Shape {
    Shape::scalar(|token| T::VALUES.iter().any(|value| is(*value, token)))
}

/// Returns whether a value is this one.
fn is(value: Scalar, token: &Token<'_>) -> bool {
    match (value, token) {
        (Scalar::String(known), Token::Text(text)) => known == text,
        // To JSON Schema, `1.0` is the integer 1.
        (Scalar::Integer(known), Token::Number(number, _)) => {
            number.compare(Number::Integer(known.into())).is_eq()
        }
        (Scalar::Number(known), Token::Number(number, _)) => {
            number.compare(Number::from_f64(known)).is_eq()
        }
        (Scalar::Boolean(known), Token::Bool(value)) => known == *value,
        (Scalar::Null, Token::Null) => true,
        _ => false,
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
