//! Does the ladder do what the contract says?
//!
//! Real ladder and providers, scripted transport, manual clock, rows in memory.

use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use rig_spec::{
    Capabilities, DEEPSEEK, Enforcement, FailureClass, Limits, Lowered, OPENAI, Policy, Price,
    Rates, Repair, Sampling, Schema, Segment, Template, Usd,
};
use serde_json::json;

use super::*;
use crate::call::{Call, RouteVariant, call};
use crate::resolve::{Narrowing, resolve};
use crate::rig::Rig;
use crate::testing::{ManualClock, MemoryStore, Scripted, ScriptedTransport, chat_completion};

const NATIVE: Candidate = Candidate {
    provider: &OPENAI,
    model: "a",
    capabilities: Capabilities::of(&[]),
    enforcement: Enforcement::Native(&Lowered::AS_WRITTEN),
    price: Some(Price::flat(Rates::nanos(1_000_000_000, 2_000_000_000))),
    limits: Limits::UNKNOWN,
};
const JSON_MODE: Candidate = Candidate {
    provider: &DEEPSEEK,
    model: "b",
    enforcement: Enforcement::JsonMode,
    price: None,
    ..NATIVE
};

static ROUTE: Route = Route {
    name: "greet",
    version: 3,
    schema: Some(Schema {
        name: "greeting",
        json: r#"{"type":"object","required":["text"],"properties":{"text":{"type":"string"}}}"#,
        skeleton: r#"{"text":"…"}"#,
        gate: "2 64 16 --1 4:text1 1 0 --0 0 -16 0 ",
        hash: 1,
    }),
    plan: Plan {
        candidates: &[NATIVE, JSON_MODE],
        prompt: Template {
            segments: &[Segment::Text("Greet "), Segment::Variable("name")],
        },
        repair: Some(Repair {
            max_repairs: 2,
            model: Some(&JSON_MODE),
        }),
    },
    variants: &[Variant {
        name: "cheap",
        plan: Plan {
            candidates: &[JSON_MODE],
            prompt: Template {
                segments: &[Segment::Text("Briefly greet "), Segment::Variable("name")],
            },
            repair: None,
        },
    }],
    policy: Policy {
        retries: &[
            (FailureClass::CapacityShed, 1),
            (FailureClass::ContentInvalid, 1),
        ],
        timeout_ms: 5_000,
        sampling: Sampling {
            max_output_tokens: Some(64),
            ..Sampling::BLANK
        },
        ..Policy::BLANK
    },
    ..Route::BLANK
};

const GOOD: &str = r#"{"text": "hi"}"#;
const BAD: &str = r#"{"text": 1}"#;

struct World {
    rig: Rig,
    transport: ScriptedTransport,
    clock: ManualClock,
    store: MemoryStore,
}

impl World {
    fn new(keys: &[&str], script: impl IntoIterator<Item = Scripted>) -> Self {
        let clock = ManualClock::new();
        let transport = ScriptedTransport::new(&clock);
        script.into_iter().for_each(|reply| transport.push(reply));
        let store = MemoryStore::default();
        let builder = keys
            .iter()
            .fold(Rig::builder().ignore_env(), |builder, provider| {
                builder.key(*provider, "test-key")
            });
        let builder = builder.transport(transport.clone()).clock(clock.clone());
        let rig = builder.store(store.clone()).build().unwrap();
        Self {
            rig,
            transport,
            clock,
            store,
        }
    }

    fn call(&self) -> Call<Value> {
        call(&ROUTE, json!({ "name": "Ada" }))
            .tag("customer", "acme")
            .on(&self.rig)
    }

    /// One line per row: candidate, what it ended with, who repaired.
    fn rows(&self) -> Vec<String> {
        let line = |row: crate::store::AttemptRow| {
            let end = row.failure.map_or("conformant", |failure| failure.name());
            let repair = if row.repaired_by.is_some() {
                " repair"
            } else {
                ""
            };
            format!("{}/{}{repair} {end}", row.provider, row.model)
        };
        self.store.rows().into_iter().map(line).collect()
    }

    fn body(&self, request: usize) -> String {
        String::from_utf8(self.transport.requests()[request].body.clone()).unwrap()
    }
}

const BOTH: &[&str] = &["openai", "deepseek"];

