//! Does the database keep what it was given, whatever happens to it and beside it?

use std::path::{Path, PathBuf};
use std::sync::Barrier;

use rusqlite::Connection;
use tempfile::TempDir;

use super::super::contract::{block_on, capture, row, wanted};
use super::*;

fn place() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("deep/er/telemetry.db");
    (folder, path)
}

fn attempts(store: &SqliteStore, run_id: &str) -> Vec<AttemptRow> {
    block_on(store.attempts(run_id)).unwrap()
}

fn reason(opened: Result<SqliteStore, StoreError>) -> String {
    match opened {
        Err(StoreError::Unavailable { reason, location }) => {
            assert!(!location.is_empty());
            reason
        }
        other => format!("{other:?}"),
    }
}

/// Returns the names and contents of everything beside and in a file.
fn contents(path: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut files: Vec<_> = std::fs::read_dir(path.parent().unwrap())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .map(|file| (file.clone(), std::fs::read(file).unwrap()))
        .collect();
    files.sort();
    files
}

#[test]
fn reopening_reads_the_rows_back() {
    let (_folder, path) = place();
    let store = SqliteStore::open(&path).unwrap();
    store.record(row("a", 1));
    // Without a flush: dropping the store writes what is queued.
    drop(store);
    let store = SqliteStore::open(&path).unwrap();
    assert_eq!(attempts(&store, "a"), [row("a", 1)]);
    assert_eq!(store.lost_rows(), 0);
}

/// T1: the columns and their order are the contract.
#[test]
fn the_table_has_the_columns_of_the_contract() {
    let (_folder, path) = place();
    let store = SqliteStore::open(&path).unwrap();
    store.record(row("a", 1));
    block_on(store.flush()).unwrap();
    let connection = Connection::open(&path).unwrap();
    let select = connection.prepare("SELECT * FROM inferences").unwrap();
    assert_eq!(
        select.column_names().collect::<Vec<_>>().join(" "),
        "id ts run_id route route_version provider model requested_tier served_tier tokens_in tokens_out \
         tokens_cached tokens_cache_write cost_usd pricing_missing latency_ms ttfb_ms failure_class attempt \
         tags served_variant repaired_by cache_key prefix_fingerprint lane cost_nanousd traceparent usage_missing searches"
    );
    let (usd, customer, tokens): (f64, String, i64) = connection
        .query_row(
            "SELECT cost_usd, tags ->> 'customer', tokens_in FROM inferences",
            [],
            |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)),
        )
        .unwrap();
    assert_eq!(
        (usd, customer.as_str(), tokens),
        (0.123_456_789, "ac\"me ✓", 1_200)
    );
    let mode: String = connection
        .pragma_query_value(None, "journal_mode", |row| row.get(0))
        .unwrap();
    assert_eq!(mode, "wal");
}

/// Returns the columns that a section of the page on telemetry lists.
fn documented(page: &str, section: &str) -> Vec<String> {
    let section = page.split(&format!("\n### {section}\n")).nth(1).unwrap();
    let section = section.split("\n### ").next().unwrap();
    let cells = section.lines().filter_map(|line| line.strip_prefix("| `"));
    let names = cells.flat_map(|cells| cells.split(" |").next().unwrap().split(", "));
    names
        .map(|name| name.trim_matches('`').to_owned())
        .collect()
}

#[test]
fn every_column_is_documented_in_its_place() {
    let (_folder, path) = place();
    drop(SqliteStore::open(&path).unwrap());
    let connection = Connection::open(&path).unwrap();
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/telemetry.md");
    let page = std::fs::read_to_string(page).unwrap();
    let mut select = connection
        .prepare("SELECT name FROM sqlite_schema WHERE type IN ('table', 'view')")
        .unwrap();
    let names = select.query_map([], |row| row.get::<_, String>(0)).unwrap();
    let names: Vec<_> = names.map(Result::unwrap).collect();
    assert_eq!(names.len(), 10, "{names:?}");
    for name in names {
        let select = connection
            .prepare(&format!("SELECT * FROM {name}"))
            .unwrap();
        let columns: Vec<_> = select.column_names().collect();
        assert_eq!(documented(&page, &name), columns, "{name}");
    }
}

