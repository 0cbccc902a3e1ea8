//! Does the gate let through what conforms, and say what is wrong with the rest?

use rig_spec::Enforcement;
use serde_json::json;

use super::*;

mod growth;
mod laws;
mod oracle;
mod samples;

/// Compiles a schema, as the route compiler does.
pub(crate) fn compiled(json: &str) -> &'static Schema {
    let gate = rig_build::compile_schema(json, &[]).unwrap_or_else(|fault| panic!("{fault}"));
    Box::leak(Box::new(Schema {
        name: "test",
        json: json.to_owned().leak(),
        skeleton: "",
        gate: gate.leak(),
        hash: 1,
    }))
}

const TICKET: &str = r#"{"type":"object","required":["priority","tags"],"additionalProperties":{"type":"integer"},"properties":{"priority":{"enum":["low","high"]},"tags":{"type":"array","items":{"type":"string","format":"email"}}}}"#;

/// Sends a text through the gate, into any JSON value.
fn pass(schema: &'static Schema, text: &str) -> Result<Value, Rejected> {
    gate(Some(schema), Enforcement::Coached, hold::<Value>, text).map(|held| held.into().unwrap())
}

fn rejected_by(schema: &'static Schema, text: &str) -> Nonconformant {
    match pass(schema, text) {
        Err(Rejected::Answer(answer)) => answer,
        other => panic!("{text}: {other:?}"),
    }
}

fn rejected(text: &str) -> Nonconformant {
    rejected_by(compiled(TICKET), text)
}

// F2: `format` is an annotation.
#[test]
fn a_conformant_answer_passes_as_the_value_that_was_validated() {
    let text = r#"Sure: {"priority": "low", "tags": ["no mail"], "extra": 1}"#;
    let value = json!({"priority": "low", "tags": ["no mail"], "extra": 1});
    assert_eq!(pass(compiled(TICKET), text), Ok(value));
    let any = gate(None, Enforcement::Coached, hold::<Value>, "[1.0]").map(|held| held.into());
    assert_eq!(any, Ok(Some(json!([1.0]))));
}

