//! Which tables does a database have, and how does an older one get them?

use postgres::{Client, Error, Transaction};

use super::super::StoreError;

/// One migration per schema version; the first leads from nothing to version 1. What is here was released and never
/// changes.
const MIGRATIONS: &[&str] = &[
    include_str!("0001_tables.sql"),
    include_str!("0002_usage.sql"),
    include_str!("0003_exports.sql"),
];

/// The newest schema version that this build knows.
pub(super) const KNOWN: u32 = MIGRATIONS.len() as u32;

/// Processes that start at the same time take turns at this number: "modelrig".
const LOCK: i64 = 0x6d6f_6465_6c72_6967;

/// Why a database is not used.
pub(super) enum Unusable {
    /// It was left as it was, for this reason.
    Left(String),
    /// It is of this version, and was left as it was.
    Newer(u32),
    /// It failed.
    Failed(Error),
}

impl From<Error> for Unusable {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

/// Brings a database to the newest version.
///
/// All in one transaction, which an advisory lock lets in alone. It reads before it takes the lock, and where nothing is to be
/// done it takes none and writes nothing.
pub(super) fn migrate(client: &mut Client) -> Result<(), Unusable> {
    let mut transaction = client.transaction()?;
    let encoding: String = transaction.query_one("SHOW server_encoding", &[])?.get(0);
    if encoding != "UTF8" {
        let reason = format!("its encoding is {encoding}, and has to be UTF8");
        return Err(Unusable::Left(reason));
    }
    if found(&mut transaction)?.version == KNOWN {
        return Ok(());
    }
    transaction.execute("SELECT pg_advisory_xact_lock($1)", &[&LOCK])?;
    let Found {
        version,
        has_version,
        exists,
    } = found(&mut transaction)?;
    if version == KNOWN {
        return Ok(());
    }
    if !exists {
        transaction.batch_execute("CREATE SCHEMA modelrig")?;
    }
    if !has_version {
        let version = "CREATE TABLE modelrig.version (version INTEGER NOT NULL PRIMARY KEY)";
        transaction.batch_execute(version)?;
    }
    for (number, migration) in (1..).zip(MIGRATIONS).skip(version as usize) {
        transaction.batch_execute(migration)?;
        let version = "INSERT INTO modelrig.version VALUES ($1)";
        transaction.execute(version, &[&number])?;
    }
    transaction.commit()?;
    Ok(())
}

/// What there is of our schema.
struct Found {
    /// Its version; 0 where there are no tables yet.
    version: u32,
    has_version: bool,
    exists: bool,
}

/// Reads what there is of our schema, if it may be used.
fn found(transaction: &mut Transaction<'_>) -> Result<Found, Unusable> {
    let schema = "SELECT to_regclass('modelrig.version') IS NOT NULL,
                         EXISTS (SELECT 1 FROM pg_namespace WHERE nspname = 'modelrig'),
                         EXISTS (SELECT 1 FROM pg_class WHERE relnamespace = to_regnamespace('modelrig'))";
    let schema = transaction.query_one(schema, &[])?;
    let (has_version, exists, is_used): (bool, bool, bool) =
        (schema.get(0), schema.get(1), schema.get(2));
    let version = if has_version {
        let version = "SELECT max(version) FROM modelrig.version";
        let version: Option<i32> = transaction.query_one(version, &[])?.get(0);
        version.map_or(0, |version| u32::try_from(version).unwrap_or(0))
    } else if is_used {
        let reason = "its schema `modelrig` is another program's".to_owned();
        return Err(Unusable::Left(reason));
    } else {
        0
    };
    if version > KNOWN {
        return Err(Unusable::Newer(version));
    }
    Ok(Found {
        version,
        has_version,
        exists,
    })
}

impl Unusable {
    /// Returns the error of a database at a place.
    pub(super) fn at(self, location: String) -> StoreError {
        match self {
            Self::Left(reason) => StoreError::Unavailable { location, reason },
            Self::Newer(found) => StoreError::Newer {
                location,
                found,
                known: KNOWN,
            },
            Self::Failed(error) => StoreError::Unavailable {
                location,
                reason: super::session::reason(&error),
            },
        }
    }
}
