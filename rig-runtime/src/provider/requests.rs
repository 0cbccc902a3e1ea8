//! Do requests have the shape that each dialect wants?

mod gemini;
mod openai_responses;
mod tools;

use rig_spec::{
    ANTHROPIC, Candidate, DEEPINFRA, DEEPSEEK, Enforcement, FIREWORKS, GROK, Limits, Lowered,
    OPENAI, Policy, Provider, Sampling, Schema, Tier,
};
use serde_json::{Value, json};

use super::{Form, Offer, Prompt, encode};
use crate::key::Key;
use crate::prefix::Prefix;
use crate::transport::Request;

const SCHEMA: Schema = Schema {
    name: "summary",
    json: r#"{"type":"object","properties":{"z":{"type":"string"},"a":{"type":"integer"}}}"#,
    skeleton: r#"{"z":"…","a":0}"#,
    gate: "",
    hash: 0,
};

const AS_WRITTEN: Enforcement = Enforcement::Native(&Lowered::AS_WRITTEN);

const SAMPLING: Sampling = Sampling {
    temperature: Some(1.5),
    top_p: Some(0.9),
    max_output_tokens: Some(512),
};

fn request(
    provider: &'static Provider,
    enforcement: Enforcement,
    sampling: Sampling,
    tier: Option<Tier>,
) -> Request {
    let candidate = Candidate {
        provider,
        model: "m-1",
        capabilities: provider.capabilities,
        enforcement,
        price: None,
        limits: Limits::UNKNOWN,
    };
    let policy = Policy {
        tier,
        sampling,
        ..Policy::BLANK
    };
    encode(&Prompt {
        provider: candidate.provider,
        model: candidate.model,
        base_url: provider.base_url,
        key: Key::new("k-1").as_ref(),
        system: "be \"brief\"",
        user: "go",
        form: Form::of(candidate.enforcement, Some(&SCHEMA)),
        tools: &[],
        searches: false,
        prefix: None,
        policy: &policy,
        effort: None,
        streams: false,
    })
}

fn body(request: &Request) -> Value {
    serde_json::from_slice(&request.body).unwrap()
}

fn messages() -> Value {
    json!([{ "role": "system", "content": "be \"brief\"" }, { "role": "user", "content": "go" }])
}

#[test]
fn a_chat_request_carries_everything_the_route_declares() {
    let request = request(&OPENAI, AS_WRITTEN, SAMPLING, Some(Tier::Flex));
    assert_eq!(request.url, "https://api.openai.com/v1/chat/completions");
    assert_eq!(
        request.headers,
        [
            ("content-type", "application/json".to_owned()),
            ("accept", "application/json".to_owned()),
            ("authorization", "Bearer k-1".to_owned()),
        ]
    );
    let schema: Value = serde_json::from_str(SCHEMA.json).unwrap();
    assert_eq!(
        body(&request),
        json!({
            "model": "m-1",
            "messages": messages(),
            "temperature": 1.5,
            "top_p": 0.9,
            "max_completion_tokens": 512,
            "response_format": {
                "type": "json_schema",
                "json_schema": { "name": "summary", "strict": true, "schema": schema },
            },
            "service_tier": "flex",
        })
    );
}

#[test]
fn a_chat_request_says_nothing_that_the_route_does_not() {
    let request = request(&DEEPSEEK, Enforcement::Coached, Sampling::BLANK, None);
    assert_eq!(request.url, "https://api.deepseek.com/chat/completions");
    assert_eq!(
        body(&request),
        json!({ "model": "m-1", "messages": messages() })
    );
}

