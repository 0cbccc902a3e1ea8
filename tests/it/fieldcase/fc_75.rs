//! FC-75: a zero usage beside the real one.

use std::time::Duration;

use rig::__private::{Candidate, GEMINI, Policy};
use rig::Usd;
use rig::testing::Scripted;
use serde_json::Value;
use tests::routes::fc_base::FcBase;
use tests::{World, block_on, listen};

use super::Case;
use super::ladder::{DEEPSEEK_A, ask, candidate, response, route};

static GEMINI_A: [Candidate; 1] = [candidate(&GEMINI)];

/// What 120 tokens in and 9 out cost.
const COST: Usd = Usd::nanos(330_000);

/// Makes a call with an envelope and returns what it used, what that cost and what was charged.
fn used(file: &str, reply: Scripted) -> ([Option<u64>; 2], Usd, Usd) {
    let world = World::with_keys("deepseek gemini");
    world.push([reply]);
    let candidates = match file.starts_with("gemini") {
        true => &GEMINI_A,
        false => &DEEPSEEK_A,
    };
    let call = ask::<FcBase>(route(candidates, None, Policy::BLANK));
    let call = call.envelope("e", Usd::dollars(1_000)).on(&world.rig);
    let run = match file.ends_with(".http") {
        true => block_on(call.run()),
        false => block_on(listen(call.stream(), |_| ())),
    };
    assert_eq!(run.unwrap().output.answer, "ok", "{file}");
    let rows = world.store.rows();
    assert_eq!(rows.len(), 1, "{file}");
    let envelope = block_on(world.rig.envelope("e")).unwrap().unwrap();
    let row = &rows[0];
    ([row.tokens_in, row.tokens_out], row.cost, envelope.spent)
}

// T1, E2.
#[test]
fn fc_75_a_zero_takes_no_count_back() {
    let Some(case) = Case::open("FC-75") else {
        return;
    };
    let Value::Object(files) = case.json("expect.json") else {
        panic!("no files");
    };
    let streamed = |file: &str| Scripted::stream().piece(Duration::ZERO, case.read(file));
    // Without any usage the envelope keeps what was reserved. A request for a stream is longer, and reserves more.
    let silent = case.read("null_last.sse").replace("\"usage\"", "\"other\"");
    let silent = Scripted::stream().piece(Duration::ZERO, silent);
    let whole = r#"{"choices":[{"message":{"content":"{\"answer\":\"ok\"}"}}]}"#;
    let reserved = [
        used("silent.sse", silent),
        used("silent.http", Scripted::status(200, whole)),
    ];
    for (file, expected) in files {
        let reply = match file.ends_with(".http") {
            true => response(&case, &file),
            false => streamed(&file),
        };
        let (tokens, cost, charged) = used(&file, reply);
        assert_eq!(serde_json::json!(tokens), expected, "{file}");
        if tokens == [None, None] {
            let of_its_kind = &reserved[usize::from(file.ends_with(".http"))];
            assert_eq!(&(tokens, cost, charged), of_its_kind, "{file}");
            assert!(charged > COST, "{file}");
        } else {
            assert_eq!((cost, charged), (COST, COST), "{file}");
        }
    }
}
