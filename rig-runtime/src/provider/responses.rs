//! What do the answers mean that nobody has recorded?

use std::time::Duration;

use proptest::prelude::*;
use rig_spec::{ANTHROPIC, DEEPINFRA, DEEPSEEK, FIREWORKS, FailureClass, GROK, OPENAI, Provider};
use serde_json::{Value, json};

use super::{Failed, Reply, Sent, Usage, transport_failed};
use crate::transport::{Headers, TransportError};

/// Reads a response to a model that was told of no tools.
#[expect(clippy::result_large_err, reason = "as `answer`")]
fn decode(
    provider: &'static Provider,
    status: u16,
    headers: &Headers,
    body: &[u8],
) -> Result<Reply, Failed> {
    let sent = Sent::default();
    let answer = super::answer(provider, status, headers, body, &sent)?;
    super::conclude(answer, false, headers, &sent)
}

#[expect(clippy::result_large_err, reason = "as `answer`")]
fn decoded(provider: &'static Provider, body: &Value) -> Result<Reply, Failed> {
    let body = body.to_string();
    decode(provider, 200, &Headers::default(), body.as_bytes())
}

fn chat(message: Value, finish: &str) -> Value {
    json!({ "choices": [{ "message": message, "finish_reason": finish }] })
}

fn messages(content: Value, stop: &str) -> Value {
    json!({ "type": "message", "content": content, "stop_reason": stop })
}

/// Returns the tokens of an answer with this usage.
fn usage(provider: &'static Provider, usage: Value) -> Usage {
    let body = match provider.name {
        "anthropic" => json!({
            "content": [{ "type": "text", "text": "1" }], "stop_reason": "end_turn", "usage": usage,
        }),
        _ => json!({ "choices": [{ "message": { "content": "1" } }], "usage": usage }),
    };
    Usage {
        searches: None,
        ..decoded(provider, &body).unwrap().usage
    }
}

#[test]
fn text_is_gathered_from_strings_parts_and_blocks() {
    let parts = json!([
        { "type": "thinking", "thinking": [{ "type": "text", "text": "hm" }] },
        { "type": "text", "text": "{\"a\":" },
        { "type": "text", "text": "1}" },
    ]);
    let blocks = json!([
        { "type": "thinking", "thinking": "hm", "signature": "s" },
        { "type": "text", "text": "{\"a\":" },
        { "type": "tool_use", "id": "t", "name": "n", "input": {} },
        { "type": "text", "text": "1}" },
    ]);
    let cases = [
        (
            &OPENAI,
            chat(
                json!({ "content": "{\"a\":1}", "reasoning_content": "hm" }),
                "stop",
            ),
        ),
        (&OPENAI, chat(json!({ "content": parts }), "stop")),
        (&ANTHROPIC, messages(blocks, "end_turn")),
    ];
    for (provider, body) in cases {
        let reply = decoded(provider, &body).unwrap();
        assert_eq!((reply.text.as_str(), reply.truncated), ("{\"a\":1}", false));
    }
}

/// L14: a cut answer is marked, even if it is empty or a tool call.
#[test]
fn a_cut_answer_is_marked() {
    let cut_call = json!({ "choices": [{
        "message": { "content": null, "tool_calls": [{}] },
        "finish_reason": "tool_calls",
        "native_finish_reason": "length",
    }] });
    let cases = [
        (&OPENAI, chat(json!({ "content": "12" }), "length")),
        (&OPENAI, chat(json!({ "content": "" }), "length")),
        (&OPENAI, chat(json!({ "content": "12" }), "model_length")),
        (&OPENAI, cut_call),
        (
            &ANTHROPIC,
            messages(json!([{ "type": "text", "text": "12" }]), "max_tokens"),
        ),
        (
            &ANTHROPIC,
            messages(json!([]), "model_context_window_exceeded"),
        ),
    ];
    for (provider, body) in cases {
        assert!(decoded(provider, &body).unwrap().truncated, "{body}");
    }
}

