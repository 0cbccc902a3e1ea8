//! Which span does a row become?
//!
//! One span per attempt, of kind `CLIENT`, with the attributes of OpenTelemetry's conventions for generative AI and some of our
//! own. A run is a trace, whose id is the run's; a caller's `traceparent` makes its spans part of the caller's trace. The ids
//! are those of the row, so that a span which is sent twice is the same span.

use opentelemetry_proto::tonic::collector::trace::v1::{
    ExportTraceServiceRequest, ExportTraceServiceResponse,
};
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::common::v1::{AnyValue, InstrumentationScope, KeyValue};
use opentelemetry_proto::tonic::resource::v1::Resource;
use opentelemetry_proto::tonic::trace::v1::span::SpanKind;
use opentelemetry_proto::tonic::trace::v1::status::StatusCode;
use opentelemetry_proto::tonic::trace::v1::{ResourceSpans, ScopeSpans, Span, Status};
use prost::Message;
use rig_spec::Tier;

use super::Destination;
use super::ingest::gzip;
use crate::ground;
use crate::store::{ExportRow, Name};
use crate::trace::Traceparent;
use crate::transport::Request;

/// Where spans go.
#[derive(Clone)]
#[must_use]
pub struct Otlp {
    url: String,
    headers: Vec<(&'static str, String)>,
    gzip: bool,
    service: String,
}

impl Otlp {
    /// Returns the destination of this endpoint, e.g. `http://127.0.0.1:4318`; spans go to `/v1/traces` there.
    pub fn new(endpoint: impl AsRef<str>) -> Self {
        const PATH: &str = "/v1/traces";
        let endpoint = endpoint.as_ref().trim();
        // The path is appended to the endpoint's, and its query is kept.
        let end = endpoint.find(['?', '#']).unwrap_or(endpoint.len());
        let (path, query) = endpoint.split_at(end);
        let path = path.trim_end_matches('/');
        let path = path.strip_suffix(PATH).unwrap_or(path);
        Self {
            url: format!("{path}{PATH}{query}"),
            headers: Vec::new(),
            gzip: false,
            service: "modelrig".to_owned(),
        }
    }

    /// Sends a header with every request, e.g. a key. No log ever shows its value.
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        // A request's header names live as long as the program, and so does where spans go.
        let name: &'static str = String::leak(name.into().to_ascii_lowercase());
        self.headers.push((name, value.into()));
        self
    }

    /// Sends bodies compressed.
    pub fn gzip(mut self) -> Self {
        self.gzip = true;
        self
    }

    /// Sets the service's name, `modelrig` unless told otherwise.
    pub fn service(mut self, name: impl Into<String>) -> Self {
        self.service = name.into();
        self
    }
}

impl Otlp {
    /// Returns where spans go. It may hold a secret.
    pub(super) fn url(&self) -> &str {
        &self.url
    }
}

impl std::fmt::Debug for Otlp {
    /// Shows the headers' names.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names: Vec<_> = self.headers.iter().map(|(name, _)| name).collect();
        f.debug_struct("Otlp")
            .field("headers", &names)
            .field("gzip", &self.gzip)
            .field("service", &self.service)
            .finish_non_exhaustive()
    }
}

impl Destination for Otlp {
    fn name(&self) -> &'static str {
        "otlp"
    }

    fn request(&self, rows: &[ExportRow]) -> Option<Request> {
        let is_recorded = |row: &&ExportRow| row.traceparent.is_none_or(Traceparent::is_sampled);
        let spans: Vec<_> = rows.iter().filter(is_recorded).map(span).collect();
        if spans.is_empty() {
            return None;
        }
        Some(self.with(vec![self.resource_spans(spans)]))
    }

    fn empty(&self) -> Request {
        self.with(Vec::new())
    }

    fn reads_answers(&self) -> bool {
        true
    }

    /// What is not the message of the protocol says nothing.
    fn rejected(&self, answer: &[u8]) -> u64 {
        let answer = ExportTraceServiceResponse::decode(answer).unwrap_or_default();
        let partial = answer.partial_success.unwrap_or_default();
        u64::try_from(partial.rejected_spans).unwrap_or(0)
    }
}

impl Otlp {
    fn resource_spans(&self, spans: Vec<Span>) -> ResourceSpans {
        ResourceSpans {
            resource: Some(Resource {
                attributes: vec![text("service.name", &self.service)],
                ..Resource::default()
            }),
            scope_spans: vec![ScopeSpans {
                scope: Some(InstrumentationScope {
                    name: "modelrig".to_owned(),
                    version: env!("CARGO_PKG_VERSION").to_owned(),
                    ..InstrumentationScope::default()
                }),
                spans,
                ..ScopeSpans::default()
            }],
            ..ResourceSpans::default()
        }
    }

