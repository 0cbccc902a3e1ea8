//! Does every answer that is drawn for a schema conform to it?

use std::collections::HashSet;

use serde_json::json;

use super::oracle::{Schema, corpus, files};
use super::*;
use crate::conform::sample::Sampler;

const SEEDS: u64 = 4;

/// Draws answers for all schemas of a corpus; returns how many schemas there are and which have none.
fn of_corpus(name: &str) -> Option<(usize, Vec<String>)> {
    let folder = corpus(name)?;
    let (mut count, mut without) = (0, Vec::new());
    for (path, case) in files(&folder) {
        let what = path.file_stem().unwrap().to_string_lossy();
        let Ok(mut schema) = Schema::new(&case["schema"], &[]) else {
            continue;
        };
        // The peer goes by it in 2020-12 too, which has it no longer.
        if case["schema"].to_string().contains("\"dependencies\":") {
            schema.peer = None;
        }
        count += 1;
        for seed in 0..SEEDS {
            let drawn = Sampler::new(&schema.ready, seed).answer(&Value::Null);
            let Some(value) = drawn else {
                without.push(what.to_string());
                break;
            };
            assert!(schema.takes(&what, &value), "{what}: {value}");
            let again = Sampler::new(&schema.ready, seed).answer(&Value::Null);
            assert_eq!(again, Some(value), "{what}: the same seed draws the same");
        }
    }
    Some((count, without))
}

#[test]
fn schemas_as_people_give_them_to_models_all_have_samples() {
    if let Some((count, without)) = of_corpus("llm-schemas") {
        assert_eq!((count, without), (83, Vec::new()));
    }
}

#[test]
fn nearly_all_other_schemas_have_samples() {
    if let Some((count, without)) = of_corpus("jsonschemabench") {
        // Puzzles: what they ask for together is met by next to nothing.
        let puzzles = ["allOfPProp9", "allany11", "pnmp10", "pnmp3"];
        let puzzles = puzzles.map(|name| format!("Handwritten---{name}"));
        assert_eq!((count, without), (300, puzzles.to_vec()));
    }
}

fn drawn(schema: &str, hint: Value) -> Vec<Option<Value>> {
    let schema = compiled(schema);
    let ready = ready(schema).unwrap();
    let drawn = |seed| Sampler::new(ready, seed).answer(&hint);
    (0..40).map(drawn).collect()
}

#[test]
fn seeds_make_a_difference() {
    let schema = r#"{"type":"object","required":["n"],"properties":{"n":{"enum":[1,2,3]},"m":{"type":"string"}}}"#;
    let all: HashSet<_> = drawn(schema, Value::Null)
        .into_iter()
        .map(|value| value.unwrap().to_string())
        .collect();
    assert!(all.len() > 20, "{all:?}");
}

#[test]
fn what_rules_ask_for_together_is_found() {
    for schema in [
        r#"{"type":"integer","minimum":3,"exclusiveMaximum":4}"#,
        r#"{"type":"integer","multipleOf":7,"minimum":50,"maximum":60}"#,
        r#"{"type":"number","multipleOf":0.01,"minimum":0.1,"maximum":0.2}"#,
        r#"{"type":"integer","minimum":1,"maximum":4,"not":{"enum":[1,2,3]}}"#,
        r#"{"type":"array","uniqueItems":true,"minItems":3,"items":{"enum":["a","b","c"]}}"#,
        r#"{"type":"array","contains":{"const":7},"minContains":2,"items":{"type":"integer"}}"#,
        r#"{"type":"array","prefixItems":[{"type":"string"},{"type":"integer"}],"minItems":2,"items":false}"#,
        r#"{"type":"object","minProperties":2,"additionalProperties":{"type":"boolean"},"propertyNames":{"pattern":"^k[0-9]$"}}"#,
        r#"{"type":"object","patternProperties":{"^x-":{"type":"integer"}},"minProperties":1,"additionalProperties":false}"#,
        r#"{"oneOf":[{"type":"integer","minimum":5},{"type":"integer","maximum":7}]}"#,
        r#"{"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"integer"}},"dependentRequired":{"a":["b"]}}"#,
        r#"{"type":"object","properties":{"kind":{"enum":["x","y"]}},"required":["kind"],"if":{"properties":{"kind":{"const":"x"}}},"then":{"required":["z"]}}"#,
        r##"{"$ref":"#/$defs/tree","$defs":{"tree":{"type":"object","required":["children"],"properties":{"children":{"type":"array","items":{"$ref":"#/$defs/tree"}}}}}}"##,
        r#"{"type":"string","minLength":70,"maxLength":71}"#,
        r#"{"type":["string","null"]}"#,
        "{}",
        "true",
    ] {
        for value in drawn(schema, Value::Null) {
            assert!(value.is_some(), "{schema}");
        }
    }
}

#[test]
fn what_nothing_conforms_to_has_no_sample() {
    for schema in [
        "false",
        r#"{"type":"integer","minimum":5,"maximum":4}"#,
        r#"{"type":"object","required":["a"],"properties":{"a":false}}"#,
        r##"{"$ref":"#/$defs/t","$defs":{"t":{"type":"object","required":["t"],"properties":{"t":{"$ref":"#/$defs/t"}}}}}"##,
    ] {
        assert!(
            drawn(schema, Value::Null).iter().all(Option::is_none),
            "{schema}"
        );
    }
}

#[test]
fn texts_of_the_hint_are_taken_where_they_conform() {
    let schema = r#"{"type":"object","required":["day","days","name"],"properties":{"day":{"type":"string","format":"date"},"days":{"type":"array","minItems":2,"items":{"type":"string"}},"name":{"type":"string"}}}"#;
    let hint = json!({ "day": "2025-01-31", "days": ["2025-02-01"], "name": "…" });
    for value in drawn(schema, hint) {
        let value = value.unwrap();
        assert_eq!(
            (&value["day"], &value["days"][1]),
            (&json!("2025-01-31"), &json!("2025-02-01"))
        );
        assert!(value["name"].as_str().is_some_and(|name| name.is_ascii()));
    }
}