/// The views say in USD what the tables hold.
#[test]
fn the_views_show_days_tags_and_envelopes() {
    let (_folder, path) = place();
    let store = SqliteStore::open(&path).unwrap();
    store.record(row("a", 1));
    block_on(store.reserve(wanted("e", 5_000_000_000, "r1", 2_000_000_000))).unwrap();
    block_on(store.reserve(wanted("e", 0, "r2", 500_000_000))).unwrap();
    store.settle("r1", Some(Usd::nanos(1_250_000_000)));
    block_on(store.flush()).unwrap();
    let connection = Connection::open(&path).unwrap();
    let line =
        |select: &str| -> String { connection.query_row(select, [], |row| row.get(0)).unwrap() };
    assert_eq!(
        line(
            "SELECT concat_ws(' ', day, tag, value, attempts, cost_usd, unpriced) FROM spend_by_tag"
        ),
        "2026-09-21 customer ac\"me ✓ 1 0.123456789 0"
    );
    assert_eq!(
        line(
            "SELECT concat_ws(' ', name, cap_usd, spent_usd, reserved_usd, left_usd) FROM envelope_state"
        ),
        "e 5.0 1.25 0.5 3.25"
    );
}

/// T3: a file of before captures gets their table, and keeps its rows.
#[test]
fn a_file_of_the_first_version_is_brought_up_to_date() {
    let (_folder, path) = place();
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    let connection = Connection::open(&path).unwrap();
    connection
        .execute_batch(include_str!("0001_inferences.sql"))
        .unwrap();
    connection
        .execute_batch(
            "INSERT INTO inferences (id, ts, run_id, route, route_version, provider, model, pricing_missing,
                 latency_ms, attempt, tags, lane, cost_nanousd)
             VALUES ('a-1', 5, 'a', 'summarize', 3, 'openai', 'm', 0, 9, 1, '{}', 'ladder', 7)",
        )
        .unwrap();
    connection.pragma_update(None, "user_version", 1).unwrap();
    let ours = schema::APPLICATION_ID;
    connection
        .pragma_update(None, "application_id", ours)
        .unwrap();
    drop(connection);
    let store = SqliteStore::open(&path).unwrap();
    let kept = &attempts(&store, "a")[0];
    assert_eq!((kept.cost, kept.traceparent), (Usd::nanos(7), None));
    store.record_captured(row("a", 2), capture(&row("a", 2), 1));
    let captures = block_on(store.captures("summarize")).unwrap();
    assert_eq!(captures, [capture(&row("a", 2), 1)]);
    let connection = Connection::open(&path).unwrap();
    assert_eq!(schema::version(&connection).unwrap(), schema::KNOWN);
}

/// T3: a capture that cannot be stored takes its row with it, and no row holds what it holds.
#[test]
fn a_capture_and_its_row_are_stored_together_or_not_at_all() {
    let (_folder, path) = place();
    let store = SqliteStore::open(&path).unwrap();
    let other = Connection::open(&path).unwrap();
    other.execute_batch("DROP TABLE captures").unwrap();
    store.record_captured(row("a", 1), capture(&row("a", 1), 1));
    assert!(block_on(store.flush()).is_err());
    assert_eq!(attempts(&store, "a"), []);
    assert_eq!(store.lost_rows(), 1);
}

/// T5: acknowledged means committed; another connection sees it while the store is open.
#[test]
fn a_flushed_row_is_on_file() {
    let (_folder, path) = place();
    let store = SqliteStore::open(&path).unwrap();
    for attempt in 1..=1_000 {
        store.record(row("a", attempt));
    }
    block_on(store.flush()).unwrap();
    let connection = Connection::open(&path).unwrap();
    let rows: i64 = connection
        .query_row("SELECT count(*) FROM inferences", [], |row| row.get(0))
        .unwrap();
    assert_eq!(rows, 1_000);
}

#[test]
fn eight_opens_at_once_share_one_new_file() {
    for _ in 0..5 {
        let (_folder, path) = place();
        let start = Barrier::new(8);
        std::thread::scope(|scope| {
            for thread in 0..8 {
                let (path, start) = (&path, &start);
                scope.spawn(move || {
                    start.wait();
                    let store = SqliteStore::open(path).unwrap();
                    store.record(row(&format!("t{thread}"), 1));
                    block_on(store.flush()).unwrap();
                });
            }
        });
        let store = SqliteStore::open(&path).unwrap();
        for thread in 0..8 {
            assert_eq!(attempts(&store, &format!("t{thread}")).len(), 1);
        }
    }
}

#[test]
fn two_stores_on_one_file_lose_no_rows() {
    let (_folder, path) = place();
    let stores = [
        SqliteStore::open(&path).unwrap(),
        SqliteStore::open(&path).unwrap(),
    ];
    std::thread::scope(|scope| {
        for (number, store) in stores.iter().enumerate() {
            scope.spawn(move || {
                for attempt in 1..=3_000 {
                    store.record(row(&format!("s{number}"), attempt));
                }
                block_on(store.flush()).unwrap();
            });
        }
    });
    // Each sees the other's rows.
    assert_eq!(attempts(&stores[0], "s1").len(), 3_000);
    assert_eq!(attempts(&stores[1], "s0").len(), 3_000);
    assert_eq!(stores.map(|store| store.lost_rows()), [0, 0]);
}

