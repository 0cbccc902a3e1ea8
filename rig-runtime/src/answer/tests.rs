//! Is exactly one JSON value read out of what models write?

use proptest::prelude::*;
use serde_json::{Value, json};

use super::Unreadable;

fn read(text: &str) -> Result<Value, Unreadable> {
    super::read(text).map(|json| serde_json::from_str(json).unwrap())
}

fn values(cases: &[(&str, Value)]) {
    for (text, value) in cases {
        assert_eq!(read(text).as_ref(), Ok(value), "{text}");
    }
}

// K5: the text as it stands, e.g. with fences and tags in its strings.
#[test]
fn what_parses_as_it_stands_is_not_altered() {
    values(&[
        (r#"{"a": 1}"#, json!({"a": 1})),
        ("\n\n  \"text\"  \n", json!("text")),
        ("-0.5", json!(-0.5)),
        ("null", json!(null)),
        (
            r#"{"snippet": "```python\nprint(\"}\")\n```"}"#,
            json!({"snippet": "```python\nprint(\"}\")\n```"}),
        ),
        (
            r#"{"answer": "write <think>x</think> here"}"#,
            json!({"answer": "write <think>x</think> here"}),
        ),
    ]);
}

// K5
#[test]
fn closed_reasoning_before_the_answer_is_left_out() {
    values(&[
        (
            "<think>\nMaybe {\"a\": 0}.\n</think>\n\n{\"a\": 1}\n",
            json!({"a": 1}),
        ),
        (
            "<think>[1] {\"a\":0}</think>\n```json\n{\"a\": 1}\n```",
            json!({"a": 1}),
        ),
        ("<think>a</think><thinking>b</thinking> 42", json!(42)),
        ("Maybe {\"a\": 0}, no.</think>{\"a\": 1}", json!({"a": 1})),
        (
            "<think>a <think>{\"a\":0}</think> b</think> {\"a\": 1}",
            json!({"a": 1}),
        ),
        (
            "Well. <think>{\"a\":0}</think> So: {\"a\": 1}",
            json!({"a": 1}),
        ),
        (
            "So: {\"a\": \"<think>x</think>\"}",
            json!({"a": "<think>x</think>"}),
        ),
    ]);
}

// K5
#[test]
fn the_single_fence_is_opened_whatever_its_strings_hold() {
    values(&[
        ("```json\n{\"a\": 1}\n```", json!({"a": 1})),
        ("```\n[1]\n```", json!([1])),
        (
            "```json\n{\"a\": \"```x```\"}\n```",
            json!({"a": "```x```"}),
        ),
        ("```json{\"a\": 1}```", json!({"a": 1})),
        ("Here you are:\n````json\n\"x\"\n````\nBye [1].", json!("x")),
        (
            "Run\n```sh\nls {}\n```\nthen\n```json\n{\"a\": 1}\n```",
            json!({"a": 1}),
        ),
        ("```json\n{\"a\": 1}", json!({"a": 1})),
    ]);
}

// K5
#[test]
fn the_single_object_or_array_in_prose_is_the_answer() {
    values(&[
        (
            "Sure! {\"a\": {\"b\": [1]}} Anything else?",
            json!({"a": {"b": [1]}}),
        ),
        ("The list: [1, 2]", json!([1, 2])),
        ("As {name} said [see below]: {\"a\": 1}", json!({"a": 1})),
        ("It is `{\"a\": 1}`.", json!({"a": 1})),
    ]);
}

// K5
#[test]
fn everything_else_holds_no_answer() {
    let no_json = |text: &str| match read(text) {
        Err(Unreadable::NoJson(_)) => {}
        other => panic!("{text}: {other:?}"),
    };
    no_json("");
    no_json("I cannot answer that.");
    no_json(r#"{"a": 1"#);
    no_json(r#"{"x": {"a": 1}, oops}"#);
    no_json(r#"{'a': {"b": 1}}"#);
    no_json(r#"Draft {"a": 1}</think>"#);
    no_json("```json\n{\"a\": 1}\n{\"a\": 2}\n```");
    assert_eq!(
        read("<think>\nI would say {\"a\": 1} but"),
        Err(Unreadable::UnclosedReasoning)
    );
    for several in [
        r#"{"a": 1}{"a": 2}"#,
        r#"[1] {"a": 1}"#,
        "```json\n1\n```\nor\n```json\n2\n```",
        r#"{"a": 0} <think>hm</think> {"a": 1}"#,
    ] {
        assert_eq!(read(several), Err(Unreadable::Several), "{several}");
    }
}

// K5
#[test]
fn a_repeated_key_is_refused_wherever_it_is() {
    for text in [
        r#"{"qty": 1, "name": "a", "qty": -1}"#,
        r#"{"a": [{"b": 1, "b": 1}]}"#,
        r#"Sure: {"a": 1, "a": 1}"#,
        "```json\n{\"a\": 1, \"a\": 2}\n```",
        r#"<think>x</think>{"a": 1, "\u0061": 2}"#,
    ] {
        assert!(
            matches!(read(text), Err(Unreadable::RepeatedKey(_))),
            "{text}"
        );
    }
}

#[test]
fn deep_nesting_is_refused_and_not_a_stack_overflow() {
    let text = "[".repeat(100_000);
    assert!(matches!(read(&text), Err(Unreadable::NoJson(_))));
}

// Messages hold no word of the text.
#[test]
fn messages_quote_nothing() {
    for text in [r#"{"secret": 1, "secret": 2}"#, "secret", "{\"a\": secret}"] {
        let message = read(text).unwrap_err().to_string();
        assert!(!message.contains("secret"), "{message}");
    }
}

proptest! {
    #[test]
    fn any_text_is_read_without_panic(text in "[<>/a-z`{}\\[\\]\",:\\\\é 0-9\n]{0,60}|(<think>|</think>|```|json|\\{\"a\":1\\}|[ x\n]){0,12}") {
        let _ = read(&text);
    }

    #[test]
    fn a_value_survives_prose_fence_and_reasoning(key in "[a-z`<>{}\\[\\]]{0,9}", number: i64) {
        let value = json!({ key: number });
        for text in [
            format!("{value}"),
            format!("Here: {value}."),
            format!("```json\n{value}\n```"),
            format!("<think>{{</think>{value}"),
        ] {
            prop_assert_eq!(read(&text), Ok(value.clone()));
        }
    }
}
