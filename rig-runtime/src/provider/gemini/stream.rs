//! What do the pieces of a streamed response add up to?
//!
//! Each piece is a response with some more of the parts. There is no end mark: the end of the body is the end, and a
//! finish reason has to have come by then.

use serde_json::{Value, json};

use super::{Generated, answer, citations, served_tier, spoken, usage};
use crate::provider::Usage;
use crate::provider::fault::is_error;
use crate::provider::finish::Answer;
use crate::provider::reading::{CUT, Heard, is_filled, take};
use crate::run::Citation;
use crate::transport::Headers;

/// A response under way.
#[derive(Default)]
pub(in crate::provider) struct Assembly {
    /// Whether a piece with a candidate has come.
    has_begun: bool,
    parts: Vec<Value>,
    citations: Vec<Citation>,
    finish_reason: Value,
    prompt_feedback: Value,
    usage: Value,
    error: Value,
}

impl Assembly {
    /// Takes in a piece, or a list of some, and returns whether nothing more counts.
    pub(in crate::provider) fn take(&mut self, mut piece: Value, heard: &mut Heard) -> bool {
        if let Value::Array(pieces) = piece {
            return pieces.into_iter().any(|piece| self.take(piece, heard));
        }
        let error = take(&mut piece, "error");
        if is_error(&error) {
            self.fail(error);
            return true;
        }
        // Counts are of all so far.
        let usage = take(&mut piece, "usageMetadata");
        if usage.is_object() {
            heard.has_usage = true;
            self.usage = usage;
        }
        let feedback = take(&mut piece, "promptFeedback");
        if feedback["blockReason"].is_string() {
            self.prompt_feedback = feedback;
        }
        let mut candidates = take(&mut piece, "candidates");
        let Some(turn) = candidates.get_mut(0) else {
            return false;
        };
        self.has_begun = true;
        let reason = take(turn, "finishReason");
        if is_filled(&reason) {
            self.finish_reason = reason;
        }
        self.citations.extend(citations(&turn["groundingMetadata"]));
        if let Value::Array(parts) = take(&mut take(turn, "content"), "parts") {
            heard.is_content |= !parts.is_empty();
            heard.text.extend(spoken(&parts));
            self.parts.extend(parts);
        }
        false
    }

    /// Ends the stream with an error.
    pub(in crate::provider) fn fail(&mut self, error: Value) {
        self.error = error;
    }

    /// Returns usage and tier as far as they were told.
    pub(in crate::provider) fn used(&self, headers: &Headers) -> (Usage, Option<String>) {
        (usage(&self.usage), served_tier(&self.usage, headers))
    }

    /// Returns what the pieces say; `None` where there is no answer in them.
    pub(in crate::provider) fn finish(mut self, headers: &Headers) -> Option<Answer> {
        let is_blocked = self.prompt_feedback.is_object();
        if self.has_begun
            && !is_blocked
            && !is_filled(&self.finish_reason)
            && !is_error(&self.error)
        {
            self.fail(json!({ "message": CUT }));
        }
        let turn = json!({
            "content": { "parts": self.parts },
            "finishReason": self.finish_reason,
        });
        let response = Generated {
            candidates: self.has_begun.then(|| vec![turn]),
            prompt_feedback: self.prompt_feedback,
            usage_metadata: self.usage,
            error: self.error,
        };
        let mut answer = answer(response, headers)?;
        answer.citations = self.citations;
        Some(answer)
    }
}
