//! How often does a call allocate, beside its answer?
//!
//! `cargo bench --manifest-path bench/Cargo.toml --bench allocations`. The same work as in `call`, counted.

use std::hint::black_box;

use rig_bench::{Report, ReportInput, answer, answer_of, report, response, rig, schema};
use tokio::runtime::Builder;

#[global_allocator]
static ALLOCATOR: dhat::Alloc = dhat::Alloc;

const RUNS: u64 = 1_000;

fn main() {
    let text = answer(1_000);
    let body = response(&text);
    let runtime = Builder::new_current_thread()
        .enable_time()
        .build()
        .expect("a runtime");
    let rig = rig(body.clone());
    let _profiler = dhat::Profiler::builder().testing().build();
    count("gate", || {
        black_box(rig_runtime::read_checked::<Report>(schema(), &text));
    });
    count("parse and gate", || {
        let text = answer_of(&body).expect("an answer");
        black_box(rig_runtime::read_checked::<Report>(schema(), &text));
    });
    count("call", || {
        let notes = text.clone();
        let call = report(ReportInput { notes }).on(&rig);
        black_box(runtime.block_on(async { call.await })).expect("it is served");
    });
}

fn count(what: &str, mut work: impl FnMut()) {
    work();
    let before = dhat::HeapStats::get();
    for _ in 0..RUNS {
        work();
    }
    let after = dhat::HeapStats::get();
    let blocks = (after.total_blocks - before.total_blocks) / RUNS;
    let bytes = (after.total_bytes - before.total_bytes) / RUNS;
    println!("{what}: {blocks} allocations, {bytes} bytes");
}
