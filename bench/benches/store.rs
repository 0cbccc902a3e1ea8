//! What does it cost to keep rows?
//!
//! Rows through the store against a bare writer of the same columns into the same tables; how long handing over a row takes
//! while the disk is busy; calls of the whole ladder with a file against the same with rows in memory.
//! `cargo bench --manifest-path bench/Cargo.toml --bench store`. Best of several rounds in turn; compare within one run only.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rig::store::sqlite::SqliteStore;
use rig::store::{AttemptRow, Store as _};
use rig::testing::MemoryStore;
use rig::{Rig, Tier, Usd};
use rig_bench::{ReportInput, answer, report, response, rig_on};
use rusqlite::{Connection, TransactionBehavior, params};
use tokio::runtime::{Builder, Runtime};

const ROUNDS: u32 = 7;

const ROWS: usize = 40_000;

/// As many as the store takes into one transaction.
const BATCH: usize = 512;

const TASKS: usize = 64;

const CALLS: usize = 3_200;

fn main() {
    throughput();
    enqueue();
    ladder();
}

/// Returns rows as a rig records them, with ids as they come: in the order of time.
fn rows(round: u32) -> Vec<AttemptRow> {
    let row = |number: usize| AttemptRow {
        id: format!("0199{round:04x}-{number:04x}-7000-8000-0123456789ab"),
        ts_ms: 1_790_000_000_000,
        run_id: format!("0199{round:04x}-{:04x}-7000-8000-ba9876543210", number / 2),
        route: "summarize".into(),
        route_version: 3,
        provider: "openai".into(),
        model: "gpt-5.4-mini".into(),
        requested_tier: Some(Tier::Flex),
        served_tier: Some("flex".to_owned()),
        tokens_in: Some(1_200),
        tokens_out: Some(34),
        tokens_cached: Some(1_024),
        tokens_cache_write: None,
        searches: None,
        cost: Usd::nanos(123_456_789),
        pricing_missing: false,
        usage_missing: false,
        latency_ms: 812,
        ttfb_ms: Some(300),
        failure: None,
        attempt: 1,
        tags: BTreeMap::from([("customer".to_owned(), "acme".to_owned())]),
        served_variant: None,
        repaired_by: None,
        cache_key: None,
        prefix_fingerprint: None,
        lane: "ladder".into(),
        traceparent: None,
    };
    (0..ROWS).map(row).collect()
}

fn runtime() -> Runtime {
    let mut builder = Builder::new_current_thread();
    builder.enable_time().build().expect("a runtime")
}

fn timed(work: impl FnOnce()) -> Duration {
    let started = Instant::now();
    work();
    started.elapsed()
}

fn throughput() {
    let folder = tempfile::tempdir().expect("a folder");
    let runtime = runtime();
    let [mut bare, mut stored] = [Duration::MAX; 2];
    for round in 0..ROUNDS {
        let file = folder.path().join(format!("bare-{round}.db"));
        drop(SqliteStore::open(&file).expect("a file"));
        let given = rows(round);
        bare = bare.min(timed(|| insert(&file, &given)));

        let file = folder.path().join(format!("store-{round}.db"));
        let store = SqliteStore::open(&file).expect("a file");
        let given = rows(round);
        stored = stored.min(timed(|| {
            for row in given {
                store.record(row);
            }
            runtime.block_on(store.flush()).expect("room on the disk");
        }));
    }
    let rate = |took: Duration| ROWS as f64 / took.as_secs_f64();
    println!(
        "rows/s: {:.0} through the store, {:.0} bare; ratio {:.2}",
        rate(stored),
        rate(bare),
        rate(stored) / rate(bare)
    );
}

