//! What has come of a case, run on the real ladder?

use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use rig::__private::{RouteVariant, call};
use rig::store::{AttemptRow, Capture};
use rig::testing::MemoryStore;
use rig::{Error, Rig, Run, RunMeta, Turn, UsdPerMtok};
use serde::Serialize;
use serde_json::json;
use tests::routes::fc_base::FcBase;

use super::case::Case;
use super::world::{Asked, TASK, World, key};

/// What came of one run.
pub(super) struct Seen {
    pub(super) rows: Vec<AttemptRow>,
    pub(super) asked: Vec<Asked>,
    /// The waits before retries, in milliseconds.
    pub(super) backoffs: Vec<u64>,
    pub(super) backoffs_begun: usize,
    pub(super) captures: Vec<Capture>,
    /// The output as JSON, and the meta; nothing where the caller went away.
    pub(super) result: Option<Result<(String, RunMeta), Error>>,
    /// When the run had ended, in milliseconds.
    pub(super) ended: u64,
}

/// The first variant.
#[derive(Clone, Copy)]
struct First;

impl RouteVariant for First {
    fn index(self) -> usize {
        0
    }
}

/// The call of a case, with its options.
macro_rules! call_of {
    ($output:ty, $case:expr, $rig:expr) => {{
        let (case, options): (&Case, _) = ($case, &$case.options);
        let input = json!({ "question": TASK });
        let mut call = call::<$output, First>(case.route, input).on($rig).tag("customer", "acme");
        call = call.quality_gate(|output: &FcBase| output.answer != "no");
        if options.variant {
            call = call.variant(First);
        }
        if options.zero_retention {
            call = call.zero_retention();
        }
        if let Some(only) = &options.only {
            call = call.providers_only(only.iter().copied());
        }
        if let Some(most) = options.max_price {
            call = call.max_price(UsdPerMtok::nanos(most));
        }
        if let Some(ms) = options.deadline_ms {
            call = call.deadline(Duration::from_millis(ms));
        }
        call.providers_ignore(options.ignore.iter().copied())
    }};
}

/// Runs a case.
pub(super) fn run(case: &Case) -> Seen {
    let world = World::new(&case.script, case.leaves_in_wait);
    let store = MemoryStore::default();
    let builder = Rig::builder().ignore_env();
    let builder = case
        .keys
        .iter()
        .fold(builder, |builder, host| builder.key(*host, key(host)));
    let rig = builder
        .transport(world.clone())
        .clock(world.clone())
        .store(store.clone())
        .build()
        .unwrap();
    let result = if case.route.tools.is_empty() {
        drive(&world, call_of!(FcBase, case, &rig).run())
    } else {
        drive(&world, call_of!(Turn<FcBase>, case, &rig).run())
    };
    Seen {
        rows: store.rows(),
        asked: world.asked(),
        backoffs: world.backoffs(),
        backoffs_begun: world.backoffs_begun(),
        captures: tests::block_on(rig.captures(case.route.name)).unwrap(),
        result,
        ended: rig::Clock::monotonic(&world.clock).as_millis() as u64,
    }
}

/// Polls a call until it ends or its caller goes away.
fn drive<T: Serialize>(
    world: &World,
    call: impl Future<Output = rig::Result<Run<T>>>,
) -> Option<Result<(String, RunMeta), Error>> {
    const MOST_POLLS: u32 = 10_000;
    let mut call = pin!(call);
    let mut ctx = Context::from_waker(Waker::noop());
    for _ in 0..MOST_POLLS {
        if let Poll::Ready(result) = call.as_mut().poll(&mut ctx) {
            let plain = |run: Run<T>| (serde_json::to_string(&run.output).unwrap(), run.meta);
            return Some(result.map(plain));
        }
        if let Some(after) = world.leaving() {
            world.clock.advance(after);
            return None;
        }
    }
    panic!("the call waits for something that no script and no clock brings");
}
