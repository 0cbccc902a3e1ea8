//! Why an answer is none: what its provider says of it, and what it used.

use rig::__private::{ANTHROPIC, Candidate, DEEPSEEK, Dialect, GEMINI, Policy, Provider};
use rig::testing::Scripted;
use rig::{FailureClass, Usd};
use serde_json::{Value, json};
use tests::routes::fc_base::FcBase;
use tests::{World, block_on};

use crate::fieldcase::ladder::{ask, candidate, route};

static RELAY: Provider = Provider {
    name: "relay",
    dialect: Dialect::OpenAiResponses,
    base_url: "http://relay.test/v1",
    base_url_env: "RELAY_BASE_URL",
    ..Provider::BLANK
};
static CHAT: [Candidate; 1] = [candidate(&DEEPSEEK)];
static MESSAGES: [Candidate; 1] = [candidate(&ANTHROPIC)];
static GENERATE: [Candidate; 1] = [candidate(&GEMINI)];
static RESPONSES: [Candidate; 1] = [candidate(&RELAY)];

/// Counts that come to 90 tokens in and 12 out, as the dialect of these candidates reports them.
fn with_usage(candidates: &[Candidate], mut body: Value) -> Value {
    let (field, usage) = match candidates[0].provider.dialect {
        Dialect::OpenAiChat => (
            "usage",
            json!({ "prompt_tokens": 90, "completion_tokens": 12, "total_tokens": 102 }),
        ),
        Dialect::OpenAiResponses | Dialect::AnthropicMessages => {
            ("usage", json!({ "input_tokens": 90, "output_tokens": 12 }))
        }
        Dialect::Gemini => (
            "usageMetadata",
            json!({ "promptTokenCount": 90, "candidatesTokenCount": 12 }),
        ),
    };
    body[field] = usage;
    body
}

/// The class and the message of a call that these candidates answer with this body.
fn failed(candidates: &'static [Candidate], body: &Value) -> (FailureClass, String) {
    let world = World::with_keys("deepseek anthropic gemini relay");
    let body = with_usage(candidates, body.clone());
    world.push([Scripted::status(200, body.to_string())]);
    let call = ask::<FcBase>(route(candidates, None, Policy::BLANK));
    let call = call.envelope("e", Usd::dollars(100)).on(&world.rig);
    let error = block_on(call.run()).unwrap_err();
    let rows = world.store.rows();
    assert_eq!(rows.len(), 1, "{body}");
    // K3: what was billed is on the row, and the envelope pays it and no more.
    let used = (rows[0].tokens_in, rows[0].tokens_out);
    assert_eq!(used, (Some(90), Some(12)), "{body}");
    let cost = Usd::nanos(90 * 2_000 + 12 * 10_000);
    let envelope = block_on(world.rig.envelope("e")).unwrap().unwrap();
    assert_eq!((rows[0].cost, envelope.spent), (cost, cost), "{body}");
    let failure = error.failure().unwrap();
    (failure.class, failure.message.clone())
}

