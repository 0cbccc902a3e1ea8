//! What are the web searches charged that a provider runs itself?

use std::time::Duration;

use rig::__private::{ANTHROPIC, Answer, Dialect, GEMINI, GROK, OPENAI, RouteVariant};
use rig::testing::Scripted;
use rig::{Call, Usd, raw};
use serde_json::{Value, json};
use tests::routes::{GroundedInput, RelayedInput, grounded, relayed};
use tests::{World, block_on, events_of, listen};

use super::spent;
use crate::{GOOD, QUESTION, good};

/// A message that searched so often, by its usage.
fn searched_messages(searches: u64) -> Value {
    json!({
        "type": "message",
        "content": [{ "type": "text", "text": GOOD }],
        "stop_reason": "end_turn",
        "usage": {
            "input_tokens": 100,
            "output_tokens": 20,
            "server_tool_use": { "web_search_requests": searches },
        },
    })
}

/// A response that searched so often, and opened a page.
fn searched_response(searches: u64) -> Value {
    let call = |action: &str| json!({ "type": "web_search_call", "action": { "type": action } });
    let mut output = vec![call("search"); searches as usize];
    output.push(call("open_page"));
    let part = json!({ "type": "output_text", "text": GOOD });
    output.push(json!({ "type": "message", "content": [part] }));
    let usage = json!({ "input_tokens": 100, "output_tokens": 20 });
    json!({ "status": "completed", "output": output, "usage": usage })
}

/// An answer of Gemini that searched for these.
fn searched_gemini(queries: &[&str]) -> Value {
    json!({
        "candidates": [{
            "content": { "parts": [{ "text": GOOD }] },
            "finishReason": "STOP",
            "groundingMetadata": { "webSearchQueries": queries },
        }],
        "usageMetadata": { "promptTokenCount": 100, "candidatesTokenCount": 20 },
    })
}

/// What 100 tokens in and 20 out cost at the hosts that search.
const TOKENS: Usd = Usd::nanos(140_000);

fn cents(cents: u64) -> Usd {
    Usd::nanos(cents * 10_000_000)
}

/// Returns a reply whole, and as a stream of these events.
fn both_ways(whole: &Value, events: &[String]) -> [(Scripted, bool); 2] {
    let stream = Scripted::stream().piece(Duration::ZERO, events.concat());
    [
        (Scripted::status(200, whole.to_string()), false),
        (stream, true),
    ]
}

// E5: a search that a provider runs is bounded in the request, counted, and charged beside the tokens.
#[test]
fn a_providers_own_searches_are_bounded_counted_and_charged() {
    let question = || QUESTION.to_owned();
    for searches in [0, 1, 5] {
        let message = searched_messages(searches);
        for (reply, is_streamed) in both_ways(&message, &events_of(&message.to_string())) {
            let world = World::with_keys("sage");
            world.push([reply]);
            let input = GroundedInput {
                question: question(),
            };
            assert_charged(&world, grounded(input), is_streamed, searches);
            assert_eq!(asked(&world)["tools"][0]["max_uses"], 5);
        }
        let response = searched_response(searches);
        let event = json!({ "type": "response.completed", "response": response });
        for (reply, is_streamed) in both_ways(&response, &[format!("data: {event}\n\n")]) {
            let world = World::with_keys("relay");
            world.push([reply]);
            let input = RelayedInput {
                question: question(),
            };
            assert_charged(&world, relayed(input), is_streamed, searches);
            assert_eq!(asked(&world)["max_tool_calls"], 5);
        }
    }
}

fn assert_charged<T: Answer, V: RouteVariant>(
    world: &World,
    call: Call<T, V>,
    is_streamed: bool,
    searches: u64,
) {
    let call = call.envelope("e", None).on(&world.rig);
    let meta = match is_streamed {
        false => block_on(call.run()).unwrap().meta,
        true => block_on(listen(call.stream(), |_| ())).unwrap().meta,
    };
    let row = &world.store.rows()[0];
    assert_eq!(
        (meta.searches, row.searches),
        (Some(searches), Some(searches))
    );
    assert_eq!((meta.cost, row.cost), (TOKENS + cents(searches), meta.cost));
    assert_eq!(spent(world, "e"), meta.cost);
}

