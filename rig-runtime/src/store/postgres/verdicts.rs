//! How does a verdict become columns, and columns a verdict?

use postgres::{Error, Row};

use super::super::{Grade, Graded, Verdict, VerdictRow, VerdictsOf};
use super::columns::text;
use super::session::Session;

const OF_ATTEMPT: &str = "SELECT run_id FROM inferences WHERE id = $1";

const OF_RUN: &str = "SELECT run_id FROM inferences WHERE run_id = $1 LIMIT 1";

const INSERT: &str = "
    INSERT INTO verdicts (id, ts, run_id, inference_id, verdict, score, note, source)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
    ON CONFLICT (id) DO NOTHING";

const SELECT_RUN: &str = "
    SELECT id, ts, run_id, inference_id, verdict, score, note, source
    FROM verdicts WHERE run_id = $1 ORDER BY ts, id";

const SELECT_ROUTE: &str = "
    SELECT id, ts, run_id, inference_id, verdict, score, note, source
    FROM verdicts WHERE run_id IN (SELECT run_id FROM inferences WHERE route = $1) ORDER BY ts, id";

/// Stores a verdict, once; returns whether what it judges is known. A row goes only when somebody prunes, and a
/// verdict that comes at that very moment stays.
pub(super) fn grade(session: &mut Session, grade: &Grade) -> Result<bool, Error> {
    let run_of = match grade.of {
        Graded::Attempt(_) => OF_ATTEMPT,
        Graded::Run(_) => OF_RUN,
    };
    let found = session.query(run_of, &[&text(grade.of.id())])?;
    let Some(run_id) = found.first().map(|row| row.get::<_, String>(0)) else {
        return Ok(false);
    };
    let verdict = &grade.verdict;
    let inference_id = grade.of.clone().into_attempt();
    session.execute(
        INSERT,
        &[
            &text(&grade.id),
            &grade.ts_ms,
            &run_id,
            &inference_id.as_deref().map(text),
            &verdict.name(),
            &verdict.score,
            &verdict.note.as_deref().map(text),
            &verdict.source.as_deref().map(text),
        ],
    )?;
    Ok(true)
}

/// Returns verdicts, oldest first.
pub(super) fn of(session: &mut Session, of: &VerdictsOf) -> Result<Vec<VerdictRow>, Error> {
    let rows = match of {
        VerdictsOf::Run(run_id) => session.query(SELECT_RUN, &[&text(run_id)])?,
        VerdictsOf::Route(route) => session.query(SELECT_ROUTE, &[&text(route)])?,
    };
    Ok(rows.iter().map(read).collect())
}

fn read(row: &Row) -> VerdictRow {
    VerdictRow {
        id: row.get("id"),
        ts_ms: row.get("ts"),
        run_id: row.get("run_id"),
        inference_id: row.get("inference_id"),
        verdict: Verdict {
            is_up: row.get::<_, &str>("verdict") == "up",
            score: row.get("score"),
            note: row.get("note"),
            source: row.get("source"),
        },
    }
}
