//! Does streaming change anything but when an answer is heard?
//!
//! Random scripts are played twice, whole and in random pieces. What is compared is all that remains of a call.

mod said;

use std::time::Duration;

use proptest::prelude::*;
use proptest::test_runner::Config;
use rig::store::{AttemptRow, RowFailure};
use rig::{Error, FailureClass, Result, Run};
use serde::Serialize;
use serde_json::{Value, json};
use tests::routes::{
    HastyInput, KeptInput, TooledInput, hasty, kept, ladder, mend, messages, tooled,
};
use tests::{World, block_on, listen};

use crate::{BOTH, QUESTION, mend_input, messages_input, question};
use said::{Close, Dialect, LINGER, Said, said};

/// What remains of a call.
#[derive(Debug, PartialEq)]
struct Remains {
    rows: Vec<AttemptRow>,
    end: Result<(Value, String), String>,
    waits: Vec<Duration>,
    requests: Vec<Value>,
    captures: Vec<(String, String)>,
}

/// Makes a call in a world, whole or streamed.
macro_rules! made {
    ($world:expr, $call:expr, $streams:expr) => {{
        let call = $call.on(&$world.rig);
        let route = stringify!($call).split('(').next().unwrap();
        remains(
            $world,
            route,
            match $streams {
                true => block_on(listen(call.stream(), |_| ())),
                false => block_on(call.run()),
            },
        )
    }};
}

fn remains<T: Serialize>(world: &World, route: &str, result: Result<Run<T>>) -> Remains {
    let rows = world.store.rows();
    if let Ok(run) = &result {
        assert_eq!(run.meta.inference_id, rows.last().unwrap().id);
    }
    Remains {
        end: result.map(|run| summed(&run)).map_err(|error| told(&error)),
        rows: rows.into_iter().map(anonymous).collect(),
        // Whether an answer that is there is waited for is not told apart from its last byte coming late.
        waits: world
            .clock
            .waits()
            .into_iter()
            .filter(|wait| *wait != LINGER)
            .collect(),
        requests: world.transport.requests().iter().map(asked).collect(),
        captures: block_on(world.rig.captures(route))
            .unwrap()
            .into_iter()
            .map(|capture| (capture.variables, capture.output))
            .collect(),
    }
}

/// A row without what no two runs share, and without `ttfb_ms`. What broke off may have told of its usage before.
fn anonymous(row: AttemptRow) -> AttemptRow {
    let broke_off = [
        FailureClass::Network,
        FailureClass::Timeout,
        FailureClass::CapacityShed,
    ];
    let broke_off = broke_off.map(|class| Some(RowFailure::Class(class)));
    let row = AttemptRow {
        id: String::new(),
        run_id: String::new(),
        ttfb_ms: None,
        ..row
    };
    if !broke_off.contains(&row.failure) {
        return row;
    }
    AttemptRow {
        tokens_in: None,
        tokens_out: None,
        tokens_cached: None,
        tokens_cache_write: None,
        searches: None,
        served_tier: None,
        cost: rig::Usd::ZERO,
        ..row
    }
}

fn summed<T: Serialize>(run: &Run<T>) -> (Value, String) {
    let mut meta = run.meta.clone();
    meta.inference_id.clear();
    meta.run_id.clear();
    meta.run_cost = rig::Usd::ZERO;
    (
        serde_json::to_value(&run.output).unwrap(),
        format!("{meta:?} {:?}", meta.tool_calls),
    )
}

fn told(error: &Error) -> String {
    let failure = error.failure().unwrap();
    let (class, message, history) = (failure.class, &failure.message, &failure.history);
    format!(
        "{class} {}/{}: {message} ({history})",
        failure.provider, failure.model
    )
}

/// A request without what asks for a stream.
fn asked(request: &rig::transport::Request) -> Value {
    let mut body: Value = serde_json::from_slice(&request.body).unwrap();
    let fields = body.as_object_mut().unwrap();
    fields.remove("stream");
    fields.remove("stream_options");
    json!({ "url": request.url, "body": body })
}

fn played(route: usize, script: &[Said], streams: bool) -> Remains {
    let question = question().question;
    assert_eq!(question, QUESTION);
    let (keys, dialect) = [
        (BOTH, Dialect::Chat),
        (BOTH, Dialect::Chat),
        ("north vault", Dialect::Chat),
        (BOTH, Dialect::Chat),
        ("anthropic", Dialect::Messages),
        ("north", Dialect::Chat),
        ("anthropic", Dialect::Messages),
        // One of the two is answered in the wrong dialect.
        ("anthropic openai", Dialect::Chat),
    ][route];
    let world = World::with_keys(keys);
    // A deadline may come while a connection is left open, and an answer in another dialect has no finish reason.
    let said = |said: &Said| {
        let mut said = said.clone();
        match (route, said.close) {
            (3, Close::LeftOpen) | (7, Close::LeftOpen | Close::Reset) => {
                said.close = Close::Closed;
            }
            _ => {}
        }
        said
    };
    let script: Vec<_> = script.iter().map(said).collect();
    world.push(script.iter().map(|said| match streams {
        true => said.streamed(dialect),
        false => said.whole(dialect),
    }));
    let world = &world;
    match route {
        0 => made!(world, ladder(super::question()), streams),
        1 => made!(world, mend(mend_input()), streams),
        2 => made!(world, kept(KeptInput { question }), streams),
        3 => made!(world, hasty(HastyInput { question }), streams),
        5 | 6 => made!(world, tooled(TooledInput { question }), streams),
        _ => made!(world, messages(messages_input()), streams),
    }
}

proptest! {
    #![proptest_config(Config { cases: 400, failure_persistence: None, ..Config::default() })]

    // W2, L11, L18, K9: the identical ladder: rows, charges, waits, requests, captures and result, however a connection is
    // kept alive and ends.
    #[test]
    fn streaming_changes_nothing_but_when_an_answer_is_heard(
        route in 0..8_usize,
        script in prop::collection::vec(said(), 12),
    ) {
        let whole = played(route, &script, false);
        prop_assert!(!whole.rows.is_empty());
        prop_assert_eq!(played(route, &script, true), whole);
    }
}
