//! Does a streamed answer say what it would have said whole?
//!
//! A law for all dialects: an answer is drawn, written once as a whole response and once as the events of a stream, and
//! both are read. Class, message, usage, tier, text and calls are the same.

use proptest::prelude::*;
use rig_spec::{ANTHROPIC, Dialect, GEMINI, OPENAI, Provider};
use serde_json::{Value, json};

use super::recordings::RESPONSES;
use super::{Failed, Reading, Reply};
use crate::transport::Headers;

/// How a drawn answer ends.
#[derive(Clone, Copy, Debug, PartialEq)]
enum End {
    /// By itself.
    Good,
    /// At the token limit.
    Cut,
    /// Declined, with words for it.
    Refused,
    /// Declined, by a name alone.
    Filtered,
    /// With a reason that means nothing to us.
    Odd,
    /// Not at all: there is no turn in it.
    Absent,
    /// With an error beside what was said so far.
    Failed,
}

#[derive(Clone, Debug)]
struct Drawn {
    texts: Vec<String>,
    call: bool,
    end: End,
    has_usage: bool,
}

const WORDS: &str = "I would rather not.";

fn drawn() -> impl Strategy<Value = Drawn> {
    use End::{Absent, Cut, Failed, Filtered, Good, Odd, Refused};
    let ends = vec![Good, Cut, Refused, Filtered, Odd, Absent, Failed];
    let texts = prop::collection::vec("[ a-c{}]{0,4}", 0..3);
    (
        texts,
        any::<bool>(),
        prop::sample::select(ends),
        any::<bool>(),
    )
        .prop_map(|(texts, call, end, has_usage)| Drawn {
            texts,
            call,
            end,
            // What has neither a turn nor usage is nothing of the dialect.
            has_usage: has_usage || end == Absent,
        })
}

/// The error of an answer that fails: it quotes what was said.
fn error(drawn: &Drawn) -> Value {
    json!({ "message": format!("stuck after {}", drawn.texts.concat()), "code": "insufficient_quota" })
}

fn usage(drawn: &Drawn, usage: Value) -> Value {
    if drawn.has_usage { usage } else { Value::Null }
}

/// Returns the whole response, and the events of the stream.
fn written(provider: &Provider, drawn: &Drawn) -> (Value, Vec<Value>) {
    match provider.dialect {
        Dialect::OpenAiChat => chat(drawn),
        Dialect::OpenAiResponses => responses(drawn),
        Dialect::AnthropicMessages => messages(drawn),
        Dialect::Gemini => generated(drawn),
    }
}

fn chat(drawn: &Drawn) -> (Value, Vec<Value>) {
    let counts = json!({ "prompt_tokens": 9, "completion_tokens": 5, "total_tokens": 14 });
    let counts = usage(drawn, counts);
    let call = json!([{ "index": 0, "id": "c", "function": { "name": "n", "arguments": "{}" } }]);
    let calls = if drawn.call { call } else { Value::Null };
    let finish = match drawn.end {
        End::Good | End::Refused => "stop",
        End::Cut => "length",
        End::Filtered => "content_filter",
        End::Odd => "odd",
        End::Absent | End::Failed => "error",
    };
    let refusal = (drawn.end == End::Refused).then_some(WORDS);
    let turn = json!({ "content": drawn.texts.concat(), "refusal": refusal, "tool_calls": calls });
    let mut choices = json!([{ "message": turn, "finish_reason": finish }]);
    let delta = |delta: Value| json!({ "choices": [{ "delta": delta, "finish_reason": null }] });
    let texts = drawn
        .texts
        .iter()
        .map(|text| delta(json!({ "content": text })));
    let mut events: Vec<_> = texts.collect();
    events.push(delta(json!({ "refusal": refusal, "tool_calls": calls })));
    events.push(json!({ "choices": [{ "delta": {}, "finish_reason": finish }] }));
    let last = json!({ "choices": [], "usage": counts, "service_tier": "flex" });
    if drawn.end == End::Absent {
        choices = json!([]);
        events.clear();
    }
    events.push(last);
    let mut whole = json!({ "choices": choices, "usage": counts, "service_tier": "flex" });
    if drawn.end == End::Failed {
        whole["error"] = error(drawn);
        events.push(json!({ "error": error(drawn) }));
    }
    (whole, events)
}

fn responses(drawn: &Drawn) -> (Value, Vec<Value>) {
    let counts = usage(drawn, json!({ "input_tokens": 9, "output_tokens": 5 }));
    let text = |text: &String| json!({ "type": "output_text", "text": text });
    let mut parts: Vec<_> = drawn.texts.iter().map(text).collect();
    if drawn.end == End::Refused {
        parts.push(json!({ "type": "refusal", "refusal": WORDS }));
    }
    let mut items = vec![json!({ "type": "message", "content": parts })];
    if drawn.call {
        items.push(
            json!({ "type": "function_call", "call_id": "c", "name": "n", "arguments": "{}" }),
        );
    }
    let (status, cause) = match drawn.end {
        End::Good | End::Refused | End::Absent => ("completed", None),
        End::Cut => ("incomplete", Some("max_output_tokens")),
        End::Filtered => ("incomplete", Some("content_filter")),
        End::Odd => ("incomplete", Some("odd")),
        End::Failed => ("failed", None),
    };
    if drawn.end == End::Absent {
        items.clear();
    }
    let error = (drawn.end == End::Failed).then(|| error(drawn));
    let whole = json!({
        "status": status,
        "output": items,
        "incomplete_details": { "reason": cause },
        "usage": counts,
        "service_tier": "flex",
        "error": error,
    });
    let mut events = vec![json!({ "type": "response.created" })];
    let delta = |text: &String| json!({ "type": "response.output_text.delta", "delta": text });
    events.extend(drawn.texts.iter().map(delta));
    let done = |item: &Value| json!({ "type": "response.output_item.done", "item": item });
    events.extend(items.iter().map(done));
    events.push(json!({ "type": format!("response.{status}"), "response": whole }));
    (whole, events)
}

