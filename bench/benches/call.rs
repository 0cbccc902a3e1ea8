//! How much does a call cost beside its answer?
//!
//! A provider that answers at once with 1 KB, rows that go nowhere: what is left is prompt, request, ladder, gate and row.
//! `cargo bench --manifest-path bench/Cargo.toml --bench call`. Compare within one run only.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use rig_bench::{Report, ReportInput, answer, answer_of, report, response, rig, schema};
use tokio::runtime::Builder;

fn call(criterion: &mut Criterion) {
    let text = answer(1_000);
    let body = response(&text);
    let runtime = Builder::new_current_thread()
        .enable_time()
        .build()
        .expect("a runtime");
    let rig = rig(body.clone());
    let input = || ReportInput {
        notes: text.clone(),
    };
    let expected = rig_runtime::read_checked::<Report>(schema(), &text);
    assert_eq!(
        runtime
            .block_on(async { report(input()).on(&rig).await })
            .ok(),
        expected
    );

    let mut group = criterion.benchmark_group("call");
    group.bench_function("gate", |bencher| {
        bencher.iter(|| rig_runtime::read_checked::<Report>(schema(), black_box(&text)));
    });
    group.bench_function("parse and gate", |bencher| {
        bencher.iter(|| {
            let text = answer_of(black_box(&body))?;
            rig_runtime::read_checked::<Report>(schema(), &text)
        });
    });
    group.bench_function("call", |bencher| {
        bencher.iter(|| runtime.block_on(async { report(input()).on(&rig).await }));
    });
    group.bench_function("call with a quality gate", |bencher| {
        bencher.iter(|| {
            runtime.block_on(async {
                let call = report(input()).quality_gate(|report| !report.title.is_empty());
                call.on(&rig).await
            })
        });
    });
    group.finish();
}

criterion_group!(benches, call);
criterion_main!(benches);
