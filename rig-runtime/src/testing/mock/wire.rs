//! How does a provider write an answer, or fail?
//!
//! Written in the wire format of whoever is asked, so that a mocked attempt is read as a real one.

mod streamed;

use rig_spec::{Candidate, Dialect, Enforcement, FailureClass};
use serde_json::{Value, json};

use super::super::Scripted;
use super::FOR_EVER;
use crate::transport::Request;

/// What an attempt is answered with.
#[derive(Clone, Debug)]
pub(super) enum Reply {
    /// A value of the route's schema.
    Json(String),
    /// A text as the model writes it.
    Text(String),
    /// A call of a tool.
    Call {
        /// The tool's name.
        tool: String,
        /// What it is called with.
        arguments: Value,
    },
    /// A failure of this class.
    Fails(FailureClass),
}

/// How a provider fails.
#[derive(Clone, Copy, Debug)]
pub(super) enum Failing {
    /// With a text that is not the answer.
    Chatty,
    /// By declining.
    Refusing,
    /// By never answering.
    Silent,
    /// With this status.
    Status(u16),
    /// By not being there.
    Unreachable,
}

/// Returns how a provider fails with a class; `None` where it is not up to a provider.
pub(super) fn failure(class: FailureClass) -> Option<Failing> {
    match class {
        FailureClass::ContentInvalid => Some(Failing::Chatty),
        FailureClass::Refusal => Some(Failing::Refusing),
        FailureClass::Timeout => Some(Failing::Silent),
        FailureClass::CapacityShed => Some(Failing::Status(503)),
        FailureClass::Network => Some(Failing::Unreachable),
        FailureClass::ConfigAuth => Some(Failing::Status(401)),
        // The gate and a cache's name are the caller's, envelopes are the store's, and nothing makes a bug.
        FailureClass::QualityRejected
        | FailureClass::BudgetExhausted
        | FailureClass::CacheInvalid
        | FailureClass::InvariantViolation => None,
    }
}

/// Returns the model that a request is for.
pub(super) fn model(request: &Request) -> Option<String> {
    let body: Value = serde_json::from_slice(&request.body).ok()?;
    if let Some(model) = body["model"].as_str() {
        return Some(model.to_owned());
    }
    let (_, path) = request.url.split_once("/models/")?;
    path.rsplit_once(':').map(|(model, _)| model.to_owned())
}

/// Writes a reply as the candidate's provider does, whole or as the stream that the request asks for.
pub(super) fn write(candidate: &Candidate, request: &Request, reply: Reply) -> Scripted {
    let dialect = candidate.provider.dialect;
    let answer = |answer: Value| match streamed::is_asked_for(request) {
        true => streamed::write(dialect, answer),
        false => Scripted::status(200, answer.to_string()),
    };
    match reply {
        Reply::Json(json) => answer(said(dialect, &wrapped(candidate, json))),
        Reply::Text(text) => answer(said(dialect, &text)),
        Reply::Call { tool, arguments } => answer(called(dialect, &tool, &arguments)),
        Reply::Fails(class) => match failure(class) {
            Some(Failing::Chatty) => answer(said(dialect, "Let me think about it first.")),
            Some(Failing::Refusing) => answer(refused(dialect)),
            Some(Failing::Silent) => Scripted::status(200, "").after(FOR_EVER),
            Some(Failing::Status(status)) => {
                let error = json!({ "error": { "message": "the mock was told to fail" } });
                Scripted::status(status, error.to_string())
            }
            Some(Failing::Unreachable) | None => Scripted::fault("the mock was told to fail"),
        },
    }
}

/// Returns a value of the route's schema in the form that the provider enforces: some only take objects.
fn wrapped(candidate: &Candidate, json: String) -> String {
    match candidate.enforcement {
        Enforcement::Native(lowered) => match lowered.wrapped_in {
            Some(name) => format!("{{{}:{json}}}", Value::from(name)),
            None => json,
        },
        Enforcement::JsonMode | Enforcement::Coached => json,
    }
}

const TOKENS_IN: u64 = 100;
const TOKENS_OUT: u64 = 20;

fn said(dialect: Dialect, text: &str) -> Value {
    match dialect {
        Dialect::OpenAiChat => choice(&json!({ "content": text }), "stop"),
        Dialect::OpenAiResponses => item(&written(&json!({ "type": "output_text", "text": text }))),
        Dialect::AnthropicMessages => {
            message(&json!([{ "type": "text", "text": text }]), "end_turn")
        }
        Dialect::Gemini => generated(&json!([{ "text": text }]), "STOP"),
    }
}

fn refused(dialect: Dialect) -> Value {
    match dialect {
        Dialect::OpenAiChat => choice(&json!({ "refusal": "I cannot help with that." }), "stop"),
        Dialect::OpenAiResponses => {
            let refusal = json!({ "type": "refusal", "refusal": "I cannot help with that." });
            item(&written(&refusal))
        }
        Dialect::AnthropicMessages => message(&json!([]), "refusal"),
        Dialect::Gemini => generated(&json!([]), "SAFETY"),
    }
}

fn called(dialect: Dialect, tool: &str, arguments: &Value) -> Value {
    match dialect {
        Dialect::OpenAiChat => {
            let function = json!({ "name": tool, "arguments": arguments.to_string() });
            let call =
                json!({ "index": 0, "id": "call-1", "type": "function", "function": function });
            choice(&json!({ "tool_calls": [call] }), "tool_calls")
        }
        Dialect::OpenAiResponses => item(&json!({
            "type": "function_call",
            "call_id": "call-1",
            "name": tool,
            "arguments": arguments.to_string(),
        })),
        Dialect::AnthropicMessages => {
            let call =
                json!({ "type": "tool_use", "id": "call-1", "name": tool, "input": arguments });
            message(&json!([call]), "tool_use")
        }
        Dialect::Gemini => {
            let call = json!({ "id": "call-1", "name": tool, "args": arguments });
            generated(&json!([{ "functionCall": call }]), "STOP")
        }
    }
}

fn choice(turn: &Value, finish: &str) -> Value {
    json!({
        "choices": [{ "index": 0, "message": turn, "finish_reason": finish }],
        "usage": {
            "prompt_tokens": TOKENS_IN,
            "completion_tokens": TOKENS_OUT,
            "total_tokens": TOKENS_IN + TOKENS_OUT,
        },
    })
}

fn written(part: &Value) -> Value {
    json!({ "type": "message", "role": "assistant", "content": [part] })
}

fn item(item: &Value) -> Value {
    json!({
        "status": "completed",
        "output": [item],
        "usage": {
            "input_tokens": TOKENS_IN,
            "output_tokens": TOKENS_OUT,
            "total_tokens": TOKENS_IN + TOKENS_OUT,
        },
    })
}

fn message(content: &Value, stop: &str) -> Value {
    json!({
        "type": "message",
        "role": "assistant",
        "content": content,
        "stop_reason": stop,
        "usage": { "input_tokens": TOKENS_IN, "output_tokens": TOKENS_OUT },
    })
}

fn generated(parts: &Value, finish: &str) -> Value {
    json!({
        "candidates": [{ "content": { "role": "model", "parts": parts }, "finishReason": finish }],
        "usageMetadata": {
            "promptTokenCount": TOKENS_IN,
            "candidatesTokenCount": TOKENS_OUT,
            "totalTokenCount": TOKENS_IN + TOKENS_OUT,
        },
    })
}