// K3, E2: whatever the dialect, an answer with nothing in it is the model's fault, and keeps its usage.
#[test]
fn an_answer_with_nothing_in_it_is_content_invalid_and_keeps_its_usage() {
    let cases: [(&'static [Candidate], Value); 11] = [
        (&CHAT, json!({ "choices": [] })),
        (&CHAT, json!({})),
        (
            &CHAT,
            json!({ "choices": [{ "message": { "content": "" }, "finish_reason": "stop" }] }),
        ),
        (&CHAT, json!({ "choices": [{}] })),
        (&GENERATE, json!({ "candidates": [] })),
        (&GENERATE, json!({})),
        (
            &GENERATE,
            json!({ "candidates": [{ "finishReason": "STOP" }] }),
        ),
        (
            &MESSAGES,
            json!({ "type": "message", "content": [], "stop_reason": "end_turn" }),
        ),
        (&MESSAGES, json!({ "type": "message" })),
        (&RESPONSES, json!({ "status": "completed", "output": [] })),
        (&RESPONSES, json!({ "status": "completed" })),
    ];
    for (candidates, body) in cases {
        let (class, message) = failed(candidates, &body);
        assert_eq!(class, FailureClass::ContentInvalid, "{body}");
        assert!(message.starts_with("the answer holds no text"), "{message}");
    }
}

// Item by item: what the provider gives as its reason is in the message.
#[test]
fn the_message_of_a_refusal_carries_the_reason() {
    let chat = |message: Value, finish: &str| json!({ "choices": [{ "message": message, "finish_reason": finish }] });
    let words = "Not about bridges.";
    let cases: [(&'static [Candidate], Value, &str); 13] = [
        (
            &CHAT,
            chat(json!({ "refusal": words }), "stop"),
            ": Not about bridges.",
        ),
        (
            &CHAT,
            chat(
                json!({ "content": [{ "type": "refusal", "refusal": words }] }),
                "stop",
            ),
            ": Not about bridges.",
        ),
        (
            &CHAT,
            chat(json!({ "content": "x" }), "content_filter"),
            " (content_filter)",
        ),
        (
            &CHAT,
            json!({ "choices": [{
                "message": {},
                "finish_reason": "content_filter",
                "content_filter_results": { "hate": { "filtered": false }, "violence": { "filtered": true } },
            }] }),
            " (content_filter, violence)",
        ),
        (
            &GENERATE,
            json!({ "promptFeedback": { "blockReason": "PROHIBITED_CONTENT" } }),
            " (PROHIBITED_CONTENT)",
        ),
        (
            &GENERATE,
            json!({ "promptFeedback": { "blockReason": "OTHER", "blockReasonMessage": words } }),
            " (OTHER): Not about bridges.",
        ),
        (
            &GENERATE,
            json!({ "candidates": [{
                "finishReason": "SAFETY",
                "finishMessage": words,
                "safetyRatings": [
                    { "category": "HARM_CATEGORY_HARASSMENT" },
                    { "category": "HARM_CATEGORY_DANGEROUS_CONTENT", "blocked": true },
                ],
            }] }),
            " (SAFETY, HARM_CATEGORY_DANGEROUS_CONTENT): Not about bridges.",
        ),
        (
            &GENERATE,
            json!({ "candidates": [{ "finishReason": "RECITATION" }] }),
            " (RECITATION)",
        ),
        (
            &MESSAGES,
            json!({ "content": [], "stop_reason": "refusal" }),
            " (refusal)",
        ),
        (
            &MESSAGES,
            json!({ "content": [], "stop_reason": "refusal", "stop_details":
                { "type": "refusal", "category": "cyber", "explanation": words } }),
            " (refusal, cyber): Not about bridges.",
        ),
        (
            &RESPONSES,
            json!({ "status": "completed", "output": [
                { "type": "message", "content": [{ "type": "refusal", "refusal": words }] },
            ] }),
            ": Not about bridges.",
        ),
        (
            &RESPONSES,
            json!({ "status": "incomplete", "incomplete_details": { "reason": "content_filter" }, "output": [] }),
            " (content_filter)",
        ),
        (
            &RESPONSES,
            json!({ "status": "incomplete", "incomplete_details": { "reason": "content_filter" }, "output": [
                { "type": "message", "content": [{ "type": "refusal", "refusal": words }] },
            ] }),
            " (content_filter): Not about bridges.",
        ),
    ];
    for (candidates, body, end) in cases {
        let (class, message) = failed(candidates, &body);
        assert_eq!(class, FailureClass::Refusal, "{body}");
        let expected = format!("the model or the provider's filter declined to answer{end}");
        assert_eq!(message, expected, "{body}");
    }
}

#[test]
fn the_message_of_another_end_carries_the_reason_as_well() {
    use FailureClass::{CapacityShed, ContentInvalid, Network};
    let chat = |finish: &str| json!({ "choices": [{ "message": {}, "finish_reason": finish }] });
    let generated = |finish: &str, message: Value| json!({ "candidates": [{ "finishReason": finish, "finishMessage": message }] });
    let cases: [(&'static [Candidate], Value, FailureClass, &str); 7] = [
        (
            &CHAT,
            chat("insufficient_system_resource"),
            CapacityShed,
            "the provider ran out of resources while answering (insufficient_system_resource)",
        ),
        (
            &CHAT,
            chat("stop"),
            ContentInvalid,
            "the answer holds no text",
        ),
        (
            &CHAT,
            chat("eaten"),
            ContentInvalid,
            "the answer holds no text (eaten)",
        ),
        (
            &GENERATE,
            generated("MALFORMED_FUNCTION_CALL", json!("no such function")),
            ContentInvalid,
            "the model called a tool in a way that the provider could not read (MALFORMED_FUNCTION_CALL): no such function",
        ),
        (
            &GENERATE,
            generated("LANGUAGE", Value::Null),
            ContentInvalid,
            "the answer holds no text (LANGUAGE)",
        ),
        (
            &MESSAGES,
            json!({ "content": [], "stop_reason": "pause_turn" }),
            ContentInvalid,
            "the provider paused its turn instead of answering (pause_turn)",
        ),
        (
            &RESPONSES,
            json!({ "status": "incomplete", "incomplete_details": { "reason": "bad_luck" }, "output": [] }),
            Network,
            "the provider broke down while answering (incomplete, bad_luck)",
        ),
    ];
    for (candidates, body, class, expected) in cases {
        let (found, message) = failed(candidates, &body);
        assert_eq!((found, message.as_str()), (class, expected), "{body}");
    }
}

// K2's bound and the privacy rule hold for a refusal's own words.
#[test]
fn a_refusal_is_one_short_line_without_keys() {
    let long = format!("no sk-proj-abcdEFGH1234 {}", "and no ".repeat(200));
    let body = json!({ "choices": [{ "message": { "refusal": long }, "finish_reason": "stop" }] });
    let (_, message) = failed(&CHAT, &body);
    assert!(message.contains("no [redacted] and no"), "{message}");
    assert!(
        message.chars().count() <= 300 && message.ends_with('…'),
        "{message}"
    );
}
