//! How do exporters find what comes after their cursor?
//!
//! There is one writer at a time, and whatever it inserts gets the next row number: their order is the order of commits.

use rusqlite::{Connection, OptionalExtension, named_params};

use super::super::export::{Holder, LISTED};
use super::super::{ExportNext, ExportState, ExportTurn, Exported, SetAside};
use super::columns;

/// Returns the rows after the cursor, if it is the worker's turn, and what was seen of the exporter.
pub(super) fn look(
    connection: &Connection,
    turn: &ExportTurn,
) -> rusqlite::Result<(ExportNext, Seen)> {
    let snapshot = connection.unchecked_transaction()?;
    let seen = seen(&snapshot, turn)?;
    if seen.keeps_out(turn) {
        return Ok((ExportNext::Taken, seen));
    }
    // Whose row is gone starts anew: rather once more than not at all.
    let mut select = snapshot.prepare_cached(
        "SELECT * FROM inferences
         WHERE rowid > coalesce((SELECT rowid FROM inferences WHERE id = ?1), 0)
         ORDER BY rowid LIMIT ?2",
    )?;
    // Nothing waits behind a row that cannot be read.
    let rows = select.query_map((&seen.cursor, turn.most), |row| {
        Ok((row.get::<_, String>("id")?, columns::read(row).ok()))
    })?;
    let rows: Vec<_> = rows.collect::<rusqlite::Result<_>>()?;
    let next = ExportNext::of(rows.iter().map(|(id, row)| (id.as_str(), row.as_ref())));
    Ok((next, seen))
}

/// How far an exporter has come, and whose turn it is.
#[derive(Default)]
pub(super) struct Seen {
    cursor: Option<String>,
    holder: Option<Holder>,
}

impl Seen {
    fn keeps_out(&self, turn: &ExportTurn) -> bool {
        let holder = self.holder.as_ref();
        holder.is_some_and(|holder| holder.keeps_out(turn))
    }
}

fn seen(connection: &Connection, turn: &ExportTurn) -> rusqlite::Result<Seen> {
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
            Ok(Seen {
                cursor: row.get("cursor")?,
                holder: holder.transpose()?,
            })
        })
        .optional()?;
    Ok(found.unwrap_or_default())
}

/// Gives a worker the turn, unless another has it or has moved the cursor since it was seen.
pub(super) fn take(
    connection: &Connection,
    turn: &ExportTurn,
    before: &Seen,
) -> rusqlite::Result<bool> {
    let now = seen(connection, turn)?;
    if now.keeps_out(turn) || now.cursor != before.cursor {
        return Ok(false);
    }
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
    Ok(true)
}

/// Ends a worker's turn, and moves the cursor if its rows have arrived. Whoever has lost the turn moves nothing.
pub(super) fn done(connection: &Connection, done: &Exported) -> rusqlite::Result<()> {
    let ended = connection
        .prepare_cached(
            "UPDATE exports SET
                 cursor = coalesce((SELECT id FROM inferences WHERE id = :cursor), cursor),
                 worker = NULL, taken = NULL, lapses = NULL,
                 fault_ts = CASE WHEN :fault IS NOT NULL THEN coalesce(fault_ts, :now)
                                 WHEN :cursor IS NULL THEN fault_ts END,
                 fault = CASE WHEN :fault IS NOT NULL THEN :fault WHEN :cursor IS NULL THEN fault END
             WHERE exporter = :exporter AND worker = :worker",
        )?
        .execute(named_params! {
            ":cursor": done.cursor,
            ":exporter": done.exporter,
            ":worker": done.worker,
            ":fault": done.fault,
            ":now": done.now_ms,
        })?;
    if ended == 0 {
        return Ok(());
    }
    let mut set_aside = connection.prepare_cached(
        "INSERT INTO export_set_aside (exporter, id, ts, reason) VALUES (?, ?, ?, ?)
         ON CONFLICT (id, exporter) DO NOTHING",
    )?;
    for row in &done.set_aside {
        set_aside.execute((&done.exporter, &row.id, done.now_ms, &row.reason))?;
    }
    Ok(())
}

/// Returns how far each exporter has come.
pub(super) fn states(connection: &Connection) -> rusqlite::Result<Vec<ExportState>> {
    let mut select = connection.prepare_cached(
        "SELECT exporter, fault, fault_ts,
             (SELECT count(*) FROM inferences
              WHERE rowid > coalesce((SELECT rowid FROM inferences WHERE id = cursor), 0)) AS waiting,
             (SELECT count(*) FROM export_set_aside AS aside
              WHERE aside.exporter = exports.exporter) AS set_aside
         FROM exports ORDER BY exporter",
    )?;
    let states = select.query_map([], |row| {
        Ok(ExportState {
            exporter: row.get("exporter")?,
            waiting: columns::count(row, "waiting")?,
            set_aside: columns::count(row, "set_aside")?,
            newest_set_aside: Vec::new(),
            fault: row.get("fault")?,
            fault_since_ms: row.get("fault_ts")?,
        })
    })?;
    let mut states: Vec<_> = states.collect::<rusqlite::Result<_>>()?;
    let mut select = connection.prepare_cached(
        "SELECT id, ts, reason FROM export_set_aside WHERE exporter = ?1
         ORDER BY ts DESC, id DESC LIMIT ?2",
    )?;
    for state in &mut states {
        let newest = select.query_map((&state.exporter, LISTED), |row| {
            Ok(SetAside {
                id: row.get("id")?,
                ts_ms: row.get("ts")?,
                reason: row.get("reason")?,
            })
        })?;
        state.newest_set_aside = newest.collect::<rusqlite::Result<_>>()?;
    }
    Ok(states)
}
