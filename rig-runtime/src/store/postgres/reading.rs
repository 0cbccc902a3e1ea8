//! What do the tables say together?

use postgres::{Error, Row};

use super::super::{ObservedLatency, Spend, Spending};
use super::columns::{count, text, usd};
use super::session::Session;

const OBSERVED: &str = "
    SELECT provider, model, attempts, p50_ms, p90_ms, p99_ms
    FROM observed_latency WHERE route = $1 ORDER BY provider COLLATE \"C\", model COLLATE \"C\"";

const SPEND: &str = "
    SELECT count(*) AS attempts, least(coalesce(sum(cost_nanousd), 0), 9223372036854775807)::int8 AS cost,
           count(*) FILTER (WHERE pricing_missing) AS unpriced,
           count(*) FILTER (WHERE usage_missing) AS usage_missing
    FROM inferences
    WHERE ts >= $1 AND ts < $2 AND ($3::text IS NULL OR tags ->> $3 = $4::text)";

/// Returns the latencies of a route's served attempts, by provider and model.
pub(super) fn observed(session: &mut Session, route: &str) -> Result<Vec<ObservedLatency>, Error> {
    let rows = session.query(OBSERVED, &[&text(route)])?;
    let latency = |row: &Row| ObservedLatency {
        provider: row.get("provider"),
        model: row.get("model"),
        attempts: count(row, "attempts"),
        p50_ms: count(row, "p50_ms"),
        p90_ms: count(row, "p90_ms"),
        p99_ms: count(row, "p99_ms"),
    };
    Ok(rows.iter().map(latency).collect())
}

/// Adds up rows.
pub(super) fn spend(session: &mut Session, of: &Spending) -> Result<Spend, Error> {
    let (key, value) = match &of.tag {
        Some((key, value)) => (Some(text(key)), Some(text(value))),
        None => (None, None),
    };
    let window = &of.window_ms;
    let rows = session.query(SPEND, &[&window.start, &window.end, &key, &value])?;
    let spend = |row: &Row| Spend {
        attempts: count(row, "attempts"),
        cost: usd(row, "cost"),
        unpriced: count(row, "unpriced"),
        usage_missing: count(row, "usage_missing"),
    };
    Ok(rows.first().map(spend).unwrap_or_default())
}
