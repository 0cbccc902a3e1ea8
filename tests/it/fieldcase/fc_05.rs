//! FC-05: property names that are Rust keywords or no identifiers at all.

use rig::testing::Scripted;
use serde_json::Value;
use tests::check;
use tests::routes::{FcNamesInput, Names, names};

use super::Case;

const OUTPUT: &str = r#"{"type":"a","match":"b","async":"c","fn":"d","self":"e","super":"f","crate":"g","2fast":"h","with-dash":"i","with space":"j","":"k","日本":"l","_":"m"}"#;

fn input() -> FcNamesInput {
    FcNamesInput { q: "x".to_owned() }
}

fn check_conformant(output: &str) {
    let seen = check(
        "deepseek",
        [Scripted::chat(output)],
        |rig| names(input()).on(rig).run(),
        &format!("1 deepseek/deepseek-v4-flash conformant 100+20 $0.0000196\n= {OUTPUT}"),
    );
    let output: &Names = seen.output();
    let values = [
        &output.r#type,
        &output.r#match,
        &output.r#async,
        &output.r#fn,
        &output.self_,
        &output.super_,
        &output.crate_,
        &output._2fast,
        &output.with_dash,
        &output.with_space,
        &output.empty,
        &output.日本,
        &output.underscore,
    ];
    let letters = values.map(String::as_str).concat();
    assert_eq!(letters, "abcdefghijklm");
}

fn check_rejected(output: &str) {
    check(
        "deepseek",
        [Scripted::chat(output)],
        |rig| names(input()).on(rig).run(),
        r#"
        1 deepseek/deepseek-v4-flash content_invalid 100+20 $0.0000196
        ! content_invalid deepseek/deepseek-v4-flash: the answer misses the schema at the top level (required), the top level (additionalProperties)
        (deepseek/deepseek-v4-flash content_invalid)
        "#,
    );
}

// L2, L3: the JSON names are what counts on the wire, whatever they are called in Rust.
#[test]
fn fc_05_names_that_rust_cannot_spell_go_through() {
    check_conformant(OUTPUT);
    check_rejected(&OUTPUT.replace("\"type\"", "\"type_\""));
    for renamed in ["self_", "_2fast", "empty"] {
        let json: Value = serde_json::from_str(OUTPUT).unwrap();
        let mut json = json.as_object().cloned().unwrap();
        let original = match renamed {
            "self_" => "self",
            "_2fast" => "2fast",
            _ => "",
        };
        let value = json.remove(original).unwrap();
        json.insert(renamed.to_owned(), value);
        check_rejected(&Value::Object(json).to_string());
    }
    if let Some(case) = Case::open("FC-05") {
        check_conformant(&case.read("output.json"));
        check_rejected(&case.read("output_renamed.json"));
    }
}