#[test]
fn an_answer_that_is_none_has_its_class() {
    use FailureClass::{CapacityShed, ConfigAuth, ContentInvalid, Network, Refusal};
    let text = json!({ "content": "1" });
    let error = |code: Value| json!({ "error": { "message": "no", "code": code } });
    let broken_choice = json!({ "choices": [{ "error": { "message": "no", "code": 502 } }] });
    let error_beside = json!({
        "error": { "message": "no", "code": 429 },
        "choices": [{ "message": { "content": "half" }, "finish_reason": "error" }],
    });
    let refusal_part = json!({ "content": [{ "type": "refusal", "refusal": "no" }] });
    let anthropic_error =
        json!({ "type": "error", "error": { "type": "overloaded_error", "message": "no" } });
    let cases = [
        (
            &OPENAI,
            chat(json!({ "content": null, "refusal": "no" }), "stop"),
            Refusal,
            false,
        ),
        (&OPENAI, chat(refusal_part, "stop"), Refusal, false),
        (
            &OPENAI,
            chat(text.clone(), "content_filter"),
            Refusal,
            false,
        ),
        (
            &DEEPSEEK,
            chat(text.clone(), "insufficient_system_resource"),
            CapacityShed,
            false,
        ),
        (&OPENAI, chat(text, "error"), Network, false),
        (
            &OPENAI,
            chat(json!({ "content": " \n" }), "stop"),
            ContentInvalid,
            false,
        ),
        (
            &OPENAI,
            chat(json!({ "content": null, "tool_calls": [{}] }), "tool_calls"),
            ContentInvalid,
            false,
        ),
        (&OPENAI, chat(json!({}), "stop"), ContentInvalid, false),
        (&OPENAI, json!({ "choices": [] }), ContentInvalid, false),
        (&OPENAI, json!({}), Network, false),
        (&OPENAI, json!("text"), Network, false),
        (&OPENAI, error(json!(429)), CapacityShed, false),
        (&OPENAI, error(json!("401")), ConfigAuth, false),
        (
            &OPENAI,
            error(json!("insufficient_quota")),
            ConfigAuth,
            false,
        ),
        (&OPENAI, error(json!("content_filter")), Refusal, false),
        (&OPENAI, error(json!(400)), Network, true),
        (&OPENAI, error(json!(null)), Network, false),
        (&OPENAI, broken_choice, Network, false),
        (&OPENAI, error_beside, CapacityShed, false),
        (&ANTHROPIC, messages(json!([]), "refusal"), Refusal, false),
        (
            &ANTHROPIC,
            messages(json!([]), "end_turn"),
            ContentInvalid,
            false,
        ),
        (
            &ANTHROPIC,
            messages(json!([{ "type": "text", "text": "1" }]), "pause_turn"),
            ContentInvalid,
            false,
        ),
        (&ANTHROPIC, anthropic_error, CapacityShed, false),
    ];
    for (provider, body, class, rejected) in cases {
        let failed = decoded(provider, &body).unwrap_err();
        assert_eq!((failed.class, failed.rejected), (class, rejected), "{body}");
        assert!(!failed.message.is_empty());
    }
}

#[test]
fn a_body_that_is_not_json_is_network_and_not_quoted() {
    for body in [
        "",
        " \n\n ",
        "<html>secret</html>",
        "secret",
        "{\"choices\":[",
        "\u{0}",
    ] {
        let failed = decode(&OPENAI, 200, &Headers::default(), body.as_bytes()).unwrap_err();
        assert_eq!(failed.class, FailureClass::Network);
        assert_eq!(failed.message, "the response holds no answer");
    }
}

#[test]
fn blank_lines_before_a_body_are_skipped() {
    let body = format!("\n\n  {}", chat(json!({ "content": "1" }), "stop"));
    assert!(decode(&DEEPSEEK, 200, &Headers::default(), body.as_bytes()).is_ok());
}