// L2, T1, T2
#[tokio::test]
async fn a_conformant_answer_is_one_row_and_comes_with_its_meta() {
    let world = World::new(
        BOTH,
        [Scripted::chat(GOOD)
            .after(Duration::from_millis(70))
            .body_after(Duration::from_millis(30))],
    );
    let run = world.call().run().await.unwrap();
    assert_eq!(run.output, json!({ "text": "hi" }));
    assert_eq!(world.rows(), ["openai/a conformant"]);
    let row = &world.rig.attempts(&run.meta.run_id).await.unwrap()[0];
    assert_eq!(
        (row.id.as_str(), row.attempt),
        (run.meta.inference_id.as_str(), 1)
    );
    assert_eq!((row.ttfb_ms, row.latency_ms), (Some(70), 100));
    assert_eq!((row.tokens_in, row.tokens_out), (Some(100), Some(20)));
    assert_eq!(
        (row.cost, row.pricing_missing),
        (Usd::nanos(140_000), false)
    );
    assert_eq!(row.tags["customer"], "acme");
    assert_eq!((run.meta.cost, run.meta.run_cost), (row.cost, row.cost));
    assert_eq!(
        (run.meta.latency, run.meta.attempts.total()),
        (Duration::from_millis(100), 1)
    );
    assert!(run.meta.validated && run.meta.repaired_by.is_none());
    assert!(world.body(0).contains("Greet Ada") && !world.body(0).contains("no code fence"));
}

#[derive(Clone, Copy)]
struct Index(usize);

impl RouteVariant for Index {
    fn index(self) -> usize {
        self.0
    }
}

// R1, L7: a variant has its own candidates, prompt and repair rung.
#[tokio::test]
async fn a_variant_is_served_by_its_own_plan() {
    let world = World::new(BOTH, [BAD, GOOD].map(Scripted::chat));
    let call = |index| {
        let call = call::<Value, Index>(&ROUTE, json!({ "name": "Ada" }));
        call.variant(Index(index)).on(&world.rig).run()
    };
    let run = call(0).await.unwrap();
    assert_eq!(
        world.rows(),
        ["deepseek/b content_invalid", "deepseek/b conformant"]
    );
    assert_eq!(run.meta.served_variant, Some("cheap"));
    assert_eq!(
        world.store.rows()[0].served_variant.as_deref(),
        Some("cheap")
    );
    assert!(run.meta.pricing_missing && world.body(0).contains("Briefly greet Ada"));
    let unknown = ConfigError::UnknownVariant { route: "greet" };
    assert_eq!(call(1).await, Err(Error::Config(unknown)));
}

// L3, L7, L15: repair by the same model, by the repair model, then the coached retry.
#[tokio::test]
async fn schema_invalid_goes_through_both_repairs_then_a_coached_retry() {
    let world = World::new(BOTH, [BAD, BAD, BAD, GOOD].map(Scripted::chat));
    let run = world.call().run().await.unwrap();
    assert_eq!(
        world.rows(),
        [
            "openai/a content_invalid",
            "openai/a repair content_invalid",
            "deepseek/b repair content_invalid",
            "openai/a conformant",
        ]
    );
    assert_eq!(run.meta.attempts.failed(FailureClass::ContentInvalid), 3);
    assert_eq!(run.meta.run_cost, Usd::nanos(3 * 140_000));
    assert!(world.body(1).contains("Greet Ada") && world.body(1).contains("/text"));
    assert!(!world.body(2).contains("Greet Ada") && world.body(2).contains("invalid_output"));
    assert!(world.body(3).contains("Greet Ada") && world.body(3).contains("no code fence"));
}

// L7, R5: a keyless repair model uses its unit without a row.
#[tokio::test]
async fn a_keyless_repair_model_has_no_row_and_hides_no_failure() {
    let world = World::new(&["openai"], [BAD, BAD, BAD].map(Scripted::chat));
    let error = world.call().await.unwrap_err();
    assert_eq!(world.rows().len(), 3);
    let failure = error.failure().unwrap();
    // L9: the last failure is the second candidate's missing key.
    assert_eq!(
        (failure.class, failure.provider),
        (FailureClass::ConfigAuth, "deepseek")
    );
    assert!(failure.message.contains("DEEPSEEK_API_KEY"));
    assert_eq!(
        failure.history,
        "openai/a content_invalid, openai/a (repair) content_invalid, deepseek/b (repair) has no key, openai/a content_invalid, deepseek/b has no key"
    );
}

// L4, K2, R4, R5
#[tokio::test]
async fn capacity_shed_waits_as_long_as_it_is_asked_to_and_keyless_ladders_do_nothing() {
    let shed = Scripted::status(429, "").header("Retry-After", "90");
    let world = World::new(BOTH, [shed, Scripted::chat(GOOD)]);
    world.call().await.unwrap();
    assert_eq!(
        world.rows(),
        ["openai/a capacity_shed", "openai/a conformant"]
    );
    assert_eq!(world.clock.waits(), [Duration::from_secs(90)]);

    let world = World::new(&[], []);
    let error = world.call().await.unwrap_err();
    assert_eq!(error.class(), Some(FailureClass::ConfigAuth));
    assert_eq!(
        (world.rows().len(), world.transport.requests().len()),
        (0, 0)
    );
}