#[test]
fn the_message_names_places_and_the_summary_what_was_expected() {
    let answer = rejected(r#"{"priority": "urgent", "tags": ["a", 7]}"#);
    assert_eq!(
        answer.message,
        "the answer misses the schema at `/priority` (enum), `/tags/1` (type)"
    );
    assert_eq!(
        answer.problems,
        "- /priority: \"urgent\" is not one of \"low\" or \"high\"\n- /tags/1: 7 is not of type \"string\""
    );
    let answer = rejected(r#"{"priority": "low"}"#);
    assert_eq!(
        answer.message,
        "the answer misses the schema at the top level (required)"
    );
}

// Errors hold no word of an output, not even a name that the model made up.
#[test]
fn messages_quote_no_output() {
    for text in [
        r#"{"priority": "sesame", "tags": "sesame"}"#,
        r#"{"priority": "low", "tags": [], "sesame": "sesame"}"#,
        r#"{"sesame": 1, "sesame": 2}"#,
        "sesame",
    ] {
        let message = rejected(text).message;
        assert!(!message.contains("sesame"), "{message}");
    }
}

#[test]
fn summaries_are_short_however_wrong_the_answer() {
    let many: Vec<_> = (0..50).collect();
    let answer = rejected(&json!({"priority": "x".repeat(9_000), "tags": many}).to_string());
    assert_eq!(answer.problems.lines().count(), MOST_ERRORS);
    assert!(answer.problems.chars().count() < MOST_ERRORS * (LONGEST_LINE + 4));
    assert!(!answer.problems.contains(&"x".repeat(61)));
    assert!(answer.message.ends_with(", and more"));
}

// F2: 2020-12 unless the schema says draft-07; nothing is fetched.
#[test]
fn the_dialect_is_the_schemas() {
    let takes = |schema: &str| pass(compiled(schema), r#"["text"]"#).is_ok();
    let draft_07 =
        r#"{"$schema":"http://json-schema.org/draft-07/schema#","items":[{"type":"number"}]}"#;
    assert!(!takes(draft_07));
    assert!(!takes(r#"{"prefixItems":[{"type":"number"}]}"#));
    assert!(takes(&draft_07.replace("items", "prefixItems")));
    assert!(takes(
        r#"{"$schema":"https://example.com/own","items":{"x-unknown":1}}"#
    ));
    let far = rig_build::compile_schema(r#"{"$ref":"https://example.com/schema.json"}"#, &[]);
    assert!(far.is_err());
}

#[test]
fn a_broken_schema_is_not_the_answers_fault() {
    for gate in ["", "0 ", "1 0 0", "1 127 32 1 0 1 7 ", "1 127 4 --1:("] {
        let broken = Box::leak(Box::new(Schema {
            name: "b",
            json: "{}",
            skeleton: "",
            gate: gate.to_owned().leak(),
            hash: 2,
        }));
        assert!(
            matches!(pass(broken, "1"), Err(Rejected::Schema(_))),
            "{gate:?}"
        );
    }
}

#[test]
fn a_whole_float_is_an_integer_and_a_larger_one_is_no_answer() {
    let count = compiled(r#"{"type":"integer"}"#);
    let pass = |text| {
        gate(Some(count), Enforcement::Coached, hold::<i64>, text).map(|held| held.into::<i64>())
    };
    for (text, integer) in [
        ("3.0", 3),
        ("-0.0", 0),
        ("1e2", 100),
        ("9007199254740993", 9_007_199_254_740_993),
        ("1234567890123456789.0", 1_234_567_890_123_456_789),
    ] {
        assert_eq!(pass(text), Ok(Some(integer)), "{text}");
    }
    for text in ["1e30", "9223372036854775808"] {
        let Err(Rejected::Answer(answer)) = pass(text) else {
            panic!("{text}: no `i64` holds it");
        };
        assert_eq!(answer.message, "the answer holds an integer beyond 64 bits");
    }
    assert!(matches!(pass("3.5"), Err(Rejected::Answer(_))));
}

// A tuple does not ask whether there is more: the gate does.
#[test]
fn a_tuple_holds_as_many_items_as_there_are() {
    let point = compiled(r#"{"type":"array","prefixItems":[{"type":"number"},{"type":"number"}]}"#);
    let pass = |text| {
        let held = gate(Some(point), Enforcement::Coached, hold::<(f64, f64)>, text);
        held.map(|held| held.into::<(f64, f64)>())
    };
    assert_eq!(pass("[40.5, -74.25]"), Ok(Some((40.5, -74.25))));
    let Err(Rejected::Answer(answer)) = pass("[40.5, -74.25, 3.0]") else {
        panic!("two numbers do not hold a third item");
    };
    let message = "the answer holds a value that the route's output type does not";
    assert_eq!(answer.message, message);
}

// What the gate takes for an integer is one to the type: whole numbers, and those whose digits a float does not hold.
#[test]
fn numbers_that_are_whole_as_floats_are_integers() {
    let integer = compiled(r#"{"type":"integer"}"#);
    for text in [
        "3.0",
        "1e2",
        "199994775997575631.083",
        "-9007199254740993.5",
    ] {
        let typed = read_checked::<i64>(integer, text).unwrap();
        let any = pass(integer, text).unwrap();
        assert_eq!(any, json!(typed), "{text}");
    }
}

// Everything is data: what JSON values would round is not served, with or without a schema.
#[test]
fn an_integer_beyond_64_bits_is_served_by_no_json_value() {
    let any = |text: &str| match gate(None, Enforcement::Coached, hold::<Value>, text) {
        Err(Rejected::Answer(answer)) => Err((answer.message, answer.problems)),
        passed => Ok(passed.unwrap().into::<Value>().unwrap().to_string()),
    };
    for exact in [
        "18446744073709551615",
        "-9223372036854775808",
        "[1.5,1e+300,0]",
    ] {
        assert_eq!(any(exact).as_deref(), Ok(exact));
    }
    let message = "the answer holds an integer beyond 64 bits".to_owned();
    for (text, place) in [
        ("18446744073709551616", "the value"),
        (r#"{"a":[1,-9223372036854775809]}"#, "/a/1"),
        ("So: {\"a b\":12345678901234567890123}", "/a b"),
    ] {
        let problem = format!("- {place}: the integer does not fit into 64 bits");
        assert_eq!(any(text), Err((message.clone(), problem)), "{text}");
        let open = gate(
            Some(compiled("{}")),
            Enforcement::Coached,
            hold::<Value>,
            text,
        );
        assert!(matches!(open, Err(Rejected::Answer(answer)) if answer.message == message));
    }
    // A field of a number is the nearest float, as everywhere.
    let number = compiled(r#"{"type":"number"}"#);
    assert_eq!(
        read_checked::<f64>(number, "18446744073709551616"),
        Some(18446744073709551616.0)
    );
}

// The way back from a dialect keeps every digit.
#[test]
fn what_a_dialect_wrapped_keeps_its_digits() {
    let lowered: &'static Lowered = Box::leak(Box::new(Lowered {
        wrapped_in: Some("answer"),
        ..Lowered::AS_WRITTEN
    }));
    let open = compiled("{}");
    let pass = |text| {
        gate(
            Some(open),
            Enforcement::Native(lowered),
            hold::<Value>,
            text,
        )
    };
    let passed = pass(r#"{"answer":{"n":12345678901234567}}"#).unwrap();
    assert_eq!(
        passed.into::<Value>().unwrap(),
        json!({"n": 12345678901234567_i64})
    );
    assert!(pass(r#"{"answer":{"n":123456789012345678901}}"#).is_err());
    // Among values in prose, each is judged in the route's own form.
    let number = compiled(r#"{"type":"integer"}"#);
    let text = r#"As [1] says: {"answer":7}"#;
    let passed = gate(
        Some(number),
        Enforcement::Native(lowered),
        hold::<i64>,
        text,
    )
    .unwrap();
    assert_eq!(passed.into::<i64>(), Some(7));
}

// K5: of the values in prose the one that conforms is the answer.
#[test]
fn values_in_prose_that_do_not_conform_are_no_candidates() {
    let ticket = compiled(TICKET);
    let good = r#"{"priority":"low","tags":[]}"#;
    let value: Value = serde_json::from_str(good).unwrap();
    assert_eq!(
        pass(ticket, &format!("As [1] and {{}} say: {good}")),
        Ok(value)
    );
    let both = rejected(&format!("{good} or {good}"));
    assert_eq!(both.message, "the answer holds more than one JSON value");
    let neither = rejected("[1] or {}");
    assert_eq!(neither.message, "the answer holds more than one JSON value");
    let one = rejected("It is {}.");
    assert_eq!(
        one.message,
        "the answer misses the schema at the top level (required)"
    );
    let all = gate(
        None,
        Enforcement::Coached,
        hold::<Value>,
        &format!("As [1] says: {good}"),
    );
    assert!(matches!(all, Err(Rejected::Answer(answer)) if answer.message == both.message));
}

// `serde_json` would take it for one of its own values and parse it again.
#[test]
fn a_key_of_serde_jsons_own_stays_a_key() {
    let any = compiled("{}");
    let text = r#"{"$serde_json::private::RawValue":"[1]"}"#;
    let passed = pass(any, text).unwrap();
    assert_eq!(passed["$serde_json::private::RawValue"], "[1]");
    assert_eq!(passed.to_string(), text);
}

// The repair prompt says what is wrong by the branch that was meant.
#[test]
fn of_a_union_the_branch_that_was_meant_is_named() {
    let tagged = compiled(
        r#"{"anyOf":[{"type":"object","required":["kind","n"],"properties":{"kind":{"const":"a"},"n":{"type":"integer"}}},{"type":"object","required":["kind"],"properties":{"kind":{"enum":["b","c"]}}},{"type":"null"}]}"#,
    );
    let problems = |text| rejected_by(tagged, text).problems;
    assert_eq!(
        problems(r#"{"kind":"a","n":"1"}"#),
        "- /n: \"1\" is not of type \"integer\""
    );
    assert_eq!(
        problems(r#"{"kind":"d"}"#),
        "- /kind: \"d\" is not one of \"a\", \"b\" or \"c\""
    );
    assert_eq!(
        problems("{}"),
        "- the value: \"kind\" is a required property"
    );
    assert_eq!(
        problems("7"),
        "- the value: 7 is not valid under any of the schemas listed in the 'anyOf' keyword"
    );
    let nullable = compiled(r#"{"anyOf":[{"type":"string","minLength":2},{"type":"null"}]}"#);
    assert_eq!(
        rejected_by(nullable, "\"x\"").problems,
        "- the value: \"x\" is shorter than 2 characters"
    );
}

// An answer of the longest body takes no more than its own time.
#[test]
fn large_answers_are_judged_in_time() {
    let unique = compiled(r#"{"type":"array","uniqueItems":true}"#);
    let numbers = json!((0..200_000).collect::<Vec<_>>()).to_string();
    assert!(
        gate(
            Some(unique),
            Enforcement::Coached,
            hold::<Vec<u64>>,
            &numbers
        )
        .is_ok()
    );
    let open = compiled(r#"{"type":"object","required":["k1"]}"#);
    let keys: Vec<_> = (0..200_000).map(|n| format!("\"k{n}\":1")).collect();
    assert!(pass(open, &format!("{{{}}}", keys.join(","))).is_ok());
}

// The branches of a recursive union must not be judged anew at every level.
#[test]
fn deep_answers_by_recursive_unions_are_judged_in_time() {
    let tree = compiled(
        r##"{"anyOf":[{"required":["a"],"properties":{"next":{"$ref":"#"}}},{"required":["b"],"properties":{"next":{"$ref":"#"}}},{"required":["c"],"properties":{"next":{"$ref":"#"}}}]}"##,
    );
    let deep = |leaf: &str| {
        format!(
            "{}{leaf}{}",
            r#"{"c":1,"next":"#.repeat(100),
            "}".repeat(100)
        )
    };
    assert!(pass(tree, &deep(r#"{"c":1}"#)).is_ok());
    assert!(matches!(pass(tree, &deep("{}")), Err(Rejected::Answer(_))));
}
