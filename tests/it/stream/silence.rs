//! How long may a provider be silent in a stream?

use rig::Event;
use rig::testing::{Scripted, chat_delta, chat_end};
use tests::routes::{BriskInput, brisk};
use tests::{World, block_on, check, check_stream, delta, events_of};

use super::{MS, every, message};
use crate::{GOOD, QUESTION, good};

const PING: &str = "event: ping\ndata: {\"type\": \"ping\"}\n\n";

fn brisk_input() -> BriskInput {
    BriskInput {
        question: QUESTION.to_owned(),
    }
}

// F: `first_token_ms` ends a silence at the beginning, which keep-alives do not break, nor does the head.
#[test]
fn a_stream_has_to_begin() {
    let silent = |last_wait: &str| {
        format!(
            "1 north/n1 timeout $0.00 -/2000 ms
             2 north/n1 timeout $0.00 -/2000 ms
             waits {last_wait}, {last_wait}
             ! config_auth sage/g1: no key for `sage`: `SAGE_API_KEY` is not set or empty
             (north/n1 timeout, north/n1 timeout, sage/g1 has no key)"
        )
    };
    let told = "started 1 north/n1\ndiscarded 1 timeout\nstarted 2 north/n1\ndiscarded 2 timeout";
    let role = r#"data: {"choices":[{"index":0,"delta":{"role":"assistant","content":""}}]}"#;
    let role = format!("{role}\n\n");
    let alive = || {
        let signs = [": keep-alive\n\n", "\n\n", role.as_str()];
        every(300, (0..20).map(|at| signs[at % 3]))
    };
    let late_head = || Scripted::chat_stream([GOOD]).after(MS(2_001));
    let late_body = || every(2_001, [chat_delta(GOOD)]);
    for (script, last_wait) in [
        ([late_head(), late_body()], "2s"),
        // The last sign of life comes at 1.8 s.
        ([alive(), alive()], "200ms"),
    ] {
        check_stream(
            "north",
            script,
            |rig| brisk(brisk_input()).on(rig).stream(),
            told,
            &silent(last_wait),
        );
    }
    // The other dialect's way to stay alive; and an answer that begins in time, to the last millisecond.
    let start = events_of(&message("")).into_iter().take(1);
    let pings = every(1_500, start.chain([PING.to_owned(), PING.to_owned()]));
    let in_time = every(0, [PING]).piece(MS(2_000), events_of(&message("")).concat());
    check_stream(
        "sage",
        [pings, in_time],
        |rig| brisk(brisk_input()).on(rig).stream(),
        "started 1 sage/g1\ndiscarded 1 timeout\nstarted 2 sage/g1\ndiscarded 2 content_invalid",
        "1 sage/g1 timeout 130+? cached 30 $0.00013 -/2000 ms
         2 sage/g1 content_invalid 130+20 cached 30 $0.00017 2000/2000 ms
         waits 500ms
         ! content_invalid sage/g1: the answer holds no text
         (north/n1 has no key, sage/g1 timeout, sage/g1 content_invalid)",
    );
}

// F: `idle_ms` ends a silence between two pieces of content; reasoning is content.
#[test]
fn a_stream_has_to_go_on() {
    let thinks = "data: {\"choices\":[{\"delta\":{\"reasoning_content\":\"hm\"}}]}\n\n";
    let thinks = (0..8).map(|_| thinks.to_owned()).chain([chat_delta("x")]);
    check_stream(
        "north",
        [
            every(1_001, [chat_delta("y"), chat_delta("z")]),
            every(999, thinks),
        ],
        |rig| brisk(brisk_input()).on(rig).stream(),
        "started 1 north/n1\n1: y\ndiscarded 1 timeout\nstarted 2 north/n1\n2: x\ndiscarded 2 network",
        "1 north/n1 timeout $0.00 1001/2001 ms
         2 north/n1 network $0.00 999/8991 ms
         waits 1s
         ! config_auth sage/g1: no key for `sage`: `SAGE_API_KEY` is not set or empty
         (north/n1 timeout, north/n1 network, sage/g1 has no key)",
    );
    let start = || events_of(&message(GOOD)).into_iter().take(4);
    let pings = every(400, start().chain((0..9).map(|_| PING.to_owned())));
    let stalls = every(0, start())
        .piece(MS(999), delta("x"))
        .piece(MS(1_001), delta("y"));
    check_stream(
        "sage",
        [pings, stalls],
        |rig| brisk(brisk_input()).on(rig).stream(),
        "started 1 sage/g1
         1: {\"ver
         discarded 1 timeout
         started 2 sage/g1
         2: {\"ver
         2: x
         discarded 2 timeout",
        "1 sage/g1 timeout 130+? cached 30 $0.00013 1200/2600 ms
         2 sage/g1 timeout 130+? cached 30 $0.00013 0/1999 ms
         waits 200ms, 1s
         ! timeout sage/g1: no more content within 1000 ms
         (north/n1 has no key, sage/g1 timeout, sage/g1 timeout)",
    );
}

// F: without streaming neither acts.
#[test]
fn a_whole_answer_may_take_its_time() {
    check(
        "north",
        [good().after(MS(5_000)).body_after(MS(4_000))],
        |rig| brisk(brisk_input()).on(rig).run(),
        r#"
        1 north/n1 conformant 100+20 $0.00014 5000/9000 ms
        = {"verdict":"yes","because":"it is","also":null}
        "#,
    );
}

// F: the time that the caller takes is no silence of the provider.
#[test]
fn a_slow_listener_is_no_silence() {
    let world = World::with_keys("north");
    let (start, end) = GOOD.split_at(10);
    world.push([every(
        900,
        [chat_delta(start), chat_delta(end), chat_end("stop", 1, 1)],
    )]);
    let mut events = brisk(brisk_input()).on(&world.rig).stream();
    while let Some(event) = block_on(events.next()) {
        assert!(!matches!(event, Ok(Event::Discarded { .. })), "{event:?}");
        world.clock.advance(MS(1_500));
    }
    assert_eq!(world.store.rows()[0].failure, None);
}
