//! What do servers that nobody here wrote say of our requests?
//!
//! Each test needs a server that is already there, and its address in the environment: a llama.cpp server
//! (`LOCAL_LLM_URL`), `llmock` (`CHAOS_LLMOCK_URL`), `aimock` (`CHAOS_AIMOCK_URL`), a
//! LiteLLM proxy in front of the first (`LITELLM_URL`). Without one a test says that it was skipped.

use std::env;
use std::io::{Read, Write};
use std::net::TcpStream;

use rig::__private::{
    ANTHROPIC, Backoff, Candidate, Capabilities, Capability, Enforcement, GEMINI, Limits, Lowered,
    OPENAI, Plan, Policy, Provider, Route, Sampling, Segment, Template, call,
};
use rig::testing::MemoryStore;
use rig::{Event, FailureClass, NoVariant, Rig, Run};
use serde_json::{Value, json};
use tests::routes::fc_base::{self, FcBase};

/// A server, a rig that knows it as every provider, and the rows.
struct Witness {
    url: String,
    rig: Rig,
    rows: MemoryStore,
    runtime: tokio::runtime::Runtime,
}

/// A host of the chat dialect, at the server's `/v1`.
static LOCAL: Provider = Provider {
    name: "local",
    ..Provider::BLANK
};

impl Witness {
    /// Returns the server that this variable names, or says that there is none.
    fn of(variable: &str) -> Option<Self> {
        let Ok(url) = env::var(variable) else {
            eprintln!("skipped: {variable} names no server");
            return None;
        };
        let url = url.trim_end_matches('/').to_owned();
        // Two of them give the dialects folders of their own.
        let (anthropic, gemini) = match variable {
            "CHAOS_LLMOCK_URL" => ("/anthropic/v1", "/gemini/v1beta"),
            _ => ("/v1", "/v1beta"),
        };
        let rows = MemoryStore::default();
        let builder = Rig::builder().ignore_env().store(rows.clone());
        let builder = [
            ("local", "/v1"),
            ("openai", "/v1"),
            ("anthropic", anthropic),
            ("gemini", gemini),
        ]
        .into_iter()
        .fold(builder, |builder, (name, path)| {
            let builder = builder.key(name, "sk-test-key");
            builder.base_url(name, format!("{url}{path}"))
        });
        Some(Self {
            rig: builder.build().unwrap(),
            url,
            rows,
            runtime: tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .unwrap(),
        })
    }

    fn run(&self, route: &'static Route) -> rig::Result<Run<FcBase>> {
        let run = call::<FcBase, NoVariant>(route, json!({ "q": QUESTION }));
        self.runtime.block_on(run.on(&self.rig).run())
    }

    /// Returns what a run says and ends with.
    fn stream(&self, route: &'static Route) -> (String, rig::Result<Run<FcBase>>) {
        let run = call::<FcBase, NoVariant>(route, json!({ "q": QUESTION }));
        let mut events = run.on(&self.rig).stream();
        let mut said = String::new();
        self.runtime.block_on(async {
            loop {
                match events.next().await.expect("a run tells its end") {
                    Ok(Event::Delta { text, .. }) => said += &text,
                    Ok(Event::Discarded { .. }) => said.clear(),
                    Ok(Event::Done(run)) => return (said, Ok(run)),
                    Ok(_) => {}
                    Err(error) => return (said, Err(error)),
                }
            }
        })
    }

    /// Returns every row in short, e.g. `good conformant`.
    fn short(&self) -> Vec<String> {
        let rows = self.rows.rows();
        let short = rows.iter().map(|row| {
            let ended = row.failure.map_or("conformant", |failure| failure.name());
            format!("{} {ended}", row.model)
        });
        short.collect()
    }

    /// Asks the server for JSON that is about itself.
    fn ask(&self, method: &str, path: &str, body: &str) -> Value {
        let host = self.url.strip_prefix("http://").unwrap();
        let mut stream = TcpStream::connect(host).unwrap();
        let length = body.len();
        // The older version of the protocol has no chunks.
        write!(
            stream,
            "{method} {path} HTTP/1.0\r\nhost: {host}\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
        )
        .unwrap();
        let mut response = String::new();
        stream.read_to_string(&mut response).unwrap();
        let (_, body) = response.split_once("\r\n\r\n").unwrap();
        serde_json::from_str(body).unwrap_or_else(|_| panic!("{path}: {response}"))
    }
}

const QUESTION: &str = "Say in one word what colour the sky has.";

fn candidate(provider: &'static Provider, model: &'static str, native: bool) -> Candidate {
    let enforcement = if native {
        Enforcement::Native(&Lowered::AS_WRITTEN)
    } else {
        Enforcement::Coached
    };
    Candidate {
        provider,
        model,
        capabilities: Capabilities::of(&[Capability::StructuredNative]),
        enforcement,
        price: None,
        limits: Limits::UNKNOWN,
    }
}

