//! FC-73: a keep-alive that comes as data.

use std::time::Duration;

use rig::__private::Policy;
use rig::FailureClass;
use rig::testing::Scripted;
use serde_json::Value;
use tests::block_on;
use tests::routes::fc_base::FcBase;

use super::Case;
use super::ladder::{DEEPSEEK_A, ask, classes, route, world};
use super::streams::serves;

// K9.
#[test]
fn fc_73_a_keep_alive_that_comes_as_data() {
    let Some(case) = Case::open("FC-73") else {
        return;
    };
    let Value::Object(files) = case.json("expect.json") else {
        panic!("no files");
    };
    for (file, outcome) in files {
        let stream = case.read(&file);
        let reply = || Scripted::stream().piece(Duration::ZERO, stream.clone());
        if outcome == "conformant" {
            serves(reply(), &serde_json::json!({ "answer": "ok" }), &file);
            continue;
        }
        let world = world();
        world.push([reply()]);
        let mut events = ask::<FcBase>(route(&DEEPSEEK_A, None, Policy::BLANK))
            .on(&world.rig)
            .stream();
        let error = loop {
            if let Err(error) = block_on(events.next()).unwrap() {
                break error;
            }
        };
        assert_eq!(error.class(), Some(FailureClass::Network), "{file}");
        assert_eq!(classes(&world), [Some("network")], "{file}");
    }
}