/// The bare writer: one prepared statement, a transaction for each batch, the store's own tables and settings.
fn insert(file: &Path, rows: &[AttemptRow]) {
    let mut connection = Connection::open(file).expect("a file");
    let set = |name, value: &str| connection.pragma_update(None, name, value);
    set("synchronous", "FULL").expect("a setting");
    for batch in rows.chunks(BATCH) {
        let transaction = connection
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .expect("a transaction");
        let mut insert = transaction
            .prepare_cached(
                "INSERT INTO inferences (
                    id, ts, run_id, route, route_version, provider, model, requested_tier, served_tier, tokens_in,
                    tokens_out, tokens_cached, tokens_cache_write, cost_nanousd, pricing_missing, latency_ms, ttfb_ms,
                    failure_class, attempt, tags, served_variant, repaired_by, cache_key, prefix_fingerprint, lane,
                    traceparent)
                 VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            )
            .expect("the store's table");
        let count = |count: Option<u64>| count.map(u64::cast_signed);
        for row in batch {
            insert
                .execute(params![
                    row.id,
                    row.ts_ms,
                    row.run_id,
                    row.route,
                    row.route_version,
                    row.provider,
                    row.model,
                    row.requested_tier.map(Tier::name),
                    row.served_tier,
                    count(row.tokens_in),
                    count(row.tokens_out),
                    count(row.tokens_cached),
                    count(row.tokens_cache_write),
                    row.cost.as_nanos().cast_signed(),
                    row.pricing_missing,
                    row.latency_ms.cast_signed(),
                    count(row.ttfb_ms),
                    None::<&str>,
                    row.attempt,
                    r#"{"customer":"acme"}"#,
                    row.served_variant,
                    row.repaired_by,
                    row.cache_key,
                    row.prefix_fingerprint,
                    row.lane,
                    None::<&str>,
                ])
                .expect("a new row");
        }
        drop(insert);
        transaction.commit().expect("room on the disk");
    }
}

/// Bursts that the queue has room for, while another thread writes to the same disk and syncs.
fn enqueue() {
    const BURST: usize = 2_000;
    let folder = tempfile::tempdir().expect("a folder");
    let store = SqliteStore::open(&folder.path().join("t.db")).expect("a file");
    let runtime = runtime();
    let is_over = AtomicBool::new(false);
    let best = std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut file = File::create(folder.path().join("noise")).expect("a file");
            while !is_over.load(Ordering::Relaxed) {
                file.write_all(&[7; 65_536]).expect("room on the disk");
                file.sync_all().expect("a disk");
            }
        });
        let best = (0..ROUNDS).map(|round| {
            let mut took = Vec::with_capacity(ROWS);
            let mut given = rows(round).into_iter();
            while given.len() > 0 {
                for row in given.by_ref().take(BURST) {
                    let started = Instant::now();
                    store.record(row);
                    took.push(started.elapsed());
                }
                runtime.block_on(store.flush()).expect("room on the disk");
            }
            took.sort_unstable();
            (took[took.len() * 99 / 100], took[took.len() / 2])
        });
        let best = best.min().expect("a round");
        is_over.store(true, Ordering::Relaxed);
        best
    });
    println!("enqueue on a busy disk: p99 {:?}, p50 {:?}", best.0, best.1);
}

fn ladder() {
    let folder = tempfile::tempdir().expect("a folder");
    let runtime = runtime();
    let text = answer(1_000);
    let body = response(&text);
    let file = SqliteStore::open(&folder.path().join("t.db")).expect("a file");
    let on_file = rig_on(body.clone(), file);
    let mut best = [Duration::MAX; 2];
    for _ in 0..ROUNDS {
        // Rows that stay in memory would make later rounds slower.
        let in_memory = rig_on(body.clone(), MemoryStore::default());
        for (best, rig) in best.iter_mut().zip([&on_file, &in_memory]) {
            *best = (*best).min(timed(|| calls(&runtime, rig, &text)));
        }
    }
    let [stored, memory] = best.map(|took| CALLS as f64 / took.as_secs_f64());
    println!(
        "calls/s at {TASKS} at once: {stored:.0} on a file, {memory:.0} in memory; ratio {:.2}",
        stored / memory
    );
}

fn calls(runtime: &Runtime, rig: &Rig, text: &str) {
    runtime.block_on(async {
        let task = |_| {
            let (rig, notes) = (rig.clone(), text.to_owned());
            tokio::spawn(async move {
                for _ in 0..CALLS / TASKS {
                    let input = ReportInput {
                        notes: notes.clone(),
                    };
                    report(input).on(&rig).await.expect("an answer");
                }
            })
        };
        let tasks: Vec<_> = (0..TASKS).map(task).collect();
        for task in tasks {
            task.await.expect("no panic");
        }
    });
}
