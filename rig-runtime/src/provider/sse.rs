//! The events of a streamed body, and what each carries.
//!
//! A library parses them. It reads from a stream; here bytes are pushed, and nothing waits.

use std::convert::Infallible;
use std::io::Cursor;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};

use futures_core::Stream;
use serde_json::Value;
use sse_stream::{Sse, SseByteStream};

/// Takes a body in pieces, however they are cut.
pub(super) struct Decoder {
    fed: Feed,
    events: SseByteStream<Feed>,
}

/// One event.
#[derive(Debug, PartialEq)]
pub(super) struct Event {
    /// Its name; empty where it has none.
    pub(super) name: String,
    /// Its data; empty where it has none.
    pub(super) data: String,
}

/// What an event carries.
#[derive(Debug, PartialEq)]
pub(super) enum Carried {
    /// Nothing: it keeps the connection alive.
    Nothing,
    /// The end mark.
    End,
    /// A JSON object, or a list with one.
    Json(Value),
    /// An error that is not an object.
    Error(Value),
    /// Something that cannot be read.
    Unreadable,
}

/// The names by which hosts call an event that only keeps the connection alive.
const KEEP_ALIVES: [&str; 5] = ["ping", "keepalive", "keep-alive", "keep_alive", "heartbeat"];

/// The body is no stream of events: it is not text.
#[derive(Debug, PartialEq)]
pub(super) struct NotEvents;

/// The piece that is being read.
#[derive(Clone, Default)]
struct Feed(Arc<Mutex<Option<Cursor<Vec<u8>>>>>);

impl Decoder {
    /// Returns a decoder at the beginning of a body.
    pub(super) fn new() -> Self {
        let fed = Feed::default();
        Self {
            events: SseByteStream::new(fed.clone()),
            fed,
        }
    }

    /// Returns the events that are complete with this piece.
    pub(super) fn push(&mut self, piece: &[u8]) -> Vec<Result<Event, NotEvents>> {
        self.fed.fill(piece);
        let mut ctx = Context::from_waker(Waker::noop());
        let mut complete = Vec::new();
        // It waits as soon as the piece is used up.
        while let Poll::Ready(Some(event)) = Pin::new(&mut self.events).poll_next(&mut ctx) {
            complete.push(event.map(Event::of).map_err(|_| NotEvents));
        }
        complete
    }

    /// Returns the event that the end of the body completes: hosts leave out the empty line after the last one.
    pub(super) fn end(&mut self) -> Vec<Result<Event, NotEvents>> {
        self.push(b"\n\n")
    }
}

impl Event {
    fn of(sse: Sse) -> Self {
        Self {
            name: sse.event.unwrap_or_default(),
            data: sse.data.unwrap_or_default(),
        }
    }

    /// Returns what the event carries (K9). Content is a JSON object in every dialect. So data that is not JSON was meant to
    /// be content if it has a brace, unless it is a comment that a proxy sent as data.
    pub(super) fn carried(&self) -> Carried {
        let data = self.data.trim();
        // By the protocol an event without data is none.
        if data.is_empty() || is_keep_alive(&self.name) {
            return Carried::Nothing;
        }
        if data == "[DONE]" {
            return Carried::End;
        }
        let text = match serde_json::from_str(data) {
            Ok(value) if is_keep_alive(value["type"].as_str().unwrap_or_default()) => {
                return Carried::Nothing;
            }
            Ok(Value::Object(fields)) if !fields.is_empty() => {
                return Carried::Json(Value::Object(fields));
            }
            Ok(Value::Array(items)) if items.iter().any(Value::is_object) => {
                return Carried::Json(Value::Array(items));
            }
            Ok(Value::String(text)) => text,
            Ok(_) => String::new(),
            Err(_) if data.contains(['{', '}']) && !data.starts_with(':') => {
                return Carried::Unreadable;
            }
            Err(_) => data.to_owned(),
        };
        match (self.is_error(), text.trim()) {
            (false, _) => Carried::Nothing,
            (true, "") => Carried::Error("the provider sent an error without a message".into()),
            (true, message) => Carried::Error(message.into()),
        }
    }

    /// Returns whether the event is named as an error.
    pub(super) fn is_error(&self) -> bool {
        self.name.eq_ignore_ascii_case("error")
    }
}

fn is_keep_alive(name: &str) -> bool {
    let mut known = KEEP_ALIVES.iter();
    known.any(|known| name.eq_ignore_ascii_case(known))
}

impl Feed {
    fn fill(&self, piece: &[u8]) {
        let mut fed = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *fed = Some(Cursor::new(piece.to_vec()));
    }
}

impl Stream for Feed {
    type Item = Result<Cursor<Vec<u8>>, Infallible>;

