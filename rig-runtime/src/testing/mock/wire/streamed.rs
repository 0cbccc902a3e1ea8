//! How does a provider stream what it would have sent whole?

use std::mem;
use std::time::Duration;

use rig_spec::Dialect;
use serde_json::{Value, json};

use super::super::super::Scripted;
use crate::transport::Request;

/// Returns whether a request asks for a stream.
pub(super) fn is_asked_for(request: &Request) -> bool {
    let body: Value = serde_json::from_slice(&request.body).unwrap_or_default();
    body["stream"] == true || request.url.contains(":streamGenerateContent")
}

/// Writes a whole answer as a stream: text word by word, anything else in one piece.
pub(super) fn write(dialect: Dialect, answer: Value) -> Scripted {
    let events = match dialect {
        Dialect::OpenAiChat => chat(answer),
        Dialect::OpenAiResponses => responses(answer),
        Dialect::AnthropicMessages => messages(answer),
        Dialect::Gemini => gemini(answer),
    };
    let mut reply = Scripted::stream();
    for event in events {
        reply = reply.piece(Duration::ZERO, format!("data: {event}\n\n"));
    }
    match dialect {
        Dialect::OpenAiChat => reply.piece(Duration::ZERO, "data: [DONE]\n\n"),
        Dialect::OpenAiResponses | Dialect::AnthropicMessages | Dialect::Gemini => reply,
    }
}

/// Cuts a text behind its blanks.
fn words(text: &Value) -> impl Iterator<Item = &str> {
    text.as_str().unwrap_or_default().split_inclusive(' ')
}

fn chat(mut answer: Value) -> Vec<Value> {
    let choice = &mut answer["choices"][0];
    let finish = choice["finish_reason"].take();
    let mut turn = choice["message"].take();
    let text = turn.get_mut("content").map(Value::take).unwrap_or_default();
    let chunk = |delta: Value| json!({ "choices": [{ "index": 0, "delta": delta }] });
    let words = words(&text).map(|word| chunk(json!({ "content": word })));
    let mut events: Vec<_> = words.collect();
    events.push(chunk(turn));
    events.push(json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": finish }] }));
    events.push(json!({ "choices": [], "usage": answer["usage"] }));
    events
}

fn responses(answer: Value) -> Vec<Value> {
    let text = &answer["output"][0]["content"][0]["text"];
    let words = words(text).map(
        |word| json!({ "type": "response.output_text.delta", "output_index": 0, "delta": word }),
    );
    let mut events: Vec<_> = words.collect();
    events.push(json!({ "type": "response.completed", "response": answer }));
    events
}

fn messages(mut answer: Value) -> Vec<Value> {
    let content = answer["content"].take();
    let stop = answer["stop_reason"].take();
    let usage = answer["usage"].take();
    let mut events = vec![json!({ "type": "message_start", "message": { "usage": usage } })];
    for (index, mut block) in content
        .as_array()
        .into_iter()
        .flatten()
        .cloned()
        .enumerate()
    {
        let delta =
            |delta| json!({ "type": "content_block_delta", "index": index, "delta": delta });
        let text = block
            .get_mut("text")
            .map(|text| mem::replace(text, "".into()));
        let input = block
            .get_mut("input")
            .map(|input| mem::replace(input, json!({})));
        events
            .push(json!({ "type": "content_block_start", "index": index, "content_block": block }));
        let text = text.unwrap_or_default();
        let words = words(&text);
        events.extend(words.map(|word| delta(json!({ "type": "text_delta", "text": word }))));
        let input = input
            .map(|input| json!({ "type": "input_json_delta", "partial_json": input.to_string() }));
        events.extend(input.map(delta));
    }
    let delta = json!({ "stop_reason": stop });
    events.push(json!({ "type": "message_delta", "delta": delta, "usage": usage }));
    events.push(json!({ "type": "message_stop" }));
    events
}

fn gemini(mut answer: Value) -> Vec<Value> {
    let parts = answer["candidates"][0]["content"]["parts"].take();
    let piece = |part: Value| json!({ "candidates": [{ "content": { "role": "model", "parts": [part] } }] });
    let mut events = Vec::new();
    for part in parts.as_array().into_iter().flatten() {
        match part.get("text") {
            Some(text) => events.extend(words(text).map(|word| piece(json!({ "text": word })))),
            None => events.push(piece(part.clone())),
        }
    }
    // What is left has the end and the counts.
    answer["candidates"][0]["content"] = json!({ "role": "model" });
    events.push(answer);
    events
}
