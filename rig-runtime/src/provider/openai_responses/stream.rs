//! What do the events of a streamed response add up to?
//!
//! The last one has the whole response; the ones before it are heard, and kept for hosts whose last one has no output.

use serde_json::{Value, json};

use super::{Whole, answer, searches, usage};
use crate::provider::Usage;
use crate::provider::fault::is_error;
use crate::provider::finish::Answer;
use crate::provider::reading::{CUT, Heard, is_filled, take};

/// A response under way.
#[derive(Default)]
pub(in crate::provider) struct Assembly {
    /// Whether anything of a response has come.
    has_begun: bool,
    /// The items that are complete.
    items: Vec<Value>,
    /// The text so far, which an error may quote.
    text: String,
    /// The response, once it has ended.
    ended: Option<Value>,
    usage: Usage,
    error: Value,
}

impl Assembly {
    /// Takes in an event and returns whether nothing more counts.
    pub(in crate::provider) fn take(
        &mut self,
        event: &str,
        mut told: Value,
        heard: &mut Heard,
    ) -> bool {
        let kind = take(&mut told, "type");
        let kind = kind.as_str().unwrap_or(event);
        let error = take(&mut told, "error");
        if is_error(&error) || kind == "error" {
            self.fail(if is_error(&error) { error } else { told });
            return true;
        }
        let Some(kind) = kind.strip_prefix("response.") else {
            return false;
        };
        self.has_begun = true;
        let reported = &told["response"]["usage"];
        if reported.is_object() {
            heard.has_usage = true;
            self.usage = self.usage.grown(usage(reported));
        }
        match kind {
            "completed" | "incomplete" | "failed" => {
                let mut whole = take(&mut told, "response");
                // What the event is called is what it says, also of a response that does not.
                if whole.is_object() {
                    whole["status"] = kind.into();
                } else {
                    whole = json!({ "status": kind });
                }
                self.ended = Some(whole);
                return true;
            }
            "output_item.done" => self.items.push(take(&mut told, "item")),
            "output_text.delta" => {
                let piece = told["delta"].as_str().unwrap_or_default();
                heard.text.push_str(piece);
                self.text.push_str(piece);
                heard.is_content |= !piece.is_empty();
            }
            kind => heard.is_content |= kind.ends_with(".delta") && is_filled(&told["delta"]),
        }
        false
    }

    /// Returns whether the event has come that ends a response.
    pub(in crate::provider) fn has_ended(&self) -> bool {
        self.ended.is_some()
    }

    /// Ends the stream with an error.
    pub(in crate::provider) fn fail(&mut self, error: Value) {
        self.error = error;
    }

    /// Returns usage and tier as far as they were told.
    pub(in crate::provider) fn used(&self) -> (Usage, Option<String>) {
        // Before its end a response names the tier that was asked for.
        let tier = self.ended.as_ref().map(|whole| &whole["service_tier"]);
        let tier = tier.and_then(Value::as_str);
        (self.counted(), tier.map(str::to_owned))
    }

    /// Returns the usage with the searches of the items that are complete, or of the response once it has ended.
    fn counted(&self) -> Usage {
        let ended = self.ended.as_ref().map(|whole| &whole["output"]);
        let ended = ended.and_then(Value::as_array).map(Vec::as_slice);
        let found = searches(Some(&self.items)).max(searches(ended));
        self.usage.with_searches(found)
    }

    /// Returns what the events say; `None` where there is no answer in them.
    pub(in crate::provider) fn finish(mut self) -> Option<Answer> {
        let usage = self.counted();
        if self.ended.is_none() && self.has_begun && !is_error(&self.error) {
            self.fail(json!({ "message": CUT }));
        }
        let mut whole = self.ended.unwrap_or_default();
        if is_error(&self.error) {
            let said = json!({ "type": "output_text", "text": self.text });
            let said = json!({ "type": "message", "content": [said] });
            whole = json!({ "error": self.error, "output": [said] });
        } else if whole.is_object() && !is_filled(&whole["output"]) {
            whole["output"] = self.items.into();
        }
        let answer = answer(serde_json::from_value::<Whole>(whole).ok()?)?;
        Some(Answer { usage, ..answer })
    }
}
