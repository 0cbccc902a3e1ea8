//! How do rows and captures become columns, and columns rows and captures?
//!
//! A batch is one statement, whose parameters are whole columns.

use std::borrow::Cow;
use std::collections::BTreeMap;

use postgres::{Error, Row};
use rig_spec::{Tier, Usd};

use super::super::queue::Record;
use super::super::{AttemptRow, Capture, Page, RowFailure, Traceparent};
use super::exports;
use super::session::Session;

/// Inserts rows; those that are there already stay as they are.
const INSERT: &str = "
    INSERT INTO inferences (
        id, ts, run_id, route, route_version, provider, model, requested_tier, served_tier,
        tokens_in, tokens_out, tokens_cached, tokens_cache_write, cost_nanousd, pricing_missing,
        latency_ms, ttfb_ms, failure_class, attempt, tags, served_variant, repaired_by, cache_key,
        prefix_fingerprint, lane, traceparent, usage_missing, searches
    )
    SELECT id, ts, run_id, route, route_version, provider, model, requested_tier, served_tier,
        tokens_in, tokens_out, tokens_cached, tokens_cache_write, cost_nanousd, pricing_missing,
        latency_ms, ttfb_ms, failure_class, attempt, tags::jsonb, served_variant, repaired_by, cache_key,
        prefix_fingerprint, lane, traceparent, usage_missing, searches
    FROM unnest(
        $1::text[], $2::int8[], $3::text[], $4::text[], $5::int8[], $6::text[], $7::text[], $8::text[], $9::text[],
        $10::int8[], $11::int8[], $12::int8[], $13::int8[], $14::int8[], $15::bool[],
        $16::int8[], $17::int8[], $18::text[], $19::int8[], $20::text[], $21::text[], $22::text[], $23::text[],
        $24::text[], $25::text[], $26::text[], $27::bool[], $28::int8[]
    ) AS given (
        id, ts, run_id, route, route_version, provider, model, requested_tier, served_tier,
        tokens_in, tokens_out, tokens_cached, tokens_cache_write, cost_nanousd, pricing_missing,
        latency_ms, ttfb_ms, failure_class, attempt, tags, served_variant, repaired_by, cache_key,
        prefix_fingerprint, lane, traceparent, usage_missing, searches
    )
    ON CONFLICT (id) DO NOTHING";

/// What [`read`] reads.
macro_rules! select {
    ($rest:literal) => {
        concat!(
            "SELECT id, ts, run_id, route, route_version, provider, model, requested_tier, served_tier,
                tokens_in, tokens_out, tokens_cached, tokens_cache_write, cost_nanousd, pricing_missing,
                latency_ms, ttfb_ms, failure_class, attempt, tags::text AS tags, served_variant, repaired_by, cache_key,
                prefix_fingerprint, lane, traceparent, usage_missing, searches
             FROM inferences ",
            $rest
        )
    };
}

pub(super) use select;

const SELECT: &str = select!("WHERE run_id = $1 ORDER BY attempt, place");

/// The rows of the attempts that an envelope paid for.
pub(super) const CHARGED: &str =
    select!("WHERE id IN (SELECT id FROM charges WHERE envelope = $1)");

const SELECT_PAGE: &str = select!(
    "WHERE id COLLATE \"C\" > $1 AND ts >= $2 AND ts < $3 ORDER BY id COLLATE \"C\" LIMIT $4"
);

const INSERT_CAPTURES: &str = "
    INSERT INTO captures (id, ts, run_id, route, route_version, variables, output)
    SELECT * FROM unnest($1::text[], $2::int8[], $3::text[], $4::text[], $5::int8[], $6::text[], $7::text[])
    ON CONFLICT (id) DO NOTHING";

const SELECT_CAPTURES: &str = "
    SELECT id, ts, run_id, route, route_version, variables, output
    FROM captures WHERE route = $1 ORDER BY ts, id";

/// Inserts rows, and the captures that go with them.
pub(super) fn insert(session: &mut Session, records: &[Record]) -> Result<(), Error> {
    if records.is_empty() {
        return Ok(());
    }
    session.execute(exports::SHARE, &[])?;
    insert_rows(session, records)?;
    let captures = records.iter().filter_map(|record| record.capture.as_ref());
    let captures: Vec<_> = captures.collect();
    if captures.is_empty() {
        return Ok(());
    }
    insert_captures(session, &captures)
}

