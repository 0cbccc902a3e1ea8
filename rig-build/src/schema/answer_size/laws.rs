//! The law: what conforms to a schema is within its sizes, for the instances of the corpora and for any.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use proptest::prelude::{Just, Strategy};
use serde_json::{Value, json};
use tiktoken_rs::o200k_base_singleton;

use super::tests::read;
use super::{AnswerSize, Shortest, answer_size};
use crate::tokens::{TokenizerFamily, at_least};

/// A schema, where it comes from, and its valid instances.
type Case = (String, Value, Vec<Value>);

/// The instances that keep the law or break it.
fn corpora() -> Vec<Case> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/corpora");
    let mut cases = Vec::new();
    for (name, label) in [
        ("llm-schemas", "valid"),
        ("jsonschemabench", "valid_format_annotation"),
    ] {
        for path in json_files(&folder.join(name)) {
            let document = value(&path);
            let tests = document["tests"].as_array().cloned().unwrap_or_default();
            let valid = tests.into_iter().filter(|test| test[label] == true);
            let valid = valid.map(|test| test["data"].clone()).collect();
            cases.push((
                path.display().to_string(),
                document["schema"].clone(),
                valid,
            ));
        }
    }
    for draft in ["draft2020-12", "draft7"] {
        for path in json_files(&folder.join("json-schema-test-suite/tests").join(draft)) {
            // Its schemas name a dialect of their own, in which keywords mean nothing.
            if path.ends_with("vocabulary.json") {
                continue;
            }
            for group in value(&path).as_array().into_iter().flatten() {
                let mut schema = group["schema"].clone();
                if let (Value::Object(schema), "draft7") = (&mut schema, draft) {
                    schema.insert(
                        "$schema".into(),
                        "http://json-schema.org/draft-07/schema#".into(),
                    );
                }
                let tests = group["tests"].as_array().into_iter().flatten();
                let valid = tests.filter(|test| test["valid"] == true);
                let valid = valid.map(|test| test["data"].clone()).collect();
                let name = format!("{}: {}", path.display(), group["description"]);
                cases.push((name, schema, valid));
            }
        }
    }
    cases
}

fn json_files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten();
    let paths = entries.map(|entry| entry.unwrap().path());
    let mut paths: Vec<_> = paths
        .filter(|path| path.extension().is_some_and(|name| name == "json"))
        .collect();
    paths.sort();
    paths
}

