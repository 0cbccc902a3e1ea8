//! When is an answer complete whose connection does not end as it should?

use rig::__private::{ANTHROPIC, Candidate, DEEPSEEK, GEMINI, Policy};
use rig::store::{AttemptRow, RowFailure};
use rig::testing::{Scripted, chat_completion};
use rig::{Event, FailureClass, Usd};
use tests::routes::fc_base::FcBase;
use tests::routes::ladder;
use tests::{World, block_on};

use super::MS;
use crate::fieldcase::ladder::{ask, candidate, route};
use crate::{GOOD, fault, good, question};

/// How long an answer that has said how it ended is waited for, in ms, as `docs/streaming.md` says.
const LINGER: u64 = 1_500;

/// What 120 tokens in and 9 out cost.
const COST: Usd = Usd::nanos(120 * 2_000 + 9 * 10_000);

/// A host that streams `{"answer":"ok"}`.
struct Host {
    candidates: &'static [Candidate],
    /// The events before the finish reason.
    content: &'static str,
    /// The event with the finish reason, and what tells the usage.
    finish: &'static str,
    /// The event with the finish reason, without a usage.
    bare_finish: &'static str,
}

static HOSTS: [Host; 3] = [
    Host {
        candidates: &[candidate(&DEEPSEEK)],
        content: "data: {\"choices\":[{\"delta\":{\"content\":\"{\\\"answer\\\":\\\"ok\\\"}\"}}]}\n\n",
        finish: "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n\
                 data: {\"choices\":[],\"usage\":{\"prompt_tokens\":120,\"completion_tokens\":9,\"total_tokens\":129}}\n\n",
        bare_finish: "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n",
    },
    Host {
        candidates: &[candidate(&ANTHROPIC)],
        content: "data: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":120,\"output_tokens\":1}}}\n\n\
                  data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n\
                  data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"{\\\"answer\\\":\\\"ok\\\"}\"}}\n\n",
        finish: "data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":9}}\n\n",
        bare_finish: "data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"}}\n\n",
    },
    Host {
        candidates: &[candidate(&GEMINI)],
        content: "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"{\\\"answer\\\":\\\"ok\\\"}\"}]}}]}\n\n",
        finish: "data: {\"candidates\":[{\"finishReason\":\"STOP\"}],\"usageMetadata\":{\"promptTokenCount\":120,\"candidatesTokenCount\":9,\"totalTokenCount\":129}}\n\n",
        bare_finish: "data: {\"candidates\":[{\"finishReason\":\"STOP\"}]}\n\n",
    },
];

/// How a connection ends.
#[derive(Clone, Copy, Debug, PartialEq)]
enum End {
    Closed,
    Reset,
    /// Nothing comes any more, but signs of life.
    Open,
}

const ENDS: [End; 3] = [End::Closed, End::Reset, End::Open];

impl End {
    fn of(self, reply: Scripted) -> Scripted {
        match self {
            Self::Closed => reply,
            Self::Reset => reply.cut("the connection was reset"),
            Self::Open => (0..80).fold(reply, |reply, _| reply.piece(MS(1_000), ": alive\n\n")),
        }
    }
}

fn host_world() -> World {
    World::with_keys("deepseek anthropic gemini")
}

fn spent(world: &World) -> Usd {
    let state = block_on(world.rig.envelope("e")).unwrap().unwrap();
    assert_eq!(state.reserved, Usd::ZERO);
    state.spent
}

/// Streams one reply, which has to serve at the first attempt; returns its row and what the envelope was charged.
fn served(host: &Host, policy: Policy, reply: Scripted, what: &str) -> (AttemptRow, Usd) {
    let world = host_world();
    world.push([reply]);
    let call = ask::<FcBase>(route(host.candidates, None, policy));
    let mut events = call
        .envelope("e", Usd::dollars(1_000))
        .on(&world.rig)
        .stream();
    let run = loop {
        match block_on(events.next()).unwrap() {
            Ok(Event::Done(run)) => break run,
            Ok(_) => {}
            Err(error) => panic!("{what}: {error}"),
        }
    };
    assert_eq!(run.output.answer, "ok", "{what}");
    let rows = world.store.rows();
    let [row] = rows.as_slice() else {
        panic!("{what}: {rows:?}")
    };
    (row.clone(), spent(&world))
}

