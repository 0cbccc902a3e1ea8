//! What happens when a model calls a tool?

use rig::Turn;
use rig::testing::Scripted;
use serde_json::{Value, json};
use tests::routes::{TooledInput, ladder, tooled};
use tests::{World, block_on, check};

use crate::{BAD, QUESTION, bad, good, question};

fn input() -> TooledInput {
    TooledInput {
        question: QUESTION.to_owned(),
    }
}

/// An answer of the chat dialect that calls tools: name and arguments as JSON text.
fn calls(calls: &[(&str, &str)]) -> Scripted {
    let calls: Vec<_> = calls
        .iter()
        .map(|(name, arguments)| {
            let function = json!({ "name": name, "arguments": arguments });
            json!({ "id": "c1", "type": "function", "function": function })
        })
        .collect();
    let message = json!({ "role": "assistant", "content": null, "tool_calls": calls });
    let body = json!({
        "choices": [{ "message": message, "finish_reason": "tool_calls" }],
        "usage": { "prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120 },
    });
    Scripted::status(200, body.to_string())
}

/// An answer of the messages dialect that says a word and calls a tool.
fn tool_use(name: &str, input: &Value) -> Scripted {
    let body = json!({
        "type": "message",
        "content": [
            { "type": "text", "text": "Let me look." },
            { "type": "tool_use", "id": "t1", "name": name, "input": input },
        ],
        "stop_reason": "tool_use",
        "usage": { "input_tokens": 100, "output_tokens": 20 },
    });
    Scripted::status(200, body.to_string())
}

// L1: returned before validation, and its row has no class. Never captured, since it is no output.
#[test]
fn a_tool_call_is_returned_and_not_validated() {
    let world = World::with_keys("north anthropic");
    world.push([calls(&[("lookup", r#"{"case": 7}"#), ("now", "")])]);
    let run = block_on(tooled(input()).on(&world.rig).run()).unwrap();
    let Turn::ToolCalls(called) = &run.output else {
        panic!("{:?}", run.output)
    };
    let read: Vec<_> = called
        .iter()
        .map(|call| (call.id.as_str(), call.name, call.arguments.clone()))
        .collect();
    assert_eq!(
        read,
        [
            ("c1", "lookup", json!({ "case": 7 })),
            ("c1", "now", json!({}))
        ]
    );
    assert_eq!(&run.meta.tool_calls, called);
    assert!(!run.meta.validated);
    let rows = world.store.rows();
    assert_eq!((rows.len(), rows[0].failure), (1, None));
    assert_eq!(block_on(world.rig.captures("tooled")).unwrap(), []);
}

// L1, L2: the candidates of both dialects are told of the tools, and either may answer without one.
#[test]
fn the_tools_go_with_the_request() {
    let seen = check(
        "north anthropic",
        [good()],
        |rig| tooled(input()).on(rig).run(),
        r#"
        1 north/n1 conformant 100+20 $0.00014
        = {"output":{"verdict":"yes","because":"it is","also":null}}
        "#,
    );
    let tool = &seen.body(1)["tools"][0];
    assert_eq!(tool["type"], "function");
    assert_eq!(tool["function"]["name"], "lookup");
    assert_eq!(tool["function"]["parameters"]["required"], json!(["case"]));
    let seen = check(
        "anthropic",
        [tool_use("lookup", &json!({ "case": 7 }))],
        |rig| tooled(input()).on(rig).run(),
        r#"
        1 anthropic/claude-haiku-4-5 conformant 100+20 $0.0002
        = {"tool_calls":[{"id":"t1","name":"lookup","arguments":{"case":7}}]}
        "#,
    );
    let tool = &seen.body(1)["tools"][0];
    assert_eq!(
        (&tool["name"], &tool["description"]),
        (&json!("lookup"), &json!("Looks a case up."))
    );
    assert_eq!(tool["input_schema"]["type"], "object");
}

// L1, L3: a call that the route does not allow is content_invalid on its budget, and there is nothing to repair.
#[test]
fn a_call_that_does_not_conform_is_content_invalid() {
    check(
        "north anthropic",
        [
            calls(&[("now", "{}"), ("walrus", "{}")]),
            calls(&[("lookup", r#"{"case": "walrus"}"#)]),
            tool_use("lookup", &json!({ "case": 7, "walrus": 1 })),
            tool_use("lookup", &json!({ "case": 7.5 })),
        ],
        |rig| tooled(input()).on(rig).run(),
        r#"
        1 north/n1 content_invalid 100+20 $0.00014
        2 north/n1 content_invalid 100+20 $0.00014
        3 anthropic/claude-haiku-4-5 content_invalid 100+20 $0.0002
        4 anthropic/claude-haiku-4-5 content_invalid 100+20 $0.0002
        ! content_invalid anthropic/claude-haiku-4-5: in a call of the tool `lookup`, the answer misses the schema at `/case` (type)
        (north/n1 content_invalid, north/n1 content_invalid, anthropic/claude-haiku-4-5 content_invalid, anthropic/claude-haiku-4-5 content_invalid)
        "#,
    );
}

// L7: the model that answered may still call a tool; the repair model never had the task, and has no tools.
#[test]
fn the_repair_model_has_no_tools() {
    let seen = check(
        "north anthropic",
        [bad(), bad(), calls(&[("now", "{}")]), good()],
        |rig| tooled(input()).on(rig).run(),
        r#"
        1 north/n1 content_invalid 100+20 $0.00014
        2 north/n1 content_invalid 100+20 $0.00014 repaired by north/n1
        3 north/n1 content_invalid 100+20 $0.00014 repaired by north/n1
        4 north/n1 conformant 100+20 $0.00014
        = {"output":{"verdict":"yes","because":"it is","also":null}}
        "#,
    );
    assert!(seen.body(2)["tools"].is_array() && seen.body(3)["tools"].is_null());
    assert!(BAD.contains("maybe") && seen.text(3).contains("maybe"));
}

// L1: a route that declares no tools takes none.
#[test]
fn a_route_without_tools_takes_no_call() {
    let call = || calls(&[("lookup", r#"{"case": 7}"#)]);
    check(
        "north",
        [call(), good()],
        |rig| ladder(question()).on(rig).run(),
        r#"
        1 north/n1 content_invalid 100+20 $0.00014
        2 north/n1 conformant 100+20 $0.00014
        = {"verdict":"yes","because":"it is","also":null}
        "#,
    );
}
