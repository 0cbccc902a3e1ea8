//! Do all judges agree, whatever schema and answer?
//!
//! Keywords are thrown together at random, and so are answers made of the few keys and values that they speak of.

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::oracle::Schema;

fn scalar() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-2_i64..4).prop_map(Value::from),
        prop_oneof![Just(0.5), Just(1.0), Just(1e30)].prop_map(Value::from),
        "[ab]{0,2}".prop_map(Value::from),
    ]
}

fn key() -> impl Strategy<Value = String> {
    prop_oneof![Just("a"), Just("b"), Just("ab"), Just("c")].prop_map(str::to_owned)
}

fn answer() -> impl Strategy<Value = Value> {
    scalar().prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((key(), inner), 0..4)
                .prop_map(|entries| Value::Object(entries.into_iter().collect())),
        ]
    })
}

const TYPES: [&str; 7] = [
    "null", "boolean", "integer", "number", "string", "array", "object",
];

/// A keyword that names no other schema.
fn plain() -> impl Strategy<Value = Value> {
    let count = 0_u32..3;
    prop_oneof![
        4 => prop::sample::select(&TYPES[..]).prop_map(|name| json!({ "type": name })),
        2 => prop::sample::subsequence(&TYPES[..], 1..4).prop_map(|names| json!({ "type": names })),
        2 => prop::collection::vec(answer(), 1..4).prop_map(|values| json!({ "enum": values })),
        1 => answer().prop_map(|value| json!({ "const": value })),
        1 => (prop::sample::select(&["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"][..]), -1_i64..3)
            .prop_map(|(name, bound)| json!({ name: bound })),
        1 => prop::sample::select(&[0.5, 1.0, 2.0][..]).prop_map(|of| json!({ "multipleOf": of })),
        2 => (prop::sample::select(&["minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"][..]), count)
            .prop_map(|(name, count)| json!({ name: count })),
        1 => prop::sample::select(&["^a", "b$", "^(?!b)", "a|b", "^.$"][..]).prop_map(|text| json!({ "pattern": text })),
        1 => Just(json!({ "uniqueItems": true })),
        2 => prop::collection::btree_set(key(), 1..3).prop_map(|keys| json!({ "required": keys })),
        1 => (key(), key()).prop_map(|(key, needed)| json!({ "dependentRequired": { key: [needed] } })),
        1 => any::<bool>().prop_map(|takes| json!({ "additionalProperties": takes })),
        1 => any::<bool>().prop_map(|takes| json!({ "unevaluatedProperties": takes })),
        1 => any::<bool>().prop_map(|takes| json!({ "unevaluatedItems": takes })),
        1 => Just(json!({ "$ref": "#/$defs/one" })),
    ]
}

/// Keywords together, the last one of a name counts.
fn together(keywords: Vec<Value>) -> Value {
    let entries = keywords.into_iter().filter_map(|keyword| match keyword {
        Value::Object(entries) => Some(entries),
        _ => None,
    });
    Value::Object(entries.flatten().collect::<Map<_, _>>())
}

/// Branches that need the same keys, and hold the whole schema again.
fn recursive() -> impl Strategy<Value = Value> {
    let branch = |kind: &str| {
        json!({
            "type": "object",
            "required": ["a", "b"],
            "properties": { "a": { "$ref": "#" }, "b": { "type": kind } },
        })
    };
    prop::sample::select(&["anyOf", "oneOf"][..]).prop_map(move |choice| {
        json!({ choice: [branch("integer"), branch("string"), { "type": "integer" }] })
    })
}

fn schema() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        1 => recursive(),
        6 => prop::collection::vec(plain(), 1..3).prop_map(together),
        1 => any::<bool>().prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 16, 3, |inner| {
        let list = prop::collection::vec(inner.clone(), 1..4);
        let one = prop::sample::select(
            &["items", "contains", "not", "additionalProperties", "propertyNames", "unevaluatedItems", "unevaluatedProperties"][..],
        );
        let many = prop::sample::select(&["allOf", "anyOf", "oneOf", "prefixItems"][..]);
        let keyed = prop::sample::select(&["properties", "patternProperties", "dependentSchemas"][..]);
        let keyword = prop_oneof![
            2 => plain(),
            2 => (one, inner.clone()).prop_map(|(name, inner)| json!({ name: inner })),
            3 => (many, list).prop_map(|(name, list)| json!({ name: list })),
            3 => (keyed, prop::collection::btree_map(key(), inner.clone(), 1..3)).prop_map(|(name, map)| json!({ name: map })),
            1 => (inner.clone(), inner.clone(), inner).prop_map(|(a, b, c)| json!({ "if": a, "then": b, "else": c })),
        ];
        prop::collection::vec(keyword, 1..4).prop_map(together)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn any_schema_judges_any_answer_as_others_do(
        root in schema(),
        one in plain().prop_filter("it refers to itself", |one| one.get("$ref").is_none()),
        answers in prop::collection::vec(answer(), 8),
    ) {
        let mut root = root;
        if let Value::Object(entries) = &mut root {
            entries.insert("$defs".to_owned(), json!({ "one": one }));
            let compiled = Schema::new(&root, &[]).unwrap_or_else(|fault| panic!("{fault}"));
            prop_assert!(compiled.peer.is_some(), "{}", root);
            let what = root.to_string();
            for answer in &answers {
                compiled.takes(&what, answer);
            }
        }
    }
}
