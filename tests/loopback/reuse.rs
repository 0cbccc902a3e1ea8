//! When does a connection serve again?

use std::sync::mpsc::{Receiver, channel, sync_channel};

use rig::Event as Told;
use rig::testing::{chat_completion, chat_delta, chat_end};
use tests::routes::{LadderInput, ladder};

use crate::bed::{Bed, bed_at};
use crate::server::{Event, Reply, Server, response};

const ANSWER: &str = r#"{"verdict": "yes", "because": "It is.", "also": null}"#;

const STREAM: &str = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";

fn question() -> LadderInput {
    LadderInput {
        question: "Is it?".to_owned(),
    }
}

fn good() -> Reply {
    response(200, "", &chat_completion(ANSWER, "stop", 100, 20))
}

/// Returns a piece of a body whose length nobody knows.
fn chunk(text: &str) -> String {
    format!("{:x}\r\n{text}\r\n", text.len())
}

/// Returns all of an answer that is streamed, but for the end of its body.
fn answer() -> String {
    STREAM.to_owned() + &chunk(&chat_delta(ANSWER)) + &chunk(&chat_end("stop", 100, 20))
}

/// A bed whose first answer comes in these pieces; all others are good.
fn bed(first: Receiver<String>) -> Bed {
    let mut first = Some(first);
    let server = Server::start(move |_| first.take().map_or_else(good, Reply::Pieces));
    bed_at(1, server, None)
}

/// Streams an answer, and returns when the run has ended.
fn stream(bed: &Bed) {
    bed.runtime.block_on(async {
        let mut events = ladder(question()).on(&bed.rig).stream();
        while let Some(event) = events.next().await {
            if let Told::Done(run) = event.unwrap() {
                assert_eq!(run.meta.tokens_out, Some(20));
            }
        }
    });
}

/// Makes calls at once, and returns the connections on which they came.
fn connections(bed: &Bed, calls: usize) -> Vec<usize> {
    bed.runtime.block_on(async {
        let call = || tokio::spawn(ladder(question()).on(&bed.rig).run());
        let calls: Vec<_> = (0..calls).map(|_| call()).collect();
        for call in calls {
            call.await.unwrap().unwrap();
        }
    });
    let seen = bed.server.requests();
    seen.iter().map(|seen| seen.connection).collect()
}

// L18: the answer has ended with its end mark, and the call does not wait for the rest of the body. Once that is there,
// the connection serves again.
#[test]
fn a_stream_whose_body_ends_after_its_answer_gives_its_connection_back() {
    let (host, pieces) = channel();
    let bed = bed(pieces);
    host.send(answer()).unwrap();
    stream(&bed);
    assert!(matches!(bed.server.next(), Event::Request(_)));
    host.send("0\r\n\r\n".to_owned()).unwrap();
    drop(host);
    // Each time one call more than before, so that no idle connection is left over.
    let is_back = (1..=40).any(|calls| connections(&bed, calls).contains(&0));
    assert!(is_back);
}

#[test]
fn a_body_that_never_ends_costs_its_connection() {
    let (host, pieces) = channel();
    let bed = bed(pieces);
    host.send(answer()).unwrap();
    stream(&bed);
    assert!(matches!(bed.server.next(), Event::Request(_)));
    drop(host);
    assert!(matches!(bed.server.next(), Event::Closed(0)));
}

#[test]
fn of_a_body_that_goes_on_after_its_answer_little_is_read() {
    const PIECE: usize = 64 << 10;
    const LITTLE: usize = 64 << 20;
    // Each piece is taken only when the one before is written.
    let (host, pieces) = sync_channel(0);
    let bed = bed(pieces);
    let sender = std::thread::spawn(move || {
        host.send(answer()).unwrap();
        let mut sent = 0;
        while host.send(chunk(&" ".repeat(PIECE))).is_ok() {
            sent += PIECE;
            assert!(sent < LITTLE);
        }
    });
    stream(&bed);
    sender.join().unwrap();
    assert!(matches!(bed.server.next(), Event::Request(_)));
    assert!(matches!(bed.server.next(), Event::Closed(0)));
}

#[test]
fn calls_one_after_another_share_a_connection() {
    let server = Server::start(|_| good());
    let bed = bed_at(1, server, None);
    for _ in 0..300 {
        bed.ladder().unwrap();
    }
    let seen = bed.server.requests();
    assert!(seen.iter().all(|seen| seen.connection == 0));
    assert_eq!(seen.len(), 300);
}
