//! What does a direct call do?

mod knobs;

use std::pin::pin;
use std::task::{Context, Waker};
use std::time::Duration;

use rig::FailureClass;
use rig::raw::{self, Provider};
use rig::store::RowFailure;
use rig::testing::{Scripted, chat_delta, chat_end};
use serde_json::{Value, json};
use tests::{World, block_on, check, check_stream};

use crate::{fault, shed};

const MODEL: &str = "gpt-5.4-mini";

fn body(request: &rig::transport::Request) -> Value {
    serde_json::from_slice(&request.body).unwrap()
}

// W1: one row; no gate looks at the answer, and no repair follows.
#[test]
fn an_answer_comes_as_it_is() {
    let seen = check(
        "openai",
        [Scripted::chat("{\"verdict\":")],
        |rig| {
            raw::openai(MODEL)
                .on(rig)
                .system("Be brief.")
                .user("Is it so?")
                .json_mode()
                .tag("customer", "acme")
                .run()
        },
        r#"
        1 openai/gpt-5.4-mini conformant raw 100+20 $0.000165 customer=acme
        = {"text":"{\"verdict\":","tool_calls":[],"truncated":false}
        "#,
    );
    assert_eq!(
        body(seen.request(1)),
        json!({
            "model": MODEL,
            "messages": [
                { "role": "system", "content": "Be brief." },
                { "role": "user", "content": "Is it so?" },
            ],
            "response_format": { "type": "json_object" },
        })
    );
    let meta = &seen.run().meta;
    assert!(!meta.validated);
    assert_eq!(
        (meta.cost, meta.run_cost),
        (seen.rows[0].cost, seen.rows[0].cost)
    );
    assert_eq!((meta.route, meta.route_version), ("", 0));
}

// W1: a failure is one row as well, and nobody asks again or somebody else.
#[test]
fn a_failure_is_one_row() {
    let seen = check(
        "openai",
        [shed()],
        |rig| rig.raw(Provider::OPENAI, MODEL).user("go").run(),
        r#"
        1 openai/gpt-5.4-mini capacity_shed raw $0.00
        ! capacity_shed openai/gpt-5.4-mini: slow down
        (openai/gpt-5.4-mini capacity_shed)
        "#,
    );
    let text = seen.error().to_string();
    assert!(
        text.starts_with("a raw call failed with capacity_shed at openai/"),
        "{text}"
    );
    for (reply, class) in [
        (
            fault(401, "invalid_api_key", "no"),
            FailureClass::ConfigAuth,
        ),
        (Scripted::fault("connection refused"), FailureClass::Network),
        (Scripted::chat(" "), FailureClass::ContentInvalid),
    ] {
        let world = World::with_keys("openai");
        world.push([reply]);
        let call = raw::openai(MODEL).on(&world.rig).user("go");
        assert_eq!(block_on(call.run()).unwrap_err().class(), Some(class));
        let rows = world.store.rows();
        assert_eq!(rows.len(), 1);
        assert_eq!(rows[0].failure, Some(RowFailure::Class(class)));
        assert_eq!(rows[0].lane, "raw");
    }
}

// W1, R5: the key is the call's own, else the rig's; without a usable one nothing is sent.
#[test]
fn the_key_is_the_callers() {
    let call = |keys: &str, key: Option<&str>| {
        let world = World::with_keys(keys);
        world.push([Scripted::chat("yes")]);
        let call = raw::openai(MODEL).on(&world.rig).user("go");
        let call = match key {
            Some(key) => call.key(key),
            None => call,
        };
        let end = block_on(call.run());
        let sent = world.transport.requests();
        assert_eq!(sent.len(), world.store.rows().len());
        let sent = sent.iter().flat_map(|request| request.headers.clone());
        let sent = sent.filter(|(name, _)| *name == "authorization");
        let sent: Vec<_> = sent.map(|(_, value)| value).collect();
        (end.map_err(|error| error.failure().cloned().unwrap()), sent)
    };
    assert_eq!(
        call("openai", None).1,
        [format!("Bearer {}-openai", tests::KEY_MARKER)]
    );
    assert_eq!(call("openai", Some(" sk-own\n")).1, ["Bearer sk-own"]);
    assert_eq!(call("", Some("sk-own")).1, ["Bearer sk-own"]);
    for (key, message) in [
        (
            None,
            "no key for `openai`: `OPENAI_API_KEY` is not set or empty",
        ),
        (
            Some("sk-\u{7}own"),
            "the key given for `openai` holds characters that no HTTP header can carry",
        ),
    ] {
        let (end, sent) = call("", key);
        let failure = end.unwrap_err();
        assert_eq!(failure.class, FailureClass::ConfigAuth);
        assert_eq!((failure.message.as_str(), sent.len()), (message, 0));
    }
}

