//! How do exporters find what comes after their cursor?
//!
//! There is one writer at a time, and whatever it inserts gets the next row number: their order is the order of commits.

use rusqlite::{Connection, OptionalExtension, named_params};

use super::super::export::Holder;
use super::super::{ExportNext, ExportTurn, Exported};
use super::columns;

/// Gives a worker the rows after the cursor, and the turn with them.
pub(super) fn next(connection: &Connection, turn: &ExportTurn) -> rusqlite::Result<ExportNext> {
    let found = connection
        .prepare_cached("SELECT cursor, worker, taken, lapses FROM exports WHERE exporter = ?1")?
        .query_row([&turn.exporter], |row| {
            let holder = row.get::<_, Option<String>>("worker")?.map(|worker| {
                Ok::<_, rusqlite::Error>(Holder {
                    worker,
                    taken_ms: row.get("taken")?,
                    lapses_ms: row.get("lapses")?,
                })
            });
            Ok((row.get::<_, Option<String>>("cursor")?, holder.transpose()?))
        })
        .optional()?;
    let (cursor, holder) = found.unwrap_or_default();
    if holder.is_some_and(|holder| holder.keeps_out(turn)) {
        return Ok(ExportNext::Taken);
    }
    // Whose row is gone starts anew: rather once more than not at all.
    let mut select = connection.prepare_cached(
        "SELECT * FROM inferences
         WHERE rowid > coalesce((SELECT rowid FROM inferences WHERE id = ?1), 0)
         ORDER BY rowid LIMIT ?2",
    )?;
    let rows = select.query_map((cursor, turn.most), columns::read)?;
    let next = ExportNext::of(&rows.collect::<rusqlite::Result<Vec<_>>>()?);
    if next != ExportNext::Nothing {
        take(connection, turn)?;
    }
    Ok(next)
}

fn take(connection: &Connection, turn: &ExportTurn) -> rusqlite::Result<()> {
    let Holder {
        worker,
        taken_ms,
        lapses_ms,
    } = turn.holder();
    connection
        .prepare_cached(
            "INSERT INTO exports (exporter, worker, taken, lapses)
             VALUES (:exporter, :worker, :taken, :lapses)
             ON CONFLICT (exporter) DO UPDATE SET worker = :worker, taken = :taken, lapses = :lapses",
        )?
        .execute(named_params! {
            ":exporter": turn.exporter,
            ":worker": worker,
            ":taken": taken_ms,
            ":lapses": lapses_ms,
        })?;
    Ok(())
}

/// Ends a worker's turn, and moves the cursor if its rows have arrived. Whoever has lost the turn moves nothing.
pub(super) fn done(connection: &Connection, done: &Exported) -> rusqlite::Result<()> {
    connection
        .prepare_cached(
            "UPDATE exports SET cursor = coalesce(:cursor, cursor), worker = NULL, taken = NULL, lapses = NULL
             WHERE exporter = :exporter AND worker = :worker",
        )?
        .execute(named_params! {
            ":cursor": done.cursor,
            ":exporter": done.exporter,
            ":worker": done.worker,
        })?;
    Ok(())
}
