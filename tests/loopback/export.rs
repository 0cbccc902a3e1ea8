//! Does what is exported arrive over real connections, and none of it that must not?

use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use flate2::read::GzDecoder;
use proptest::prelude::*;
use rig::store::Verdict;
use rig::testing::{ManualClock, MemoryStore, Scripted, ScriptedTransport};
use rig::{Otlp, Rig, Store};
use serde_json::{Value, json};
use tests::routes::{KeptInput, kept};

mod beds;
mod ends;
mod logs;

/// A receiver that keeps what it gets.
#[derive(Clone)]
pub(crate) struct Receiver {
    pub(crate) url: String,
    got: Arc<Mutex<Vec<Got>>>,
}

/// The head of a request in lower case, and its body without compression.
type Got = (String, Vec<u8>);

impl Receiver {
    /// Starts one that answers 200 to everything.
    pub(crate) fn start() -> Self {
        Self::answering("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n")
    }

    /// Starts one that answers this to everything.
    fn answering(answer: &'static str) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let got = Arc::default();
        let receiver = Self { url, got };
        let kept = receiver.clone();
        thread::spawn(move || {
            for stream in listener.incoming() {
                let kept = kept.clone();
                // An error is the client's going away.
                thread::spawn(move || kept.serve(&mut stream.unwrap(), answer));
            }
        });
        receiver
    }

    fn serve(&self, stream: &mut TcpStream, answer: &str) -> std::io::Result<()> {
        loop {
            let mut head = Vec::new();
            let mut byte = [0];
            while !head.ends_with(b"\r\n\r\n") {
                stream.read_exact(&mut byte)?;
                head.push(byte[0]);
            }
            let head = String::from_utf8(head).unwrap().to_lowercase();
            let length = head.split_once("content-length: ").unwrap().1;
            let mut body = vec![0; length.split_once("\r\n").unwrap().0.parse().unwrap()];
            stream.read_exact(&mut body)?;
            if head.contains("content-encoding: gzip") {
                let mut plain = Vec::new();
                GzDecoder::new(body.as_slice()).read_to_end(&mut plain)?;
                body = plain;
            }
            self.got.lock().unwrap().push((head, body));
            stream.write_all(answer.as_bytes())?;
        }
    }

    pub(crate) fn got(&self) -> Vec<Got> {
        self.got.lock().unwrap().clone()
    }
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap()
}

/// Returns a response of the chat dialect whose provider says something in every place that is stored.
fn chatty(answer: &str, aside: &str) -> Scripted {
    let body = json!({
        "id": aside,
        "model": aside,
        "service_tier": aside,
        "choices": [{
            "index": 0,
            "message": { "role": "assistant", "content": answer },
            "finish_reason": "stop",
        }],
        "usage": { "prompt_tokens": 100, "completion_tokens": 20 },
    });
    Scripted::status(200, body.to_string())
}

fn holds(bytes: &[u8], marker: &str) -> bool {
    bytes
        .windows(marker.len())
        .any(|part| part == marker.as_bytes())
}

/// Everything that leaves or is said during some runs that are full of a marker.
struct Leak {
    bodies: Vec<Got>,
    said: String,
    rows: usize,
    captures: usize,
}

