//! Are choices within choices decided right, and in few steps?

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde::Serialize;
use serde_json::{Value, json};

use crate::conform::read;
use crate::{ReadJson, steps};

#[derive(Debug, PartialEq)]
struct Counted {
    next: Box<Link>,
    v: i64,
}
#[derive(Debug, PartialEq)]
struct Named {
    next: Box<Link>,
    v: String,
}
#[derive(Debug, PartialEq)]
struct Pair {
    left: Option<Box<Link>>,
    next: Box<Link>,
    rest: BTreeMap<String, Link>,
}
#[derive(Debug, PartialEq)]
struct Loose {
    next: Value,
    v: (),
}
#[derive(Debug, PartialEq)]
enum Inner {
    Loose(Loose),
    Pair(Pair),
}
#[derive(Debug, PartialEq)]
struct Items(Box<Link>, Option<bool>, Vec<Link>);
/// Every branch that is an object needs the same keys, and holds the choice again.
#[derive(Debug, PartialEq)]
enum Link {
    Named(Named),
    Counted(Counted),
    Inner(Box<Inner>),
    Numbers(Vec<i64>),
    Two((Box<Link>, String)),
    Items(Items),
    End(i64),
}

crate::__object!(Counted { next: required "next", v: required "v", });
crate::__object!(Named { next: required "next", v: required "v", });
crate::__object!(Pair { left: optional "left", next: required "next", ..rest });
crate::__object!(Loose { next: required "next", v: required "v", });
crate::__items!(Items {
    0: required,
    1: optional,
    2: rest
});
crate::__union!(Inner { Loose, Pair });
crate::__union!(Link {
    Named,
    Counted,
    Inner,
    Numbers,
    Two,
    Items,
    End
});

/// Returns the branch of a value, tried one after the other.
fn branch(value: &Value) -> Option<usize> {
    let is = |value: &Value| branch(value).is_some();
    let has = |keys: &[&str]| {
        let object = value.as_object();
        object.is_some_and(|object| {
            object.len() == 2 && keys.iter().all(|key| object.contains_key(*key))
        })
    };
    let both = has(&["next", "v"]);
    let inner = || {
        let others = value
            .as_object()
            .filter(|object| object.contains_key("next"));
        (both && value["v"].is_null()) || others.is_some_and(|object| object.values().all(is))
    };
    let items = value.as_array();
    let listed = |items: &Vec<Value>| match items.as_slice() {
        [] => false,
        [first] => is(first),
        [first, flag, rest @ ..] => is(first) && flag.is_boolean() && rest.iter().all(is),
    };
    [
        both && value["v"].is_string() && is(&value["next"]),
        both && value["v"].is_i64() && is(&value["next"]),
        inner(),
        items.is_some_and(|items| items.iter().all(Value::is_i64)),
        items.is_some_and(|items| items.len() == 2 && is(&items[0]) && items[1].is_string()),
        items.is_some_and(listed),
        value.is_i64(),
    ]
    .iter()
    .position(|is_branch| *is_branch)
}

fn value() -> impl Strategy<Value = Value> {
    let scalar = prop_oneof![
        4 => (-2_i64..9).prop_map(Value::from),
        1 => Just(json!(0.5)),
        1 => Just(json!("a")),
        1 => Just(json!(true)),
        1 => Just(Value::Null),
    ];
    scalar.clone().prop_recursive(5, 24, 3, move |inner| {
        prop_oneof![
            4 => (inner.clone(), scalar.clone()).prop_map(|(next, v)| json!({"next": next, "v": v})),
            2 => (inner.clone(), inner.clone()).prop_map(|(next, left)| json!({"left": left, "next": next})),
            1 => (inner.clone(), inner.clone()).prop_map(|(next, more)| json!({"next": next, "more": more})),
            1 => (inner.clone(), scalar.clone()).prop_map(|(first, second)| json!([first, second])),
            1 => prop::collection::vec(inner, 0..3).prop_map(Value::from),
        ]
    })
}

/// Reads a text without a schema, and checks that no part of it was looked at often.
fn counted<T: ReadJson>(text: &str) -> Option<T> {
    let (read, steps) = steps::of(|| read::<T>(None, true, text).ok());
    // There are eleven types and as many choices between them, and no value is shorter than a byte.
    let most = 20 * text.len();
    assert!(
        steps <= most,
        "{steps} steps for {} bytes: {text:.90}",
        text.len()
    );
    read
}

fn same<T: ReadJson + Serialize>(text: &str) {
    let read: T = counted(text).unwrap_or_else(|| panic!("{text:.90}"));
    let value: Value = serde_json::from_str(text).unwrap();
    assert_eq!(serde_json::to_value(read).unwrap(), value);
}

#[test]
fn branches_with_the_same_keys_are_decided_once_however_deep() {
    for depth in [10, 60, 125] {
        let chain = |open: &str, close: &str| open.repeat(depth) + "1" + &close.repeat(depth);
        same::<Link>(&chain(r#"{"next":"#, r#","v":1}"#));
        same::<Link>(&chain(r#"{"next":"#, r#","v":"a"}"#));
        same::<Link>(&chain(r#"{"next":"#, r#","v":null}"#));
        same::<Link>(&chain(r#"{"v":1,"next":"#, "}"));
        same::<Link>(&chain(r#"{"left":1,"next":"#, "}"));
        same::<Link>(&chain("[", r#","a"]"#));
        same::<Link>(&chain("[", ",true,7]"));
        let wrong = chain(r#"{"next":"#, r#","v":true}"#);
        assert_eq!(counted::<Link>(&wrong), None);
        let deep_wrong = r#"{"next":"#.repeat(depth) + "false" + &r#","v":1}"#.repeat(depth);
        assert_eq!(counted::<Link>(&deep_wrong), None);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn the_first_branch_that_holds_the_value_is_read(value in value()) {
        let text = value.to_string();
        let read = counted::<Link>(&text);
        let index = read.as_ref().map(|link| match link {
            Link::Named(_) => 0,
            Link::Counted(_) => 1,
            Link::Inner(_) => 2,
            Link::Numbers(_) => 3,
            Link::Two(_) => 4,
            Link::Items(_) => 5,
            Link::End(_) => 6,
        });
        prop_assert_eq!(index, branch(&value), "{}", text);
        if let Some(read) = read {
            prop_assert_eq!(serde_json::to_value(read).unwrap(), value);
        }
    }
}
