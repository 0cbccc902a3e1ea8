//! Can anybody but the owner read what is kept?

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use super::super::Store;
use super::super::contract::{block_on, capture, row};
use super::super::sqlite::SqliteStore;

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

/// Returns a store with a capture that is still in the log, and its path.
fn captured(path: &Path) -> SqliteStore {
    let store = SqliteStore::open(path).unwrap();
    store.record_captured(row("a", 1), capture(&row("a", 1), 1));
    block_on(store.flush()).unwrap();
    store
}

fn beside(path: &Path, end: &str) -> std::path::PathBuf {
    let name = path.file_name().unwrap().to_string_lossy();
    path.with_file_name(format!("{name}{end}"))
}

// T7: the database, its log and its index are their owner's, in a directory of their own, which git passes over.
#[test]
fn what_is_made_is_for_its_owner_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("new/.modelrig/telemetry.db");
    let _store = captured(&path);
    for file in [path.clone(), beside(&path, "-wal"), beside(&path, "-shm")] {
        assert_eq!(mode(&file), 0o600, "{}", file.display());
    }
    assert_eq!(mode(path.parent().unwrap()), 0o700);
    let ignored = fs::read_to_string(path.with_file_name(".gitignore")).unwrap();
    assert_eq!(ignored, "*\n");
}

// T7: a directory that was there keeps its mode and gets no file but ours, which is its owner's all the same.
#[test]
fn a_directory_that_was_there_is_left_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).unwrap();
    let path = folder.path().join("telemetry.db");
    drop(captured(&path));
    assert_eq!(mode(folder.path()), 0o755);
    assert_eq!(mode(&path), 0o600);
    assert!(!path.with_file_name(".gitignore").exists());
}

// T7: a file that an earlier version made is its owner's from the day that this version opens it; what its owner says
// later holds.
#[test]
fn a_looser_file_of_an_earlier_version_is_tightened_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("telemetry.db");
    let connection = rusqlite::Connection::open(&path).unwrap();
    let first = include_str!("../sqlite/0001_inferences.sql");
    connection.execute_batch(first).unwrap();
    connection.pragma_update(None, "user_version", 1).unwrap();
    connection
        .pragma_update(None, "application_id", 0x6d72_6967)
        .unwrap();
    drop(connection);
    fs::set_permissions(&path, Permissions::from_mode(0o644)).unwrap();
    let store = captured(&path);
    for file in [path.clone(), beside(&path, "-wal"), beside(&path, "-shm")] {
        assert_eq!(mode(&file), 0o600, "{}", file.display());
    }
    drop(store);
    fs::set_permissions(&path, Permissions::from_mode(0o640)).unwrap();
    let _store = captured(&path);
    for file in [path.clone(), beside(&path, "-wal")] {
        assert_eq!(mode(&file), 0o640, "{}", file.display());
    }
}

// T5: whatever else is wrong with a file, it is left as it was.
#[test]
fn a_file_that_is_not_ours_keeps_its_mode() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("telemetry.db");
    let connection = rusqlite::Connection::open(&path).unwrap();
    connection
        .execute_batch("CREATE TABLE customers (name TEXT)")
        .unwrap();
    drop(connection);
    fs::set_permissions(&path, Permissions::from_mode(0o644)).unwrap();
    assert!(SqliteStore::open(&path).is_err());
    assert_eq!(mode(&path), 0o644);
}
