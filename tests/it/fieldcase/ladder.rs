//! FC-21, FC-31, FC-36, FC-46: what the ladder does with what providers really send.

use std::time::Duration;

use rig::__private::{
    ANTHROPIC, Candidate, Capabilities, DEEPSEEK, Dialect, Enforcement, FIREWORKS, Limits, Plan,
    Policy, Price, Provider, Rates, Repair, Route, Sampling, Segment, Template, Tool, call,
};
use rig::testing::Scripted;
use rig::{FailureClass, NoVariant, Turn, Usd};
use serde_json::{Value, json};
use tests::routes::fc_base::FcBase;
use tests::routes::{fc_base, tooled};
use tests::{World, block_on};

use super::Case;

const TASK: &str = "Where is the zebra crossing?";

/// `model-a` of a provider, for 2 and 10 USD per million tokens.
pub(crate) const fn candidate(provider: &'static Provider) -> Candidate {
    Candidate {
        provider,
        model: "model-a",
        capabilities: Capabilities::of(&[]),
        enforcement: Enforcement::JsonMode,
        price: Some(Price::flat(Rates::nanos(2_000_000_000, 10_000_000_000))),
        limits: Limits::UNKNOWN,
    }
}

pub(super) static DEEPSEEK_A: [Candidate; 1] = [candidate(&DEEPSEEK)];
/// A host of the responses dialect.
static RELAY: Provider = Provider {
    name: "relay",
    dialect: Dialect::OpenAiResponses,
    base_url: "http://relay.test/v1",
    base_url_env: "RELAY_BASE_URL",
    ..Provider::BLANK
};
static RESPONSES_A: [Candidate; 1] = [candidate(&RELAY)];
static ANTHROPIC_A: [Candidate; 1] = [candidate(&ANTHROPIC)];
pub(super) static BOTH: [Candidate; 2] = [candidate(&DEEPSEEK), candidate(&FIREWORKS)];

/// For 1 and 5 USD per million tokens.
static FIREWORKS_B: [Candidate; 1] = [Candidate {
    model: "model-b",
    price: Some(Price::flat(Rates::nanos(1_000_000_000, 5_000_000_000))),
    ..candidate(&FIREWORKS)
}];

/// The base's schema, and a prompt that is the task.
pub(crate) fn route(
    candidates: &'static [Candidate],
    repair: Option<Repair>,
    policy: Policy,
) -> Route {
    Route {
        name: "case",
        schema: fc_base::ROUTE.schema,
        plan: Plan {
            candidates,
            prompt: Template {
                segments: &[Segment::Variable("q")],
            },
            repair,
        },
        policy,
        ..Route::BLANK
    }
}

/// So short that what an attempt may cost is little.
pub(super) const SHORT: Sampling = Sampling {
    max_output_tokens: Some(512),
    ..Sampling::BLANK
};

pub(super) const ONE_REPAIR: Option<Repair> = Some(Repair {
    max_repairs: 1,
    model: None,
});

pub(super) fn retries(retries: &'static [(FailureClass, u32)]) -> Policy {
    Policy {
        retries,
        ..Policy::BLANK
    }
}

pub(super) fn world() -> World {
    World::with_keys("deepseek fireworks anthropic")
}

/// Calls a route that lives as long as the process.
pub(crate) fn ask<T>(route: Route) -> rig::Call<T> {
    call::<T, NoVariant>(Box::leak(Box::new(route)), json!({ "q": TASK }))
}

/// The response of a file.
pub(super) fn response(case: &Case, file: &str) -> Scripted {
    let text = case.read(file).replace("\r\n", "\n");
    let (head, body) = text.split_once("\n\n").unwrap();
    let mut lines = head.lines();
    let status = lines.next().unwrap().split(' ').nth(1).unwrap();
    let scripted = Scripted::status(status.parse().unwrap(), body.trim_end());
    lines.fold(scripted, |scripted, line| {
        let (name, value) = line.split_once(':').unwrap();
        let value = value
            .trim()
            .replace("@NOW+90s as IMF-fixdate@", "Thu, 01 Jan 2026 00:01:30 GMT");
        scripted.header(name, value)
    })
}

