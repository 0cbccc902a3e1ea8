//! FC-23, and the raw lane: keys as people paste them, and calls without a route.

use rig::__private::{DEEPSEEK, FIREWORKS};
use rig::testing::MemoryStore;
use rig::{Event, FailureClass, Rig, raw};
use serde_json::Value;
use tests::routes::fc_base::FcBase;

use super::{Case, ask, route};
use crate::bed::{Bed, bed};
use crate::server::{Reply, Server};

// R5, K4: what cannot be a key is none, and is in no text.
#[test]
fn fc_23_keys_that_were_pasted() {
    let Some(case) = Case::open("FC-23") else {
        return;
    };
    for (name, key) in case.json("env_cases.json").as_object().unwrap() {
        let key = key.as_str().unwrap();
        let server = Server::scripted([case.http("ok.http"), case.http("ok.http")]);
        let rows = MemoryStore::default();
        let rig = Rig::builder()
            .ignore_env()
            .store(rows.clone())
            .key("deepseek", key)
            .key("fireworks", "sk-test-good")
            .base_url("deepseek", server.base_url("deepseek"))
            .base_url("fireworks", server.base_url("fireworks"))
            .build()
            .unwrap();
        let bed = Bed {
            server,
            rows,
            rig,
            runtime: tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .unwrap(),
        };
        let run = ask::<FcBase>(&bed, route(&[&DEEPSEEK, &FIREWORKS], &[]), false).unwrap();
        let sent = match name.as_str() {
            "trailing_lf" | "trailing_crlf" | "spaces" => "sk-test-0000",
            _ => "sk-test-good",
        };
        let requests = bed.server.requests();
        assert_eq!(requests.len(), 1, "{name}");
        let header = format!("\r\nauthorization: bearer {sent}\r\n");
        assert!(requests[0].head.contains(&header), "{name}");
        assert_eq!(bed.rows.rows().len(), 1, "{name}");
        let told = format!("{:?} {:?} {:?}", run.meta, bed.rows.rows(), bed.rig);
        assert!(!told.contains("sk-t"), "{name}: {told}");
        // The raw lane has no other candidate: it works, or says so before anything is sent.
        let direct = bed
            .rig
            .raw(raw::Provider::DEEPSEEK, "model-a")
            .user("x")
            .run();
        let direct = bed.runtime.block_on(direct);
        let requests = bed.server.requests();
        if sent == "sk-test-0000" {
            direct.unwrap();
            let header = "\r\nauthorization: bearer sk-test-0000\r\n";
            assert!(requests[0].head.contains(header), "{name}");
            assert_eq!(bed.rows.rows()[1].lane, "raw");
        } else {
            let error = direct.unwrap_err();
            assert_eq!(error.class(), Some(FailureClass::ConfigAuth), "{name}");
            assert!(!format!("{error} {error:?}").contains("sk-t"), "{name}");
            assert_eq!((requests.len(), bed.rows.rows().len()), (0, 1), "{name}");
        }
    }
}

// W1: a direct call is one request and one row, whole and streamed.
#[test]
fn a_direct_call_is_one_request_and_one_row() {
    let Some(case) = Case::open("FC-28") else {
        return;
    };
    let busy = Reply::Whole(case.read("../FC-22/503.http"));
    let bed = bed([busy, case.stream("stream.sse", &[])]);
    let ask = || bed.rig.raw(raw::Provider::DEEPSEEK, "model-a").user("x");
    let error = bed.runtime.block_on(ask().run()).unwrap_err();
    assert_eq!(error.class(), Some(FailureClass::CapacityShed));
    let mut events = ask().stream();
    let mut said = String::new();
    let run = bed.runtime.block_on(async {
        loop {
            match events.next().await.expect("a run tells its end").unwrap() {
                Event::Delta { text, .. } => said += &text,
                Event::Done(run) => break run,
                _ => {}
            }
        }
    });
    assert_eq!(run.output.text, said);
    let answer: Value = serde_json::from_str(&said).unwrap();
    assert_eq!(answer, case.json("expect.json")["value"]);
    bed.has(&[
        "deepseek/model-a capacity_shed",
        "deepseek/model-a conformant",
    ]);
    assert!(bed.rows.rows().iter().all(|row| row.lane == "raw"));
}
