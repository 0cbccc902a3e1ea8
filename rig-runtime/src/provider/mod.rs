//! How does an attempt become an HTTP request, and a response an answer or a classified failure?
//!
//! Pure: no sockets, no clock, no environment. One file per dialect; hosts of a dialect differ only by their
//! row in `rig-spec`. Failures of every host are read by one table (`classify`), since any host may stand
//! behind a gateway that passes on another's answers.

use std::time::Duration;

use rig_spec::{
    Candidate, Dialect, Effort, Enforcement, FailureClass, Policy, Provider, Schema, Tool,
};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::key::Key;
use crate::prefix::Prefix;
use crate::run::Citation;
use crate::transport::{Headers, Request, TransportError};

#[cfg(test)]
mod agreement;
mod anthropic;
mod chat;
mod classify;
mod decoded;
mod fault;
mod finish;
mod gemini;
mod message;
mod openai_responses;
mod reading;
#[cfg(test)]
mod recordings;
#[cfg(test)]
mod requests;
#[cfg(test)]
mod responses;
mod sent;
mod sse;
mod usage;
mod wait;

pub(crate) use wait::from_headers as asked_wait;

pub use decoded::{Decoded, DecodedAs, read_response};
pub(crate) use reading::Reading;
pub(crate) use sent::Sent;
pub(crate) use usage::Usage;

use fault::Fault;
use finish::Answer;

/// Everything that a request is made of.
#[derive(Clone, Copy)]
pub(crate) struct Prompt<'a> {
    /// Who is asked.
    pub(crate) provider: &'static Provider,
    /// For which of its models.
    pub(crate) model: &'a str,
    /// Where, without a trailing slash.
    pub(crate) base_url: &'a str,
    /// With which key; `None` for a host that needs none.
    pub(crate) key: Option<&'a Key>,
    /// The system prompt, coaching included.
    pub(crate) system: &'a str,
    /// The user turn.
    pub(crate) user: &'a str,
    /// What the provider is to enforce of the answer's form.
    pub(crate) form: Form<'a>,
    /// The tools that the model may call.
    pub(crate) tools: &'a [Offer<'a>],
    /// Whether the provider is to search the web.
    pub(crate) searches: bool,
    /// The beginning that the provider is asked to cache; `None` asks nothing.
    pub(crate) prefix: Option<&'a Prefix>,
    /// Tier and sampling.
    pub(crate) policy: &'a Policy,
    /// How hard the model is to think; `None` leaves it to the provider.
    pub(crate) effort: Option<Effort>,
    /// Whether the answer is to arrive piece by piece.
    pub(crate) streams: bool,
}

/// What a provider enforces of an answer's form.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Form<'a> {
    /// Nothing.
    Free,
    /// That it is JSON.
    Json,
    /// That it conforms to a schema.
    Schema {
        /// The name that the provider is told.
        name: &'a str,
        /// The schema, as JSON text in the provider's dialect.
        json: &'a str,
    },
}

/// A tool that the model is told of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Offer<'a> {
    /// Its name.
    pub(crate) name: &'a str,
    /// What it does.
    pub(crate) description: &'a str,
    /// What its arguments have to conform to, as JSON text.
    pub(crate) parameters: &'a str,
}

/// What a provider answered with.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Reply {
    /// The answer's text, without reasoning.
    pub(crate) text: String,
    /// The tools that it calls; none where it was told of none.
    pub(crate) tool_calls: Vec<Called>,
    /// What it says it drew on.
    pub(crate) citations: Vec<Citation>,
    /// Whether the answer was cut at the token limit.
    pub(crate) truncated: bool,
    /// What it used; `None` where the provider did not say.
    pub(crate) usage: Usage,
    /// The tier that served, where the provider says so.
    pub(crate) served_tier: Option<String>,
}

/// A tool call as a provider tells it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Called {
    /// The provider's id of the call.
    pub(crate) id: String,
    /// The tool's name, as the model wrote it.
    pub(crate) name: String,
    /// The arguments, as JSON text.
    pub(crate) arguments: String,
}

/// A classified failure of one attempt.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Failed {
    /// The class.
    pub(crate) class: FailureClass,
    /// What happened: our words, or the provider's without keys, prompts and answers.
    pub(crate) message: String,
    /// How long the provider asks to wait.
    pub(crate) retry_after: Option<Duration>,
    /// Whether the same request can never pass, so that no budget is spent on it.
    pub(crate) rejected: bool,
    /// Whether the attempt cannot have been billed, unless it has a usage (E2).
    pub(crate) unbilled: bool,
    /// What the attempt used all the same.
    pub(crate) usage: Usage,
    /// The tier that served, where the provider says so.
    pub(crate) served_tier: Option<String>,
}

/// Returns the request that puts a prompt to its candidate.
pub(crate) fn encode(prompt: &Prompt<'_>) -> Request {
    match prompt.provider.dialect {
        Dialect::OpenAiChat => chat::encode(prompt),
        Dialect::OpenAiResponses => openai_responses::encode(prompt),
        Dialect::AnthropicMessages => anthropic::encode(prompt),
        Dialect::Gemini => gemini::encode(prompt),
    }
}