pub(super) fn classes(world: &World) -> Vec<Option<&'static str>> {
    let rows = world.store.rows();
    rows.iter()
        .map(|row| row.failure.map(rig::store::RowFailure::name))
        .collect()
}

// K3, L3: a refusal is a class of its own, is neither repaired nor retried as content, and is paid for. The message
// carries the words of the refusal.
#[test]
fn fc_21_a_refusal_in_its_own_field() {
    let Some(case) = Case::open("FC-21") else {
        return;
    };
    let mut files = 0;
    for (file, expected) in case.expected("outputs") {
        // What streams is asked for as a stream.
        if file == "stream.sse" {
            continue;
        }
        files += 1;
        let candidates = match file.as_str() {
            "anthropic.http" => &ANTHROPIC_A,
            "responses.http" => &RESPONSES_A,
            _ => &DEEPSEEK_A,
        };
        let policy = retries(&[(FailureClass::ContentInvalid, 2)]);
        let world = world();
        world.push([response(&case, &file)]);
        let result = block_on(
            ask::<FcBase>(route(candidates, ONE_REPAIR, policy))
                .on(&world.rig)
                .run(),
        );
        let rows = world.store.rows();
        assert_eq!(rows.len(), 1, "{file}");
        assert_eq!(
            (rows[0].tokens_in, rows[0].tokens_out),
            (Some(90), Some(12)),
            "{file}"
        );
        assert_eq!(rows[0].cost, Usd::nanos(90 * 2_000 + 12 * 10_000), "{file}");
        let end = match &result {
            Ok(_) => "conformant",
            Err(error) => error.class().unwrap().name(),
        };
        assert_eq!(end, expected, "{file}");
        if let Err(error) = &result {
            let words = match file.as_str() {
                "anthropic.http" => "(refusal)",
                _ => "I can't help with that request.",
            };
            let message = &error.failure().unwrap().message;
            assert!(message.contains(words), "{file}: {message}");
        }
    }
    assert_eq!(files, 5);
}

// L1
#[test]
fn fc_31_a_tool_call_with_empty_arguments() {
    static TOOLS: std::sync::LazyLock<[Tool; 1]> = std::sync::LazyLock::new(|| {
        [Tool {
            name: "get_time",
            description: "Tells the time.",
            parameters: tooled::ROUTE.tools[1].parameters,
        }]
    });
    let Some(case) = Case::open("FC-31") else {
        return;
    };
    for file in ["stop_finish.http", "anthropic.http", "empty_list.http"] {
        let candidates = if file.starts_with("anthropic") {
            &ANTHROPIC_A
        } else {
            &DEEPSEEK_A
        };
        let world = world();
        world.push([response(&case, file)]);
        let route = Route {
            tools: &*TOOLS,
            ..route(candidates, ONE_REPAIR, Policy::BLANK)
        };
        let run = block_on(ask::<Turn<FcBase>>(route).on(&world.rig).run()).unwrap();
        assert_eq!(classes(&world), [None], "{file}");
        let meta = &run.meta;
        assert_eq!(
            (meta.tokens_in, meta.tokens_out),
            (Some(120), Some(9)),
            "{file}"
        );
        match run.output {
            Turn::Output(output) => {
                assert_eq!((file, output.answer.as_str()), ("empty_list.http", "ok"));
                assert!(meta.validated);
            }
            Turn::ToolCalls(calls) => {
                let read = [(
                    calls[0].id.as_str(),
                    calls[0].name,
                    calls[0].arguments.clone(),
                )];
                assert_eq!(read, [("call_1", "get_time", json!({}))], "{file}");
                assert!(calls.len() == 1 && !meta.validated && file != "empty_list.http");
            }
        }
    }
}

