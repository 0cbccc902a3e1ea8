//! Reads a response as far as it has arrived.
//!
//! One reader for whole and for streamed responses: what the bytes are decides, not what was asked for, since a host
//! may answer a request for a stream with a whole response. A stream is assembled into the response that the host
//! would have sent whole, and is then read as one.
//!
//! **Invariant:** a response that is complete stays what it is, however its connection ends (L18).

use std::mem;

use rig_spec::{FailureClass, Provider};
use serde::de::IgnoredAny;
use serde_json::{Value, json};

use super::fault::Fault;
use super::finish::{Answer, Finish};
use super::{Failed, NO_ANSWER, Reply, Sent, Usage, conclude};
use crate::transport::Headers;

mod events;

pub(super) use super::fault::CUT;
pub(super) use events::Sender;

use events::Events;

/// A response under way.
pub(crate) struct Reading<'a> {
    provider: &'static Provider,
    status: u16,
    headers: Headers,
    sent: Sent<'a>,
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

impl<'a> Reading<'a> {
    /// Returns the reader of a response with this head.
    pub(crate) fn new(provider: &'static Provider, status: u16, headers: Headers) -> Self {
        Self {
            provider,
            status,
            headers,
            sent: Sent::default(),
            form: Form::Unknown(Vec::new()),
        }
    }

    /// Sets what the request held.
    pub(crate) fn to(self, sent: Sent<'a>) -> Self {
        Self { sent, ..self }
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
        let sender = Sender {
            provider: self.provider,
            headers: &self.headers,
        };
        match &mut self.form {
            Form::Unknown(held) => {
                held.extend_from_slice(piece);
                Heard::default()
            }
            Form::Whole(body) => {
                body.extend_from_slice(piece);
                Heard {
                    is_content: is_good(self.status),
                    ..Heard::default()
                }
            }
            Form::Events(events) => events.push(piece, sender),
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
            Form::Events(events) => events.is_over(),
        }
    }

    /// Returns whether what has come decides what the response is, so that the rest is worth a short wait only: a status
    /// that is a failure, or a finish reason.
    pub(crate) fn is_settled(&self) -> bool {
        match &self.form {
            _ if !is_good(self.status) => true,
            Form::Unknown(_) | Form::Whole(_) => false,
            Form::Events(events) => events.has_ended(),
        }
    }

    /// Returns what the provider has said of its usage and tier so far.
    pub(crate) fn used(&self) -> (Usage, Option<String>) {
        match &self.form {
            Form::Unknown(_) | Form::Whole(_) => Default::default(),
            Form::Events(events) => events.used(),
        }
    }

    /// Returns what the response says, given what ended it early, if anything did.
    ///
    /// # Errors
    ///
    /// As [`Self::finish`]; and what ended the response early, unless it was complete by then (L18). Complete is what is
    /// settled, and a whole body whose JSON has closed.
    #[expect(
        clippy::result_large_err,
        reason = "a reply is as large, and both are moved once"
    )]
    pub(crate) fn end(mut self, broken: Option<Failed>, has_tools: bool) -> Result<Reply, Failed> {
        self.flush();
        match broken {
            Some(failed) if !self.is_complete() => Err(failed),
            _ => self.finish(has_tools),
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
        let sent = self.sent;
        let (answer, headers) = self.answer();
        conclude(answer?, has_tools, &headers, &sent)
    }

    /// Returns what the response says before anybody asks whether it is an answer, and its headers.
    pub(super) fn answer(mut self) -> (Result<Answer, Failed>, Headers) {
        self.flush();
        let headers = self.headers;
        let answer = match self.form {
            Form::Unknown(body) | Form::Whole(body) => {
                super::answer(self.provider, self.status, &headers, &body, &self.sent)
            }
            Form::Events(events) => events.finish(self.provider, &headers).ok_or_else(|| {
                let fault = Fault::default().or(NO_ANSWER);
                fault.failed(self.status, &headers, &self.sent, &[])
            }),
        };
        (answer, headers)
    }

    /// Takes in the last event of a stream, which may lack its end.
    fn flush(&mut self) {
        let sender = Sender {
            provider: self.provider,
            headers: &self.headers,
        };
        if let Form::Events(events) = &mut self.form {
            events.flush(sender);
        }
    }

    fn is_complete(&self) -> bool {
        let whole = match &self.form {
            Form::Whole(body) => body.as_slice(),
            Form::Unknown(_) | Form::Events(_) => &[],
        };
        self.is_settled() || serde_json::from_slice::<IgnoredAny>(whole).is_ok()
    }

    /// Returns the form of a body that starts so, with nothing read yet. A body under the status of a failure is
    /// whole, and so is one that starts as JSON does, whatever its content type says.
    fn form_of(&self, start: &[u8]) -> Form {
        const BOM: &[u8] = b"\xef\xbb\xbf";
        let text = start.strip_prefix(BOM).unwrap_or(start);
        match text.trim_ascii_start().first() {
            _ if !is_good(self.status) => Form::Whole(Vec::new()),
            _ if start.len() < BOM.len() && BOM.starts_with(start) => Form::Unknown(Vec::new()),
            None => Form::Unknown(Vec::new()),
            Some(b'{' | b'[') => Form::Whole(Vec::new()),
            Some(_) => Form::Events(Box::new(Events::new(self.provider.dialect))),
        }
    }
}

fn is_good(status: u16) -> bool {
    (200..300).contains(&status)
}

/// Takes in a finish reason. Streams repeat it, and some routers append an ordinary one to the model's own: a reason that
/// means something is not replaced by one that means nothing.
pub(super) fn end(reason: &mut Value, told: Value) {
    let is_plain = |reason: &Value| Finish::of(reason) == Finish::Complete;
    if is_reason(&told) && (is_plain(reason) || !is_plain(&told)) {
        *reason = told;
    }
}

/// Returns whether a field holds a finish reason. Some hosts name one that says there is none yet.
pub(super) fn is_reason(value: &Value) -> bool {
    let named = value.as_str().unwrap_or_default();
    !matches!(named, "" | "null" | "FINISH_REASON_UNSPECIFIED")
}

/// Sets the error that ends a stream. After the finish reason an error only says how the connection ended (L18), unless it
/// takes the answer back: some hosts filter what they have already sent. A reason that is a failure itself takes any error, which
/// says more of it.
pub(super) fn fail(at: &mut Value, reason: &Value, error: Value) {
    let is_answer =
        is_reason(reason) && !matches!(Finish::of(reason), Finish::Shed | Finish::Broken);
    let takes_back = || {
        let fault = Fault::of(&json!({ "error": error }));
        fault.class(200) == FailureClass::Refusal
    };
    if !is_answer || takes_back() {
        *at = error;
    }
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
