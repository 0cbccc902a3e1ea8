//! What becomes of an output that conforms and does not please?

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::{Context, Waker};
use std::time::Duration;

use rig::testing::{ManualClock, Scripted};
use rig::{Clock, FailureClass};
use serde_json::json;
use tests::routes::ladder::Reply;
use tests::routes::{AnythingInput, ChoosyInput, TooledInput, anything, choosy, ladder, tooled};
use tests::{World, block_on, check};

use crate::{BOTH, QUESTION, bad, good, question};

/// Conforms as `GOOD` does.
const OTHER: &str = r#"{"verdict":"no","because":"it is not","also":null}"#;

fn other() -> Scripted {
    Scripted::chat(OTHER)
}

fn choosy_input() -> ChoosyInput {
    ChoosyInput {
        question: QUESTION.to_owned(),
    }
}

fn says_it_is_not(reply: &Reply) -> bool {
    reply.because == "it is not"
}

// L8: without a budget the next candidate is asked; the attempt has its row and its cost like any other.
#[test]
fn a_rejected_output_falls_through() {
    let seen = check(
        BOTH,
        [good(), other()],
        |rig| {
            ladder(question())
                .quality_gate(says_it_is_not)
                .on(rig)
                .run()
        },
        r#"
        1 north/n1 quality_rejected 100+20 $0.00014
        2 south/s1 conformant 100+20 $0.000014
        = {"verdict":"no","because":"it is not","also":null}
        "#,
    );
    let meta = &seen.run().meta;
    assert_eq!(meta.attempts.failed(FailureClass::QualityRejected), 1);
    assert_eq!(meta.run_cost, seen.rows[0].cost + seen.rows[1].cost);
}

// L8: the class's own budget, and no other, armed anew for each candidate.
#[test]
fn a_rejected_output_is_asked_for_anew_within_its_budget() {
    let seen = check(
        BOTH,
        [good(), good(), good(), other()],
        |rig| {
            choosy(choosy_input())
                .quality_gate(says_it_is_not)
                .on(rig)
                .run()
        },
        r#"
        1 north/n1 quality_rejected 100+20 $0.00014
        2 north/n1 quality_rejected 100+20 $0.00014
        3 south/s1 quality_rejected 100+20 $0.000014
        4 south/s1 conformant 100+20 $0.000014
        = {"verdict":"no","because":"it is not","also":null}
        "#,
    );
    // It is the same question again, with nothing about what was rejected.
    assert_eq!(seen.text(1), seen.text(2));
}

// L8, L7: a repaired output is judged as well, and what is rejected is not repaired further.
#[test]
fn a_repaired_output_is_judged_and_not_repaired_again() {
    check(
        BOTH,
        [bad(), good(), bad(), other()],
        |rig| {
            choosy(choosy_input())
                .quality_gate(says_it_is_not)
                .on(rig)
                .run()
        },
        r#"
        1 north/n1 content_invalid 100+20 $0.00014
        2 north/n1 quality_rejected 100+20 $0.00014 repaired by north/n1
        3 north/n1 content_invalid 100+20 $0.00014
        4 north/n1 conformant 100+20 $0.00014
        = {"verdict":"no","because":"it is not","also":null}
        "#,
    );
}

// L9: the error says that it was the caller's gate, and no word of the output.
#[test]
fn outputs_that_never_please_end_in_an_error_of_the_class() {
    let seen = check(
        BOTH,
        [good(), good()],
        |rig| ladder(question()).quality_gate(|_| false).on(rig).run(),
        r#"
        1 north/n1 quality_rejected 100+20 $0.00014
        2 south/s1 quality_rejected 100+20 $0.000014
        ! quality_rejected south/s1: the quality gate rejected the output
        (north/n1 quality_rejected, south/s1 quality_rejected)
        "#,
    );
    assert!(!seen.error().to_string().contains("it is"));
}

// L8: the gate sees conformant outputs only, each once.
#[test]
fn only_outputs_that_conform_are_judged() {
    let judged = Arc::new(AtomicU32::new(0));
    let count = Arc::clone(&judged);
    let gate = move |reply: &Reply| {
        count.fetch_add(1, Ordering::Relaxed);
        says_it_is_not(reply)
    };
    let world = World::with_keys(BOTH);
    world.push([bad(), bad(), bad(), good(), other()]);
    let run = block_on(
        choosy(choosy_input())
            .quality_gate(gate)
            .on(&world.rig)
            .run(),
    )
    .unwrap();
    assert_eq!(run.meta.attempts.total(), 5);
    assert_eq!(judged.load(Ordering::Relaxed), 2);
}

// L1: a call of tools is returned before anything judges it.
#[test]
fn calls_of_tools_are_no_output() {
    let world = World::with_keys("north");
    world.push([Scripted::status(
        200,
        json!({ "choices": [{ "finish_reason": "tool_calls", "message": { "tool_calls": [
            { "id": "c1", "function": { "name": "lookup", "arguments": "{\"case\": 7}" } }
        ] } }] })
        .to_string(),
    )]);
    let input = TooledInput {
        question: QUESTION.to_owned(),
    };
    let call = tooled(input).quality_gate(|_| false).on(&world.rig);
    let run = block_on(call.run()).unwrap();
    assert_eq!(run.meta.tool_calls.len(), 1);
}

