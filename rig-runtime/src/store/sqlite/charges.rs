//! What was taken from an envelope, as tables hold it.

use rig_spec::Usd;
use rusqlite::{Connection, Row};

use super::super::{AttemptRow, ChargeRow};
use super::columns::{self, count};

/// Returns what was taken from an envelope, in the order of the ids.
pub(super) fn of(connection: &Connection, envelope: &str) -> rusqlite::Result<Vec<ChargeRow>> {
    let mut select = connection.prepare_cached(
        "SELECT charges.id AS charge_id, charges.reserved_nanousd, charge_nanousd, lapsed, inferences.*
         FROM charges LEFT JOIN inferences ON inferences.id = charges.id
         WHERE envelope = ?1 ORDER BY charges.id",
    )?;
    select.query_map([envelope], read)?.collect()
}

fn read(row: &Row<'_>) -> rusqlite::Result<ChargeRow> {
    let is_charged = row.get::<_, Option<i64>>("charge_nanousd")?.is_some();
    let charged = || count(row, "charge_nanousd").map(Usd::nanos);
    let has_row = row.get::<_, Option<String>>("run_id")?.is_some();
    let attempt: Option<AttemptRow> = has_row.then(|| columns::read(row)).transpose()?;
    Ok(ChargeRow {
        id: row.get("charge_id")?,
        reserved: count(row, "reserved_nanousd").map(Usd::nanos)?,
        charged: is_charged.then(charged).transpose()?,
        is_expired: row.get("lapsed")?,
        row: attempt,
    })
}
