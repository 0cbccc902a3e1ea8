//! How do exporters find what comes after their cursor?
//!
//! Rows are numbered when they are inserted, and not in the order of commits: a number may become visible after a higher
//! one. So whoever inserts rows shares a lock until the commit, and an exporter that asks has it alone for a moment. Then
//! nothing is under way, and the order of numbers is final.

use postgres::{Error, Row};

use super::super::export::{Holder, LISTED};
use super::super::{ExportNext, ExportState, ExportTurn, Exported, SetAside};
use super::columns::{count, read, select, text};
use super::session::Session;

/// Shared by whoever inserts rows: "rows".
pub(super) const SHARE: &str = "SELECT pg_advisory_xact_lock_shared(1919907699)";

/// Whoever stalls with rows under way holds an exporter up, and whoever comes after it, for no longer than this.
const PATIENCE: &str = "SET LOCAL lock_timeout = '1s'";

const ALONE: &str = "SELECT pg_advisory_xact_lock(1919907699)";

const KNOW: &str = "INSERT INTO exports (exporter) VALUES ($1) ON CONFLICT (exporter) DO NOTHING";

const HOLDER: &str =
    "SELECT cursor, worker, taken, lapses FROM exports WHERE exporter = $1 FOR UPDATE";

/// Whose row is gone starts anew: rather once more than not at all.
const NEXT: &str = select!(
    "WHERE place > coalesce((SELECT place FROM inferences WHERE id = $1), 0) ORDER BY place LIMIT $2"
);

const TAKE: &str = "UPDATE exports SET worker = $2, taken = $3, lapses = $4 WHERE exporter = $1";

const DONE: &str = "
    UPDATE exports SET cursor = coalesce((SELECT id FROM inferences WHERE id = $3), cursor),
        worker = NULL, taken = NULL, lapses = NULL,
        fault_ts = CASE WHEN $4::text IS NOT NULL THEN coalesce(fault_ts, $5)
                        WHEN $3::text IS NULL THEN fault_ts END,
        fault = CASE WHEN $4::text IS NOT NULL THEN $4 WHEN $3::text IS NULL THEN fault END
    WHERE exporter = $1 AND worker = $2";

const SET_ASIDE: &str = "
    INSERT INTO export_set_aside (exporter, id, ts, reason)
    SELECT $1, id, $2, reason FROM unnest($3::text[], $4::text[]) AS given (id, reason)
    ON CONFLICT (id, exporter) DO NOTHING";

const STATES: &str = "
    SELECT exporter, fault, fault_ts,
        (SELECT count(*) FROM inferences
         WHERE place > coalesce((SELECT place FROM inferences WHERE id = cursor), 0)) AS waiting,
        (SELECT count(*) FROM export_set_aside AS aside WHERE aside.exporter = exports.exporter) AS set_aside
    FROM exports ORDER BY exporter COLLATE \"C\"";

const NEWEST: &str = "
    SELECT id, ts, reason FROM export_set_aside WHERE exporter = $1
    ORDER BY ts DESC, id COLLATE \"C\" DESC LIMIT $2";

/// Gives a worker the rows after the cursor, and the turn with them; in a transaction of its own.
pub(super) fn next(session: &mut Session, turn: &ExportTurn) -> Result<ExportNext, Error> {
    session.execute(KNOW, &[&text(&turn.exporter)])?;
    session.execute(PATIENCE, &[])?;
    let found = session.query(HOLDER, &[&text(&turn.exporter)])?;
    let (cursor, holder) = found.first().map(held).unwrap_or_default();
    if holder.is_some_and(|holder| holder.keeps_out(turn)) {
        return Ok(ExportNext::Taken);
    }
    session.execute(ALONE, &[])?;
    let rows = session.query(NEXT, &[&cursor, &i64::from(turn.most)])?;
    let rows: Vec<(&str, _)> = rows.iter().map(|row| (row.get("id"), read(row))).collect();
    let next = ExportNext::of(rows.iter().map(|(id, row)| (*id, Some(row))));
    if next != ExportNext::Nothing {
        let Holder {
            worker,
            taken_ms,
            lapses_ms,
        } = turn.holder();
        let exporter = text(&turn.exporter);
        session.execute(TAKE, &[&exporter, &text(&worker), &taken_ms, &lapses_ms])?;
    }
    Ok(next)
}

fn held(row: &Row) -> (Option<String>, Option<Holder>) {
    let holder = row.get::<_, Option<String>>("worker").map(|worker| Holder {
        worker,
        taken_ms: row.get::<_, Option<i64>>("taken").unwrap_or(0),
        lapses_ms: row.get::<_, Option<i64>>("lapses").unwrap_or(0),
    });
    (row.get("cursor"), holder)
}

/// Ends a worker's turn, and moves the cursor if its rows have arrived; in a transaction of its own. Whoever has lost the turn
/// moves nothing.
pub(super) fn done(session: &mut Session, done: &Exported) -> Result<(), Error> {
    let cursor = done.cursor.as_deref().map(text);
    let (exporter, worker) = (text(&done.exporter), text(&done.worker));
    let fault = done.fault.as_deref().map(text);
    let ended = session.execute(DONE, &[&exporter, &worker, &cursor, &fault, &done.now_ms])?;
    if ended == 0 || done.set_aside.is_empty() {
        return Ok(());
    }
    let ids: Vec<_> = done.set_aside.iter().map(|row| text(&row.id)).collect();
    let reasons: Vec<_> = done.set_aside.iter().map(|row| text(&row.reason)).collect();
    session.execute(SET_ASIDE, &[&exporter, &done.now_ms, &ids, &reasons])?;
    Ok(())
}

/// Returns how far each exporter has come.
pub(super) fn states(session: &mut Session) -> Result<Vec<ExportState>, Error> {
    let mut states = Vec::new();
    for row in session.query(STATES, &[])? {
        let exporter: String = row.get("exporter");
        let newest = session.query(NEWEST, &[&exporter, &i64::from(LISTED)])?;
        let newest = newest.iter().map(|row| SetAside {
            id: row.get("id"),
            ts_ms: row.get("ts"),
            reason: row.get("reason"),
        });
        states.push(ExportState {
            newest_set_aside: newest.collect(),
            waiting: count(&row, "waiting"),
            set_aside: count(&row, "set_aside"),
            fault: row.get("fault"),
            fault_since_ms: row.get("fault_ts"),
            exporter,
        });
    }
    Ok(states)
}
