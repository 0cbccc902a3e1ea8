//! Do the field cases come out over real connections as they do from a script?
//!
//! The inputs lie beside the repository, in `shared/fieldcases`, and are sent byte for byte. A test that has none says so.

mod keys;
mod wrapped;

use std::fs;
use std::path::{Path, PathBuf};

use rig::__private::{
    ANTHROPIC, Answer, Candidate, Capabilities, DEEPSEEK, Dialect, Enforcement, FIREWORKS, GEMINI,
    Limits, Plan, Policy, Price, Provider, Rates, Repair, Route, Schema, Segment, Template, Tool,
    call,
};
use rig::{Event, FailureClass, NoVariant, Turn, Usd};
use serde_json::{Value, json};
use tests::routes::fc_base::{self, FcBase};

use crate::bed::{Bed, bed, fast_bed};
use crate::server::Reply;

struct Case(PathBuf);

impl Case {
    fn open(name: &str) -> Option<Self> {
        let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/fieldcases");
        let folder = cases.join(name);
        if folder.is_dir() {
            return Some(Self(folder));
        }
        eprintln!("skipped: the inputs of {name} are not beside the repository");
        None
    }

    fn read(&self, file: &str) -> String {
        fs::read_to_string(self.0.join(file)).unwrap()
    }

    fn json(&self, file: &str) -> Value {
        serde_json::from_str(&self.read(file)).unwrap()
    }

    /// A whole response, as it stands.
    fn http(&self, file: &str) -> Reply {
        Reply::Whole(self.read(file))
    }

    /// A stream of events, in chunks of these lengths; in one where there are none.
    fn stream(&self, file: &str, lengths: &[usize]) -> Reply {
        let body = fs::read(self.0.join(file)).unwrap();
        let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
        let mut pieces = vec![head.into()];
        let mut rest = &body[..];
        let whole = [body.len()];
        for length in if lengths.is_empty() { &whole } else { lengths } {
            let (chunk, more) = rest.split_at(*length);
            let mut piece = format!("{length:x}\r\n").into_bytes();
            piece.extend_from_slice(chunk);
            piece.extend_from_slice(b"\r\n");
            pieces.push(piece);
            rest = more;
        }
        assert!(rest.is_empty(), "{file}");
        pieces.push(b"0\r\n\r\n".to_vec());
        Reply::Bytes(pieces)
    }

    /// The file as it is meant to be sent.
    fn reply(&self, file: &str) -> (Reply, bool) {
        match file.ends_with(".sse") {
            true => (self.stream(file, &[]), true),
            false => (self.http(file), false),
        }
    }
}

static RELAY: Provider = Provider {
    name: "relay",
    dialect: Dialect::OpenAiResponses,
    ..Provider::BLANK
};

/// Who answers a file of this name.
fn host(file: &str) -> &'static Provider {
    match file.split('.').next() {
        Some("anthropic") => &ANTHROPIC,
        Some("responses") => &RELAY,
        _ => &DEEPSEEK,
    }
}

fn candidate(provider: &'static Provider) -> Candidate {
    Candidate {
        provider,
        model: "model-a",
        capabilities: Capabilities::of(&[]),
        enforcement: Enforcement::JsonMode,
        price: Some(Price::flat(
            Rates::nanos(3_000_000_000, 15_000_000_000).cached(300_000_000),
        )),
        limits: Limits::UNKNOWN,
    }
}