// K2, K0: what cannot be read is no wish, and none is shortened; more than 240 s is not waited for.
#[test]
fn fc_36_retry_after_in_every_shape() {
    let Some(case) = Case::open("FC-36") else {
        return;
    };
    for (file, wait) in [
        ("seconds.http", 30),
        ("date_future.http", 90),
        ("date_past.http", 30),
        ("negative.http", 30),
        ("exponent.http", 30),
        ("word.http", 30),
        ("empty.http", 30),
        ("ms.http", 30),
    ] {
        let world = world();
        world.push([response(&case, file), response(&case, "ok.http")]);
        let policy = retries(&[(FailureClass::CapacityShed, 1)]);
        block_on(
            ask::<FcBase>(route(&DEEPSEEK_A, None, policy))
                .on(&world.rig)
                .run(),
        )
        .unwrap();
        assert_eq!(classes(&world), [Some("capacity_shed"), None], "{file}");
        assert_eq!(world.clock.waits(), [Duration::from_secs(wait)], "{file}");
    }
    // Without a budget, and where the wish is for longer than anybody waits, the next candidate is asked at once.
    for (file, policy) in [
        ("seconds.http", Policy::BLANK),
        ("huge.http", retries(&[(FailureClass::CapacityShed, 1)])),
    ] {
        let world = world();
        world.push([response(&case, file), response(&case, "ok.http")]);
        let run = block_on(
            ask::<FcBase>(route(&BOTH, None, policy))
                .on(&world.rig)
                .run(),
        )
        .unwrap();
        assert_eq!(run.meta.provider, "fireworks", "{file}");
        assert_eq!(classes(&world), [Some("capacity_shed"), None], "{file}");
        assert_eq!(world.clock.waits(), [Duration::ZERO; 0], "{file}");
    }
}

// K3, L7, L9: every attempt costs what it used, and the repair model never sees the task.
#[test]
fn fc_46_the_price_of_the_attempts_that_failed() {
    let Some(case) = Case::open("FC-46") else {
        return;
    };
    let repair = || {
        Some(Repair {
            max_repairs: 2,
            model: Some(&FIREWORKS_B[0]),
        })
    };
    let costs = |world: &World| -> Vec<u64> {
        let rows = world.store.rows();
        rows.iter().map(|row| row.cost.as_nanos()).collect()
    };
    let script =
        |last| ["first_bad.http", "repair_bad.http", last].map(|file| response(&case, file));
    let policy = || Policy {
        sampling: SHORT,
        ..Policy::BLANK
    };
    let call = || {
        let call = ask::<FcBase>(route(&DEEPSEEK_A, repair(), policy()));
        call.envelope("e4", Usd::nanos(1_000_000_000))
    };
    let spent = |world: &World| {
        let state = block_on(world.rig.envelope("e4")).unwrap().unwrap();
        assert_eq!(state.reserved, Usd::ZERO);
        state.spent
    };
    let served = world();
    served.push(script("repair2_ok.http"));
    let meta = block_on(call().on(&served.rig).run()).unwrap().meta;
    assert_eq!(spent(&served), Usd::nanos(11_300_000));
    assert_eq!(costs(&served), [4_000_000, 6_000_000, 1_300_000]);
    assert_eq!(meta.run_cost, Usd::nanos(11_300_000));
    assert_eq!(
        classes(&served),
        [Some("content_invalid"), Some("content_invalid"), None]
    );
    assert_eq!(meta.repaired_by.as_deref(), Some("fireworks/model-b"));
    let request: Value = serde_json::from_slice(&served.transport.requests()[2].body).unwrap();
    let text = request.to_string();
    assert!(
        text.contains("\\\\\\\"answer\\\\\\\": 7") && !text.contains(TASK),
        "{text}"
    );

    let failed = world();
    failed.push(script("first_bad.http"));
    let run = block_on(call().on(&failed.rig).run());
    assert_eq!(run.unwrap_err().class(), Some(FailureClass::ContentInvalid));
    assert_eq!(spent(&failed), Usd::nanos(12_000_000));
    assert_eq!(costs(&failed), [4_000_000, 6_000_000, 2_000_000]);
}