fn messages(drawn: &Drawn) -> (Value, Vec<Value>) {
    let counts = json!({ "input_tokens": 9, "output_tokens": 5, "service_tier": "priority" });
    let counts = usage(drawn, counts);
    let text = |text: &String| json!({ "type": "text", "text": text });
    let mut blocks: Vec<_> = drawn.texts.iter().map(text).collect();
    if drawn.call {
        blocks.push(json!({ "type": "tool_use", "id": "c", "name": "n", "input": {} }));
    }
    if drawn.end == End::Absent {
        blocks.clear();
    }
    let (reason, details) = match drawn.end {
        End::Good | End::Absent => (Some("end_turn"), Value::Null),
        End::Cut => (Some("max_tokens"), Value::Null),
        End::Refused => (
            Some("refusal"),
            json!({ "category": "cyber", "explanation": WORDS }),
        ),
        End::Filtered => (Some("refusal"), Value::Null),
        End::Odd => (Some("odd"), Value::Null),
        // The error comes in the place of a reason.
        End::Failed => (None, Value::Null),
    };
    let mut whole = json!({
        "type": "message",
        "content": blocks,
        "stop_reason": reason,
        "stop_details": details,
        "usage": counts,
    });
    let mut events = vec![json!({ "type": "message_start", "message": { "usage": counts } })];
    for (index, block) in blocks.iter().enumerate() {
        let mut empty = block.clone();
        if let Some(text) = empty.get_mut("text") {
            *text = "".into();
        }
        events
            .push(json!({ "type": "content_block_start", "index": index, "content_block": empty }));
        if block["type"] == "text" {
            let delta = json!({ "type": "text_delta", "text": block["text"] });
            events.push(json!({ "type": "content_block_delta", "index": index, "delta": delta }));
        }
    }
    let end = json!({ "stop_reason": reason, "stop_details": details });
    events.push(json!({ "type": "message_delta", "delta": end, "usage": counts }));
    if drawn.end == End::Failed {
        whole["error"] = error(drawn);
        events.push(json!({ "type": "error", "error": error(drawn) }));
    }
    events.push(json!({ "type": "message_stop" }));
    (whole, events)
}

fn generated(drawn: &Drawn) -> (Value, Vec<Value>) {
    let counts = usage(
        drawn,
        json!({ "promptTokenCount": 9, "candidatesTokenCount": 5 }),
    );
    let mut parts: Vec<_> = drawn
        .texts
        .iter()
        .map(|text| json!({ "text": text }))
        .collect();
    if drawn.call {
        parts.push(json!({ "functionCall": { "id": "c", "name": "n", "args": {} } }));
    }
    let (reason, words) = match drawn.end {
        End::Good | End::Absent => (Some("STOP"), None),
        End::Cut => (Some("MAX_TOKENS"), None),
        End::Refused => (Some("SAFETY"), Some(WORDS)),
        End::Filtered => (Some("PROHIBITED_CONTENT"), None),
        End::Odd => (Some("ODD"), None),
        End::Failed => (None, None),
    };
    let ratings = json!([{ "category": "HARM", "blocked": drawn.end == End::Refused }]);
    let turn = |parts: &[Value], ends: bool| {
        let mut turn = json!({ "content": { "parts": parts } });
        if ends {
            turn["finishReason"] = reason.into();
            turn["finishMessage"] = words.into();
            turn["safetyRatings"] = ratings.clone();
        }
        turn
    };
    let mut whole = json!({ "candidates": [turn(&parts, true)], "usageMetadata": counts });
    let pieces = parts
        .chunks(1)
        .map(|part| json!({ "candidates": [turn(part, false)] }));
    let mut events: Vec<_> = pieces.collect();
    events.push(json!({ "candidates": [turn(&[], true)], "usageMetadata": counts }));
    if drawn.end == End::Absent {
        whole["candidates"] = json!([]);
        events = vec![json!({ "candidates": [], "usageMetadata": counts })];
    }
    if drawn.end == End::Failed {
        whole["error"] = error(drawn);
        events.push(json!({ "error": error(drawn) }));
    }
    (whole, events)
}

fn read(provider: &'static Provider, body: &str, has_tools: bool) -> Result<Reply, Box<Failed>> {
    let mut reading = Reading::new(provider, 200, Headers::default());
    reading.push(body.as_bytes());
    reading.finish(has_tools).map_err(Box::new)
}

proptest! {
    // K3, K4, K5
    #[test]
    fn whole_and_streamed_answers_say_the_same(drawn in drawn(), has_tools in any::<bool>()) {
        for provider in [&OPENAI, &RESPONSES, &ANTHROPIC, &GEMINI] {
            let (whole, events) = written(provider, &drawn);
            let stream: String = events.iter().map(|event| format!("data: {event}\n\n")).collect();
            let stream = match provider.dialect {
                Dialect::OpenAiChat => stream + "data: [DONE]\n\n",
                _ => stream,
            };
            let whole = read(provider, &whole.to_string(), has_tools);
            let streamed = read(provider, &stream, has_tools);
            prop_assert_eq!(&whole, &streamed, "{:?}", provider.dialect);
            // What was read of the usage is kept, however the answer ends.
            let used = match &whole {
                Ok(reply) => reply.usage,
                Err(failed) => failed.usage,
            };
            let expected = if drawn.has_usage { (Some(9), Some(5)) } else { (None, None) };
            prop_assert_eq!((used.tokens_in, used.tokens_out), expected);
        }
    }
}
