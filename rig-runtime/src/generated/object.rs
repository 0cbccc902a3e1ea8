//! How is an object read and written that has fields, and perhaps a map for the properties that the schema does not
//! list?
//!
//! Each property goes where it belongs as it comes, nothing is buffered. A property that is neither is an error.

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

        impl $crate::ReadJson for $name {
            #[allow(unused_mut, unused_variables)]
            fn read_json(
                place: $crate::Place<'_, '_>,
            ) -> ::core::result::Result<Self, $crate::Fault> {
                $(let mut $field = ::core::option::Option::None;)*
                $(let mut $rest = ::std::collections::BTreeMap::new();)?
                let mut object = place.object(const { &$crate::Fields::new(&[$($key),*]) })?;
                while let ::core::option::Option::Some(entry) = object.entry()? {
                    match entry {
                        $crate::Entry::Field(index) => {
                            let mut before = 0..index;
                            $(if before.next().is_none() {
                                $field = ::core::option::Option::Some(
                                    $crate::ReadJson::read_json(object.value())?,
                                );
                                continue;
                            })*
                        }
                        $crate::Entry::Other => {
                            $crate::__object!(@more object $(, $rest)?);
                        }
                    }
                }
                ::core::result::Result::Ok($name {
                    $($field: $crate::__object!(@read $field, $kind, $key),)*
                    $($rest,)?
                })
            }
        }

        $crate::__deserialize!($name);
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
                return ::core::result::Result::Err($crate::Fault::Missing($key));
            }
        }
    };
    (@read $field:ident, optional, $key:literal) => {
        $field
    };
    (@more $object:ident) => {
        return ::core::result::Result::Err($crate::Fault::Unfit("no further property"))
    };
    (@more $object:ident, $rest:ident) => {{
        let key = $object.key();
        $rest.insert(key, $crate::ReadJson::read_json($object.value())?);
    }};
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

        impl $crate::ReadJson for $name {
            fn read_json(
                place: $crate::Place<'_, '_>,
            ) -> ::core::result::Result<Self, $crate::Fault> {
                $crate::ReadJson::read_json(place).map(Self)
            }
        }

        $crate::__deserialize!($name);
    };
}

/// Has serde read a type as it is read from an answer.
#[doc(hidden)]
#[macro_export]
macro_rules! __deserialize {
    ($name:ident) => {
        impl<'de> $crate::serde::Deserialize<'de> for $name {
            fn deserialize<D: $crate::serde::Deserializer<'de>>(
                deserializer: D,
            ) -> ::core::result::Result<Self, D::Error> {
                $crate::deserialize(deserializer)
            }
        }
    };
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
        let repeated = crate::conform::read::<Closed>(None, true, r#"{"type": 1, "type": 1}"#);
        assert_eq!(repeated, Err(crate::Fault::Repeated("type".to_owned())));
        assert!(Empty::deserialize(json!({"more": 2})).is_err());
    }
}
