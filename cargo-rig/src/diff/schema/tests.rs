//! Is it true what is said about old answers?

use jsonschema::validator_for;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::unfit;

fn reasons(old: &Value, new: &Value) -> Vec<String> {
    let found = unfit(Some(&old.to_string()), Some(&new.to_string()));
    found
        .into_iter()
        .map(|one| format!("{}: {}", one.pointer, one.text))
        .collect()
}

#[test]
fn each_narrowing_is_named_at_its_place() {
    let old = json!({
        "type": "object",
        "properties": {
            "kind": { "enum": ["a", "b"] },
            "note": { "type": ["string", "null"], "maxLength": 10 },
            "tags": { "type": "array", "items": { "type": "string" } },
            "gone": { "type": "string" }
        },
        "required": ["kind"],
        "additionalProperties": false
    });
    let new = json!({
        "type": "object",
        "properties": {
            "kind": { "enum": ["a", "c"] },
            "note": { "type": "string", "maxLength": 5 },
            "tags": { "type": "array", "items": { "type": "integer" }, "minItems": 1 },
            "more": { "type": "string" }
        },
        "required": ["kind", "more"],
        "additionalProperties": false
    });
    let expected = [
        "/gone: it is no longer allowed",
        "/kind: `\"b\"` is no longer allowed",
        "/more: it is required now, and may be missing",
        "/note: `maxLength` is 5 now, was 10",
        "/note: null is no longer allowed",
        "/tags: `minItems` is 1 now, was none",
        "/tags/*: a string is no longer allowed",
    ];
    assert_eq!(reasons(&old, &new), expected);
    assert!(reasons(&old, &old).is_empty());
}

#[test]
fn widenings_are_silent() {
    let old = json!({
        "type": "object",
        "properties": { "n": { "type": "integer", "minimum": 1 }, "k": { "const": "a" } },
        "required": ["n", "k"],
        "additionalProperties": false
    });
    let new = json!({
        "type": "object",
        "title": "Other",
        "properties": { "n": { "type": ["number", "null"] }, "k": { "enum": ["a", "b"] }, "m": { "type": "string" } },
        "required": ["n"]
    });
    assert!(reasons(&old, &new).is_empty(), "{:?}", reasons(&old, &new));
    assert!(unfit(Some(&old.to_string()), None).is_empty());
    assert!(!unfit(None, Some(&old.to_string())).is_empty());
}

#[test]
fn references_and_choices_are_followed() {
    let old = json!({ "$ref": "#/$defs/x", "$defs": { "x": { "type": "string" } } });
    let new = json!({ "anyOf": [{ "type": "null" }, { "$ref": "#/$defs/y" }], "$defs": { "y": { "type": "string", "maxLength": 3 } } });
    assert_eq!(
        reasons(&old, &new),
        ["/: it may be none of the new choices"]
    );
    let wider = json!({ "anyOf": [{ "type": "null" }, { "type": "string" }] });
    assert!(reasons(&old, &wider).is_empty());
    assert_eq!(
        reasons(&wider, &json!({ "type": "string" })),
        ["/: null is no longer allowed"]
    );
}

/// Draws small schemas of everything that is compared.
fn schema() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!(true)),
        Just(json!({ "type": "null" })),
        Just(json!({ "type": ["string", "null"] })),
        prop::sample::subsequence(vec![json!("a"), json!("b"), json!(1), json!(null)], 1..4)
            .prop_map(|values| json!({ "enum": values })),
        (0..3, 0..3).prop_map(
            |(least, most)| json!({ "type": "string", "minLength": least, "maxLength": most })
        ),
        (0..3).prop_map(|least| json!({ "type": "integer", "minimum": least })),
        (0..3).prop_map(|most| json!({ "type": "number", "exclusiveMaximum": most })),
        (0..3).prop_map(|most| json!({ "maximum": most, "minLength": most })),
        Just(json!({ "pattern": "^a" })),
    ];
    leaf.prop_recursive(2, 12, 3, |inner| {
        let rest = prop_oneof![Just(json!(true)), Just(json!(false)), inner.clone()];
        prop_oneof![
            (inner.clone(), 0..2).prop_map(|(items, least)| json!({ "type": "array", "items": items, "minItems": least })),
            prop::collection::vec(inner.clone(), 1..3).prop_map(|all| json!({ "anyOf": all })),
            prop::collection::vec(inner.clone(), 1..3).prop_map(|all| json!({ "oneOf": all })),
            (inner.clone(), inner, rest, prop::sample::subsequence(vec!["p", "q"], 0..=2), any::<bool>()).prop_map(
                |(p, q, rest, required, typed)| {
                    let mut schema = json!({ "properties": { "p": p, "q": q }, "required": required, "additionalProperties": rest });
                    if typed {
                        schema["type"] = json!("object");
                    }
                    schema
                }
            ),
        ]
    })
}

fn answer() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!(null)),
        Just(json!(true)),
        (-1..4).prop_map(|n| json!(n)),
        Just(json!(0.5)),
        Just(json!(2.5)),
        prop::sample::select(vec!["", "a", "b", "ab", "abc"]).prop_map(|text| json!(text)),
    ];
    leaf.prop_recursive(2, 8, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(|items| json!(items)),
            prop::collection::btree_map(prop::sample::select(vec!["p", "q", "r"]), inner, 0..3)
                .prop_map(|map| json!(map)),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    /// Where nothing is reported, every answer that conformed still does: judged by another validator.
    #[test]
    fn silence_means_that_every_old_answer_fits(
        old in schema(),
        new in schema(),
        answers in prop::collection::vec(answer(), 24),
    ) {
        if unfit(Some(&old.to_string()), Some(&new.to_string())).is_empty() {
            let (before, after) = (validator_for(&old).unwrap(), validator_for(&new).unwrap());
            for answer in answers {
                prop_assert!(!before.is_valid(&answer) || after.is_valid(&answer), "{old} → {new}: {answer}");
            }
        }
    }

    /// A schema widened in one place: whatever is drawn, its own answers fit it.
    #[test]
    fn a_schema_takes_its_own_answers_and_one_choice_more(old in schema()) {
        prop_assert!(unfit(Some(&old.to_string()), Some(&old.to_string())).is_empty());
        let wider = json!({ "anyOf": [old, { "type": "null" }] });
        prop_assert!(unfit(Some(&old.to_string()), Some(&wider.to_string())).is_empty());
    }
}
