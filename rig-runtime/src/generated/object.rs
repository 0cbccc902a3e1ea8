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
                let mut object = place.object($crate::__fields!($($key),*))?;
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

            fn shape() -> &'static $crate::Shape {
                const {
                    &$crate::Shape::object(
                        $crate::__fields!($($key),*),
                        const { &[$($crate::__object!(@shape $name, $field, $kind)),*] },
                        $crate::__object!(@shape $name $(, $rest)?),
                    )
                }
            }
        }

        $crate::__deserialize!($name);
    };
    (@shape $name:ident, $field:ident, required) => {
        (true, $crate::shape_of_field(|object: &$name| &object.$field))
    };
    (@shape $name:ident, $field:ident, optional) => {
        (false, $crate::shape_of_optional(|object: &$name| &object.$field))
    };
    (@shape $name:ident, $rest:ident) => {
        ::core::option::Option::Some($crate::shape_of_values(|object: &$name| &object.$rest))
    };
    (@shape $name:ident) => {
        ::core::option::Option::None
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

/// The names of properties that have a field.
#[doc(hidden)]
#[macro_export]
macro_rules! __fields {
    ($($key:literal),*) => {
        const {
            &$crate::Fields::new(
                &[$($key),*],
                &[$(::core::concat!("\"", $key, "\":")),*],
            )
        }
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

        impl $crate::ReadJson for $name {
            fn read_json(
                place: $crate::Place<'_, '_>,
            ) -> ::core::result::Result<Self, $crate::Fault> {
                $crate::ReadJson::read_json(place).map(Self)
            }

            fn shape() -> &'static $crate::Shape {
                let of = const { $crate::shape_of_branch(Self) };
                of()
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

    #[derive(Debug, PartialEq)]
    struct Wide {
        inner: Option<Box<Wide>>,
        f0: Option<String>,
        f1: Option<String>,
        f2: Option<String>,
        f3: Option<String>,
        f4: Option<String>,
        f5: Option<String>,
        f6: Option<String>,
        f7: Option<String>,
        f8: Option<String>,
        f9: Option<String>,
        f10: Option<String>,
        f11: Option<String>,
        f12: Option<String>,
        f13: Option<String>,
        f14: Option<String>,
        f15: Option<String>,
        f16: Option<String>,
        f17: Option<String>,
        f18: Option<String>,
        f19: Option<String>,
        f20: Option<String>,
        f21: Option<String>,
        f22: Option<String>,
        f23: Option<String>,
        f24: Option<String>,
        f25: Option<String>,
        f26: Option<String>,
        f27: Option<String>,
        f28: Option<String>,
        f29: Option<String>,
        f30: Option<String>,
        f31: Option<String>,
        f32: Option<String>,
        f33: Option<String>,
        f34: Option<String>,
        f35: Option<String>,
        f36: Option<String>,
        f37: Option<String>,
        f38: Option<String>,
        f39: Option<String>,
    }

    crate::__object!(Wide {
        inner: optional "inner",
        f0: optional "f0",
        f1: optional "f1",
        f2: optional "f2",
        f3: optional "f3",
        f4: optional "f4",
        f5: optional "f5",
        f6: optional "f6",
        f7: optional "f7",
        f8: optional "f8",
        f9: optional "f9",
        f10: optional "f10",
        f11: optional "f11",
        f12: optional "f12",
        f13: optional "f13",
        f14: optional "f14",
        f15: optional "f15",
        f16: optional "f16",
        f17: optional "f17",
        f18: optional "f18",
        f19: optional "f19",
        f20: optional "f20",
        f21: optional "f21",
        f22: optional "f22",
        f23: optional "f23",
        f24: optional "f24",
        f25: optional "f25",
        f26: optional "f26",
        f27: optional "f27",
        f28: optional "f28",
        f29: optional "f29",
        f30: optional "f30",
        f31: optional "f31",
        f32: optional "f32",
        f33: optional "f33",
        f34: optional "f34",
        f35: optional "f35",
        f36: optional "f36",
        f37: optional "f37",
        f38: optional "f38",
        f39: optional "f39",
    });

    // Answers nest as deep as they like; a worker's stack is 2 MiB.
    #[test]
    fn deep_answers_of_wide_types_fit_on_the_stack() {
        let text = r#"{"f7":"x","inner":"#.repeat(126) + r#"{"f39":"y"}"# + &"}".repeat(126);
        let read = std::thread::Builder::new()
            .stack_size(2 << 20)
            .spawn(move || crate::conform::read::<Wide>(None, true, &text).is_ok())
            .unwrap();
        assert!(read.join().unwrap());
    }
}
