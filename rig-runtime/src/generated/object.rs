//! How is an object read and written that has fields, and perhaps a map for the properties that the schema does not
//! list?
//!
//! Each property goes where it belongs as it comes, nothing is buffered. A property that is neither is an error.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, Visitor};

/// Reads and writes a struct as an object. A required field is there; an optional one is `Some` if it is there.
#[doc(hidden)]
#[macro_export]
macro_rules! __object {
    ($name:ident { $($field:ident: $kind:ident $key:literal,)* $(..$rest:ident)? }) => {
        impl $crate::serde::Serialize for $name {
            #[allow(unused_mut)]
            fn serialize<S: $crate::serde::Serializer>(
                &self,
                serializer: S,
            ) -> ::core::result::Result<S::Ok, S::Error> {
                let mut object = serializer.serialize_map(::core::option::Option::None)?;
                $($crate::__object!(@write object, &self.$field, $kind, $key);)*
                $(for (key, value) in &self.$rest {
                    $crate::serde::ser::SerializeMap::serialize_entry(&mut object, key, value)?;
                })?
                $crate::serde::ser::SerializeMap::end(object)
            }
        }

        impl<'de> $crate::serde::Deserialize<'de> for $name {
            fn deserialize<D: $crate::serde::Deserializer<'de>>(
                deserializer: D,
            ) -> ::core::result::Result<Self, D::Error> {
                struct __Object;

                impl<'de> $crate::serde::de::Visitor<'de> for __Object {
                    type Value = $name;

                    fn expecting(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                        f.write_str("an object")
                    }

                    #[allow(unused_mut, unused_variables)]
                    fn visit_map<A: $crate::serde::de::MapAccess<'de>>(
                        self,
                        mut object: A,
                    ) -> ::core::result::Result<$name, A::Error> {
                        $(let mut $field = ::core::option::Option::None;)*
                        $(let mut $rest = ::std::collections::BTreeMap::new();)?
                        while let ::core::option::Option::Some(key) = object.next_key_seed($crate::Key(&[$($key),*]))? {
                            match key {
                                ::core::result::Result::Ok(index) => {
                                    let mut before = 0..index;
                                    $(if before.next().is_none() {
                                        $crate::put::<_, A::Error>(&mut $field, $key, object.next_value()?)?;
                                        continue;
                                    })*
                                }
                                ::core::result::Result::Err(key) => {
                                    $crate::__object!(@more object, key $(, $rest)?);
                                }
                            }
                        }
                        ::core::result::Result::Ok($name {
                            $($field: $crate::__object!(@read $field, $kind, $key),)*
                            $($rest,)?
                        })
                    }
                }

                deserializer.deserialize_map(__Object)
            }
        }
    };
    (@write $object:ident, $field:expr, required, $key:literal) => {
        $crate::serde::ser::SerializeMap::serialize_entry(&mut $object, $key, $field)?
    };
    (@write $object:ident, $field:expr, optional, $key:literal) => {
        if let ::core::option::Option::Some(value) = $field {
            $crate::serde::ser::SerializeMap::serialize_entry(&mut $object, $key, value)?;
        }
    };
    (@read $field:ident, required, $key:literal) => {
        match $field {
            ::core::option::Option::Some(value) => value,
            ::core::option::Option::None => {
                return ::core::result::Result::Err($crate::serde::de::Error::missing_field($key));
            }
        }
    };
    (@read $field:ident, optional, $key:literal) => {
        $field
    };
    (@more $object:ident, $key:ident) => {
        return ::core::result::Result::Err($crate::serde::de::Error::unknown_field(&$key, &[]))
    };
    (@more $object:ident, $key:ident, $rest:ident) => {
        $rest.insert($key, $object.next_value()?)
    };
}

/// Writes a struct as the variables of a prompt.
#[doc(hidden)]
#[macro_export]
macro_rules! __input {
    ($name:ident { $($field:ident: $key:literal,)* }) => {
        impl $crate::serde::Serialize for $name {
            #[allow(unused_mut)]
            fn serialize<S: $crate::serde::Serializer>(
                &self,
                serializer: S,
            ) -> ::core::result::Result<S::Ok, S::Error> {
                let mut object = serializer.serialize_map(::core::option::Option::None)?;
                $($crate::__object!(@write object, &self.$field, required, $key);)*
                $crate::serde::ser::SerializeMap::end(object)
            }
        }
    };
}

