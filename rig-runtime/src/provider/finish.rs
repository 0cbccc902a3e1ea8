//! How did an answer end, and is it one?

use rig_spec::FailureClass;
use serde_json::Value;

use super::fault::Fault;
use super::{Called, Failed, Reply, Usage};
use crate::ground;
use crate::run::Citation;
use crate::transport::Headers;

/// What a dialect read out of a response with a good status.
#[derive(Debug, Default)]
pub(super) struct Answer {
    /// The text, without reasoning.
    pub(super) text: String,
    /// The tools that it calls.
    pub(super) tool_calls: Vec<Called>,
    /// What it says it drew on.
    pub(super) citations: Vec<Citation>,
    /// How it ended.
    pub(super) finish: Finish,
    /// An error object that stood in the body all the same.
    pub(super) fault: Option<Fault>,
    /// What it used.
    pub(super) usage: Usage,
    /// The tier that served.
    pub(super) served_tier: Option<String>,
}

/// How an answer ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Finish {
    /// By itself, or without a word about it.
    #[default]
    Complete,
    /// At the token limit or at the end of the context window.
    Truncated,
    /// The model or a filter declined.
    Refused,
    /// The provider gave up for want of capacity.
    Shed,
    /// The provider broke down while answering.
    Broken,
    /// The model called a tool in a way that the provider could not read.
    Malformed,
    /// The provider wants to be asked to go on. Nothing that we send lets it, so it is no answer.
    Paused,
}

/// The reasons that mean something; every other one (`stop`, `end_turn`, `eos`, …) is an ordinary end.
const REASONS: &[(&str, Finish)] = &[
    ("length", Finish::Truncated),
    ("max_tokens", Finish::Truncated),
    ("model_length", Finish::Truncated),
    ("model_context_window_exceeded", Finish::Truncated),
    ("content_filter", Finish::Refused),
    ("refusal", Finish::Refused),
    ("safety", Finish::Refused),
    ("recitation", Finish::Refused),
    ("blocklist", Finish::Refused),
    ("prohibited_content", Finish::Refused),
    ("spii", Finish::Refused),
    ("image_safety", Finish::Refused),
    ("model_armor", Finish::Refused),
    ("malformed_function_call", Finish::Malformed),
    ("unexpected_tool_call", Finish::Malformed),
    ("too_many_tool_calls", Finish::Malformed),
    ("insufficient_system_resource", Finish::Shed),
    ("error", Finish::Broken),
    ("pause_turn", Finish::Paused),
];

impl Finish {
    /// Returns what a `finish_reason` or `stop_reason` means.
    pub(super) fn of(reason: &Value) -> Self {
        let named = reason.as_str().unwrap_or_default();
        let found = REASONS
            .iter()
            .find(|(name, _)| named.eq_ignore_ascii_case(name));
        found.map_or(Self::Complete, |(_, finish)| *finish)
    }
}

impl Answer {
    /// Returns the answer as a reply, or the failure that it is. `headers` may ask for a wait.
    #[expect(
        clippy::result_large_err,
        reason = "a reply is as large, and both are moved once"
    )]
    pub(super) fn settle(self, headers: &Headers) -> Result<Reply, Failed> {
        let failed = match (self.fault, self.finish) {
            (Some(fault), _) => fault.failed(200, headers),
            (None, Finish::Refused) => Failed::new(
                FailureClass::Refusal,
                "the model or the provider's filter declined to answer",
            ),
            (None, Finish::Shed) => Failed::new(
                FailureClass::CapacityShed,
                "the provider ran out of resources while answering",
            ),
            (None, Finish::Broken) => Failed::new(
                FailureClass::Network,
                "the provider broke down while answering",
            ),
            (None, Finish::Malformed) => Failed::new(
                FailureClass::ContentInvalid,
                "the model called a tool in a way that the provider could not read",
            ),
            (None, Finish::Paused) => Failed::new(
                FailureClass::ContentInvalid,
                "the provider paused its turn instead of answering",
            ),
            (None, Finish::Complete)
                if self.text.trim().is_empty() && self.tool_calls.is_empty() =>
            {
                Failed::new(FailureClass::ContentInvalid, "the answer holds no text")
            }
            (None, Finish::Complete | Finish::Truncated) => {
                return Ok(Reply {
                    text: self.text,
                    tool_calls: self.tool_calls,
                    citations: ground::distinct(self.citations.into_iter()),
                    truncated: self.finish == Finish::Truncated,
                    usage: self.usage,
                    served_tier: self.served_tier,
                });
            }
        };
        // K3: what was billed is accounted for.
        Err(Failed {
            usage: self.usage,
            served_tier: self.served_tier,
            ..failed
        })
    }
}
