//! What does a call tell while it goes on, and does it come to the same?

use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use rig::store::RowFailure;
use rig::testing::{Scripted, chat_delta, chat_end};
use rig::{Error, Event};
use serde_json::{Value, json};
use tests::routes::{ladder, mend, messages};
use tests::{World, block_on, check_stream, events_of, listen};

use crate::{BAD, BOTH, GOOD, good, mend_input, messages_input, question, shed};

mod end;
mod law;
mod pace;
mod silence;

const MS: fn(u64) -> Duration = Duration::from_millis;

/// A response of the messages dialect.
fn message(answer: &str) -> String {
    json!({
        "content": [{ "type": "text", "text": answer }],
        "stop_reason": "end_turn",
        "usage": { "input_tokens": 100, "cache_read_input_tokens": 30, "output_tokens": 20 },
    })
    .to_string()
}

/// A reply in these pieces, each this long after the one before.
fn every<P: Into<Vec<u8>>>(ms: u64, pieces: impl IntoIterator<Item = P>) -> Scripted {
    let pieces = pieces.into_iter();
    pieces.fold(Scripted::stream(), |reply, piece| {
        reply.piece(MS(ms), piece)
    })
}

// W2: an answer is heard while it arrives, and the end is authoritative.
#[test]
fn a_call_tells_who_answers_and_what() {
    let (start, end) = GOOD.split_at(10);
    check_stream(
        BOTH,
        [every(
            100,
            [
                ": keep-alive\n\n".to_owned(),
                chat_delta(start),
                chat_delta(end),
                chat_end("stop", 100, 20),
            ],
        )
        .after(MS(50))],
        |rig| ladder(question()).on(rig).stream(),
        r#"
        started 1 north/n1
        1: {"verdict"
        1: :"yes","because":"it is","also":null}
        "#,
        r#"
        1 north/n1 conformant 100+20 $0.00014 250/450 ms
        = {"verdict":"yes","because":"it is","also":null}
        "#,
    );
}