/// Reads and writes a struct around one value as that value.
#[doc(hidden)]
#[macro_export]
macro_rules! __newtype {
    ($name:ident) => {
        impl $crate::serde::Serialize for $name {
            fn serialize<S: $crate::serde::Serializer>(
                &self,
                serializer: S,
            ) -> ::core::result::Result<S::Ok, S::Error> {
                $crate::serde::Serialize::serialize(&self.0, serializer)
            }
        }

        impl<'de> $crate::serde::Deserialize<'de> for $name {
            fn deserialize<D: $crate::serde::Deserializer<'de>>(
                deserializer: D,
            ) -> ::core::result::Result<Self, D::Error> {
                $crate::serde::Deserialize::deserialize(deserializer).map(Self)
            }
        }
    };
}

/// Keeps what was read for a field.
///
/// # Errors
///
/// When the field was read before.
pub fn put<T, E: Error>(field: &mut Option<T>, key: &'static str, value: T) -> Result<(), E> {
    match field.replace(value) {
        None => Ok(()),
        Some(_) => Err(E::duplicate_field(key)),
    }
}

/// Reads a property's name: the number of the field that has it, or the name.
#[derive(Debug)]
pub struct Key(pub &'static [&'static str]);

impl<'de> DeserializeSeed<'de> for Key {
    type Value = Result<usize, String>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_identifier(self)
    }
}

impl Visitor<'_> for Key {
    type Value = Result<usize, String>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a property's name")
    }

    fn visit_str<E>(self, key: &str) -> Result<Self::Value, E> {
        let field = self.0.iter().position(|field| *field == key);
        Ok(field.ok_or_else(|| key.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde::{Deserialize, Serialize};
    use serde_json::{Value, json};

    #[derive(Debug, PartialEq)]
    struct Open {
        name: String,
        note: Option<Option<String>>,
        rest: BTreeMap<String, i64>,
    }

    crate::__object!(Open {
        name: required "name",
        note: optional "a note",
        ..rest
    });

    #[derive(Debug, PartialEq)]
    struct Closed {
        r#type: Option<i64>,
    }

    crate::__object!(Closed { r#type: optional "type", });

    struct Empty {}

    crate::__object!(Empty {});

    #[test]
    fn what_is_read_is_written_again_in_the_declared_order() {
        let text = r#"{"a": 9007199254740993, "name": "n", "b": 2, "a note": null}"#;
        let value: Value = serde_json::from_str(text).unwrap();
        let streamed: Open = serde_json::from_str(text).unwrap();
        assert_eq!(streamed.note, Some(None));
        assert_eq!(Open::deserialize(&value).unwrap(), streamed);
        let written = serde_json::to_string(&streamed).unwrap();
        assert_eq!(
            written,
            r#"{"name":"n","a note":null,"a":9007199254740993,"b":2}"#
        );
        assert_eq!(
            serde_json::to_string(&Closed { r#type: None }).unwrap(),
            "{}"
        );
        assert!(
            Empty::deserialize(json!({}))
                .unwrap()
                .serialize(serde_json::value::Serializer)
                .is_ok()
        );
    }

    #[test]
    fn what_no_field_holds_is_an_error() {
        for wrong in [
            json!({"a": 1}),
            json!({"name": "n", "a": "1"}),
            json!(["n"]),
            json!("name"),
            json!(null),
        ] {
            assert!(Open::deserialize(wrong).is_err());
        }
        for wrong in [
            json!({"type": null}),
            json!({"type": 1, "more": 2}),
            json!([1]),
        ] {
            assert!(Closed::deserialize(wrong).is_err());
        }
        assert!(serde_json::from_str::<Closed>(r#"{"type": 1, "type": 1}"#).is_err());
        assert!(Empty::deserialize(json!({"more": 2})).is_err());
    }
}
