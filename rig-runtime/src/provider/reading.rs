//! What does a response say, as far as it has arrived?
//!
//! One reader for whole and for streamed responses: what the bytes are decides, not what was asked for, since a host
//! may answer a request for a stream with a whole response. A stream is assembled into the response that the host
//! would have sent whole, and is then read as one.

use std::mem;

use rig_spec::{Dialect, Provider};
use serde_json::{Value, json};

use super::fault::{Fault, is_error};
use super::finish::Answer;
use super::sse::{Decoder, Event, NotEvents};
use super::{Failed, NO_ANSWER, Reply, Usage, anthropic, chat, conclude, gemini, openai_responses};
use crate::transport::Headers;

/// A response under way.
pub(crate) struct Reading {
    provider: &'static Provider,
    status: u16,
    headers: Headers,
    form: Form,
}

enum Form {
    /// Nothing but white space has come.
    Unknown(Vec<u8>),
    /// A body that is read when all of it is there.
    Whole(Vec<u8>),
    /// A stream of events.
    Events(Box<Events>),
}

struct Events {
    decoder: Decoder,
    assembly: Assembly,
    /// The last bytes, in which an error may stand that is no event.
    tail: Vec<u8>,
    /// Whether nothing more counts.
    is_over: bool,
}

/// The response that a stream adds up to.
#[expect(
    clippy::large_enum_variant,
    reason = "there is one a response, and it is boxed with the decoder"
)]
enum Assembly {
    Chat(chat::Assembly),
    Responses(openai_responses::Assembly),
    Messages(anthropic::Assembly),
    Gemini(gemini::Assembly),
}

/// What a piece of a response brought.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Heard {
    /// The text that it adds to the answer, where that is streamed.
    pub(crate) text: String,
    /// Whether it holds a part of an answer: text, reasoning, a tool call. Keep-alives hold none.
    pub(crate) is_content: bool,
    /// Whether it says what the answer has used so far.
    pub(crate) has_usage: bool,
}

/// What there is to say of a stream that ends before its answer does.
pub(super) const CUT: &str = "the stream ended without a finish reason";

const UNREADABLE: &str = "an event of the stream cannot be read";

impl Reading {
    /// Returns the reader of a response with this head.
    pub(crate) fn new(provider: &'static Provider, status: u16, headers: Headers) -> Self {
        Self {
            provider,
            status,
            headers,
            form: Form::Unknown(Vec::new()),
        }
    }

    /// Reads on. What all pieces bring together does not depend on where the body was cut.
    pub(crate) fn push(&mut self, piece: &[u8]) -> Heard {
        let start;
        let piece = match &mut self.form {
            Form::Unknown(held) => {
                held.extend_from_slice(piece);
                if piece.iter().all(u8::is_ascii_whitespace) {
                    return Heard::default();
                }
                start = mem::take(held);
                self.form = self.form_of(&start);
                &start
            }
            Form::Whole(_) | Form::Events(_) => piece,
        };
        match &mut self.form {
            Form::Unknown(held) => {
                held.extend_from_slice(piece);
                Heard::default()
            }
            Form::Whole(body) => {
                body.extend_from_slice(piece);
                Heard {
                    is_content: true,
                    ..Heard::default()
                }
            }
            Form::Events(events) => events.push(piece),
        }
    }

    /// Returns whether the response is a stream of events.
    pub(crate) fn is_stream(&self) -> bool {
        matches!(self.form, Form::Events(_))
    }

    /// Returns whether the answer has ended, although the body may not have.
    pub(crate) fn is_over(&self) -> bool {
        match &self.form {
            Form::Unknown(_) | Form::Whole(_) => false,
            Form::Events(events) => events.is_over,
        }
    }

    /// Returns what the provider has said of its usage and tier so far.
    pub(crate) fn used(&self) -> (Usage, Option<String>) {
        match &self.form {
            Form::Unknown(_) | Form::Whole(_) => Default::default(),
            Form::Events(events) => match &events.assembly {
                Assembly::Chat(chat) => chat.used(self.provider, &self.headers),
                Assembly::Responses(responses) => responses.used(),
                Assembly::Messages(messages) => messages.used(),
                Assembly::Gemini(gemini) => gemini.used(&self.headers),
            },
        }
    }

