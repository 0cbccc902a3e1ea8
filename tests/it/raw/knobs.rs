//! Whatever the guard lets through is in the request, and whatever it does not is sent nowhere.

use rig::__private::{Knob, PROVIDERS, Takes};
use rig::raw::{self, Effort, Provider, Raw};
use rig::testing::Scripted;
use rig::{FailureClass, Tier};
use serde_json::{Value, json};
use tests::{World, block_on, check, messages_reply};

use super::{MODEL, body};

/// Models of families that differ, by provider.
fn models(provider: &str) -> &'static [&'static str] {
    match provider {
        "openai" => &["gpt-4.1", "o3", "gpt-5-mini", "gpt-5.4", "gpt-5-search-api"],
        "anthropic" => &["claude-haiku-4-5", "claude-opus-4-6", "claude-opus-5"],
        "gemini" => &["gemini-2.5-pro", "gemini-3.1-pro-preview"],
        "deepseek" => &["deepseek-chat", "deepseek-reasoner", "deepseek-v4-pro"],
        _ => &["any"],
    }
}

fn set(call: Raw, knob: Knob, effort: Effort) -> Raw {
    let schema = json!({ "type": "object" });
    match knob {
        Knob::Temperature => call.temperature(0.25),
        Knob::TopP => call.top_p(0.75),
        Knob::MaxOutputTokens => call.max_output_tokens(77),
        Knob::Tier => call.tier(Tier::Priority),
        Knob::JsonSchema => call.json_schema("shape", &schema),
        Knob::JsonMode => call.json_mode(),
        Knob::Tools => call.tool("lookup", "Looks up.", &schema),
        Knob::Grounding => call.grounding(),
        Knob::Cache => call.cache(),
        Knob::CacheHandle => call.cache_at("place-1"),
        Knob::Reasoning => call.reasoning(effort),
    }
}

/// Whether a request says what the knob was set to.
fn says(provider: &str, body: &Value, knob: Knob, effort: Effort) -> bool {
    let is = |pointer: &str, value: Value| body.pointer(pointer) == Some(&value);
    let has = |pointer: &str| body.pointer(pointer).is_some();
    match (provider, knob) {
        ("gemini", Knob::Temperature) => is("/generationConfig/temperature", json!(0.25)),
        ("gemini", Knob::TopP) => is("/generationConfig/topP", json!(0.75)),
        ("gemini", Knob::MaxOutputTokens) => is("/generationConfig/maxOutputTokens", json!(77)),
        ("gemini", Knob::JsonSchema) => has("/generationConfig/responseJsonSchema"),
        ("gemini", Knob::JsonMode) => has("/generationConfig/responseMimeType"),
        ("gemini", Knob::Tools) => body["tools"].to_string().contains("lookup"),
        ("gemini", Knob::Grounding) => body["tools"].to_string().contains("googleSearch"),
        ("gemini", Knob::CacheHandle) => is("/cachedContent", json!("place-1")),
        ("gemini", Knob::Reasoning) => is(
            "/generationConfig/thinkingConfig/thinkingLevel",
            json!(effort.name()),
        ),
        ("anthropic", Knob::MaxOutputTokens) => is("/max_tokens", json!(77)),
        ("anthropic", Knob::Tier) => is("/service_tier", json!("auto")),
        ("anthropic", Knob::JsonSchema) => has("/output_config/format/schema"),
        ("anthropic", Knob::Grounding) => body["tools"].to_string().contains("web_search"),
        ("anthropic", Knob::Cache) => body["system"].to_string().contains("cache_control"),
        ("anthropic", Knob::Reasoning) => is("/output_config/effort", json!(effort.name())),
        ("deepseek", Knob::Reasoning) if effort == Effort::None => {
            is("/thinking/type", json!("disabled"))
        }
        (_, Knob::Temperature) => is("/temperature", json!(0.25)),
        (_, Knob::TopP) => is("/top_p", json!(0.75)),
        ("openai", Knob::MaxOutputTokens) => is("/max_completion_tokens", json!(77)),
        (_, Knob::MaxOutputTokens) => is("/max_tokens", json!(77)),
        (_, Knob::Tier) => is("/service_tier", json!("priority")),
        (_, Knob::JsonSchema) => is("/response_format/json_schema/name", json!("shape")),
        (_, Knob::JsonMode) => is("/response_format/type", json!("json_object")),
        (_, Knob::Tools) => body["tools"].to_string().contains("lookup"),
        (_, Knob::Grounding) => has("/web_search_options"),
        (_, Knob::Cache) => has("/prompt_cache_key"),
        (_, Knob::CacheHandle) => is("/prompt_cache_key", json!("place-1")),
        (_, Knob::Reasoning) => is("/reasoning_effort", json!(effort.name())),
    }
}