// Any JSON value can be judged, and of two gates the last counts.
#[test]
fn the_last_gate_counts() {
    let world = World::with_keys(BOTH);
    world.push([Scripted::chat("[1]")]);
    let input = AnythingInput {
        data: json!([]),
        count: 1,
        note: None,
    };
    let call = anything(input)
        .quality_gate(|_| false)
        .quality_gate(|value| value == &json!([1]));
    assert_eq!(
        block_on(call.on(&world.rig).run()).unwrap().output,
        json!([1])
    );
}

// T3, L2: only what serves is captured.
#[test]
fn a_rejected_output_is_not_captured() {
    let world = World::with_keys(BOTH);
    world.push([good(), other()]);
    block_on(
        choosy(choosy_input())
            .quality_gate(says_it_is_not)
            .on(&world.rig)
            .run(),
    )
    .unwrap();
    let captures = block_on(world.rig.captures("choosy")).unwrap();
    let outputs: Vec<_> = captures.iter().map(|capture| &*capture.output).collect();
    assert_eq!(outputs, [OTHER]);
}

// L8: a judgement that takes time takes none of the attempt's.
#[test]
fn a_judgement_can_wait() {
    let world = World::with_keys(BOTH);
    world.push([good(), other()]);
    let clock = world.clock.clone();
    let call = ladder(question()).quality_gate_async(move |reply| {
        let clock = clock.clone();
        Box::pin(async move {
            clock.sleep(Duration::from_secs(70)).await;
            says_it_is_not(reply)
        })
    });
    let run = block_on(call.on(&world.rig).run()).unwrap();
    assert_eq!(run.output.because, "it is not");
    assert_eq!(world.clock.monotonic(), Duration::from_secs(140));
    assert_eq!(run.meta.latency, Duration::ZERO);
    let rows = world.store.rows();
    assert_eq!(rows.iter().map(|row| row.latency_ms).sum::<u64>(), 0);
}

/// A judgement that never comes.
fn forever(clock: &ManualClock) -> impl Fn() -> rig::transport::BoxFuture<'static, bool> + use<> {
    let clock = clock.clone();
    move || {
        let clock = clock.clone();
        Box::pin(async move {
            clock.sleep(Duration::from_secs(1_000_000)).await;
            true
        })
    }
}

// L16: the run's deadline ends it; what was paid for is on the row.
#[test]
fn a_judgement_does_not_outlast_the_deadline() {
    let world = World::with_keys(BOTH);
    world.push([good().after(Duration::from_secs(4))]);
    let wait = forever(&world.clock);
    let call = ladder(question())
        .deadline(Duration::from_secs(10))
        .quality_gate_async(move |_| wait());
    let error = block_on(call.on(&world.rig).run()).unwrap_err();
    assert_eq!(error.class(), Some(FailureClass::Timeout));
    assert_eq!(world.clock.monotonic(), Duration::from_secs(10));
    let rows = world.store.rows();
    assert_eq!(rows.len(), 1);
    assert_eq!(rows[0].failure.unwrap().name(), "timeout");
    assert_eq!((rows[0].tokens_out, rows[0].latency_ms), (Some(20), 4_000));
}

// L11, K6: the caller goes away while the output is judged.
#[test]
fn an_output_under_judgement_has_its_row_and_its_charge() {
    let world = World::with_keys(BOTH);
    world.push([good()]);
    let wait = forever(&world.clock);
    let call = choosy(choosy_input()).quality_gate_async(move |_| wait());
    {
        let mut call = pin!(call.on(&world.rig).run());
        let mut ctx = Context::from_waker(Waker::noop());
        assert!(call.as_mut().poll(&mut ctx).is_pending());
    }
    let rows = world.store.rows();
    assert_eq!(rows[0].failure.unwrap().name(), "cancelled");
    assert_eq!(rows[0].cost.to_string(), "$0.00014");
    assert_eq!(block_on(world.rig.captures("choosy")).unwrap(), []);
}

// L11: a gate that panics takes no row along.
#[test]
fn a_gate_that_panics_panics_after_the_rows_are_stored() {
    let world = World::with_keys(BOTH);
    world.push([bad(), good()]);
    let call = choosy(choosy_input()).quality_gate(|reply| panic!("{}", reply.because));
    let run = AssertUnwindSafe(|| block_on(call.on(&world.rig).run()));
    let panic = catch_unwind(run).unwrap_err();
    assert_eq!(panic.downcast_ref::<String>().unwrap(), "it is");
    let rows = world.store.rows();
    let ends: Vec<_> = rows.iter().map(|row| row.failure.unwrap().name()).collect();
    assert_eq!(ends, ["content_invalid", "cancelled"]);
    assert_eq!(rows[1].cost, rows[0].cost);
}
