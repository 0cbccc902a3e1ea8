//! Do stores that share a database, and whose connections are cut, lose nothing and overspend nothing?

use std::sync::atomic::{AtomicBool, Ordering};

use super::super::super::{ExportNext, ExportTurn, Exported, Reserve};
use super::*;

/// A small generator of numbers (SplitMix64); the seed alone decides them.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % limit
    }
}

/// E2: 2 stores of 4 threads each; in two envelopes, which they take in different orders, so that whoever locked them in the
/// order of asking would wait for the other for ever.
#[test]
fn stores_never_spend_past_a_cap_together() {
    let Some(fresh) = Fresh::new() else { return };
    let stores = [fresh.open(), fresh.open()];
    let granted: Vec<usize> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8)
            .map(|thread| {
                let store = &stores[thread % 2];
                scope.spawn(move || {
                    let names = ["one", "two"];
                    let reserved = |number: &usize| {
                        let name = names[(thread + number) % 2];
                        let id = format!("{thread}-{number}");
                        let wanted = wanted(name, 100, &id, 3);
                        block_on(store.reserve(wanted)) == Ok(Reserved::Granted)
                    };
                    (0..40).filter(reserved).count()
                })
            })
            .collect();
        let granted = threads.into_iter().map(|thread| thread.join().unwrap());
        granted.collect()
    });
    assert_eq!(granted.iter().sum::<usize>(), 66);
    for name in ["one", "two"] {
        let state = block_on(stores[1].envelope(name, 1_000)).unwrap();
        assert_eq!(state, Some(holds(name, 100, 0, 99)));
    }
}

/// T5, E2: connections are cut at random moments while four threads record, reserve and settle. Every flush holds what it
/// says, nothing is lost, nothing is there twice, and the sums are exact.
#[test]
fn a_cut_connection_loses_nothing_and_does_nothing_twice() {
    const ROWS: u32 = 60;
    let Some(fresh) = Fresh::new() else { return };
    let stores = [fresh.open(), fresh.open()];
    let is_over = AtomicBool::new(false);
    let cuts = std::thread::scope(|scope| {
        let cutter = scope.spawn(|| {
            let mut random = Random(8);
            let mut cuts = 0;
            while !is_over.load(Ordering::SeqCst) {
                std::thread::park_timeout(Duration::from_micros(random.below(200_000)));
                fresh.cut();
                cuts += 1;
            }
            cuts
        });
        let threads: Vec<_> = (0..4)
            .map(|thread| {
                let store = &stores[thread % 2];
                scope.spawn(move || {
                    let run_id = format!("t{thread}");
                    for attempt in 1..=ROWS {
                        let row = row(&run_id, attempt);
                        let amount = u64::MAX >> 20;
                        let wanted = wanted("e", amount, &row.id, 5);
                        let reserved = block_on(store.reserve(wanted));
                        assert_eq!(reserved, Ok(Reserved::Granted));
                        let id = row.id.clone();
                        store.record(row);
                        store.settle(&id, (attempt % 2 == 0).then_some(Usd::nanos(2)));
                        assert_eq!(block_on(store.flush()), Ok(()));
                        let rows = attempts(store, &run_id);
                        assert_eq!(rows.len(), attempt as usize);
                    }
                })
            })
            .collect();
        for thread in threads {
            thread.join().unwrap();
        }
        is_over.store(true, Ordering::SeqCst);
        cutter.join().unwrap()
    });
    assert!(cuts > 3, "{cuts} cuts");
    let spent = 4 * u64::from(ROWS / 2) * (5 + 2);
    let state = block_on(stores[0].envelope("e", 1_000)).unwrap();
    assert_eq!(state, Some(holds("e", u64::MAX >> 20, spent, 0)));
    let mut client = fresh.client();
    let sums = "SELECT count(*), count(DISTINCT id) FROM modelrig.inferences";
    let sums = client.query_one(sums, &[]).unwrap();
    let rows = i64::from(4 * ROWS);
    assert_eq!((sums.get::<_, i64>(0), sums.get::<_, i64>(1)), (rows, rows));
    assert_eq!(stores.map(|store| store.lost_rows()), [0, 0]);
}

