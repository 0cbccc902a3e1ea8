//! FC-21, FC-28 to FC-31: what streams, whatever it is cut into.

use std::time::Duration;

use rig::__private::{Answer, Policy, Route, Schema, Tool};
use rig::testing::Scripted;
use rig::{Call, Event, FailureClass, Turn, Usd};
use serde_json::{Value, json};
use tests::routes::fc_base::FcBase;
use tests::{World, block_on};

use super::Case;
use super::ladder::{DEEPSEEK_A, ONE_REPAIR, ask, retries, route, world};

/// What a streamed call told, and what it ended with.
struct Heard<T> {
    deltas: Vec<String>,
    end: rig::Result<rig::Run<T>>,
}

fn hear<T: Answer>(world: &World, call: Call<T>) -> Heard<T> {
    let mut events = call.on(&world.rig).stream();
    let mut deltas = Vec::new();
    let end = loop {
        match block_on(events.next()).unwrap() {
            Ok(Event::Delta { text, .. }) => deltas.push(text),
            Ok(Event::Done(run)) => break Ok(run),
            Ok(_) => {}
            Err(error) => break Err(error),
        }
    };
    Heard { deltas, end }
}

/// Streams bytes in pieces of these lengths.
fn pieces(bytes: &[u8], lengths: impl IntoIterator<Item = usize>) -> Scripted {
    let mut rest = bytes;
    let mut reply = Scripted::stream();
    for length in lengths {
        let (piece, more) = rest.split_at(length);
        reply = reply.piece(Duration::from_millis(1), piece);
        rest = more;
    }
    assert!(rest.is_empty());
    reply
}

/// Streams a reply to a route of the base and checks output, deltas and row.
pub(super) fn serves(reply: Scripted, expected: &Value, what: &str) {
    let world = world();
    world.push([reply]);
    let heard = hear::<FcBase>(&world, ask(route(&DEEPSEEK_A, None, Policy::BLANK)));
    let output = heard
        .end
        .unwrap_or_else(|error| panic!("{what}: {error}"))
        .output;
    let value = serde_json::to_value(output).unwrap();
    assert_eq!(value, *expected, "{what}");
    let said = heard.deltas.concat();
    assert_eq!(
        serde_json::from_str::<Value>(&said).unwrap(),
        value,
        "{what}"
    );
    assert!(!said.contains('\u{fffd}') && heard.deltas.iter().all(|delta| !delta.is_empty()));
    let rows = world.store.rows();
    assert_eq!(rows.len(), 1, "{what}");
    let row = &rows[0];
    let used = (row.failure, row.tokens_in, row.tokens_out);
    assert_eq!(used, (None, Some(120), Some(9)), "{what}");
    assert_eq!(row.cost, Usd::nanos(120 * 2_000 + 9 * 10_000), "{what}");
    assert!(row.ttfb_ms.unwrap() <= row.latency_ms, "{what}");
}

// W2: where the network cuts a stream means nothing.
#[test]
fn fc_28_chunks_that_end_inside_a_character() {
    let Some(case) = Case::open("FC-28") else {
        return;
    };
    let stream = case.read("stream.sse");
    let expected = &case.json("expect.json")["value"];
    for chunks in [
        "chunks_all_at_once",
        "chunks_inside_chars",
        "chunks_one_byte",
    ] {
        let lengths: Vec<usize> =
            serde_json::from_value(case.json(&format!("{chunks}.json"))).unwrap();
        serves(pieces(stream.as_bytes(), lengths), expected, chunks);
    }
}

#[test]
fn fc_29_comments_keep_alives_and_bare_events() {
    let Some(case) = Case::open("FC-29") else {
        return;
    };
    let stream = case.read("stream.sse");
    let expected = &case.json("expect.json")["value"];
    let whole = pieces(stream.as_bytes(), [stream.len()]);
    serves(whole, expected, "whole");
    let bytes = pieces(stream.as_bytes(), vec![1; stream.len()]);
    serves(bytes, expected, "bytes");
}

// T1: usage is the last word, wherever it comes.
#[test]
fn fc_30_usage_that_comes_after_the_finish_reason() {
    let Some(case) = Case::open("FC-30") else {
        return;
    };
    let expected = &case.json("expect.json")["value"];
    for file in [
        "empty_choices_first.sse",
        "usage_cumulative_everywhere.sse",
        "usage_last.sse",
        "usage_with_finish_then_empty.sse",
    ] {
        let stream = case.read(file);
        serves(pieces(stream.as_bytes(), [stream.len()]), expected, file);
    }
    // A pause in front of the usage.
    let stream = case.read("usage_last.sse");
    let at = stream.rfind("data: {").unwrap();
    let (answer, usage) = stream.split_at(at);
    let reply = Scripted::stream().piece(Duration::ZERO, answer);
    let reply = reply.piece(Duration::from_millis(300), usage);
    serves(reply, expected, "a pause");
}

// K3, L3: as FC-21 has it for whole responses.
#[test]
fn fc_21_a_refusal_that_streams() {
    let Some(case) = Case::open("FC-21") else {
        return;
    };
    let stream = case.read("stream.sse");
    let world = world();
    world.push([pieces(stream.as_bytes(), [stream.len()])]);
    let policy = retries(&[(FailureClass::ContentInvalid, 2)]);
    let heard = hear::<FcBase>(&world, ask(route(&DEEPSEEK_A, ONE_REPAIR, policy)));
    let error = heard.end.unwrap_err();
    assert_eq!(error.class(), Some(FailureClass::Refusal));
    let message = &error.failure().unwrap().message;
    assert!(
        message.ends_with(": I can't help with that request."),
        "{message}"
    );
    let rows = world.store.rows();
    assert_eq!(rows.len(), 1);
    assert_eq!(
        (rows[0].tokens_in, rows[0].tokens_out),
        (Some(90), Some(12))
    );
}

/// A tool with these parameters.
fn tool(name: &'static str, parameters: &'static str) -> Tool {
    Tool {
        name,
        description: "Does what its name says.",
        parameters: Schema {
            name,
            json: parameters,
            skeleton: "",
            gate: rig_build::compile_schema(parameters, &[]).unwrap().leak(),
            hash: 0,
        },
    }
}

// L1: as FC-31 has it for whole responses.
#[test]
fn fc_31_tool_calls_that_stream() {
    let Some(case) = Case::open("FC-31") else {
        return;
    };
    let add = r#"{"type":"object","required":["a","b"],"properties":{"a":{"type":"integer"},"b":{"type":"integer"}}}"#;
    let tools = [tool("add", add), tool("get_time", r#"{"type":"object"}"#)];
    let tools: &'static [Tool] = Box::leak(Box::new(tools));
    let expected = case.json("expect.json");
    for file in ["stream_empty_args.sse", "stream_two_calls.sse"] {
        let stream = case.read(file);
        let world = world();
        world.push([pieces(stream.as_bytes(), vec![1; stream.len()])]);
        let route = Route {
            tools,
            ..route(&DEEPSEEK_A, ONE_REPAIR, Policy::BLANK)
        };
        let run = hear::<Turn<FcBase>>(&world, ask(route)).end.unwrap();
        let Turn::ToolCalls(calls) = run.output else {
            panic!("{file}: no call of a tool");
        };
        let calls = calls.iter().map(|call| json!([call.name, call.arguments]));
        let calls: Vec<_> = calls.collect();
        assert_eq!(Value::from(calls), expected["tool_calls"][file], "{file}");
        assert!(!run.meta.validated);
        assert_eq!(world.store.rows().len(), 1, "{file}");
    }
}