fn route(providers: &[&'static Provider], retries: &'static [(FailureClass, u32)]) -> Route {
    let candidates: Vec<_> = providers
        .iter()
        .map(|provider| candidate(provider))
        .collect();
    Route {
        name: "case",
        schema: fc_base::ROUTE.schema,
        plan: Plan {
            candidates: candidates.leak(),
            prompt: Template {
                segments: &[Segment::Variable("q")],
            },
            repair: Some(Repair {
                max_repairs: 1,
                model: None,
            }),
        },
        policy: Policy {
            retries,
            ..Policy::BLANK
        },
        ..Route::BLANK
    }
}

/// Calls a route that lives as long as the process, whole or as a stream.
fn ask<T: Answer>(bed: &Bed, route: Route, streams: bool) -> rig::Result<rig::Run<T>> {
    let call = call::<T, NoVariant>(Box::leak(Box::new(route)), json!({ "q": "x" })).on(&bed.rig);
    bed.runtime.block_on(async {
        if !streams {
            return call.run().await;
        }
        let mut events = call.stream();
        loop {
            if let Event::Done(run) = events.next().await.expect("a run tells its end")? {
                return Ok(run);
            }
        }
    })
}

// K4: a bad key told as a bad request is asked once; another bad request is none of it.
#[test]
fn fc_20_a_bad_key_told_as_400() {
    let Some(case) = Case::open("FC-20") else {
        return;
    };
    let patient = &[(FailureClass::Network, 3), (FailureClass::CapacityShed, 3)];
    let two = || route(&[&GEMINI, &DEEPSEEK], patient);
    for (file, class) in [
        ("bad_key.http", "config_auth"),
        ("other_400.http", "network"),
    ] {
        let bed = bed([case.http(file), case.http("second_ok.http")]);
        assert_eq!(
            ask::<FcBase>(&bed, two(), false).unwrap().output.answer,
            "ok"
        );
        bed.has(&[
            &format!("gemini/model-a {class}"),
            "deepseek/model-a conformant",
        ]);
    }
    let bed = bed([case.http("bad_key.http")]);
    let error = ask::<FcBase>(&bed, route(&[&GEMINI], patient), false).unwrap_err();
    assert_eq!(error.class(), Some(FailureClass::ConfigAuth));
    assert!(!error.failure().unwrap().fix_hint().is_empty());
    let told = format!("{error} {error:?} {:?}", bed.rows.rows());
    assert!(!told.contains(crate::bed::KEY), "{told}");
    bed.has(&["gemini/model-a config_auth"]);
}

// K3, L3: as the scripted test has it, now of bytes that came over a socket.
#[test]
fn fc_21_a_refusal_in_its_own_field() {
    let Some(case) = Case::open("FC-21") else {
        return;
    };
    for (file, expected) in case.json("expect.json")["outputs"].as_object().unwrap() {
        let (reply, streams) = case.reply(file);
        let bed = bed([reply]);
        let host = host(file);
        let _ = ask::<FcBase>(
            &bed,
            route(&[host], &[(FailureClass::ContentInvalid, 2)]),
            streams,
        );
        bed.has(&[&format!(
            "{}/model-a {}",
            host.name,
            expected.as_str().unwrap()
        )]);
        let row = &bed.rows.rows()[0];
        assert_eq!(
            (row.tokens_in, row.tokens_out),
            (Some(90), Some(12)),
            "{file}"
        );
    }
}

// K4, K5: what an edge answers is classified by its status, and what is no answer is not repaired.
#[test]
fn fc_22_bodies_that_are_not_json() {
    let Some(case) = Case::open("FC-22") else {
        return;
    };
    for (file, expected) in case.json("expect.json")["outputs"].as_object().unwrap() {
        let bed = bed([Reply::Cut(case.read(file))]);
        let error = ask::<FcBase>(&bed, route(&[&DEEPSEEK], &[]), false).unwrap_err();
        bed.has(&[&format!("deepseek/model-a {}", expected.as_str().unwrap())]);
        let message = &error.failure().unwrap().message;
        assert!(
            !message.is_empty() && message.len() < 1_000,
            "{file}: {message}"
        );
        let status = file.split(['.', '_']).next().unwrap();
        assert!(
            status == "200" || message.contains(status),
            "{file}: {message}"
        );
    }
}

/// A stream serves the answer that the case expects, with its usage.
fn serves(case: &Case, reply: Reply, what: &str) {
    let expect = case.json("expect.json");
    let bed = bed([reply]);
    let run = ask::<FcBase>(&bed, route(&[&DEEPSEEK], &[]), true);
    let run = run.unwrap_or_else(|error| panic!("{what}: {error}"));
    assert_eq!(expect["value"]["answer"], run.output.answer, "{what}");
    bed.has(&["deepseek/model-a conformant"]);
    let row = &bed.rows.rows()[0];
    assert_eq!(
        (row.tokens_in, row.tokens_out),
        (Some(120), Some(9)),
        "{what}"
    );
}

// W2
#[test]
fn fc_28_to_30_streams_however_they_come() {
    for (name, files) in [
        ("FC-28", &["stream.sse"][..]),
        ("FC-29", &["stream.sse"]),
        (
            "FC-30",
            &[
                "empty_choices_first.sse",
                "usage_cumulative_everywhere.sse",
                "usage_last.sse",
                "usage_with_finish_then_empty.sse",
            ],
        ),
    ] {
        let Some(case) = Case::open(name) else { return };
        for file in files {
            serves(&case, case.stream(file, &[]), file);
            let length = fs::metadata(case.0.join(file)).unwrap().len() as usize;
            serves(&case, case.stream(file, &vec![1; length]), file);
        }
    }
    let Some(case) = Case::open("FC-28") else {
        return;
    };
    let lengths: Vec<usize> =
        serde_json::from_value(case.json("chunks_inside_chars.json")).unwrap();
    serves(
        &case,
        case.stream("stream.sse", &lengths),
        "inside characters",
    );
}

// L1
#[test]
fn fc_31_tool_calls_with_empty_arguments() {
    let Some(case) = Case::open("FC-31") else {
        return;
    };
    let tool = |name, parameters: &'static str| Tool {
        name,
        description: "Does what its name says.",
        parameters: Schema {
            name,
            json: parameters,
            skeleton: "",
            gate: rig_build::compile_schema(parameters, &[]).unwrap().leak(),
            hash: 0,
        },
    };
    let add = r#"{"type":"object","required":["a","b"],"properties":{"a":{"type":"integer"},"b":{"type":"integer"}}}"#;
    let tools: &'static [Tool] =
        vec![tool("add", add), tool("get_time", r#"{"type":"object"}"#)].leak();
    let expect = case.json("expect.json");
    for (file, expected) in expect["tool_calls"].as_object().unwrap() {
        let (reply, streams) = case.reply(file);
        let bed = bed([reply]);
        let route = Route {
            tools,
            ..route(&[host(file)], &[])
        };
        let run = ask::<Turn<FcBase>>(&bed, route, streams).unwrap();
        let calls = run.meta.tool_calls.iter();
        let calls: Vec<_> = calls
            .map(|call| json!([call.name, call.arguments]))
            .collect();
        assert_eq!(&Value::from(calls), expected, "{file}");
        bed.has(&[&format!("{}/model-a conformant", host(file).name)]);
    }
}

// K2: however it is written; how long is waited is the scripted test's to say.
#[test]
fn fc_36_retry_after_in_every_shape() {
    let Some(case) = Case::open("FC-36") else {
        return;
    };
    let patient = |providers: &[&'static Provider]| {
        let route = route(providers, &[(FailureClass::CapacityShed, 1)]);
        let policy = Policy {
            // On a clock that runs so fast an attempt needs hours.
            timeout_ms: 3_600_000,
            ..route.policy
        };
        Route { policy, ..route }
    };
    for file in [
        "seconds",
        "date_past",
        "negative",
        "exponent",
        "word",
        "empty",
        "ms",
    ] {
        let replies = [case.http(&format!("{file}.http")), case.http("ok.http")];
        let bed = fast_bed(200, replies);
        ask::<FcBase>(&bed, patient(&[&DEEPSEEK]), false).unwrap();
        bed.has(&[
            "deepseek/model-a capacity_shed",
            "deepseek/model-a conformant",
        ]);
    }
    let bed = bed([case.http("huge.http"), case.http("ok.http")]);
    ask::<FcBase>(&bed, patient(&[&DEEPSEEK, &FIREWORKS]), false).unwrap();
    bed.has(&[
        "deepseek/model-a capacity_shed",
        "fireworks/model-a conformant",
    ]);
}

// T1: what the last event says replaces what the first said, and each part has its own price.
#[test]
fn fc_45_usage_that_is_told_twice() {
    let Some(case) = Case::open("FC-45") else {
        return;
    };
    let bed = bed([case.stream("stream.sse", &[])]);
    let run = ask::<FcBase>(&bed, route(&[&ANTHROPIC], &[]), true).unwrap();
    assert_eq!(run.output.answer, "ok");
    bed.has(&["anthropic/model-a conformant"]);
    let row = &bed.rows.rows()[0];
    let tokens = (row.tokens_in, row.tokens_cached, row.tokens_out);
    assert_eq!(tokens, (Some(50), Some(10), Some(27)));
    assert_eq!(row.cost, Usd::nanos(528_000));
}
