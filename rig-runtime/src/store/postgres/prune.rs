//! How is something deleted from a database?
//!
//! In small transactions, as in [`super::super::sqlite`], on the connection that everything else takes turns on. What is
//! deleted is out of every query's reach; the server frees its room, and overwrites it, when it vacuums.

use postgres::Error;
use postgres::types::ToSql;

use super::super::{Prune, Pruned};
use super::columns::{count, text};
use super::session::Session;

/// The most rows or captures that one transaction deletes.
const BATCH: i64 = 200;

/// The conditions, of a row `i`.
macro_rules! conditions {
    () => {
        "($1::int8 IS NULL OR i.ts < $1)
         AND ($2::text IS NULL OR i.route = $2)
         AND ($3::text IS NULL OR i.id = $3 OR i.run_id = $3)
         AND ($4::text IS NULL OR coalesce(i.tags ->> $4 = $5::text, false))"
    };
}

/// Up to which place every exporter has come.
macro_rules! exported {
    () => {
        "coalesce((SELECT min(coalesce((SELECT r.place FROM inferences AS r WHERE r.id = cursor), 0)) FROM exports),
             9223372036854775807)"
    };
}

/// Whether a row `i` meets the conditions and may go.
macro_rules! goes {
    () => {
        concat!(
            conditions!(),
            " AND ($6::bool OR i.place <= ",
            exported!(),
            ")"
        )
    };
}

const ROWS: &str = concat!(
    "SELECT i.id FROM inferences AS i WHERE i.id > $7 AND ",
    goes!(),
    " ORDER BY i.id LIMIT $8"
);

const CAPTURES: &str = concat!(
    "SELECT i.id FROM captures JOIN inferences AS i USING (id) WHERE i.id > $7 AND ",
    goes!(),
    " ORDER BY i.id LIMIT $8"
);

