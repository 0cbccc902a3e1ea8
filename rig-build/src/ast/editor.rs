//! Does the schema that editors read (`routes/route.schema.json`) say what is read here?

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value;

use super::policy::{BACKOFF, JSON_WORDS, POLICY, SAMPLING, TIER_WORDS};
use super::prompt::{KIND_WORDS, PROMPT, VARIABLE};
use super::routing::{LIMITS, PREFER_WORDS, PROVIDERS, REQUIRE_WORDS};
use super::{CACHE_WORDS, CANDIDATE, GROUNDING, REPAIR, ROUTE, VARIANT};
use crate::fields::Keys;

fn schema() -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../routes/route.schema.json");
    let text = std::fs::read_to_string(path).unwrap();
    serde_json::from_str(&text).unwrap()
}

fn at<'a>(schema: &'a Value, pointer: &str) -> &'a Value {
    schema
        .pointer(pointer)
        .unwrap_or_else(|| panic!("no `{pointer}`"))
}

fn names(value: &Value) -> BTreeSet<&str> {
    match value {
        Value::Object(entries) => entries.keys().map(String::as_str).collect(),
        Value::Array(items) => items.iter().filter_map(Value::as_str).collect(),
        _ => BTreeSet::new(),
    }
}

#[test]
fn every_map_has_the_keys_that_are_read() {
    let schema = schema();
    let maps: [(&str, &Keys); 12] = [
        ("", &ROUTE),
        ("/$defs/candidate", &CANDIDATE),
        ("/$defs/prompt", &PROMPT),
        ("/$defs/variable", &VARIABLE),
        ("/$defs/grounding", &GROUNDING),
        ("/$defs/policy", &POLICY),
        ("/$defs/backoff", &BACKOFF),
        ("/$defs/sampling", &SAMPLING),
        ("/$defs/repair", &REPAIR),
        ("/$defs/providers", &PROVIDERS),
        ("/$defs/limits", &LIMITS),
        ("/$defs/variant", &VARIANT),
    ];
    for (pointer, keys) in maps {
        let properties = at(&schema, &format!("{pointer}/properties"));
        assert_eq!(
            names(properties),
            keys.known.iter().copied().collect(),
            "{}",
            keys.what
        );
        assert_eq!(
            at(&schema, &format!("{pointer}/additionalProperties")),
            false
        );
        for (key, property) in properties.as_object().unwrap() {
            assert!(
                property["description"].is_string(),
                "`{key}` of {} has no hover text",
                keys.what
            );
        }
    }
}

#[test]
fn every_word_is_one_that_is_read() {
    let schema = schema();
    let words = |pointer: &str, words: &[&str]| {
        assert_eq!(
            names(at(&schema, pointer)),
            words.iter().copied().collect(),
            "{pointer}"
        );
    };
    let tiers: Vec<_> = TIER_WORDS.iter().map(|(word, _)| *word).collect();
    words("/$defs/policy/properties/tier/enum", &tiers);
    let json: Vec<_> = JSON_WORDS.iter().map(|(word, _)| *word).collect();
    words("/$defs/policy/properties/json/enum", &json);
    words("/$defs/variant/properties/json/enum", &json);
    let require: Vec<_> = REQUIRE_WORDS.iter().map(|(word, _)| *word).collect();
    words("/properties/require/items/enum", &require);
    let prefer: Vec<_> = PREFER_WORDS.iter().map(|(word, _)| *word).collect();
    words("/properties/prefer/items/enum", &prefer);
    let kinds: Vec<_> = KIND_WORDS
        .iter()
        .flat_map(|(word, _)| [(*word).to_owned(), format!("{word}?")])
        .collect();
    let kinds: Vec<_> = kinds.iter().map(String::as_str).collect();
    words("/$defs/type/enum", &kinds);
    let cache: Vec<_> = CACHE_WORDS.iter().map(|(word, _)| *word).collect();
    words("/properties/cache/enum", &cache);
    let classes = rig_spec::FailureClass::ALL
        .iter()
        .filter(|class| class.is_retryable());
    let classes: Vec<_> = classes.map(|class| class.name()).collect();
    words(
        "/$defs/policy/properties/retries/propertyNames/enum",
        &classes,
    );
    words(
        "/$defs/policy/properties/backoff/propertyNames/enum",
        &classes,
    );
}
