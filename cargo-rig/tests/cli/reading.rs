//! Do the commands that read tell what the rows say?

use rig_runtime::store::sqlite::SqliteStore;
use rig_runtime::store::{Envelope, Reserve, Store as _};
use rig_spec::Usd;
use serde_json::Value;

use crate::bench::{self, Bench};

pub(crate) fn json(bench: &Bench, arguments: &[&str]) -> Value {
    let ran = bench.rig(arguments);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{arguments:?}");
    serde_json::from_str(&ran.stdout).unwrap()
}

#[test]
fn the_report_adds_up_and_leaves_replays_out() {
    let bench = Bench::new();
    let baked = bench.rig(&[
        "bakeoff",
        "label",
        "--variants",
        "fair",
        "--budget-usd",
        "1",
        "--last",
        "4",
    ]);
    assert_eq!(baked.code, 0);
    let report = |more: &[&str]| {
        json(
            &bench,
            &[&["report", "--since", "9000d", "--json"], more].concat(),
        )
    };
    let by_route = report(&[]);
    let label = &by_route["groups"][0];
    assert_eq!(
        (label["name"].as_str(), label["runs"].as_u64()),
        (Some("label"), Some(40))
    );
    assert_eq!(label["cost_nanousd"], 40 * 120_000);
    assert_eq!(label["served"]["hits"], 40);
    // 500 to 539 ms, each once.
    assert_eq!(
        label["latency_ms"],
        serde_json::json!({ "p50": 519, "p90": 535, "p99": 539 })
    );
    assert_eq!(by_route["replays"]["attempts"], 4);
    let with = report(&["--replays"]);
    assert_eq!(with["groups"][0]["runs"], 44);
    let by_model = report(&["--by", "model", "--replays"]);
    let names: Vec<_> = by_model["groups"]
        .as_array()
        .unwrap()
        .iter()
        .map(|group| group["name"].clone())
        .collect();
    assert_eq!(names, ["fair/f1", "good/g1"]);
    let by_tag = report(&["--by", "tag:customer"]);
    let runs: Vec<_> = by_tag["groups"]
        .as_array()
        .unwrap()
        .iter()
        .map(|group| (group["name"].clone(), group["runs"].clone()))
        .collect();
    assert_eq!(runs, [("c0".into(), 20.into()), ("c1".into(), 20.into())]);
    let text = bench.rig(&["report", "--since", "9000d"]).stdout;
    assert!(text.contains("without 4 attempts of replays"), "{text}");
    assert_eq!(bench.rig(&["report", "--by", "tag:"]).code, 2);
}

#[test]
fn runs_are_listed_shown_and_graded() {
    let bench = Bench::new();
    let ran = bench.rig(&[
        "replay",
        "label",
        "--variant",
        "poor",
        "--capture",
        "capture-07",
    ]);
    assert_eq!(ran.code, 1);
    let runs = json(
        &bench,
        &["runs", "--since", "9000d", "--last", "2", "--json"],
    );
    let newest = &runs["runs"][0];
    let id = newest["run_id"].as_str().unwrap();
    assert_eq!(
        (newest["failure_class"].as_str(), newest["last"].as_str()),
        (Some("content_invalid"), Some("poor/p1"))
    );
    assert_eq!(runs["runs"][1]["run_id"], "run-39");
    let failed = json(&bench, &["runs", "--failed", "--json"]);
    assert_eq!(failed["runs"].as_array().unwrap().len(), 1);

    assert_eq!(
        bench
            .rig(&[
                "grade", id, "down", "--score", "-0.5", "--source", "test", "--note", "no label"
            ])
            .code,
        0
    );
    assert_eq!(bench.rig(&["grade", "capture-03", "up"]).code, 0);
    let lost = bench.rig(&["grade", "nothing", "up"]);
    assert_eq!(lost.code, 2);
    assert!(
        lost.stderr
            .contains("no attempt or run with the id `nothing` is stored"),
        "{}",
        lost.stderr
    );

    let shown = json(&bench, &["run", "last", "--json"]);
    assert_eq!(
        (
            shown["run_id"].as_str(),
            shown["attempts"].as_array().unwrap().len()
        ),
        (Some(id), 1)
    );
    assert_eq!(
        (
            shown["verdicts"][0]["verdict"].as_str(),
            shown["verdicts"][0]["score"].as_f64()
        ),
        (Some("down"), Some(-0.5))
    );
    let text = bench.rig(&["run", id]).stdout;
    for words in [
        "label v7, variant poor",
        "content_invalid",
        "graded down for the run, score -0.5, by test: no label",
    ] {
        assert!(text.contains(words), "{words} in\n{text}");
    }
    assert!(
        bench
            .rig(&["run", "run-03"])
            .stdout
            .contains("graded up for attempt 1")
    );
    assert_eq!(bench.rig(&["run", "nothing"]).code, 2);
}