#[test]
fn an_anthropic_request_carries_everything_the_route_declares() {
    let request = request(&ANTHROPIC, AS_WRITTEN, SAMPLING, Some(Tier::Standard));
    assert_eq!(request.url, "https://api.anthropic.com/v1/messages");
    assert_eq!(
        request.headers[2..],
        [
            ("anthropic-version", "2023-06-01".to_owned()),
            ("x-api-key", "k-1".to_owned())
        ]
    );
    let schema: Value = serde_json::from_str(SCHEMA.json).unwrap();
    assert_eq!(
        body(&request),
        json!({
            "model": "m-1",
            "max_tokens": 512,
            "system": "be \"brief\"",
            "messages": [{ "role": "user", "content": "go" }],
            "temperature": 1.0,
            "top_p": 0.9,
            "output_config": { "format": { "type": "json_schema", "schema": schema } },
            "service_tier": "standard_only",
        })
    );
}

#[test]
fn an_anthropic_request_has_a_token_limit_even_if_the_route_has_none() {
    let request = request(&ANTHROPIC, Enforcement::Coached, Sampling::BLANK, None);
    assert_eq!(
        body(&request),
        json!({
            "model": "m-1",
            "max_tokens": 4096,
            "system": "be \"brief\"",
            "messages": [{ "role": "user", "content": "go" }],
        })
    );
}

#[test]
fn a_schema_keeps_its_text_and_key_order() {
    for provider in [&OPENAI, &ANTHROPIC] {
        let request = request(provider, AS_WRITTEN, Sampling::BLANK, None);
        let text = String::from_utf8(request.body).unwrap();
        assert!(text.contains(SCHEMA.json), "{text}");
    }
}

