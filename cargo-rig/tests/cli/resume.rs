//! Does a bake-off that was cut off go on, and pay for nothing twice?

use std::collections::BTreeSet;
use std::fs;
use std::process::{Command, Stdio};
use std::sync::atomic::Ordering;

use crate::bakeoff::document;
use crate::bench::{Bench, CAPTURES};
use crate::server::Event;

/// Returns what the artifact says was under way: the host and the case of what was started and has not ended.
fn open(bench: &Bench) -> Vec<(String, usize)> {
    let folder = bench.folder.path().join(".modelrig/bakeoffs");
    let mut files = fs::read_dir(folder)
        .unwrap()
        .map(|file| file.unwrap().path());
    let file = files.find(|file| file.extension().is_some_and(|end| end == "jsonl"));
    let text = fs::read_to_string(file.unwrap()).unwrap();
    let mut open = Vec::new();
    for line in text.lines().map(document) {
        let pair = (line["variant"].clone(), line["capture"].clone());
        match line["kind"].as_str().unwrap() {
            "started" => open.push(pair),
            "sample" => open.retain(|other| *other != pair),
            _ => {}
        }
    }
    let asked = open.iter().map(|(variant, capture)| {
        let host = variant.as_str().unwrap().replace("default", "good");
        let case = capture.as_str().unwrap().trim_start_matches("capture-");
        (host, case.parse().unwrap())
    });
    asked.collect()
}

// W4, T5: a bake-off that is killed goes on, and what was asked before is not asked again.
#[test]
fn a_killed_bake_off_resumes_and_pays_for_nothing_twice() {
    const AT_ONCE: usize = 4;
    let bench = Bench::new();
    bench.stall_from.store(30, Ordering::SeqCst);
    let arguments = [
        "bakeoff",
        "label",
        "--variants",
        "default,fair,poor",
        "--budget-usd",
        "5",
        "--concurrency",
        "4",
    ];
    let mut child = Command::new(env!("CARGO_BIN_EXE_cargo-rig"))
        .current_dir(bench.folder.path())
        .args(arguments)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    // Once as many are under way as may be, nothing moves any more: each of them has no answer.
    let mut first = Vec::new();
    while first.len() < 30 + AT_ONCE {
        if let Event::Request(seen) = bench.server.next() {
            first.push(crate::bench::asked(&seen));
        }
    }
    // SIGKILL, on Unix.
    child.kill().unwrap();
    child.wait().unwrap();
    let mut unknown = open(&bench);
    assert_eq!(unknown.len(), AT_ONCE);
    bench.stall_from.store(usize::MAX, Ordering::SeqCst);

    let ran = bench.rig(&[&arguments[..], &["--resume", "--json"]].concat());
    assert_eq!(ran.stderr, "");
    let found = document(&ran.stdout);
    let second = bench.asked();
    let distinct: BTreeSet<_> = first.iter().chain(&second).collect();
    assert_eq!(
        distinct.len(),
        first.len() + second.len(),
        "nothing is asked twice"
    );
    assert_eq!(distinct.len(), 3 * CAPTURES, "and nothing is left out");
    let count = |name: &str| -> u64 {
        let variants = found["variants"].as_array().unwrap().iter();
        variants.map(|one| one[name].as_u64().unwrap()).sum()
    };
    assert_eq!(count("interrupted"), AT_ONCE as u64);
    assert_eq!(count("ended"), 120 - AT_ONCE as u64);
    assert_eq!(
        (ran.code, found["is_partial"].as_bool()),
        (1, Some(true)),
        "and the result says so"
    );

    // Only who says so pays a second time, and only for what nobody knows the end of.
    let ran = bench.rig(&[&arguments[..], &["--resume", "--ask-again", "--json"]].concat());
    unknown.sort();
    assert_eq!(bench.asked(), unknown);
    assert!(unknown.iter().all(|asked| first.contains(asked)));
    let found = document(&ran.stdout);
    assert_eq!((ran.code, found["is_partial"].as_bool()), (0, Some(false)));
    let hits: Vec<_> = (0..3)
        .map(|at| {
            found["variants"][at]["conformant"]["hits"]
                .as_u64()
                .unwrap()
        })
        .collect();
    assert_eq!(hits, [40, 34, 20]);
}

#[test]
fn what_cannot_be_resumed_or_begun_says_why() {
    let bench = Bench::new();
    let stops = |arguments: &[&str], words: &str| {
        let ran = bench.rig(arguments);
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{arguments:?}");
        assert!(ran.stderr.contains(words), "{words} in\n{}", ran.stderr);
    };
    let begin = |variants: &'static str| {
        [
            "bakeoff",
            "label",
            "--variants",
            variants,
            "--budget-usd",
            "1",
        ]
    };
    stops(
        &["bakeoff", "label", "--resume"],
        "has no bake-off of route `label`",
    );
    stops(
        &begin("default,fare"),
        "has no variant `fare` that could serve",
    );
    stops(
        &begin("default,fare"),
        "`default`, `fair`, `poor`, `good/g1`, `fair/f1`, `poor/p1`, `twin/t1`",
    );
    stops(&begin("fair,fair"), "the variant `fair` is named twice");
    stops(
        &[
            "bakeoff",
            "lable",
            "--variants",
            "default",
            "--budget-usd",
            "1",
        ],
        "has no route `lable`",
    );
    stops(
        &[
            "bakeoff",
            "label",
            "--variants",
            "default",
            "--budget-usd",
            "one",
        ],
        "an amount is a number of dollars",
    );
    stops(
        &[
            "bakeoff",
            "label",
            "--variants",
            "default",
            "--budget-usd",
            "1",
            "--last",
            "0",
        ],
        "nothing is captured",
    );
    assert_eq!(
        bench
            .rig(&[
                "bakeoff",
                "label",
                "--variants",
                "poor",
                "--budget-usd",
                "1",
                "--last",
                "2"
            ])
            .code,
        0
    );
    stops(
        &[
            "bakeoff",
            "label",
            "--variants",
            "fair",
            "--budget-usd",
            "1",
            "--resume",
        ],
        "an envelope is never resized",
    );
    stops(
        &["bakeoff", "label", "--budget-usd", "2", "--resume"],
        "an envelope is never resized",
    );
    bench.write_routes(
        &bench
            .route()
            .replace("max_output_tokens: 60", "max_output_tokens: 61"),
    );
    stops(&["bakeoff", "label", "--resume"], "is not what it was when");
    bench.write_routes("route: label\n");
    stops(&begin("default"), "route `label` has errors");
    assert_eq!(bench.asked().len(), 2);
}
