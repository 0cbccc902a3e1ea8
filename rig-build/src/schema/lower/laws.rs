//! The laws of lowering, over the corpora and over values made from the lowered schemas.

use std::path::{Path, PathBuf};

use rig_spec::NativeSchema;
use serde_json::{Map, Value, json};

use super::checker::refusal;
use super::instances::{Dice, any_object, back, forth, made, relaxed, validator};
use super::tests::read;
use super::{Fate, Lowered, lower, skeleton};
use crate::node::Node;

pub(super) const KINDS: [NativeSchema; 7] = [
    NativeSchema::OpenAiStrict,
    NativeSchema::Anthropic,
    NativeSchema::Gemini,
    NativeSchema::Xai,
    NativeSchema::Fireworks,
    NativeSchema::DeepInfra,
    NativeSchema::Any,
];

struct Case {
    name: String,
    root: Node,
    schema: Value,
    valid: Vec<Value>,
}

#[expect(
    clippy::print_stderr,
    reason = "a skipped test and a table have to be seen"
)]
fn say(line: &str) {
    eprintln!("{line}");
}

fn files(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../shared/corpora")
        .join(folder);
    let entries = std::fs::read_dir(folder).into_iter().flatten();
    let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|name| name == "json"));
    paths.sort();
    paths
}

fn case(name: String, text: &Node, valid: Vec<Value>) -> Option<Case> {
    let json = text.to_json();
    let root = read(&json)?;
    let schema = serde_json::from_str(&json).unwrap();
    Some(Case {
        name,
        root,
        schema,
        valid,
    })
}

fn corpus(folder: &str, label: &str) -> Vec<Case> {
    let mut cases = Vec::new();
    for path in files(folder) {
        let text = std::fs::read_to_string(&path).unwrap();
        let document: Value = serde_json::from_str(&text).unwrap();
        let Some(tree) = read(&text) else {
            continue;
        };
        let tests = document["tests"].as_array().cloned().unwrap_or_default();
        let valid = tests.into_iter().filter(|test| test[label] == true);
        let valid = valid.map(|test| test["data"].clone()).collect();
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        cases.extend(case(name, tree.get("schema").unwrap(), valid));
    }
    if cases.is_empty() {
        say(&format!("skipped: `{folder}` is not beside this checkout"));
    }
    cases
}

fn suite() -> Vec<Case> {
    let mut cases = Vec::new();
    for path in files("json-schema-test-suite/tests/draft2020-12") {
        let stem = path.file_stem().unwrap().to_string_lossy().into_owned();
        // They are about other documents and dialects.
        if [
            "vocabulary",
            "refRemote",
            "dynamicRef",
            "anchor",
            "ref",
            "id",
        ]
        .contains(&stem.as_str())
        {
            continue;
        }
        let Some(tree) = read(&std::fs::read_to_string(&path).unwrap()) else {
            continue;
        };
        for group in tree.items() {
            let group_json: Value = serde_json::from_str(&group.to_json()).unwrap();
            let tests = group_json["tests"].as_array().unwrap().iter();
            let valid = tests.filter(|test| test["valid"] == true);
            let valid = valid.map(|test| test["data"].clone()).collect();
            let name = format!("{stem}: {}", group_json["description"]);
            cases.extend(case(name, group.get("schema").unwrap(), valid));
        }
    }
    cases
}

/// What is sent, as a value.
fn sent(lowered: &Lowered, case: &Case) -> Value {
    match &lowered.json {
        Some(json) => serde_json::from_str(json).unwrap(),
        None => case.schema.clone(),
    }
}

