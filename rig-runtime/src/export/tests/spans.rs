//! Which span does a row become, to whoever decodes it?

use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value as Any;
use opentelemetry_proto::tonic::trace::v1::Span;
use prost::Message;

use super::super::{Destination, Otlp};
use super::*;
use crate::store::ExportRow;

fn request(otlp: &Otlp, rows: &[AttemptRow]) -> Option<Request> {
    let rows: Vec<_> = rows.iter().filter_map(ExportRow::of).collect();
    otlp.request(&rows)
}

fn spans(body: &[u8]) -> Vec<Span> {
    let mut export = ExportTraceServiceRequest::decode(body).unwrap();
    let mut resource = export.resource_spans.remove(0);
    resource.scope_spans.remove(0).spans
}

/// Returns the attributes, one a line.
fn attributes(span: &Span) -> Vec<String> {
    let line = |attribute: &opentelemetry_proto::tonic::common::v1::KeyValue| {
        let value = attribute.value.clone().unwrap().value.unwrap();
        let value = match value {
            Any::StringValue(text) => text,
            Any::IntValue(number) => number.to_string(),
            Any::DoubleValue(number) => number.to_string(),
            Any::BoolValue(is) => is.to_string(),
            other => format!("{other:?}"),
        };
        format!("{}={value}", attribute.key)
    };
    span.attributes.iter().map(line).collect()
}

// T4: an attempt is a span in the trace of its run, and its ids are its own.
#[test]
fn an_attempt_is_a_span() {
    let otlp = Otlp::new("http://127.0.0.1:4318/").header("X-Key", "secret");
    let request = request(&otlp, &[row(1)]).unwrap();
    assert_eq!(request.url, "http://127.0.0.1:4318/v1/traces");
    assert_eq!(
        request.headers,
        [
            ("x-key", "secret".to_owned()),
            ("content-type", "application/x-protobuf".to_owned())
        ]
    );
    assert!(!format!("{otlp:?} {request:?}").contains("secret"));
    let [span] = spans(&request.body).try_into().unwrap();
    assert_eq!(span.name, "chat gemini-3.1-flash");
    assert_eq!(span.trace_id, RUN.to_be_bytes());
    assert_eq!(span.span_id, [0x80, 0, 0, 0, 0, 0, 1, 2]);
    assert!(span.parent_span_id.is_empty() && span.status.is_none());
    assert_eq!((span.kind, span.flags), (3, 1));
    assert_eq!(span.start_time_unix_nano, 1_790_000_000_123_000_000);
    assert_eq!(
        span.end_time_unix_nano - span.start_time_unix_nano,
        812_000_000
    );
    let expected = [
        "gen_ai.operation.name=chat",
        "gen_ai.provider.name=gcp.gemini",
        "gen_ai.request.model=gemini-3.1-flash",
        "gen_ai.usage.input_tokens=1200",
        "gen_ai.usage.output_tokens=34",
        "gen_ai.usage.cache_read.input_tokens=1024",
        "modelrig.inference_id=01900000-0000-7000-8000-000000000102",
        "modelrig.run_id=01900000-0000-7000-8000-000000000001",
        "modelrig.attempt=1",
        "modelrig.lane=ladder",
        "modelrig.cost_usd=0.123456789",
        "modelrig.pricing_missing=false",
        "modelrig.route_version=3",
        "modelrig.route=summarize",
        "modelrig.requested_tier=flex",
        "modelrig.served_tier=standard",
        "modelrig.ttfb_ms=300",
    ];
    assert_eq!(attributes(&span), expected);
}

// T4: a failed attempt is an error of its class, within the caller's trace; what nobody reported is not there.
#[test]
fn a_failure_is_an_error_in_the_callers_trace() {
    let otlp = Otlp::new("http://127.0.0.1:4318/v1/traces")
        .gzip()
        .service("desk");
    let request = request(&otlp, &[odd_row(2)]).unwrap();
    assert_eq!(request.url, "http://127.0.0.1:4318/v1/traces");
    assert_eq!(request.headers[1], ("content-encoding", "gzip".to_owned()));
    let mut body = Vec::new();
    GzDecoder::new(request.body.as_slice())
        .read_to_end(&mut body)
        .unwrap();
    let [span] = spans(&body).try_into().unwrap();
    assert_eq!(
        span.trace_id,
        0x4bf9_2f35_77b3_4da6_a3ce_929d_0e0e_4736_u128.to_be_bytes()
    );
    assert_eq!(span.parent_span_id, 0x00f0_67aa_0ba9_02b7_u64.to_be_bytes());
    assert_eq!(span.status.clone().unwrap().code, 2);
    assert_eq!(span.status.clone().unwrap().message, "");
    let attributes = attributes(&span);
    assert!(attributes.contains(&"error.type=capacity_shed".to_owned()));
    assert!(
        !attributes
            .iter()
            .any(|line| line.contains("usage") || line.contains("walrus"))
    );
}

