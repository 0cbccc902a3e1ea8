//! How does a capture become columns, and columns a capture?

use std::borrow::Cow;

use rusqlite::{Connection, Row, Statement, named_params};

use super::super::Capture;

/// Inserts a capture; one that is there already stays as it is.
pub(super) const INSERT: &str = "
    INSERT INTO captures (id, ts, run_id, route, route_version, variables, output)
    VALUES (:id, :ts, :run_id, :route, :route_version, :variables, :output)
    ON CONFLICT (id) DO NOTHING";

/// Executes [`INSERT`] for a capture.
pub(super) fn insert(statement: &mut Statement<'_>, capture: &Capture) -> rusqlite::Result<()> {
    statement.execute(named_params! {
        ":id": capture.id,
        ":ts": capture.ts_ms,
        ":run_id": capture.run_id,
        ":route": capture.route,
        ":route_version": capture.route_version,
        ":variables": capture.variables,
        ":output": capture.output,
    })?;
    Ok(())
}

/// Returns the captures of a route, oldest first.
pub(super) fn of_route(connection: &Connection, route: &str) -> rusqlite::Result<Vec<Capture>> {
    let mut select =
        connection.prepare_cached("SELECT * FROM captures WHERE route = ?1 ORDER BY ts, rowid")?;
    select.query_map([route], read)?.collect()
}

fn read(row: &Row<'_>) -> rusqlite::Result<Capture> {
    Ok(Capture {
        id: row.get("id")?,
        ts_ms: row.get("ts")?,
        run_id: row.get("run_id")?,
        route: row.get::<_, String>("route").map(Cow::Owned)?,
        route_version: row.get("route_version")?,
        variables: row.get("variables")?,
        output: row.get("output")?,
    })
}
