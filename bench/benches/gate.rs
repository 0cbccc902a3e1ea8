//! How long do bytes take to a checked type, by the gate and by what else there is?
//!
//! `cargo bench --manifest-path bench/Cargo.toml`. Compare within one run only.

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use rig_bench::{Generated, Report, answer, by_value, peer, schema};

fn value(output: impl serde::Serialize) -> serde_json::Value {
    serde_json::to_value(output).expect("JSON")
}

fn gate(criterion: &mut Criterion) {
    let schema = schema();
    let json: serde_json::Value = serde_json::from_str(schema.json).expect("JSON");
    let validator = jsonschema::options()
        .should_validate_formats(false)
        .build(&json)
        .expect("a schema");
    let mut group = criterion.benchmark_group("gate");
    for kilobytes in [1, 10, 100] {
        let text = answer(kilobytes * 1_000);
        let report: Option<Report> = rig_runtime::read_checked(schema, &text);
        let others = by_value(&text, |value| validator.is_valid(value));
        assert_eq!(value(report.expect("it conforms")), value(others));
        assert!(by_value(&text, Generated::is_valid).is_some());
        group.throughput(Throughput::Bytes(text.len() as u64));
        let text = text.as_str();
        group.bench_with_input(
            BenchmarkId::new("gate", kilobytes),
            text,
            |bencher, text| {
                bencher.iter(|| rig_runtime::read_checked::<Report>(schema, black_box(text)));
            },
        );
        group.bench_with_input(
            BenchmarkId::new("crate", kilobytes),
            text,
            |bencher, text| {
                bencher.iter(|| by_value(black_box(text), |value| validator.is_valid(value)));
            },
        );
        group.bench_with_input(
            BenchmarkId::new("macro", kilobytes),
            text,
            |bencher, text| {
                bencher.iter(|| by_value(black_box(text), Generated::is_valid));
            },
        );
        // Without a check at all: what parsing into the type costs by itself.
        group.bench_with_input(
            BenchmarkId::new("serde_json", kilobytes),
            text,
            |bencher, text| {
                bencher.iter(|| serde_json::from_str::<peer::Report>(black_box(text)));
            },
        );
    }
    group.finish();
}

criterion_group!(benches, gate);
criterion_main!(benches);
