//! What is an answer, and what does the caller get with it?

use std::time::Duration;

use rig::Usd;
use rig::testing::Scripted;
use serde_json::{Value, json};
use tests::routes::{AnythingInput, Reply, ladder, mend, messages, patient};
use tests::{World, block_on, check, messages_reply};

use crate::{BOTH, GOOD, bad, good, mend_input, messages_input, patient_input, question, shed};

// L2, T1, T2: one dispatch is one row, and a conformant one has no failure class.
#[test]
fn a_conformant_answer_is_one_row_without_a_class() {
    let reply = good()
        .after(Duration::from_millis(70))
        .body_after(Duration::from_millis(30));
    let seen = check(
        BOTH,
        [reply],
        |rig| {
            let call = ladder(question()).tag("team", "a").tag("customer", "x");
            call.tag("customer", "acme").on(rig).run()
        },
        r#"
        1 north/n1 conformant 100+20 $0.00014 70/100 ms customer=acme team=a
        = {"verdict":"yes","because":"it is","also":null}
        "#,
    );
    let expected = Reply {
        verdict: ladder::ReplyVerdict::Yes,
        because: "it is".to_owned(),
        also: None,
    };
    assert_eq!(*seen.output(), expected);
    let meta = &seen.run().meta;
    assert_eq!((meta.route, meta.route_version), ("ladder", 7));
    assert_eq!(meta.latency, Duration::from_millis(100));
    assert_eq!(meta.cost, Usd::nanos(140_000));
    // 2026-01-01, where the manual clock begins.
    assert_eq!(seen.rows[0].ts_ms, 1_767_225_600_000);
}

// L2: awaiting the call gives the output alone.
#[test]
fn awaiting_a_call_gives_its_output() {
    let world = World::with_keys(BOTH);
    world.push([good()]);
    let reply = block_on(async { ladder(question()).on(&world.rig).await }).unwrap();
    assert_eq!(reply.because, "it is");
    assert_eq!(world.store.rows().len(), 1);
}

// A call that nobody awaits does nothing, and each one is a run of its own.
#[test]
fn calls_are_lazy_and_independent() {
    let world = World::with_keys(BOTH);
    world.push([good(), good()]);
    drop(ladder(question()).on(&world.rig).run());
    assert!(world.store.rows().is_empty() && world.transport.requests().is_empty());
    let ask = || {
        block_on(ladder(question()).on(&world.rig).run())
            .unwrap()
            .meta
    };
    let (first, second) = (ask(), ask());
    assert_ne!(first.run_id, second.run_id);
    assert_ne!(first.inference_id, second.inference_id);
    let rows = world.store.rows();
    assert_eq!((rows[0].attempt, rows[1].attempt), (1, 1));
}

// A call without `.on` is made on the process default, which is set once.
#[test]
fn the_installed_rig_is_the_default() {
    let world = World::with_keys(BOTH);
    world.push([good()]);
    rig::install(world.rig.clone()).unwrap();
    block_on(async { ladder(question()).await }).unwrap();
    assert_eq!(world.store.rows().len(), 1);
    assert_eq!(rig::install(world.rig), Err(rig::AlreadyInstalled));
}

// A call can be spawned.
#[test]
fn calls_can_go_to_another_thread() {
    fn sendable<T: Send + 'static>(value: T) -> T {
        value
    }
    let world = World::with_keys(BOTH);
    world.push([good()]);
    let call = sendable(ladder(question()).on(&world.rig));
    let future = sendable(call.run());
    let thread = std::thread::spawn(move || block_on(future));
    assert!(thread.join().unwrap().is_ok());
}

// The types of routes with one schema are one type, bound plainly once and by path after that.
#[test]
fn routes_with_one_schema_share_its_type() {
    let world = World::with_keys("north south openai anthropic");
    world.push([good(), good(), good(), messages_reply(GOOD)]);
    let rig = &world.rig;
    let replies: Vec<Reply> = block_on(async {
        vec![
            ladder(question()).on(rig).await.unwrap(),
            mend(mend_input()).on(rig).await.unwrap(),
            patient(patient_input()).on(rig).await.unwrap(),
            messages(messages_input()).on(rig).await.unwrap(),
        ]
    });
    assert!(replies.iter().all(|reply| *reply == replies[0]));
}

