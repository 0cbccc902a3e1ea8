//! What has every store to do? One function, run on each of them.

// tidy: longer than 400 lines because it is one list of what a store has to do.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::future::Future;
use std::sync::Arc;

use rig_spec::{FailureClass, Tier, Usd};

use super::memory::MemoryStore;
use super::sqlite::SqliteStore;
use super::{
    AttemptRow, Capture, ChargeRow, Envelope, EnvelopeState, ObservedLatency, Page, Reserve,
    Reserved, RowFailure, Spend, Spending, Store, Traceparent,
};

mod beside;
pub(super) mod prune;

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
        searches: Some(3),
        cost: Usd::nanos(123_456_789),
        pricing_missing: false,
        usage_missing: false,
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
        traceparent: Traceparent::parse("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"),
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
        searches: None,
        cost: Usd::ZERO,
        pricing_missing: true,
        ttfb_ms: None,
        failure: Some(RowFailure::Class(FailureClass::CapacityShed)),
        tags: BTreeMap::new(),
        served_variant: None,
        repaired_by: None,
        cache_key: None,
        prefix_fingerprint: None,
        traceparent: None,
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

fn envelope(name: &str, cap: u64) -> Envelope {
    Envelope {
        name: name.to_owned(),
        cap: Usd::nanos(cap),
    }
}

/// Returns a reservation made at 1,000 ms that lapses at 2,000 ms.
pub(super) fn wanted(name: &str, cap: u64, id: &str, amount: u64) -> Reserve {
    Reserve {
        envelope: envelope(name, cap),
        id: id.to_owned(),
        amount: Usd::nanos(amount),
        now_ms: 1_000,
        lapses_ms: 2_000,
    }
}

pub(super) fn holds(name: &str, cap: u64, spent: u64, reserved: u64) -> EnvelopeState {
    EnvelopeState {
        name: name.to_owned(),
        cap: Usd::nanos(cap),
        spent: Usd::nanos(spent),
        reserved: Usd::nanos(reserved),
    }
}