fn insert_rows(session: &mut Session, records: &[Record]) -> Result<(), Error> {
    let rows = || records.iter().map(|record| &record.row);
    let texts = |column: fn(&AttemptRow) -> &str| -> Vec<_> {
        rows().map(|row| text(column(row))).collect()
    };
    let maybe = |column: fn(&AttemptRow) -> Option<&str>| -> Vec<_> {
        rows().map(|row| column(row).map(text)).collect()
    };
    let counts = |column: fn(&AttemptRow) -> u64| -> Vec<_> {
        rows().map(|row| signed(column(row))).collect()
    };
    let reported = |column: fn(&AttemptRow) -> Option<u64>| -> Vec<_> {
        rows().map(|row| column(row).map(signed)).collect()
    };
    let columns: [&(dyn postgres::types::ToSql + Sync); 28] = [
        &texts(|row| &row.id),
        &rows().map(|row| row.ts_ms).collect::<Vec<_>>(),
        &texts(|row| &row.run_id),
        &texts(|row| &row.route),
        &counts(|row| row.route_version.into()),
        &texts(|row| &row.provider),
        &texts(|row| &row.model),
        &maybe(|row| row.requested_tier.map(Tier::name)),
        &maybe(|row| row.served_tier.as_deref()),
        &reported(|row| row.tokens_in),
        &reported(|row| row.tokens_out),
        &reported(|row| row.tokens_cached),
        &reported(|row| row.tokens_cache_write),
        &counts(|row| row.cost.as_nanos()),
        &rows().map(|row| row.pricing_missing).collect::<Vec<_>>(),
        &counts(|row| row.latency_ms),
        &reported(|row| row.ttfb_ms),
        &maybe(|row| row.failure.map(RowFailure::name)),
        &counts(|row| row.attempt.into()),
        &rows().map(|row| tags(&row.tags)).collect::<Vec<_>>(),
        &maybe(|row| row.served_variant.as_deref()),
        &maybe(|row| row.repaired_by.as_deref()),
        &maybe(|row| row.cache_key.as_deref()),
        &maybe(|row| row.prefix_fingerprint.as_deref()),
        &texts(|row| &row.lane),
        &rows().map(traceparent).collect::<Vec<_>>(),
        &rows().map(|row| row.usage_missing).collect::<Vec<_>>(),
        &reported(|row| row.searches),
    ];
    session.execute(INSERT, &columns)?;
    Ok(())
}

fn insert_captures(session: &mut Session, captures: &[&Capture]) -> Result<(), Error> {
    let texts = |column: fn(&Capture) -> &str| -> Vec<_> {
        let captures = captures.iter();
        captures.map(|capture| text(column(capture))).collect()
    };
    let numbers = |column: fn(&Capture) -> i64| -> Vec<_> {
        captures.iter().map(|capture| column(capture)).collect()
    };
    let columns: [&(dyn postgres::types::ToSql + Sync); 7] = [
        &texts(|capture| &capture.id),
        &numbers(|capture| capture.ts_ms),
        &texts(|capture| &capture.run_id),
        &texts(|capture| &capture.route),
        &numbers(|capture| capture.route_version.into()),
        &texts(|capture| &capture.variables),
        &texts(|capture| &capture.output),
    ];
    session.execute(INSERT_CAPTURES, &columns)?;
    Ok(())
}

/// Returns the rows of a run, in the order of `attempt`.
pub(super) fn of_run(session: &mut Session, run_id: &str) -> Result<Vec<AttemptRow>, Error> {
    let rows = session.query(SELECT, &[&text(run_id)])?;
    Ok(rows.iter().map(read).collect())
}

/// Returns the rows of a page, in the order of their ids.
pub(super) fn of_page(session: &mut Session, page: &Page) -> Result<Vec<AttemptRow>, Error> {
    let window = &page.window_ms;
    let (after, limit) = (text(&page.after), i64::from(page.limit));
    let rows = session.query(SELECT_PAGE, &[&after, &window.start, &window.end, &limit])?;
    Ok(rows.iter().map(read).collect())
}