    fn with(&self, resource_spans: Vec<ResourceSpans>) -> Request {
        let export = ExportTraceServiceRequest { resource_spans };
        let mut body = export.encode_to_vec();
        let mut headers = self.headers.clone();
        headers.push(("content-type", "application/x-protobuf".to_owned()));
        if self.gzip {
            headers.push(("content-encoding", "gzip".to_owned()));
            body = gzip(&body);
        }
        Request::new(self.url.clone(), headers, body)
    }
}

fn span(row: &ExportRow) -> Span {
    let trace = row
        .traceparent
        .map_or(row.run_id.as_u128(), |at| at.trace_id);
    let parent = row
        .traceparent
        .map(|at| at.parent_id.to_be_bytes().to_vec());
    let flags = row.traceparent.map_or(1, |at| u32::from(at.flags));
    let start_ms = u64::try_from(row.ts_ms).unwrap_or(0);
    let end_ms = start_ms.saturating_add(row.latency_ms);
    let is_search = row.provider.as_str() == ground::PROVIDER;
    let name = match is_search {
        true => "search".to_owned(),
        false => format!("chat {}", row.model.as_str()),
    };
    let mut attributes = if is_search { Vec::new() } else { gen_ai(row) };
    attributes.extend(own(row));
    Span {
        trace_id: trace.to_be_bytes().to_vec(),
        span_id: row.id.as_bytes()[8..].to_vec(),
        parent_span_id: parent.unwrap_or_default(),
        flags,
        name,
        kind: SpanKind::Client as i32,
        start_time_unix_nano: start_ms.saturating_mul(1_000_000),
        end_time_unix_nano: end_ms.saturating_mul(1_000_000),
        attributes,
        status: row.failure.map(|_| Status {
            code: StatusCode::Error as i32,
            ..Status::default()
        }),
        ..Span::default()
    }
}

/// The attributes of the conventions for generative AI.
fn gen_ai(row: &ExportRow) -> Vec<KeyValue> {
    let provider = match row.provider.as_str() {
        "gemini" => "gcp.gemini",
        "grok" => "x_ai",
        other => other,
    };
    let mut attributes = vec![
        text("gen_ai.operation.name", "chat"),
        text("gen_ai.provider.name", provider),
        text("gen_ai.request.model", row.model.as_str()),
    ];
    let counts = [
        ("gen_ai.usage.input_tokens", row.tokens_in),
        ("gen_ai.usage.output_tokens", row.tokens_out),
        ("gen_ai.usage.cache_read.input_tokens", row.tokens_cached),
        (
            "gen_ai.usage.cache_creation.input_tokens",
            row.tokens_cache_write,
        ),
    ];
    attributes.extend(known(counts));
    attributes
}

/// What the conventions have no name for, and how a failure is told.
fn own(row: &ExportRow) -> Vec<KeyValue> {
    let mut attributes = vec![
        text("modelrig.inference_id", &row.id.to_string()),
        text("modelrig.run_id", &row.run_id.to_string()),
        number("modelrig.attempt", row.attempt.into()),
        text("modelrig.lane", row.lane()),
        attribute(
            "modelrig.cost_usd",
            Value::DoubleValue(row.cost.as_nanos() as f64 / 1e9),
        ),
        attribute(
            "modelrig.pricing_missing",
            Value::BoolValue(row.pricing_missing),
        ),
    ];
    if row.route.is_some() {
        attributes.push(number("modelrig.route_version", row.route_version.into()));
    }
    let names = [
        ("modelrig.route", row.route.as_ref().map(Name::as_str)),
        (
            "modelrig.served_variant",
            row.served_variant.as_ref().map(Name::as_str),
        ),
        (
            "modelrig.repaired_by",
            row.repaired_by.as_ref().map(Name::as_str),
        ),
        (
            "modelrig.requested_tier",
            row.requested_tier.map(Tier::name),
        ),
        ("modelrig.served_tier", row.served_tier.map(Tier::name)),
        ("error.type", row.failure_name()),
    ];
    let told = names
        .into_iter()
        .filter_map(|(key, name)| Some(text(key, name?)));
    attributes.extend(told);
    attributes.extend(known([("modelrig.ttfb_ms", row.ttfb_ms)]));
    attributes
}

/// Only what is known: a count that a provider did not report is no 0.
fn known<const N: usize>(
    counts: [(&'static str, Option<u64>); N],
) -> impl Iterator<Item = KeyValue> {
    let told = counts.into_iter();
    told.filter_map(|(key, count)| Some(number(key, count?)))
}

fn text(key: &str, value: &str) -> KeyValue {
    attribute(key, Value::StringValue(value.to_owned()))
}

fn number(key: &str, value: u64) -> KeyValue {
    attribute(
        key,
        Value::IntValue(i64::try_from(value).unwrap_or(i64::MAX)),
    )
}

fn attribute(key: &str, value: Value) -> KeyValue {
    KeyValue {
        key: key.to_owned(),
        value: Some(AnyValue { value: Some(value) }),
        ..KeyValue::default()
    }
}