fn check_envelopes(store: &Arc<dyn Store>) {
    let state = |name: &str, now_ms| block_on(store.envelope(name, now_ms)).unwrap();
    let reserve = |wanted| block_on(store.reserve(wanted)).unwrap();
    let open = |name: &str, cap| block_on(store.open_envelope(envelope(name, cap), 0)).unwrap();
    assert_eq!(state("a", 0), None);

    // E1: the first opener sets the cap, by opening or by reserving.
    assert_eq!(open("a", 100), holds("a", 100, 0, 0));
    assert_eq!(open("a", 500), holds("a", 100, 0, 0));
    assert_eq!(reserve(wanted("a", 500, "a1", 60)), Reserved::Granted);
    assert_eq!(reserve(wanted("b", 70, "b1", 70)), Reserved::Granted);
    assert_eq!(open("b", 9), holds("b", 70, 0, 70));

    // E2: all or nothing, up to the cap and no further; the same id reserves once, and envelopes are apart.
    let refused = Reserved::Exhausted(holds("a", 100, 0, 60));
    assert_eq!(reserve(wanted("a", 100, "a2", 41)), refused);
    assert_eq!(reserve(wanted("a", 100, "a1", 60)), Reserved::Granted);
    assert_eq!(reserve(wanted("a", 100, "a2", 40)), Reserved::Granted);
    assert_eq!(state("a", 1_999), Some(holds("a", 100, 0, 100)));

    // Settled with what it cost, once; without a number with what was reserved; and nobody's id is nobody's.
    store.settle("a1", Some(Usd::nanos(10)));
    store.settle("a1", Some(Usd::nanos(50)));
    store.settle("nobody", Some(Usd::nanos(50)));
    assert_eq!(state("a", 1_000), Some(holds("a", 100, 10, 40)));
    store.settle("a2", None);
    store.settle("a2", Some(Usd::ZERO));
    assert_eq!(state("a", 1_000), Some(holds("a", 100, 50, 0)));
    // What was given back can be reserved again, also by the same name later.
    assert_eq!(reserve(wanted("a", 100, "a3", 50)), Reserved::Granted);
    store.settle("a3", Some(Usd::ZERO));
    assert_eq!(state("a", 9_999), Some(holds("a", 100, 50, 0)));
    // More than was reserved is the truth all the same, and nothing is left then.
    assert_eq!(reserve(wanted("a", 100, "a4", 50)), Reserved::Granted);
    store.settle("a4", Some(Usd::nanos(80)));
    let over = holds("a", 100, 130, 0);
    assert_eq!(over.left(), Usd::ZERO);
    assert_eq!(
        reserve(wanted("a", 100, "a5", 1)),
        Reserved::Exhausted(over)
    );

    // E4: what nobody settles lapses, and is spent; only its own envelope's, and whoever looks. A late settlement
    // replaces it.
    assert_eq!(state("b", 2_000), Some(holds("b", 70, 70, 0)));
    store.settle("b1", Some(Usd::nanos(20)));
    store.settle("b1", Some(Usd::nanos(30)));
    assert_eq!(state("b", 1_000), Some(holds("b", 70, 20, 0)));
    let later = |id: &str| Reserve {
        now_ms: 2_000,
        lapses_ms: 3_000,
        ..wanted("b", 70, id, 50)
    };
    assert_eq!(reserve(wanted("b", 70, "b2", 1)), Reserved::Granted);
    let refused = Reserved::Exhausted(holds("b", 70, 21, 0));
    assert_eq!(reserve(later("b3")), refused);

    // All of them, in the order of their names; what has lapsed by then is spent.
    assert_eq!(reserve(wanted("0", 9, "01", 4)), Reserved::Granted);
    let all = [
        holds("0", 9, 4, 0),
        holds("a", 100, 130, 0),
        holds("b", 70, 21, 0),
    ];
    assert_eq!(block_on(store.envelopes(2_000)), Ok(all.to_vec()));

    // What was taken from one envelope, in the order of the ids, each beside its row.
    let attempt = AttemptRow {
        id: "a3".to_owned(),
        ..row("charged", 1)
    };
    store.record(attempt.clone());
    let charge = |id: &str, reserved, charged: Option<u64>, is_expired| ChargeRow {
        id: id.to_owned(),
        reserved: Usd::nanos(reserved),
        charged: charged.map(Usd::nanos),
        is_expired,
        row: (id == "a3").then(|| attempt.clone()),
    };
    let of = |name: &str| block_on(store.charges(name)).unwrap();
    let charges = [
        charge("a1", 60, Some(10), false),
        charge("a2", 40, Some(40), false),
        charge("a3", 50, Some(0), false),
        charge("a4", 50, Some(80), false),
    ];
    assert_eq!(of("a"), charges);
    let charges = [
        charge("b1", 70, Some(20), false),
        charge("b2", 1, Some(1), true),
    ];
    assert_eq!(of("b"), charges);
    assert_eq!(of("nobody's"), []);

    // The largest amounts neither wrap nor fit by accident.
    let most = u64::MAX;
    let refused = Reserved::Exhausted(holds("c", 1, 0, 0));
    assert_eq!(reserve(wanted("c", 1, "c1", most)), refused);

    // A settlement comes after the reservation that it was called after, also if nobody was told of that one yet.
    let waits = store.reserve(wanted("d", 10, "d1", 10));
    store.settle("d1", Some(Usd::nanos(3)));
    assert_eq!(state("d", 1_000), Some(holds("d", 10, 3, 0)));
    assert_eq!(block_on(waits), Ok(Reserved::Granted));
    // L17: a reservation that nobody waits for may be made or not; settled with nothing it leaves nothing.
    drop(store.reserve(wanted("d", 10, "d2", 7)));
    store.settle("d2", Some(Usd::ZERO));
    assert_eq!(state("d", 1_000), Some(holds("d", 10, 3, 0)));

    // E2: from however many threads, 33 of 3 fit into 100.
    let granted: usize = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8)
            .map(|thread| {
                scope.spawn(move || {
                    let reserved = |number: &i32| {
                        let id = format!("e{thread}-{number}");
                        block_on(store.reserve(wanted("e", 100, &id, 3))) == Ok(Reserved::Granted)
                    };
                    (0..10).filter(reserved).count()
                })
            })
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .sum()
    });
    assert_eq!(granted, 33);
    assert_eq!(state("e", 1_000), Some(holds("e", 100, 0, 99)));
}

