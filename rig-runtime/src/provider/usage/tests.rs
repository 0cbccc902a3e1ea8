//! What do the counts come to that providers report?

use proptest::prelude::*;
use rig_spec::{ANTHROPIC, DEEPINFRA, GEMINI, GROK, OPENAI, Provider};
use serde_json::{Map, Value, json};

use super::Usage;
use crate::provider::Sent;
use crate::provider::recordings::RESPONSES;
use crate::transport::Headers;

/// Returns the tokens of a whole answer with this usage.
fn usage(provider: &'static Provider, usage: &Value) -> Usage {
    let body = match provider.name {
        "gemini" => json!({
            "candidates": [{ "content": { "parts": [{ "text": "1" }] }, "finishReason": "STOP" }],
            "usageMetadata": usage,
        }),
        "anthropic" => json!({
            "content": [{ "type": "text", "text": "1" }], "stop_reason": "end_turn", "usage": usage,
        }),
        name if name == RESPONSES.name => json!({
            "status": "completed", "output": [], "usage": usage,
        }),
        _ => json!({ "choices": [{ "message": { "content": "1" } }], "usage": usage }),
    };
    let body = body.to_string();
    let answer = super::super::answer(
        provider,
        200,
        &Headers::default(),
        body.as_bytes(),
        &Sent::default(),
    );
    Usage {
        searches: None,
        ..answer.unwrap().usage
    }
}

fn counts(tokens_in: Option<u64>, tokens_out: Option<u64>) -> Usage {
    Usage {
        tokens_in,
        tokens_out,
        ..Usage::default()
    }
}

fn gemini(counts: [Option<u64>; 5]) -> Usage {
    let names = [
        "promptTokenCount",
        "toolUsePromptTokenCount",
        "candidatesTokenCount",
        "thoughtsTokenCount",
        "totalTokenCount",
    ];
    let told = names.into_iter().zip(counts);
    let told = told.filter_map(|(name, count)| Some((name.to_owned(), count?.into())));
    usage(&GEMINI, &Value::Object(told.collect::<Map<_, _>>()))
}

// T1: Gemini's parts are added up as far as the total says that they are apart.
#[test]
fn parts_that_the_total_has_once_are_counted_once() {
    let some = |counts: [u64; 5]| gemini(counts.map(Some));
    for (told, tokens_in, tokens_out) in [
        ([283, 228, 39, 1_534, 2_084], 511, 1_573),
        // What tools brought in is a part of the prompt.
        ([283, 228, 39, 1_534, 1_856], 283, 1_573),
        // The thoughts are a part of the output.
        ([283, 228, 1_600, 1_534, 2_111], 511, 1_600),
        // Both.
        ([283, 228, 1_600, 1_534, 1_883], 283, 1_600),
        // The total has more than the parts: what is missing was written.
        ([283, 228, 39, 0, 2_084], 511, 1_573),
        // The total has less than any way to count them.
        ([100, 0, 20, 0, 110], 100, 10),
        // It is none.
        ([100, 7, 20, 3, 0], 107, 23),
        ([100, 7, 20, 3, 99], 107, 23),
    ] {
        let expected = counts(Some(tokens_in), Some(tokens_out));
        assert_eq!(some(told), expected, "{told:?}");
    }
    // A prompt that was blocked has no output.
    let blocked = gemini([Some(100), None, None, None, Some(100)]);
    assert_eq!(blocked, counts(Some(100), Some(0)));
    let untold = gemini([Some(100), None, None, None, None]);
    assert_eq!(untold, counts(Some(100), None));
}

// T1.
#[test]
fn a_total_decides_where_hosts_differ() {
    let chat = |provider, input: u64, output: u64, reasoning: u64, total: Value| {
        let details = json!({ "reasoning_tokens": reasoning });
        usage(
            provider,
            &json!({
                "prompt_tokens": input, "completion_tokens": output, "total_tokens": total,
                "completion_tokens_details": details,
            }),
        )
    };
    for (provider, told, total, tokens_out) in [
        (&OPENAI, (10, 5, 3), json!(15), Some(5)),
        (&OPENAI, (10, 5, 7), json!(15), Some(5)),
        (&OPENAI, (10, 5, 7), json!(null), Some(5)),
        (&OPENAI, (10, 5, 0), json!(12), Some(2)),
        // It counts the prompt only.
        (&OPENAI, (10, 5, 0), json!(10), None),
        (&OPENAI, (10, 5, 0), json!(4), Some(5)),
        (&GROK, (10, 5, 100), json!(115), Some(105)),
        // Its own total leaves the reasoning out.
        (&DEEPINFRA, (10, 5, 7), json!(15), Some(12)),
        (&DEEPINFRA, (10, 5, 7), json!(null), Some(12)),
        (&DEEPINFRA, (10, 5, 7), json!(22), Some(12)),
        (&DEEPINFRA, (10, 5, 7), json!(17), Some(7)),
        (&DEEPINFRA, (10, 7, 5), json!(17), Some(7)),
    ] {
        let (input, output, reasoning) = told;
        let found = chat(provider, input, output, reasoning, total.clone());
        let expected = counts(Some(10), tokens_out);
        assert_eq!(found, expected, "{} {told:?} {total}", provider.name);
    }
    let told = json!({ "input_tokens": 10, "output_tokens": 5, "total_tokens": 115 });
    assert_eq!(usage(&RESPONSES, &told), counts(Some(10), Some(105)));
}

