//! What has come of a case, run on the real ladder?

use std::cell::RefCell;
use std::collections::HashMap;
use std::pin::Pin;
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

use super::asked::{Asked, key};
use super::case::Case;
use super::model::Observed;
use super::world::{HANDLE, Pausing, TASKS, World};

/// What came of one run. Times are in milliseconds from its start.
pub(super) struct Seen {
    /// Which of the world's runs it is.
    pub(super) run: usize,
    pub(super) rows: Vec<AttemptRow>,
    pub(super) asked: Vec<Asked>,
    /// The waits before retries.
    pub(super) backoffs: Vec<u64>,
    pub(super) backoffs_begun: usize,
    pub(super) captures: Vec<Capture>,
    /// What was to be reserved, in order: ids, and amounts in nano-dollars.
    pub(super) reserves: Vec<(String, u64)>,
    /// What was taken from the envelope, by id.
    pub(super) charges: HashMap<String, Option<u64>>,
    /// What the envelope has spent and reserved in the end.
    pub(super) envelope: (u64, u64),
    /// The waits for the store and for the caller's gate, from when to when.
    pub(super) pauses: Vec<(u64, u64)>,
    /// What was waited for when the caller went away.
    pub(super) pausing: Option<Pausing>,
    /// Whether the transport held back the last request.
    pub(super) is_held: bool,
    /// What a caller who listens has heard before the end.
    pub(super) told: Vec<Told>,
    /// The output as JSON, and the meta; nothing where the caller went away.
    pub(super) result: Option<Ended>,
    /// When the last attempt or wait before the rows' had ended.
    pub(super) ended: u64,
    /// When the call returned.
    pub(super) returned: u64,
    /// How often the call was polled.
    pub(super) polls: usize,
}

/// How a call ended that was not given up.
pub(super) type Ended = Result<(String, RunMeta), Error>;

/// A call that is under way.
pub(super) type Calling<'a> = Pin<Box<dyn Future<Output = Ended> + 'a>>;

/// What a caller hears of an attempt.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Told {
    Started(u32, String, String),
    Delta(u32, String),
    Discarded(u32, FailureClass),
}

/// The name of the envelope that pays.
pub(super) const ENVELOPE: &str = "purse";

/// The first variant.
#[derive(Clone, Copy)]
struct First;

impl RouteVariant for First {
    fn index(self) -> usize {
        0
    }
}

/// The tag of each run.
pub(super) const CUSTOMERS: [&str; 2] = ["acme", "bolt"];

