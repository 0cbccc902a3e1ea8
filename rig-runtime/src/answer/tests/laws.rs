//! Is a draft never taken for the answer, whatever surrounds it?

use proptest::prelude::*;

use super::answered;

const DRAFT: &str = r#"{"answer":"draft"}"#;
const FINAL: &str = r#"{"answer":"final"}"#;

/// How blocks are marked, each with the mark that closes it.
const SPELLINGS: [(&str, &str); 16] = [
    ("<think>", "</think>"),
    ("<THINK>", "</THINK>"),
    ("<think lang=\"en\" depth='2'>", "</think>"),
    ("<think >", "</think\n>"),
    ("< thinking>", "</ thinking>"),
    ("<thought>", "</thought>"),
    ("<Reasoning>", "</Reasoning>"),
    ("<analysis>", "</analysis>"),
    ("<seed:think>", "</seed:think>"),
    ("[THINK]", "[/THINK]"),
    ("◁think▷", "◁/think▷"),
    ("<|begin_of_thought|>", "<|end_of_thought|>"),
    ("<|START_THINKING|>", "<|END_THINKING|>"),
    (
        "<|channel|>analysis<|message|>",
        "<|end|><|start|>assistant<|channel|>final<|message|>",
    ),
    ("<|channel>thought\n", "<channel|>"),
    ("assistantanalysis", "assistantfinal"),
];

fn prose() -> impl Strategy<Value = String> {
    let word = prop::sample::select(
        &[
            "so", "it is", "5\"", "(a)", "don't", "a < b", "\n", "e.g.", "1.", "**yes**", "`x`",
            "<b>", "<|end|>",
        ][..],
    );
    prop::collection::vec(word, 0..4).prop_map(|words| words.join(" "))
}

fn fence() -> impl Strategy<Value = String> {
    let inner = prop::sample::select(&["ls -l", "fn main() {}", "<b>", "let x = [1"][..]);
    inner.prop_map(|inner| format!("\n```sh\n{inner}\n```\n"))
}

/// What is in a block: prose, drafts, and blocks within it.
fn body() -> impl Strategy<Value = String> {
    let draft = prop_oneof![
        Just(DRAFT.to_owned()),
        Just(format!("\n```json\n{DRAFT}\n```\n")),
        Just(format!("[{DRAFT}")),
    ];
    let part = prop_oneof![3 => prose(), 3 => draft, 1 => fence()];
    let flat = prop::collection::vec(part, 0..4).prop_map(|parts| parts.concat());
    flat.prop_recursive(2, 6, 3, |inner| {
        (
            inner.clone(),
            prop::sample::select(&SPELLINGS[..9]),
            inner.clone(),
            inner,
        )
            .prop_map(|(before, (open, close), within, after)| {
                format!("{before}{open}{within}{close}{after}")
            })
    })
}

fn block() -> impl Strategy<Value = String> {
    (prop::sample::select(&SPELLINGS[..]), body())
        .prop_map(|((open, close), body)| format!("{open}{body}{close}"))
}

/// The one value outside of blocks.
fn value() -> impl Strategy<Value = String> {
    prop_oneof![
        Just(FINAL.to_owned()),
        Just(format!("\n```json\n{FINAL}\n```\n")),
        Just(format!("{FINAL}<|im_end|>")),
    ]
}

fn outside() -> impl Strategy<Value = String> {
    let part = prop_oneof![3 => prose(), 3 => block(), 1 => fence()];
    prop::collection::vec(part, 0..4).prop_map(|parts| parts.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4_000))]

    // K8
    #[test]
    fn no_draft_is_ever_served(
        unopened in prop::option::of((body(), prop::sample::select(&SPELLINGS[..]))),
        before in outside(),
        value in prop::option::of(value()),
        after in outside(),
        unclosed in prop::option::of((prop::sample::select(&SPELLINGS[..]), body())),
        bare in any::<bool>(),
    ) {
        let mut text = String::new();
        if bare {
            text += "analysisWe";
        }
        if let Some((body, (_, close))) = unopened {
            text += &body;
            text += close;
        } else if bare {
            text += "assistantfinal";
        }
        text += &before;
        text += value.as_deref().unwrap_or_default();
        text += &after;
        if let Some(((open, _), body)) = &unclosed {
            text += open;
            text += body;
        }
        let served = answered(&text);
        prop_assert!(
            served.is_err() || (value.is_some() && served.as_deref() == Ok("final")),
            "{}: {:?}", text, served
        );
    }

    // K5, K8
    #[test]
    fn the_value_after_all_reasoning_is_served(
        unopened in prop::option::of((body(), prop::sample::select(&SPELLINGS[..]))),
        blocks in prop::collection::vec((prose(), block()), 0..3),
        lead in prose(),
        value in value(),
        tail in prose(),
    ) {
        let mut text = unopened.map_or(String::new(), |(body, (_, close))| body + close);
        blocks.iter().for_each(|(prose, block)| text += &format!("{prose} {block}"));
        text += &format!("{lead} {value} {tail}");
        let served = answered(&text);
        prop_assert_eq!(served.as_deref(), Ok("final"), "{}", text);
    }

    // K5
    #[test]
    fn stray_brackets_before_the_answer_do_not_swallow_it(
        before in prop::collection::vec(
            prop::sample::select(&["[", "{", "x]", "x}", "[size", "5\"", "(a)", "[0, 1)", "{x", "[[", "word", ":", "as [1]", "so {}", "`"][..]),
            0..8,
        ),
        after in prop::collection::vec(prop::sample::select(&["word", "[", "{", "5\"", ","][..]), 0..4),
    ) {
        let text = format!("{} is {FINAL} {}", before.join(" "), after.join(" "));
        let served = answered(&text);
        prop_assert_eq!(served.as_deref(), Ok("final"), "{}", text);
    }
}