// W1, L12
#[test]
fn the_timeout_is_the_calls() {
    check(
        "openai",
        [Scripted::chat("yes").after(Duration::from_secs(3))],
        |rig| {
            let call = raw::openai(MODEL).on(rig).user("go");
            call.timeout(Duration::from_millis(1_500)).run()
        },
        r#"
        1 openai/gpt-5.4-mini timeout raw $0.00 -/1500 ms
        waits 1.5s
        ! timeout openai/gpt-5.4-mini: no complete answer within 1500 ms
        (openai/gpt-5.4-mini timeout)
        "#,
    );
}

// W1: tools as the caller has them, and their calls as the model wrote them; what was cut says so.
#[test]
fn tool_calls_and_cuts_are_told() {
    let call = json!({ "id": "c1", "function": { "name": "other", "arguments": "{\"id\":" } });
    let reply = json!({ "choices": [{
        "message": { "content": null, "tool_calls": [call] },
        "finish_reason": "tool_calls",
    }] });
    let parameters = json!({ "type": "object", "properties": { "id": { "type": "integer" } } });
    let seen = check(
        "deepseek",
        [Scripted::status(200, reply.to_string())],
        |rig| {
            let call = raw::deepseek("unlisted").on(rig).user("go");
            call.tool("lookup", "Looks up.", &parameters).run()
        },
        r#"
        1 deepseek/unlisted conformant raw
        = {"text":"","tool_calls":[{"id":"c1","name":"other","arguments":"{\"id\":"}],"truncated":false}
        "#,
    );
    assert_eq!(
        body(seen.request(1))["tools"],
        json!([{ "type": "function", "function": {
            "name": "lookup", "description": "Looks up.", "parameters": parameters,
        } }])
    );
    assert!(seen.run().meta.pricing_missing);
    let cut = rig::testing::chat_completion("Once upon", "length", 100, 20);
    check(
        "deepseek",
        [Scripted::status(200, cut)],
        |rig| raw::deepseek("unlisted").on(rig).user("go").run(),
        r#"
        1 deepseek/unlisted conformant raw 100+20
        = {"text":"Once upon","tool_calls":[],"truncated":true}
        "#,
    );
}

// W1, W3: search and a cache of the caller's, in the provider's own form.
#[test]
fn a_search_cites() {
    let reply = json!({
        "candidates": [{
            "content": { "parts": [{ "text": "The bakery." }] },
            "finishReason": "STOP",
            "groundingMetadata": { "groundingChunks": [
                { "web": { "uri": "https://news.test/1", "title": "News" } },
            ] },
        }],
        "usageMetadata": { "promptTokenCount": 10, "candidatesTokenCount": 3 },
    });
    let seen = check(
        "gemini",
        [Scripted::status(200, reply.to_string())],
        |rig| {
            raw::gemini("unlisted")
                .on(rig)
                .user("Who won?")
                .grounding()
                .run()
        },
        r#"
        1 gemini/unlisted conformant raw 10+3
        = {"text":"The bakery.","tool_calls":[],"truncated":false}
        "#,
    );
    assert_eq!(
        body(seen.request(1))["tools"],
        json!([{ "googleSearch": {} }])
    );
    let [citation] = seen.run().meta.citations.as_slice() else {
        panic!("one citation")
    };
    assert_eq!(
        (&*citation.title, &*citation.url),
        ("News", "https://news.test/1")
    );
}