// T1: unknown counts are NULL, never 0: every request has an input.
#[test]
fn an_input_of_nothing_is_unknown() {
    let told = json!({ "prompt_tokens": 0, "completion_tokens": 9, "total_tokens": 9 });
    assert_eq!(usage(&OPENAI, &told), counts(None, Some(9)));
    let told = json!({ "input_tokens": 0, "cache_read_input_tokens": 7, "output_tokens": 9 });
    let found = usage(&ANTHROPIC, &told);
    assert_eq!((found.tokens_in, found.tokens_cached), (Some(7), Some(7)));
}

// T1: what cannot be true is on the row as it was reported, and adding it up does not overflow.
#[test]
fn an_absurd_count_is_what_was_reported() {
    let most = Some(u64::MAX);
    for total in [json!(null), json!(u64::MAX)] {
        let told = json!({
            "prompt_tokens": u64::MAX, "completion_tokens": u64::MAX, "total_tokens": total,
        });
        assert_eq!(usage(&OPENAI, &told), counts(most, most));
    }
    let told = json!({ "input_tokens": u64::MAX, "cache_read_input_tokens": u64::MAX });
    assert_eq!(usage(&ANTHROPIC, &told).tokens_in, most);
    assert_eq!(gemini([most, most, most, most, most]), counts(most, most));
}

/// A count that a host may report, if any.
fn count() -> impl Strategy<Value = Option<u64>> {
    prop_oneof![
        1 => Just(None),
        6 => (0..60_u64).prop_map(Some),
        1 => prop::sample::select(vec![u64::MAX, u64::MAX - 1, 1 << 63]).prop_map(Some),
    ]
}

proptest! {
    // T1: where the provider says a total that its own parts do not contradict, input and output do not exceed it; the
    // cached parts do not exceed the input.
    #[test]
    fn counts_never_exceed_the_total(
        told in prop::array::uniform4(count()),
        total in count(),
        cached in count(),
        written in count(),
    ) {
        let [input, tools, output, reasoning] = told;
        for provider in [&OPENAI, &GROK, &RESPONSES, &GEMINI] {
            let (report, parts) = match provider.name {
                "gemini" => (json!({
                    "promptTokenCount": input, "toolUsePromptTokenCount": tools,
                    "candidatesTokenCount": output, "thoughtsTokenCount": reasoning,
                    "totalTokenCount": total, "cachedContentTokenCount": cached,
                }), told.to_vec()),
                name if name == RESPONSES.name => (json!({
                    "input_tokens": input, "output_tokens": output, "total_tokens": total,
                    "input_tokens_details": { "cached_tokens": cached, "cache_write_tokens": written },
                    "output_tokens_details": { "reasoning_tokens": reasoning },
                }), vec![input, output]),
                _ => (json!({
                    "prompt_tokens": input, "completion_tokens": output, "total_tokens": total,
                    "prompt_tokens_details": { "cached_tokens": cached, "cache_write_tokens": written },
                    "completion_tokens_details": { "reasoning_tokens": reasoning },
                }), vec![input, output]),
            };
            let found = usage(provider, &report);
            let sum = |one: Option<u64>, other: Option<u64>| {
                u128::from(one.unwrap_or(0)) + u128::from(other.unwrap_or(0))
            };
            let largest = parts.into_iter().max().flatten();
            let is_total = |total: &u64| Some(*total) >= largest && *total < u64::MAX;
            if let Some(total) = total.filter(is_total) {
                prop_assert!(
                    sum(found.tokens_in, found.tokens_out) <= total.into(),
                    "{} {report} {found:?}", provider.name
                );
            }
            if found.tokens_in.is_some() {
                let cached = sum(found.tokens_cached, found.tokens_cache_write);
                prop_assert!(cached <= sum(found.tokens_in, None), "{report} {found:?}");
            }
            prop_assert_ne!(found.tokens_in, Some(0));
        }
    }

    // T1: in whatever order reports come, a count is the largest that was reported.
    #[test]
    fn usage_only_grows(reports in prop::collection::vec(prop::array::uniform4(count()), 0..5)) {
        let usage = |[tokens_in, tokens_out, tokens_cached, tokens_cache_write]: [Option<u64>; 4]| Usage {
            tokens_in, tokens_out, tokens_cached, tokens_cache_write, searches: None,
        };
        let all = reports.iter().fold(Usage::default(), |all, report| all.grown(usage(*report)));
        let largest = |at: usize| reports.iter().filter_map(|report| report[at]).max();
        prop_assert_eq!(all, usage([0, 1, 2, 3].map(largest)));
    }
}
