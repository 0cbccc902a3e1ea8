//! What does a bake-off stand on here? A crate's folder with routes, a database with captures, and a server on loopback
//! whose conformance and prices are known.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rig_runtime::Store;
use rig_runtime::store::sqlite::SqliteStore;
use rig_runtime::store::{AttemptRow, Capture};
use rig_runtime::testing::chat_completion;
use rig_spec::Usd;
use tempfile::TempDir;

use crate::server::{Reply, Seen, Server, response};
use crate::{Ran, rig_with};

/// How many captures there are.
pub(crate) const CAPTURES: usize = 40;

/// A folder to run commands in.
pub(crate) struct Bench {
    pub(crate) folder: TempDir,
    pub(crate) server: Server,
    /// From which request on nothing is answered.
    pub(crate) stall_from: Arc<AtomicUsize>,
}

const ROUTE: &str = "
route: label
version: 7
schema: ./label.schema.json
candidates:
  - { provider: good, model: g1 }
  - { provider: fair, model: f1 }
  - { provider: poor, model: p1 }
  - { provider: twin, model: t1, trial: true }
prompt: { system: ./label.md, variables: [ticket] }
policy: { sampling: { max_output_tokens: 60 } }
capture: true
variants:
  - { name: fair, candidates: [{ provider: fair, model: f1 }] }
  - { name: poor, candidates: [{ provider: poor, model: p1 }] }
";

const SCHEMA: &str = r#"{"title":"Label","type":"object","required":["label"],"additionalProperties":false,
"properties":{"label":{"enum":["even","odd"]}}}"#;

/// The hosts: their model, and what a million tokens cost in and out.
const HOSTS: [(&str, &str, &str, &str); 4] = [
    ("good", "g1", "1.00", "2.00"),
    ("fair", "f1", "0.10", "0.20"),
    ("poor", "p1", "0.01", "0.02"),
    ("twin", "t1", "0.50", "1.00"),
];

/// What a token costs in and out, in nano-dollars: the independent form of the table above.
pub(crate) fn nanos_per_token(host: &str) -> (u64, u64) {
    match host {
        "good" => (1_000, 2_000),
        "fair" => (100, 200),
        "poor" => (10, 20),
        "twin" => (500, 1_000),
        other => panic!("no host {other}"),
    }
}

/// Whether a host answers a case in the right shape: all, 34 and 20 of 40.
pub(crate) fn conforms(host: &str, case: usize) -> bool {
    match host {
        "fair" => ![3, 9, 15].contains(&(case % 20)),
        "poor" => case.is_multiple_of(2),
        _ => true,
    }
}

/// The tokens that a case is billed, in and out.
pub(crate) fn tokens(case: usize) -> (u64, u64) {
    (100 + case as u64, 10 + (case as u64 % 3))
}

/// Returns the host and the case of a request.
pub(crate) fn asked(seen: &Seen) -> (String, usize) {
    let host = seen.head.split('/').nth(1).unwrap().to_owned();
    let case = seen.body.split_once("case ").unwrap().1;
    (host, case.split('.').next().unwrap().parse().unwrap())
}

fn answer(seen: &Seen) -> Reply {
    let (host, case) = asked(seen);
    let label = match (conforms(&host, case), case % 2) {
        (false, _) => "neither",
        (true, 0) => "even",
        (true, _) => "odd",
    };
    let (input, output) = tokens(case);
    let text = format!(r#"{{"label":"{label}"}}"#);
    response(200, "", &chat_completion(&text, "stop", input, output))
}

impl Bench {
    /// Returns a folder with 40 captures.
    pub(crate) fn new() -> Self {
        let stall_from = Arc::new(AtomicUsize::new(usize::MAX));
        let (from, mut count) = (Arc::clone(&stall_from), 0);
        let server = Server::start(move |seen| {
            count += 1;
            if count > from.load(Ordering::SeqCst) {
                return Reply::Stall(String::new());
            }
            answer(seen)
        });
        let folder = tempfile::tempdir().unwrap();
        let bench = Self {
            folder,
            server,
            stall_from,
        };
        bench.write_routes(ROUTE);
        bench.capture();
        bench
    }

    pub(crate) fn write_routes(&self, route: &str) {
        let routes = self.folder.path().join("routes");
        fs::create_dir_all(&routes).unwrap();
        let mut hosts = "providers:\n".to_owned();
        for (name, model, input, output) in HOSTS {
            let url = self.server.base_url(name);
            hosts += &format!(
                "  - {{ name: {name}, dialect: openai, base_url: '{url}', capabilities: [structured_native, json_mode], \
                 models: {{ {model}: {{ in: {input}, out: {output}, context: 4096, max_output: 1024 }} }} }}\n"
            );
        }
        for (name, text) in [
            ("label.yaml", route),
            ("rig.yaml", &hosts),
            ("label.md", "Is it even or odd? {{ticket}}\n"),
            ("label.schema.json", SCHEMA),
        ] {
            fs::write(routes.join(name), text).unwrap();
        }
    }

    pub(crate) fn route(&self) -> &'static str {
        ROUTE
    }

    pub(crate) fn database(&self) -> PathBuf {
        self.folder.path().join(".modelrig/telemetry.db")
    }

    /// Stores the captures, as calls of an older version would have.
    fn capture(&self) {
        let store = SqliteStore::open(&self.database()).unwrap();
        for case in 0..CAPTURES {
            let row = row(case);
            let capture = Capture {
                id: row.id.clone(),
                ts_ms: row.ts_ms,
                run_id: row.run_id.clone(),
                route: row.route.clone(),
                route_version: row.route_version,
                variables: format!(r#"{{"ticket":"case {case}."}}"#),
                output: r#"{"label":"even"}"#.to_owned(),
            };
            store.record_captured(row, capture);
        }
    }

    pub(crate) fn rig(&self, arguments: &[&str]) -> Ran {
        rig_with(self.folder.path(), arguments, &[("COLUMNS", "80")])
    }

    /// Returns what was asked since the last question, in no order.
    pub(crate) fn asked(&self) -> Vec<(String, usize)> {
        let mut asked: Vec<_> = self.server.requests().iter().map(asked).collect();
        asked.sort();
        asked
    }
}

/// The capture's id of a case.
pub(crate) fn id(case: usize) -> String {
    format!("capture-{case:02}")
}

/// The row of a case that was served.
pub(crate) fn row(case: usize) -> AttemptRow {
    AttemptRow {
        id: id(case),
        ts_ms: 1_790_000_000_000 + case as i64 * 1_000,
        run_id: format!("run-{case:02}"),
        route: Cow::Borrowed("label"),
        route_version: 6,
        provider: Cow::Borrowed("good"),
        model: Cow::Borrowed("g1"),
        requested_tier: None,
        served_tier: None,
        tokens_in: Some(100),
        tokens_out: Some(10),
        tokens_cached: None,
        tokens_cache_write: None,
        searches: None,
        cost: Usd::nanos(120_000),
        pricing_missing: false,
        usage_missing: false,
        latency_ms: 500 + case as u64,
        ttfb_ms: None,
        failure: None,
        attempt: 1,
        tags: BTreeMap::from([("customer".to_owned(), format!("c{}", case % 2))]),
        served_variant: None,
        repaired_by: None,
        cache_key: None,
        prefix_fingerprint: None,
        lane: Cow::Borrowed("ladder"),
        traceparent: None,
    }
}
