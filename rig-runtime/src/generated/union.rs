//! How is a choice between types read?
//!
//! Where a property says which branch an object is, the rest of the object is read straight into that branch, and
//! only what comes before the property is buffered. Any other value is buffered once, and the branches are tried in
//! their order.

use std::fmt;
use std::marker::PhantomData;

use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{
    Deserialize, DeserializeSeed, Deserializer, Error, IntoDeserializer, MapAccess, SeqAccess,
    Visitor,
};
use serde_json::{Number, Value};

/// A choice between types.
pub trait Union: Sized {
    /// The property that says which branch an object is; empty if there is none.
    const TAG: &'static str;
    /// For each branch the values of the tag that mean it.
    const TAGS: &'static [&'static [&'static str]];

    /// For each branch that is an object the properties that it needs. Looking for them first costs little, and where
    /// choices are within choices it keeps every level from trying all below it for each branch.
    const NEEDED: &'static [&'static [&'static str]];

    /// Reads the branch with this number.
    ///
    /// # Errors
    ///
    /// When the value is none of the branch's, and where there is no such branch.
    fn branch<'de, D: Deserializer<'de>>(index: usize, deserializer: D) -> Result<Self, D::Error>;
}

/// Reads and writes an enum of types; the variants stand in the order in which they are tried.
#[doc(hidden)]
#[macro_export]
macro_rules! __union {
    ($name:ident { $($variant:ident $(if $($needed:literal)&+)?),+ $(,)? }) => {
        $crate::__union!($name by "" { $($variant = $(if $($needed)&+)?),+ });
    };
    ($name:ident by $tag:literal {
        $($variant:ident = $($value:literal)|* $(if $($needed:literal)&+)?),+ $(,)?
    }) => {
        impl $crate::Union for $name {
            const TAG: &'static str = $tag;
            const TAGS: &'static [&'static [&'static str]] = &[$(&[$($value),*]),+];
            const NEEDED: &'static [&'static [&'static str]] = &[$(&[$($($needed),+)?]),+];

            fn branch<'de, D: $crate::serde::Deserializer<'de>>(
                index: usize,
                deserializer: D,
            ) -> ::core::result::Result<Self, D::Error> {
                let mut branches = 0..index;
                $(
                    if branches.next().is_none() {
                        return $crate::serde::Deserialize::deserialize(deserializer).map(Self::$variant);
                    }
                )+
                ::core::result::Result::Err($crate::serde::de::Error::custom("there is no such branch"))
            }
        }

        impl $crate::serde::Serialize for $name {
            fn serialize<S: $crate::serde::Serializer>(
                &self,
                serializer: S,
            ) -> ::core::result::Result<S::Ok, S::Error> {
                match self {
                    $(Self::$variant(value) => $crate::serde::Serialize::serialize(value, serializer),)+
                }
            }
        }

        impl<'de> $crate::serde::Deserialize<'de> for $name {
            fn deserialize<D: $crate::serde::Deserializer<'de>>(
                deserializer: D,
            ) -> ::core::result::Result<Self, D::Error> {
                $crate::deserialize_union(deserializer)
            }
        }
    };
}

/// Reads the branch that an object's tag names, else the first branch that holds the value.
///
/// # Errors
///
/// When the value is none of the branches'.
pub fn deserialize_union<'de, T: Union, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<T, D::Error> {
    if T::TAG.is_empty() {
        return first(Value::deserialize(deserializer)?);
    }
    deserializer.deserialize_any(UnionVisitor(PhantomData))
}

/// Reads the first branch that holds the value.
fn first<T: Union, E: Error>(mut value: Value) -> Result<T, E> {
    write_whole_numbers_whole(&mut value);
    let has = |needed: &&[&str]| {
        let has = |key: &&str| value.get(*key).is_some();
        needed.iter().all(has)
    };
    let branches = T::NEEDED
        .iter()
        .enumerate()
        .filter(|(_, needed)| has(needed));
    let mut found = branches.filter_map(|(index, _)| T::branch(index, &value).ok());
    found
        .next()
        .ok_or_else(|| E::custom("the value is none of the union's branches"))
}

/// Turns `3.0` into `3`: JSON Schema takes it for an integer, and Rust's integers do not.
fn write_whole_numbers_whole(value: &mut Value) {
    /// Up to 2^53 every whole float is exactly the integer it looks like.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    match value {
        Value::Number(number) if number.is_f64() => {
            let whole = number
                .as_f64()
                .filter(|float| float.fract() == 0.0 && float.abs() <= EXACT);
            if let Some(whole) = whole {
                *number = Number::from(whole as i64);
            }
        }
        Value::Array(items) => items.iter_mut().for_each(write_whole_numbers_whole),
        Value::Object(entries) => entries.values_mut().for_each(write_whole_numbers_whole),
        Value::Number(_) | Value::Null | Value::Bool(_) | Value::String(_) => {}
    }
}

struct UnionVisitor<T>(PhantomData<T>);

impl<'de, T: Union> Visitor<'de> for UnionVisitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("one of the union's branches")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<T, A::Error> {
        let mut before = Vec::new();
        while let Some(key) = map.next_key::<String>()? {
            let mut value: Value = map.next_value()?;
            let is_branch =
                |tags: &&[&str]| value.as_str().is_some_and(|value| tags.contains(&value));
            let branch = T::TAGS
                .iter()
                .position(|tags| key == T::TAG && is_branch(tags));
            write_whole_numbers_whole(&mut value);
            before.push((key, value));
            if let Some(branch) = branch {
                let rest = Rejoined {
                    before: before.into_iter(),
                    value: None,
                    map,
                };
                return T::branch(branch, MapAccessDeserializer::new(rest));
            }
        }
        first(Value::Object(before.into_iter().collect()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, items: A) -> Result<T, A::Error> {
        first(Value::deserialize(SeqAccessDeserializer::new(items))?)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<T, E> {
        first(Value::from(text))
    }

    fn visit_string<E: Error>(self, text: String) -> Result<T, E> {
        first(Value::from(text))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<T, E> {
        first(Value::from(number))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<T, E> {
        first(Value::from(number))
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<T, E> {
        first(Value::from(number))
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<T, E> {
        first(Value::from(value))
    }

    fn visit_unit<E: Error>(self) -> Result<T, E> {
        first(Value::Null)
    }
}

/// An object whose first properties were read ahead.
struct Rejoined<A> {
    before: std::vec::IntoIter<(String, Value)>,
    value: Option<Value>,
    map: A,
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for Rejoined<A> {
    type Error = A::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, A::Error> {
        match self.before.next() {
            Some((key, value)) => {
                self.value = Some(value);
                seed.deserialize(key.into_deserializer()).map(Some)
            }
            None => self.map.next_key_seed(seed),
        }
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value, A::Error> {
        match self.value.take() {
            Some(value) => seed.deserialize(value).map_err(Error::custom),
            None => self.map.next_value_seed(seed),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde::{Deserialize, Serialize};
    use serde_json::{Value, json};

    #[derive(Debug, PartialEq)]
    struct Circle {
        kind: String,
        radius: i64,
    }

    crate::__object!(Circle { kind: required "kind", radius: required "radius", });

    #[derive(Debug, PartialEq)]
    struct Group {
        kind: Option<String>,
        members: Vec<Shape>,
    }

    crate::__object!(Group { kind: optional "kind", members: required "members", });

    #[derive(Debug, PartialEq)]
    enum Shape {
        Circle(Circle),
        Group(Box<Group>),
        Name(String),
        Sides(i64),
    }

    crate::__union!(Shape by "kind" { Circle = "circle" | "ring", Group = "group", Name =, Sides = });

    #[derive(Debug, PartialEq)]
    enum Untold {
        Number(i64),
        Circle(Circle),
        Many(Vec<Untold>),
        Other(Value),
    }

    crate::__union!(Untold {
        Number,
        Circle if "kind" & "radius",
        Many,
        Other
    });

    #[derive(Debug, PartialEq)]
    struct Left {
        left: Box<Deep>,
    }

    crate::__object!(Left { left: required "left", });

    #[derive(Debug, PartialEq)]
    struct Right {
        left: Box<Deep>,
        right: i64,
    }

    crate::__object!(Right { left: required "left", right: required "right", });

    #[derive(Debug, PartialEq)]
    enum Deep {
        Right(Right),
        Left(Left),
        End(i64),
    }

    crate::__union!(Deep { Right if "left" & "right", Left if "left", End });

    #[test]
    fn choices_within_choices_are_not_tried_over_and_over() {
        let text = r#"{"left":"#.repeat(60) + "1" + &"}".repeat(60);
        same::<Deep>(&text);
        let text = r#"{"right": 1, "left":"#.repeat(60) + "1" + &"}".repeat(60);
        same::<Deep>(&text);
    }

    #[track_caller]
    fn same<T: for<'a> Deserialize<'a> + Serialize>(text: &str) -> T {
        let streamed: T = serde_json::from_str(text).unwrap();
        let value: Value = serde_json::from_str(text).unwrap();
        let buffered: T = serde_json::from_value(value.clone()).unwrap();
        for read in [&streamed, &buffered] {
            assert_eq!(serde_json::to_value(read).unwrap(), value);
        }
        streamed
    }

    #[test]
    fn a_tag_says_the_branch_wherever_it_stands() {
        for text in [
            r#"{"kind": "circle", "radius": 9007199254740993}"#,
            r#"{"radius": 9007199254740993, "kind": "ring"}"#,
            r#"{"members": [{"kind": "group", "members": []}, "name", 7], "kind": "group"}"#,
            r#"{"members": []}"#,
            r#""name""#,
        ] {
            same::<Shape>(text);
        }
        let whole: Shape = serde_json::from_str(r#"{"radius": 3.0, "kind": "ring"}"#).unwrap();
        assert!(matches!(whole, Shape::Circle(Circle { radius: 3, .. })));
        for wrong in [
            json!({"kind": "circle"}),
            json!({"kind": "square", "size": 1}),
            json!(true),
            json!(null),
        ] {
            assert!(Shape::deserialize(&wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn branches_are_tried_in_their_order_and_hold_all() {
        assert!(matches!(
            same(r#"{"kind": "", "radius": 1}"#),
            Untold::Circle(_)
        ));
        assert!(matches!(
            same(r#"{"kind": "", "radius": 1, "more": 1}"#),
            Untold::Other(_)
        ));
        assert!(matches!(same("[1, [2], null]"), Untold::Many(_)));
        assert_eq!(
            serde_json::from_str::<Untold>("3.0").unwrap(),
            Untold::Number(3)
        );
    }
}