fn route(
    candidates: Vec<Candidate>,
    retries: &'static [(FailureClass, u32)],
    max_output_tokens: u32,
) -> &'static Route {
    // The shortest that the hosts ask for.
    let soon = Backoff {
        first_ms: 1_000,
        factor: 1.0,
        cap_ms: 1_000,
        jitter: 0.0,
    };
    let backoff = vec![
        (FailureClass::CapacityShed, soon),
        (FailureClass::Network, soon),
    ];
    Box::leak(Box::new(Route {
        name: "witness",
        schema: fc_base::ROUTE.schema,
        plan: Plan {
            candidates: candidates.leak(),
            prompt: Template {
                segments: &[Segment::Variable("q")],
            },
            repair: None,
        },
        policy: Policy {
            retries,
            backoff: backoff.leak(),
            timeout_ms: 120_000,
            sampling: Sampling {
                max_output_tokens: Some(max_output_tokens),
                ..Sampling::BLANK
            },
            ..Policy::BLANK
        },
        ..Route::BLANK
    }))
}

/// What `aimock` answers whom.
const FIXTURES: &str = include_str!("../beds/ladder.json");

/// L3 to L5: four models of one host as one route, and the host's journal is our rows.
#[test]
fn aimock_journals_what_the_rows_say() {
    let Some(witness) = Witness::of("CHAOS_AIMOCK_URL") else {
        return;
    };
    witness.ask("POST", "/__aimock/reset", "");
    witness.ask("POST", "/__aimock/fixtures", FIXTURES);
    let models = ["first-429", "bad-key", "wrong-shape", "good"];
    let candidates = models.map(|model| candidate(&LOCAL, model, true));
    let run = witness.run(route(candidates.into(), &[], 64)).unwrap();
    assert_eq!(run.output.answer, "good");
    assert_eq!(
        (run.meta.tokens_in, run.meta.tokens_out),
        (Some(11), Some(7))
    );
    let expected = [
        "first-429 capacity_shed",
        "bad-key config_auth",
        "wrong-shape content_invalid",
        "good conformant",
    ];
    assert_eq!(witness.short(), expected);
    let journal = witness.ask("GET", "/__aimock/journal?limit=50", "");
    let journal: Vec<_> = journal
        .as_array()
        .unwrap()
        .iter()
        .map(|one| {
            assert_eq!(one["path"], "/v1/chat/completions");
            let model = one["body"]["model"].as_str().unwrap();
            (
                model.to_owned(),
                one["response"]["status"].as_u64().unwrap(),
            )
        })
        .collect();
    let told: Vec<_> = models
        .map(str::to_owned)
        .into_iter()
        .zip([429, 401, 200, 200])
        .collect();
    assert_eq!(journal, told);
}

