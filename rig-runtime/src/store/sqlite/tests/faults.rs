//! T5: do rows fail open, and does money fail closed, where the disk gives out?

use super::super::super::contract::{holds, wanted};
use super::super::super::{EnvelopeState, Exported, Reserve, Reserved};
use super::*;

fn reserve(store: &SqliteStore, wanted: Reserve) -> Result<Reserved, StoreError> {
    block_on(store.reserve(wanted))
}

fn state(store: &SqliteStore, now_ms: i64) -> Option<EnvelopeState> {
    block_on(store.envelope("e", now_ms)).unwrap()
}

/// Opens a file that may not grow beyond so many pages more than it has, as on a disk that is nearly full.
fn nearly_full(path: &Path, more: u32) -> SqliteStore {
    let file = path.to_owned();
    let open = move || {
        let connection = open::open(&file)?;
        let pages: u32 = connection
            .pragma_query_value(None, "page_count", |row| row.get(0))
            .unwrap();
        let granted: u32 = connection
            .pragma_update_and_check(None, "max_page_count", pages + more, |row| row.get(0))
            .unwrap();
        assert_eq!(granted, pages + more);
        Ok(connection)
    };
    SqliteStore::start(path, open).unwrap()
}

/// Reserves in ever new envelopes until there is no room for one, and returns its name and the error.
fn exhaust(store: &SqliteStore) -> (String, StoreError) {
    let name = |number: u32| format!("{number}-{}", "e".repeat(500));
    let mut names = (0..1_000).map(name);
    let refused = names.find_map(|name| {
        let wanted = wanted(&name, 1_000, &name, 100);
        reserve(store, wanted).err().map(|error| (name, error))
    });
    refused.expect("the file fills up")
}

#[test]
fn a_full_disk_costs_rows_and_reserves_nothing() {
    let (_folder, path) = place();
    drop(SqliteStore::open(&path).unwrap());
    let store = nearly_full(&path, 8);
    assert_eq!(
        reserve(&store, wanted("e", 1_000, "first", 100)),
        Ok(Reserved::Granted)
    );
    let mut acknowledged = 0;
    while block_on(store.flush()).is_ok() {
        acknowledged += 1;
        store.record(row("a", acknowledged));
        assert!(acknowledged < 1_000, "the file never fills up");
    }
    let lost = store.lost_rows();
    assert_eq!(lost, 1);
    assert!(acknowledged > 1);
    let (name, error) = exhaust(&store);
    assert_eq!(
        error.to_string(),
        "the telemetry store failed: database or disk is full"
    );
    // What was acknowledged is there, and what was reserved before is settled: it needs no room.
    let kept = acknowledged as usize - 1;
    assert_eq!(attempts(&store, "a").len(), kept);
    store.settle("first", Some(Usd::nanos(7)));
    assert_eq!(state(&store, 1_000), Some(holds("e", 1_000, 7, 0)));
    drop(store);
    let store = SqliteStore::open(&path).unwrap();
    assert_eq!(attempts(&store, "a").len(), kept);
    assert_eq!(block_on(store.envelope(&name, 1_000)), Ok(None));
    assert_eq!(state(&store, 1_000), Some(holds("e", 1_000, 7, 0)));
}

#[test]
fn rows_and_money_do_not_fail_for_each_other() {
    let (_folder, path) = place();
    let store = SqliteStore::open(&path).unwrap();
    let other = Connection::open(&path).unwrap();
    other.execute_batch("DROP TABLE captures").unwrap();
    // In one batch or in two: the reservation is made and the row is lost.
    store.record_captured(row("a", 1), capture(&row("a", 1), 1));
    let granted = reserve(&store, wanted("e", 10, "r", 10));
    assert_eq!(granted, Ok(Reserved::Granted));
    let _ = block_on(store.flush());
    assert_eq!(store.lost_rows(), 1);

    let (_folder, path) = place();
    let store = SqliteStore::open(&path).unwrap();
    let other = Connection::open(&path).unwrap();
    other.execute_batch("DROP TABLE charges").unwrap();
    store.record(row("a", 1));
    assert!(reserve(&store, wanted("e", 10, "r", 10)).is_err());
    store.settle("r", None);
    block_on(store.flush()).unwrap();
    assert_eq!(attempts(&store, "a"), [row("a", 1)]);
    // The envelope that the failed reservation opened went with it.
    let opened: i64 = other
        .query_row("SELECT count(*) FROM envelopes", [], |row| row.get(0))
        .unwrap();
    assert_eq!(opened, 0);
}

