//! What does a response say, read outside of a call?
//!
//! For tests and tools that replay recorded responses: the adapters' own reading, before the gate, the ladder and the
//! store have seen it. A model is taken to have been told of every tool that it calls, and a provider that takes a cache
//! handle to have been given one.

use rig_spec::{FailureClass, Provider};
use serde_json::Value;

use super::finish::{Answer, Finish};
use super::{Failed, Reading, Sent, Usage};
use crate::run::Citation;
use crate::transport::Headers;
use crate::{ground, turn};

/// A response as its adapter reads it.
#[derive(Clone, Debug, PartialEq)]
pub struct Decoded {
    /// What it is.
    pub outcome: DecodedAs,
    /// The failure class of an attempt that it ends; `None` where the adapter finds no fault.
    pub class: Option<FailureClass>,
    /// Whether the request was rejected, so that no budget is spent on it.
    pub falls_through: bool,
    /// The text, without reasoning; empty for a failure.
    pub text: String,
    /// The text as it was told piece by piece; empty where it came whole.
    pub deltas: String,
    /// The tool calls: names, and arguments, which are an object.
    pub tool_calls: Vec<(String, Value)>,
    /// The whole input, in tokens.
    pub tokens_in: Option<u64>,
    /// The output, reasoning included.
    pub tokens_out: Option<u64>,
    /// The part of the input that was read from a cache.
    pub tokens_cached: Option<u64>,
    /// The part of the input that was written to a cache.
    pub tokens_cache_write: Option<u64>,
    /// The tier that served.
    pub served_tier: Option<String>,
    /// What the answer says it drew on.
    pub citations: Vec<Citation>,
    /// What a failure says.
    pub message: Option<String>,
}

/// What a response is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DecodedAs {
    /// An answer; whether it conforms is the gate's business.
    Ok,
    /// Tool calls, all with arguments that can be read.
    ToolCall,
    /// An answer that was cut at the token limit, however little of it there is. To a call it is `content_invalid`.
    Truncated,
    /// A turn that the provider wants to be asked to go on with. A call does not ask; to it, it is `content_invalid`.
    Paused,
    /// A failure.
    Failure,
}

impl DecodedAs {
    /// Returns its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::ToolCall => "tool_call",
            Self::Truncated => "truncated",
            Self::Paused => "paused",
            Self::Failure => "failure",
        }
    }
}

/// Returns what a response of this head says whose body arrives in these pieces.
pub fn read_response<'a>(
    provider: &'static Provider,
    status: u16,
    headers: Headers,
    pieces: impl IntoIterator<Item = &'a [u8]>,
) -> Decoded {
    let sent = Sent {
        handle: provider.cache.takes_handle().then_some(""),
        ..Sent::default()
    };
    let mut reading = Reading::new(provider, status, headers).to(sent);
    let told = pieces.into_iter().map(|piece| reading.push(piece).text);
    let deltas = told.collect();
    let (answer, headers) = reading.answer();
    let read = match answer {
        Ok(answer) if answer.is_paused() => paused(answer),
        Ok(answer) => settled(answer, &headers, &sent),
        Err(failed) => failure(failed),
    };
    Decoded { deltas, ..read }
}

fn settled(answer: Answer, headers: &Headers, sent: &Sent<'_>) -> Decoded {
    let reply = match answer.settle(headers, sent) {
        Ok(reply) => reply,
        Err(failed) => return failure(failed),
    };
    let written = reply.tool_calls.iter().map(|call| {
        let arguments = turn::argument_text(&call.arguments);
        let arguments = serde_json::from_str(&arguments)?;
        Ok((call.name.clone(), Value::Object(arguments)))
    });
    let (outcome, tool_calls) = match written.collect::<serde_json::Result<Vec<_>>>() {
        // What was cut is no call, even where it can be read.
        _ if reply.truncated => (DecodedAs::Truncated, Vec::new()),
        Ok(calls) if calls.is_empty() => (DecodedAs::Ok, calls),
        Ok(calls) => (DecodedAs::ToolCall, calls),
        Err(_) => {
            let message = "the arguments of a tool call are no JSON object";
            return failure(Failed {
                usage: reply.usage,
                served_tier: reply.served_tier,
                ..Failed::new(FailureClass::ContentInvalid, message)
            });
        }
    };
    Decoded {
        outcome,
        // L14.
        class: reply.truncated.then_some(FailureClass::ContentInvalid),
        text: reply.text,
        tool_calls,
        citations: reply.citations,
        ..used(reply.usage, reply.served_tier)
    }
}

fn paused(answer: Answer) -> Decoded {
    Decoded {
        outcome: DecodedAs::Paused,
        text: answer.text,
        citations: ground::distinct(answer.citations.into_iter()),
        ..used(answer.usage, answer.served_tier)
    }
}

fn failure(failed: Failed) -> Decoded {
    Decoded {
        outcome: DecodedAs::Failure,
        class: Some(failed.class),
        falls_through: failed.rejected,
        message: Some(failed.message),
        ..used(failed.usage, failed.served_tier)
    }
}

/// Returns an empty answer that used this.
fn used(usage: Usage, served_tier: Option<String>) -> Decoded {
    Decoded {
        outcome: DecodedAs::Ok,
        class: None,
        falls_through: false,
        text: String::new(),
        deltas: String::new(),
        tool_calls: Vec::new(),
        tokens_in: usage.tokens_in,
        tokens_out: usage.tokens_out,
        tokens_cached: usage.tokens_cached,
        tokens_cache_write: usage.tokens_cache_write,
        served_tier,
        citations: Vec::new(),
        message: None,
    }
}

impl Answer {
    fn is_paused(&self) -> bool {
        self.fault.is_none() && self.finish == Finish::Paused
    }
}
