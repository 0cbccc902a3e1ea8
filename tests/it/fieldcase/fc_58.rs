//! FC-58: template syntax inside a value.

use rig::testing::Scripted;
use serde_json::{Value, json};
use tests::check;
use tests::routes::{FcBracesInput, FcBracesTypedInput, braces, braces_typed};

use super::Case;

const SERVED: &str =
    "1 deepseek/deepseek-v4-flash conformant 100+20 $0.0000196\n= {\"answer\":\"a\"}";

/// The prompt is this, byte for byte, and then comes the coaching.
fn assert_prompt(system: &str, expected: &str) {
    let coaching = system.strip_prefix(expected).unwrap_or_else(|| {
        panic!("--- expected\n{expected}\n--- actual\n{system}");
    });
    assert!(
        coaching.starts_with("\nAnswer with exactly one JSON value"),
        "{coaching}"
    );
}

fn answer() -> [Scripted; 1] {
    [Scripted::chat(r#"{"answer":"a"}"#)]
}

fn check_strings(vars: &Value, expected: &str) {
    let text = |name: &str| vars[name].as_str().unwrap().to_owned();
    let input = FcBracesInput {
        a: text("a"),
        b: text("b"),
        c: text("c"),
    };
    let seen = check(
        "deepseek",
        answer(),
        |rig| braces(input).on(rig).run(),
        SERVED,
    );
    assert_prompt(&seen.system(1), expected);
}

fn check_typed(vars: &Value, expected: &str) {
    let input = FcBracesTypedInput {
        a: vars["a"].clone(),
        b: vars["b"].as_bool().unwrap(),
        c: vars["c"].as_f64().unwrap(),
    };
    let seen = check(
        "deepseek",
        answer(),
        |rig| braces_typed(input).on(rig).run(),
        SERVED,
    );
    assert_prompt(&seen.system(1), expected);
}

// F1: placeholders are found in the template only, the same in every run.
#[test]
fn fc_58_braces_in_a_value_are_data() {
    let vars = json!({
        "a": "{{b}} {{c}} {{#if capability.json_mode}}X{{/if}} {{/if}} {{unknown}}",
        "b": "SECRET {{a}}",
        "c": "$1 ${a} $& \\0 {{",
    });
    let expected = r"A={{b}} {{c}} {{#if capability.json_mode}}X{{/if}} {{/if}} {{unknown}};B=SECRET {{a}};C=$1 ${a} $& \0 {{;J
";
    for _ in 0..100 {
        check_strings(&vars, expected);
    }
    if let Some(case) = Case::open("FC-58") {
        check_strings(&case.json("vars.json"), case.read("expected.txt").as_str());
    }
}

// F1: everything but strings goes in as compact JSON.
#[test]
fn fc_58_other_types_are_compact_json() {
    let vars = json!({ "a": { "k": "{{b}}", "n": [1, null, "x\ny"] }, "b": true, "c": 1.5 });
    let expected = r#"A={"k":"{{b}}","n":[1,null,"x\ny"]};B=true;C=1.5;J
"#;
    for _ in 0..100 {
        check_typed(&vars, expected);
    }
    if let Some(case) = Case::open("FC-58") {
        check_typed(
            &case.json("vars_types.json"),
            case.read("expected_types.txt").as_str(),
        );
    }
}
