//! What do the pieces of a streamed response add up to?
//!
//! Each piece is a response with some more of the parts. There is no end mark: the end of the body is the end, and a
//! finish reason has to have come by then.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{Generated, answer, citations, queries, served_tier, spoken, usage};
use crate::provider::Usage;
use crate::provider::fault::is_error;
use crate::provider::finish::Answer;
use crate::provider::reading::{self, CUT, Heard, Sender, end, is_filled, is_reason, take};
use crate::run::Citation;
use crate::transport::Headers;

/// A response under way.
#[derive(Default)]
pub(in crate::provider) struct Assembly {
    /// Whether a piece with a candidate has come.
    has_begun: bool,
    parts: Vec<Value>,
    citations: Vec<Citation>,
    queries: BTreeSet<String>,
    finish_reason: Value,
    /// What is said about the end: words, and the ratings behind it.
    finish_message: Value,
    safety_ratings: Value,
    prompt_feedback: Value,
    usage: Usage,
    tier: Option<String>,
    error: Value,
}

impl Assembly {
    /// Takes in a piece, or a list of some, and returns whether nothing more counts.
    pub(in crate::provider) fn take(
        &mut self,
        is_named_error: bool,
        mut piece: Value,
        sender: Sender<'_>,
        heard: &mut Heard,
    ) -> bool {
        if let Value::Array(pieces) = piece {
            let mut pieces = pieces.into_iter();
            return pieces.any(|piece| self.take(is_named_error, piece, sender, heard));
        }
        let error = take(&mut piece, "error");
        if is_error(&error) || is_named_error {
            self.fail(if is_error(&error) { error } else { piece });
            return true;
        }
        // Counts are of all so far.
        let reported = take(&mut piece, "usageMetadata");
        if reported.is_object() {
            heard.has_usage = true;
            self.usage = self.usage.grown(usage(&reported));
            self.tier = served_tier(&reported, sender.headers).or(self.tier.take());
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
        end(&mut self.finish_reason, take(turn, "finishReason"));
        let (words, ratings) = (take(turn, "finishMessage"), take(turn, "safetyRatings"));
        if is_filled(&words) {
            self.finish_message = words;
        }
        if is_filled(&ratings) {
            self.safety_ratings = ratings;
        }
        let grounding = &turn["groundingMetadata"];
        self.citations.extend(citations(grounding));
        let queries = queries(grounding).into_iter().map(str::to_owned);
        self.queries.extend(queries);
        if let Value::Array(parts) = take(&mut take(turn, "content"), "parts") {
            heard.is_content |= parts.iter().any(is_content);
            heard.text.extend(spoken(&parts));
            self.parts.extend(parts);
        }
        false
    }

    /// Returns whether the response has said how it ended. A prompt that was blocked has no finish reason.
    pub(in crate::provider) fn has_ended(&self) -> bool {
        is_reason(&self.finish_reason) || self.prompt_feedback.is_object()
    }

    /// Ends the stream with an error.
    pub(in crate::provider) fn fail(&mut self, error: Value) {
        reading::fail(&mut self.error, &self.finish_reason, error);
    }

    /// Returns usage and tier as far as they were told.
    pub(in crate::provider) fn used(&self) -> (Usage, Option<String>) {
        (self.counted(), self.tier.clone())
    }

    fn counted(&self) -> Usage {
        self.usage.with_searches(self.queries.len() as u64)
    }

    /// Returns what the pieces say; `None` where there is no answer in them.
    pub(in crate::provider) fn finish(mut self, headers: &Headers) -> Option<Answer> {
        if self.has_begun && !self.has_ended() && !is_error(&self.error) {
            self.fail(json!({ "message": CUT }));
        }
        let usage = self.counted();
        let turn = json!({
            "content": { "parts": self.parts },
            "finishReason": self.finish_reason,
            "finishMessage": self.finish_message,
            "safetyRatings": self.safety_ratings,
        });
        let response = Generated {
            candidates: match self.has_begun {
                true => Some(vec![turn]),
                // Usage alone is what is left of an answer with nothing in it.
                false => usage.is_told().then(Vec::new),
            },
            prompt_feedback: self.prompt_feedback,
            usage_metadata: Value::Null,
            error: self.error,
        };
        let mut answer = answer(response, headers)?;
        answer.usage = usage;
        answer.served_tier = self.tier.or(answer.served_tier);
        answer.citations = self.citations;
        Some(answer)
    }
}

/// Returns whether a part holds something, if only a thought. An empty text is a sign of life.
fn is_content(part: &Value) -> bool {
    let of = |(name, value): (&String, &Value)| {
        name != "thought" && (name != "text" || is_filled(value))
    };
    part.as_object().is_some_and(|part| part.iter().any(of))
}