/// Nothing is read-only to root but what the kernel makes itself.
#[test]
fn a_read_only_folder_is_refused() {
    if cfg!(target_os = "linux") {
        let path = Path::new("/proc/telemetry.db");
        assert!(reason(SqliteStore::open(path)).contains("unable to open database file"));
    }
    let (_folder, path) = place();
    let folder = path.parent().unwrap();
    std::fs::create_dir_all(folder).unwrap();
    let mut permissions = std::fs::metadata(folder).unwrap().permissions();
    permissions.set_readonly(true);
    std::fs::set_permissions(folder, permissions).unwrap();
    if std::fs::write(folder.join("probe"), "").is_err() {
        assert!(reason(SqliteStore::open(&path)).contains("unable to open database file"));
    } else {
        say("skipped: whoever runs this test may write in read-only folders");
    }
    #[expect(
        clippy::permissions_set_readonly_false,
        reason = "the folder is the test's own, and goes now"
    )]
    {
        let mut permissions = std::fs::metadata(folder).unwrap().permissions();
        permissions.set_readonly(false);
        std::fs::set_permissions(folder, permissions).unwrap();
    }
}

/// E4: a clock that goes back brings nothing back, and lets nothing lapse early.
#[test]
fn a_clock_that_goes_back_gives_no_money_back() {
    let (_folder, path) = place();
    let store = SqliteStore::open(&path).unwrap();
    reserve(&store, wanted("e", 10, "a", 4)).unwrap();
    assert_eq!(state(&store, 2_000), Some(holds("e", 10, 4, 0)));
    let back = Reserve {
        now_ms: -5_000,
        lapses_ms: -4_000,
        ..wanted("e", 10, "b", 6)
    };
    assert_eq!(reserve(&store, back.clone()), Ok(Reserved::Granted));
    assert_eq!(state(&store, -4_001), Some(holds("e", 10, 4, 6)));
    let more = Reserve {
        id: "c".to_owned(),
        ..back
    };
    let refused = Reserved::Exhausted(holds("e", 10, 4, 6));
    assert_eq!(reserve(&store, more), Ok(refused));
}

/// FC-51: while there is no room, answers are kept and rows are counted as lost; when there is some again, rows and money
/// go on without a restart.
#[test]
fn fc_51_rows_and_money_go_on_when_there_is_room_again() {
    let (_folder, path) = place();
    drop(SqliteStore::open(&path).unwrap());
    let store = nearly_full(&path, 8);
    let mut kept = 0;
    while block_on(store.flush()).is_ok() {
        kept += 1;
        store.record(row("a", kept));
        assert!(kept < 1_000, "the file never fills up");
    }
    // No row is tried again for ever, and none waits in memory.
    store.record(row("b", 1));
    let _ = block_on(store.flush());
    assert_eq!(store.lost_rows(), 2);
    exhaust(&store);
    // Somebody makes room.
    let other = Connection::open(&path).unwrap();
    other.execute_batch("DELETE FROM inferences").unwrap();
    store.record(row("c", 1));
    let _ = block_on(store.flush());
    assert_eq!(attempts(&store, "c"), [row("c", 1)]);
    assert_eq!(store.lost_rows(), 2);
    assert_eq!(
        reserve(&store, wanted("e", 10, "r", 1)),
        Ok(Reserved::Granted)
    );
}

// E6: a row that the file refuses costs itself and no reservation, whatever else is in its batch.
#[test]
fn a_bad_row_costs_itself() {
    let (_folder, path) = place();
    let store = SqliteStore::open(&path).unwrap();
    let other = Connection::open(&path).unwrap();
    let refuses = "CREATE TRIGGER refuses BEFORE INSERT ON inferences WHEN NEW.attempt % 100 = 7
                   BEGIN SELECT raise(ABORT, 'no sevens'); END";
    other.execute_batch(refuses).unwrap();
    for attempt in 1..=600 {
        store.record(row("a", attempt));
    }
    let granted = reserve(&store, wanted("e", 10, "r", 10));
    assert_eq!(granted, Ok(Reserved::Granted));
    store.settle("r", Some(Usd::nanos(3)));
    let error = block_on(store.flush()).unwrap_err();
    assert!(error.to_string().contains("6 rows"), "{error}");
    assert_eq!(attempts(&store, "a").len(), 594);
    assert_eq!(state(&store, 1_000), Some(holds("e", 10, 3, 0)));
}

