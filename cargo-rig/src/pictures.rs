//! What do people see? The pictures that the docs quote, drawn from fixed samples and rows, at 80 and 120 columns.
//!
//! `UPDATE_EXPECT=1` writes them into the docs anew.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use rig_runtime::store::{AttemptRow, RowFailure, Verdict, VerdictRow};
use rig_spec::{FailureClass, Usd};
use serde_json::json;

use crate::bakeoff::artifact::{Attempt, Ended, Header, Log, Pair, SCHEMA, Sample};
use crate::bakeoff::{measure, show};
use crate::run::waterfall;
use crate::runs::RunOf;

/// Holds the block behind a marker of a page to a picture.
fn check(page: &str, name: &str, width: usize, picture: &str) {
    let picture = anstream::adapter::strip_str(picture).to_string();
    for line in picture.lines() {
        assert!(line.chars().count() <= width, "{line}");
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../docs")
        .join(page);
    let text = fs::read_to_string(&path).unwrap();
    let marker = format!("<!-- picture: {name}, {width} columns -->\n");
    let (before, rest) = text
        .split_once(&marker)
        .unwrap_or_else(|| panic!("{page}: no `{marker}`"));
    let rest = rest.strip_prefix("```text\n").unwrap();
    let (quoted, after) = rest.split_once("```\n").unwrap();
    if quoted == picture {
        return;
    }
    assert!(
        crate::output::variable("UPDATE_EXPECT").is_some(),
        "{page}, {name}: is now\n{picture}"
    );
    fs::write(
        &path,
        format!("{before}{marker}```text\n{picture}```\n{after}"),
    )
    .unwrap();
}

fn attempt(cost_nanousd: u64, failure: Option<&str>, repaired_by: Option<&str>) -> Attempt {
    Attempt {
        id: "a".to_owned(),
        provider: "p".to_owned(),
        model: "m".to_owned(),
        failure_class: failure.map(str::to_owned),
        cost_nanousd,
        pricing_missing: false,
        latency_ms: 1,
        tokens_in: None,
        tokens_out: None,
        repaired_by: repaired_by.map(str::to_owned),
    }
}

/// 40 captures under an incumbent, a cheaper candidate as good, and a dear one that is cut short.
fn log() -> Log {
    let variants = ["default", "anthropic/claude-haiku-4-5", "thinking"];
    let mut log = Log {
        header: Header {
            schema: SCHEMA,
            id: "0199a1b2c3d4e5f6".to_owned(),
            route: "summarize".to_owned(),
            route_version: 3,
            fingerprint: String::new(),
            variants: variants.map(str::to_owned).to_vec(),
            captures: (0..40).map(|at| format!("c{at:02}")).collect(),
            cap_nanousd: 1_666_666_666,
            started_ms: 0,
        },
        samples: BTreeMap::new(),
        open: BTreeSet::new(),
        stopped: BTreeMap::new(),
    };
    for at in 0..40_u64 {
        for (variant, cost, pace) in [
            (0, 4_100_000, 900),
            (1, 2_310_000, 640),
            (2, 41_000_000, 310),
        ] {
            let repairs = variant == 1 && at % 13 == 5;
            let fails = variant == 2 && at % 4 == 1;
            if variant == 2 && at >= 27 {
                continue;
            }
            let mut attempts = vec![attempt(
                cost + at * 1_000,
                (repairs || fails).then_some("content_invalid"),
                None,
            )];
            if repairs {
                attempts.push(attempt(cost / 2, None, Some("anthropic/claude-haiku-4-5")));
            }
            let ended = match fails {
                true => Ended::Failed("content_invalid".to_owned()),
                false => Ended::Output,
            };
            let pair = Pair {
                variant: variants[variant].to_owned(),
                capture: format!("c{at:02}"),
            };
            let sample = Sample {
                pair: pair.clone(),
                output: (ended == Ended::Output).then(|| json!({})),
                ended,
                run_id: None,
                message: None,
                latency_ms: pace + at * at,
                attempts,
            };
            log.samples.insert(pair, sample);
        }
    }
    let message = "the envelope `bakeoff:0199a1b2c3d4e5f6:thinking` cannot cover the next dispatch, which may cost $0.58: of $1.666666666, $1.11 are spent and $0.00 reserved";
    log.stopped
        .insert("thinking".to_owned(), message.to_owned());
    log
}

#[test]
fn the_docs_show_a_bake_off() {
    let log = log();
    let measured = measure::measure(&log, &BTreeMap::new());
    for width in [80, 120] {
        check(
            "bakeoffs.md",
            "bakeoff",
            width,
            &show::matrix(&log, &measured, width),
        );
    }
}

/// A run that is shed and retried, answers beside the schema, is repaired in vain, and falls through.
fn rows() -> Vec<AttemptRow> {
    let row = |attempt,
               from: i64,
               latency_ms,
               who: (&'static str, &'static str),
               failure: Option<FailureClass>| AttemptRow {
        id: format!("a{attempt}"),
        ts_ms: 1_790_000_000_000 + from,
        run_id: "0199a1b2-c3d4-7e5f-8a1b-2c3d4e5f6071".to_owned(),
        route: Cow::Borrowed("summarize"),
        route_version: 3,
        provider: Cow::Borrowed(who.0),
        model: Cow::Borrowed(who.1),
        requested_tier: None,
        served_tier: None,
        tokens_in: Some(1_200),
        tokens_out: Some(90),
        tokens_cached: None,
        tokens_cache_write: None,
        searches: None,
        cost: Usd::nanos(if failure == Some(FailureClass::CapacityShed) {
            0
        } else {
            1_305_000
        }),
        pricing_missing: false,
        usage_missing: false,
        latency_ms,
        ttfb_ms: None,
        failure: failure.map(RowFailure::Class),
        attempt,
        tags: BTreeMap::from([("customer".to_owned(), "acme".to_owned())]),
        served_variant: Some(Cow::Borrowed("cheap")),
        repaired_by: None,
        cache_key: None,
        prefix_fingerprint: None,
        lane: Cow::Borrowed("ladder"),
        traceparent: None,
    };
    let (mini, lite) = (
        ("openai", "gpt-5.4-mini"),
        ("gemini", "gemini-3.1-flash-lite"),
    );
    let mut rows = vec![
        row(1, 0, 120, mini, Some(FailureClass::CapacityShed)),
        row(2, 1_120, 1_480, mini, Some(FailureClass::ContentInvalid)),
        row(3, 2_600, 900, mini, Some(FailureClass::ContentInvalid)),
        row(4, 3_500, 1_210, lite, None),
    ];
    rows[2].repaired_by = Some("openai/gpt-5.4-mini".to_owned());
    rows
}

/// Returns the row of an attempt that was served.
pub(crate) fn attempt_row(id: &str, run_id: &str) -> AttemptRow {
    AttemptRow {
        id: id.to_owned(),
        run_id: run_id.to_owned(),
        failure: None,
        ..rows().remove(0)
    }
}

#[test]
fn the_docs_show_a_run() {
    let rows = rows();
    let mut run = RunOf::of(&rows[0]);
    rows.iter().for_each(|row| run.add(row));
    let verdict = VerdictRow {
        id: "v".to_owned(),
        ts_ms: 0,
        run_id: rows[0].run_id.clone(),
        inference_id: Some("a4".to_owned()),
        verdict: Verdict::up().score(0.9).source("support"),
    };
    for width in [80, 120] {
        check(
            "telemetry.md",
            "run",
            width,
            &waterfall(&run, &rows, std::slice::from_ref(&verdict), width),
        );
    }
}
