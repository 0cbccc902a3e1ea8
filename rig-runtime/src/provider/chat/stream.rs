//! What do the chunks of a streamed completion add up to?
//!
//! The completion that the host would have sent whole.

use rig_spec::Provider;
use serde_json::{Value, json};

use super::{Choice, Completion, Turn, answer, content, usage};
use crate::provider::Usage;
use crate::provider::fault::{Fault, is_error};
use crate::provider::finish::Answer;
use crate::provider::reading::{self, CUT, Heard, Sender, append, end, is_filled, is_reason, take};
use crate::transport::Headers;

/// A completion under way.
#[derive(Default)]
pub(in crate::provider) struct Assembly {
    whole: Completion,
    usage: Usage,
    /// The only choice that is asked for, once a chunk has had it.
    choice: Option<Choice>,
    turn: Turn,
    calls: Vec<Call>,
}

/// A tool call under way.
struct Call {
    /// Its place, where the host says one.
    index: Value,
    id: Value,
    name: Value,
    arguments: Value,
}

impl Assembly {
    /// Takes in a chunk and returns whether nothing more counts.
    pub(in crate::provider) fn take(
        &mut self,
        is_named_error: bool,
        mut chunk: Value,
        sender: Sender<'_>,
        heard: &mut Heard,
    ) -> bool {
        let tier = take(&mut chunk, "service_tier");
        if !tier.is_null() {
            self.whole.service_tier = tier;
        }
        let own = chunk["x_groq"]["usage"].clone();
        for reported in [take(&mut chunk, "usage"), own] {
            if reported.is_object() {
                heard.has_usage = true;
                let reported = usage(sender.provider, &reported, sender.headers);
                self.usage = self.usage.grown(reported);
            }
        }
        let has_choices = chunk["choices"].is_array();
        let choices = chunk.get_mut("choices");
        let first = choices.and_then(|choices| choices.get_mut(0));
        let mut choice = first.map(Value::take).unwrap_or_default();
        let errors = [take(&mut chunk, "error"), take(&mut choice, "error")];
        let is_flat = is_named_error || (!has_choices && Fault::of(&chunk).is_told());
        let error = errors.into_iter().find(is_error);
        if let Some(error) = error.or_else(|| is_flat.then_some(chunk)) {
            self.fail(error);
            return true;
        }
        if choice.is_object() {
            self.take_choice(&mut choice, heard);
        }
        false
    }

    /// Returns whether a finish reason has come.
    pub(in crate::provider) fn has_ended(&self) -> bool {
        is_reason(self.finish_reason())
    }

    /// Ends the stream with an error.
    pub(in crate::provider) fn fail(&mut self, error: Value) {
        let reason = self.finish_reason().clone();
        reading::fail(&mut self.whole.error, &reason, error);
    }

    /// Returns usage and tier as far as they were told.
    pub(in crate::provider) fn used(&self) -> (Usage, Option<String>) {
        let tier = self.whole.service_tier.as_str();
        (self.usage, tier.map(str::to_owned))
    }

    /// Returns what the chunks say; `None` where there is no answer in them.
    pub(in crate::provider) fn finish(
        self,
        provider: &Provider,
        headers: &Headers,
    ) -> Option<Answer> {
        let has_ended = self.has_ended();
        let Self {
            mut whole,
            usage,
            choice,
            mut turn,
            calls,
        } = self;
        turn.tool_calls = calls.into_iter().map(Call::whole).collect();
        whole.choices = match choice {
            Some(choice) => {
                if !has_ended && !is_error(&whole.error) {
                    whole.error = json!({ "message": CUT });
                }
                Some(vec![Choice {
                    message: Some(turn),
                    ..choice
                }])
            }
            // Usage alone is what is left of an answer with nothing in it.
            None => usage.is_told().then(Vec::new),
        };
        let answer = answer(provider, headers, whole)?;
        Some(Answer { usage, ..answer })
    }

    fn finish_reason(&self) -> &Value {
        const NONE: &Value = &Value::Null;
        self.choice
            .as_ref()
            .map_or(NONE, |choice| &choice.finish_reason)
    }

    fn take_choice(&mut self, choice: &mut Value, heard: &mut Heard) {
        let whole = self.choice.get_or_insert_default();
        let reasons = [
            (&mut whole.finish_reason, "finish_reason"),
            (&mut whole.native_finish_reason, "native_finish_reason"),
        ];
        for (reason, name) in reasons {
            end(reason, take(choice, name));
        }
        let mut delta = take(choice, "delta");
        let parts = [
            "content",
            "refusal",
            "reasoning_content",
            "reasoning",
            "tool_calls",
        ];
        heard.is_content |= parts.iter().any(|part| is_filled(&delta[*part]));
        let (text, refused) = content(take(&mut delta, "content"));
        if let Some(refused) = refused {
            // A part without a word is a refusal as well.
            let told = if refused.is_empty() { " " } else { &refused };
            append(&mut self.turn.refusal, &told.into());
        }
        append(&mut self.turn.refusal, &delta["refusal"]);
        let filtered = take(choice, "content_filter_results");
        if filtered
            .as_object()
            .is_some_and(|members| !members.is_empty())
        {
            whole.content_filter_results = filtered;
        }
        heard.text.push_str(&text);
        append(&mut self.turn.content, &text.into());
        if let Value::Array(notes) = take(&mut delta, "annotations") {
            let annotations = &mut self.turn.annotations;
            match annotations {
                Value::Array(told) => told.extend(notes),
                _ => *annotations = notes.into(),
            }
        }
        if let Value::Array(pieces) = take(&mut delta, "tool_calls") {
            pieces.into_iter().for_each(|piece| self.take_call(piece));
        }
    }

    /// Takes in a piece of a tool call. Hosts leave out the index, give all calls the same one, repeat the id in every
    /// piece, or send a call at once: a new id begins a call.
    fn take_call(&mut self, mut piece: Value) {
        let (index, id) = (take(&mut piece, "index"), take(&mut piece, "id"));
        let mut function = take(&mut piece, "function");
        let (name, arguments) = (
            take(&mut function, "name"),
            take(&mut function, "arguments"),
        );
        let same_place = |call: &&mut Call| index.is_null() || call.index == index;
        let same_call = |call: &&mut Call| !is_filled(&id) || !is_filled(&call.id) || call.id == id;
        let known = self
            .calls
            .iter_mut()
            .rev()
            .find(same_place)
            .filter(same_call);
        let Some(call) = known else {
            self.calls.push(Call {
                index,
                id,
                name,
                arguments: text(arguments),
            });
            return;
        };
        if !is_filled(&call.id) {
            call.id = id;
        }
        if !is_filled(&call.name) {
            call.name = name;
        }
        append(&mut call.arguments, &text(arguments));
    }
}

impl Call {
    fn whole(self) -> Value {
        let function = json!({ "name": self.name, "arguments": self.arguments });
        json!({ "id": self.id, "function": function })
    }
}

/// Returns the text of arguments; some hosts send an object.
fn text(arguments: Value) -> Value {
    match arguments {
        Value::Null | Value::String(_) => arguments,
        other => other.to_string().into(),
    }
}