#[test]
fn every_attribute_is_documented() {
    let page = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/telemetry.md");
    let page = std::fs::read_to_string(page).unwrap();
    let full = AttemptRow {
        tokens_cache_write: Some(1),
        served_variant: Some("cheap".into()),
        repaired_by: Some("openai/m".to_owned()),
        failure: Some(RowFailure::Cancelled),
        ..row(1)
    };
    let request = request(&Otlp::new("http://127.0.0.1:4318"), &[full]).unwrap();
    let [span] = spans(&request.body).try_into().unwrap();
    assert_eq!(span.attributes.len(), 21);
    for attribute in &span.attributes {
        let key = &attribute.key;
        assert!(page.contains(&format!("`{key}`")), "{key}");
    }
}

// Of a trace that nobody records there are no spans, and nothing is sent for it.
#[test]
fn an_unrecorded_trace_has_no_spans() {
    let unrecorded = AttemptRow {
        traceparent: Traceparent::parse(&PARENT.replace("-01", "-00")),
        ..row(1)
    };
    let otlp = Otlp::new("http://127.0.0.1:4318");
    assert!(request(&otlp, std::slice::from_ref(&unrecorded)).is_none());
    let request = request(&otlp, &[unrecorded, row(2)]).unwrap();
    assert_eq!(spans(&request.body).len(), 1);
}

// A search is no chat.
#[test]
fn a_search_is_a_span_of_its_own_kind() {
    let search = AttemptRow {
        provider: "search".into(),
        ..row(1)
    };
    let request = request(&Otlp::new("http://127.0.0.1:4318"), &[search]).unwrap();
    let [span] = spans(&request.body).try_into().unwrap();
    assert_eq!(span.name, "search");
    assert!(
        attributes(&span)
            .iter()
            .all(|line| !line.starts_with("gen_ai"))
    );
}

// T9: a partial success says how many spans are not wanted; any other answer says nothing. An empty request is one of the
// protocol.
#[test]
fn a_partial_success_is_read() {
    let otlp = Otlp::new("http://127.0.0.1:4318/?token=t");
    assert_eq!(otlp.empty().url, "http://127.0.0.1:4318/v1/traces?token=t");
    let empty = ExportTraceServiceRequest::decode(otlp.empty().body.as_slice()).unwrap();
    assert_eq!(empty, ExportTraceServiceRequest::default());
    let words = b"\x0a\x08\x08\x03\x12\x04more";
    for (answer, rejected) in [
        (&words[..], 3),
        (b"\x0a\x02\x08\x01", 1),
        (b"\x0a\x00", 0),
        (b"\x0a\x0b\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 0),
        (b"", 0),
        (b"{\"partialSuccess\":{}}", 0),
    ] {
        assert_eq!(otlp.rejected(answer), rejected, "{answer:?}");
    }
}

// T9: spans that a collector rejects are set aside with their rows, and the others have arrived.
#[test]
fn a_rejected_span_is_set_aside() {
    let partial = || Scripted::status(200, vec![0x0a, 0x02, 0x08, 0x01]);
    let world = World::new(
        [row(1), row(2)],
        vec![partial(), Scripted::status(200, ""), partial()],
    );
    let worker = Worker::new(
        Box::new(Otlp::new("http://127.0.0.1:4318")),
        Arc::new(world.store.clone()),
        Box::new(world.transport.clone()),
        Arc::new(world.clock.clone()),
    );
    let mut pace = Pace::new();
    let rounds = std::iter::repeat_with(|| block_on(worker.round(&mut pace)));
    let rounds = rounds.take_while(|round| *round != Round::Nothing).count();
    assert_eq!(rounds, 3);
    let state = block_on(world.store.exports()).unwrap().remove(0);
    assert_eq!((state.waiting, state.set_aside), (0, 1));
    let aside = &state.newest_set_aside[0];
    assert_eq!(
        (&aside.id, aside.reason.as_str()),
        (&row(2).id, "rejected by a partial success")
    );
}
