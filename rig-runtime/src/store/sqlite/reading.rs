//! What do the tables say together? To whoever opens the file, the views say it.

use std::collections::BTreeMap;

use rig_spec::Usd;
use rusqlite::{Connection, named_params};

use super::super::reading::observed_of;
use super::super::{ObservedLatency, Spend, Spending};
use super::columns::count;

/// Returns the latencies of a route's served attempts, by provider and model.
pub(super) fn observed(
    connection: &Connection,
    route: &str,
) -> rusqlite::Result<Vec<ObservedLatency>> {
    // The view sorts twice in SQL; one pass and a selection take a tenth of the time.
    let mut select = connection.prepare_cached(
        "SELECT provider, model, latency_ms FROM inferences
         WHERE route = ?1 AND failure_class IS NULL",
    )?;
    let mut rows = select.query([route])?;
    let mut served: BTreeMap<(String, String), Vec<u64>> = BTreeMap::new();
    while let Some(row) = rows.next()? {
        let model = (row.get("provider")?, row.get("model")?);
        let latency_ms = count(row, "latency_ms")?;
        served.entry(model).or_default().push(latency_ms);
    }
    Ok(observed_of(served))
}

/// Adds up rows.
pub(super) fn spend(connection: &Connection, of: &Spending) -> rusqlite::Result<Spend> {
    let mut select = connection.prepare_cached(
        "SELECT count(*) AS attempts,
                -- The sum of a few absurd rows is beyond an integer.
                coalesce(sum(cost_nanousd / 1000000000), 0) AS dollars,
                coalesce(sum(cost_nanousd % 1000000000), 0) AS nanos,
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
        let dollars = count(row, "dollars")?.saturating_mul(1_000_000_000);
        let cost = dollars.saturating_add(count(row, "nanos")?);
        Ok(Spend {
            attempts: count(row, "attempts")?,
            cost: Usd::nanos(cost),
            unpriced: count(row, "unpriced")?,
            usage_missing: count(row, "usage_missing")?,
        })
    })
}
