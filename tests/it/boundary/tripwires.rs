//! What would change if the system did more?

use std::fs;
use std::path::Path;
use std::time::Duration;

use rig::__private::{
    Cache, Candidate, Capabilities, Dialect, Enforcement, GEMINI, Limits, PROVIDERS, Plan, Route,
    Segment, Template, call,
};
use rig::testing::{Scripted, chat_delta, chat_end};
use rig::{Call, Event, NoVariant, Tier, Turn};
use rig_build::compile_dir;
use serde_json::{Value, json};
use tests::routes::fc_base::{self, FcBase};
use tests::routes::{TooledInput, ladder, messages, tooled};
use tests::{World, block_on};

use crate::{BAD, BOTH, GOOD, QUESTION, bad, good, messages_input, question, shed};

/// Returns the bodies of the requests so far.
fn bodies(world: &World) -> Vec<Value> {
    let requests = world.transport.requests();
    let bodies = requests.iter();
    bodies
        .map(|request| serde_json::from_slice(&request.body).unwrap())
        .collect()
}

/// Returns the module of a route with these lines, and whether it compiles.
fn compiled(lines: &str) -> Option<String> {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("p.md"), "{{x}}").unwrap();
    let text = format!(
        "route: r\nversion: 1\nschema: null\ncandidates:\n  - {{ provider: openai, model: gpt-5.4-mini }}\n  - {{ provider: gemini, model: gemini-3.1-flash-lite }}\n{lines}\n"
    );
    fs::write(folder.path().join("r.yaml"), text).unwrap();
    compile_dir(folder.path(), "routes").routes.remove(0).module
}

