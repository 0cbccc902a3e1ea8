//! What does a direct call return?

use std::fmt;

use serde::Serialize;

use crate::provider::{Called, Reply};

/// What a model answered. Nothing has looked at it but to read it out of the response. Its `Debug` form does not show
/// it.
#[derive(Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct RawReply {
    /// The text, without reasoning; empty where it only calls tools.
    pub text: String,
    /// The tools that it asks the caller to run; none where it was told of none.
    pub tool_calls: Vec<RawToolCall>,
    /// Whether it was cut at the token limit.
    pub truncated: bool,
}

/// A call of a tool, as the model wrote it.
#[derive(Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct RawToolCall {
    /// The provider's id of the call; empty where it gave none.
    pub id: String,
    /// The tool's name; nobody has checked that there is such a tool.
    pub name: String,
    /// The arguments, as text that should be JSON.
    pub arguments: String,
}

impl From<Reply> for RawReply {
    fn from(reply: Reply) -> Self {
        let call = |called: Called| RawToolCall {
            id: called.id,
            name: called.name,
            arguments: called.arguments,
        };
        Self {
            text: reply.text,
            tool_calls: reply.tool_calls.into_iter().map(call).collect(),
            truncated: reply.truncated,
        }
    }
}

impl fmt::Debug for RawReply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RawReply")
            .field("tool_calls", &self.tool_calls)
            .field("truncated", &self.truncated)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for RawToolCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RawToolCall")
            .field("id", &self.id)
            .finish_non_exhaustive()
    }
}