// W2: what comes to nothing is discarded: by a repair, by a retry, by falling through, and at the end.
#[test]
fn what_comes_to_nothing_is_discarded() {
    let bad = || Scripted::chat_stream([BAD]);
    check_stream(
        BOTH,
        [bad(), bad(), bad(), Scripted::chat_stream([GOOD])],
        |rig| mend(mend_input()).on(rig).stream(),
        &format!(
            "started 1 north/n1\n1: {BAD}\ndiscarded 1 content_invalid
             started 2 north/n1\n2: {BAD}\ndiscarded 2 content_invalid
             started 3 south/s1\n3: {BAD}\ndiscarded 3 content_invalid
             started 4 north/n1\n4: {GOOD}"
        ),
        r#"
        1 north/n1 content_invalid 100+20 $0.00014
        2 north/n1 content_invalid 100+20 $0.00014 repaired by north/n1
        3 south/s1 content_invalid 100+20 $0.000014 repaired by south/s1
        4 north/n1 conformant 100+20 $0.00014
        = {"verdict":"yes","because":"it is","also":null}
        "#,
    );
    check_stream(
        BOTH,
        [shed(), Scripted::fault("no route"), shed(), shed()]
            .into_iter()
            .chain([
                every(0, [chat_delta("{"), chat_end("content_filter", 100, 1)]),
                shed(),
                shed(),
                shed(),
            ])
            .map(|reply| reply.header("retry-after", "7")),
        |rig| ladder(question()).on(rig).stream(),
        "started 1 north/n1
         discarded 1 capacity_shed
         started 2 north/n1
         discarded 2 network
         started 3 north/n1
         discarded 3 capacity_shed
         started 4 north/n1
         discarded 4 capacity_shed
         started 5 south/s1
         5: {
         discarded 5 refusal
         started 6 south/s1
         discarded 6 capacity_shed
         started 7 south/s1
         discarded 7 capacity_shed
         started 8 south/s1
         discarded 8 capacity_shed",
        r#"
        1 north/n1 capacity_shed $0.00
        2 north/n1 network $0.00
        3 north/n1 capacity_shed $0.00
        4 north/n1 capacity_shed $0.00
        5 south/s1 refusal 100+1 $0.0000102
        6 south/s1 capacity_shed $0.00
        7 south/s1 capacity_shed $0.00
        8 south/s1 capacity_shed $0.00
        waits 30s, 1s, 60s, 30s, 60s
        ! capacity_shed south/s1: slow down
        (north/n1 capacity_shed, north/n1 network, north/n1 capacity_shed, north/n1 capacity_shed, south/s1 refusal, south/s1 capacity_shed, south/s1 capacity_shed, south/s1 capacity_shed)
        "#,
    );
}

// W2: a streamed request differs by what asks for the stream, in each dialect; one that is not streamed by nothing.
#[test]
fn only_a_streamed_request_asks_for_a_stream() {
    let bodies = |streams: bool| {
        let world = World::with_keys("anthropic openai");
        world.push([Scripted::status(400, "{}"), good()]);
        let call = messages(messages_input()).on(&world.rig);
        let output = if streams {
            block_on(listen(call.stream(), |_| ()))
        } else {
            block_on(call.run())
        };
        assert!(output.is_ok());
        let requests = world.transport.requests();
        let body = |at: usize| -> Value { serde_json::from_slice(&requests[at].body).unwrap() };
        [body(0), body(1)]
    };
    let [mut message, mut chat] = bodies(true);
    let take = |body: &mut Value, key: &str| body.as_object_mut().unwrap().remove(key);
    assert_eq!(take(&mut message, "stream"), Some(json!(true)));
    assert_eq!(take(&mut chat, "stream"), Some(json!(true)));
    assert_eq!(
        take(&mut chat, "stream_options"),
        Some(json!({ "include_usage": true }))
    );
    assert_eq!([message, chat], bodies(false));
}

// K6, L11: dropped in the middle; what the provider has said of its usage by then counts.
#[test]
fn a_dropped_stream_is_settled() {
    let world = World::with_keys("anthropic openai");
    world.push([every(70, events_of(&message(GOOD)))]);
    let mut events = messages(messages_input()).on(&world.rig).stream();
    loop {
        let event = block_on(events.next()).unwrap().unwrap();
        if let Event::Delta { .. } = event {
            break;
        }
    }
    world.clock.advance(MS(5));
    drop(events);
    let rows = world.store.rows();
    let [row] = rows.as_slice() else {
        panic!("{rows:?}")
    };
    assert_eq!(row.failure, Some(RowFailure::Cancelled));
    assert_eq!((row.tokens_in, row.tokens_out), (Some(130), None));
    assert_eq!(row.tokens_cached, Some(30));
    assert!(row.cost > rig::Usd::ZERO);
    // The block begins with the third event, and its text with the fourth.
    assert_eq!((row.ttfb_ms, row.latency_ms), (Some(210), 285));
}

// L11: a stream that nobody polls dispatches nothing.
#[test]
fn a_stream_does_nothing_by_itself() {
    let world = World::with_keys(BOTH);
    drop(ladder(question()).on(&world.rig).stream());
    assert_eq!(world.transport.requests().len(), 0);
    assert_eq!(world.store.rows().len(), 0);
}

// K5: a stream without its end is `network`, whether the connection breaks or closes; K3: what it used is known.
#[test]
fn a_stream_that_ends_early_is_network() {
    let early = |count: usize| every(0, events_of(&message(GOOD)).into_iter().take(count));
    check_stream(
        "anthropic openai",
        [
            early(5).cut("the connection was reset"),
            every(0, [chat_delta("{"), "data: [DONE]\n\n".to_owned()]),
        ],
        |rig| messages(messages_input()).on(rig).stream(),
        "started 1 anthropic/claude-haiku-4-5
         1: {\"ver
         1: dict\"
         discarded 1 network
         started 2 openai/gpt-5.4-mini
         2: {
         discarded 2 network",
        "1 anthropic/claude-haiku-4-5 network 130+? cached 30 $0.000103 priority>-
         2 openai/gpt-5.4-mini network $0.00 priority>-
         ! network openai/gpt-5.4-mini: the stream ended without a finish reason
         (anthropic/claude-haiku-4-5 network, openai/gpt-5.4-mini network)",
    );
}

// K4: an error after the 200 has the class that it would have as a status.
#[test]
fn an_error_within_a_stream_is_classified() {
    let overloaded = r#"{"error":{"type":"overloaded_error","message":"Overloaded"}}"#;
    let start = events_of(&message(GOOD)).into_iter().take(4);
    let quota = r#"{"error":{"code":"insufficient_quota","message":"no money"}}"#;
    check_stream(
        "anthropic openai",
        [
            every(0, start.chain(events_of(overloaded))),
            every(0, events_of(overloaded)),
            every(0, [chat_delta("{"), format!("data: {quota}\n\n")]),
        ],
        |rig| messages(messages_input()).on(rig).stream(),
        "started 1 anthropic/claude-haiku-4-5
         1: {\"ver
         discarded 1 capacity_shed
         started 2 anthropic/claude-haiku-4-5
         discarded 2 capacity_shed
         started 3 openai/gpt-5.4-mini
         3: {
         discarded 3 config_auth",
        "1 anthropic/claude-haiku-4-5 capacity_shed 130+? cached 30 $0.000103 priority>-
         2 anthropic/claude-haiku-4-5 capacity_shed $0.00 priority>-
         3 openai/gpt-5.4-mini config_auth $0.00 priority>-
         waits 1s
         ! config_auth openai/gpt-5.4-mini: no money
         (anthropic/claude-haiku-4-5 capacity_shed, anthropic/claude-haiku-4-5 capacity_shed, openai/gpt-5.4-mini config_auth)",
    );
}

// W2: a host that cannot stream answers whole, and that serves.
#[test]
fn a_whole_answer_to_a_streamed_request_serves() {
    check_stream(
        BOTH,
        [good().after(MS(300)).body_after(MS(20))],
        |rig| ladder(question()).on(rig).stream(),
        "started 1 north/n1",
        r#"
        1 north/n1 conformant 100+20 $0.00014 300/320 ms
        = {"verdict":"yes","because":"it is","also":null}
        "#,
    );
}

// L12: the time of an attempt runs to the last byte, however much is heard on the way.
#[test]
fn a_stream_has_the_time_of_an_attempt() {
    let slow = || every(900, (0..12).map(|_| chat_delta("x")));
    check_stream(
        "north",
        [slow(), slow()],
        |rig| ladder(question()).on(rig).stream(),
        &(1..=2)
            .map(|attempt| {
                let deltas = format!("{attempt}: x\n").repeat(11);
                format!("started {attempt} north/n1\n{deltas}discarded {attempt} timeout\n")
            })
            .collect::<String>(),
        "1 north/n1 timeout $0.00 900/10000 ms
         2 north/n1 timeout $0.00 900/10000 ms
         waits 10s, 10s
         ! config_auth south/s1: no key for `south`: `SOUTH_API_KEY` is not set or empty
         (north/n1 timeout, north/n1 timeout, south/s1 has no key)",
    );
}

// L16: so does the run's deadline.
#[test]
fn a_deadline_cuts_a_stream() {
    check_stream(
        BOTH,
        [every(900, (0..12).map(|_| chat_delta("x")))],
        |rig| ladder(question()).deadline(MS(2_000)).on(rig).stream(),
        "started 1 north/n1\n1: x\n1: x\ndiscarded 1 timeout",
        "1 north/n1 timeout $0.00 900/2000 ms
         waits 2s
         ! timeout north/n1: the run's deadline of 2000 ms ended it
         (north/n1 timeout, out of time)",
    );
}

// R4: what cannot be dispatched is told as the end.
#[test]
fn a_config_error_is_the_only_event() {
    let world = World::with_keys(BOTH);
    let call = ladder(question()).providers_only(["nobody"]).on(&world.rig);
    let mut told = Vec::new();
    let end = block_on(listen(call.stream(), |line| told.push(line)));
    assert!(matches!(end, Err(Error::Config(_))));
    assert_eq!((told.len(), world.store.rows().len()), (0, 0));
}

// It is a `Stream` as everybody's combinators take it, and can be sent to another thread.
#[test]
fn the_events_are_a_stream() {
    fn is_stream<S: Send + Unpin>(_: &S) {}
    let world = World::with_keys(BOTH);
    world.push([Scripted::chat_stream([GOOD])]);
    let events = ladder(question()).on(&world.rig).stream();
    is_stream(&events);
    let mut events = pin!(events);
    let mut ctx = Context::from_waker(Waker::noop());
    let first = futures_core::Stream::poll_next(Pin::new(&mut events), &mut ctx);
    assert!(matches!(
        first,
        Poll::Ready(Some(Ok(Event::Started { .. })))
    ));
}

#[test]
fn debug_shows_no_text() {
    let world = World::with_keys(BOTH);
    world.push([Scripted::chat_stream(["walrus"])]);
    let mut events = ladder(question()).on(&world.rig).stream();
    let mut texts = format!("{events:?}");
    for _ in 0..3 {
        texts += &format!(" {:?}", block_on(events.next()).unwrap());
    }
    assert_eq!(
        texts,
        "Events(…) Ok(Started(1, north/n1)) Ok(Delta(1, 6 bytes)) Ok(Discarded(1, content_invalid))"
    );
}
