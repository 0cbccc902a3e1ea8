//! What is the body that brings rows to an ingest URL?
//!
//! `{"version": 1, "rows": [{…}]}`, gzipped; the fields are named and measured as the columns of `inferences`. A batch may come
//! twice: who receives it keeps one row per `id`. One without rows asks whether the receiver takes any.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use rig_spec::Tier;
use serde::Serialize;

use super::Destination;
use crate::key::Key;
use crate::store::{ExportRow, Name};
use crate::transport::Request;

/// Rows as JSON, to one address.
pub(super) struct Ingest {
    pub(super) url: String,
    pub(super) key: Key,
}

#[derive(Serialize)]
struct Body<'a> {
    version: u32,
    rows: Vec<Row<'a>>,
}

#[derive(Serialize)]
struct Row<'a> {
    id: String,
    ts: i64,
    run_id: String,
    route: Option<&'a str>,
    route_version: u32,
    provider: &'a str,
    model: &'a str,
    requested_tier: Option<&'static str>,
    served_tier: Option<&'static str>,
    tokens_in: Option<u64>,
    tokens_out: Option<u64>,
    tokens_cached: Option<u64>,
    tokens_cache_write: Option<u64>,
    cost_nanousd: u64,
    pricing_missing: bool,
    latency_ms: u64,
    ttfb_ms: Option<u64>,
    failure_class: Option<&'static str>,
    attempt: u32,
    served_variant: Option<&'a str>,
    repaired_by: Option<&'a str>,
    lane: &'static str,
}

impl<'a> Row<'a> {
    fn of(row: &'a ExportRow) -> Self {
        Self {
            id: row.id.to_string(),
            ts: row.ts_ms,
            run_id: row.run_id.to_string(),
            route: row.route.as_ref().map(Name::as_str),
            route_version: row.route_version,
            provider: row.provider.as_str(),
            model: row.model.as_str(),
            requested_tier: row.requested_tier.map(Tier::name),
            served_tier: row.served_tier.map(Tier::name),
            tokens_in: row.tokens_in,
            tokens_out: row.tokens_out,
            tokens_cached: row.tokens_cached,
            tokens_cache_write: row.tokens_cache_write,
            cost_nanousd: row.cost.as_nanos(),
            pricing_missing: row.pricing_missing,
            latency_ms: row.latency_ms,
            ttfb_ms: row.ttfb_ms,
            failure_class: row.failure_name(),
            attempt: row.attempt,
            served_variant: row.served_variant.as_ref().map(Name::as_str),
            repaired_by: row.repaired_by.as_ref().map(Name::as_str),
            lane: row.lane(),
        }
    }
}

impl Destination for Ingest {
    fn name(&self) -> &'static str {
        "ingest"
    }

    fn request(&self, rows: &[ExportRow]) -> Option<Request> {
        (!rows.is_empty()).then(|| self.with(rows))
    }

    fn empty(&self) -> Request {
        self.with(&[])
    }
}

impl Ingest {
    fn with(&self, rows: &[ExportRow]) -> Request {
        let body = Body {
            version: 1,
            rows: rows.iter().map(Row::of).collect(),
        };
        let json = serde_json::to_vec(&body).expect("numbers and texts can be written as JSON");
        let headers = vec![
            ("content-type", "application/json".to_owned()),
            ("content-encoding", "gzip".to_owned()),
            ("authorization", format!("Bearer {}", self.key.reveal())),
        ];
        Request::new(self.url.clone(), headers, gzip(&json))
    }
}

/// Returns bytes as a gzip file.
pub(super) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::default());
    packed
        .write_all(bytes)
        .and_then(|()| packed.finish())
        .expect("writing into memory does not fail")
}