// `schema: null`: any JSON value, here from a host that needs no key and whose price is not known.
#[test]
fn a_route_without_a_schema_answers_with_any_json_value() {
    let input = AnythingInput {
        data: json!({ "a": [null, "{{count}}"], "b": 1 }),
        count: -3,
        note: None,
    };
    let seen = check(
        "",
        [Scripted::chat(r#"[1,{"a":null}]"#)],
        |rig| tests::routes::anything(input).on(rig).run(),
        r#"
        1 open/o1 conformant 100+20
        = [1,{"a":null}]
        "#,
    );
    let output: &Value = seen.output();
    assert!(output[1]["a"].is_null() && seen.run().meta.pricing_missing);
    // F1: everything but strings is compact JSON, a missing optional one is null, other braces are text.
    assert!(
        seen.system(1)
            .starts_with(r#"{"a":[null,"{{count}}"],"b":1} x -3; null; {"braces": {}}"#),
        "{}",
        seen.system(1)
    );
}

// T1: what the provider did not report is unknown, and not 0.
#[test]
fn usage_that_was_not_reported_is_unknown() {
    let mute = json!({ "choices": [{ "message": { "content": GOOD }, "finish_reason": "stop" }] });
    let seen = check(
        BOTH,
        [Scripted::status(200, mute.to_string())],
        |rig| ladder(question()).on(rig).run(),
        r#"
        1 north/n1 conformant $0.00
        = {"verdict":"yes","because":"it is","also":null}
        "#,
    );
    assert_eq!(seen.run().meta.tokens_in, None);
}

// T1: `tokens_in` is the whole input, the cached part of it has its own price.
#[test]
fn cached_tokens_are_a_part_of_the_input_with_its_own_price() {
    let body = json!({
        "choices": [{ "message": { "content": GOOD }, "finish_reason": "stop" }],
        "usage": {
            "prompt_tokens": 100,
            "completion_tokens": 20,
            "total_tokens": 120,
            "prompt_tokens_details": { "cached_tokens": 40 },
        },
        "service_tier": "default",
    });
    check(
        BOTH,
        [Scripted::status(200, body.to_string())],
        |rig| ladder(question()).on(rig).run(),
        r#"
        1 north/n1 conformant 100+20 cached 40 $0.00012 ->default
        = {"verdict":"yes","because":"it is","also":null}
        "#,
    );
}

// T1, T2: each row has its own cost, the meta the serving attempt's and the run's.
#[test]
fn the_run_costs_what_its_attempts_cost_together() {
    let seen = check(
        BOTH,
        [bad(), shed(), bad(), good()],
        |rig| ladder(question()).on(rig).run(),
        r#"
        1 north/n1 content_invalid 100+20 $0.00014
        2 north/n1 capacity_shed $0.00
        3 north/n1 content_invalid 100+20 $0.00014
        4 south/s1 conformant 100+20 $0.000014
        waits 30s
        = {"verdict":"yes","because":"it is","also":null}
        "#,
    );
    assert_eq!(seen.run().meta.cost, Usd::nanos(14_000));
    assert_eq!(seen.run().meta.run_cost, Usd::nanos(294_000));
}

// K5: an answer is read as it stands, without its reasoning, out of its one fence, out of its prose.
#[test]
fn an_answer_may_be_wrapped() {
    for wrapped in [
        format!("\n {GOOD} \n"),
        format!("<think>Is {{\"verdict\":\"no\"}} it?</think>\n{GOOD}"),
        format!("Here it is:\n```json\n{GOOD}\n```\nAnything else?"),
        format!("Sure! {GOOD} I hope that helps."),
    ] {
        check(
            BOTH,
            [Scripted::chat(&wrapped)],
            |rig| ladder(question()).on(rig).run(),
            r#"
            1 north/n1 conformant 100+20 $0.00014
            = {"verdict":"yes","because":"it is","also":null}
            "#,
        );
    }
}

// K5: exactly one value, and no key twice.
#[test]
fn an_answer_that_could_be_read_in_two_ways_is_content_invalid() {
    let twice = r#"{"verdict":"no","verdict":"yes","because":"it is","also":null}"#;
    for (answer, message) in [
        (
            format!("{GOOD}\n{GOOD}"),
            "the answer holds more than one JSON value",
        ),
        (
            twice.to_owned(),
            "the answer repeats a key within one object",
        ),
        (
            format!("<think>{GOOD}"),
            "the answer ends within its reasoning",
        ),
    ] {
        let expected = format!(
            "
            1 south/s1 content_invalid 100+20 $0.000014
            2 south/s1 content_invalid 100+20 $0.000014
            ! content_invalid south/s1: {message}
            (north/n1 has no key, south/s1 content_invalid, south/s1 content_invalid)
            "
        );
        let reply = || Scripted::chat(&answer);
        check(
            "south",
            [reply(), reply()],
            |rig| ladder(question()).on(rig).run(),
            &expected,
        );
    }
}
