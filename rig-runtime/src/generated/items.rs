//! How is a list read whose first items have types of their own, and need not all be there?

/// Reads and writes a tuple struct as a list: items that are required, then optional ones, then a list of the rest.
#[doc(hidden)]
#[macro_export]
macro_rules! __items {
    ($name:ident { $($index:tt: $kind:ident),+ $(,)? }) => {
        impl $crate::serde::Serialize for $name {
            fn serialize<S: $crate::serde::Serializer>(
                &self,
                serializer: S,
            ) -> ::core::result::Result<S::Ok, S::Error> {
                let mut items = serializer.serialize_seq(::core::option::Option::None)?;
                $($crate::__items!(@write items, &self.$index, $kind);)+
                $crate::serde::ser::SerializeSeq::end(items)
            }
        }

        impl<'de> $crate::serde::Deserialize<'de> for $name {
            fn deserialize<D: $crate::serde::Deserializer<'de>>(
                deserializer: D,
            ) -> ::core::result::Result<Self, D::Error> {
                struct Items;

                impl<'de> $crate::serde::de::Visitor<'de> for Items {
                    type Value = $name;

                    fn expecting(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                        f.write_str("a list")
                    }

                    fn visit_seq<A: $crate::serde::de::SeqAccess<'de>>(
                        self,
                        mut items: A,
                    ) -> ::core::result::Result<$name, A::Error> {
                        ::core::result::Result::Ok($name($($crate::__items!(@read items, $index, $kind)),+))
                    }
                }

                deserializer.deserialize_seq(Items)
            }
        }
    };
    (@write $items:ident, $item:expr, required) => {
        $crate::serde::ser::SerializeSeq::serialize_element(&mut $items, $item)?
    };
    (@write $items:ident, $item:expr, optional) => {
        if let ::core::option::Option::Some(item) = $item {
            $crate::serde::ser::SerializeSeq::serialize_element(&mut $items, item)?;
        }
    };
    (@write $items:ident, $item:expr, rest) => {
        for item in $item {
            $crate::serde::ser::SerializeSeq::serialize_element(&mut $items, item)?;
        }
    };
    (@read $items:ident, $index:tt, required) => {
        match $items.next_element()? {
            ::core::option::Option::Some(item) => item,
            ::core::option::Option::None => {
                return ::core::result::Result::Err($crate::serde::de::Error::invalid_length($index, &"a longer list"));
            }
        }
    };
    (@read $items:ident, $index:tt, optional) => {
        $items.next_element()?
    };
    (@read $items:ident, $index:tt, rest) => {{
        let mut rest = ::std::vec::Vec::new();
        while let ::core::option::Option::Some(item) = $items.next_element()? {
            rest.push(item);
        }
        rest
    }};
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    #[derive(Debug, PartialEq)]
    struct Closed(String, Option<Option<i64>>);

    crate::__items!(Closed {
        0: required,
        1: optional
    });

    #[derive(Debug, PartialEq)]
    struct Open(Option<String>, Vec<Value>);

    crate::__items!(Open {
        0: optional,
        1: rest
    });

    #[test]
    fn items_are_there_as_far_as_the_list_goes() {
        for value in [json!(["a"]), json!(["a", null]), json!(["a", 7])] {
            let read: Closed = serde_json::from_value(value.clone()).unwrap();
            assert_eq!(serde_json::to_value(&read).unwrap(), value);
        }
        for value in [json!([]), json!(["a"]), json!(["a", null, {"b": []}])] {
            let read: Open = serde_json::from_str(&value.to_string()).unwrap();
            assert_eq!(serde_json::to_value(&read).unwrap(), value);
        }
        for wrong in [json!([]), json!([1]), json!(["a", 1, 2]), json!({})] {
            assert!(serde_json::from_str::<Closed>(&wrong.to_string()).is_err());
            assert!(serde_json::from_value::<Closed>(wrong).is_err());
        }
    }
}