fn asked(world: &World) -> Value {
    serde_json::from_slice(&world.transport.requests()[0].body).unwrap()
}

// E5: the chat dialect counts no searches, but charges each request of a model that searches.
#[test]
fn a_search_that_nobody_counts_is_charged_once() {
    let world = World::with_keys("scout");
    world.push([good()]);
    let input = GroundedInput {
        question: QUESTION.to_owned(),
    };
    let call = grounded(input).envelope("e", None).on(&world.rig).run();
    let meta = block_on(call).unwrap().meta;
    let fee = Usd::nanos(25_000_000);
    assert_eq!((meta.searches, meta.cost), (Some(1), TOKENS + fee));
    assert_eq!(spent(&world, "e"), meta.cost);
}

// E5: Gemini charges each query, and before its third generation each request with any.
#[test]
fn a_search_of_gemini_costs_by_its_generation() {
    for (model, queries, fee) in [
        ("gemini-2.5-flash", &[][..], 0),
        ("gemini-2.5-flash", &["a", "b", "a", ""], 35_000_000),
        ("gemini-3-flash-preview", &["a", "b", "a", ""], 28_000_000),
    ] {
        let body = searched_gemini(queries);
        let cost = |reply: Scripted, searches: bool, is_streamed: bool| {
            let world = World::with_keys("gemini");
            world.push([reply]);
            let call = raw::gemini(model).on(&world.rig).user("q");
            let call = if searches { call.grounding() } else { call };
            let run = match is_streamed {
                false => block_on(call.run()),
                true => block_on(listen(call.stream(), |_| ())),
            };
            run.unwrap().meta.cost
        };
        let event = format!("data: {body}\n\n");
        // The pieces of a stream may repeat what was searched for.
        for (reply, is_streamed) in both_ways(&body, &[event.clone(), event]) {
            let without = cost(reply.clone(), false, is_streamed);
            let fees = cost(reply, true, is_streamed).as_nanos() - without.as_nanos();
            assert_eq!(fees, fee, "{model} {is_streamed}");
        }
    }
}

// E5: what the searches may cost is reserved, so that no cap is passed.
#[test]
fn a_reservation_covers_the_searches_that_a_request_allows() {
    let input = || GroundedInput {
        question: QUESTION.to_owned(),
    };
    // The largest context window that there is, and as large an output, at 1 and 2 USD per million tokens.
    let reserved = Usd::dollars(6) + cents(5);
    for (cap, is_served) in [
        (reserved.as_nanos() - 1, false),
        (reserved.as_nanos(), true),
    ] {
        let world = World::with_keys("sage");
        world.push([Scripted::status(200, searched_messages(5).to_string())]);
        let call = grounded(input()).envelope("e", Usd::nanos(cap));
        let result = block_on(call.on(&world.rig).run());
        assert_eq!(result.is_ok(), is_served);
    }
}

// E5: the page for users states the fees that the runtime charges.
#[test]
fn the_fees_in_the_docs_are_those_that_are_charged() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/envelopes.md");
    let page = std::fs::read_to_string(page).unwrap();
    let responses = Dialect::OpenAiResponses;
    for (dialect, fee) in [
        ("openai", OPENAI.search_fee("gpt-4o-search-preview")),
        ("openai", OPENAI.search_fee("gpt-5-search-api")),
        ("openai", GROK.search_fee("grok-4")),
        ("openai_responses", responses.search_fee("gpt-5.4")),
        ("anthropic", ANTHROPIC.search_fee("claude-haiku-4-5")),
        ("gemini", GEMINI.search_fee("models/gemini-2.5-flash")),
        ("gemini", GEMINI.search_fee("gemini-3-flash-preview")),
    ] {
        let line = page
            .lines()
            .find(|line| line.starts_with(&format!("| `{dialect}` |")));
        let of = if fee.is_per_search { "" } else { " a request" };
        let of = if fee.models == "gpt-5" {
            " for `gpt-5"
        } else {
            of
        };
        let stated = format!("{}{of}", fee.fee);
        assert!(line.unwrap().contains(&stated), "{dialect}: {stated}");
    }
}
