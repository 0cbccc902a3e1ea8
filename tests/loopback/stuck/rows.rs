//! Does one row that this build cannot read cost anybody else anything?

use std::collections::BTreeSet;

use rig::store::Page;
use rig::{Rig, Usd};
use rusqlite::Connection;

use super::{COST, answering, asked, ends, found, runtime};
use crate::export::Receiver;

const TASKS: usize = 256;

// E6, T4: a row with a failure class of a newer version refuses no call, leaves nothing reserved, and is exported and read
// like the others.
#[test]
fn a_row_of_a_newer_version_refuses_no_reservation_and_stops_no_export() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("t.db");
    let server = answering();
    let receiver = Receiver::start();
    let build = || {
        let builder = Rig::builder().ignore_env().key("north", "key");
        let builder = builder.base_url("north", server.base_url("north"));
        builder.telemetry_db(&file)
    };
    drop(build().build().unwrap());
    let run_id = "00000000-0000-7000-8000-000000000007";
    let newer = "INSERT INTO inferences (id, ts, run_id, route, route_version, provider, model, pricing_missing, latency_ms,
                     attempt, tags, lane, cost_nanousd, failure_class, requested_tier)
                 VALUES ('00000000-0000-7000-8000-000000000001', 5, ?1, 'r', 1, 'p', 'm', 0, 9, 1, '{}', 'ladder', 7,
                     'melted_down', 'turbo')";
    let connection = Connection::open(&file).unwrap();
    connection.execute(newer, [run_id]).unwrap();

    let rig = build()
        .ingest(format!("{}/rows", receiver.url), "ingest-key")
        .build()
        .unwrap();
    let refused = {
        let rig = rig.clone();
        ends(move || {
            runtime().block_on(async {
                let runs: Vec<_> = (0..TASKS)
                    .map(|_| {
                        let call = asked().envelope("e", Usd::dollars(1_000));
                        tokio::spawn(call.on(&rig).run())
                    })
                    .collect();
                let mut refused = Vec::new();
                for run in runs {
                    refused.extend(run.await.unwrap().err());
                }
                refused
            })
        })
    };
    assert_eq!(refused, []);
    let (rows, page) = {
        let rig = rig.clone();
        ends(move || {
            runtime().block_on(async {
                let rows = rig.attempts(run_id).await.unwrap();
                let page = Page::first(0..i64::MAX, 10_000);
                (rows, rig.page(page).await.unwrap().len())
            })
        })
    };
    assert_eq!(page, TASKS + 1);
    let ended = rows[0].failure.unwrap();
    assert_eq!((rows.len(), ended.name()), (1, "melted_down"));
    ends(move || runtime().block_on(rig.close())).unwrap();
    let spent = i64::try_from(COST.as_nanos() * TASKS as u64).unwrap();
    assert_eq!(found(&file), (1 + TASKS as i64, spent, 0));

    let bodies = receiver.got().into_iter().map(|(_, body)| body);
    let bodies: Vec<serde_json::Value> = bodies
        .map(|body| serde_json::from_slice(&body).unwrap())
        .collect();
    let exported = bodies
        .iter()
        .flat_map(|body| body["rows"].as_array().unwrap());
    let exported: BTreeSet<_> = exported
        .map(|row| {
            let class = row["failure_class"].as_str().unwrap_or("NULL");
            (row["id"].as_str().unwrap(), class)
        })
        .collect();
    assert_eq!(exported.len(), TASKS + 1);
    // T9: words that only a newer version knows are not exported.
    let newer = ("00000000-0000-7000-8000-000000000001", "_OTHER");
    assert!(exported.contains(&newer));
}
