//! When is a piece of an answer read, and when is it heard?

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use rig::testing::{MemoryStore, chat_delta, chat_end};
use rig::transport::{Body, BoxFuture, Headers, Request, Response, Transport, TransportError};
use rig::{Clock, Event, Rig};
use tests::routes::ladder;
use tests::{World, block_on};

use super::{MS, every};
use crate::{BOTH, GOOD, question};

// W2: nothing is heard later than it arrives.
#[test]
fn a_piece_is_heard_when_it_arrives() {
    let world = World::with_keys(BOTH);
    let pieces = GOOD
        .as_bytes()
        .chunks(8)
        .map(|piece| chat_delta(str::from_utf8(piece).unwrap()));
    let pieces: Vec<_> = pieces.chain([chat_end("stop", 100, 20)]).collect();
    let texts = pieces.len() - 1;
    world.push([every(1_000, pieces)]);
    let mut events = ladder(question()).on(&world.rig).stream();
    let mut heard = 0;
    loop {
        match block_on(events.next()).unwrap().unwrap() {
            Event::Started { .. } => assert!(world.clock.waits().is_empty()),
            Event::Delta { .. } => {
                heard += 1;
                assert_eq!(rig::Clock::monotonic(&world.clock), MS(1_000 * heard));
            }
            Event::Done(run) => {
                assert_eq!(run.meta.latency, MS(1_000 * (heard + 1)));
                break;
            }
            _ => panic!("nothing is discarded"),
        }
    }
    assert_eq!(heard as usize, texts);
}

/// A host that has all of its answer ready, and counts how much of it is read.
#[derive(Clone)]
struct Ready(Arc<AtomicUsize>);

impl Transport for Ready {
    fn send(&self, _: Request) -> BoxFuture<'_, Result<Response, TransportError>> {
        Box::pin(async {
            Ok(Response {
                status: 200,
                headers: Headers::default(),
                body: Box::new(self.clone()),
            })
        })
    }
}

impl Body for Ready {
    fn chunk(&mut self) -> BoxFuture<'_, Result<Option<Vec<u8>>, TransportError>> {
        Box::pin(async {
            let read = self.0.fetch_add(1, Ordering::Relaxed);
            let text = GOOD.get(read..=read);
            let piece = text.map_or_else(|| chat_end("stop", 100, 20), chat_delta);
            Ok(Some(piece.into_bytes()))
        })
    }
}

/// A clock of a moment.
struct Still;

impl Clock for Still {
    fn wall(&self) -> Duration {
        MS(1_767_225_600_000)
    }

    fn monotonic(&self) -> Duration {
        Duration::ZERO
    }

    fn sleep(&self, _: Duration) -> BoxFuture<'_, ()> {
        Box::pin(std::future::pending())
    }
}

// W2: the listener sets the pace: nothing is read before what there is was heard.
#[test]
fn nothing_is_read_ahead() {
    let host = Ready(Arc::default());
    let rig = Rig::builder()
        .ignore_env()
        .key("north", "k")
        .transport(host.clone())
        .store(MemoryStore::default())
        .clock(Still)
        .build()
        .unwrap();
    let mut events = ladder(question()).on(&rig).stream();
    let mut heard = 0;
    while let Some(event) = block_on(events.next()) {
        match event.unwrap() {
            Event::Delta { .. } => {
                heard += 1;
                assert_eq!(host.0.load(Ordering::Relaxed), heard);
            }
            Event::Started { .. } => assert!(host.0.load(Ordering::Relaxed) <= 1),
            Event::Done(run) => assert_eq!(run.meta.attempts.total(), 1),
            _ => panic!("nothing is discarded"),
        }
    }
    assert_eq!(heard, GOOD.len());
}