// E2: the command explains, line by line, why an envelope was charged more than its rows cost.
#[test]
fn an_envelope_is_shown_with_what_each_run_took() {
    let bench = Bench::new();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    let store = SqliteStore::open(&bench.database()).unwrap();
    let mut rows = [bench::row(41), bench::row(42), bench::row(43)];
    rows[1].usage_missing = true;
    rows[1].cost = Usd::ZERO;
    rows[2].run_id = rows[1].run_id.clone();
    for (row, charge) in rows.iter().zip([Some(rows[0].cost), None, None]) {
        let reserved = store.reserve(Reserve {
            envelope: Envelope {
                name: "support".to_owned(),
                cap: Usd::dollars(5),
            },
            id: row.id.clone(),
            amount: Usd::nanos(2_000_000),
            now_ms: row.ts_ms,
            lapses_ms: i64::MAX,
        });
        runtime.block_on(reserved).unwrap();
        store.record(row.clone());
        if row.id != rows[2].id {
            store.settle(&row.id, charge);
        }
    }
    drop(store);

    let whole = json(&bench, &["envelopes", "support", "--json"]);
    assert_eq!(whole["spent_nanousd"], 2_120_000);
    assert_eq!(whole["reserved_nanousd"], 2_000_000);
    let runs = whole["runs"].as_array().unwrap();
    let sums: Vec<_> = runs
        .iter()
        .map(|run| {
            (
                run["charged_nanousd"].as_u64(),
                run["cost_nanousd"].as_u64(),
            )
        })
        .collect();
    assert_eq!(
        sums,
        [
            (Some(120_000), Some(120_000)),
            (Some(2_000_000), Some(120_000))
        ]
    );
    let differences: Vec<_> = runs[1]["charges"]
        .as_array()
        .unwrap()
        .iter()
        .map(|charge| charge["difference"].clone())
        .collect();
    assert_eq!(differences, ["usage_missing", "under_way"]);

    let text = bench.rig(&["envelopes", "support"]).stdout;
    for words in [
        "run-41  label",
        "charged $0.00212, cost of the rows $0.00024",
        "+$0.002 1 request: usage not reported, so its reservation is charged",
        "-$0.00012 1 request: under way, charged when it ends",
        "≥ $0.00012",
    ] {
        assert!(text.contains(words), "{words} in\n{text}");
    }
    let all = json(&bench, &["envelopes", "supp", "--json"]);
    assert_eq!(all["envelopes"][0]["name"], "support");
    let report = json(&bench, &["report", "--since", "9000d", "--json"]);
    assert_eq!(report["groups"][0]["usage_missing_attempts"], 1);
}

#[test]
fn a_database_that_is_not_there_is_not_made() {
    let folder = tempfile::tempdir().unwrap();
    for command in [
        &["report"][..],
        &["runs"],
        &["run", "last"],
        &["envelopes"],
        &["grade", "x", "up"],
    ] {
        let ran = crate::rig(folder.path(), command);
        assert_eq!(ran.code, 2, "{command:?}");
        assert!(
            ran.stderr
                .contains("there is no telemetry database at `.modelrig/telemetry.db`"),
            "{}",
            ran.stderr
        );
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}