fn run_marked(marker: &str, is_sentence: bool, failing: bool) -> Leak {
    let text = match is_sentence {
        true => format!("Where is the {marker}, and why?"),
        false => marker.to_owned(),
    };
    let receiver = Receiver::start();
    let (clock, store) = (ManualClock::new(), MemoryStore::default());
    let transport = ScriptedTransport::new(&clock);
    let good = json!({ "verdict": "yes", "because": text, "also": null }).to_string();
    let bad = json!({ "verdict": text, "because": text, text.clone(): text }).to_string();
    let echo = json!({ "error": { "message": format!("no key {marker}: {text}"), "code": text } });
    let refused = || Scripted::status(500, echo.to_string());
    match failing {
        true => (0..9).for_each(|_| transport.push(chatty(&bad, &text))),
        false => [chatty(&bad, &text), chatty(&good, &text), refused()]
            .into_iter()
            .for_each(|reply| transport.push(reply)),
    }
    let rig = Rig::builder()
        .ignore_env()
        .key("north", format!("{marker}-key"))
        .key("vault", format!("{marker}-key"))
        .transport(transport)
        .clock(clock)
        .store(store.clone())
        .ingest(format!("{}/rows", receiver.url), "ingest-key")
        .otlp(Otlp::new(&receiver.url).header("x-otlp-key", "otlp-key"))
        .build()
        .unwrap();
    let input = KeptInput {
        question: text.clone(),
    };
    let mut said = String::new();
    runtime().block_on(async {
        let call = kept(input).tag("customer", &text).tag(&text, &text);
        match call.on(&rig).run().await {
            Ok(run) => {
                let verdict = Verdict::down().note(&text);
                said += &format!("{verdict:?}");
                rig.grade(&run.meta, verdict).await.unwrap();
            }
            Err(error) => said += &format!("{error} {error:?}"),
        }
        rig.close().await.unwrap();
    });
    let rows = store.rows().len();
    let captures = tests::block_on(store.captures("kept")).unwrap().len();
    let bodies = receiver.got();
    Leak {
        bodies,
        said,
        rows,
        captures,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    // T3, T4: of captures, tags, prompts, outputs, keys and verdicts nothing is in an exported body, a log line or an error,
    // be it a word that could be a name or a sentence.
    #[test]
    fn nothing_marked_leaves(
        marker in "[a-z]{4}[0-9]{8}",
        is_sentence in any::<bool>(),
        failing in any::<bool>(),
    ) {
        logs::listen();
        let leak = run_marked(&marker, is_sentence, failing);
        prop_assert!(leak.rows > 1);
        prop_assert_eq!(leak.captures, usize::from(!failing));
        // Both exporters have sent all of it: the ingest's body has as many rows.
        let exported: Vec<_> = leak.bodies.iter().filter(|(head, _)| head.starts_with("post /rows ")).collect();
        let rows: usize = exported
            .iter()
            .map(|(_, body)| serde_json::from_slice::<Value>(body).unwrap()["rows"].as_array().unwrap().len())
            .sum();
        prop_assert_eq!(rows, leak.rows);
        prop_assert!(leak.bodies.iter().any(|(head, _)| head.starts_with("post /v1/traces ")));
        for (head, body) in &leak.bodies {
            prop_assert!(!holds(body, &marker), "{}", head);
            prop_assert!(!head.contains(&marker), "{}", head);
        }
        prop_assert!(!leak.said.contains(&marker), "{}", leak.said);
        let logs = logs::lines();
        prop_assert!(!logs.contains(&marker));
        for secret in ["ingest-key", "otlp-key"] {
            prop_assert!(!logs.contains(secret) && !leak.bodies.iter().any(|(_, body)| holds(body, secret)));
        }
    }
}

// T4: a receiver that is away costs no run anything, its failures are logged without address and key, and what was not
// sent is sent by the next process, from the same file.
#[test]
fn what_one_process_could_not_send_the_next_one_sends() {
    logs::listen();
    let folder = tempfile::tempdir().unwrap();
    let open = |url: &str| {
        let clock = ManualClock::new();
        let transport = ScriptedTransport::new(&clock);
        let good = json!({ "verdict": "yes", "because": "b", "also": null });
        (0..3).for_each(|_| transport.push(Scripted::chat(&good.to_string())));
        let builder = Rig::builder().ignore_env().key("north", "k");
        let builder = builder.transport(transport).clock(clock);
        let builder = builder.telemetry_db(folder.path().join("t.db"));
        builder.ingest(url, "s3cret-key").build().unwrap()
    };
    let ask = || {
        kept(KeptInput {
            question: "Is it so?".to_owned(),
        })
    };
    // Nobody listens there.
    let closed = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
        .unwrap()
        .local_addr()
        .unwrap();
    let mut ids = runtime().block_on(async {
        let rig = open(&format!("http://{closed}/where-rows-go"));
        let mut ids = Vec::new();
        for _ in 0..3 {
            ids.push(ask().on(&rig).run().await.unwrap().meta.inference_id);
        }
        rig.close().await.unwrap();
        ids
    });
    let logs = logs::lines();
    assert!(
        logs.contains("rows could not be exported") && logs.contains("connection refused"),
        "{logs}"
    );
    for hidden in ["s3cret-key", "where-rows-go"] {
        assert!(!logs.contains(hidden), "{logs}");
    }
    let receiver = Receiver::start();
    runtime().block_on(async {
        let rig = open(&receiver.url);
        ids.push(ask().on(&rig).run().await.unwrap().meta.inference_id);
        rig.close().await.unwrap();
        // A third has nothing left to send.
        open(&receiver.url).close().await.unwrap();
    });
    let rows = receiver.got().into_iter().flat_map(|(head, body)| {
        assert!(head.contains("authorization: bearer s3cret-key"), "{head}");
        let body: Value = serde_json::from_slice(&body).unwrap();
        body["rows"].as_array().unwrap().clone()
    });
    let sent: Vec<_> = rows
        .map(|row| row["id"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(sent, ids);
}
