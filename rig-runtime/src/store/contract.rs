//! What has every store to do? One function, run on each of them.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::future::Future;
use std::sync::Arc;

use rig_spec::{FailureClass, Tier, Usd};

use super::memory::MemoryStore;
use super::sqlite::SqliteStore;
use super::{AttemptRow, Capture, RowFailure, Store};

/// Runs a future to its end without a runtime of the test's own.
pub(super) fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap()
        .block_on(future)
}

/// Returns a row with every column filled in.
pub(super) fn row(run_id: &str, attempt: u32) -> AttemptRow {
    AttemptRow {
        id: format!("{run_id}-{attempt}"),
        ts_ms: 1_790_000_000_123,
        run_id: run_id.to_owned(),
        route: Cow::Borrowed("summarize"),
        route_version: 3,
        provider: Cow::Borrowed("openai"),
        model: Cow::Borrowed("gpt-5.4-mini"),
        requested_tier: Some(Tier::Flex),
        served_tier: Some("flex".to_owned()),
        tokens_in: Some(1_200),
        tokens_out: Some(34),
        tokens_cached: Some(1_024),
        tokens_cache_write: Some(0),
        cost: Usd::nanos(123_456_789),
        pricing_missing: false,
        latency_ms: 812,
        ttfb_ms: Some(300),
        failure: None,
        attempt,
        tags: BTreeMap::from([("customer".to_owned(), "ac\"me ✓".to_owned())]),
        served_variant: Some(Cow::Borrowed("cheap")),
        repaired_by: Some("openai/gpt-5.4-mini".to_owned()),
        cache_key: Some("k".to_owned()),
        prefix_fingerprint: Some("f".to_owned()),
        lane: Cow::Borrowed("ladder"),
    }
}

/// Returns a row with every optional column empty.
fn bare_row(run_id: &str, attempt: u32) -> AttemptRow {
    AttemptRow {
        requested_tier: None,
        served_tier: None,
        tokens_in: None,
        tokens_out: None,
        tokens_cached: None,
        tokens_cache_write: None,
        cost: Usd::ZERO,
        pricing_missing: true,
        ttfb_ms: None,
        failure: Some(RowFailure::Class(FailureClass::CapacityShed)),
        tags: BTreeMap::new(),
        served_variant: None,
        repaired_by: None,
        cache_key: None,
        prefix_fingerprint: None,
        ..row(run_id, attempt)
    }
}

/// Returns the capture of a row.
pub(super) fn capture(row: &AttemptRow, ts_ms: i64) -> Capture {
    Capture {
        id: row.id.clone(),
        ts_ms,
        run_id: row.run_id.clone(),
        route: row.route.clone(),
        route_version: row.route_version,
        variables: r#"{"ticket":"it's \"down\" ✓"}"#.to_owned(),
        output: "{}\n".to_owned(),
    }
}

fn check(store: Arc<dyn Store>) {
    let attempts = |run_id: &str| block_on(store.attempts(run_id)).unwrap();

    // What was recorded is read at once and unchanged, in the order of attempts, and only for its run.
    let cancelled = AttemptRow {
        failure: Some(RowFailure::Cancelled),
        ..row("a", 3)
    };
    store.record(cancelled.clone());
    store.record(row("b", 1));
    store.record(bare_row("a", 1));
    store.record(row("a", 2));
    assert_eq!(attempts("a"), [bare_row("a", 1), row("a", 2), cancelled]);
    assert_eq!(attempts("nobody"), []);

    // The same id is stored once, and the first row stays.
    store.record(AttemptRow {
        latency_ms: 1,
        ..row("b", 1)
    });
    assert_eq!(attempts("b"), [row("b", 1)]);

    // T3: a capture comes with its row, and is read by its route, oldest first; a row without one has none.
    let captures = |route: &str| block_on(store.captures(route)).unwrap();
    let (later, earlier) = (row("c", 1), row("c", 2));
    for (row, ts_ms) in [(&later, 20), (&earlier, 10), (&later, 5)] {
        store.record_captured(row.clone(), capture(row, ts_ms));
    }
    assert_eq!(
        captures("summarize"),
        [capture(&earlier, 10), capture(&later, 20)]
    );
    assert_eq!(captures("nothing"), []);
    assert_eq!(attempts("c"), [later, earlier]);

    // Flushing acknowledges; with nothing to do as well.
    block_on(store.flush()).unwrap();
    block_on(store.flush()).unwrap();

    // Recording is synchronous and may come from any thread, more rows than any queue holds.
    let threads: Vec<_> = (0..4)
        .map(|thread| {
            let store = Arc::clone(&store);
            std::thread::spawn(move || {
                for attempt in 1..=2_000 {
                    store.record(row(&format!("t{thread}"), attempt));
                }
            })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    block_on(store.flush()).unwrap();
    for thread in 0..4 {
        let rows = attempts(&format!("t{thread}"));
        assert!(rows.iter().map(|row| row.attempt).eq(1..=2_000));
    }
}

#[test]
fn the_memory_store_keeps_the_contract() {
    check(Arc::new(MemoryStore::default()));
}

#[test]
fn the_sqlite_store_keeps_the_contract() {
    let folder = tempfile::tempdir().unwrap();
    check(Arc::new(
        SqliteStore::open(&folder.path().join("t.db")).unwrap(),
    ));
}
