//! FC-69 over sockets: what a host sends as its model's words, and what the caller is served of it; whole and streamed.

use std::fs;
use std::path::Path;

use rig::testing::{MemoryStore, chat_completion};
use rig::{Error, Event, FailureClass, Rig};
use serde_json::{Value, json};
use tests::routes::{FcChainInput, FcThoughtInput, chain, thought};

use crate::server::{Reply, Server, response};

/// Returns the rig that asks a server.
fn rig(server: &Server) -> Rig {
    let builder = Rig::builder().ignore_env().key("deepseek", "key");
    let builder = builder.base_url("deepseek", server.base_url("deepseek"));
    builder.store(MemoryStore::default()).build().unwrap()
}

/// Sends a text whole.
fn whole(text: &str) -> Reply {
    response(200, "", &chat_completion(text, "stop", 100, 20))
}

/// Sends a text in pieces of a few characters.
fn streamed(text: &str) -> Reply {
    let letters: Vec<char> = text.chars().collect();
    let event = |delta: Value, finish: Value| {
        let choice = json!({"index": 0, "delta": delta, "finish_reason": finish});
        format!("data: {}\n\n", json!({"choices": [choice]}))
    };
    let mut events: String = letters
        .chunks(3)
        .map(|piece| {
            event(
                json!({"content": piece.iter().collect::<String>()}),
                Value::Null,
            )
        })
        .collect();
    events += &event(json!({}), json!("stop"));
    events += "data: [DONE]\n\n";
    response(200, "content-type: text/event-stream\r\n", &events)
}

/// The texts of the case, each with whether it may be served: only as `final`, if at all.
fn texts() -> Vec<(String, String, bool)> {
    let mut texts = vec![
        (
            "a neighbour".to_owned(),
            "<Thinking a=\"b\">{\"answer\":\"draft\"}</Thinking>{\"answer\":\"final\"}".to_owned(),
            true,
        ),
        (
            "a neighbour's draft".to_owned(),
            "◁think▷<think>{\"answer\":\"draft\"}</think> {\"answer\":\"draft\"}".to_owned(),
            false,
        ),
    ];
    let case = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/fieldcases/FC-69");
    for (folder, is_served) in [(case.clone(), true), (case.join("draft_only"), false)] {
        for entry in fs::read_dir(folder).into_iter().flatten() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            // Without a mark nobody can know that it is a draft.
            if name.ends_with(".txt") && name != "example_then_prose.txt" {
                texts.push((name, fs::read_to_string(&path).unwrap(), is_served));
            }
        }
    }
    texts
}

// K5, K8, W2
#[tokio::test]
async fn fc_69_reasoning_in_other_marks_is_served_by_no_socket() {
    let texts = texts();
    let replies = texts
        .iter()
        .flat_map(|(_, text, _)| [whole(text), streamed(text)]);
    let server = Server::scripted(replies);
    let rig = rig(&server);
    let input = || FcThoughtInput { q: "x".to_owned() };
    for (name, _, is_served) in &texts {
        let at_once = thought(input()).on(&rig).await;
        let mut events = thought(input()).on(&rig).stream();
        let mut in_pieces = None;
        while let Some(event) = events.next().await {
            match event {
                Ok(Event::Done(run)) => in_pieces = Some(Ok(run.output)),
                Ok(_) => {}
                Err(error) => in_pieces = Some(Err(error)),
            }
        }
        for output in [Some(at_once), in_pieces] {
            match output.unwrap() {
                Ok(output) => assert!(*is_served && output.answer == "final", "{name}"),
                Err(Error::Failure(failure)) => {
                    assert_eq!(failure.class, FailureClass::ContentInvalid, "{name}");
                    assert!(!is_served, "{name}: {failure}");
                }
                Err(other) => panic!("{name}: {other}"),
            }
        }
    }
}

// L2: one thread serves all, and a deep answer does not hold it.
#[tokio::test]
async fn a_deep_chain_of_branches_with_the_same_keys_holds_no_thread() {
    let deep = r#"{"next":"#.repeat(120) + "1" + &r#","v":"a"}"#.repeat(120);
    let server = Server::scripted([whole(&deep), whole(&deep)]);
    let rig = rig(&server);
    let call = || chain(FcChainInput { q: "x".to_owned() });
    let (one, other) = tokio::join!(call().on(&rig), call().on(&rig));
    assert_eq!(one.unwrap(), other.unwrap());
}
