//! Do receivers that nobody here wrote understand the spans?
//!
//! The collector and the viewer are programs of `shared/testbeds`, which install themselves where that is possible. The viewer
//! takes long to install, and is asked only where it is already.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use rig::testing::{ManualClock, MemoryStore, Scripted, ScriptedTransport};
use rig::{Otlp, Rig};
use serde_json::{Value, json};
use tests::routes::{KeptInput, kept};

use super::runtime;

const PARENT: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

/// A program of the test beds, which is stopped when it is dropped.
struct Bed {
    script: PathBuf,
    port: &'static str,
    url: String,
}

impl Bed {
    /// Starts it, or says why it does not.
    fn start(name: &str, port: &'static str) -> Option<Self> {
        let script = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../../shared/testbeds")
            .join(name);
        if !script.is_file() {
            eprintln!("skipped: {name} is not beside the repository");
            return None;
        }
        let started = Command::new(&script)
            .args(["start", port])
            .output()
            .unwrap();
        let told = String::from_utf8_lossy(&started.stdout).into_owned();
        let url = told.lines().find_map(|line| line.strip_prefix("url="));
        let Some(url) = url.filter(|_| started.status.success()) else {
            eprintln!("skipped: {name} does not start: {}", told.trim());
            return None;
        };
        let url = url.to_owned();
        Some(Self { script, port, url })
    }

    /// Returns the spans that have arrived, once there are so many of a trace.
    fn spans(&self, trace: &str, count: usize) -> Vec<Value> {
        for _ in 0..300 {
            let listed = Command::new(&self.script)
                .args(["spans", self.port])
                .output()
                .unwrap();
            let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
            let lines = listed.lines().filter(|line| line.contains(trace));
            let mut spans: Vec<Value> = lines
                .filter_map(|line| serde_json::from_str(line).ok())
                .collect();
            // The viewer lists them in one array, with those of other traces.
            if let [Value::Object(whole)] = spans.as_slice()
                && let Some(Value::Array(all)) = whole.get("data")
            {
                let is_ours = |span: &&Value| span.to_string().contains(trace);
                spans = all.iter().filter(is_ours).cloned().collect();
            }
            if spans.len() >= count {
                return spans;
            }
            std::thread::sleep(std::time::Duration::from_millis(100));
        }
        panic!("{count} spans of {trace} have not arrived");
    }
}

impl Drop for Bed {
    fn drop(&mut self) {
        let _ = Command::new(&self.script)
            .args(["stop", self.port])
            .output();
    }
}

/// Makes a run of two attempts and returns the ids: the run's, and those of its attempts.
fn run(otlp: Otlp, traceparent: &str) -> (String, Vec<String>) {
    let (clock, store) = (ManualClock::new(), MemoryStore::default());
    let transport = ScriptedTransport::new(&clock);
    transport.push(Scripted::chat("{}"));
    let good = json!({ "verdict": "yes", "because": "b", "also": null });
    transport.push(Scripted::chat(&good.to_string()));
    let builder = Rig::builder().ignore_env().key("north", "k").otlp(otlp);
    let builder = builder
        .transport(transport)
        .clock(clock)
        .store(store.clone());
    let rig = builder.build().unwrap();
    let input = KeptInput {
        question: "Is it so?".to_owned(),
    };
    let meta = runtime().block_on(async {
        let call = kept(input).traceparent(traceparent).on(&rig).run();
        let meta = call.await.unwrap().meta;
        rig.close().await.unwrap();
        meta
    });
    let ids = store.rows().into_iter().map(|row| row.id);
    (meta.run_id, ids.collect())
}

fn hex(id: &str) -> String {
    id.replace('-', "")
}

// T4: a collector that nobody here wrote takes the spans, plain and compressed, with their ids, attributes and failures.
#[test]
fn a_collector_takes_the_spans() {
    let Some(bed) = Bed::start("otlp-receiver", "14438") else {
        return;
    };
    for (otlp, parent) in [
        (Otlp::new(&bed.url), ""),
        (Otlp::new(&bed.url).gzip(), ""),
        (Otlp::new(&bed.url).gzip(), PARENT),
    ] {
        let (run_id, ids) = run(otlp, parent);
        let spans = bed.spans(&run_id, 2);
        let by_id: BTreeMap<_, _> = spans.iter().map(|span| (text(span, "id"), span)).collect();
        for (number, id) in ids.iter().enumerate() {
            let span = by_id[&hex(id)[16..]];
            let trace = if parent.is_empty() {
                hex(&run_id)
            } else {
                parent[3..35].to_owned()
            };
            assert_eq!(text(span, "trace_id"), trace);
            assert_eq!(
                text(span, "parent_id"),
                parent.get(36..52).unwrap_or_default()
            );
            let attributes = &span["attributes"];
            assert_eq!(attributes["gen_ai.operation.name"], "chat");
            assert_eq!(attributes["gen_ai.provider.name"], "north");
            assert_eq!(attributes["gen_ai.request.model"], "n1");
            assert_eq!(attributes["gen_ai.usage.input_tokens"], 100);
            assert_eq!(attributes["gen_ai.usage.output_tokens"], 20);
            let failure = if number == 0 {
                json!("content_invalid")
            } else {
                Value::Null
            };
            assert_eq!(attributes["error.type"], failure);
        }
    }
}

// T4: a viewer of LLM spans knows ours for what they are.
#[test]
fn a_viewer_knows_an_llm_span() {
    let installed = std::env::var_os("RIG_TESTBED_DIR").map_or_else(
        || {
            std::env::home_dir()
                .unwrap_or_default()
                .join(".cache/rig-testbeds")
        },
        PathBuf::from,
    );
    if !installed.join("phoenix/installed.txt").exists() {
        eprintln!("skipped: otlp-phoenix is not installed");
        return;
    }
    let Some(bed) = Bed::start("otlp-phoenix", "16446") else {
        return;
    };
    let (run_id, _) = run(Otlp::new(&bed.url), "");
    for span in bed.spans(&run_id, 2) {
        assert_eq!(span["span_kind"], "LLM", "{span}");
        let attributes = &span["attributes"];
        assert_eq!(attributes["llm.model_name"], "n1", "{span}");
        assert_eq!(attributes["llm.token_count.prompt"], 100, "{span}");
        assert_eq!(attributes["llm.token_count.completion"], 20, "{span}");
    }
}

fn text(span: &Value, key: &str) -> String {
    span[key]
        .as_str()
        .unwrap_or_else(|| panic!("{span}"))
        .to_owned()
}
