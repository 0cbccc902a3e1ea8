//! T7: is what was deleted gone from the files, and does nobody wait for it meanwhile?

use std::fs;
use std::path::Path;
use std::time::Duration;

use rusqlite::Connection;
use tempfile::TempDir;

use super::super::super::contract::{block_on, capture, row};
use super::super::super::{AttemptRow, Capture, Grade, Graded, Prune, Pruned, Store, Verdict};
use super::super::SqliteStore;

const SECRET: &str = "Xq7Zk-walrus";

fn place() -> (TempDir, std::path::PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.db");
    (folder, path)
}

/// Records so many rows, whose captures and verdicts are full of a secret.
fn fill(store: &SqliteStore, rows: u32) {
    for attempt in 1..=rows {
        let row = AttemptRow {
            ts_ms: i64::from(attempt),
            ..row("a", attempt)
        };
        let captured = Capture {
            variables: format!("{{\"ticket\":\"{SECRET} {attempt}\"}}"),
            // Longer than a page, so that it has pages of its own.
            output: format!("{SECRET} {attempt} ").repeat(400),
            ..capture(&row, row.ts_ms)
        };
        store.record_captured(row.clone(), captured);
        let grade = Grade {
            id: format!("g{attempt}"),
            ts_ms: 1,
            of: Graded::Attempt(row.id),
            verdict: Verdict::down().note(format!("{SECRET} is wrong")),
        };
        block_on(store.grade(grade)).unwrap();
    }
    block_on(store.flush()).unwrap();
}

/// Returns how often the secret can be read in any file of the folder.
fn readable(folder: &Path) -> usize {
    let files = fs::read_dir(folder).unwrap();
    let files = files.map(|entry| fs::read(entry.unwrap().path()).unwrap());
    let within = |bytes: Vec<u8>| {
        let marker = SECRET.as_bytes();
        bytes
            .windows(marker.len())
            .filter(|part| *part == marker)
            .count()
    };
    files.map(within).sum()
}

#[test]
fn what_was_deleted_cannot_be_read_in_any_file() {
    let (folder, path) = place();
    let store = SqliteStore::open(&path).unwrap();
    fill(&store, 50);
    assert!(readable(folder.path()) > 50 * 400);
    let pruned = block_on(store.prune(Prune::captures(), 1_000)).unwrap();
    assert_eq!(
        (pruned.captures, pruned.rows, pruned.leaves_traces),
        (50, 0, false)
    );
    // The notes of the verdicts are left.
    assert_eq!(readable(folder.path()), 50);
    let pruned = block_on(store.prune(Prune::rows(), 1_000)).unwrap();
    assert_eq!((pruned.rows, pruned.verdicts), (50, 50));
    assert_eq!(readable(folder.path()), 0);
    // Also with what came and went in between, and after the store is closed.
    fill(&store, 7);
    block_on(store.prune(Prune::rows().older_than(Duration::from_millis(5)), 10)).unwrap();
    block_on(store.prune(Prune::rows(), 1_000)).unwrap();
    drop(store);
    assert_eq!(readable(folder.path()), 0);
}

#[test]
fn a_reader_that_keeps_the_log_is_not_waited_for_and_named() {
    let (folder, path) = place();
    let store = SqliteStore::open(&path).unwrap();
    fill(&store, 5);
    let mut reader = Connection::open(&path).unwrap();
    let snapshot = reader.transaction().unwrap();
    snapshot
        .query_row("SELECT count(*) FROM captures", [], |_| Ok(()))
        .unwrap();
    let pruned = block_on(store.prune(Prune::captures(), 1_000)).unwrap();
    assert_eq!((pruned.captures, pruned.leaves_traces), (5, true));
    assert!(readable(folder.path()) > 5);
    drop(snapshot);
    // Once it has gone, whoever prunes anything empties the log.
    let pruned = block_on(store.prune(Prune::captures(), 1_000)).unwrap();
    assert_eq!(pruned, Pruned::default());
    assert_eq!(readable(folder.path()), 5);
}

#[test]
fn rows_are_recorded_while_others_are_deleted() {
    let (_folder, path) = place();
    let store = SqliteStore::open(&path).unwrap();
    fill(&store, 1_500);
    let pruned = std::thread::scope(|scope| {
        let pruning = scope.spawn(|| block_on(store.prune(Prune::rows(), 2_000)).unwrap());
        for attempt in 1..=300 {
            // Newer than what is pruned only by name: it may go as well.
            store.record(row("b", attempt));
            block_on(store.flush()).unwrap();
        }
        pruning.join().unwrap()
    });
    assert!(pruned.rows >= 1_500, "{pruned:?}");
    assert_eq!(block_on(store.attempts("a")).unwrap(), []);
    assert_eq!(store.lost_rows(), 0);
}

#[test]
fn whoever_stops_waiting_stops_the_deleting() {
    let (_folder, path) = place();
    let store = SqliteStore::open(&path).unwrap();
    fill(&store, 3);
    drop(store.prune(Prune::rows(), 2_000));
    block_on(store.flush()).unwrap();
    assert_eq!(block_on(store.attempts("a")).unwrap().len(), 3);
}