/// Returns how a case breaks the laws in a dialect, and whether it was lowered.
fn offences(case: &Case, kind: NativeSchema) -> (Vec<String>, bool) {
    let mut out = Vec::new();
    let Ok(lowered) = lower(kind, &case.root) else {
        return (out, false);
    };
    let mut offend = |what: String| out.push(format!("{} for {kind:?}: {what}", case.name));
    let schema = sent(&lowered, case);
    if let Some(rule) = refusal(kind, &schema) {
        offend(format!("{rule}: {schema}"));
    }
    if let Some(text) = &lowered.json {
        match lower(kind, &read(text).unwrap()) {
            Ok(again) if again.is_as_written() => {}
            Ok(again) => offend(format!("lowering twice differs: {text}\n{:?}", again.json)),
            Err(obstacle) => offend(format!("lowering twice fails: {} {text}", obstacle.reason)),
        }
    }
    let (Some(there), Some(original)) = (validator(&schema), validator(&case.schema)) else {
        if validator(&schema).is_none() {
            offend(format!("it is no schema: {schema}"));
        }
        return (out, true);
    };
    let narrower: Vec<_> = lowered
        .receipt
        .iter()
        .filter(|note| note.fate == Fate::Narrower)
        .collect();
    for instance in case
        .valid
        .iter()
        .filter(|instance| original.is_valid(instance))
    {
        let wrapped = match &lowered.wrapped_in {
            Some(name) => json!({ name: instance }),
            None => instance.clone(),
        };
        let mapped = forth(
            &schema,
            &schema,
            &wrapped,
            64,
            kind == NativeSchema::OpenAiStrict,
        );
        if !there.is_valid(&mapped) {
            if narrower.is_empty() {
                offend(format!("out of reach: {instance}\nas {mapped}\n{schema}"));
            }
            continue;
        }
        let returned = back(&lowered, mapped);
        if !original.is_valid(&returned) {
            offend(format!(
                "not the same back: {instance}\nas {returned}\n{schema}"
            ));
        }
    }
    let relaxed_schema = relaxed(&case.schema, &lowered.receipt);
    let Some(relaxed) = validator(&relaxed_schema) else {
        return (out, true);
    };
    let mut dice = Dice(case.name.len() as u64 + 7);
    for round in 0..60 {
        let value = made(&schema, &schema, &mut dice, 2 + round % 6);
        if !there.is_valid(&value) {
            continue;
        }
        let returned = back(&lowered, value.clone());
        if !relaxed.is_valid(&returned) {
            let why: Vec<_> = relaxed
                .iter_errors(&returned)
                .map(|error| error.to_string())
                .collect();
            offend(format!(
                "fails beyond the receipt: {value}\nas {returned}\n{why:?}\n{schema}\nof {}\n{:?}",
                case.schema, lowered.receipt
            ));
            break;
        }
    }
    (out, true)
}

fn keep_the_laws(corpus: &str, cases: &[Case]) {
    let mut all = Vec::new();
    let mut reasons = std::collections::BTreeMap::<String, usize>::new();
    for kind in KINDS {
        let mut lowered = 0;
        for case in cases {
            let (found, is_lowered) = offences(case, kind);
            all.extend(found);
            lowered += usize::from(is_lowered);
            if let Err(obstacle) = lower(kind, &case.root) {
                assert!(!obstacle.reason.is_empty() && !obstacle.pointer.is_empty());
                let reason: String = obstacle.reason.chars().take(60).collect();
                *reasons.entry(format!("{kind:?}: {reason}")).or_default() += 1;
            }
        }
        say(&format!(
            "{corpus} {kind:?}: {lowered} of {} lowered",
            cases.len()
        ));
    }
    for (reason, count) in reasons {
        say(&format!("  {count} x {reason}"));
    }
    let shown = all
        .iter()
        .take(8)
        .map(|text| text.chars().take(900).collect());
    let shown: Vec<String> = shown.collect();
    assert!(
        all.is_empty(),
        "{} offences\n{}",
        all.len(),
        shown.join("\n\n")
    );
}

#[test]
fn schemas_for_models_keep_the_laws_in_every_dialect() {
    keep_the_laws("llm-schemas", &corpus("llm-schemas", "valid"));
}

#[test]
fn schemas_of_all_kinds_keep_the_laws_in_every_dialect() {
    let cases = corpus("jsonschemabench", "valid_format_annotation");
    keep_the_laws("jsonschemabench", &cases);
}

#[test]
fn schemas_of_the_test_suite_keep_the_laws_in_every_dialect() {
    keep_the_laws("json-schema-test-suite", &suite());
}

#[test]
fn schemas_at_random_keep_the_laws_in_every_dialect() {
    let mut cases = Vec::new();
    for seed in 0..400 {
        let mut dice = Dice(seed);
        dice.roll(1);
        let mut schema = any_object(&mut dice, 3);
        let definitions: Map<_, _> = (0..3)
            .map(|index| (format!("d{index}"), any_object(&mut dice, 1)))
            .collect();
        schema["$defs"] = Value::Object(definitions);
        let tree = read(&schema.to_string()).unwrap();
        let sketch = serde_json::from_str(&skeleton(&tree)).unwrap_or_default();
        cases.extend(case(format!("seed {seed}"), &tree, vec![sketch]));
    }
    keep_the_laws("random", &cases);
}

#[test]
fn a_skeleton_conforms() {
    for (name, label, least) in [
        ("llm-schemas", "valid", 95),
        ("jsonschemabench", "valid_format_annotation", 80),
    ] {
        let mut cases = corpus(name, label);
        cases.retain(|case| !case.schema.to_string().contains("\"pattern\":"));
        let mut misses = Vec::new();
        for case in &cases {
            let sketch = skeleton(&case.root);
            let value: Value = serde_json::from_str(&sketch).unwrap_or_default();
            let conforms = validator(&case.schema).is_none_or(|schema| schema.is_valid(&value));
            if !conforms {
                misses.push(format!("{}: {sketch} of {}", case.name, case.schema));
            }
        }
        let (all, good) = (cases.len(), cases.len() - misses.len());
        say(&format!("{name}: {good} of {all} skeletons conform"));
        assert!(good * 100 >= least * all, "{}", misses.join("\n"));
    }
}