/// T5.
#[test]
fn a_newer_file_is_refused_and_left_untouched() {
    let (_folder, path) = place();
    drop(SqliteStore::open(&path).unwrap());
    let connection = Connection::open(&path).unwrap();
    connection.pragma_update(None, "user_version", 99).unwrap();
    // Closed, so that everything is in the one file.
    drop(connection);
    let before = contents(&path);
    let error = SqliteStore::open(&path).unwrap_err();
    assert!(
        matches!(
            error,
            StoreError::Newer {
                found: 99,
                known: schema::KNOWN,
                ..
            }
        ),
        "{error}"
    );
    let main =
        |files: Vec<(PathBuf, Vec<u8>)>| files.into_iter().find(|(file, _)| *file == path).unwrap();
    assert_eq!(main(contents(&path)), main(before));
}

/// T5.
#[test]
fn a_file_that_is_no_database_is_refused_and_left_untouched() {
    let (_folder, path) = place();
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    let garbage = "not a database, but somebody's notes. ".repeat(100);
    std::fs::write(&path, &garbage).unwrap();
    let before = contents(&path);
    assert_eq!(reason(SqliteStore::open(&path)), "file is not a database");
    assert_eq!(contents(&path), before);
}

/// T5.
#[test]
fn a_damaged_database_is_refused() {
    let (_folder, path) = place();
    let store = SqliteStore::open(&path).unwrap();
    for attempt in 1..=500 {
        store.record(row("a", attempt));
    }
    drop(store);
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[100..4_096].fill(0x5a);
    std::fs::write(&path, &bytes).unwrap();
    assert_eq!(
        reason(SqliteStore::open(&path)),
        "database disk image is malformed"
    );
    assert_eq!(std::fs::read(&path).unwrap(), bytes);
}

#[test]
fn another_programs_database_is_refused_and_left_untouched() {
    let (_folder, path) = place();
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    let connection = Connection::open(&path).unwrap();
    connection
        .execute_batch("CREATE TABLE customers (name TEXT)")
        .unwrap();
    drop(connection);
    let before = contents(&path);
    assert_eq!(
        reason(SqliteStore::open(&path)),
        "it is the database of another program"
    );
    assert_eq!(contents(&path), before);
}

#[test]
fn a_folder_in_the_files_place_is_refused() {
    let (_folder, path) = place();
    std::fs::create_dir_all(&path).unwrap();
    assert!(reason(SqliteStore::open(&path)).contains("unable to open database file"));
    assert!(path.is_dir());
}

#[test]
fn a_file_in_the_folders_place_is_refused() {
    let (folder, path) = place();
    std::fs::write(folder.path().join("deep"), "a file").unwrap();
    assert!(matches!(
        SqliteStore::open(&path),
        Err(StoreError::Unavailable { .. })
    ));
}

#[expect(clippy::print_stderr, reason = "a skipped test has to say so")]
fn say(line: &str) {
    eprintln!("{line}");
}

/// T5. Nothing is read-only to root, so the test asks the file system first.
#[test]
fn a_read_only_file_is_refused() {
    let (_folder, path) = place();
    drop(SqliteStore::open(&path).unwrap());
    let mut permissions = std::fs::metadata(&path).unwrap().permissions();
    permissions.set_readonly(true);
    std::fs::set_permissions(&path, permissions).unwrap();
    if std::fs::OpenOptions::new()
        .append(true)
        .open(&path)
        .is_err()
    {
        assert_eq!(reason(SqliteStore::open(&path)), "it is read-only");
    } else {
        say("skipped: whoever runs this test may write read-only files");
    }
}

#[test]
fn a_file_that_fails_later_costs_rows_and_says_so() {
    let (_folder, path) = place();
    let store = SqliteStore::open(&path).unwrap();
    Connection::open(&path)
        .unwrap()
        .execute_batch("DROP TABLE inferences")
        .unwrap();
    store.record(row("a", 1));
    store.record(row("a", 2));
    let error = block_on(store.flush()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the telemetry store failed: 2 rows could not be stored"
    );
    assert_eq!(store.lost_rows(), 2);
    assert!(block_on(store.attempts("a")).is_err());
}

#[test]
fn a_name_that_sqlite_gives_a_meaning_is_a_file_like_any_other() {
    let (folder, _) = place();
    let path = folder.path().join(":memory:");
    drop(SqliteStore::open(&path).unwrap());
    assert!(path.is_file());
    assert_eq!(open::plain(Path::new(":memory:")), Path::new("./:memory:"));
}

mod faults;
