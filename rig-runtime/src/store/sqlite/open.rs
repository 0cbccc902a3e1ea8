//! How is a telemetry file opened, without touching one that is not ours to write?

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, MAIN_DB, OpenFlags};

use super::super::queue::Trouble;
use super::super::{StoreError, private};
use super::schema;

/// How long SQLite itself waits for another process's lock. Whoever writes tries again then, unless the store is being closed.
const BUSY_TIMEOUT: Duration = Duration::from_millis(250);

/// How long a reader waits for a lock: only a writer without WAL mode, and one that opens the file after a crash, hold one.
const READER_BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// The first schema version whose files are made for their owner alone.
const OWNERS_SINCE: u32 = 8;

/// Opens a file for the writer: checked, in WAL mode, at the newest schema version. Of a file that is up to date no lock is
/// taken.
pub(super) fn open(path: &Path) -> Result<Connection, Trouble> {
    let path = plain(path);
    if let Some(folder) = path.parent() {
        private::directory(folder).map_err(|error| Trouble::Lasting(unavailable(&path, error)))?;
    }
    // An empty file is an empty database. SQLite gives its log and its index the mode of the file. Where none can be made,
    // SQLite says why.
    drop(private::file(&path));
    // No URIs: a path is a path.
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_CREATE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let trouble = |error: rusqlite::Error| {
        let is_busy = is_busy(&error);
        let error = unavailable(&path, error);
        match is_busy {
            true => Trouble::Passing(error),
            false => Trouble::Lasting(error),
        }
    };
    let connection = Connection::open_with_flags(&path, flags).map_err(trouble)?;
    let checked = check(&connection, &path).map_err(trouble)?;
    let found = checked.map_err(Trouble::Lasting)?;
    if (1..OWNERS_SINCE).contains(&found) {
        tighten(&path);
    }
    prepare(connection).map_err(trouble)
}

/// Opens a file for the reader, which writes nothing. The writer has prepared it.
pub(super) fn reader(path: &Path) -> rusqlite::Result<Connection> {
    // Not read-only: whoever closes the file last has to be able to tidy up.
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(plain(path), flags)?;
    connection.busy_timeout(READER_BUSY_TIMEOUT)?;
    connection.pragma_update(None, "query_only", true)?;
    Ok(connection)
}

/// Returns the error of a file that cannot be used.
pub(super) fn unavailable(path: &Path, reason: impl fmt::Display) -> StoreError {
    StoreError::Unavailable {
        location: location(path),
        reason: reason.to_string(),
    }
}

/// Relative paths get a folder, since SQLite gives names like `:memory:` a meaning of their own.
pub(super) fn plain(path: &Path) -> PathBuf {
    if path.is_absolute() {
        path.to_owned()
    } else {
        Path::new(".").join(path)
    }
}

/// Returns how a file is called where it is complained about.
pub(super) fn location(path: &Path) -> String {
    path.strip_prefix(".").unwrap_or(path).display().to_string()
}

/// Makes a file of an earlier version its owner's. That is done once: what the owner says afterwards holds.
fn tighten(path: &Path) {
    for end in ["", "-wal", "-shm"] {
        let mut name = path.as_os_str().to_owned();
        name.push(end);
        let file = Path::new(&name);
        // A log that is not there has the mode of the file once it is.
        if file.exists()
            && let Err(error) = private::tighten(file)
        {
            let reason = error.to_string();
            tracing::warn!(
                reason,
                "others may read the telemetry database: change its mode"
            );
        }
    }
}

/// Reads what the file is, and returns its schema version, or why it is not used. It writes nothing; not even another's log is
/// moved into the file when we close.
fn check(connection: &Connection, path: &Path) -> rusqlite::Result<Result<u32, StoreError>> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    // One snapshot for all questions: another process may be creating the tables at this moment.
    let snapshot = connection.unchecked_transaction()?;
    let found = schema::version(&snapshot)?;
    if found > schema::KNOWN {
        return Ok(Err(StoreError::Newer {
            location: location(path),
            found,
            known: schema::KNOWN,
        }));
    }
    let owner: i32 = snapshot.pragma_query_value(None, "application_id", |row| row.get(0))?;
    let tables: i64 =
        snapshot.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    if owner != schema::APPLICATION_ID && (tables > 0 || found > 0 || owner != 0) {
        let reason = "it is the database of another program";
        return Ok(Err(unavailable(path, reason)));
    }
    if snapshot.is_readonly(MAIN_DB)? {
        return Ok(Err(unavailable(path, "it is read-only")));
    }
    Ok(Ok(found))
}

fn prepare(mut connection: Connection) -> rusqlite::Result<Connection> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false)?;
    use_wal(&connection)?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    // A page that is used for something else keeps nothing of what it held, so that what is deleted later is gone.
    connection.pragma_update_and_check(None, "secure_delete", "ON", |_| Ok(()))?;
    schema::migrate(&mut connection)?;
    // A damaged table shows itself now and not with the first row.
    connection.prepare_cached(super::columns::INSERT)?;
    connection.prepare_cached(super::captures::INSERT)?;
    connection.query_row("SELECT max(rowid) FROM inferences", [], |_| Ok(()))?;
    Ok(connection)
}

/// Switches to WAL mode, which needs a lock only where the file is not in it yet. Where the file system cannot do it, SQLite
/// stays with its journal, which keeps rows just as safe.
fn use_wal(connection: &Connection) -> rusqlite::Result<()> {
    connection.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(()))
}

/// Returns whether it failed because of another's lock.
pub(super) fn is_busy(error: &rusqlite::Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(
            ErrorCode::DatabaseBusy
                | ErrorCode::DatabaseLocked
                | ErrorCode::FileLockingProtocolFailed
        )
    )
}
