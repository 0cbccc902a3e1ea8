//! FC-71: the error within a gateway's error, over a socket.

use rig::__private::{DEEPSEEK, FIREWORKS};
use rig::FailureClass;
use tests::routes::fc_base::FcBase;

use super::{Case, ask, route};
use crate::bed::{bed, fast_bed};
use crate::server::response;

const PATIENT: &[(FailureClass, u32)] =
    &[(FailureClass::Network, 2), (FailureClass::CapacityShed, 2)];

// K7, K4: one request to a host whose money or key is the matter, and then the next candidate's.
#[test]
fn fc_71_the_error_within_the_error() {
    let Some(case) = Case::open("FC-71") else {
        return;
    };
    for (file, expected) in case.json("expect.json").as_object().unwrap() {
        let class = expected.as_str().unwrap().split(' ').next().unwrap();
        let (first, streams) = case.reply(file);
        let good =
            r#"{"choices":[{"message":{"content":"{\"answer\":\"ok\"}"},"finish_reason":"stop"}]}"#;
        let bed = fast_bed(5_000, [first, response(200, "", good)]);
        let run = ask::<FcBase>(&bed, route(&[&DEEPSEEK, &FIREWORKS], PATIENT), streams);
        assert_eq!(run.unwrap().output.answer, "ok", "{file}");
        let next = match class {
            "capacity_shed" => "deepseek",
            _ => "fireworks",
        };
        bed.has(&[
            &format!("deepseek/model-a {class}"),
            &format!("{next}/model-a conformant"),
        ]);
    }
}

// K7: alone, the run fails with the inner class, and says the inner reason.
#[test]
fn fc_71_alone_the_message_names_the_inner_reason() {
    let Some(case) = Case::open("FC-71") else {
        return;
    };
    for (file, reason) in [
        ("raw_quota.http", "insufficient_quota"),
        ("msg_python_filter.http", "content_filter"),
        ("status200_key.http", "invalid_api_key"),
        ("stream_raw_quota.sse", "insufficient_quota"),
        ("raw_text_429.http", "throttled at its host"),
    ] {
        let (reply, streams) = case.reply(file);
        let bed = bed([reply]);
        let error = ask::<FcBase>(&bed, route(&[&DEEPSEEK], &[]), streams).unwrap_err();
        let message = &error.failure().unwrap().message;
        assert!(message.contains(reason), "{file}: {message}");
    }
}