// L18: after the finish reason and the usage the answer is complete: closed or reset at once, left open after a moment.
#[test]
fn a_stream_that_said_how_it_ended_is_complete_however_its_connection_ends() {
    for host in &HOSTS {
        for end in ENDS {
            let what = format!("{} {end:?}", host.candidates[0].provider.name);
            let reply = Scripted::stream().piece(MS(10), host.content);
            let reply = end.of(reply.piece(MS(20), host.finish));
            let (row, charged) = served(host, Policy::BLANK, reply, &what);
            let used = (row.tokens_in, row.tokens_out, row.cost, charged);
            assert_eq!(used, (Some(120), Some(9), COST, COST), "{what}");
            let waited = if end == End::Open { LINGER } else { 0 };
            assert_eq!(row.latency_ms, 30 + waited, "{what}");
        }
    }
}

// L18, T1: without the usage it is an answer whose usage nobody knows.
#[test]
fn a_stream_that_ended_before_its_usage_came_is_an_answer_without_usage() {
    for host in &HOSTS {
        let name = host.candidates[0].provider.name;
        let bare = format!("{}{}", host.content, host.bare_finish);
        let mark = match name {
            "anthropic" => "data: {\"type\":\"message_stop\"}\n\n",
            _ => "data: [DONE]\n\n",
        };
        let clean = Scripted::stream().piece(MS(0), format!("{bare}{mark}"));
        let (_, reserved) = served(host, Policy::BLANK, clean, name);
        assert!(reserved > COST);
        for end in ENDS {
            let what = format!("{name} {end:?}");
            let reply = end.of(Scripted::stream().piece(MS(0), bare.clone()));
            let (row, charged) = served(host, Policy::BLANK, reply, &what);
            assert_eq!((row.tokens_out, charged), (None, reserved), "{what}");
        }
    }
}

// L18, FC-30: usage that comes after the finish reason is waited for, and signs of life make that wait no longer.
#[test]
fn usage_that_comes_late_counts_if_it_comes_soon() {
    let chat = &HOSTS[0];
    let usage = chat.finish.strip_prefix(chat.bare_finish).unwrap();
    let begun = || {
        let reply = Scripted::stream().piece(MS(0), chat.content);
        reply.piece(MS(0), chat.bare_finish)
    };
    let soon = begun().piece(MS(1_000), ": alive\n\n");
    let soon = soon.piece(MS(LINGER - 1_001), usage).cut("reset");
    let (row, charged) = served(chat, Policy::BLANK, soon, "soon");
    assert_eq!((row.tokens_out, charged), (Some(9), COST));
    let late = begun().piece(MS(1_000), ": alive\n\n");
    let late = late.piece(MS(LINGER - 999), usage);
    let (row, _) = served(chat, Policy::BLANK, late, "late");
    assert_eq!((row.tokens_out, row.latency_ms), (None, LINGER));
}

// L18: some hosts name a finish reason in every event. As long as content comes, the stream has not ended.
#[test]
fn content_after_a_finish_reason_belongs_to_the_answer() {
    let piece = |text: &str| {
        format!(
            "data: {{\"choices\":[{{\"delta\":{{\"content\":{text:?}}},\"finish_reason\":\"stop\"}}]}}\n\n"
        )
    };
    let pieces = ["{\"answer\"", ":\"o", "k\"", "}"];
    let reply = pieces.iter().fold(Scripted::stream(), |reply, text| {
        reply.piece(MS(LINGER - 1), piece(text))
    });
    let (row, _) = served(&HOSTS[0], Policy::BLANK, reply, "in each");
    assert_eq!(row.latency_ms, 4 * (LINGER - 1));
}

// L18, L12, F: the attempt's time and `idle_ms` end the wait, and not the answer.
#[test]
fn a_complete_stream_is_neither_late_nor_silent() {
    for host in &HOSTS {
        for (timeout_ms, idle_ms, latency) in [
            (1_000, None, 1_000),
            (9_000, Some(400), 1_200),
            (1_000, Some(200), 1_000),
        ] {
            let policy = Policy {
                timeout_ms,
                idle_ms,
                ..Policy::BLANK
            };
            let reply = Scripted::stream().piece(MS(600), host.content);
            let reply = reply.piece(MS(200), host.finish);
            let reply = End::Open.of(reply);
            let (row, charged) = served(host, policy, reply, "short");
            assert_eq!((row.latency_ms, charged), (latency, COST));
        }
    }
}

// L18: the last event needs no empty line behind it, also where the connection breaks or stalls.
#[test]
fn a_finish_reason_without_a_line_end_is_one() {
    for host in &HOSTS {
        for end in [End::Closed, End::Reset] {
            let start = format!("{}{}", host.content, host.bare_finish);
            let reply = Scripted::stream().piece(MS(0), start.trim_end());
            served(host, Policy::BLANK, end.of(reply), "half a line");
        }
    }
}

