//! The events of a streamed response, taken in one by one.

use rig_spec::{Dialect, Provider};
use serde_json::{Value, json};

use super::{Heard, take};
use crate::provider::fault::{UNREADABLE, is_error};
use crate::provider::finish::Answer;
use crate::provider::sse::{Carried, Decoder, Event, NotEvents};
use crate::provider::{Usage, anthropic, chat, gemini, openai_responses};
use crate::transport::Headers;

/// A stream under way.
pub(super) struct Events {
    decoder: Decoder,
    assembly: Assembly,
    /// The last bytes, in which an error may stand that is no event.
    tail: Vec<u8>,
    /// Whether nothing more counts.
    is_over: bool,
}

/// Who sends a stream: what the reading of its counts depends on.
#[derive(Clone, Copy)]
pub(in crate::provider) struct Sender<'a> {
    pub(in crate::provider) provider: &'static Provider,
    pub(in crate::provider) headers: &'a Headers,
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

impl Events {
    /// Returns a stream of a dialect, of which nothing has come.
    pub(super) fn new(dialect: Dialect) -> Self {
        Self {
            decoder: Decoder::new(),
            assembly: match dialect {
                Dialect::OpenAiChat => Assembly::Chat(chat::Assembly::default()),
                Dialect::OpenAiResponses => {
                    Assembly::Responses(openai_responses::Assembly::default())
                }
                Dialect::AnthropicMessages => Assembly::Messages(anthropic::Assembly::default()),
                Dialect::Gemini => Assembly::Gemini(gemini::Assembly::default()),
            },
            tail: Vec::new(),
            is_over: false,
        }
    }

    /// Returns whether nothing more counts.
    pub(super) fn is_over(&self) -> bool {
        self.is_over
    }

    /// Returns whether the stream has said how it ended.
    pub(super) fn has_ended(&self) -> bool {
        self.assembly.has_ended()
    }

    /// Returns usage and tier as far as they were told.
    pub(super) fn used(&self) -> (Usage, Option<String>) {
        match &self.assembly {
            Assembly::Chat(chat) => chat.used(),
            Assembly::Responses(responses) => responses.used(),
            Assembly::Messages(messages) => messages.used(),
            Assembly::Gemini(gemini) => gemini.used(),
        }
    }

    /// Reads on.
    pub(super) fn push(&mut self, piece: &[u8], sender: Sender<'_>) -> Heard {
        let mut heard = Heard::default();
        self.tail.extend_from_slice(piece);
        // Not at every piece, since what is kept has to move.
        if self.tail.len() > 2 * LONGEST_TAIL {
            self.tail.drain(..self.tail.len() - LONGEST_TAIL);
        }
        for event in self.decoder.push(piece) {
            let is_read = self.is_over || self.take(event, sender, &mut heard).is_some();
            // After the finish reason no event carries content, so that none can be lost.
            if !is_read && !self.assembly.has_ended() {
                self.fail(json!({ "message": UNREADABLE }));
            }
        }
        heard
    }

    /// Takes in an event; `None` for one that cannot be read.
    fn take(
        &mut self,
        event: Result<Event, NotEvents>,
        sender: Sender<'_>,
        heard: &mut Heard,
    ) -> Option<()> {
        let event = event.ok()?;
        match event.carried() {
            Carried::Nothing => {}
            Carried::End => self.is_over = true,
            Carried::Unreadable => return None,
            Carried::Error(error) => self.fail(error),
            Carried::Json(told) => {
                let is_error = event.is_error();
                self.is_over = match &mut self.assembly {
                    Assembly::Chat(chat) => chat.take(is_error, told, sender, heard),
                    Assembly::Responses(responses) => responses.take(&event.name, told, heard),
                    Assembly::Messages(messages) => messages.take(is_error, told, heard),
                    Assembly::Gemini(gemini) => gemini.take(is_error, told, sender, heard),
                };
            }
        }
        Some(())
    }

    /// Ends the stream with an error.
    fn fail(&mut self, error: Value) {
        self.assembly.fail(error);
        self.is_over = true;
    }

    /// Takes in the last event, which may lack its end.
    pub(super) fn flush(&mut self, sender: Sender<'_>) {
        for event in self.decoder.end() {
            if !self.is_over {
                // Half an event is the end of a stream that broke off. What is missing then says so.
                let _ = self.take(event, sender, &mut Heard::default());
            }
        }
    }

    /// Returns what the stream says; `None` where there is no answer in it.
    pub(super) fn finish(mut self, provider: &Provider, headers: &Headers) -> Option<Answer> {
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
    /// Returns whether the stream has said how it ended.
    fn has_ended(&self) -> bool {
        match self {
            Self::Chat(chat) => chat.has_ended(),
            Self::Responses(responses) => responses.has_ended(),
            Self::Messages(messages) => messages.has_ended(),
            Self::Gemini(gemini) => gemini.has_ended(),
        }
    }

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