    /// Returns what the response says, now that it has ended. Without tools that the model was told of, a tool call is no
    /// answer.
    ///
    /// # Errors
    ///
    /// The classified failure: of the status, of an error in the body, or of an answer that is none. A stream that ended
    /// without a finish reason is `network` (K5).
    #[expect(
        clippy::result_large_err,
        reason = "a reply is as large, and both are moved once"
    )]
    pub(crate) fn finish(self, has_tools: bool) -> Result<Reply, Failed> {
        let (answer, headers) = self.answer();
        conclude(answer?, has_tools, &headers)
    }

    /// Returns what the response says before anybody asks whether it is an answer, and its headers.
    pub(super) fn answer(self) -> (Result<Answer, Failed>, Headers) {
        let headers = self.headers;
        let answer = match self.form {
            Form::Unknown(body) | Form::Whole(body) => {
                super::answer(self.provider, self.status, &headers, &body)
            }
            Form::Events(events) => events
                .finish(self.provider, &headers)
                .ok_or_else(|| Fault::default().or(NO_ANSWER).failed(self.status, &headers)),
        };
        (answer, headers)
    }

    /// Returns the form of a body that starts so, with nothing read yet. A body under the status of a failure is
    /// whole, and so is one that starts as JSON does, whatever its content type says.
    fn form_of(&self, start: &[u8]) -> Form {
        const BOM: &[u8] = b"\xef\xbb\xbf";
        let is_good = (200..300).contains(&self.status);
        let text = start.strip_prefix(BOM).unwrap_or(start);
        match text.trim_ascii_start().first() {
            _ if !is_good => Form::Whole(Vec::new()),
            _ if start.len() < BOM.len() && BOM.starts_with(start) => Form::Unknown(Vec::new()),
            None => Form::Unknown(Vec::new()),
            Some(b'{' | b'[') => Form::Whole(Vec::new()),
            Some(_) => Form::Events(Box::new(Events {
                decoder: Decoder::new(),
                assembly: match self.provider.dialect {
                    Dialect::OpenAiChat => Assembly::Chat(chat::Assembly::default()),
                    Dialect::OpenAiResponses => {
                        Assembly::Responses(openai_responses::Assembly::default())
                    }
                    Dialect::AnthropicMessages => {
                        Assembly::Messages(anthropic::Assembly::default())
                    }
                    Dialect::Gemini => Assembly::Gemini(gemini::Assembly::default()),
                },
                tail: Vec::new(),
                is_over: false,
            })),
        }
    }
}

impl Events {
    fn push(&mut self, piece: &[u8]) -> Heard {
        let mut heard = Heard::default();
        self.tail.extend_from_slice(piece);
        // Not at every piece, since what is kept has to move.
        if self.tail.len() > 2 * LONGEST_TAIL {
            self.tail.drain(..self.tail.len() - LONGEST_TAIL);
        }
        for event in self.decoder.push(piece) {
            if !self.is_over && self.take(event, &mut heard).is_none() {
                self.assembly.fail(json!({ "message": UNREADABLE }));
                self.is_over = true;
            }
        }
        heard
    }

    /// Takes in an event; `None` for one that cannot be read.
    fn take(&mut self, event: Result<Event, NotEvents>, heard: &mut Heard) -> Option<()> {
        let event = event.ok()?;
        match event.data.trim() {
            "" => {}
            "[DONE]" => self.is_over = true,
            data => {
                let told: Value = serde_json::from_str(data).ok()?;
                self.is_over = match &mut self.assembly {
                    Assembly::Chat(chat) => chat.take(&event.name, told, heard),
                    Assembly::Responses(responses) => responses.take(&event.name, told, heard),
                    Assembly::Messages(messages) => messages.take(told, heard),
                    Assembly::Gemini(gemini) => gemini.take(told, heard),
                };
            }
        }
        Some(())
    }

    fn finish(mut self, provider: &Provider, headers: &Headers) -> Option<Answer> {
        for event in self.decoder.end() {
            if !self.is_over {
                // Half an event is the cut of a stream, and that is told by what is missing.
                let _ = self.take(event, &mut Heard::default());
            }
        }
        if let (false, Some(error)) = (self.is_over, loose_error(&self.tail)) {
            self.assembly.fail(error);
        }
        match self.assembly {
            Assembly::Chat(chat) => chat.finish(provider, headers),
            Assembly::Responses(responses) => responses.finish(),
            Assembly::Messages(messages) => messages.finish(),
            Assembly::Gemini(gemini) => gemini.finish(headers),
        }
    }
}

impl Assembly {
    fn fail(&mut self, error: Value) {
        match self {
            Self::Chat(chat) => chat.fail(error),
            Self::Responses(responses) => responses.fail(error),
            Self::Messages(messages) => messages.fail(error),
            Self::Gemini(gemini) => gemini.fail(error),
        }
    }
}

/// How much of the end of a stream is kept, in bytes.
const LONGEST_TAIL: usize = 16_384;

/// Returns the error that ends a stream without being an event of it: some hosts append it as plain JSON.
fn loose_error(tail: &[u8]) -> Option<Value> {
    // As much as is always there, wherever the body was cut.
    let tail = &tail[tail.len().saturating_sub(LONGEST_TAIL)..];
    let starts = tail.windows(2).enumerate();
    let mut starts = starts.filter(|(_, pair)| pair == b"\n{");
    let error = |at: usize| {
        let mut value: Value = serde_json::from_slice(&tail[at + 1..]).ok()?;
        let error = take(&mut value, "error");
        is_error(&error).then_some(error)
    };
    starts.find_map(|(at, _)| error(at))
}

/// Takes a field out of an object; null where there is none.
pub(super) fn take(object: &mut Value, field: &str) -> Value {
    object.get_mut(field).map(Value::take).unwrap_or_default()
}

/// Appends to text that arrives in pieces. It is no text before its first piece.
pub(super) fn append(text: &mut Value, piece: &Value) {
    match (text, piece) {
        (Value::String(text), Value::String(piece)) => text.push_str(piece),
        (text, Value::String(piece)) if !piece.is_empty() => *text = piece.clone().into(),
        _ => {}
    }
}

/// Returns whether a field holds something.
pub(super) fn is_filled(value: &Value) -> bool {
    match value {
        Value::String(text) => !text.is_empty(),
        Value::Array(items) => !items.is_empty(),
        _ => false,
    }
}

#[cfg(test)]
mod tests;