    fn poll_next(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let mut fed = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        fed.take()
            .map_or(Poll::Pending, |piece| Poll::Ready(Some(Ok(piece))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(name: &str, data: &str) -> Result<Event, NotEvents> {
        Ok(Event {
            name: name.to_owned(),
            data: data.to_owned(),
        })
    }

    fn events(pieces: &[&[u8]]) -> Vec<Result<Event, NotEvents>> {
        let mut decoder = Decoder::new();
        let mut events: Vec<_> = pieces
            .iter()
            .flat_map(|piece| decoder.push(piece))
            .collect();
        events.extend(decoder.end());
        events
    }

    #[test]
    fn every_way_to_write_an_event_is_read_however_it_is_cut() {
        let cases: [(&str, &[(&str, &str)]); 11] = [
            ("data: a\n\ndata: b\n\n", &[("", "a"), ("", "b")]),
            ("data:a\n\n", &[("", "a")]),
            (
                "event: e\r\ndata: a\r\n\r\ndata: b\r\n\r\n",
                &[("e", "a"), ("", "b")],
            ),
            ("data: a\r\rdata: b\r\r", &[("", "a"), ("", "b")]),
            ("data: a\ndata: b\n\n", &[("", "a\nb")]),
            (
                ": keep-alive\n\n\n\n: again\ndata: a\n: within\n\n",
                &[("", "a")],
            ),
            ("event: ping\n\ndata: a\n\n", &[("ping", ""), ("", "a")]),
            ("\u{feff}data: a\n\n", &[("", "a")]),
            ("data: ä\u{1f980}\n\n", &[("", "ä\u{1f980}")]),
            ("id: 7\nretry: x\nother: y\ndata: a", &[("", "a")]),
            ("", &[]),
        ];
        for (text, expected) in cases {
            let expected: Vec<_> = expected
                .iter()
                .map(|(name, data)| event(name, data))
                .collect();
            let told = |events: Vec<Result<Event, NotEvents>>| -> Vec<_> {
                // A block without data tells nothing.
                let tells = |event: &Result<Event, NotEvents>| {
                    event.as_ref().is_ok_and(|event| {
                        !event.data.is_empty()
                            || expected.contains(&Ok(Event {
                                name: event.name.clone(),
                                data: String::new(),
                            }))
                    })
                };
                events.into_iter().filter(tells).collect()
            };
            let bytes = text.as_bytes();
            assert_eq!(told(events(&[bytes])), expected, "{text:?}");
            for at in 0..=bytes.len() {
                let (head, tail) = bytes.split_at(at);
                assert_eq!(told(events(&[head, tail])), expected, "{text:?} at {at}");
            }
            let single: Vec<_> = bytes.chunks(1).collect();
            assert_eq!(told(events(&single)), expected, "{text:?} in single bytes");
        }
    }

    // K9: what keeps a connection alive carries nothing, in whatever form; what should have been content is not lost silently.
    #[test]
    fn an_event_carries_json_or_nothing() {
        use Carried::{End, Json, Nothing, Unreadable};
        let object = || Json(serde_json::json!({ "a": 1 }));
        let error = |text: &str| Carried::Error(text.into());
        let unnamed = "the provider sent an error without a message";
        let cases = [
            ("", "", Nothing),
            ("", " ", Nothing),
            ("", ": keepalive", Nothing),
            ("", ": {still here}", Nothing),
            ("", "ping", Nothing),
            ("", "ping 2026-01-01", Nothing),
            ("", "[HEARTBEAT]", Nothing),
            ("", "null", Nothing),
            ("", "true", Nothing),
            ("", "7", Nothing),
            ("", "\"\"", Nothing),
            ("", "\"{\"", Nothing),
            ("", "{}", Nothing),
            ("", "[]", Nothing),
            ("", "[1, [2]]", Nothing),
            ("", r#"{"type": "ping"}"#, Nothing),
            ("", r#"{"type": "keepalive", "message": "wait"}"#, Nothing),
            ("ping", "{", Nothing),
            ("Heartbeat", r#"{"a": 1}"#, Nothing),
            ("", "[DONE]", End),
            ("message", " [DONE] ", End),
            ("", r#" {"a": 1} "#, object()),
            ("message", r#"{"a": 1}"#, object()),
            ("error", r#"{"a": 1}"#, object()),
            ("", r#"[{"a": 1}]"#, Json(serde_json::json!([{ "a": 1 }]))),
            ("", "{", Unreadable),
            ("", r#"{"a": "#, Unreadable),
            ("", r#"data: {"a": 1}"#, Unreadable),
            ("", r#"1}"#, Unreadable),
            ("", r#"{"a": 1}{"a": 1}"#, Unreadable),
            ("error", "{", Unreadable),
            ("error", "", Nothing),
            ("error", "null", error(unnamed)),
            ("error", "{}", error(unnamed)),
            ("ERROR", "overloaded", error("overloaded")),
            ("error", "\"overloaded\"", error("overloaded")),
        ];
        for (name, data, carried) in cases {
            let event = event(name, data).unwrap();
            assert_eq!(event.carried(), carried, "{event:?}");
        }
    }

    #[test]
    fn what_is_not_text_is_no_stream() {
        assert_eq!(
            events(&[b"data: a\n\ndata: \xff\n\ndata: b\n\n"]),
            [event("", "a"), Err(NotEvents)]
        );
    }
}
