//! How is a choice between types written and read?

/// Reads and writes an enum of types; the variants stand in the order in which they are tried.
#[doc(hidden)]
#[macro_export]
macro_rules! __union {
    ($name:ident { $($variant:ident),+ $(,)? }) => {
        $crate::__union!(@by $name [] { $($variant =),+ });
    };
    ($name:ident by $tag:literal { $($branches:tt)+ }) => {
        $crate::__union!(@by $name [$tag] { $($branches)+ });
    };
    (@by $name:ident [$($tag:literal)?] {
        $($variant:ident = $($value:literal)|*),+ $(,)?
    }) => {
        impl $crate::Union for $name {
            fn branch(
                index: usize,
                place: $crate::Place<'_, '_>,
            ) -> ::core::result::Result<Self, $crate::Fault> {
                let mut branches = 0..index;
                $(
                    if branches.next().is_none() {
                        return $crate::ReadJson::read_json(place).map(Self::$variant);
                    }
                )+
                ::core::result::Result::Err($crate::Fault::Unfit("one of the union's branches"))
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

        impl $crate::ReadJson for $name {
            fn read_json(
                place: $crate::Place<'_, '_>,
            ) -> ::core::result::Result<Self, $crate::Fault> {
                $crate::read_union(place)
            }

            fn shape() -> &'static $crate::Shape {
                const {
                    &$crate::Shape::union(
                        $crate::__fields!($($tag)?),
                        &[$(&[$($value),*]),+],
                        const { &[$($crate::shape_of_branch(Self::$variant)),+] },
                    )
                }
            }
        }

        $crate::__deserialize!($name);
    };
}

#[cfg(test)]
mod laws;
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
        Circle,
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

    crate::__union!(Deep { Right, Left, End });

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
