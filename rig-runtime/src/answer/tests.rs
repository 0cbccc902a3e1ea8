//! Is exactly one JSON value read out of what models write?

use proptest::prelude::*;
use serde_json::{Value, json};

use super::Unreadable;
use crate::steps;

mod laws;

fn read(text: &str) -> Result<Value, Unreadable> {
    let found = super::read(text).and_then(|found| found.the_one(None));
    found.map(|json| serde_json::from_str(json).unwrap())
}

/// Reads the answer of a route whose answers are objects with an `answer` that is a string.
fn answered(text: &str) -> Result<String, Unreadable> {
    let answer = |json: &str| {
        let value: Value = serde_json::from_str(json).unwrap();
        value["answer"].as_str().map(str::to_owned)
    };
    let conforms = |json: &str| answer(json).is_some();
    let found = super::read(text).and_then(|found| found.the_one(Some(&conforms)))?;
    Ok(answer(found).unwrap_or_else(|| format!("does not conform: {found}")))
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

// K8: FC-69.
#[test]
fn reasoning_is_no_answer_however_it_is_marked() {
    for text in [
        "<think lang=\"en\">{\"answer\":\"draft\"}</think>\n{\"answer\":\"final\"}",
        "<think a='>' b=\">\">{\"answer\":\"draft\"}</think>{\"answer\":\"final\"}",
        "[THINK]try {\"answer\":\"draft\"}[/THINK]{\"answer\":\"final\"}",
        "<|channel|>analysis<|message|>try {\"answer\":\"draft\"}<|end|><|start|>assistant<|channel|>final<|message|>{\"answer\":\"final\"}<|return|>",
        "<|channel|>final <|constrain|>json<|message|>{\"answer\":\"final\"}",
        "<|channel>thought\n{\"answer\":\"draft\"}<channel|>{\"answer\":\"final\"}",
        "analysisWe could say {\"answer\":\"draft\"}.assistantfinal{\"answer\":\"final\"}",
        "Try {\"answer\":\"draft\"}.assistantfinal{\"answer\":\"final\"}",
        "<think>a <think>b</think> {\"answer\":\"draft\"}</think>{\"answer\":\"final\"}",
        "{\"answer\":\"final\"}<|im_end|>",
        "Draft: {\"answer\":\"draft\"}\n</think>\n\n{\"answer\":\"final\"}",
        "maybe {\"answer\":\"draft\"}?</THINK >\n```json\n{\"answer\":\"final\"}\n```",
        "Draft:\n```\nno </thought>\n{\"answer\":\"final\"}",
        "<thought>\n{\"answer\":\"draft\"}\n</thought>\n{\"answer\":\"final\"}",
        "Try {\"answer\":\"draft\"} after\n```sh\nls\n```assistantfinal{\"answer\":\"final\"}",
        "<Reasoning>```json\n{\"answer\":\"draft\"}\n```</Reasoning>{\"answer\":\"final\"}",
        "<seed:think>{\"answer\":\"draft\"}</seed:think>{\"answer\":\"final\"}",
        "<|begin_of_thought|>{\"answer\":\"draft\"}<|end_of_thought|>{\"answer\":\"final\"}",
        "<think/>{\"answer\":\"final\"}",
        "◁think▷{\"answer\":\"draft\"}◁/think▷{\"answer\":\"final\"}",
    ] {
        assert_eq!(answered(text).as_deref(), Ok("final"), "{text}");
    }
    for (open, close) in [
        ("<analysis>", "</analysis>"),
        ("<think >", "</think>"),
        ("< thinking\n>", "</thinking>"),
        ("<THOUGHT id=\"1\">", "</THOUGHT>"),
        ("[think]", "[/think]"),
        ("◁think▷", "◁/think▷"),
        ("<|START_THINKING|>", "<|END_THINKING|>"),
        (
            "<|channel|>analysis<|message|>",
            "<|end|><|start|>assistant<|channel|>final<|message|>",
        ),
        ("<|channel|>commentary to=f<|message|>", "<|call|>"),
        ("analysis", "assistantfinal"),
        ("Well.assistantanalysis", "assistantfinal"),
    ] {
        let closed = format!("{open}Maybe {{\"answer\":\"draft\"}}{close} I am not able to say.");
        assert!(answered(&closed).is_err(), "{closed}");
        let unclosed = format!("{open}Maybe {{\"answer\":\"draft\"}} or not");
        assert_eq!(
            answered(&unclosed),
            Err(Unreadable::UnclosedReasoning),
            "{unclosed}"
        );
        let nested = format!("{open}a {open}b{close} {{\"answer\":\"draft\"}} or not");
        if !matches!(open, "analysis" | "Well.assistantanalysis") && !open.contains("channel") {
            assert_eq!(
                answered(&nested),
                Err(Unreadable::UnclosedReasoning),
                "{nested}"
            );
        }
        let before = format!("Maybe {{\"answer\":\"draft\"}}{close} No.");
        if close != "<|call|>" {
            assert!(answered(&before).is_err(), "{before}");
        }
    }
}

// K5, K8: the text as it stands comes first.
#[test]
fn what_looks_like_a_mark_in_a_string_is_data() {
    for mark in [
        "<think>",
        "</think>",
        "[THINK]",
        "◁/think▷",
        "<|channel|>final<|message|>",
        "assistantfinal",
        "analysis",
    ] {
        let value = json!({ "answer": format!("write {mark} here") });
        let string = json!(format!("{mark}{{}}"));
        for text in [
            format!("{value}"),
            format!("So: {value}"),
            format!("```json\n{value}\n```"),
            format!("<think>x</think>{value}"),
            format!("<think>x</think>\n{value}\nThere."),
        ] {
            assert_eq!(read(&text).as_ref(), Ok(&value), "{text}");
        }
        assert_eq!(read(&format!("<think>x</think> {string}")), Ok(string));
    }
    let answer = json!({"answer": "x"});
    for prose in [
        "The analysis <b>is</b> this: ",
        "[Analysis] ",
        "analysis of it: ",
        "1 < 2: ",
        "<thinker> ",
    ] {
        assert_eq!(
            read(&format!("{prose}{answer}")).as_ref(),
            Ok(&answer),
            "{prose}"
        );
    }
}

// K5
#[test]
fn brackets_of_prose_swallow_no_answer() {
    for text in [
        r#"Screen [size 5"] noted. {"answer":"x"}"#,
        r#"In [0, 1) it is {"answer":"x"}"#,
        r#"Use { or [ to open. {"answer":"x"}"#,
        r#"See [[Page and {"answer":"x"} there"#,
        r#"a [b} c {"answer":"x"}"#,
        r#"As [1] says, {} is {"answer":"x"}."#,
        "See\n```json\n{\"example\": 1}\n```\nso {\"answer\":\"x\"}",
        "{\"answer\":\"y\", \"answer\":\"z\"} or\n```json\n{\"answer\":\"x\"}\n```",
    ] {
        assert_eq!(answered(text).as_deref(), Ok("x"), "{text}");
    }
}

// K5: no part of a broken answer passes for the whole.
#[test]
fn what_stands_within_broken_brackets_is_no_answer() {
    for text in [
        r#"{"kids": [{"answer":"x"}, oops]}"#,
        r#"{"kids": [{"answer":"x"}"#,
        r#"{'kids': {"answer":"x"}}"#,
        r#"[{"answer":"y"} {"answer":"x"}"#,
        r#"{"a": "}", "kids": {"answer":"x"}, oops}"#,
        r#"[see {"answer":"x"}]"#,
    ] {
        assert!(answered(text).is_err(), "{text}");
    }
}

// K5: where one of several values conforms, the others are not candidates.
#[test]
fn values_that_do_not_conform_are_passed_over_where_another_does() {
    let several = Err(Unreadable::Several);
    assert_eq!(answered(r#"{"answer":"x"} or {"answer":"y"}"#), several);
    assert_eq!(answered("[1] or [2]"), several);
    assert_eq!(
        answered("[1] it is").as_deref(),
        Ok("does not conform: [1]")
    );
    assert_eq!(read(r#"[1] {"answer":"x"}"#), Err(Unreadable::Several));
}

#[test]
fn deep_nesting_is_refused_and_not_a_stack_overflow() {
    let text = "[".repeat(100_000);
    assert!(matches!(read(&text), Err(Unreadable::NoJson(_))));
}

// K5: a model may write brackets and marks for ever.
#[test]
fn each_part_of_a_text_is_looked_at_a_few_times() {
    for piece in [
        "[",
        "[1,",
        "[a ",
        "{a ",
        r#"{"a":"#,
        r#"{"a":1,"a":1 "#,
        r#"x {"a":[ "#,
        "[1,2 ",
        "<think",
        "<think> ",
        "</think> ",
        "<|a",
        "<|channel|>final",
        "```a ",
        "```[1,",
    ] {
        let text = piece.repeat(100_000);
        let (read, steps) = steps::of(|| super::read(&text).map(|found| found.the_one(None)));
        assert!(read.is_err() || matches!(read, Ok(Err(_))), "{piece}");
        assert!(steps <= 4 * text.len(), "{piece}: {steps} steps");
    }
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