pub(super) fn tools_are_not_run() {
    let world = World::with_keys("north");
    let function = json!({ "name": "lookup", "arguments": r#"{"case": 7}"# });
    let message = json!({
        "tool_calls": [{ "id": "c1", "type": "function", "function": function }],
    });
    let body = json!({ "choices": [{ "message": message, "finish_reason": "tool_calls" }] });
    world.push([Scripted::status(200, body.to_string())]);
    let input = TooledInput {
        question: QUESTION.to_owned(),
    };
    let turn = block_on(async { tooled(input).on(&world.rig).await }).unwrap();
    assert!(matches!(turn, Turn::ToolCalls(_)));
    assert_eq!(world.transport.requests().len(), 1);
}

pub(super) fn a_request_has_one_turn() {
    let world = World::with_keys(BOTH);
    world.push([good()]);
    block_on(ladder(question()).on(&world.rig).run()).unwrap();
    let turns = bodies(&world)[0]["messages"].as_array().unwrap().clone();
    let roles: Vec<_> = turns.iter().map(|turn| &turn["role"]).collect();
    assert!(
        roles
            .iter()
            .all(|role| *role == "system" || *role == "user")
    );
    assert!(roles.len() <= 2, "{roles:?}");
}

pub(super) fn variables_are_text() {
    let prompt = |kind: &str| format!("prompt:\n  system: ./p.md\n  variables: {{ x: {kind} }}");
    assert!(compiled(&prompt("string")).is_some());
    for kind in ["image", "audio", "file", "bytes", "pdf"] {
        assert!(compiled(&prompt(kind)).is_none(), "{kind}");
    }
}

pub(super) fn dialects_answer_with_text() {
    for provider in PROVIDERS {
        // Another dialect does not compile here.
        match provider.dialect {
            Dialect::OpenAiChat
            | Dialect::OpenAiResponses
            | Dialect::AnthropicMessages
            | Dialect::Gemini => {}
        }
    }
}

pub(super) fn tiers_are_three() {
    // Another tier does not compile here.
    let name = |tier: Tier| match tier {
        Tier::Standard | Tier::Flex | Tier::Priority => tier.name(),
    };
    assert_eq!(name(Tier::Flex), "flex");
}

pub(super) fn providers_take_keys() {
    let names: Vec<_> = PROVIDERS.iter().map(|provider| provider.name).collect();
    let expected = [
        "openai",
        "anthropic",
        "gemini",
        "deepseek",
        "grok",
        "deepinfra",
        "fireworks",
    ];
    assert_eq!(names, expected);
    for provider in PROVIDERS {
        assert!(
            provider
                .key_env
                .is_some_and(|name| name.ends_with("_API_KEY"))
        );
    }
}

pub(super) fn streams_tell_text() {
    let world = World::with_keys(BOTH);
    let (start, end) = GOOD.split_at(10);
    let pieces = [
        chat_delta(start),
        chat_delta(end),
        chat_end("stop", 100, 20),
    ];
    let stream = pieces
        .into_iter()
        .fold(Scripted::stream(), |stream, piece| {
            stream.piece(Duration::ZERO, piece)
        });
    world.push([stream]);
    let heard = block_on(async {
        let mut events = ladder(question()).on(&world.rig).stream();
        let mut heard = Vec::new();
        while let Some(event) = events.next().await {
            heard.push(match event.unwrap() {
                Event::Started { .. } => "started",
                Event::Delta { .. } => "delta",
                Event::Done(_) => "done",
                _ => "something else",
            });
        }
        heard
    });
    assert_eq!(heard, ["started", "delta", "delta", "done"]);
}

pub(super) fn paused_turns_fail() {
    let world = World::with_keys("anthropic");
    let body = json!({
        "content": [{ "type": "text", "text": GOOD }],
        "stop_reason": "pause_turn",
    });
    world.push([Scripted::status(200, body.to_string())]);
    assert!(block_on(messages(messages_input()).on(&world.rig).run()).is_err());
    let rows = world.store.rows();
    assert_eq!(rows[0].failure.unwrap().name(), "content_invalid");
    let roles = |body: Value| body["messages"][0]["role"].clone();
    assert!(bodies(&world).into_iter().all(|body| roles(body) == "user"));
}

static OF_GEMINI: [Candidate; 1] = [Candidate {
    provider: &GEMINI,
    model: "gemini-3.1-flash-lite",
    capabilities: Capabilities::of(&[]),
    enforcement: Enforcement::JsonMode,
    price: None,
    limits: Limits::UNKNOWN,
}];

pub(super) fn gemini_is_told_of_no_cache() {
    let route = Route {
        name: "case",
        schema: fc_base::ROUTE.schema,
        plan: Plan {
            candidates: &OF_GEMINI,
            prompt: Template {
                segments: &[Segment::Variable("q")],
            },
            repair: None,
        },
        cache: Cache::Auto,
        ..Route::BLANK
    };
    let world = World::with_keys("gemini");
    world.push([Scripted::status(500, "{}")]);
    let call = call::<FcBase, NoVariant>(Box::leak(Box::new(route)), json!({ "q": "x" }));
    let _ = block_on(call.on(&world.rig).run());
    let bodies = bodies(&world);
    assert!(bodies[0]["contents"].is_array());
    assert_eq!(bodies[0].get("cachedContent"), None);
}

pub(super) fn latency_is_no_preference() {
    let prompt = "prompt: { system: ./p.md, variables: [x] }";
    let module = |prefer: &str| compiled(&format!("{prompt}\n{prefer}")).unwrap();
    assert_eq!(module("prefer: [latency]"), module(""));
    assert_ne!(module("prefer: [cost]"), module(""));
}

/// Returns who was asked first in a run after runs that were answered so.
fn first_after(script: impl IntoIterator<Item = Scripted>, runs: usize) -> String {
    let world = World::with_keys(BOTH);
    world.push(script);
    for _ in 0..runs {
        let _ = block_on(ladder(question()).on(&world.rig).run());
    }
    world.push([good()]);
    block_on(ladder(question()).on(&world.rig).run()).unwrap();
    let rows = world.store.rows();
    let last = rows.last().unwrap();
    assert_eq!(last.attempt, 1);
    last.provider.to_string()
}

pub(super) fn slow_candidates_keep_their_place() {
    let slow = || good().after(Duration::from_secs(9));
    assert_eq!(first_after([slow(), slow(), slow()], 3), "north");
}

pub(super) fn failing_candidates_keep_their_place() {
    let outage = || [shed(), shed(), shed(), good()];
    let script = (0..3).flat_map(|_| outage());
    assert_eq!(first_after(script, 3), "north");
}

pub(super) fn formats_are_annotations() {
    let gate = |schema: Value| rig_build::compile_schema(&schema.to_string(), &[]).unwrap();
    assert_eq!(
        gate(json!({ "type": "string", "format": "date" })),
        gate(json!({ "type": "string" }))
    );
}

pub(super) fn it_is_a_library() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    for package in ["rig", "rig-spec", "rig-build", "rig-macros", "rig-runtime"] {
        let package = root.join(package);
        let manifest = fs::read_to_string(package.join("Cargo.toml")).unwrap();
        assert!(!manifest.contains("[[bin]]"));
        assert!(!package.join("src/main.rs").exists() && !package.join("src/bin").exists());
    }
}

pub(super) fn answers_are_not_kept() {
    let world = World::with_keys(BOTH);
    world.push([good(), good()]);
    for _ in 0..2 {
        block_on(ladder(question()).on(&world.rig).run()).unwrap();
    }
    let requests = world.transport.requests();
    assert_eq!(requests.len(), 2);
    assert_eq!(requests[0].body, requests[1].body);
}

pub(super) fn one_request_is_one_row() {
    let world = World::with_keys(BOTH);
    world.push([shed(), bad(), good()]);
    block_on(ladder(question()).on(&world.rig).run()).unwrap();
    assert_eq!(world.transport.requests().len(), 3);
    assert_eq!(world.store.rows().len(), 3);
}

pub(super) fn options_only_narrow() {
    let world = World::with_keys("north south vault open");
    // One is declared as a trial, the other not at all.
    for provider in ["open", "vault"] {
        let call = ladder(question()).providers_only([provider]);
        assert!(block_on(call.on(&world.rig).run()).is_err());
    }
    assert!(world.transport.requests().is_empty());
}

pub(super) fn routes_are_constants() {
    let _: &'static Route = &ladder::ROUTE;
    let _: fn(&'static Route, Value) -> Call<FcBase, NoVariant> = call::<FcBase, NoVariant>;
}

pub(super) fn bad_answers_reach_nobody() {
    let world = World::with_keys("south");
    world.push([bad(), bad()]);
    let error = block_on(ladder(question()).on(&world.rig).run()).unwrap_err();
    let value: Value = serde_json::from_str(BAD).unwrap();
    let word = value["verdict"].as_str().unwrap();
    assert!(!format!("{error} {error:?}").contains(word));
}