/// The call of a case, with its options.
macro_rules! call_of {
    ($output:ty, $case:expr, $world:expr) => {{
        let (case, options): (&Case, _) = ($case, &$case.options);
        let (world, run): (&World, usize) = $world;
        let input = json!({ "question": TASKS[run] });
        let mut call = call::<$output, First>(case.route, input).tag("customer", CUSTOMERS[run]);
        call = match options.gate_ms {
            None => call.quality_gate(|output: &FcBase| output.answer != "no"),
            Some(ms) => {
                let world = world.clone();
                call.quality_gate_async(move |output: &FcBase| {
                    let (world, accepts) = (world.clone(), output.answer != "no");
                    Box::pin(async move {
                        world.judge(ms).await;
                        accepts
                    })
                })
            }
        };
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

/// A rig in a world, and what it keeps.
pub(super) struct Bed {
    pub(super) world: World,
    pub(super) rig: Rig,
    pub(super) store: MemoryStore,
}

impl Bed {
    /// Returns the bed of these cases, whose routes are called with the keys of the first.
    pub(super) fn new(cases: &[&Case]) -> Self {
        let world = World::new(cases);
        let store = MemoryStore::default();
        let (reserves, answers) = (world.clone(), world.clone());
        let watched = Watched::new(store.clone(), move |wanted| {
            reserves.reserves(wanted);
            Ok(())
        });
        let watched = watched.delayed(move |waits| answers.answers(waits));
        let mut builder = Rig::builder().ignore_env();
        for host in &cases[0].keys {
            builder = builder.key(*host, key(host));
        }
        let builder = builder.transport(world.clone()).clock(world.clone());
        Self {
            rig: builder.store(watched).build().unwrap(),
            world,
            store,
        }
    }

    /// Returns the call of a case, as this run of the world.
    pub(super) fn call<'a>(
        &'a self,
        case: &'a Case,
        run: usize,
        told: &'a RefCell<Vec<Told>>,
    ) -> Calling<'a> {
        let (world, rig) = (&self.world, &self.rig);
        match (case.route.tools.is_empty(), case.options.streams) {
            (true, false) => {
                let call = call_of!(FcBase, case, (world, run)).on(rig).run();
                Box::pin(async { plain(call.await) })
            }
            (false, false) => {
                let call = call_of!(Turn<FcBase>, case, (world, run)).on(rig).run();
                Box::pin(async { plain(call.await) })
            }
            (true, true) => {
                let events = call_of!(FcBase, case, (world, run)).on(rig).stream();
                Box::pin(async { plain(listen(world, events, told).await) })
            }
            (false, true) => {
                let events = call_of!(Turn<FcBase>, case, (world, run)).on(rig).stream();
                Box::pin(async { plain(listen(world, events, told).await) })
            }
        }
    }

    /// Returns what has come of the run whose turn it is.
    pub(super) fn seen(&self, case: &Case, run: usize, told: Vec<Told>, ended: End) -> Seen {
        let charges = tests::block_on(self.rig.charges(ENVELOPE)).unwrap();
        let nanos = |usd: Usd| usd.as_nanos();
        let state = self.world.state();
        // Of two runs, whose rows those are is told by what paid for them, and by nothing that they say themselves.
        let is_own = |id: &str| {
            !self.world.is_shared() || state.reserves.iter().any(|(reserved, _)| reserved == id)
        };
        let mut rows = self.store.rows();
        rows.retain(|row| is_own(&row.id));
        let mut captures = tests::block_on(self.rig.captures(case.route.name)).unwrap();
        captures.retain(|capture| is_own(&capture.id));
        Seen {
            run,
            rows,
            captures,
            asked: state.asked.clone(),
            backoffs: state.backoffs.clone(),
            backoffs_begun: state.backoffs_begun,
            reserves: state.reserves.clone(),
            charges: charges
                .into_iter()
                .map(|charge| (charge.id, charge.charged.map(nanos)))
                .collect(),
            envelope: self.sums(),
            pauses: state.pauses.clone(),
            pausing: ended.pausing,
            is_held: state.is_held,
            told,
            result: ended.result,
            ended: state.flushed.unwrap_or(ended.returned),
            returned: ended.returned,
            polls: ended.polls,
        }
    }

    /// What the envelope has spent and reserved, in nano-dollars.
    pub(super) fn sums(&self) -> (u64, u64) {
        let state = tests::block_on(self.rig.envelope(ENVELOPE)).unwrap();
        state.map_or((0, 0), |state| {
            (state.spent.as_nanos(), state.reserved.as_nanos())
        })
    }
}

impl Seen {
    /// Returns the facts that the model takes from the run.
    pub(super) fn observed(&self) -> Observed {
        Observed {
            backoffs: self.backoffs.clone(),
            amounts: self.reserves.iter().map(|(_, amount)| *amount).collect(),
            grants: None,
            bytes: self.asked.iter().map(|asked| asked.bytes).collect(),
        }
    }
}

/// The end of a call.
pub(super) struct End {
    /// Nothing where the caller went away.
    pub(super) result: Option<Ended>,
    /// How often it was polled.
    pub(super) polls: usize,
    /// What was waited for when the caller went away.
    pub(super) pausing: Option<Pausing>,
    /// When, in milliseconds from the run's start.
    pub(super) returned: u64,
}

impl End {
    /// Returns the end of the run whose turn it is. The call is dropped after it.
    pub(super) fn now(world: &World, result: Option<Ended>, polls: usize) -> Self {
        let pausing = world.state().pausing;
        Self {
            result,
            polls,
            pausing,
            returned: world.now(),
        }
    }
}

fn plain<T: Serialize>(result: rig::Result<Run<T>>) -> Ended {
    let plain = |run: Run<T>| (serde_json::to_string(&run.output).unwrap(), run.meta);
    result.map(plain)
}

/// Runs a case.
pub(super) fn run(case: &Case) -> Seen {
    run_until(case, usize::MAX)
}

/// Runs a case, and has the caller go away after so many polls.
pub(super) fn run_until(case: &Case, polls: usize) -> Seen {
    let bed = Bed::new(&[case]);
    let told = RefCell::default();
    let ended = drive(&bed.world, bed.call(case, 0, &told), polls);
    let told = told.take();
    bed.seen(case, 0, told, ended)
}

/// Hears a run to its end.
async fn listen<T>(
    world: &World,
    mut events: Events<T>,
    told: &RefCell<Vec<Told>>,
) -> rig::Result<Run<T>> {
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
        world.step_aside().await;
    }
}

/// Polls a call until it ends or its caller goes away, at the latest after so many polls.
fn drive(world: &World, mut call: Calling<'_>, most: usize) -> End {
    const MOST_POLLS: usize = 10_000;
    let mut ctx = Context::from_waker(Waker::noop());
    let end = |result, polls| End::now(world, result, polls);
    for polls in 0..most.min(MOST_POLLS) {
        if let Poll::Ready(result) = call.as_mut().poll(&mut ctx) {
            return end(Some(result), polls + 1);
        }
        if let Some(after) = world.leaving() {
            world.clock.advance(after);
            return end(None, polls + 1);
        }
    }
    assert!(
        most < MOST_POLLS,
        "the call waits for something that no script and no clock brings"
    );
    end(None, most)
}