// E6, T9: a table of cursors that is broken costs exporters their turn, and nobody a reservation.
#[test]
fn exports_that_fail_refuse_no_reservation() {
    let (_folder, path) = place();
    let store = SqliteStore::open(&path).unwrap();
    let other = Connection::open(&path).unwrap();
    other.execute_batch("DROP TABLE exports").unwrap();
    let done = store.exported(Exported {
        exporter: "e".to_owned(),
        worker: "a".to_owned(),
        cursor: None,
        set_aside: Vec::new(),
        fault: None,
        now_ms: 0,
    });
    let reserved = store.reserve(wanted("e", 10, "r", 10));
    assert_eq!(block_on(reserved), Ok(Reserved::Granted));
    assert!(block_on(done).is_err());
    store.record(row("a", 1));
    assert_eq!(block_on(store.flush()), Ok(()));
}

// L17, T8: nothing that is handed over waits for a lock, and a reader sees what is committed; the rest follows.
#[test]
fn a_lock_holds_up_whoever_waits_for_the_disk_and_nobody_else() {
    let (_folder, path) = place();
    let store = SqliteStore::open(&path).unwrap();
    store.record(row("a", 1));
    block_on(store.flush()).unwrap();
    let other = Connection::open(&path).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    for attempt in 2..=10_000 {
        store.record(row("a", attempt));
        store.settle("nobody", None);
    }
    assert_eq!(attempts(&store, "a"), [row("a", 1)]);
    assert_eq!(store.counts().queued_rows, 9_999);
    other.execute_batch("COMMIT").unwrap();
    block_on(store.flush()).unwrap();
    assert_eq!(attempts(&store, "a").len(), 10_000);
    assert_eq!(store.lost_rows(), 0);
    // Whoever read had waited for the grace by then.
    assert_eq!(store.late_rows(), 9_999);
}

// T8: a read that takes long holds up neither rows nor money.
#[test]
fn a_reader_holds_up_no_writer() {
    let (_folder, path) = place();
    let store = SqliteStore::open(&path).unwrap();
    store.record(row("a", 1));
    block_on(store.flush()).unwrap();
    let (go_on, told) = std::sync::mpsc::channel::<()>();
    let told = std::sync::Mutex::new(told);
    let read = store.read(move |connection| {
        let count = "SELECT count(*) FROM inferences";
        let snapshot = connection.unchecked_transaction()?;
        let before: i64 = snapshot.query_row(count, [], |row| row.get(0))?;
        let _ = told.lock().unwrap().recv();
        let after: i64 = snapshot.query_row(count, [], |row| row.get(0))?;
        Ok((before, after))
    });
    store.record(row("a", 2));
    let granted = reserve(&store, wanted("e", 10, "r", 10));
    assert_eq!(granted, Ok(Reserved::Granted));
    block_on(store.flush()).unwrap();
    go_on.send(()).unwrap();
    let (before, after) = block_on(read).unwrap();
    assert_eq!(before, after);
    assert_eq!(attempts(&store, "a").len(), 2);
}

// T5: a file that is up to date is opened without the lock that another process holds.
#[test]
fn a_locked_file_is_opened_and_read() {
    let (_folder, path) = place();
    let store = SqliteStore::open(&path).unwrap();
    store.record(row("a", 1));
    drop(store);
    let other = Connection::open(&path).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let store = SqliteStore::open(&path).unwrap();
    assert_eq!(attempts(&store, "a"), [row("a", 1)]);
}

// E6: costs whose sum is beyond an integer make no view unreadable.
#[test]
fn the_sum_of_absurd_costs_is_shown() {
    let (_folder, path) = place();
    let store = SqliteStore::open(&path).unwrap();
    for attempt in 1..4 {
        let cost = Usd::nanos(u64::MAX);
        store.record(AttemptRow {
            cost,
            ..row("a", attempt)
        });
    }
    block_on(store.flush()).unwrap();
    let connection = Connection::open(&path).unwrap();
    let shown: String = connection
        .query_row(
            "SELECT concat_ws(' ', attempts, cost_usd > 2e10) FROM spend_by_tag",
            [],
            |row| row.get(0),
        )
        .unwrap();
    assert_eq!(shown, "3 1");
}
