//! FC-07, FC-08, FC-14, FC-15, FC-16: which answers are let through, and what the caller gets of them.

use rig::testing::Scripted;
use rig::{Error, FailureClass, Rig};
use serde::Serialize;
use serde_json::{Value, json};
use tests::routes::{
    FcNullsInput, FcOrderInput, FcRestInput, FcSnippetInput, FcThoughtInput, nulls, order, rest,
    snippet, thought,
};
use tests::{World, block_on};

use super::Case;

/// Returns the output as JSON, or `content_invalid`; either way there is one row.
fn answered<T: Serialize>(
    answer: &str,
    call: impl AsyncFnOnce(&Rig) -> rig::Result<T>,
) -> Result<Value, FailureClass> {
    let world = World::with_keys("deepseek");
    world.push([Scripted::chat(answer)]);
    let output = block_on(call(&world.rig));
    assert_eq!(world.store.rows().len(), 1, "{answer}");
    match output {
        Ok(output) => Ok(serde_json::to_value(output).unwrap()),
        Err(Error::Failure(failure)) => Err(failure.class),
        Err(other) => panic!("{answer}: {other}"),
    }
}

/// The outputs of a case are what its `expect.json` says, and have the values that it gives.
fn check_case(name: &str, answered: impl Fn(&str) -> Result<Value, FailureClass>) {
    let Some(case) = Case::open(name) else { return };
    let values = case.json("expect.json")["value"].clone();
    for (file, expected) in case.expected("outputs") {
        let output = answered(&case.read(&file));
        match expected.as_str() {
            "conformant" => {
                let output = output.unwrap_or_else(|class| panic!("{name} {file}: {class}"));
                let value = values.get(&file).unwrap_or(&output);
                assert_eq!(&output, value, "{name} {file}");
            }
            _ => assert_eq!(output, Err(FailureClass::ContentInvalid), "{name} {file}"),
        }
    }
}

fn q() -> String {
    "x".to_owned()
}

// L2, L3
#[test]
fn fc_07_extra_properties_have_their_type_and_none_is_lost() {
    let answered = |answer: &str| {
        answered(answer, async |rig| {
            rest(FcRestInput { q: q() }).on(rig).await
        })
    };
    let kept = json!({"id": "x", "scores": {"a b": 1}, "open": {"any": [null]}, "closed": {}, "additional_properties": 9, "additionalProperties": 10});
    assert_eq!(answered(&kept.to_string()), Ok(kept));
    for wrong in [
        json!({"id": "x", "scores": {}, "extra": "seven"}),
        json!({"id": "x", "scores": {"a": -1}}),
        json!({"id": "x", "scores": {}, "closed": {"b": 1}}),
    ] {
        assert_eq!(
            answered(&wrong.to_string()),
            Err(FailureClass::ContentInvalid)
        );
    }
    check_case("FC-07", answered);
}

// L2, L3
#[test]
fn fc_08_null_and_missing_are_two_things() {
    let answered = |answer: &str| {
        answered(answer, async |rig| {
            nulls(FcNullsInput { q: q() }).on(rig).await
        })
    };
    for good in [
        json!({"req": "null", "req_null": null}),
        json!({"req": "a", "req_null": "b", "opt_null": null}),
    ] {
        assert_eq!(answered(&good.to_string()), Ok(good));
    }
    for wrong in [
        json!({"req": "a"}),
        json!({"req": null, "req_null": null}),
        json!({"req": "a", "req_null": null, "opt": null}),
    ] {
        assert_eq!(
            answered(&wrong.to_string()),
            Err(FailureClass::ContentInvalid)
        );
    }
    check_case("FC-08", answered);
}

// K5
#[test]
fn fc_14_a_fence_in_a_string_is_text() {
    let answered = |answer: &str| {
        answered(answer, async |rig| {
            snippet(FcSnippetInput { q: q() }).on(rig).await
        })
    };
    let fenced = json!({"lang": "`x`", "snippet": "```py\nprint(\"}\")\n```"});
    assert_eq!(answered(&format!("\n  {fenced}  \n")), Ok(fenced));
    check_case("FC-14", answered);
}

// K5
#[test]
fn fc_15_reasoning_is_no_answer() {
    let answered = |answer: &str| {
        answered(answer, async |rig| {
            thought(FcThoughtInput { q: q() }).on(rig).await
        })
    };
    let last = json!({"answer": "write <think>x</think> here"});
    let draft = r#"<think>Try {"answer":"draft"}</think>"#;
    assert_eq!(
        answered(&format!("{draft}\n```json\n{last}\n```")),
        Ok(last)
    );
    assert_eq!(
        answered(draft.trim_end_matches("</think>")),
        Err(FailureClass::ContentInvalid)
    );
    check_case("FC-15", answered);
}

// K5
#[test]
fn fc_16_a_key_twice_is_no_answer() {
    let answered = |answer: &str| {
        answered(answer, async |rig| {
            order(FcOrderInput { q: q() }).on(rig).await
        })
    };
    for twice in [
        r#"{"qty": 1, "name": "a", "qty": -1}"#,
        r#"{"qty": 2, "name": "a", "qty": 2}"#,
    ] {
        assert_eq!(answered(twice), Err(FailureClass::ContentInvalid));
    }
    check_case("FC-16", answered);
}
