//! How does a verdict become columns, and columns a verdict?

use rusqlite::{Connection, OptionalExtension, Row, named_params};

use super::super::{Grade, Graded, Verdict, VerdictRow, VerdictsOf};

/// Stores a verdict, once; returns whether what it judges is known.
pub(super) fn grade(connection: &Connection, grade: &Grade) -> rusqlite::Result<bool> {
    let run_of = match grade.of {
        Graded::Attempt(_) => "SELECT run_id FROM inferences WHERE id = ?1",
        Graded::Run(_) => "SELECT run_id FROM inferences WHERE run_id = ?1 LIMIT 1",
    };
    let run_id: Option<String> = connection
        .prepare_cached(run_of)?
        .query_row([grade.of.id()], |row| row.get(0))
        .optional()?;
    let Some(run_id) = run_id else {
        return Ok(false);
    };
    let verdict = &grade.verdict;
    connection
        .prepare_cached(
            "INSERT INTO verdicts (id, ts, run_id, inference_id, verdict, score, note, source)
             VALUES (:id, :ts, :run_id, :inference_id, :verdict, :score, :note, :source)
             ON CONFLICT (id) DO NOTHING",
        )?
        .execute(named_params! {
            ":id": grade.id,
            ":ts": grade.ts_ms,
            ":run_id": run_id,
            ":inference_id": grade.of.clone().into_attempt(),
            ":verdict": verdict.name(),
            ":score": verdict.score,
            ":note": verdict.note,
            ":source": verdict.source,
        })?;
    Ok(true)
}

/// Returns verdicts, oldest first.
pub(super) fn of(connection: &Connection, of: &VerdictsOf) -> rusqlite::Result<Vec<VerdictRow>> {
    let (select, whose) = match of {
        VerdictsOf::Run(run_id) => (
            "SELECT * FROM verdicts WHERE run_id = ?1 ORDER BY ts, rowid",
            run_id,
        ),
        VerdictsOf::Route(route) => (
            "SELECT * FROM verdicts
             WHERE run_id IN (SELECT run_id FROM inferences WHERE route = ?1) ORDER BY ts, rowid",
            route,
        ),
    };
    let mut select = connection.prepare_cached(select)?;
    select.query_map([whose], read)?.collect()
}

fn read(row: &Row<'_>) -> rusqlite::Result<VerdictRow> {
    Ok(VerdictRow {
        id: row.get("id")?,
        ts_ms: row.get("ts")?,
        run_id: row.get("run_id")?,
        inference_id: row.get("inference_id")?,
        verdict: Verdict {
            is_up: row.get::<_, String>("verdict")? == "up",
            score: row.get("score")?,
            note: row.get("note")?,
            source: row.get("source")?,
        },
    })
}