/// T1: one meaning for all providers.
#[test]
fn usage_has_one_meaning() {
    let counts = |tokens_in, tokens_out, tokens_cached, tokens_cache_write| Usage {
        tokens_in,
        tokens_out,
        tokens_cached,
        tokens_cache_write,
        searches: None,
    };
    let reasoning = |tokens: u64| json!({ "reasoning_tokens": tokens });
    let cases = [
        (
            &OPENAI,
            json!({
                "prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15,
                "prompt_tokens_details": { "cached_tokens": 4, "cache_write_tokens": 6 },
                "completion_tokens_details": reasoning(3),
            }),
            counts(Some(10), Some(5), Some(4), Some(6)),
        ),
        (
            &GROK,
            json!({
                "prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 115,
                "completion_tokens_details": reasoning(100),
            }),
            counts(Some(10), Some(105), None, None),
        ),
        (
            &DEEPSEEK,
            json!({ "prompt_tokens": 10, "completion_tokens": 5, "prompt_cache_hit_tokens": 8 }),
            counts(Some(10), Some(5), Some(8), None),
        ),
        (
            &DEEPINFRA,
            json!({
                "prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15,
                "completion_tokens_details": reasoning(7),
            }),
            counts(Some(10), Some(12), None, None),
        ),
        (
            &ANTHROPIC,
            json!({
                "input_tokens": 10, "output_tokens": 5,
                "cache_read_input_tokens": 100, "cache_creation_input_tokens": 1000,
            }),
            counts(Some(1_110), Some(5), Some(100), Some(1_000)),
        ),
        (
            &OPENAI,
            json!({ "prompt_tokens": 10, "prompt_tokens_details": { "cached_tokens": 158 } }),
            counts(Some(10), None, Some(10), None),
        ),
        (
            &OPENAI,
            json!({ "prompt_tokens": 0, "completion_tokens": 0 }),
            Usage::default(),
        ),
        (
            &ANTHROPIC,
            json!({ "input_tokens": 0, "output_tokens": 0 }),
            Usage::default(),
        ),
        (
            &OPENAI,
            json!({ "prompt_tokens": "many", "completion_tokens": -1 }),
            Usage::default(),
        ),
        (&OPENAI, json!(null), Usage::default()),
    ];
    for (provider, reported, expected) in cases {
        assert_eq!(
            usage(provider, reported.clone()),
            expected,
            "{} {reported}",
            provider.name
        );
    }
}

#[test]
fn fireworks_says_in_a_header_what_came_from_the_cache() {
    let headers = Headers::new(vec![(
        "fireworks-cached-prompt-tokens".to_owned(),
        "8".to_owned(),
    )]);
    let body = json!({
        "choices": [{ "message": { "content": "1" } }],
        "usage": { "prompt_tokens": 10, "completion_tokens": 1 },
    });
    let reply = decode(&FIREWORKS, 200, &headers, body.to_string().as_bytes()).unwrap();
    assert_eq!(reply.usage.tokens_cached, Some(8));
}

/// K3: a refusal was billed.
#[test]
fn a_failure_keeps_its_usage_and_tier() {
    let body = json!({
        "choices": [{ "message": { "refusal": "no" }, "finish_reason": "stop" }],
        "usage": { "prompt_tokens": 10, "completion_tokens": 5 },
        "service_tier": "default",
    });
    let failed = decoded(&OPENAI, &body).unwrap_err();
    assert_eq!(
        (failed.usage.tokens_in, failed.usage.tokens_out),
        (Some(10), Some(5))
    );
    assert_eq!(failed.served_tier.as_deref(), Some("default"));
}

/// K2, K4: the wait in a rate limit's text.
#[test]
fn a_rate_limit_says_how_long_to_wait() {
    let body = json!({ "error": { "message": "Please try again in 1.574s.", "code": "rate_limit_exceeded" } });
    let failed = decode(
        &OPENAI,
        429,
        &Headers::default(),
        body.to_string().as_bytes(),
    )
    .unwrap_err();
    assert_eq!(failed.class, FailureClass::CapacityShed);
    assert_eq!(failed.retry_after, Some(Duration::from_millis(1_574)));
    assert_eq!(failed.message, "Please try again in 1.574s.");
}

#[test]
fn a_transport_error_is_network() {
    let failed = transport_failed(&TransportError::new("connection refused"), None);
    assert_eq!(failed.class, FailureClass::Network);
    assert_eq!(
        (failed.message.as_str(), failed.rejected),
        ("connection refused", false)
    );
}

proptest! {
    /// Whatever comes, it decodes, and what may be shown is one short line.
    #[test]
    fn any_body_decodes(status in 0_u16..1_000, text in r#"(?s)["'`“” \u{0}-\u{ff}🏗a-z]{0,600}"#, cut in 0_usize..400) {
        let error = json!({ "error": { "message": text, "code": 400 }, "detail": [{ "msg": text }] });
        let answer = chat(json!({ "content": [{ "type": "text", "text": text }] }), "stop");
        for body in [text.clone(), error.to_string(), answer.to_string()] {
            let cut = &body.as_bytes()[..cut.min(body.len())];
            for (provider, body) in [(&OPENAI, body.as_bytes()), (&ANTHROPIC, cut)] {
                if let Err(failed) = decode(provider, status, &Headers::default(), body) {
                    let length = failed.message.chars().count();
                    prop_assert!((1..=300).contains(&length));
                    prop_assert!(!failed.message.contains(char::is_control));
                }
            }
        }
    }
}