/// Returns the captures of a route, oldest first.
pub(super) fn captures(session: &mut Session, route: &str) -> Result<Vec<Capture>, Error> {
    let rows = session.query(SELECT_CAPTURES, &[&text(route)])?;
    let capture = |row: &Row| Capture {
        id: row.get("id"),
        ts_ms: row.get("ts"),
        run_id: row.get("run_id"),
        route: Cow::Owned(row.get("route")),
        route_version: small(row, "route_version"),
        variables: row.get("variables"),
        output: row.get("output"),
    };
    Ok(rows.iter().map(capture).collect())
}

/// Reads a row of `inferences`. What only a newer version understands, e.g. a tier, is left out, so that one such row makes
/// no run and no page unreadable.
pub(super) fn read(row: &Row) -> AttemptRow {
    let maybe = |column| row.get::<_, Option<i64>>(column).map(unsigned);
    let owned = |column| Cow::Owned(row.get::<_, String>(column));
    AttemptRow {
        id: row.get("id"),
        ts_ms: row.get("ts"),
        run_id: row.get("run_id"),
        route: owned("route"),
        route_version: small(row, "route_version"),
        provider: owned("provider"),
        model: owned("model"),
        requested_tier: named(row, "requested_tier", |name| {
            Tier::ALL.into_iter().find(|tier| tier.name() == name)
        }),
        served_tier: row.get("served_tier"),
        tokens_in: maybe("tokens_in"),
        tokens_out: maybe("tokens_out"),
        tokens_cached: maybe("tokens_cached"),
        tokens_cache_write: maybe("tokens_cache_write"),
        searches: maybe("searches"),
        cost: usd(row, "cost_nanousd"),
        pricing_missing: row.get("pricing_missing"),
        usage_missing: row.get("usage_missing"),
        latency_ms: count(row, "latency_ms"),
        ttfb_ms: maybe("ttfb_ms"),
        failure: named(row, "failure_class", |name| Some(RowFailure::stored(name))),
        attempt: small(row, "attempt"),
        tags: named(row, "tags", |json| serde_json::from_str(json).ok()).unwrap_or_default(),
        served_variant: row
            .get::<_, Option<String>>("served_variant")
            .map(Cow::Owned),
        repaired_by: row.get("repaired_by"),
        cache_key: row.get("cache_key"),
        prefix_fingerprint: row.get("prefix_fingerprint"),
        lane: owned("lane"),
        traceparent: named(row, "traceparent", Traceparent::parse),
    }
}

/// Reads a text column that only some texts are good for; `None` for one that is not.
fn named<T>(row: &Row, column: &str, read: impl FnOnce(&str) -> Option<T>) -> Option<T> {
    row.get::<_, Option<&str>>(column).and_then(read)
}

/// Reads a column of a count.
pub(super) fn count(row: &Row, column: &str) -> u64 {
    unsigned(row.get(column))
}

/// Reads a column of money.
pub(super) fn usd(row: &Row, column: &str) -> Usd {
    Usd::nanos(count(row, column))
}

fn small(row: &Row, column: &str) -> u32 {
    u32::try_from(row.get::<_, i64>(column)).unwrap_or(0)
}

fn unsigned(count: i64) -> u64 {
    u64::try_from(count).unwrap_or(0)
}

/// PostgreSQL's integers are signed; no real count comes near the end.
pub(super) fn signed(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// PostgreSQL's texts hold every character but U+0000, and one that did would take its whole batch with it.
pub(super) fn text(text: &str) -> Cow<'_, str> {
    if text.contains('\0') {
        Cow::Owned(text.replace('\0', "\u{fffd}"))
    } else {
        Cow::Borrowed(text)
    }
}

fn traceparent(row: &AttemptRow) -> Option<String> {
    row.traceparent.map(|place| place.to_string())
}

fn tags(tags: &BTreeMap<String, String>) -> String {
    let tags: BTreeMap<_, _> = tags
        .iter()
        .map(|(key, value)| (text(key), text(value)))
        .collect();
    serde_json::to_string(&tags).expect("a map of strings can be written as JSON")
}