/// Returns the answer in a whole response, before anybody asks whether it is one.
///
/// # Errors
///
/// Returns the classified failure: of the status, or of a body without an answer.
#[expect(
    clippy::result_large_err,
    reason = "an answer is as large, and both are moved once"
)]
fn answer(
    provider: &'static Provider,
    status: u16,
    headers: &Headers,
    body: &[u8],
    sent: &Sent<'_>,
) -> Result<Answer, Failed> {
    let failed = |fault: Fault| fault.failed(status, headers, sent, &[]);
    if !(200..300).contains(&status) {
        return Err(failed(Fault::read(body)));
    }
    let answer = match provider.dialect {
        Dialect::OpenAiChat => chat::read(provider, headers, body),
        Dialect::OpenAiResponses => openai_responses::read(body),
        Dialect::AnthropicMessages => anthropic::read(body),
        Dialect::Gemini => gemini::read(provider, headers, body),
    };
    answer.ok_or_else(|| failed(Fault::read(body).or(NO_ANSWER)))
}

const NO_ANSWER: &str = "the response holds no answer";

/// Returns the reply that an answer is. Without tools that the model was told of, a tool call is no answer.
///
/// # Errors
///
/// Returns the classified failure: of an error object under a good status, or of an answer without usable text. An
/// answer that was cut at the token limit is a [`Reply`], however little it holds.
#[expect(
    clippy::result_large_err,
    reason = "a reply is as large, and both are moved once"
)]
fn conclude(
    mut answer: Answer,
    has_tools: bool,
    headers: &Headers,
    sent: &Sent<'_>,
) -> Result<Reply, Failed> {
    // What was written was counted too early where the count is of nothing.
    let is_written = !answer.text.is_empty() || !answer.tool_calls.is_empty();
    let counted = answer.usage.tokens_out;
    answer.usage.tokens_out = counted.filter(|output| *output > 0 || !is_written);
    // An error may quote them all the same.
    if !has_tools && answer.fault.is_none() {
        answer.tool_calls.clear();
    }
    answer.settle(headers, sent)
}

/// Returns the failure of an attempt that got no whole response. The key is that of the request.
pub(crate) fn transport_failed(error: &TransportError, key: Option<&Key>) -> Failed {
    let message = message::of_transport(&error.message, key);
    Failed {
        unbilled: !error.was_sent,
        ..Failed::new(FailureClass::Network, message)
    }
}

/// Returns whether a candidate has to be told the schema because its dialect cannot enforce one beside a search or
/// tools: the messages dialect takes none beside citations, and a search cites.
pub(crate) fn coaches(candidate: &Candidate, searches: bool, has_tools: bool) -> bool {
    match candidate.provider.dialect {
        Dialect::OpenAiChat | Dialect::OpenAiResponses => false,
        Dialect::AnthropicMessages => searches,
        Dialect::Gemini => gemini::coaches(candidate, searches || has_tools),
    }
}

/// Returns whether a model of the provider can have this name. Most dialects send it in the body, where any text is safe.
pub(crate) fn is_model(provider: &Provider, model: &str) -> bool {
    match provider.dialect {
        Dialect::OpenAiChat | Dialect::OpenAiResponses | Dialect::AnthropicMessages => true,
        Dialect::Gemini => gemini::is_model(model),
    }
}

pub(crate) fn json_headers() -> Vec<(&'static str, String)> {
    vec![
        ("content-type", "application/json".to_owned()),
        ("accept", "application/json".to_owned()),
    ]
}

/// Returns the page that a citation names; `None` for one without an address.
fn citation(of: &Value) -> Option<Citation> {
    Some(Citation {
        title: of["title"].as_str().unwrap_or_default().to_owned(),
        url: of["url"].as_str()?.to_owned(),
    })
}

/// Returns a tool call of these parts. The arguments are text in one dialect and an object in the other.
fn called(id: &Value, name: &Value, arguments: &Value) -> Called {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    Called {
        id: text(id),
        name: text(name),
        arguments: match arguments {
            Value::String(text) => text.clone(),
            Value::Null => String::new(),
            other => other.to_string(),
        },
    }
}

/// Returns a schema's text as it stands: models write properties in its order, so that is kept.
fn verbatim(json: &str) -> &RawValue {
    serde_json::from_str(json).expect("a schema was written as JSON")
}

impl<'a> Form<'a> {
    /// Returns what a candidate's provider enforces of a route's schema.
    pub(crate) fn of(enforcement: Enforcement, schema: Option<&Schema>) -> Self {
        match (enforcement, schema) {
            (Enforcement::Native(lowered), Some(schema)) => Self::Schema {
                name: schema.name,
                json: lowered.json.unwrap_or(schema.json),
            },
            (Enforcement::JsonMode, _) => Self::Json,
            (Enforcement::Native(_), None) | (Enforcement::Coached, _) => Self::Free,
        }
    }
}

impl From<&Tool> for Offer<'_> {
    fn from(tool: &Tool) -> Self {
        Self {
            name: tool.name,
            description: tool.description,
            parameters: tool.parameters.json,
        }
    }
}

impl Failed {
    /// Returns a failure that used nothing and asks for no wait.
    pub(crate) fn new(class: FailureClass, message: impl Into<String>) -> Self {
        Self {
            class,
            message: message.into(),
            retry_after: None,
            rejected: false,
            unbilled: false,
            usage: Usage::default(),
            served_tier: None,
        }
    }
}
