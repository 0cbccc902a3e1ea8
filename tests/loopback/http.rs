//! Does the ladder do over real connections what it does over scripted ones?

use std::sync::mpsc::channel;
use std::time::Duration;

use rig::FailureClass;
use rig::testing::{chat_completion, chat_delta, chat_end};
use tests::routes::{self, LadderInput};

use crate::bed::{Bed, KEY, bed, bed_at, fast_bed};
use crate::server::{Event, Reply, Server, Unreachable, response};

fn good() -> Reply {
    let answer = r#"{"verdict": "yes", "because": "It is.", "also": null}"#;
    response(200, "", &chat_completion(answer, "stop", 100, 20))
}

/// Returns a head that promises a body of this length.
fn head_of(length: usize) -> String {
    format!("HTTP/1.1 200 OK\r\ncontent-length: {length}\r\n\r\n")
}

/// Returns a head that promises a body of this length, with the first bytes of it.
fn promised(length: usize) -> String {
    head_of(length) + "{\"choices\": ["
}

#[test]
fn one_dispatch_is_one_request_and_one_row() {
    let bed = bed([good()]);
    let run = bed.ladder().unwrap();
    assert_eq!(
        (run.meta.tokens_in, run.meta.tokens_out),
        (Some(100), Some(20))
    );
    let requests = bed.has(&["north/n1 conformant"]);
    assert!(
        requests[0]
            .head
            .starts_with("post /north/chat/completions http/1.1\r\n")
    );
    assert!(requests[0].body.contains("Decide this case.\\n\\nIs it?"));
    assert_eq!(bed.rows.rows()[0].id, run.meta.inference_id);
}

/// L4.
#[test]
fn a_shed_request_is_sent_again_after_its_backoff() {
    let bed = fast_bed(20, [response(429, "", "{}"), good()]);
    let run = bed.patient().unwrap();
    assert_eq!(run.meta.attempts.failed(FailureClass::CapacityShed), 1);
    bed.has(&[
        "openai/gpt-5.4-mini capacity_shed",
        "openai/gpt-5.4-mini conformant",
    ]);
}

/// K4: a host that has gone away in the middle of its answer.
#[test]
fn a_connection_closed_in_the_body_is_network() {
    let cut = || Reply::Cut(promised(1_000));
    let bed = bed([cut(), good()]);
    bed.patient().unwrap();
    bed.has(&[
        "openai/gpt-5.4-mini network",
        "openai/gpt-5.4-mini conformant",
    ]);

    let before_the_head = || Reply::Cut(String::new());
    for end in [cut, before_the_head] {
        let bed = self::bed([end(), end()]);
        assert_eq!(bed.fails().message, "the connection was closed early");
        bed.has(&[
            "deepseek/deepseek-v4-flash network",
            "fireworks/kimi-k3 network",
        ]);
    }
}

/// L12, FC-40: the clock of an attempt runs until the last byte, whether the host is silent or merely slow.
#[test]
fn an_answer_that_never_ends_is_timeout() {
    let stalls = [Reply::Stall(promised(1_000)), Reply::Stall(String::new())];
    for replies in [stalls, [Reply::Drip, Reply::Drip]] {
        let bed = fast_bed(10, replies);
        let failure = bed.fails();
        assert_eq!(failure.message, "no complete answer within 2000 ms");
        bed.has(&[
            "deepseek/deepseek-v4-flash timeout",
            "fireworks/kimi-k3 timeout",
        ]);
        for row in bed.rows.rows() {
            assert!(row.latency_ms >= 2_000, "{row:?}");
        }
    }
}

/// K2, K4: a status that is a failure is not lost with a body that never ends, or that breaks off.
#[test]
fn a_failure_is_known_by_its_status() {
    let head = "HTTP/1.1 429 Too Many Requests\r\nretry-after: 300\r\ncontent-length: 400\r\n\r\n{";
    for replies in [Reply::Stall, Reply::Cut].map(|reply| [reply(head.into()), reply(head.into())])
    {
        let bed = fast_bed(10, replies);
        let message = bed.fails().message;
        assert!(message.contains("it asks to wait 300 s"), "{message}");
        bed.has(&[
            "deepseek/deepseek-v4-flash capacity_shed",
            "fireworks/kimi-k3 capacity_shed",
        ]);
    }
}

