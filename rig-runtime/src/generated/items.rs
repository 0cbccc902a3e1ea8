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

        impl $crate::ReadJson for $name {
            fn read_json(
                place: $crate::Place<'_, '_>,
            ) -> ::core::result::Result<Self, $crate::Fault> {
                let mut items = place.list()?;
                let read = $name($($crate::__items!(@read items, $kind)),+);
                items.end()?;
                ::core::result::Result::Ok(read)
            }

            fn shape() -> &'static $crate::Shape {
                const {
                    &$crate::Shape::list(const { &[$($crate::__items!(@shape $name, $index, $kind)),+] })
                }
            }
        }

        $crate::__deserialize!($name);
    };
    (@shape $name:ident, $index:tt, required) => {
        $crate::ItemShape::Required($crate::shape_of_field(|list: &$name| &list.$index))
    };
    (@shape $name:ident, $index:tt, optional) => {
        $crate::ItemShape::Optional($crate::shape_of_optional(|list: &$name| &list.$index))
    };
    (@shape $name:ident, $index:tt, rest) => {
        $crate::ItemShape::Rest($crate::shape_of_items(|list: &$name| &list.$index))
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
    (@read $items:ident, required) => {
        match $items.item()? {
            ::core::option::Option::Some(item) => $crate::ReadJson::read_json(item)?,
            ::core::option::Option::None => {
                return ::core::result::Result::Err($crate::Fault::Unfit("a longer list"));
            }
        }
    };
    (@read $items:ident, optional) => {
        match $items.item()? {
            ::core::option::Option::Some(item) => {
                ::core::option::Option::Some($crate::ReadJson::read_json(item)?)
            }
            ::core::option::Option::None => ::core::option::Option::None,
        }
    };
    (@read $items:ident, rest) => {{
        let mut rest = ::std::vec::Vec::new();
        while let ::core::option::Option::Some(item) = $items.item()? {
            rest.push($crate::ReadJson::read_json(item)?);
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
