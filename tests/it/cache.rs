//! What is a provider's prompt cache told, and what do the rows say of it?

use rig::testing::{Scripted, block_on};
use rig::{CacheHandle, ConfigError, Error, FailureClass};
use serde_json::{Value, json};
use tests::routes::{CachedInput, HeadlineInput, ReferenceInput, cached, headline, reference};
use tests::{World, check};

use crate::{GOOD, QUESTION, fault, good};

fn input(question: &str) -> CachedInput {
    CachedInput {
        question: question.to_owned(),
    }
}

fn rejected() -> Scripted {
    fault(404, "model_not_found", "no such model")
}

/// An answer of the messages dialect, most of whose input was written to a cache or read from it.
fn messages(written: u64, read: u64) -> Scripted {
    let body: Value = json!({
        "type": "message",
        "content": [{ "type": "text", "text": GOOD }],
        "stop_reason": "end_turn",
        "usage": {
            "input_tokens": 100,
            "cache_creation_input_tokens": written,
            "cache_read_input_tokens": read,
            "output_tokens": 20,
        },
    });
    Scripted::status(200, body.to_string())
}

// W3: the caller's handle wins at its provider, and nobody else is told of it.
#[test]
fn a_handle_of_the_caller_wins_at_its_provider() {
    let mock = cached::mock()
        .fails("openai/gpt-5.4-mini", FailureClass::ConfigAuth)
        .fails("anthropic/claude-haiku-4-5", FailureClass::ConfigAuth);
    let call = cached(input(QUESTION)).cache(CacheHandle::new("openai", "old"));
    let call = call.cache(CacheHandle::new("openai", "desk-7"));
    let run = block_on(call.on(&mock).run()).unwrap();
    assert_eq!((run.meta.provider, run.meta.cache_key), ("north", None));
    let requests = mock.requests();
    let sent = |at: usize| str::from_utf8(&requests[at].body).unwrap();
    assert!(sent(0).contains(r#""prompt_cache_key":"desk-7""#));
    assert!(!sent(1).contains("desk-7") && !sent(2).contains("desk-7"));
    let rows = mock.rows();
    assert_eq!(rows[0].cache_key.as_deref(), Some("desk-7"));
    assert!(rows[0].prefix_fingerprint.is_some() && rows[1].cache_key.is_none());
}

/// An answer of the Gemini dialect, a part of whose input was read from a cache.
fn generated(cached: u64) -> Scripted {
    let body = json!({
        "candidates": [{ "content": { "parts": [{ "text": GOOD }] }, "finishReason": "STOP" }],
        "usageMetadata": {
            "promptTokenCount": 100,
            "cachedContentTokenCount": cached,
            "candidatesTokenCount": 20,
        },
    });
    Scripted::status(200, body.to_string())
}

// L10, W3: a cache that has ended is told to nobody any more, and the prompt stands where it belongs again.
#[test]
fn a_cache_that_has_ended_is_dropped_for_the_retries_of_its_candidate() {
    let gone = json!({ "error": {
        "code": 403,
        "message": "CachedContent not found (or permission denied)",
        "status": "PERMISSION_DENIED",
    } });
    let handle = CacheHandle::new("gemini", "cachedContents/abc");
    let call = reference(ReferenceInput {
        question: QUESTION.to_owned(),
    });
    let seen = check(
        "gemini openai",
        [Scripted::status(403, gone.to_string()), generated(0)],
        |rig| call.cache(handle.clone()).on(rig).run(),
        &format!(
            "1 gemini/gemini-3.1-flash-lite cache_invalid $0.00 prefixed keyed cachedContents/abc
             2 gemini/gemini-3.1-flash-lite conformant 100+20 cached 0 $0.000055
             = {GOOD}"
        ),
    );
    let prompt = json!({ "text": "Decide this case.\n\nIs it so?\n" });
    let first = seen.body(1);
    assert_eq!(first["cachedContent"], "cachedContents/abc");
    assert_eq!(first.get("systemInstruction"), None);
    assert_eq!(first["contents"][0]["parts"][0], prompt);
    assert_eq!(first["contents"][0]["parts"].as_array().unwrap().len(), 2);
    let second = seen.body(2);
    assert_eq!(second.get("cachedContent"), None);
    assert_eq!(second["systemInstruction"]["parts"], json!([prompt]));

    let call = reference(ReferenceInput {
        question: QUESTION.to_owned(),
    });
    check(
        "gemini openai",
        [generated(80)],
        |rig| call.cache(handle).on(rig).run(),
        &format!(
            "1 gemini/gemini-3.1-flash-lite conformant 100+20 cached 80 $0.000037 prefixed keyed cachedContents/abc
             = {GOOD}"
        ),
    );
}

/// The classes of a call with a handle, or without one, whose first attempt this ends and whose second one is served by
/// this reply.
fn ends(
    handle: Option<&str>,
    (status, text): (u16, &str),
    second: Scripted,
) -> Vec<Option<&'static str>> {
    let world = World::with_keys("gemini openai");
    let body = json!({ "error": { "message": text } }).to_string();
    world.push([Scripted::status(status, body), second]);
    let mut call = reference(ReferenceInput {
        question: QUESTION.to_owned(),
    });
    if let Some(handle) = handle {
        call = call.cache(CacheHandle::new("gemini", handle));
    }
    block_on(call.on(&world.rig).run()).unwrap_or_else(|error| panic!("{text}: {error}"));
    let rows = world.store.rows();
    let failures = rows.iter().map(|row| row.failure);
    failures
        .map(|failure| failure.map(rig::store::RowFailure::name))
        .collect()
}

// L10: a provider says in its own words that a cache is gone, or names the handle; no list of sentences knows them all.
#[test]
fn a_cache_that_is_gone_is_known_in_any_wording() {
    let handle = "projects/p/locations/l/cachedContents/735226053210";
    let gone = [
        // googleapis/python-genai#509, clawvisor/clawvisor#360
        (404, "Not found: cached content metadata for 735226053210."),
        (400, "Cache content 735226053210 is expired."),
        (403, "CachedContent not found (or permission denied)"),
        (
            400,
            "The context cache that this request refers to has lapsed",
        ),
        (404, "cached_content: no such resource"),
        (403, "You do not have access to this cache."),
        (400, "The cache entry was evicted an hour ago"),
        (400, "cachedContents/735226053210 cannot be used"),
        (
            404,
            "Resource projects/p/locations/l/cachedContents/735226053210 is unknown",
        ),
        (400, "Bad handle: 735226053210"),
        (
            500,
            "Failed: {\"error\": {\"code\": 404, \"message\": \"Not found: cached content metadata for 7\"}}",
        ),
    ];
    for (status, text) in gone {
        let classes = ends(Some(handle), (status, text), generated(0));
        assert_eq!(classes, [Some("cache_invalid"), None], "{text}");
        // Without a handle there is nothing that could be gone.
        let classes = ends(None, (status, text), good());
        assert_ne!(classes[0], Some("cache_invalid"), "{text}");
    }
}

// L10: what is said of the model, of another use of a cache, or under another status has nothing to do with the handle.
#[test]
fn other_errors_beside_a_handle_keep_their_class() {
    let cases = [
        (
            404,
            "models/gemini-9 is not found for API version v1beta, or is not supported for generateContent.",
            "network",
        ),
        (
            404,
            "The model that the cached content names does not exist",
            "network",
        ),
        (
            400,
            "Cached content is too small. total_token_count=97, min_total_token_count=1024",
            "network",
        ),
        (
            400,
            "CachedContent can not be used with GenerateContent request setting system_instruction",
            "network",
        ),
        (400, "Invalid value at 'contents[0]'", "network"),
        (403, "The caller does not have permission", "config_auth"),
        (401, "The cache is gone", "config_auth"),
        (404, "Requested entity was not found.", "network"),
    ];
    for (status, text, class) in cases {
        let classes = ends(Some("cachedContents/abc"), (status, text), good());
        assert_eq!(classes, [Some(class), None], "{text}");
    }
    // A key of a prompt cache is named only where it stands for itself.
    let told = (400, "the model is overworked");
    let seen = ends(Some("cachedContents/model"), told, good());
    assert_eq!(seen, [Some("network"), None]);
}

// W3, T2: also on a route that asks nothing of caches; the meta has what was told.
#[test]
fn a_handle_needs_no_cache_of_the_route() {
    let mock = headline::mock();
    let call = || {
        headline(HeadlineInput {
            article: "x".to_owned(),
        })
    };
    let handle = CacheHandle::new("openai", "desk-7");
    let run = block_on(call().cache(handle).on(&mock).run()).unwrap();
    assert_eq!(run.meta.cache_key.as_deref(), Some("desk-7"));
    assert_eq!(mock.rows()[0].cache_key.as_deref(), Some("desk-7"));
    let run = block_on(call().on(&mock).run()).unwrap();
    assert_eq!(run.meta.cache_key, None);
}

// W3: one that nobody could be told is no call.
#[test]
fn a_handle_that_nobody_takes_is_a_config_error() {
    let mock = cached::mock();
    for provider in ["anthropic", "north", "deepseek", "opena"] {
        let call = cached(input(QUESTION)).cache(CacheHandle::new(provider, "desk-7"));
        let error = ConfigError::NoCacheHandle {
            route: "cached",
            provider: provider.to_owned(),
        };
        let result = block_on(call.on(&mock).run());
        assert_eq!(result.unwrap_err(), Error::Config(error));
    }
    assert!(mock.rows().is_empty() && mock.requests().is_empty());
}

// W3: the key where there is one, the mark where there is one, and nothing for a host of one's own.
#[test]
fn each_provider_gets_its_own_directive() {
    let seen = check(
        "openai anthropic north",
        [rejected(), rejected(), good()],
        |rig| cached(input(QUESTION)).on(rig).run(),
        r#"
        1 openai/gpt-5.4-mini network $0.00 prefixed keyed
        2 anthropic/claude-haiku-4-5 network $0.00 prefixed
        3 north/n1 conformant 100+20 $0.00014 prefixed
        = {"verdict":"yes","because":"it is","also":null}
        "#,
    );
    let key = seen.rows[0].cache_key.clone().unwrap();
    assert_eq!(seen.body(1)["prompt_cache_key"], key);
    assert!(key.len() == 16 && key.bytes().all(|byte| byte.is_ascii_hexdigit()));
    assert_eq!(
        seen.body(2)["system"],
        json!([
            {
                "type": "text",
                "text": "Decide this case.\n\n",
                "cache_control": { "type": "ephemeral" },
            },
            { "type": "text", "text": "Is it so?\n" },
        ])
    );
    for field in ["prompt_cache_key", "cache_control"] {
        assert!(!seen.text(3).contains(field));
    }
}

// W3: what differs between calls is no part of the key.
#[test]
fn calls_of_a_route_share_their_key() {
    let key = |question: &str| {
        let seen = check(
            "openai",
            [good()],
            |rig| cached(input(question)).on(rig).run(),
            r#"
            1 openai/gpt-5.4-mini conformant 100+20 $0.000165 prefixed keyed
            = {"verdict":"yes","because":"it is","also":null}
            "#,
        );
        seen.rows[0].cache_key.clone()
    };
    assert_eq!(key("Is it so?"), key("Or is it not?"));
}

// T1, W3: the whole input, the parts of it that were written to the cache or read from it, each at its price.
#[test]
fn what_was_written_and_read_is_counted_and_priced() {
    for (written, read, row) in [
        (2_000, 0, "2100+20 cached 0 written 2000 $0.0027"),
        (0, 2_000, "2100+20 cached 2000 written 0 $0.0004"),
    ] {
        let expected = format!("1 anthropic/claude-haiku-4-5 conformant {row} prefixed\n= {GOOD}");
        check(
            "anthropic",
            [messages(written, read)],
            |rig| cached(input(QUESTION)).on(rig).run(),
            &expected,
        );
    }
}