/// L18: an answer that is complete serves, however its connection ends.
#[test]
fn a_complete_answer_outlives_its_connection() {
    let answer = r#"{"verdict": "yes", "because": "It is.", "also": null}"#;
    let end = chat_end("stop", 100, 20).replace("data: [DONE]\n\n", "");
    let streamed = STREAM.to_owned() + &chunk(&chat_delta(answer)) + &chunk(&end);
    let body = chat_completion(answer, "stop", 100, 20);
    let whole = format!("{}{body}", head_of(body.len() + 10));
    for (text, streams) in [(streamed, true), (whole, false)] {
        for reply in [Reply::Cut, Reply::Stall] {
            let bed = fast_bed(10, [reply(text.clone())]);
            let input = LadderInput {
                question: "Is it?".to_owned(),
            };
            let call = routes::ladder(input).on(&bed.rig);
            let run = bed.runtime.block_on(async {
                match streams {
                    true => tests::listen(call.stream(), |_| ()).await,
                    false => call.run().await,
                }
            });
            assert_eq!(run.unwrap().meta.tokens_out, Some(20));
            bed.has(&["north/n1 conformant"]);
        }
    }
}

/// L12, FC-40: a host that takes no connection is no longer waited for than one that says nothing.
#[test]
fn a_host_that_takes_no_connection_is_timeout() {
    let host = Unreachable::new();
    let bed = bed_at(10, Server::scripted([]), Some(&host.address));
    assert_eq!(bed.fails().message, "no complete answer within 2000 ms");
    assert_eq!(
        bed.rows(),
        [
            "deepseek/deepseek-v4-flash timeout",
            "fireworks/kimi-k3 timeout",
        ]
    );
}

/// L12, FC-40: what is slow and comes in time is served.
#[test]
fn a_slow_answer_in_time_is_served() {
    let (send, pieces) = channel();
    let bed = bed([Reply::Pieces(pieces)]);
    let Reply::Whole(whole) = good() else {
        panic!("a good answer is a whole one")
    };
    let sender = std::thread::spawn(move || {
        for piece in whole.as_bytes().chunks(whole.len().div_ceil(5)) {
            std::thread::sleep(Duration::from_millis(100));
            send.send(String::from_utf8(piece.to_vec()).unwrap())
                .unwrap();
        }
    });
    bed.patient().unwrap();
    sender.join().unwrap();
    bed.has(&["openai/gpt-5.4-mini conformant"]);
    assert!(bed.rows.rows()[0].latency_ms >= 500);
}

#[test]
fn an_answer_beyond_the_cap_is_not_read_to_its_end() {
    const CAP: usize = 16 << 20;
    let long = || response(200, "", &" ".repeat(CAP + 1));
    let bed = fast_bed(1, [long(), long()]);
    assert_eq!(
        bed.fails().message,
        format!("the response is longer than {CAP} bytes")
    );
    bed.has(&[
        "deepseek/deepseek-v4-flash network",
        "fireworks/kimi-k3 network",
    ]);
}

#[test]
fn attempts_share_a_connection() {
    let bed = bed([good(), response(401, "", "{}"), good(), good()]);
    for _ in 0..3 {
        bed.ladder().unwrap();
    }
    let requests = bed.has(&[
        "north/n1 conformant",
        "north/n1 config_auth",
        "south/s1 conformant",
        "north/n1 conformant",
    ]);
    let connections: Vec<_> = requests.iter().map(|seen| seen.connection).collect();
    assert_eq!(connections, [0, 0, 0, 0]);
}

