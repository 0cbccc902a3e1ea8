//! FC-07, FC-08, FC-14, FC-15, FC-16, FC-67, FC-69: which answers are let through, and what the caller gets of them.

use rig::testing::Scripted;
use rig::{Error, FailureClass, Rig};
use serde::Serialize;
use serde_json::{Value, json};
use tests::routes::{
    AnythingInput, FcChainInput, FcDecimalsInput, FcNullsInput, FcOrderInput, FcRestInput,
    FcSnippetInput, FcThoughtInput, anything, chain, decimals, nulls, order, rest, snippet,
    thought,
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

// L2, L3: numbers that would be gigabytes as decimals are answered at once, and none is infinite.
#[test]
fn fc_67_numbers_made_to_explode() {
    let answered = |answer: &str| {
        answered(answer, async |rig| {
            decimals(FcDecimalsInput { q: q() }).on(rig).await
        })
    };
    let with = |key: &str, number: &str| {
        let mut answer =
            r#"{"price":19.99,"neg":-0.059,"n":7,"x":1.5,"big":3e-8,"one":1}"#.to_owned();
        let at = answer.find(&format!("\"{key}\":")).unwrap() + key.len() + 3;
        let end = at + answer[at..].find([',', '}']).unwrap();
        answer.replace_range(at..end, number);
        answered(&answer)
    };
    for (key, number, held) in [
        ("price", "1e3", Some(json!(1000.0))),
        ("price", "0.005", None),
        ("n", "700e-2", Some(json!(7))),
        ("n", "9223372036854775807.0", Some(json!(i64::MAX))),
        ("n", "9223372036854775808", None),
        ("n", "1e-2", None),
        // What is too close to zero for a float is zero.
        ("n", "1e-1000000000", Some(json!(0))),
        ("x", "-1e-99999999999999999999", Some(json!(0.0))),
        ("x", "1e309", None),
        (
            "x",
            &format!("0.{}1", "0".repeat(100_000)),
            Some(json!(0.0)),
        ),
        (
            "x",
            &format!("1{}e-100000", "0".repeat(100_000)),
            Some(json!(1.0)),
        ),
        ("one", "2.00", Some(json!(2))),
        ("one", "3", None),
    ] {
        let output = with(key, number);
        match held {
            Some(held) => assert_eq!(output.unwrap()[key], held, "{key}: {number:.40}"),
            None => assert_eq!(
                output,
                Err(FailureClass::ContentInvalid),
                "{key}: {number:.40}"
            ),
        }
    }
    let Some(case) = Case::open("FC-67") else {
        return;
    };
    let outcomes = case.json("expect.json");
    let outcomes = outcomes.as_object().unwrap().iter();
    for (file, outcome) in outcomes.filter(|(file, _)| file.ends_with(".txt")) {
        let output = answered(&case.read(file));
        match outcome.as_str().unwrap() {
            "conformant" => assert!(output.is_ok(), "{file}: {output:?}"),
            _ => assert_eq!(output, Err(FailureClass::ContentInvalid), "{file}"),
        }
    }
    let underflow = answered(&case.read("underflow.txt")).unwrap();
    assert_eq!(underflow["x"], json!(0.0));
}

// K5, K8: the draft is never served; whoever marks its reasoning otherwise is read all the same.
#[test]
fn fc_69_reasoning_in_other_marks() {
    let answered = |answer: &str| {
        answered(answer, async |rig| {
            thought(FcThoughtInput { q: q() }).on(rig).await
        })
    };
    let last = json!({"answer": "final"});
    for (open, close) in [
        ("<thinking mode='deep'>", "</thinking>"),
        ("[Think]", "[/Think]"),
        ("◁think▷", "◁/think▷"),
        ("<|begin_of_thought|>", "<|end_of_thought|>"),
    ] {
        let block = format!(r#"{open}Try {{"answer":"draft"}}{close}"#);
        assert_eq!(
            answered(&format!("{block}\n{last}")),
            Ok(last.clone()),
            "{open}"
        );
        let only = answered(&format!("{block} I am not able to say."));
        assert_eq!(only, Err(FailureClass::ContentInvalid), "{open}");
    }
    let quoted = json!({"answer": "write <THINK>x</THINK> or [THINK]"});
    assert_eq!(answered(&format!("So: {quoted}")), Ok(quoted));

    let Some(case) = Case::open("FC-69") else {
        return;
    };
    let expect = case.json("expect.json");
    let outcomes = expect.as_object().unwrap().iter();
    for (file, _) in outcomes.filter(|(file, _)| file.ends_with(".txt")) {
        assert_eq!(answered(&case.read(file)), Ok(last.clone()), "{file}");
    }
    let drafts = case.files("draft_only");
    assert_eq!(drafts.len(), 14);
    for file in drafts {
        let output = answered(&case.read(&file));
        // Without a mark nobody can know that it is a draft.
        if !file.ends_with("example_then_prose.txt") {
            assert_eq!(output, Err(FailureClass::ContentInvalid), "{file}");
        }
    }
}

// L2, L3: however deep, and whether it conforms or not.
#[test]
fn a_chain_of_branches_with_the_same_keys_is_answered_at_once() {
    let answered = |answer: &str| {
        answered(answer, async |rig| {
            chain(FcChainInput { q: q() }).on(rig).await
        })
    };
    let deep = |v: &str| {
        let close = format!(r#","v":{v}}}"#);
        r#"{"next":"#.repeat(120) + "1" + &close.repeat(120)
    };
    for v in ["1", "\"a\""] {
        let value: Value = serde_json::from_str(&deep(v)).unwrap();
        assert_eq!(answered(&deep(v)), Ok(value));
    }
    assert_eq!(answered(&deep("true")), Err(FailureClass::ContentInvalid));
}

// K5: without a schema every value counts, and no digit is lost without a word.
#[test]
fn a_route_without_a_schema_serves_exact_values() {
    let answered = |answer: &str| {
        answered(answer, async |rig| {
            let input = AnythingInput {
                data: Value::Null,
                count: 1,
                note: None,
            };
            anything(input).on(rig).await
        })
    };
    assert_eq!(
        answered("[18446744073709551615, 1.0]"),
        Ok(json!([u64::MAX, 1.0]))
    );
    for refused in [
        "[18446744073709551616]",
        r#"{"n": -9223372036854775809}"#,
        "As [1] says: {}",
    ] {
        assert_eq!(
            answered(refused),
            Err(FailureClass::ContentInvalid),
            "{refused}"
        );
    }
}
