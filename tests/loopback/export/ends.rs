//! Does a process end well, and say what it could not send?

use rig::Rig;
use rig::testing::{ManualClock, Scripted, ScriptedTransport};
use serde_json::{Value, json};
use tests::routes::{KeptInput, kept};

use super::{Receiver, logs, runtime};

/// Returns a rig that exports to a receiver, and whose store is in a folder.
fn rig(folder: &std::path::Path, url: String) -> Rig {
    let clock = ManualClock::new();
    let transport = ScriptedTransport::new(&clock);
    let good = json!({ "verdict": "yes", "because": "b", "also": null });
    (0..60).for_each(|_| transport.push(Scripted::chat(&good.to_string())));
    let builder = Rig::builder().ignore_env().key("north", "k");
    let builder = builder.transport(transport).clock(clock);
    let builder = builder.telemetry_db(folder.join("t.db"));
    builder.ingest(url, "s3cret-key").build().unwrap()
}

async fn ask(rig: &Rig) -> String {
    let call = kept(KeptInput {
        question: "Is it so?".to_owned(),
    });
    call.on(rig).run().await.unwrap().meta.inference_id
}

fn sent(receiver: &Receiver) -> Vec<String> {
    let rows = receiver.got().into_iter().flat_map(|(_, body)| {
        let body: Value = serde_json::from_slice(&body).unwrap();
        body["rows"].as_array().unwrap().clone()
    });
    rows.map(|row| row["id"].as_str().unwrap().to_owned())
        .collect()
}

// T4: a `main` that returns without closing its rig sends everything, where it holds a guard.
#[test]
fn a_guard_sends_what_main_leaves() {
    let folder = tempfile::tempdir().unwrap();
    let receiver = Receiver::start();
    let rig = rig(folder.path(), receiver.url.clone());
    let ids = runtime().block_on(async {
        let _guard = rig.guard();
        let mut ids = Vec::new();
        for _ in 0..60 {
            ids.push(ask(&rig).await);
        }
        ids
    });
    // The rig lives on, as the process default does.
    assert_eq!(sent(&receiver), ids);
    drop(rig);
}

// T9: a destination at fault is named without its address, its key and what it says, and nothing is lost.
#[test]
fn a_destination_at_fault_is_named_and_loses_nothing() {
    logs::listen();
    let folder = tempfile::tempdir().unwrap();
    let refusing = Receiver::answering(
        "HTTP/1.1 401 Unauthorized\r\ncontent-length: 29\r\n\r\nwalrus: s3cret-key is unknown",
    );
    let url = format!("{}/the-way-in?token=t0ken", refusing.url);
    let id = runtime().block_on(async {
        let rig = rig(folder.path(), url);
        let id = ask(&rig).await;
        rig.clone().close().await.unwrap();
        let states = rig.exports().await.unwrap();
        let [ingest] = states.as_slice() else {
            panic!("{states:?}")
        };
        assert_eq!((ingest.waiting, ingest.set_aside), (1, 0));
        assert_eq!(ingest.fault.as_deref(), Some("status 401"));
        id
    });
    let logs = logs::lines();
    assert!(
        logs.contains("the destination of exports refuses every request"),
        "{logs}"
    );
    for hidden in ["s3cret-key", "the-way-in", "t0ken", "walrus: "] {
        assert!(!logs.contains(hidden), "{hidden}: {logs}");
    }
    let receiver = Receiver::start();
    runtime()
        .block_on(rig(folder.path(), receiver.url.clone()).close())
        .unwrap();
    assert_eq!(sent(&receiver), [id]);
}
