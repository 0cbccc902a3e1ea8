//! How do exporters find what comes after their cursor?
//!
//! Rows are numbered when they are inserted, and not in the order of commits: a number may become visible after a higher
//! one. So whoever inserts rows shares a lock until the commit, and an exporter that asks has it alone for a moment. Then
//! nothing is under way, and the order of numbers is final.

use postgres::{Error, Row};

use super::super::export::Holder;
use super::super::{ExportNext, ExportTurn, Exported};
use super::columns::{read, select, text};
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
    UPDATE exports SET cursor = coalesce($3, cursor), worker = NULL, taken = NULL, lapses = NULL
    WHERE exporter = $1 AND worker = $2";

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
    // A row of a newer version, with words that this one does not know, waits for its exporter.
    let rows: Vec<_> = rows.iter().map_while(read).collect();
    let next = ExportNext::of(&rows);
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

/// Ends a worker's turn, and moves the cursor if its rows have arrived. Whoever has lost the turn moves nothing.
pub(super) fn done(session: &mut Session, done: &Exported) -> Result<(), Error> {
    let cursor = done.cursor.as_deref().map(text);
    let (exporter, worker) = (text(&done.exporter), text(&done.worker));
    session.execute(DONE, &[&exporter, &worker, &cursor])?;
    Ok(())
}
