//! Does a host of the responses dialect serve like any other?

use rig::Call;
use rig::testing::Scripted;
use serde_json::json;
use tests::routes::{RelayedInput, ladder::Reply, relayed};
use tests::{block_on, check};

use crate::{GOOD, QUESTION};

fn asked() -> Call<Reply, relayed::Variant> {
    relayed(RelayedInput {
        question: QUESTION.to_owned(),
    })
}

// T1, T2: usage, tier and citations; the page is named twice.
#[test]
fn a_host_of_the_responses_dialect_serves() {
    let page = json!({ "type": "url_citation", "url": "https://a.example", "title": "A" });
    let part = json!({ "type": "output_text", "text": GOOD, "annotations": [page, page] });
    let body = json!({
        "status": "completed",
        "output": [{ "type": "message", "content": [part] }],
        "usage": {
            "input_tokens": 100,
            "input_tokens_details": { "cached_tokens": 30 },
            "output_tokens": 20,
        },
        "service_tier": "default",
    });
    let seen = check(
        "relay",
        [Scripted::status(200, body.to_string())],
        |rig| asked().on(rig).run(),
        r#"
        1 relay/r1 conformant 100+20 cached 30 $0.00014 ->default
        = {"verdict":"yes","because":"it is","also":null}
        "#,
    );
    assert_eq!(seen.body(1)["tools"], json!([{ "type": "web_search" }]));
    let meta = &seen.run().meta;
    assert_eq!(meta.citations.len(), 1);
    assert_eq!(meta.citations[0].url, "https://a.example");
}

// W2.
#[test]
fn a_host_of_the_responses_dialect_streams_what_it_would_say_whole() {
    let whole = block_on(asked().on(&relayed::mock()).run()).unwrap();
    let mock = relayed::mock();
    let mut events = asked().on(&mock).stream();
    let mut text = String::new();
    let mut last = None;
    while let Some(event) = block_on(events.next()) {
        match event.unwrap() {
            rig::Event::Delta { text: piece, .. } => text.push_str(&piece),
            event => last = Some(event),
        }
    }
    let Some(rig::Event::Done(run)) = last else {
        panic!("the last event is the answer");
    };
    assert_eq!(run.output, whole.output);
    assert_eq!(serde_json::from_str::<Reply>(&text).unwrap(), whole.output);
}
