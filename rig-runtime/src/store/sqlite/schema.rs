//! Which tables does a telemetry file have, and how does an older one get them?

use rusqlite::{Connection, TransactionBehavior};

/// Marks a file as ours (`PRAGMA application_id`): "mrig".
pub(super) const APPLICATION_ID: i32 = 0x6d72_6967;

/// One migration per schema version; the first leads from an empty file to version 1. What is here was
/// released and never changes.
const MIGRATIONS: &[&str] = &[
    include_str!("0001_inferences.sql"),
    include_str!("0002_captures.sql"),
    include_str!("0003_envelopes.sql"),
    include_str!("0004_views.sql"),
    include_str!("0005_verdicts.sql"),
    include_str!("0006_exports.sql"),
    include_str!("0007_usage.sql"),
    include_str!("0008_exports.sql"),
];

/// The newest schema version that this build knows.
pub(super) const KNOWN: u32 = MIGRATIONS.len() as u32;

/// Returns the schema version of a file; 0 is an empty one.
pub(super) fn version(connection: &Connection) -> rusqlite::Result<u32> {
    connection.pragma_query_value(None, "user_version", |row| row.get(0))
}

/// Brings a file to the newest version.
///
/// All in one immediate transaction: processes that start at the same time wait for each other here, and each
/// looks at the version again once it is alone. Where nothing is to be done no lock is taken, so that nobody waits for one.
pub(super) fn migrate(connection: &mut Connection) -> rusqlite::Result<()> {
    if version(connection)? >= KNOWN {
        return Ok(());
    }
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let found = version(&transaction)?;
    for migration in MIGRATIONS.iter().skip(found as usize) {
        transaction.execute_batch(migration)?;
    }
    if found < KNOWN {
        transaction.pragma_update(None, "user_version", KNOWN)?;
        transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
    }
    transaction.commit()
}
