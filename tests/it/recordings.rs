//! Does every recorded response say what somebody who read it says that it says?
//!
//! `recordings/expectations.jsonl` has one line a recording, keyed by its id; a new recording is a new line. A field
//! that is left out is expected to be empty. `differs` is the reason why a line is known not to hold. Of a quotation
//! there is no more than its outcome, and of no recording its text: a length and a hash (FNV-1a, 64 bits) are there.
//! The recordings are not part of the repository; where they are missing the tests say so and pass.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use rig::__private::Decoded;
use serde_json::{Map, Value, json};
use tests::recordings::{Recording, files};

const EXPECTATIONS: &str = include_str!("../recordings/expectations.jsonl");

// K3, K4, K5, T1.
#[test]
fn recordings_say_what_is_expected_of_them() {
    let expected = expectations();
    let recordings = recordings();
    let mut failed = Vec::new();
    let mut known = 0;
    for recording in &recordings {
        let Some(expected) = expected.get(&recording.id) else {
            failed.push(format!("{}: no line expects anything of it", recording.id));
            continue;
        };
        let found = facts(recording, recording.decode(usize::MAX).as_ref());
        match (found == expected.facts, &expected.differs) {
            (true, None) => {}
            (true, Some(_)) => failed.push(format!("{}: holds after all", recording.id)),
            (false, Some(_)) => known += 1,
            (false, None) => failed.push(format!(
                "{}: {}, expected {}",
                recording.id,
                Value::Object(found),
                Value::Object(expected.facts.clone())
            )),
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
    assert!(
        known * 20 <= recordings.len(),
        "{known} are known to differ"
    );
}

// K5: the pieces in which a response arrives mean nothing.
#[test]
fn recordings_say_the_same_in_single_bytes() {
    for recording in recordings() {
        let Some(mut whole) = recording.decode(usize::MAX) else {
            continue;
        };
        for size in [1, 2, 5] {
            let cut = recording.decode(size);
            assert_eq!(cut.as_ref(), Some(&whole), "{} by {size}", recording.id);
        }
        if !whole.deltas.is_empty() && !whole.text.is_empty() {
            whole.text.clone_from(&whole.deltas);
            assert_eq!(
                recording.decode(7),
                Some(whole),
                "{}: the deltas",
                recording.id
            );
        }
    }
}

/// What is expected of one recording.
struct Expectation {
    facts: Map<String, Value>,
    /// Why it is known not to hold.
    differs: Option<Value>,
}

fn expectations() -> BTreeMap<String, Expectation> {
    let mut expected = BTreeMap::new();
    for line in EXPECTATIONS.lines() {
        let mut facts: Map<String, Value> = serde_json::from_str(line).unwrap();
        let Some(Value::String(id)) = facts.remove("id") else {
            panic!("a line without an id: {line}");
        };
        let differs = facts.remove("differs");
        let again = expected.insert(id, Expectation { facts, differs });
        assert!(again.is_none(), "expected twice: {line}");
    }
    expected
}

/// Returns what a line can say of a recording.
fn facts(recording: &Recording, decoded: Option<&Decoded>) -> Map<String, Value> {
    let Some(decoded) = decoded else {
        return Map::from_iter([("outcome".to_owned(), "unsupported".into())]);
    };
    let mut facts = json!({
        "outcome": decoded.outcome.name(),
        "class": decoded.class.map(|class| class.name()),
        "falls_through": decoded.falls_through.then_some(true),
    });
    if !recording.is_quoted {
        let tools = decoded.tool_calls.iter().map(|(name, _)| name.as_str());
        let tools: Vec<_> = tools.collect();
        let pages = decoded.citations.len();
        let text = Some(&decoded.text).filter(|text| !text.is_empty());
        let more = json!({
            "tokens_in": decoded.tokens_in,
            "tokens_out": decoded.tokens_out,
            "tokens_cached": decoded.tokens_cached,
            "tokens_cache_write": decoded.tokens_cache_write,
            "served_tier": decoded.served_tier,
            "tools": (!tools.is_empty()).then_some(tools),
            "citations": (pages > 0).then_some(pages),
            "text_chars": text.map(|text| text.chars().count()),
            "text_fnv": text.map(|text| format!("{:016x}", fnv(text))),
        });
        let all = facts.as_object_mut().unwrap();
        all.extend(more.as_object().unwrap().clone());
    }
    let facts = facts.as_object().unwrap().clone();
    facts
        .into_iter()
        .filter(|(_, value)| !value.is_null())
        .collect()
}

fn fnv(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[expect(clippy::print_stderr, reason = "a skipped test has to say so")]
fn recordings() -> Vec<Recording> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let files = files(&root.join("../../shared/corpora/provider-recordings"));
    let files = files.unwrap_or_default();
    if files.is_empty() {
        eprintln!("no recordings here: skipped");
    }
    let read = |file| Recording::of(&fs::read(file).unwrap()).unwrap();
    files.iter().map(read).collect()
}
