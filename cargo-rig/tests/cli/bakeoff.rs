//! Does a bake-off measure what was scripted, pay once, and keep to its budget?

use std::collections::BTreeMap;
use std::fs;

use rig_spec::Usd;
use serde_json::Value;

use crate::bench::{Bench, CAPTURES, conforms, id, nanos_per_token, tokens};

pub(crate) fn document(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// The ends of Wilson's interval, as the roots of (hits/n - p)^2 = z^2 p (1 - p) / n: another way than the program's.
fn wilson(hits: u64, of: u64) -> [f64; 2] {
    let (n, rate, z2) = (of as f64, hits as f64 / of as f64, 1.96_f64.powi(2));
    let (a, b, c) = (1.0 + z2 / n, -2.0 * rate - z2 / n, rate * rate);
    let root = (b * b - 4.0 * a * c).max(0.0).sqrt();
    [(-b - root) / (2.0 * a), (-b + root) / (2.0 * a)]
}

/// What a variant must come to, recomputed from what the server was told to do.
fn expected(host: &str) -> (u64, u64) {
    let (input, output) = nanos_per_token(host);
    let cost = |case: usize| {
        let (tokens_in, tokens_out) = tokens(case);
        tokens_in * input + tokens_out * output
    };
    let hits = (0..CAPTURES).filter(|case| conforms(host, *case)).count() as u64;
    (hits, (0..CAPTURES).map(cost).sum())
}

// W4: 40 captures, three variants of known conformance and price; every number is recomputed.
#[test]
fn a_bake_off_prints_what_was_scripted() {
    let bench = Bench::new();
    let arguments = [
        "bakeoff",
        "label",
        "--variants",
        "default,fair,poor",
        "--last",
        "50",
        "--budget-usd",
        "5",
    ];
    let ran = bench.rig(&[&arguments[..], &["--json"]].concat());
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    let found = document(&ran.stdout);
    let hosts = [("default", "good"), ("fair", "fair"), ("poor", "poor")];
    for (at, (variant, host)) in hosts.into_iter().enumerate() {
        let one = &found["variants"][at];
        let (hits, cost) = expected(host);
        assert_eq!(one["variant"], variant);
        assert_eq!(
            (
                one["conformant"]["hits"].as_u64(),
                one["conformant"]["of"].as_u64()
            ),
            (Some(hits), Some(40))
        );
        for (end, expected) in wilson(hits, 40).into_iter().enumerate() {
            let printed = one["conformant"]["wilson95"][end].as_f64().unwrap();
            assert!(
                (printed - expected).abs() < 1e-4,
                "{variant}: {printed} is not {expected}"
            );
        }
        assert_eq!(one["spent_nanousd"].as_u64(), Some(cost));
        let per_thousand = (cost as f64 * 1_000.0 / hits as f64).round() as u64;
        assert_eq!(one["effective_nanousd_per_1k"].as_u64(), Some(per_thousand));
        let failed = 40 - hits;
        let failures = one["failures"]["content_invalid"].as_u64().unwrap_or(0);
        assert_eq!(failures, failed);
        assert_eq!(
            (one["partial"].is_null(), one["priced"].as_bool()),
            (true, Some(true))
        );
    }
    assert_eq!(
        [40, 34, 20],
        hosts.map(|(_, host)| expected(host).0),
        "100 %, 85 %, 50 %"
    );
    let verdicts = found["variants"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["verdict"].as_str().unwrap());
    assert!(verdicts.eq(["incumbent", "kept", "kept"]));

    // Each capture once under each variant, and one row for each request, tagged and uncaptured.
    let all = ["fair", "good", "poor"]
        .into_iter()
        .flat_map(|host| (0..CAPTURES).map(move |case| (host.to_owned(), case)));
    assert!(bench.asked().into_iter().eq(all));
    let connection = rusqlite::Connection::open(bench.database()).unwrap();
    let count = |select: &str| {
        connection
            .query_row(select, [], |row| row.get::<_, i64>(0))
            .unwrap()
    };
    let tag = found["id"].as_str().unwrap();
    let tagged =
        format!("SELECT count(DISTINCT run_id) FROM inferences WHERE tags ->> 'replay' = '{tag}'");
    assert_eq!(count(&tagged), 120);
    assert_eq!(count("SELECT count(*) FROM captures"), 40);

    // The artifact has every sample; resuming what is done asks nothing, and prints the same.
    let artifact = fs::read_to_string(
        bench
            .folder
            .path()
            .join(found["artifact"].as_str().unwrap()),
    )
    .unwrap();
    let kinds = artifact
        .lines()
        .map(|line| document(line)["kind"].as_str().unwrap().to_owned());
    let mut counts = BTreeMap::new();
    kinds.for_each(|kind| *counts.entry(kind).or_insert(0) += 1);
    let expected = [("bakeoff", 1), ("sample", 120), ("started", 120)];
    assert!(
        counts
            .iter()
            .map(|(kind, count)| (kind.as_str(), *count))
            .eq(expected)
    );
    let again = bench.rig(&[&arguments[..], &["--resume", "--json"]].concat());
    assert_eq!((again.code, document(&again.stdout)), (0, found));
    assert_eq!(bench.asked(), []);

    // What people read says the same.
    let text = bench.rig(&[&arguments[..], &["--resume"]].concat()).stdout;
    for words in [
        "40 (100.0 %)",
        "34 (85.0 %)",
        "20 (50.0 %)",
        "91.2–100.0 %",
        "70.9–92.9 %",
        "35.2–64.8 %",
    ] {
        assert!(text.contains(words), "{words} in\n{text}");
    }
    assert!(
        text.lines().all(|line| line.chars().count() <= 80),
        "{text}"
    );
    assert!(!text.contains('\u{1b}'), "no colour where nobody sees it");
}

// W4, R1: a trial candidate is baked off by its name, and proposed where it conforms as well for less.
#[test]
fn a_cheaper_trial_candidate_is_proposed_and_nothing_else_happens() {
    let bench = Bench::new();
    let before = fs::read_to_string(bench.folder.path().join("routes/label.yaml")).unwrap();
    let expect = bench.folder.path().join("expected.jsonl");
    let line = |case: usize| {
        let label = if case.is_multiple_of(2) || case == 39 {
            "even"
        } else {
            "odd"
        };
        format!(
            "{{\"capture\":\"{}\",\"output\":{{\"label\":\"{label}\"}}}}\n",
            id(case)
        )
    };
    fs::write(&expect, (0..CAPTURES).map(line).collect::<String>()).unwrap();
    let arguments = [
        "bakeoff",
        "label",
        "--variants",
        "default,twin/t1,poor",
        "--budget-usd",
        "3",
        "--concurrency",
        "3",
        "--expect",
        "expected.jsonl",
        "--json",
    ];
    let ran = bench.rig(&arguments);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    let found = document(&ran.stdout);
    let verdicts: Vec<_> = found["variants"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["verdict"].as_str().unwrap())
        .collect();
    assert_eq!(verdicts, ["incumbent", "proposed", "kept"]);
    // The last expectation is wrong, and what `poor` gets wrong in shape is wrong in value.
    let right: Vec<_> = (0..3)
        .map(|at| {
            found["variants"][at]["as_expected"]["hits"]
                .as_u64()
                .unwrap()
        })
        .collect();
    assert_eq!(right, [39, 39, 20]);
    let after = fs::read_to_string(bench.folder.path().join("routes/label.yaml")).unwrap();
    assert_eq!(before, after);
}

// W4, E2: what the envelope of a variant does not cover is not asked; the result says that it is a part, and why.
#[test]
fn a_breached_budget_gives_a_partial_result() {
    let bench = Bench::new();
    let arguments = [
        "bakeoff",
        "label",
        "--variants",
        "default,poor",
        "--budget-usd",
        "0.006",
    ];
    let ran = bench.rig(&[&arguments[..], &["--json"]].concat());
    assert_eq!((ran.code, ran.stderr.as_str()), (1, ""));
    let found = document(&ran.stdout);
    assert_eq!(found["is_partial"], true);
    let (dear, cheap) = (&found["variants"][0], &found["variants"][1]);
    assert_eq!(dear["partial"]["reason"], "budget_exhausted");
    let message = dear["partial"]["message"].as_str().unwrap();
    assert!(
        message.contains("cannot cover the next dispatch"),
        "{message}"
    );
    assert!(
        cheap["partial"].is_null(),
        "each variant has its own envelope"
    );
    assert_eq!(cheap["ended"], 40);
    let asked = bench.asked();
    let of_good: Vec<_> = asked.iter().filter(|(host, _)| host == "good").collect();
    let ended = dear["ended"].as_u64().unwrap();
    assert_eq!(ended, of_good.len() as u64);
    assert!(ended > 5 && ended < 40, "{ended}");
    let (input, output) = nanos_per_token("good");
    let cost = |case: usize| tokens(case).0 * input + tokens(case).1 * output;
    let spent: u64 = of_good.iter().map(|(_, case)| cost(*case)).sum();
    assert_eq!(dear["spent_nanousd"].as_u64(), Some(spent));
    assert!(spent <= 3_000_000, "{spent}");
    // It is really spent: what is left does not cover the most that the next dispatch may cost, as the message has it.
    let (_, next) = message.split_once("may cost $").unwrap();
    let next = Usd::from_decimal(next.split(':').next().unwrap()).unwrap();
    assert!(spent + next.as_nanos() > 3_000_000, "{spent}: {message}");

    // Nothing more is asked of it, and people see it too.
    let again = bench.rig(&[&arguments[..], &["--resume"]].concat());
    assert_eq!((again.code, bench.asked()), (1, Vec::new()));
    for words in [format!("{ended} of 40"), "partial: the envelope".to_owned()] {
        assert!(
            again.stdout.contains(&words),
            "{words} in\n{}",
            again.stdout
        );
    }
    let envelopes = document(&bench.rig(&["envelopes", "bakeoff:", "--json"]).stdout);
    let state = &envelopes["envelopes"][0];
    assert_eq!(state["cap_nanousd"], 3_000_000);
    assert_eq!(
        (
            state["spent_nanousd"].as_u64(),
            state["reserved_nanousd"].as_u64()
        ),
        (Some(spent), Some(0))
    );
}

// W4: a replay answers now what was asked then, and says whether it is the same.
#[test]
fn a_replay_says_what_would_be_answered_today() {
    let bench = Bench::new();
    let ran = bench.rig(&["replay", "label", "--last", "2", "--outputs"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    assert_eq!(
        bench.asked(),
        [("good".to_owned(), 38), ("good".to_owned(), 39)]
    );
    for words in ["capture-38", "conformant", "\"label\": \"odd\""] {
        assert!(ran.stdout.contains(words), "{words} in\n{}", ran.stdout);
    }
    let ran = bench.rig(&[
        "replay",
        "label",
        "--variant",
        "poor",
        "--capture",
        &id(6),
        "--capture",
        &id(7),
        "--json",
    ]);
    assert_eq!(ran.code, 1, "what does not conform is found");
    let found = document(&ran.stdout);
    let replays = found["replays"].as_array().unwrap();
    assert_eq!(
        (&replays[0]["as_captured"], &replays[1]["as_captured"]),
        (&Value::Bool(true), &Value::Null)
    );
    assert_eq!(replays[1]["sample"]["ended"]["failed"], "content_invalid");
    // Each is paid for by an envelope of its own, of a dollar.
    let envelopes = document(&bench.rig(&["envelopes", "replay:", "--json"]).stdout);
    let caps = envelopes["envelopes"].as_array().unwrap().iter();
    let caps: Vec<_> = caps
        .map(|state| state["cap_nanousd"].as_u64().unwrap())
        .collect();
    assert_eq!(caps, [1_000_000_000; 2]);
}