/// Knobs of which the last one said counts.
fn replaces(one: Knob, other: Knob) -> bool {
    let is = |a, b| (one, other) == (a, b) || (one, other) == (b, a);
    is(Knob::JsonSchema, Knob::JsonMode) || is(Knob::Cache, Knob::CacheHandle)
}

// W1: each pair of knobs, at each model and each level of reasoning.
#[test]
fn a_knob_is_in_the_request_or_nothing_is_sent() {
    let (mut sent, mut refused) = (0, 0);
    for row in PROVIDERS {
        let provider = Provider::named(row.name).unwrap();
        for model in models(row.name) {
            for one in Knob::ALL {
                for other in Knob::ALL.into_iter().filter(|other| !replaces(one, *other)) {
                    for effort in Effort::ALL {
                        let world = World::with_keys(row.name);
                        world.push([Scripted::fault("nobody is there")]);
                        let call = world
                            .rig
                            .raw(provider, *model)
                            .system("Be brief.")
                            .user("go");
                        let call = set(set(call, one, effort), other, effort);
                        let class = block_on(call.run()).unwrap_err().class();
                        let requests = world.transport.requests();
                        let what = format!("{}/{model} {one:?} {other:?} {effort:?}", row.name);
                        assert_eq!(requests.len(), world.store.rows().len(), "{what}");
                        let takes = |knob: Knob| knob.at(row, model) != Takes::No;
                        if let [request] = requests.as_slice() {
                            sent += 1;
                            let body = serde_json::from_slice(&request.body).unwrap();
                            for knob in [one, other] {
                                assert!(takes(knob), "{what}");
                                assert!(says(row.name, &body, knob, effort), "{what}: {body}");
                            }
                        } else {
                            refused += 1;
                            // By itself, at such a model, it is honoured.
                            let is_plain = one == other && one.at(row, model) == Takes::Yes;
                            assert!(!is_plain, "{what}");
                            assert_eq!(class, Some(FailureClass::InvariantViolation), "{what}");
                        }
                    }
                }
            }
        }
    }
    assert!(
        sent > 1_000 && refused > 1_000,
        "{sent} sent, {refused} refused"
    );
}

// W1: values that no provider takes.
#[test]
fn a_value_out_of_range_is_sent_nowhere() {
    let calls: [fn(Raw) -> Raw; 8] = [
        |call| call.temperature(-0.1),
        |call| call.temperature(2.1),
        |call| call.temperature(f64::NAN),
        |call| call.top_p(0.0),
        |call| call.top_p(1.1),
        |call| call.top_p(f64::NAN),
        |call| call.max_output_tokens(0),
        |call| call.tier(Tier::Flex),
    ];
    for set in calls {
        let world = World::with_keys("grok");
        let call = set(world.rig.raw(Provider::GROK, "grok-4").user("go"));
        let class = block_on(call.run()).unwrap_err().class();
        assert_eq!(class, Some(FailureClass::InvariantViolation));
        assert!(world.store.rows().is_empty() && world.transport.requests().is_empty());
    }
    // Anthropic's range ends at 1.
    let world = World::with_keys("anthropic");
    world.push([messages_reply("yes")]);
    let call = |temperature| {
        let call = world
            .rig
            .raw(Provider::ANTHROPIC, "claude-haiku-4-5")
            .user("go");
        block_on(call.temperature(temperature).run())
    };
    assert!(call(1.1).is_err() && call(1.0).is_ok());
}