// W1, W2: a stream tells the same of the same call.
#[test]
fn a_stream_has_the_same_row_and_reply() {
    let events = [
        chat_delta("It is "),
        chat_delta("so."),
        chat_end("stop", 100, 20),
    ];
    let seen = check_stream(
        "openai",
        [Scripted::status(200, events.concat())],
        |rig| raw::openai(MODEL).on(rig).user("go").stream(),
        "
        started 1 openai/gpt-5.4-mini
        1: It is so.
        ",
        r#"
        1 openai/gpt-5.4-mini conformant raw 100+20 $0.000165
        = {"text":"It is so.","tool_calls":[],"truncated":false}
        "#,
    );
    assert_eq!(body(seen.request(1))["stream"], json!(true));
    check_stream(
        "openai",
        [shed()],
        |rig| raw::openai(MODEL).on(rig).user("go").stream(),
        "
        started 1 openai/gpt-5.4-mini
        discarded 1 capacity_shed
        ",
        r#"
        1 openai/gpt-5.4-mini capacity_shed raw $0.00
        ! capacity_shed openai/gpt-5.4-mini: slow down
        (openai/gpt-5.4-mini capacity_shed)
        "#,
    );
}

// W1, L11, K6: dropped while the answer is on its way, whole or streamed.
#[test]
fn a_call_that_is_dropped_has_its_row() {
    let mut ctx = Context::from_waker(Waker::noop());
    for streams in [false, true] {
        let world = World::with_keys("openai");
        world.push([Scripted::chat("yes").after(Duration::from_secs(3))]);
        let call = raw::openai(MODEL).on(&world.rig).user("go");
        if streams {
            let mut events = call.stream();
            assert!(
                pin!(events.next()).poll(&mut ctx).is_ready(),
                "it has started"
            );
            assert!(pin!(events.next()).poll(&mut ctx).is_pending());
        } else {
            assert!(pin!(call.run()).poll(&mut ctx).is_pending());
        }
        let rows = world.store.rows();
        let [row] = rows.as_slice() else {
            panic!("{rows:?}")
        };
        assert_eq!(row.failure, Some(RowFailure::Cancelled));
        assert_eq!((&*row.lane, row.tokens_in, row.attempt), ("raw", None, 1));
        assert_eq!(world.transport.requests().len(), 1);
    }
}

// W1: a name that would change the path of the URL, cut it or end it is refused before the key leaves.
#[test]
fn a_model_name_cannot_leave_its_place_in_the_url() {
    let world = World::with_keys("gemini");
    for name in [
        "../../evil",
        "x#",
        "x?alt=sse",
        "models/../x",
        "models/",
        "models/..",
        "tunedModels/a/b",
        "a/b",
        "x:countTokens",
        "%2e%2e",
        "x y",
        "",
        "..",
    ] {
        let call = raw::gemini(name).on(&world.rig).user("go");
        let error = block_on(call.run()).unwrap_err();
        assert_eq!(
            error.class(),
            Some(FailureClass::InvariantViolation),
            "{name}"
        );
        assert!(
            error.to_string().contains("is not the name of a model"),
            "{error}"
        );
    }
    assert_eq!(world.transport.requests().len(), 0);
    assert_eq!(world.store.rows().len(), 0);
    for name in [
        "gemini-3.1-pro",
        "models/gemini-3.1-pro",
        "tunedModels/our-own-1",
    ] {
        world.push([fault(404, "", "no such model")]);
        let call = raw::gemini(name).on(&world.rig).user("go");
        block_on(call.run()).unwrap_err();
    }
    let paths: Vec<_> = world.transport.requests();
    let paths: Vec<_> = paths
        .iter()
        .map(|request| request.url.split("/v1beta/").nth(1).unwrap())
        .collect();
    assert_eq!(
        paths,
        [
            "models/gemini-3.1-pro:generateContent",
            "models/gemini-3.1-pro:generateContent",
            "tunedModels/our-own-1:generateContent",
        ]
    );
}

// Keys, prompts and outputs are in no `Debug` form.
#[test]
fn nothing_of_a_call_is_shown() {
    let world = World::with_keys("openai");
    world.push([Scripted::chat("walrus")]);
    let call = raw::openai(MODEL)
        .on(&world.rig)
        .key("sk-walrus")
        .user("walrus");
    let asked = format!("{call:?}");
    assert_eq!(asked, "Raw(openai/gpt-5.4-mini)");
    let run = block_on(call.run()).unwrap();
    assert_eq!(run.output.text, "walrus");
    assert!(!format!("{run:?}{:?}", world.store.rows()).contains("walrus"));
}
