//! How does a scripted answer arrive piece by piece?

use std::collections::VecDeque;
use std::time::Duration;

use serde_json::{Value, json};

use super::{ManualClock, Scripted};
use crate::transport::{Body, BoxFuture, TransportError};

/// A part of a scripted body.
#[derive(Clone, Debug)]
pub(super) enum Piece {
    /// Bytes that arrive this long after what came before them.
    Bytes(Duration, Vec<u8>),
    /// The connection breaks.
    Cut(TransportError),
}

/// A body that is read from a script.
pub(super) struct ScriptedBody {
    pub(super) clock: ManualClock,
    pub(super) pieces: VecDeque<Piece>,
}

impl Body for ScriptedBody {
    fn chunk(&mut self) -> BoxFuture<'_, Result<Option<Vec<u8>>, TransportError>> {
        Box::pin(async move {
            // A read that is given up takes nothing with it.
            match self.pieces.front() {
                Some(Piece::Bytes(after, _)) => self.clock.pass(*after).await,
                Some(Piece::Cut(_)) | None => {}
            }
            // Who is handed a piece may have more to do than to wait for the time.
            self.clock.stir();
            match self.pieces.pop_front() {
                Some(Piece::Bytes(_, bytes)) => Ok(Some(bytes)),
                Some(Piece::Cut(fault)) => Err(fault),
                None => Ok(None),
            }
        })
    }
}

impl Scripted {
    /// Replies with 200 and a body without a byte so far; [`Scripted::piece`] adds some.
    #[must_use]
    pub fn stream() -> Self {
        Self {
            body: VecDeque::new(),
            ..Self::status(200, "")
        }
    }

    /// Adds a piece to the body, which arrives this long after what came before it.
    #[must_use]
    pub fn piece(mut self, after: Duration, bytes: impl Into<Vec<u8>>) -> Self {
        self.body.push_back(Piece::Bytes(after, bytes.into()));
        self
    }

    /// Breaks the connection after the pieces so far.
    #[must_use]
    pub fn cut(mut self, message: impl Into<String>) -> Self {
        let cut = TransportError::new(message);
        self.body.push_back(Piece::Cut(cut));
        self
    }

    /// Replies as [`Scripted::chat`] does, with an answer that is streamed in these pieces of text.
    #[must_use]
    pub fn chat_stream<'a>(answer: impl IntoIterator<Item = &'a str>) -> Self {
        let pieces = answer.into_iter().map(chat_delta);
        let pieces = pieces.chain([chat_end("stop", 100, 20)]);
        pieces.fold(Self::stream(), |reply, piece| {
            reply.piece(Duration::ZERO, piece)
        })
    }
}

/// Returns the event by which the OpenAI chat dialect streams a piece of an answer's text.
#[must_use]
pub fn chat_delta(text: &str) -> String {
    chat_event(
        json!([{ "index": 0, "delta": { "content": text }, "finish_reason": null }]),
        Value::Null,
    )
}

/// Returns the events by which the OpenAI chat dialect ends a streamed answer.
#[must_use]
pub fn chat_end(finish_reason: &str, tokens_in: u64, tokens_out: u64) -> String {
    let finish = json!([{ "index": 0, "delta": {}, "finish_reason": finish_reason }]);
    let usage = json!({
        "prompt_tokens": tokens_in,
        "completion_tokens": tokens_out,
        "total_tokens": tokens_in + tokens_out,
    });
    let (finish, usage) = (
        chat_event(finish, Value::Null),
        chat_event(json!([]), usage),
    );
    format!("{finish}{usage}data: [DONE]\n\n")
}

fn chat_event(choices: Value, usage: Value) -> String {
    let chunk = json!({
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "model": "scripted",
        "choices": choices,
        "usage": usage,
    });
    format!("data: {chunk}\n\n")
}