// W1: what cannot be honoured is sent nowhere, and has no row.
#[test]
fn a_knob_that_is_not_honoured_is_sent_nowhere() {
    check(
        "deepseek",
        [],
        |rig| {
            rig.raw(Provider::DEEPSEEK, "deepseek-chat")
                .user("go")
                .grounding()
                .run()
        },
        r#"
        ! invariant_violation deepseek/deepseek-chat: deepseek/deepseek-chat does not honour `grounding`
        (nothing was sent)
        "#,
    );
    check(
        "anthropic",
        [],
        |rig| {
            raw::anthropic("claude-opus-5")
                .on(rig)
                .user("go")
                .temperature(0.5)
                .run()
        },
        r#"
        ! invariant_violation anthropic/claude-opus-5: anthropic/claude-opus-5 does not honour `temperature`
        (nothing was sent)
        "#,
    );
    check(
        "openai",
        [],
        |rig| raw::openai(MODEL).on(rig).user("go").top_p(0.5).run(),
        r#"
        ! invariant_violation openai/gpt-5.4-mini: openai/gpt-5.4-mini honours `top_p` only with `reasoning` at `none`
        (nothing was sent)
        "#,
    );
    check(
        "gemini",
        [],
        |rig| {
            let call = raw::gemini("gemini-2.5-pro").on(rig).user("go");
            call.grounding().json_mode().run()
        },
        r#"
        ! invariant_violation gemini/gemini-2.5-pro: gemini/gemini-2.5-pro does not take `grounding` and `json_mode` together
        (nothing was sent)
        "#,
    );
    check(
        "anthropic",
        [],
        |rig| {
            raw::anthropic("claude-haiku-4-5")
                .on(rig)
                .user("go")
                .tier(Tier::Flex)
                .run()
        },
        r#"
        ! invariant_violation anthropic/claude-haiku-4-5: anthropic/claude-haiku-4-5 has no tier `flex`
        (nothing was sent)
        "#,
    );
    check(
        "anthropic",
        [],
        |rig| {
            raw::anthropic("claude-haiku-4-5")
                .on(rig)
                .user("go")
                .cache()
                .run()
        },
        r#"
        ! invariant_violation anthropic/claude-haiku-4-5: anthropic/claude-haiku-4-5 has nothing to `cache` without a system prompt
        (nothing was sent)
        "#,
    );
}

// W1: how hard a model thinks, in each dialect.
#[test]
fn reasoning_is_told_in_each_dialect() {
    let sent = |rig: &dyn Fn(&World) -> rig::Result<raw::RawReply>, reply: Scripted| {
        let world = World::with_keys("openai anthropic gemini deepseek");
        world.push([reply]);
        rig(&world).unwrap();
        body(&world.transport.requests()[0])
    };
    let openai = sent(
        &|world| {
            let call = raw::openai("gpt-5.4").on(&world.rig).user("go");
            block_on(call.reasoning(Effort::None).temperature(0.5).into_future())
        },
        Scripted::chat("yes"),
    );
    assert_eq!(
        (&openai["reasoning_effort"], &openai["temperature"]),
        (&json!("none"), &json!(0.5))
    );
    let deepseek = |effort| {
        let call = move |world: &World| {
            let call = raw::deepseek("deepseek-v4-pro").on(&world.rig).user("go");
            block_on(call.reasoning(effort).into_future())
        };
        sent(&call, Scripted::chat("yes"))
    };
    assert_eq!(
        deepseek(Effort::None)["thinking"],
        json!({ "type": "disabled" })
    );
    assert_eq!(deepseek(Effort::Max)["reasoning_effort"], "max");
    let schema = json!({ "type": "object", "additionalProperties": false });
    let anthropic = sent(
        &|world| {
            let call = raw::anthropic("claude-opus-5").on(&world.rig).user("go");
            let call = call.reasoning(Effort::XHigh).json_schema("answer", &schema);
            block_on(call.into_future())
        },
        messages_reply("{}"),
    );
    assert_eq!(
        anthropic["output_config"],
        json!({ "effort": "xhigh", "format": { "type": "json_schema", "schema": schema } })
    );
    let reply = json!({ "candidates": [{
        "content": { "parts": [{ "text": "yes" }] }, "finishReason": "STOP",
    }] });
    let gemini = sent(
        &|world| {
            let call = raw::gemini("gemini-3.1-pro-preview")
                .on(&world.rig)
                .user("go");
            block_on(call.reasoning(Effort::Low).into_future())
        },
        Scripted::status(200, reply.to_string()),
    );
    assert_eq!(
        gemini["generationConfig"],
        json!({ "thinkingConfig": { "thinkingLevel": "low" } })
    );
}
