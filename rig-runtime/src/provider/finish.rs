//! How did an answer end, and is it one?

use rig_spec::FailureClass;
use serde_json::Value;

use super::fault::Fault;
use super::{Called, Failed, Reply, Sent, Usage, message};
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
    /// Why it ended so.
    pub(super) reason: Reason,
    /// An error object that stood in the body all the same.
    pub(super) fault: Option<Fault>,
    /// What it used.
    pub(super) usage: Usage,
    /// The tier that served.
    pub(super) served_tier: Option<String>,
}

/// What the provider, or the model, says about the end of an answer.
#[derive(Debug, Default)]
pub(super) struct Reason {
    /// The names of the reason: that of the end, then what it was about.
    pub(super) names: Vec<String>,
    /// The reason in words.
    pub(super) words: String,
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
    /// The provider has not finished, and nobody will ask for the rest.
    Unfinished,
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
    ("image_prohibited_content", Finish::Refused),
    ("image_recitation", Finish::Refused),
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

/// The reasons of ordinary ends, which say nothing.
const ORDINARY: [&str; 8] = [
    "stop",
    "end_turn",
    "stop_sequence",
    "eos",
    "completed",
    "tool_calls",
    "tool_use",
    "function_call",
];

/// How much of a reason's names is shown, in characters.
const LONGEST_NAMES: usize = 100;

impl Reason {
    /// Returns the reason that these fields give: names as far as they are texts.
    pub(super) fn of<'a>(
        names: impl IntoIterator<Item = &'a Value>,
        words: impl Into<String>,
    ) -> Self {
        let names = names.into_iter().filter_map(Value::as_str);
        let names = names.filter(|name| !name.is_empty()).map(str::to_owned);
        Self {
            names: names.collect(),
            words: words.into(),
        }
    }

    /// Returns what happened, with the reason behind it.
    fn behind(&self, what: &str, sent: &Sent<'_>) -> String {
        let said = self.names.iter().filter(|name| {
            let mut ordinary = ORDINARY.iter();
            !ordinary.any(|ordinary| name.eq_ignore_ascii_case(ordinary))
        });
        let names = said.map(String::as_str).collect::<Vec<_>>().join(", ");
        let names = message::presentable(&names, sent, &[]);
        let words = message::presentable(&self.words, sent, &[]);
        let mut message = what.to_owned();
        if !names.is_empty() {
            message.push_str(&format!(" ({})", message::shortened(&names, LONGEST_NAMES)));
        }
        if !words.is_empty() {
            message.push_str(&format!(": {words}"));
        }
        message::shortened(&message, message::LONGEST).into_owned()
    }
}

impl Answer {
    /// Returns the answer as a reply, or the failure that it is. `headers` may ask for a wait.
    #[expect(
        clippy::result_large_err,
        reason = "a reply is as large, and both are moved once"
    )]
    pub(super) fn settle(self, headers: &Headers, sent: &Sent<'_>) -> Result<Reply, Failed> {
        let failed = match (&self.fault, self.objection()) {
            (Some(fault), _) => {
                let calls = self.tool_calls.iter().map(|call| call.arguments.as_str());
                let said: Vec<_> = [self.text.as_str()].into_iter().chain(calls).collect();
                fault.failed(200, headers, sent, &said)
            }
            (None, Some((class, what))) => Failed::new(class, self.reason.behind(what, sent)),
            (None, None) => {
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

    /// Returns why the answer is none; `None` for one that is.
    fn objection(&self) -> Option<(FailureClass, &'static str)> {
        use FailureClass::{CapacityShed, ContentInvalid, Network, Refusal};
        let is_empty = self.text.trim().is_empty() && self.tool_calls.is_empty();
        Some(match self.finish {
            Finish::Truncated => return None,
            Finish::Complete if !is_empty => return None,
            Finish::Complete => (ContentInvalid, "the answer holds no text"),
            Finish::Refused => (
                Refusal,
                "the model or the provider's filter declined to answer",
            ),
            Finish::Shed => (
                CapacityShed,
                "the provider ran out of resources while answering",
            ),
            Finish::Broken => (Network, "the provider broke down while answering"),
            Finish::Unfinished => (Network, "the provider has not finished the answer"),
            Finish::Malformed => (
                ContentInvalid,
                "the model called a tool in a way that the provider could not read",
            ),
            Finish::Paused => (
                ContentInvalid,
                "the provider paused its turn instead of answering",
            ),
        })
    }
}