/// Returns whether something is answered at the first look.
fn is_answered<T>(answer: &mut crate::transport::BoxFuture<'_, T>) -> bool {
    let mut ctx = std::task::Context::from_waker(std::task::Waker::noop());
    answer.as_mut().poll(&mut ctx).is_ready()
}

// L17, T5: while a database lets nobody in, rows wait and nothing is reserved. When it is back, rows are stored, and whoever
// gave up a reservation has reserved nothing.
#[test]
fn rows_wait_for_a_database_that_is_away() {
    let Some(fresh) = Fresh::new() else { return };
    let store = fresh.open();
    let reserve = |id: &str| store.reserve(wanted("e", 100, id, 10));
    assert_eq!(block_on(reserve("first")), Ok(Reserved::Granted));
    let shut = |word| format!("ALTER DATABASE {} ALLOW_CONNECTIONS {word}", fresh.name);
    fresh.at_server(&shut("false"));
    fresh.cut();
    store.record(row("a", 1));
    let mut given_up = reserve("second");
    assert!(!is_answered(&mut given_up));
    drop(given_up);
    store.settle("second", Some(Usd::ZERO));
    let waits = reserve("third");
    assert_eq!(store.counts().queued_rows, 1);
    fresh.at_server(&shut("true"));
    assert_eq!(block_on(waits), Ok(Reserved::Granted));
    store.settle("first", Some(Usd::nanos(4)));
    let state = block_on(store.envelope("e", 1_000)).unwrap();
    assert_eq!(state, Some(holds("e", 100, 4, 10)));
    store.record(row("a", 2));
    assert_eq!(block_on(store.flush()), Ok(()));
    assert_eq!(attempts(&store, "a"), [row("a", 1), row("a", 2)]);
    assert_eq!(store.lost_rows(), 0);
}

// E6: a row that the database refuses costs itself and no reservation, whatever else is in its batch.
#[test]
fn a_bad_row_costs_itself() {
    let Some(fresh) = Fresh::new() else { return };
    let store = fresh.open();
    let refuses = "ALTER TABLE modelrig.inferences ADD CHECK (attempt % 100 <> 7)";
    fresh.client().batch_execute(refuses).unwrap();
    for attempt in 1..=600 {
        store.record(row("a", attempt));
    }
    let granted = block_on(store.reserve(wanted("e", 10, "r", 10)));
    assert_eq!(granted, Ok(Reserved::Granted));
    store.settle("r", Some(Usd::nanos(3)));
    let error = block_on(store.flush()).unwrap_err();
    assert!(error.to_string().contains("6 rows"), "{error}");
    assert_eq!(attempts(&store, "a").len(), 594);
    let state = block_on(store.envelope("e", 1_000)).unwrap();
    assert_eq!(state, Some(holds("e", 10, 3, 0)));
}

// T8: a read that takes long holds up neither rows nor money.
#[test]
fn a_reader_holds_up_no_writer() {
    let Some(fresh) = Fresh::new() else { return };
    let store = fresh.open();
    let (go_on, told) = std::sync::mpsc::channel::<()>();
    let read = store.read(move |session| {
        session.client().batch_execute("SELECT 1")?;
        let _ = told.recv();
        Ok(())
    });
    store.record(row("a", 1));
    let granted = block_on(store.reserve(wanted("e", 10, "r", 10)));
    assert_eq!(granted, Ok(Reserved::Granted));
    block_on(store.flush()).unwrap();
    go_on.send(()).unwrap();
    block_on(read).unwrap();
    assert_eq!(attempts(&store, "a"), [row("a", 1)]);
}