/// Streams a reply until its last text is heard, and goes away; returns the row and the charge.
fn left(host: &Host, reply: Scripted) -> (AttemptRow, Usd) {
    let world = host_world();
    world.push([reply]);
    let call = ask::<FcBase>(route(host.candidates, None, Policy::BLANK));
    let mut events = call
        .envelope("e", Usd::dollars(1_000))
        .on(&world.rig)
        .stream();
    while !matches!(block_on(events.next()), Some(Ok(Event::Delta { .. }))) {}
    drop(events);
    let rows = world.store.rows();
    assert_eq!(rows.len(), 1);
    assert_eq!(rows[0].failure, Some(RowFailure::Cancelled));
    (rows[0].clone(), spent(&world))
}

// K6: once the answer has said how it ended and what it used, a caller who goes away pays that.
#[test]
fn a_caller_who_leaves_a_complete_answer_pays_what_it_cost() {
    for host in &HOSTS {
        let all = format!("{}{}", host.content, host.finish);
        let reply = End::Open.of(Scripted::stream().piece(MS(0), all));
        let (row, charged) = left(host, reply);
        let used = (row.tokens_in, row.tokens_out, row.cost, charged);
        assert_eq!(used, (Some(120), Some(9), COST, COST));
    }
    // The usage came first, and then the finish reason.
    let usage = "\"usage\":{\"prompt_tokens\":120,\"completion_tokens\":9,\"total_tokens\":129}";
    let text = "\"delta\":{\"content\":\"{\\\"answer\\\":\\\"ok\\\"}\"}";
    let finish = HOSTS[0].bare_finish;
    let first = format!("data: {{\"choices\":[{{{text}}}],{usage}}}\n\n");
    let both = format!("{first}{finish}");
    let (_, charged) = left(
        &HOSTS[0],
        End::Open.of(Scripted::stream().piece(MS(0), both)),
    );
    assert_eq!(charged, COST);
    // Before the finish reason the counts are of a part, and the rest may be billed as well.
    let (row, charged) = left(
        &HOSTS[0],
        End::Open.of(Scripted::stream().piece(MS(0), first)),
    );
    assert_eq!((row.tokens_in, row.tokens_out), (Some(120), Some(9)));
    assert!(charged > COST, "{charged}");
}

// L18: the same for a body that came whole: its JSON has closed, so that nothing of it can be missing.
#[test]
fn a_whole_answer_is_complete_once_its_json_is() {
    let whole = || Scripted::stream().piece(MS(10), chat_completion(GOOD, "stop", 100, 20));
    for (end, latency) in [(End::Closed, 10), (End::Reset, 10)] {
        let world = World::with_keys("north");
        world.push([end.of(whole())]);
        block_on(ladder(question()).on(&world.rig).run()).unwrap();
        let rows = world.store.rows();
        assert_eq!((rows.len(), rows[0].latency_ms), (1, latency), "{end:?}");
        assert_eq!(rows[0].tokens_out, Some(20));
    }
    // Nothing says that a body which is left open has ended, but the attempt's time.
    let world = World::with_keys("north");
    world.push([whole().piece(MS(60_000), " ")]);
    block_on(ladder(question()).on(&world.rig).run()).unwrap();
    let rows = world.store.rows();
    assert_eq!((rows.len(), rows[0].latency_ms), (1, 10_000));
}

// K2, K4: what a status says of itself is not lost with its body; of that as much counts as comes within a moment.
#[test]
fn a_failure_whose_body_stalls_is_known_by_its_status() {
    let stalled = |reply: Scripted| reply.header("retry-after", "40").piece(MS(60_000), "}");
    for reply in [
        stalled(fault(429, "rate_limit_exceeded", "slow down")),
        fault(429, "rate_limit_exceeded", "slow down")
            .header("retry-after", "40")
            .body_after(MS(60_000)),
    ] {
        let world = World::with_keys("north");
        world.push([reply, good()]);
        block_on(ladder(question()).on(&world.rig).run()).unwrap();
        let rows = world.store.rows();
        let shed = Some(RowFailure::Class(FailureClass::CapacityShed));
        assert_eq!(rows[0].failure, shed);
        assert_eq!((rows[0].ttfb_ms, rows[0].latency_ms), (Some(0), LINGER));
        assert_eq!(world.clock.waits(), [MS(LINGER), MS(40_000)]);
    }
    // What came of the body counts: no wait helps an account without money.
    let world = World::with_keys("north");
    let body = "{\"error\":{\"code\":\"insufficient_quota\",\"message\":\"no money\"}}";
    world.push([Scripted::status(429, body).piece(MS(60_000), " ")]);
    let error = block_on(ladder(question()).on(&world.rig).run()).unwrap_err();
    let history = &error.failure().unwrap().history;
    assert!(history.starts_with("north/n1 config_auth"), "{history}");
}