/// T6: latencies of what was served, of one route, by model; money by tag and window.
fn check_reading(store: &dyn Store) {
    let observed = |route: &str| block_on(store.observed_latency(route)).unwrap();
    assert_eq!(observed("slow"), []);
    let slow = |attempt: u32, model: &'static str, latency_ms| AttemptRow {
        route: Cow::Borrowed("slow"),
        model: Cow::Borrowed(model),
        latency_ms,
        ts_ms: i64::from(attempt),
        ..row("slow", attempt)
    };
    // 200 latencies, in no order: 1 to 200 ms, each once.
    for attempt in 1..=200_u32 {
        store.record(slow(attempt, "m", u64::from(attempt * 77 % 200 + 1)));
    }
    store.record(slow(201, "l", 7));
    store.record(AttemptRow {
        failure: Some(RowFailure::Cancelled),
        cost: Usd::ZERO,
        pricing_missing: true,
        tags: BTreeMap::from([("a \"key\"".to_owned(), "one".to_owned())]),
        ..slow(202, "m", 90_000)
    });
    let latency = |model: &str, attempts, [p50_ms, p90_ms, p99_ms]: [u64; 3]| ObservedLatency {
        provider: "openai".to_owned(),
        model: model.to_owned(),
        attempts,
        p50_ms,
        p90_ms,
        p99_ms,
    };
    let expected = [
        latency("l", 1, [7, 7, 7]),
        latency("m", 200, [100, 180, 198]),
    ];
    assert_eq!(observed("slow"), expected);

    check_pages(store);
    let spend = |tag: Option<(&str, &str)>, window_ms| {
        let tag = tag.map(|(key, value)| (key.to_owned(), value.to_owned()));
        let spend = block_on(store.spend(Spending { tag, window_ms })).unwrap();
        (spend.attempts, spend.unpriced, spend.cost.as_nanos())
    };
    let each = row("slow", 1).cost.as_nanos();
    assert_eq!(spend(None, 1..203), (202, 1, 201 * each));
    assert_eq!(spend(None, 10..12), (2, 0, 2 * each));
    assert_eq!(spend(None, 300..400), (0, 0, 0));
    let customer = Some(("customer", "ac\"me ✓"));
    assert_eq!(spend(customer, 1..203), (201, 0, 201 * each));
    assert_eq!(spend(Some(("a \"key\"", "one")), 1..203), (1, 1, 0));
    assert_eq!(spend(Some(("a \"key\"", "two")), 1..203), (0, 0, 0));
    // E6: what a few absurd rows cost together is beyond an integer, and is read all the same.
    for attempt in 300..303 {
        store.record(AttemptRow {
            cost: Usd::nanos(u64::MAX),
            ..slow(attempt, "m", 1)
        });
    }
    let (attempts, _, cost) = spend(None, 300..303);
    assert!(attempts == 3 && cost >= i64::MAX as u64);
    assert_eq!(
        block_on(store.spend(Spending {
            tag: None,
            window_ms: 5..5
        })),
        Ok(Spend::default())
    );
}

/// Pages hold every row of a window once, in the order of their ids.
fn check_pages(store: &dyn Store) {
    let mut ids: Vec<_> = (10..110).map(|attempt| format!("slow-{attempt}")).collect();
    ids.sort();
    for limit in [1, 7, 100, 4_000] {
        let mut page = Some(Page::first(10..110, limit));
        let mut found = Vec::new();
        while let Some(this) = page {
            let rows = block_on(store.page(this.clone())).unwrap();
            assert!(rows.len() <= limit as usize);
            page = this.next(&rows);
            found.extend(rows.into_iter().map(|row| row.id));
        }
        assert_eq!(found, ids, "pages of {limit}");
    }
}

/// Asserts all of it, of a store that is empty.
pub(super) fn check(store: Arc<dyn Store>) {
    check_envelopes(&store);
    check_reading(&*store);
    beside::check_verdicts(&*store);
    beside::check_names(&*store);

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
    beside::check_exports(&store);
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
