//! Does streaming change anything but when an answer is heard?
//!
//! Random scripts are played twice, whole and in random pieces. What is compared is all that remains of a call.

use std::time::Duration;

use proptest::prelude::*;
use proptest::test_runner::Config;
use rig::store::{AttemptRow, RowFailure};
use rig::testing::Scripted;
use rig::{Error, FailureClass, Result, Run};
use serde::Serialize;
use serde_json::{Value, json};
use tests::routes::{
    HastyInput, KeptInput, TooledInput, hasty, kept, ladder, mend, messages, tooled,
};
use tests::{World, block_on, events_of, listen};

use crate::{BAD, BOTH, GOOD, QUESTION, mend_input, messages_input, question};

#[derive(Clone, Copy, Debug, PartialEq)]
enum Dialect {
    Chat,
    Messages,
}

#[derive(Clone, Debug)]
enum What {
    /// A text and how it ended.
    Text(&'static str, End),
    /// A call of a tool, beside a word.
    Calls(&'static str, Value),
    /// An error under a good status.
    Error,
    /// No more than a part of an answer.
    Part,
    /// A status that is a failure.
    Status(u16),
    /// No response.
    Fault,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum End {
    Stop,
    Length,
    Refusal,
}

/// What a host does with a request: it waits, and says something.
#[derive(Clone, Debug)]
struct Said {
    what: What,
    head_after: Duration,
    body_after: Duration,
    /// Picks the pieces in which it is streamed.
    seed: u64,
}

/// What remains of a call.
#[derive(Debug, PartialEq)]
struct Remains {
    rows: Vec<AttemptRow>,
    end: Result<(Value, String), String>,
    waits: Vec<Duration>,
    requests: Vec<Value>,
    captures: Vec<(String, String)>,
}

fn said() -> impl Strategy<Value = Said> {
    let text = prop_oneof![
        4 => Just(GOOD),
        3 => Just(BAD),
        1 => Just("No."),
        1 => Just(""),
        1 => Just("```json\n{\"verdict\":\"no\",\"because\":\"ä\u{1f980}\",\"also\":\"x\"}\n```"),
    ];
    let end = prop_oneof![6 => Just(End::Stop), 1 => Just(End::Length), 1 => Just(End::Refusal)];
    let call = prop_oneof![
        Just(("lookup", json!({ "case": 7 }))),
        Just(("lookup", json!({ "case": "seven" }))),
        Just(("now", json!({}))),
        Just(("unknown", json!({}))),
    ];
    let what = prop_oneof![
        8 => (text, end).prop_map(|(text, end)| What::Text(text, end)),
        2 => call.prop_map(|(name, arguments)| What::Calls(name, arguments)),
        1 => Just(What::Error),
        1 => Just(What::Part),
        2 => prop_oneof![Just(429), Just(500), Just(400), Just(401)].prop_map(What::Status),
        1 => Just(What::Fault),
    ];
    let ms =
        || prop_oneof![3 => 0..400_u64, 1 => 5_000..12_000_u64].prop_map(Duration::from_millis);
    (what, ms(), ms(), any::<u64>()).prop_map(|(what, head_after, body_after, seed)| Said {
        what,
        head_after,
        body_after,
        seed,
    })
}

impl Said {
    fn whole(&self, dialect: Dialect) -> Scripted {
        let reply = match &self.what {
            What::Fault => Scripted::fault("connection refused"),
            What::Status(status) => Scripted::status(*status, self.body(dialect)),
            What::Part => {
                let body = self.body(dialect);
                let part = body[..body.len() / 2].to_owned();
                let reply = Scripted::stream().piece(Duration::ZERO, part);
                reply.cut("the connection was reset")
            }
            What::Text(..) | What::Calls(..) | What::Error => {
                Scripted::status(200, self.body(dialect))
            }
        };
        reply.after(self.head_after).body_after(self.body_after)
    }

    fn streamed(&self, dialect: Dialect) -> Scripted {
        let is_stream = !matches!(self.what, What::Fault | What::Status(_));
        if !is_stream {
            return self.whole(dialect);
        }
        let mut events = events_of(&self.body(dialect));
        if let What::Part = self.what {
            events.truncate(events.len() / 2);
        }
        let events = events.concat();
        let mut seed = self.seed;
        let mut random = |below: usize| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (seed >> 33) as usize % below
        };
        let longest = [1, 3, 40, 400, 4_000][random(5)];
        let (mut rest, mut left) = (events.as_bytes(), self.body_after);
        let mut reply = Scripted::stream().after(self.head_after);
        while !rest.is_empty() {
            let (piece, more) = rest.split_at((1 + random(longest)).min(rest.len()));
            // All of the time has passed when the last piece is there.
            let after = if more.is_empty() {
                left
            } else {
                left.mul_f64(random(4) as f64 / 8.0)
            };
            let after = Duration::from_millis(after.as_millis() as u64);
            left -= after;
            reply = reply.piece(after, piece);
            rest = more;
        }
        match self.what {
            What::Part => reply.cut("the connection was reset"),
            _ => reply,
        }
    }

    fn body(&self, dialect: Dialect) -> String {
        let (text, end, call) = match &self.what {
            What::Text(text, end) => (*text, *end, None),
            What::Calls(name, arguments) => ("Hm.", End::Stop, Some((name, arguments))),
            What::Part => (GOOD, End::Stop, None),
            What::Error | What::Status(_) | What::Fault => {
                let error = json!({ "type": "overloaded_error", "message": "Overloaded" });
                return json!({ "error": error }).to_string();
            }
        };
        let calls = call.map(|(name, arguments)| match dialect {
            Dialect::Chat => {
                let function = json!({ "name": name, "arguments": arguments.to_string() });
                json!({ "id": "c1", "function": function })
            }
            Dialect::Messages => {
                json!({ "type": "tool_use", "id": "c1", "name": name, "input": arguments })
            }
        });
        let body = match dialect {
            Dialect::Chat => json!({
                "choices": [{
                    "message": { "content": text, "tool_calls": Vec::from_iter(calls) },
                    "finish_reason": match end {
                        End::Stop => "stop",
                        End::Length => "length",
                        End::Refusal => "content_filter",
                    },
                }],
                "service_tier": "default",
                "usage": { "prompt_tokens": 90, "completion_tokens": 9, "total_tokens": 99 },
            }),
            Dialect::Messages => {
                let text = json!({ "type": "text", "text": text });
                json!({
                    "content": Vec::from_iter([text].into_iter().chain(calls)),
                    "stop_reason": match end {
                        End::Stop => "end_turn",
                        End::Length => "max_tokens",
                        End::Refusal => "refusal",
                    },
                    "usage": {
                        "input_tokens": 60,
                        "cache_creation_input_tokens": 30,
                        "output_tokens": 9,
                        "service_tier": "standard",
                    },
                })
            }
        };
        body.to_string()
    }
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
        waits: world.clock.waits(),
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

    // W2, L11: the identical ladder: rows, charges, waits, requests, captures and result.
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