const COUNT_ROWS: &str = concat!(
    "SELECT
         (SELECT count(*) FROM inferences AS i WHERE ",
    goes!(),
    ") AS rows,
         (SELECT count(*) FROM inferences AS i WHERE ",
    conditions!(),
    ") AS meant,
         (SELECT count(*) FROM captures JOIN inferences AS i USING (id) WHERE ",
    goes!(),
    ") AS captures,
         (SELECT count(*) FROM verdicts AS v WHERE
             EXISTS (SELECT 1 FROM inferences AS i WHERE i.id = v.inference_id AND ",
    goes!(),
    ")
             OR v.inference_id IS NULL
                 AND EXISTS (SELECT 1 FROM inferences AS i WHERE i.run_id = v.run_id)
                 AND NOT EXISTS (SELECT 1 FROM inferences AS i WHERE i.run_id = v.run_id AND NOT (",
    goes!(),
    "))
         ) AS verdicts"
);

const COUNT_CAPTURES: &str = concat!(
    "SELECT 0::int8 AS rows, 0::int8 AS meant, 0::int8 AS verdicts,
         (SELECT count(*) FROM captures JOIN inferences AS i USING (id) WHERE ",
    goes!(),
    ") AS captures"
);

/// Whoever records rows never waits for these locks, and two that prune take them in the same order.
const LOCK: &str = concat!(
    "SELECT i.id FROM inferences AS i WHERE i.id = ANY ($1) AND ($2::bool OR i.place <= ",
    exported!(),
    ") ORDER BY i.id FOR UPDATE"
);

const CURSORS: &str = "SELECT exporter, place FROM exports JOIN inferences ON inferences.id = cursor ORDER BY exporter";

const DELETE_CAPTURES: &str = "DELETE FROM captures WHERE id = ANY ($1)";

const DELETE_SET_ASIDE: &str = "DELETE FROM export_set_aside WHERE id = ANY ($1)";

/// Those of the rows before they go, and those of runs after.
const DELETE_VERDICTS: &str = "
    DELETE FROM verdicts
    WHERE run_id IN (SELECT run_id FROM inferences WHERE id = ANY ($1)) AND inference_id = ANY ($1)";

const DELETE_ROWS: &str = "DELETE FROM inferences WHERE id = ANY ($1) RETURNING run_id";

const DELETE_RUNS_VERDICTS: &str = "
    DELETE FROM verdicts AS v WHERE run_id = ANY ($1) AND inference_id IS NULL
    AND NOT EXISTS (SELECT 1 FROM inferences AS i WHERE i.run_id = v.run_id)";

/// Puts a cursor whose row has gone on the last row before it that is still there, so that what comes after stays the same.
const STEP_BACK: &str = "
    UPDATE exports SET cursor = (SELECT id FROM inferences WHERE place < $2 ORDER BY place DESC LIMIT 1)
    WHERE exporter = $1 AND NOT EXISTS (SELECT 1 FROM inferences WHERE id = cursor)";

/// Counts what would go.
pub(super) fn counted(session: &mut Session, prune: &Prune, now_ms: i64) -> Result<Pruned, Error> {
    let select = if prune.takes_rows {
        COUNT_ROWS
    } else {
        COUNT_CAPTURES
    };
    let rows = with(prune, now_ms, &[], |params| session.query(select, params))?;
    let counted = rows.first().map(|row| Pruned {
        rows: count(row, "rows"),
        captures: count(row, "captures"),
        verdicts: count(row, "verdicts"),
        kept_unexported: count(row, "meant").saturating_sub(count(row, "rows")),
        leaves_traces: false,
    });
    Ok(counted.unwrap_or_default())
}

/// Deletes what comes next after an id, in a transaction of its own; returns what that was and its last id, `None` if there
/// was nothing.
pub(super) fn step(
    session: &mut Session,
    prune: &Prune,
    now_ms: i64,
    after: &str,
) -> Result<Option<(Pruned, String)>, Error> {
    let select = if prune.takes_rows { ROWS } else { CAPTURES };
    let more: [&(dyn ToSql + Sync); 2] = [&after, &BATCH];
    let found = with(prune, now_ms, &more, |params| session.query(select, params))?;
    let ids: Vec<String> = found.iter().map(|row| row.get(0)).collect();
    let Some(last) = ids.last().cloned() else {
        return Ok(None);
    };
    let pruned = if prune.takes_rows {
        delete_rows(session, &ids, prune.takes_unexported)?
    } else {
        Pruned {
            captures: session.execute(DELETE_CAPTURES, &[&ids])?,
            leaves_traces: true,
            ..Pruned::default()
        }
    };
    Ok(Some((pruned, last)))
}

fn delete_rows(
    session: &mut Session,
    ids: &[String],
    takes_unexported: bool,
) -> Result<Pruned, Error> {
    let locked = session.query(LOCK, &[&ids, &takes_unexported])?;
    let ids: Vec<String> = locked.iter().map(|row| row.get(0)).collect();
    let cursors = session.query(CURSORS, &[])?;
    let captures = session.execute(DELETE_CAPTURES, &[&ids])?;
    session.execute(DELETE_SET_ASIDE, &[&ids])?;
    let verdicts = session.execute(DELETE_VERDICTS, &[&ids])?;
    let rows = session.query(DELETE_ROWS, &[&ids])?;
    let runs: Vec<String> = rows.iter().map(|row| row.get(0)).collect();
    let of_runs = session.execute(DELETE_RUNS_VERDICTS, &[&runs])?;
    for cursor in cursors {
        let (exporter, place): (&str, i64) = (cursor.get(0), cursor.get(1));
        session.execute(STEP_BACK, &[&exporter, &place])?;
    }
    Ok(Pruned {
        rows: rows.len() as u64,
        captures,
        verdicts: verdicts + of_runs,
        kept_unexported: 0,
        leaves_traces: true,
    })
}

fn with<T>(
    prune: &Prune,
    now_ms: i64,
    more: &[&(dyn ToSql + Sync)],
    work: impl FnOnce(&[&(dyn ToSql + Sync)]) -> T,
) -> T {
    let (key, value) = match &prune.tag {
        Some((key, value)) => (Some(text(key)), Some(text(value))),
        None => (None, None),
    };
    let (route, id) = (
        prune.route.as_deref().map(text),
        prune.id.as_deref().map(text),
    );
    let before_ms = prune.before_ms(now_ms);
    // Captures are never exported, so that none waits for it.
    let takes_unexported = prune.takes_unexported || !prune.takes_rows;
    let mut params: Vec<&(dyn ToSql + Sync)> =
        vec![&before_ms, &route, &id, &key, &value, &takes_unexported];
    params.extend_from_slice(more);
    work(&params)
}
