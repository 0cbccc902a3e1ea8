//! Which events are in a body so far?
//!
//! The parsing is a library's, which reads from a stream; here bytes are pushed, and nothing waits.

use std::convert::Infallible;
use std::io::Cursor;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};

use futures_core::Stream;
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

    #[test]
    fn what_is_not_text_is_no_stream() {
        assert_eq!(
            events(&[b"data: a\n\ndata: \xff\n\ndata: b\n\n"]),
            [event("", "a"), Err(NotEvents)]
        );
    }
}