#[test]
fn a_candidate_is_sent_the_schema_in_its_own_form() {
    static LOWERED: Lowered = Lowered {
        json: Some(r#"{"type":"object","properties":{"z":{"type":["string","null"]}}}"#),
        ..Lowered::AS_WRITTEN
    };
    for provider in [&OPENAI, &ANTHROPIC] {
        let request = request(
            provider,
            Enforcement::Native(&LOWERED),
            Sampling::BLANK,
            None,
        );
        let text = String::from_utf8(request.body).unwrap();
        assert!(text.contains(LOWERED.json.unwrap()), "{text}");
        assert!(!text.contains(SCHEMA.json), "{text}");
    }
}

/// What is asked of whom, and what a pointer into the body then finds.
type Case = (
    &'static Provider,
    Enforcement,
    Option<Tier>,
    &'static str,
    Option<Value>,
);

#[test]
fn hosts_differ_as_their_rows_say() {
    use Enforcement::{Coached, JsonMode};
    let strict = "/response_format/json_schema/strict";
    let format = "/response_format/type";
    let tier = "/service_tier";
    let cases: &[Case] = &[
        (&OPENAI, AS_WRITTEN, None, strict, Some(json!(true))),
        (&GROK, AS_WRITTEN, None, strict, Some(json!(true))),
        (&FIREWORKS, AS_WRITTEN, None, strict, None),
        (
            &FIREWORKS,
            AS_WRITTEN,
            None,
            format,
            Some(json!("json_schema")),
        ),
        (
            &DEEPSEEK,
            JsonMode,
            None,
            format,
            Some(json!("json_object")),
        ),
        (&OPENAI, Coached, None, "/response_format", None),
        (&ANTHROPIC, JsonMode, None, "/output_config", None),
        (
            &OPENAI,
            Coached,
            Some(Tier::Standard),
            tier,
            Some(json!("default")),
        ),
        (
            &GROK,
            Coached,
            Some(Tier::Priority),
            tier,
            Some(json!("priority")),
        ),
        (&GROK, Coached, Some(Tier::Flex), tier, None),
        (&DEEPSEEK, Coached, Some(Tier::Priority), tier, None),
        (&FIREWORKS, Coached, Some(Tier::Standard), tier, None),
        (
            &FIREWORKS,
            Coached,
            Some(Tier::Priority),
            tier,
            Some(json!("priority")),
        ),
        (
            &ANTHROPIC,
            Coached,
            Some(Tier::Priority),
            tier,
            Some(json!("auto")),
        ),
        (&ANTHROPIC, Coached, Some(Tier::Flex), tier, None),
        (
            &OPENAI,
            Coached,
            None,
            "/max_completion_tokens",
            Some(json!(512)),
        ),
        (&OPENAI, Coached, None, "/max_tokens", None),
        (&GROK, Coached, None, "/max_tokens", Some(json!(512))),
        (&OPENAI, Coached, None, "/stream", None),
    ];
    for (provider, enforcement, tier, pointer, expected) in cases {
        let body = body(&request(provider, *enforcement, SAMPLING, *tier));
        assert_eq!(
            body.pointer(pointer),
            expected.as_ref(),
            "{} {tier:?} {pointer}",
            provider.name
        );
    }
}

#[test]
fn a_host_without_a_key_gets_no_key_header_and_no_empty_turn() {
    for provider in [&OPENAI, &ANTHROPIC] {
        let candidate = Candidate {
            provider,
            model: "m-1",
            capabilities: provider.capabilities,
            enforcement: AS_WRITTEN,
            price: None,
            limits: Limits::UNKNOWN,
        };
        let policy = Policy::BLANK;
        let request = encode(&Prompt {
            provider: candidate.provider,
            model: candidate.model,
            base_url: "http://127.0.0.1:8080/v1",
            key: None,
            system: "",
            user: "go",
            form: Form::of(candidate.enforcement, None),
            tools: &[],
            searches: false,
            prefix: None,
            policy: &policy,
            effort: None,
            streams: false,
        });
        let has = |name| request.headers.iter().any(|(header, _)| *header == name);
        assert!(!has("authorization") && !has("x-api-key"));
        let body = body(&request);
        assert_eq!(
            body["messages"],
            json!([{ "role": "user", "content": "go" }])
        );
        assert_eq!(
            (body.get("system"), body.get("response_format")),
            (None, None)
        );
    }
}

/// W3: each provider's own directive, and none where a server might refuse it.
#[test]
fn a_prefix_is_told_in_each_providers_own_way() {
    let body = |provider: &'static Provider, system: &str, shared: usize| {
        let candidate = Candidate {
            provider,
            model: "m-1",
            capabilities: provider.capabilities,
            enforcement: Enforcement::Coached,
            price: None,
            limits: Limits::UNKNOWN,
        };
        let prefix = Prefix::new(system, shared, None, &[]);
        let request = encode(&Prompt {
            provider: candidate.provider,
            model: candidate.model,
            base_url: provider.base_url,
            key: None,
            system,
            user: "go",
            form: Form::of(candidate.enforcement, None),
            tools: &[],
            searches: false,
            prefix: Some(&prefix),
            policy: &Policy::BLANK,
            effort: None,
            streams: false,
        });
        (body(&request), prefix.fingerprint)
    };
    for provider in [&OPENAI, &GROK, &DEEPINFRA, &FIREWORKS] {
        let (body, fingerprint) = body(provider, "be brief, Ada", 10);
        assert_eq!(body["prompt_cache_key"], fingerprint);
        assert_eq!(body["messages"][0]["content"], "be brief, Ada");
    }
    let (told, _) = body(&DEEPSEEK, "be brief, Ada", 10);
    assert_eq!(told.get("prompt_cache_key"), None);
    let cached = |text: &str| json!({ "type": "text", "text": text, "cache_control": { "type": "ephemeral" } });
    for (system, shared, expected) in [
        (
            "be brief, Ada",
            10,
            json!([cached("be brief, "), { "type": "text", "text": "Ada" }]),
        ),
        ("be brief", 8, json!([cached("be brief")])),
        ("be brief, \n", 10, json!([cached("be brief, \n")])),
        ("Ada", 0, json!("Ada")),
        (" \nAda", 2, json!(" \nAda")),
    ] {
        assert_eq!(body(&ANTHROPIC, system, shared).0["system"], expected);
    }
}