fn value(path: &Path) -> Value {
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

#[expect(clippy::print_stderr, reason = "a skipped test has to say so")]
fn say(line: &str) {
    eprintln!("{line}");
}

/// Says how a conformant value breaks the law, if it does.
fn offence(size: AnswerSize, value: &Value) -> Option<String> {
    let text = with_whole_numbers(value.clone()).to_string();
    let Some(Shortest { bytes, word_edges }) = size.shortest else {
        return Some(format!("there is an answer: {text}"));
    };
    let most = size.longest.unwrap_or(u64::MAX);
    if !(bytes..=most).contains(&(text.len() as u64)) {
        return Some(format!("not {bytes} to {most} bytes: {text}"));
    }
    let least = at_least(bytes, word_edges, TokenizerFamily::OpenAi);
    let pretty = format!("{value:#}");
    let spellings = [value.to_string(), pretty, text].into_iter();
    let tokens = |text: &str| o200k_base_singleton().encode_ordinary(text).len() as u64;
    let mut short = spellings.filter(|text| tokens(text) < least);
    short
        .next()
        .map(|text| format!("not {least} tokens: {text}"))
}

/// Turns `1.0` into `1`: the spelling that `longest` counts.
fn with_whole_numbers(value: Value) -> Value {
    match value {
        Value::Number(number) => match number.as_f64() {
            Some(float) if number.is_f64() && float.fract() == 0.0 && float.abs() < 1e16 => {
                Value::from(float as i64)
            }
            _ => Value::Number(number),
        },
        Value::Array(items) => items.into_iter().map(with_whole_numbers).collect(),
        Value::Object(members) => {
            let members = members.into_iter();
            members
                .map(|(key, value)| (key, with_whole_numbers(value)))
                .collect()
        }
        other => other,
    }
}

#[test]
fn every_valid_instance_is_within_the_bounds() {
    let cases = corpora();
    let mut offenders = Vec::new();

    for (name, schema, valid) in &cases {
        let Some(root) = read(&schema.to_string()) else {
            continue;
        };
        let size = answer_size(&root);
        for instance in valid {
            let offence = offence(size, instance);
            offenders.extend(offence.map(|offence| format!("{name}: {offence}")));
        }
    }
    if cases.is_empty() {
        say("skipped: there are no corpora beside this checkout");
    }
    assert!(offenders.is_empty(), "{}", offenders.join("\n"));
}

/// Schemas, each with a value that was made to conform to it.
fn schemas() -> impl Strategy<Value = (Value, Value)> {
    let number = proptest::sample::select(vec![9, 10, 99, 100, 1000, 1_000_000, -9, -10, 12_345]);
    let integer = (number, 0..2, 0..2).prop_map(|(number, below, above)| {
        let schema =
            json!({"type": "integer", "minimum": number - below, "maximum": number + above});
        (schema, json!(number))
    });
    // Other control characters take six bytes, which `longest` leaves out.
    let text = ("[a\"\n\u{e9}\u{1f600}]{0,4}", 0..2usize).prop_map(|(text, spare)| {
        let length = text.chars().count();
        let least = length.saturating_sub(spare);
        let schema = json!({"type": "string", "minLength": least, "maxLength": length + spare});
        (schema, json!(text))
    });
    let given = proptest::sample::select(vec![
        json!(null),
        json!(true),
        json!(false),
        json!(0.05),
        json!(-2.25),
        json!(1e-7),
        json!(120_000),
        json!({"a": [1, "b"], "": {}}),
    ]);
    let constant = given.prop_map(|value| (json!({"const": value}), value));
    let number = Just((json!({"exclusiveMinimum": 9, "type": "number"}), json!(10)));
    let leaf = proptest::prop_oneof![integer, text, constant, number];
    leaf.prop_recursive(3, 16, 3, |part| {
        let choice = (part.clone(), part.clone(), 0..2usize).prop_map(|(wanted, other, which)| {
            let word = ["anyOf", "oneOf"][which];
            (json!({ word: [other.0, wanted.0] }), wanted.1)
        });
        let both = part.clone().prop_map(|(schema, value)| {
            let schema = json!({"allOf": [true, {"$ref": "#/$defs/anything"}, schema]});
            (schema, value)
        });
        let tuple = (proptest::collection::vec(part.clone(), 1..4), 0..2usize).prop_map(
            |(items, spare)| {
                let (schemas, values): (Vec<_>, Vec<_>) = items.into_iter().unzip();
                let least = values.len().saturating_sub(spare);
                let schema = json!({"type": "array", "prefixItems": schemas, "items": false,
                    "minItems": least});
                (schema, json!(values))
            },
        );
        let list =
            (part.clone(), 0..4usize, 0..2usize).prop_map(|((schema, value), count, spare)| {
                let schema = json!({"type": "array", "items": schema,
                "minItems": count.saturating_sub(spare), "maxItems": count + spare});
                (schema, json!(vec![value; count]))
            });
        let members = proptest::collection::btree_map("[ab\"]{0,2}", (part, 0..3), 0..4);
        let object = (members, 0..3).prop_map(|(members, closed)| object(members, closed));
        proptest::prop_oneof![choice, both, tuple, list, object]
    })
}

/// Makes an object of members that are required (0), there without being required (1) or left out (2).
fn object(members: BTreeMap<String, ((Value, Value), i32)>, closed: i32) -> (Value, Value) {
    let with = |wanted: fn(i32) -> bool| {
        let members = members.iter().filter(move |(_, (_, how))| wanted(*how));
        members.map(|(key, ((schema, value), _))| (key, schema, value))
    };
    let properties: BTreeMap<_, _> = with(|_| true)
        .map(|(key, schema, _)| (key, schema))
        .collect();
    let value: BTreeMap<_, _> = with(|how| how < 2)
        .map(|(key, _, value)| (key, value))
        .collect();
    let required: Vec<_> = with(|how| how == 0).map(|(key, ..)| key).collect();
    let mut schema = json!({"type": "object", "required": required, "minProperties": value.len()});
    if closed > 0 {
        schema["properties"] = json!(properties);
    }
    if closed == 2 {
        schema["additionalProperties"] = json!(false);
    }
    (schema, json!(value))
}

proptest::proptest! {
    #[test]
    fn what_conforms_is_within_the_bounds((mut schema, value) in schemas()) {
        schema["$defs"] = json!({"anything": {}});
        // Of `oneOf`, the other may conform as well.
        if jsonschema::is_valid(&schema, &value) {
            let size = answer_size(&read(&schema.to_string()).unwrap());
            let offence = offence(size, &value);
            proptest::prop_assert!(offence.is_none(), "{}: {}", schema, offence.unwrap());
        }
    }
}