// K2: more than 240 s is not waited for, and the message says so.
#[tokio::test]
async fn a_wait_that_is_too_long_falls_through_at_once() {
    let shed = || Scripted::status(503, "").header("Retry-After", "241");
    let world = World::new(BOTH, [shed(), shed()]);
    let error = world.call().await.unwrap_err();
    assert_eq!(
        world.rows(),
        ["openai/a capacity_shed", "deepseek/b capacity_shed"]
    );
    assert!(world.clock.waits().is_empty());
    let message = &error.failure().unwrap().message;
    assert!(
        message.ends_with("it asks to wait 241 s, and more than 240 s is not waited for"),
        "{message}"
    );
}

// L12: headers and body, and each candidate has its own.
#[tokio::test]
async fn the_timeout_bounds_headers_and_body_of_each_attempt() {
    let late = Duration::from_millis(5_001);
    let in_time = Duration::from_millis(2_500);
    let world = World::new(
        BOTH,
        [
            Scripted::chat(GOOD)
                .after(in_time)
                .body_after(late - in_time),
            Scripted::chat(GOOD).after(in_time).body_after(in_time),
        ],
    );
    world.call().await.unwrap();
    assert_eq!(world.rows(), ["openai/a timeout", "deepseek/b conformant"]);
    let rows = world.store.rows();
    assert_eq!((rows[0].latency_ms, rows[1].latency_ms), (5_000, 5_000));
    assert_eq!((rows[0].tokens_in, rows[0].ttfb_ms), (None, Some(2_500)));
}

// L14: falls through; the cut text goes nowhere, and the tokens are accounted for (K3).
#[tokio::test]
async fn a_truncated_answer_is_neither_repaired_nor_retried() {
    let cut = || Scripted::status(200, chat_completion(GOOD, "length", 100, 64));
    let world = World::new(BOTH, [cut(), cut()]);
    let error = world.call().await.unwrap_err();
    assert_eq!(
        world.rows(),
        ["openai/a content_invalid", "deepseek/b content_invalid"]
    );
    assert_eq!(world.store.rows()[0].tokens_out, Some(64));
    assert!(
        error
            .failure()
            .unwrap()
            .message
            .contains("`max_output_tokens` (64)")
    );
}

// L11, K6
#[tokio::test]
async fn a_dropped_call_keeps_the_row_of_what_was_dispatched() {
    let world = World::new(BOTH, [Scripted::chat(GOOD).after(Duration::from_secs(1))]);
    {
        let mut call = pin!(world.call().run());
        poll_fn(|cx| {
            assert!(call.as_mut().poll(cx).is_pending());
            Poll::Ready(())
        })
        .await;
        assert_eq!(world.transport.requests().len(), 1);
    }
    assert_eq!(world.rows(), ["openai/a cancelled"]);
    drop(world.call());
    assert_eq!(world.rows().len(), 1);
}

// L13
#[tokio::test]
async fn an_undeclared_candidate_is_never_dispatched() {
    static STRANGER: Candidate = Candidate {
        model: "stranger",
        ..NATIVE
    };
    let world = World::new(BOTH, [Scripted::chat(GOOD)]);
    let input = json!({ "name": "Ada" }).as_object().cloned().unwrap();
    let job = Job {
        waited: std::time::Duration::ZERO,
        route: &ROUTE,
        variant: None,
        input,
        eligible: resolve(&ROUTE, &ROUTE.plan, &Narrowing::default()),
        zero_retention: false,
        tags: BTreeMap::new(),
        traceparent: None,
        deadline: None,
        hold: crate::conform::hold::<Value>,
        listener: None,
        quality: None,
        caches: Vec::new(),
        envelope: None,
    };
    let journal = &mut Journal::new("r".to_owned());
    let ask = Ask {
        candidate: &STRANGER,
        handle: None,
        system: String::new(),
        shared: 0,
        tools: &[],
        searches: false,
        user: "".into(),
        is_repair: false,
    };
    let outcome = attempt::dispatch(world.rig.parts(), &job, journal, &ask, None).await;
    let class = outcome.failure().unwrap().0;
    assert_eq!(class, FailureClass::InvariantViolation);
    let sent = world.transport.requests().len();
    assert_eq!((world.rows().len(), sent), (0, 0));
}

// R4
#[tokio::test]
async fn a_faulty_input_is_a_config_error_before_any_dispatch() {
    let world = World::new(BOTH, []);
    let run = |input| call::<Value, crate::NoVariant>(&ROUTE, input).on(&world.rig);
    let (route, variable) = ("greet", "name");
    let missing = ConfigError::MissingVariable { route, variable };
    assert_eq!(run(json!({})).await, Err(Error::Config(missing)));
    let no_object = ConfigError::Input { route };
    assert_eq!(run(json!([])).await, Err(Error::Config(no_object)));
    assert!(world.rows().is_empty());
}
