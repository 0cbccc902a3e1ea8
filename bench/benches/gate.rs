//! How long do bytes take to a checked type, by the gate and by what else there is?
//!
//! `cargo bench --manifest-path bench/Cargo.toml`. Compare within one run only. On a machine that others use as well the
//! means scatter by half; the ratios printed at the end are of the fastest of many rounds, taken in turn.

use std::hint::black_box;
use std::time::{Duration, Instant};

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use rig_bench::{Generated, Report, answer, by_value, peer, schema};

fn value(output: impl serde::Serialize) -> serde_json::Value {
    serde_json::to_value(output).expect("JSON")
}

/// The validator of the crate.
fn validator() -> jsonschema::Validator {
    let json: serde_json::Value = serde_json::from_str(schema().json).expect("JSON");
    let options = jsonschema::options().should_validate_formats(false);
    options.build(&json).expect("a schema")
}

fn gate(criterion: &mut Criterion) {
    let schema = schema();
    let validator = validator();
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

/// Prints how many times longer others take than the gate.
fn ratios(_: &mut Criterion) {
    let schema = schema();
    let validator = validator();
    for kilobytes in [1, 10, 100] {
        let text = answer(kilobytes * 1_000);
        let text = text.as_str();
        let mut fastest = [Duration::MAX; 3];
        for _ in 0..60 {
            let took = [
                took(kilobytes, || {
                    rig_runtime::read_checked::<Report>(schema, black_box(text))
                }),
                took(kilobytes, || {
                    by_value(black_box(text), |value| validator.is_valid(value))
                }),
                took(kilobytes, || by_value(black_box(text), Generated::is_valid)),
            ];
            for (fastest, took) in fastest.iter_mut().zip(took) {
                *fastest = took.min(*fastest);
            }
        }
        let [gate, by_crate, by_macro] = fastest.map(|took| took.as_secs_f64());
        println!(
            "{kilobytes} KB: the crate takes {:.2} times as long as the gate, the macro {:.2} times",
            by_crate / gate,
            by_macro / gate
        );
    }
}

/// Times about 200 KB of answers.
fn took<T>(kilobytes: usize, mut read: impl FnMut() -> T) -> Duration {
    let start = Instant::now();
    for _ in 0..200 / kilobytes {
        black_box(read());
    }
    start.elapsed()
}

criterion_group!(benches, gate, ratios);
criterion_main!(benches);
