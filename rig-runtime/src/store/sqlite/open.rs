//! How is a telemetry file opened, without touching one that is not ours to write?

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, MAIN_DB, OpenFlags};

use super::super::{StoreError, private};
use super::schema;

/// How long to wait for another process's lock.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);

/// How often, and how long apart, the switch to WAL mode is tried: SQLite does not wait for locks there.
const WAL_TRIES: u32 = 1_000;
const WAL_PAUSE: Duration = Duration::from_millis(10);

/// The first schema version whose files are made for their owner alone.
const OWNERS_SINCE: u32 = 8;

/// Opens a file for the writer: checked, in WAL mode, at the newest schema version.
pub(super) fn open(path: &Path) -> Result<Connection, StoreError> {
    let path = plain(path);
    if let Some(folder) = path.parent() {
        private::directory(folder).map_err(|error| unavailable(&path, error))?;
    }
    // An empty file is an empty database. SQLite gives its log and its index the mode of the file. Where none can be made,
    // SQLite says why.
    drop(private::file(&path));
    // No URIs: a path is a path.
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_CREATE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection =
        Connection::open_with_flags(&path, flags).map_err(|error| unavailable(&path, error))?;
    let found = check(&connection, &path)?;
    if (1..OWNERS_SINCE).contains(&found) {
        tighten(&path);
    }
    prepare(connection).map_err(|error| unavailable(&path, error))
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

/// Reads what the file is, and returns its schema version. It writes nothing; not even another's log is moved into it when
/// we close.
fn check(connection: &Connection, path: &Path) -> Result<u32, StoreError> {
    let failed = |error| unavailable(path, error);
    connection
        .set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)
        .map_err(failed)?;
    connection.busy_timeout(BUSY_TIMEOUT).map_err(failed)?;
    // One snapshot for all questions: another process may be creating the tables at this moment.
    let snapshot = connection.unchecked_transaction().map_err(failed)?;
    let found = schema::version(&snapshot).map_err(failed)?;
    if found > schema::KNOWN {
        return Err(StoreError::Newer {
            location: location(path),
            found,
            known: schema::KNOWN,
        });
    }
    let owner: i32 = snapshot
        .pragma_query_value(None, "application_id", |row| row.get(0))
        .map_err(failed)?;
    let tables: i64 = snapshot
        .query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))
        .map_err(failed)?;
    if owner != schema::APPLICATION_ID && (tables > 0 || found > 0 || owner != 0) {
        return Err(unavailable(path, "it is the database of another program"));
    }
    if snapshot.is_readonly(MAIN_DB).map_err(failed)? {
        return Err(unavailable(path, "it is read-only"));
    }
    Ok(found)
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

/// Switches to WAL mode. Where the file system cannot do it, SQLite stays with its journal, which keeps rows
/// just as safe.
fn use_wal(connection: &Connection) -> rusqlite::Result<()> {
    let mut tries = 0;
    loop {
        let switched = connection.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(()));
        match switched {
            Err(error) if is_busy(&error) && tries < WAL_TRIES => tries += 1,
            done => return done,
        }
        std::thread::park_timeout(WAL_PAUSE);
    }
}

fn is_busy(error: &rusqlite::Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked)
    )
}
