//! How does a host stream what it would have said whole, and what does a caller hear of it?

use std::sync::{Arc, Mutex};

use rig::testing::Scripted;
use rig::{Event, Events, Result, Rig, Run};
use serde::Serialize;
use serde_json::{Value, json};

use crate::transcript::{Seen, check};

/// Does what [`check`] does with a call that is streamed, and compares what it told as well: a line per event,
/// `started <attempt> <provider>/<model>`, `<attempt>: <text>` or `discarded <attempt> <class>`.
///
/// # Panics
///
/// When something differs.
pub fn check_stream<T: Serialize>(
    providers: &str,
    script: impl IntoIterator<Item = Scripted>,
    call: impl FnOnce(&Rig) -> Events<T>,
    told: &str,
    expected: &str,
) -> Seen<T> {
    let heard = Arc::new(Mutex::new(Vec::new()));
    let lines = Arc::clone(&heard);
    let call = |rig: &Rig| {
        let events = call(rig);
        async move { listen(events, |line| lines.lock().unwrap().push(line)).await }
    };
    let seen = check(providers, script, call, expected);
    let wanted: Vec<_> = told.trim().lines().map(str::trim).collect();
    assert_eq!(*heard.lock().unwrap(), wanted, "what the call told");
    seen
}

/// Hears a call to its end and returns that; what comes before is told to `tell`, in a line each.
///
/// # Errors
///
/// The call's own.
///
/// # Panics
///
/// When something follows the end.
pub async fn listen<T>(mut events: Events<T>, mut tell: impl FnMut(String)) -> Result<Run<T>> {
    loop {
        let end = match events.next().await.expect("a run has an end") {
            Ok(Event::Started {
                attempt,
                provider,
                model,
                ..
            }) => {
                tell(format!("started {attempt} {provider}/{model}"));
                continue;
            }
            Ok(Event::Delta { attempt, text, .. }) => {
                tell(format!("{attempt}: {text}"));
                continue;
            }
            Ok(Event::Discarded { attempt, class, .. }) => {
                tell(format!("discarded {attempt} {class}"));
                continue;
            }
            Ok(Event::Done(run)) => Ok(run),
            Ok(_) => panic!("an event that nobody knows"),
            Err(error) => Err(error),
        };
        assert!(events.next().await.is_none(), "nothing follows the end");
        return end;
    }
}

/// Returns the events in which a host streams a response that it would have sent whole. The dialect is the
/// response's.
///
/// # Panics
///
/// When the text is no response of either dialect.
#[must_use]
pub fn events_of(whole: &str) -> Vec<String> {
    let whole: Value = serde_json::from_str(whole).unwrap();
    if whole["error"].is_object() {
        return vec![event("error", &whole)];
    }
    match whole["choices"].get(0) {
        Some(choice) => chat(&whole, choice),
        None => messages(&whole),
    }
}

/// Returns the event by which the messages dialect streams a piece of its first block's text.
#[must_use]
pub fn delta(text: &str) -> String {
    let delta = json!({ "type": "text_delta", "text": text });
    event(
        "content_block_delta",
        &json!({ "index": 0, "delta": delta }),
    )
}

fn chat(whole: &Value, choice: &Value) -> Vec<String> {
    let chunk = |delta: Value, finish: &Value| {
        let choices = json!([{ "index": 0, "delta": delta, "finish_reason": finish }]);
        let tier = &whole["service_tier"];
        format!(
            "data: {}\n\n",
            json!({ "choices": choices, "service_tier": tier, "usage": null })
        )
    };
    let message = &choice["message"];
    let mut events = vec![
        ": keep-alive\n\n".to_owned(),
        chunk(json!({ "role": "assistant", "content": "" }), &Value::Null),
    ];
    for piece in pieces(message["content"].as_str().unwrap_or_default()) {
        events.push(chunk(json!({ "content": piece }), &Value::Null));
    }
    let calls = message["tool_calls"].as_array().into_iter().flatten();
    for (index, call) in calls.enumerate() {
        let function = &call["function"];
        let start = json!({ "name": function["name"], "arguments": "" });
        let start = json!([{ "index": index, "id": call["id"], "function": start }]);
        events.push(chunk(json!({ "tool_calls": start }), &Value::Null));
        for piece in pieces(function["arguments"].as_str().unwrap()) {
            let more = json!([{ "index": index, "function": { "arguments": piece } }]);
            events.push(chunk(json!({ "tool_calls": more }), &Value::Null));
        }
    }
    events.push(chunk(json!({}), &choice["finish_reason"]));
    let last = json!({ "choices": [], "usage": whole["usage"] });
    events.push(format!("data: {last}\n\ndata: [DONE]\n\n"));
    events
}

fn messages(whole: &Value) -> Vec<String> {
    let usage = &whole["usage"];
    let mut early = usage.clone();
    early["output_tokens"] = 1.into();
    let start = json!({ "content": [], "stop_reason": null, "usage": early });
    let mut events = vec![
        event("message_start", &json!({ "message": start })),
        event("ping", &json!({})),
    ];
    for (index, block) in whole["content"].as_array().unwrap().iter().enumerate() {
        let mut start = block.clone();
        let deltas: Vec<_> = if block["type"] == "text" {
            start["text"] = "".into();
            let pieces = pieces(block["text"].as_str().unwrap()).into_iter();
            pieces
                .map(|piece| json!({ "type": "text_delta", "text": piece }))
                .collect()
        } else {
            start["input"] = json!({});
            let pieces = pieces(&block["input"].to_string()).into_iter();
            pieces
                .map(|piece| json!({ "type": "input_json_delta", "partial_json": piece }))
                .collect()
        };
        let block = json!({ "index": index, "content_block": start });
        events.push(event("content_block_start", &block));
        for delta in deltas {
            let piece = json!({ "index": index, "delta": delta });
            events.push(event("content_block_delta", &piece));
        }
        events.push(event("content_block_stop", &json!({ "index": index })));
    }
    let end = json!({ "delta": { "stop_reason": whole["stop_reason"] }, "usage": usage });
    events.push(event("message_delta", &end));
    events.push(event("message_stop", &json!({})));
    events
}

fn event(name: &str, data: &Value) -> String {
    let mut data = data.clone();
    data["type"] = name.into();
    format!("event: {name}\ndata: {data}\n\n")
}

/// A few characters each.
fn pieces(text: &str) -> Vec<String> {
    let all: Vec<_> = text.chars().collect();
    all.chunks(5).map(|piece| piece.iter().collect()).collect()
}