/// K2, K4, K5: faults in three dialects, whole and streamed; the judge finds no error, and has seen as many requests as
/// there are rows.
#[test]
fn llmock_finds_no_error() {
    let Some(witness) = Witness::of("CHAOS_LLMOCK_URL") else {
        return;
    };
    witness.ask("POST", "/_llmock/reset", "");
    let fail =
        |status: u16| json!({ "type": "fail", "status": status, "retry_after": 1, "times": 1 });
    let fault =
        |kind: &str| json!({ "type": "stream_fault", "kind": kind, "after_chunks": 1, "times": 1 });
    let answer = json!({ "type": "reply", "text": r#"{"answer": "blue"}"#, "times": null });
    let retries = &[(FailureClass::CapacityShed, 2), (FailureClass::Network, 2)];
    let mut rows = 0;
    for (provider, shed) in [(&OPENAI, 429), (&ANTHROPIC, 529), (&GEMINI, 503)] {
        let route = route(vec![candidate(provider, "model-a", true)], retries, 64);
        let mut meets = |behaviours: Vec<Value>, streams: bool, expected: &[&str]| {
            let mut behaviours = behaviours;
            behaviours.push(answer.clone());
            let scenario = json!({ "behaviors": behaviours }).to_string();
            witness.ask("POST", "/_llmock/scenario", &scenario);
            let end = if streams {
                let (said, end) = witness.stream(route);
                assert!(said.contains("blue"), "{said}");
                end
            } else {
                witness.run(route)
            };
            assert_eq!(end.unwrap().output.answer, "blue");
            let expected = expected.iter().map(|end| format!("model-a {end}"));
            assert_eq!(
                witness.short()[rows..],
                expected.collect::<Vec<_>>(),
                "{}",
                provider.name
            );
            rows = witness.rows.rows().len();
        };
        meets(vec![fail(shed)], false, &["capacity_shed", "conformant"]);
        meets(vec![fail(500)], true, &["network", "conformant"]);
        for kind in ["truncate", "disconnect", "malformed"] {
            meets(vec![fault(kind)], true, &["network", "conformant"]);
        }
    }
    let verdict = witness.ask("GET", "/_llmock/verdict", "");
    println!("{verdict}");
    assert_eq!(
        (&verdict["passed"], &verdict["errors"]),
        (&json!(true), &json!(0))
    );
    assert_eq!(verdict["attempts"], json!(rows));
    assert_eq!(rows, 30);
}

/// A real model that its host's grammar holds to the schema never misses it, whole or streamed. It may talk until it is
/// cut, which is `content_invalid` with its tokens known (K3, L14).
#[test]
fn a_local_model_serves_in_the_chat_dialect() {
    let Some(witness) = Witness::of("LOCAL_LLM_URL") else {
        return;
    };
    let limited = |most| {
        route(
            vec![candidate(&LOCAL, "smollm2-135m-instruct", true)],
            &[],
            most,
        )
    };
    for _ in 0..10 {
        let whole = witness.run(limited(200));
        let (said, streamed) = witness.stream(limited(200));
        if let Ok(run) = &streamed {
            let heard: Value = serde_json::from_str(&said).unwrap();
            assert_eq!(heard["answer"], run.output.answer);
        }
        for end in [whole, streamed] {
            match end {
                Ok(run) => assert!(run.meta.validated && run.meta.tokens_in.unwrap() > 10),
                Err(error) => is_cut(&error),
            }
        }
    }
    is_cut(&witness.run(limited(3)).unwrap_err());
    let rows = witness.rows.rows();
    assert_eq!((rows.len(), rows[20].tokens_out), (21, Some(3)));
    assert!(rows.iter().all(|row| row.tokens_out.is_some()));
    assert!(rows.iter().any(|row| row.failure.is_none()));
    figures(&witness, "chat completions");
}

fn is_cut(error: &rig::Error) {
    let failure = error.failure().unwrap();
    assert_eq!(failure.class, FailureClass::ContentInvalid);
    assert!(failure.message.contains("max_output_tokens"), "{failure}");
}

/// The same model behind the messages dialect, which ignores schemas there: every answer is judged, and each is a row
/// whose tokens are known.
#[test]
fn a_local_model_answers_in_the_messages_dialect() {
    let Some(witness) = Witness::of("LOCAL_LLM_URL") else {
        return;
    };
    judged(
        &witness,
        candidate(&ANTHROPIC, "smollm2-135m-instruct", false),
        5,
    );
    figures(&witness, "messages");
}

/// A proxy translates two dialects for the same model.
#[test]
fn a_proxy_serves_gemini_and_anthropic() {
    let Some(witness) = Witness::of("LITELLM_URL") else {
        return;
    };
    for provider in [&GEMINI, &ANTHROPIC] {
        judged(&witness, candidate(provider, "local-chat", true), 5);
    }
    figures(&witness, "a proxy");
    // What is not there is a failure that falls through, and says what the proxy says.
    let missing = route(
        vec![
            candidate(&ANTHROPIC, "no-such-model", true),
            candidate(&ANTHROPIC, "local-chat", true),
        ],
        &[],
        200,
    );
    let before = witness.short().len();
    let _ = witness.run(missing);
    let rows = witness.short();
    assert_eq!(rows.len(), before + 2);
    assert!(rows[before].starts_with("no-such-model "), "{rows:?}");
}

/// Asks so often, whole and as a stream. A model as small as that may miss a schema that nobody enforces.
fn judged(witness: &Witness, candidate: Candidate, times: usize) {
    let provider = candidate.provider;
    let route = route(vec![candidate], &[], 200);
    for _ in 0..times {
        for streams in [false, true] {
            let end = match streams {
                true => witness.stream(route).1,
                false => witness.run(route),
            };
            let row = witness.rows.rows().pop().unwrap();
            assert_eq!(row.provider, provider.name);
            match end {
                Ok(run) => assert_eq!(run.meta.inference_id, row.id),
                Err(error) => {
                    assert_eq!(error.class(), Some(FailureClass::ContentInvalid), "{error}");
                }
            }
        }
    }
}

/// Prints how the attempts ended, and what they used.
fn figures(witness: &Witness, what: &str) {
    let rows = witness.rows.rows();
    let conformant = rows.iter().filter(|row| row.failure.is_none()).count();
    let counted = rows.iter().filter(|row| row.tokens_out.is_some()).count();
    let output: u64 = rows.iter().filter_map(|row| row.tokens_out).sum();
    println!(
        "{what}: {conformant} of {} conformant, {counted} with usage, {output} tokens out",
        rows.len()
    );
}
