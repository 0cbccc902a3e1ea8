//! How does a row become columns, and columns a row?

use std::borrow::Cow;

use rig_spec::{Tier, Usd};
use rusqlite::{Connection, Row, Statement, named_params, params};

use super::super::{AttemptRow, Page, RowFailure, Traceparent};

/// Inserts a row; one that is there already stays as it is.
pub(super) const INSERT: &str = "
    INSERT INTO inferences (
        id, ts, run_id, route, route_version, provider, model, requested_tier, served_tier,
        tokens_in, tokens_out, tokens_cached, tokens_cache_write, cost_nanousd, pricing_missing,
        latency_ms, ttfb_ms, failure_class, attempt, tags, served_variant, repaired_by, cache_key,
        prefix_fingerprint, lane, traceparent, usage_missing, searches
    ) VALUES (
        ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?
    ) ON CONFLICT (id) DO NOTHING";

/// Executes [`INSERT`] for a row.
pub(super) fn insert(statement: &mut Statement<'_>, row: &AttemptRow) -> rusqlite::Result<()> {
    let tags = serde_json::to_string(&row.tags).expect("a map of strings can be written as JSON");
    // By place, in the order of the statement: each name would be looked for among all of them.
    statement.execute(params![
        row.id,
        row.ts_ms,
        row.run_id,
        row.route,
        row.route_version,
        row.provider,
        row.model,
        row.requested_tier.map(Tier::name),
        row.served_tier,
        row.tokens_in.map(signed),
        row.tokens_out.map(signed),
        row.tokens_cached.map(signed),
        row.tokens_cache_write.map(signed),
        signed(row.cost.as_nanos()),
        row.pricing_missing,
        signed(row.latency_ms),
        row.ttfb_ms.map(signed),
        row.failure.map(RowFailure::name),
        row.attempt,
        tags,
        row.served_variant,
        row.repaired_by,
        row.cache_key,
        row.prefix_fingerprint,
        row.lane,
        row.traceparent.map(|place| place.to_string()),
        row.usage_missing,
        row.searches.map(signed),
    ])?;
    Ok(())
}

/// Returns the rows of a run, in the order of `attempt`.
pub(super) fn of_run(connection: &Connection, run_id: &str) -> rusqlite::Result<Vec<AttemptRow>> {
    let mut select = connection
        .prepare_cached("SELECT * FROM inferences WHERE run_id = ?1 ORDER BY attempt, rowid")?;
    select.query_map([run_id], read)?.collect()
}

/// Returns the rows of a page, in the order of their ids.
pub(super) fn of_page(connection: &Connection, page: &Page) -> rusqlite::Result<Vec<AttemptRow>> {
    let mut select = connection.prepare_cached(
        "SELECT * FROM inferences WHERE id > :after AND ts >= :from AND ts < :until
         ORDER BY id LIMIT :limit",
    )?;
    let window = &page.window_ms;
    let params = named_params! {
        ":after": page.after, ":from": window.start, ":until": window.end, ":limit": page.limit,
    };
    select.query_map(params, read)?.collect()
}

/// Reads a row of `inferences`. What only a newer version understands, e.g. a tier, is left out, so that one such row makes
/// no run and no page unreadable.
pub(super) fn read(row: &Row<'_>) -> rusqlite::Result<AttemptRow> {
    let unsigned = |column| -> rusqlite::Result<Option<u64>> {
        Ok(row
            .get::<_, Option<i64>>(column)?
            .map(|count| u64::try_from(count).unwrap_or(0)))
    };
    let owned = |column| row.get::<_, String>(column).map(Cow::Owned);
    Ok(AttemptRow {
        id: row.get("id")?,
        ts_ms: row.get("ts")?,
        run_id: row.get("run_id")?,
        route: owned("route")?,
        route_version: small(row, "route_version")?,
        provider: owned("provider")?,
        model: owned("model")?,
        requested_tier: named(row, "requested_tier", |name| {
            Tier::ALL.into_iter().find(|tier| tier.name() == name)
        })?,
        served_tier: row.get("served_tier")?,
        tokens_in: unsigned("tokens_in")?,
        tokens_out: unsigned("tokens_out")?,
        tokens_cached: unsigned("tokens_cached")?,
        tokens_cache_write: unsigned("tokens_cache_write")?,
        searches: unsigned("searches")?,
        cost: Usd::nanos(unsigned("cost_nanousd")?.unwrap_or(0)),
        pricing_missing: row.get("pricing_missing")?,
        usage_missing: row.get("usage_missing")?,
        latency_ms: unsigned("latency_ms")?.unwrap_or(0),
        ttfb_ms: unsigned("ttfb_ms")?,
        failure: named(row, "failure_class", |name| Some(RowFailure::stored(name)))?,
        attempt: small(row, "attempt")?,
        tags: named(row, "tags", |json| serde_json::from_str(json).ok())?.unwrap_or_default(),
        served_variant: row
            .get::<_, Option<String>>("served_variant")?
            .map(Cow::Owned),
        repaired_by: row.get("repaired_by")?,
        cache_key: row.get("cache_key")?,
        prefix_fingerprint: row.get("prefix_fingerprint")?,
        lane: owned("lane")?,
        traceparent: named(row, "traceparent", Traceparent::parse)?,
    })
}

/// Reads a text column that only some texts are good for; `None` for one that is not.
fn named<T>(
    row: &Row<'_>,
    column: &str,
    read: impl FnOnce(&str) -> Option<T>,
) -> rusqlite::Result<Option<T>> {
    let text = row.get::<_, Option<String>>(column)?;
    Ok(text.and_then(|text| read(&text)))
}

fn small(row: &Row<'_>, column: &str) -> rusqlite::Result<u32> {
    let count: i64 = row.get(column)?;
    Ok(u32::try_from(count).unwrap_or(0))
}

/// Reads a column of a count.
pub(super) fn count(row: &Row<'_>, column: &str) -> rusqlite::Result<u64> {
    let count: i64 = row.get(column)?;
    Ok(u64::try_from(count).unwrap_or(0))
}

/// SQLite's integers are signed; no real count comes near the end.
pub(super) fn signed(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}
