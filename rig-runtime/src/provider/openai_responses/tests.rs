//! What do responses of this dialect mean, whole and streamed?

use rig_spec::FailureClass;
use serde_json::{Value, json};

use crate::provider::recordings::RESPONSES;
use crate::provider::{Failed, Reading, Reply, Usage};
use crate::transport::Headers;

fn read(body: &str) -> Result<Reply, Box<Failed>> {
    let mut reading = Reading::new(&RESPONSES, 200, Headers::default());
    reading.push(body.as_bytes());
    reading.finish(true).map_err(Box::new)
}

fn whole(body: &Value) -> Result<Reply, Box<Failed>> {
    read(&body.to_string())
}

fn streamed(events: &[Value]) -> Result<Reply, Box<Failed>> {
    let events = events.iter().map(|event| format!("data: {event}\n\n"));
    read(&events.collect::<String>())
}

fn message(part: Value) -> Value {
    json!({ "type": "message", "content": [part] })
}

fn text(text: &str) -> Value {
    message(json!({ "type": "output_text", "text": text }))
}

fn ended(kind: &str, response: Value) -> Value {
    json!({ "type": format!("response.{kind}"), "response": response })
}

#[test]
fn an_answer_is_read_from_its_items() {
    let page = json!({ "type": "url_citation", "url": "https://a.example", "title": "A" });
    let file = json!({ "type": "file_citation", "file_id": "f", "filename": "a.pdf" });
    let cited = json!({ "type": "output_text", "text": "{}", "annotations": [page, file] });
    let call = json!({
        "type": "function_call", "call_id": "c", "id": "i", "name": "n", "arguments": "{\"a\":1}",
    });
    let reply = whole(&json!({
        "status": "completed",
        "output": [
            { "type": "reasoning", "summary": [{ "type": "summary_text", "text": "hm" }] },
            { "type": "web_search_call", "name": "web_search" },
            message(cited),
            call,
        ],
        "usage": {
            "input_tokens": 10,
            "output_tokens": 5,
            "input_tokens_details": { "cached_tokens": 4, "cache_write_tokens": 2 },
            "output_tokens_details": { "reasoning_tokens": 3 },
        },
        "service_tier": "flex",
    }));
    let reply = reply.unwrap();
    assert_eq!(reply.text, "{}");
    assert_eq!(reply.citations.len(), 1);
    assert_eq!(reply.citations[0].url, "https://a.example");
    let call = &reply.tool_calls[0];
    let call = [&call.id, &call.name, &call.arguments];
    assert_eq!(call, ["c", "n", "{\"a\":1}"]);
    // T1: the output includes the reasoning.
    let usage = Usage {
        tokens_in: Some(10),
        tokens_out: Some(5),
        tokens_cached: Some(4),
        tokens_cache_write: Some(2),
        searches: Some(1),
    };
    assert_eq!(reply.usage, usage);
    assert_eq!(reply.served_tier.as_deref(), Some("flex"));
}

// K4, L14.
#[test]
fn an_end_means_the_same_whole_and_streamed() {
    use FailureClass::{CapacityShed, ContentInvalid, Network, Refusal};
    let incomplete = |reason: &str| {
        json!({
            "status": "incomplete",
            "incomplete_details": { "reason": reason },
            "output": [text("12")],
        })
    };
    let refusal = message(json!({ "type": "refusal", "refusal": "no" }));
    let shed = json!({ "code": "rate_limit_exceeded", "message": "slow down" });
    // The class, or whether the answer is cut.
    let cases = [
        ("completed", json!({ "output": [text("1")] }), Ok(false)),
        (
            "completed",
            json!({ "output": [text(" ")] }),
            Err(ContentInvalid),
        ),
        ("completed", json!({ "output": [] }), Err(ContentInvalid)),
        ("completed", json!({ "output": [refusal] }), Err(Refusal)),
        ("incomplete", incomplete("max_output_tokens"), Ok(true)),
        ("incomplete", incomplete("content_filter"), Err(Refusal)),
        ("incomplete", incomplete("who knows"), Err(Network)),
        (
            "failed",
            json!({ "status": "failed", "error": shed }),
            Err(CapacityShed),
        ),
        ("failed", json!({ "status": "failed" }), Err(Network)),
    ];
    for (kind, response, expected) in cases {
        let ends = |read: Result<Reply, Box<Failed>>| match read {
            Ok(reply) => Ok(reply.truncated),
            Err(failed) => Err(failed.class),
        };
        assert_eq!(ends(whole(&response)), expected, "{response}");
        let event = ended(kind, response);
        assert_eq!(
            ends(streamed(std::slice::from_ref(&event))),
            expected,
            "{event}"
        );
    }
}

#[test]
fn a_response_that_is_still_being_made_is_no_answer() {
    for status in ["queued", "in_progress"] {
        let body = json!({ "status": status, "output": [text("1")] });
        assert_eq!(whole(&body).unwrap_err().class, FailureClass::Network);
    }
}

// K5: without its last event a stream is no answer, also with everything else of it.
#[test]
fn a_stream_without_an_end_is_network() {
    let begun = json!({ "type": "response.created", "response": { "status": "in_progress" } });
    let done = json!({ "type": "response.output_item.done", "item": text("1") });
    let failed = streamed(&[begun, done]).unwrap_err();
    assert_eq!(failed.class, FailureClass::Network);
    assert_eq!(failed.message, "the stream ended without a finish reason");
}

#[test]
fn a_last_event_without_output_takes_the_items_before_it() {
    let done = json!({ "type": "response.output_item.done", "item": text("1") });
    let usage = json!({ "input_tokens": 3, "output_tokens": 1 });
    for output in [json!([]), Value::Null] {
        let last = ended("completed", json!({ "output": output, "usage": usage }));
        let reply = streamed(&[done.clone(), last]).unwrap();
        assert_eq!((reply.text.as_str(), reply.usage.tokens_in), ("1", Some(3)));
    }
}

#[test]
fn an_error_event_is_read_flat_and_nested() {
    let flat = json!({ "type": "error", "code": "insufficient_quota", "message": "no money" });
    let nested = json!({ "type": "error", "error": {
        "type": "insufficient_quota", "code": "insufficient_quota", "message": "no money",
    } });
    let after = ended("completed", json!({ "output": [text("1")] }));
    for event in [flat, nested] {
        let failed = streamed(&[event, after.clone()]).unwrap_err();
        assert_eq!(failed.class, FailureClass::ConfigAuth);
        assert_eq!(failed.message, "no money");
    }
}