// E6: a row of a newer version is read and exported like others.
#[test]
fn a_row_of_a_newer_version_is_read_and_exported() {
    let Some(fresh) = Fresh::new() else { return };
    let store = fresh.open();
    let id = Uuid::from_u128(3).to_string();
    store.record(AttemptRow {
        id: id.clone(),
        run_id: id.clone(),
        ..row("a", 1)
    });
    block_on(store.flush()).unwrap();
    let newer =
        "UPDATE modelrig.inferences SET failure_class = 'melted_down', requested_tier = 'turbo'";
    fresh.client().batch_execute(newer).unwrap();
    let read = &attempts(&store, &id)[0];
    assert_eq!(
        read.failure.map(|failure| failure.name()),
        Some("melted_down")
    );
    assert_eq!(read.requested_tier, None);
    let turn = ExportTurn {
        exporter: "e".to_owned(),
        worker: "a".to_owned(),
        now_ms: 0,
        lapses_ms: 10,
        most: 50,
    };
    let ExportNext::Rows(batch) = block_on(store.next_export(turn)).unwrap() else {
        panic!("there is a row")
    };
    assert_eq!(batch.rows[0].failure, read.failure);
}

/// T4: whatever is committed while an exporter reads comes after its cursor. Two stores insert, a third exports.
#[test]
fn an_exporter_misses_no_row_of_those_who_insert_meanwhile() {
    const ROWS: u128 = 400;
    let Some(fresh) = Fresh::new() else { return };
    let stores = [fresh.open(), fresh.open()];
    let exporter = fresh.open();
    let mut exported = Vec::new();
    let mut export = || {
        let turn = ExportTurn {
            exporter: "e".to_owned(),
            worker: "a".to_owned(),
            now_ms: 0,
            lapses_ms: 10,
            most: 50,
        };
        match block_on(exporter.next_export(turn)).unwrap() {
            ExportNext::Rows(batch) => {
                exported.extend(batch.rows.into_iter().map(|row| row.id.as_u128()));
                let (exporter_name, worker) = ("e".to_owned(), "a".to_owned());
                block_on(exporter.exported(Exported {
                    exporter: exporter_name,
                    worker,
                    cursor: Some(batch.cursor),
                    set_aside: Vec::new(),
                    fault: None,
                    now_ms: 0,
                }))
                .unwrap();
                true
            }
            other => {
                assert_eq!(other, ExportNext::Nothing);
                false
            }
        }
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4_u128)
            .map(|thread| {
                let store = &stores[usize::from(thread % 2 == 0)];
                scope.spawn(move || {
                    for number in 0..ROWS {
                        store.record(AttemptRow {
                            id: Uuid::from_u128(thread * ROWS + number).to_string(),
                            run_id: Uuid::from_u128(1).to_string(),
                            ..row("z", 1)
                        });
                        if number % 7 == 0 {
                            block_on(store.flush()).unwrap();
                        }
                    }
                    block_on(store.flush()).unwrap();
                })
            })
            .collect();
        while threads.iter().any(|thread| !thread.is_finished()) {
            export();
        }
    });
    while export() {}
    exported.sort_unstable();
    assert!(exported.into_iter().eq(0..4 * ROWS));
}

/// What lapses in one store is spent for all, and its late settlement corrects it.
#[test]
fn what_one_store_leaves_lapses_for_the_others() {
    let Some(fresh) = Fresh::new() else { return };
    let (gone, other) = (fresh.open(), fresh.open());
    let reserved = block_on(gone.reserve(wanted("e", 100, "a", 60)));
    assert_eq!(reserved, Ok(Reserved::Granted));
    drop(gone);
    let later = Reserve {
        now_ms: 2_000,
        lapses_ms: 3_000,
        ..wanted("e", 100, "b", 41)
    };
    let refused = Ok(Reserved::Exhausted(holds("e", 100, 60, 0)));
    assert_eq!(block_on(other.reserve(later)), refused);
    other.settle("a", Some(Usd::nanos(5)));
    let state = block_on(other.envelope("e", 2_000)).unwrap();
    assert_eq!(state, Some(holds("e", 100, 5, 0)));
}
