//! What do the events of a streamed message add up to?
//!
//! The message that the host would have sent whole.

use serde_json::{Map, Value, json};

use super::{Block, Turn, answer, usage};
use crate::provider::Usage;
use crate::provider::fault::is_error;
use crate::provider::finish::Answer;
use crate::provider::reading::{self, CUT, Heard, append, end, is_filled, is_reason, take};

/// A message under way.
#[derive(Default)]
pub(in crate::provider) struct Assembly {
    /// Whether anything of a message has come.
    has_begun: bool,
    /// The blocks, each with its place.
    blocks: Vec<(Value, Block)>,
    stop_reason: Value,
    /// The last report of each count, and of the tier.
    reported: Map<String, Value>,
    usage: Usage,
    stop_details: Value,
    error: Value,
}

impl Assembly {
    /// Takes in an event and returns whether nothing more counts.
    pub(in crate::provider) fn take(
        &mut self,
        is_named_error: bool,
        mut event: Value,
        heard: &mut Heard,
    ) -> bool {
        let kind = take(&mut event, "type");
        let kind = kind.as_str().unwrap_or_default();
        self.has_begun |= kind.starts_with("message") || kind.starts_with("content_block");
        match kind {
            "message_start" => {
                // What the output will be is not known yet: the count in here is that of its first token.
                let mut usage = take(&mut take(&mut event, "message"), "usage");
                if let Some(usage) = usage.as_object_mut() {
                    usage.remove("output_tokens");
                }
                self.take_usage(usage, heard);
            }
            "content_block_start" => {
                heard.is_content = true;
                let block: Block =
                    serde_json::from_value(take(&mut event, "content_block")).unwrap_or_default();
                if block.r#type == "text" {
                    heard.text.push_str(block.text.as_str().unwrap_or_default());
                }
                self.blocks.push((take(&mut event, "index"), block));
            }
            "content_block_delta" => {
                let delta = event["delta"].as_object().into_iter().flatten();
                let mut told = delta.filter(|(name, _)| *name != "type");
                heard.is_content |= told.any(|(_, piece)| is_filled(piece) || piece.is_object());
                self.take_delta(&event["index"], &event["delta"], heard);
            }
            "message_delta" => {
                let mut delta = take(&mut event, "delta");
                end(&mut self.stop_reason, take(&mut delta, "stop_reason"));
                let details = take(&mut delta, "stop_details");
                if details.is_object() {
                    self.stop_details = details;
                }
                self.take_usage(take(&mut event, "usage"), heard);
            }
            "message_stop" => return true,
            _ if is_named_error || kind == "error" || is_error(&event["error"]) => {
                let error = take(&mut event, "error");
                self.fail(if is_error(&error) { error } else { event });
                return true;
            }
            _ => {}
        }
        false
    }

    /// Returns whether a stop reason has come.
    pub(in crate::provider) fn has_ended(&self) -> bool {
        is_reason(&self.stop_reason)
    }

    /// Ends the stream with an error.
    pub(in crate::provider) fn fail(&mut self, error: Value) {
        reading::fail(&mut self.error, &self.stop_reason, error);
    }

    /// Returns usage and tier as far as they were told.
    pub(in crate::provider) fn used(&self) -> (Usage, Option<String>) {
        let tier = self.reported.get("service_tier").and_then(Value::as_str);
        (self.usage, tier.map(str::to_owned))
    }

    /// Returns what the events say; `None` where there is no answer in them.
    pub(in crate::provider) fn finish(mut self) -> Option<Answer> {
        if self.has_begun && !self.has_ended() && !is_error(&self.error) {
            self.fail(json!({ "message": CUT }));
        }
        let blocks = self.blocks.into_iter().map(|(_, block)| block);
        let answer = answer(Turn {
            content: self.has_begun.then(|| blocks.collect()),
            stop_reason: self.stop_reason,
            stop_details: self.stop_details,
            usage: self.reported.into(),
            error: self.error,
        })?;
        let usage = self.usage;
        Some(Answer { usage, ..answer })
    }

    fn take_delta(&mut self, index: &Value, delta: &Value, heard: &mut Heard) {
        let place = self.blocks.iter_mut().rev().find(|(at, _)| at == index);
        let Some((_, block)) = place else { return };
        match delta["type"].as_str().unwrap_or_default() {
            "text_delta" => {
                if block.r#type == "text" {
                    heard
                        .text
                        .push_str(delta["text"].as_str().unwrap_or_default());
                }
                append(&mut block.text, &delta["text"]);
            }
            "input_json_delta" => append(&mut block.input, &delta["partial_json"]),
            "citations_delta" => match &mut block.citations {
                Value::Array(citations) => citations.push(delta["citation"].clone()),
                none => *none = json!([delta["citation"]]),
            },
            // Reasoning and its signature are no part of the answer.
            _ => {}
        }
    }

    /// Takes in a report of the usage so far, or of a part of it. The parts of the input are read together, since a later
    /// report may move tokens from one to another.
    fn take_usage(&mut self, reported: Value, heard: &mut Heard) {
        if let Value::Object(reported) = reported {
            heard.has_usage = true;
            let told = reported.into_iter().filter(|(_, count)| !count.is_null());
            self.reported.extend(told);
            let so_far = Value::Object(self.reported.clone());
            self.usage = self.usage.grown(usage(&so_far));
        }
    }
}