#[test]
fn the_key_is_in_one_header_and_nowhere_else() {
    let echo = || {
        response(
            401,
            "",
            &format!(r#"{{"error": {{"message": "bad key {KEY}!"}}}}"#),
        )
    };
    let bed = bed([echo(), echo()]);
    let error = bed.patient().unwrap_err();
    let requests = bed.has(&[
        "openai/gpt-5.4-mini config_auth",
        "anthropic/claude-haiku-4-5 config_auth",
    ]);
    for (seen, header) in requests
        .iter()
        .zip(["authorization: bearer ", "x-api-key: "])
    {
        let header = format!("\r\n{header}{KEY}\r\n");
        assert!(seen.head.contains(&header), "{}", seen.head);
        let everything = format!("{}{}", seen.head, seen.body);
        assert_eq!(everything.matches(KEY).count(), 1, "{everything}");
    }
    let told = format!("{error} {error:?} {:?}", bed.rows.rows());
    assert!(told.contains("bad key") && !told.contains(KEY), "{told}");
}

/// L11, K6.
#[test]
fn dropping_a_call_closes_its_connection_and_leaves_a_cancelled_row() {
    for reply in [Reply::Stall(String::new()), Reply::Stall(promised(1_000))] {
        let Bed {
            server,
            rows,
            rig,
            runtime,
        } = bed([reply]);
        let input = LadderInput {
            question: "Is it?".to_owned(),
        };
        let call = routes::ladder(input).on(&rig).run();
        let closed = runtime.block_on(async move {
            let arrived = tokio::task::spawn_blocking(move || (server.next(), server));
            // Whichever does not end first is dropped.
            let server = tokio::select! {
                ended = call => panic!("{ended:?}"),
                arrived = arrived => {
                    let (event, server) = arrived.unwrap();
                    assert!(matches!(event, Event::Request(_)), "{event:?}");
                    server
                }
            };
            tokio::task::spawn_blocking(move || server.next())
                .await
                .unwrap()
        });
        assert!(matches!(closed, Event::Closed(0)), "{closed:?}");
        let rows = rows.rows();
        let [row] = rows.as_slice() else {
            panic!("{rows:?}")
        };
        assert_eq!(row.failure.map(|failure| failure.name()), Some("cancelled"));
        assert_eq!((row.tokens_in, row.attempt), (None, 1));
    }
}

/// Returns a piece of a body whose length nobody knows.
fn chunk(text: &str) -> String {
    format!("{:x}\r\n{text}\r\n", text.len())
}

const STREAM: &str = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";

/// W2: each piece is heard before the host sends the next; and the connection serves the next call, although nobody
/// has read the body to its very end.
#[test]
fn a_stream_is_heard_while_it_arrives() {
    let (first, second) = (channel(), channel());
    let bed = bed([Reply::Pieces(first.1), Reply::Pieces(second.1)]);
    let pieces = [
        r#"{"verdict": "yes", "#,
        r#""because": "It is.", "#,
        r#""also": null}"#,
    ];
    for host in [first.0, second.0] {
        let input = LadderInput {
            question: "Is it?".to_owned(),
        };
        let mut events = routes::ladder(input).on(&bed.rig).stream();
        bed.runtime.block_on(async {
            let started = events.next().await;
            assert!(matches!(started, Some(Ok(rig::Event::Started { .. }))));
            host.send(STREAM.to_owned()).unwrap();
            for piece in pieces {
                host.send(chunk(": alive\n\n") + &chunk(&chat_delta(piece)))
                    .unwrap();
                match events.next().await {
                    Some(Ok(rig::Event::Delta { text, .. })) => assert_eq!(text, piece),
                    other => panic!("{other:?}"),
                }
            }
            host.send(chunk(&chat_end("stop", 100, 20)) + "0\r\n\r\n")
                .unwrap();
            drop(host);
            let done = events.next().await;
            assert!(matches!(done, Some(Ok(rig::Event::Done(_)))), "{done:?}");
        });
    }
    let requests = bed.has(&["north/n1 conformant", "north/n1 conformant"]);
    let connections: Vec<_> = requests.iter().map(|seen| seen.connection).collect();
    assert_eq!(connections, [0, 0]);
    assert!(requests[0].body.contains(r#""stream":true"#));
}

/// L11, K6: dropped in the middle, a stream closes its connection and leaves a cancelled row.
#[test]
fn dropping_a_stream_closes_its_connection() {
    let (host, pieces) = channel();
    let bed = bed([Reply::Pieces(pieces)]);
    let input = LadderInput {
        question: "Is it?".to_owned(),
    };
    let mut events = routes::ladder(input).on(&bed.rig).stream();
    host.send(STREAM.to_owned() + &chunk(&chat_delta("x")))
        .unwrap();
    bed.runtime.block_on(async {
        for _ in 0..2 {
            assert!(events.next().await.unwrap().is_ok());
        }
        drop(events);
        // The client closes the connection in the background.
        drop(host);
        let server = bed.server;
        let closed = tokio::task::spawn_blocking(move || [server.next(), server.next()]);
        let closed = closed.await.unwrap();
        assert!(
            matches!(closed, [Event::Request(_), Event::Closed(0)]),
            "{closed:?}"
        );
    });
    let rows = bed.rows.rows();
    assert_eq!(
        rows[0].failure.map(|failure| failure.name()),
        Some("cancelled")
    );
    assert_eq!(rows.len(), 1);
}
