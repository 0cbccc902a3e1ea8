//! What do the tables say together? The views say it, to us and to whoever opens the file.

use rig_spec::Usd;
use rusqlite::{Connection, named_params};

use super::super::{ObservedLatency, Spend, Spending};
use super::columns::count;

/// Returns the latencies of a route's served attempts, by provider and model.
pub(super) fn observed(
    connection: &Connection,
    route: &str,
) -> rusqlite::Result<Vec<ObservedLatency>> {
    let mut select = connection.prepare_cached(
        "SELECT * FROM observed_latency WHERE route = ?1 ORDER BY provider, model",
    )?;
    let rows = select.query_map([route], |row| {
        Ok(ObservedLatency {
            provider: row.get("provider")?,
            model: row.get("model")?,
            attempts: count(row, "attempts")?,
            p50_ms: count(row, "p50_ms")?,
            p90_ms: count(row, "p90_ms")?,
            p99_ms: count(row, "p99_ms")?,
        })
    })?;
    rows.collect()
}

/// Adds up rows.
pub(super) fn spend(connection: &Connection, of: &Spending) -> rusqlite::Result<Spend> {
    let mut select = connection.prepare_cached(
        "SELECT count(*) AS attempts, coalesce(sum(cost_nanousd), 0) AS cost,
                coalesce(sum(pricing_missing), 0) AS unpriced,
                coalesce(sum(usage_missing), 0) AS usage_missing
         FROM inferences
         WHERE ts >= :from AND ts < :until AND (:key IS NULL OR EXISTS (
             SELECT 1 FROM json_each(tags) AS own WHERE own.key = :key AND own.value = :value))",
    )?;
    let (key, value) = of.tag.clone().unzip();
    let window = &of.window_ms;
    let params = named_params! {
        ":from": window.start, ":until": window.end, ":key": key, ":value": value,
    };
    select.query_row(params, |row| {
        Ok(Spend {
            attempts: count(row, "attempts")?,
            cost: Usd::nanos(count(row, "cost")?),
            unpriced: count(row, "unpriced")?,
            usage_missing: count(row, "usage_missing")?,
        })
    })
}
