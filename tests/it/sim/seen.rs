//! What has come of a case, run on the real ladder?

use std::cell::RefCell;
use std::future::poll_fn;
use std::mem;
use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use rig::__private::{RouteVariant, call};
use rig::store::{AttemptRow, Capture};
use rig::testing::MemoryStore;
use rig::{
    CacheHandle, Error, Event, Events, FailureClass, Rig, Run, RunMeta, Turn, Usd, UsdPerMtok,
};
use serde::Serialize;
use serde_json::json;
use tests::Watched;
use tests::routes::fc_base::FcBase;

use super::case::Case;
use super::world::{Asked, HANDLE, TASK, World, key};

/// What came of one run.
pub(super) struct Seen {
    pub(super) rows: Vec<AttemptRow>,
    pub(super) asked: Vec<Asked>,
    /// The waits before retries, in milliseconds.
    pub(super) backoffs: Vec<u64>,
    pub(super) backoffs_begun: usize,
    pub(super) captures: Vec<Capture>,
    /// What was to be reserved, in order.
    pub(super) amounts: Vec<u64>,
    /// What the envelope has spent and reserved in the end.
    pub(super) envelope: (u64, u64),
    /// What a caller who listens has heard before the end.
    pub(super) told: Vec<Told>,
    /// The output as JSON, and the meta; nothing where the caller went away.
    pub(super) result: Option<Result<(String, RunMeta), Error>>,
    /// When the run had ended, in milliseconds.
    pub(super) ended: u64,
}

/// What a caller hears of an attempt.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Told {
    Started(u32, String, String),
    Delta(u32, String),
    Discarded(u32, FailureClass),
}

/// The name of the envelope that pays.
const ENVELOPE: &str = "purse";

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
        if options.handle {
            call = call.cache(CacheHandle::new("echo", HANDLE));
        }
        if let Some(cap) = options.cap {
            call = call.envelope(ENVELOPE, Usd::nanos(cap));
        }
        call.providers_ignore(options.ignore.iter().copied())
    }};
}

/// Runs a case.
pub(super) fn run(case: &Case) -> Seen {
    let world = World::new(&case.script, case.leaves_in_wait);
    let store = MemoryStore::default();
    // What is to be reserved, in nano-dollars; what the envelope refuses is the last.
    let amounts = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&amounts);
    let watched = Watched::new(store.clone(), move |wanted| {
        seen.lock().unwrap().push(wanted.amount.as_nanos());
        Ok(())
    });
    let builder = Rig::builder().ignore_env();
    let builder = case
        .keys
        .iter()
        .fold(builder, |builder, host| builder.key(*host, key(host)));
    let rig = builder
        .transport(world.clone())
        .clock(world.clone())
        .store(watched)
        .build()
        .unwrap();
    let told = RefCell::default();
    let result = match (case.route.tools.is_empty(), case.options.streams) {
        (true, false) => drive(&world, call_of!(FcBase, case, &rig).run()),
        (false, false) => drive(&world, call_of!(Turn<FcBase>, case, &rig).run()),
        (true, true) => drive(&world, listen(call_of!(FcBase, case, &rig).stream(), &told)),
        (false, true) => drive(
            &world,
            listen(call_of!(Turn<FcBase>, case, &rig).stream(), &told),
        ),
    };
    let envelope = tests::block_on(rig.envelope(ENVELOPE)).unwrap();
    let sums =
        |state: rig::store::EnvelopeState| (state.spent.as_nanos(), state.reserved.as_nanos());
    Seen {
        rows: store.rows(),
        amounts: amounts.lock().unwrap().clone(),
        envelope: envelope.map_or((0, 0), sums),
        told: told.into_inner(),
        asked: world.asked(),
        backoffs: world.backoffs(),
        backoffs_begun: world.backoffs_begun(),
        captures: tests::block_on(rig.captures(case.route.name)).unwrap(),
        result,
        ended: rig::Clock::monotonic(&world.clock).as_millis() as u64,
    }
}

/// Hears a run to its end.
async fn listen<T>(mut events: Events<T>, told: &RefCell<Vec<Told>>) -> rig::Result<Run<T>> {
    loop {
        let event = events.next().await.expect("a run tells its end")?;
        let event = match event {
            Event::Done(run) => return Ok(run),
            Event::Started {
                attempt,
                provider,
                model,
                ..
            } => Told::Started(attempt, provider.into_owned(), model.into_owned()),
            Event::Delta { attempt, text, .. } => Told::Delta(attempt, text),
            Event::Discarded { attempt, class, .. } => Told::Discarded(attempt, class),
            other => panic!("{:?}", std::mem::discriminant(&other)),
        };
        told.borrow_mut().push(event);
        // The caller may go away between two events.
        let mut is_back = false;
        poll_fn(|_| match mem::replace(&mut is_back, true) {
            true => Poll::Ready(()),
            false => Poll::Pending,
        })
        .await;
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
