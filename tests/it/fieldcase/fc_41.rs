//! FC-41: the caller drops the call in flight, or panics.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::task::{Context, Waker};
use std::time::Duration;

use rig::__private::Policy;
use rig::testing::Scripted;
use rig::{Call, FailureClass, Usd};
use tests::routes::fc_base::FcBase;
use tests::{World, block_on};

use super::Case;
use super::ladder::{DEEPSEEK_A, SHORT, ask, classes, response, retries, route, world};

const CAP: Usd = Usd::nanos(100_000_000);

fn call() -> Call<FcBase> {
    let policy = Policy {
        sampling: SHORT,
        ..retries(&[(FailureClass::CapacityShed, 1)])
    };
    ask::<FcBase>(route(&DEEPSEEK_A, None, policy)).envelope("e1", CAP)
}

/// Lets a run go as far as it can, and polls it no more.
fn poll(run: Pin<&mut impl Future>) {
    assert!(
        run.poll(&mut Context::from_waker(Waker::noop()))
            .is_pending()
    );
}

/// E4: what may have been billed is spent, none of it is left reserved, and the next run pays from the same envelope.
fn goes_on(case: &Case, world: &World) {
    let state = || block_on(world.rig.envelope("e1")).unwrap().unwrap();
    let before = state();
    // E2: a 503 is charged nothing.
    let is_free = classes(world) == [Some("capacity_shed")];
    assert_eq!(before.spent == Usd::ZERO, is_free, "{before:?}");
    assert!(before.spent <= CAP, "{before:?}");
    assert_eq!(before.reserved, Usd::ZERO);
    world.push([response(case, "ok.http")]);
    let run = block_on(call().on(&world.rig).run()).unwrap();
    assert_eq!(state().spent, before.spent + run.meta.run_cost);
}

// L11, K6: dropped in flight, in the wait before a retry, and before anything was done.
#[test]
fn fc_41_the_caller_drops_the_call_in_flight() {
    let Some(case) = Case::open("FC-41") else {
        return;
    };
    let ok = || response(&case, "ok.http").after(Duration::from_secs(2));
    let busy = Scripted::status(503, "busy");
    for (script, expected) in [
        (vec![ok()], vec![Some("cancelled")]),
        (vec![busy, ok()], vec![Some("capacity_shed")]),
    ] {
        let world = world();
        world.push(script);
        {
            let mut run = pin!(call().on(&world.rig).run());
            poll(run.as_mut());
        }
        assert_eq!(classes(&world), expected);
        assert_eq!(world.transport.requests().len(), 1);
        goes_on(&case, &world);
    }
    let world = world();
    drop(call().on(&world.rig).run());
    assert_eq!(classes(&world), []);
    assert_eq!(world.transport.requests().len(), 0);
    assert_eq!(block_on(world.rig.envelope("e1")).unwrap(), None);
}

// L11, K6: the caller's task panics next to its run, which the unwinding drops.
#[test]
fn fc_41_the_caller_panics_next_to_the_run() {
    let Some(case) = Case::open("FC-41") else {
        return;
    };
    let world = world();
    world.push([response(&case, "ok.http").after(Duration::from_secs(2))]);
    let task = AssertUnwindSafe(|| {
        let mut run = pin!(call().on(&world.rig).run());
        poll(run.as_mut());
        panic!("next to it");
    });
    let panic: Result<(), _> = catch_unwind(task);
    assert_eq!(
        *panic.unwrap_err().downcast::<&str>().unwrap(),
        "next to it"
    );
    assert_eq!(classes(&world), [Some("cancelled")]);
    assert_eq!(world.store.rows()[0].tokens_in, None);
    goes_on(&case, &world);
}

// L11, K3: the caller's own judgement panics in the run. What the answer used is known, and is what is charged.
#[test]
fn fc_41_the_callers_quality_gate_panics() {
    let Some(case) = Case::open("FC-41") else {
        return;
    };
    let world = world();
    world.push([response(&case, "ok.http")]);
    let run = AssertUnwindSafe(|| {
        let call = call().quality_gate(|_| panic!("in it"));
        block_on(call.on(&world.rig).run())
    });
    let panic = catch_unwind(run).unwrap_err();
    assert_eq!(*panic.downcast::<&str>().unwrap(), "in it");
    assert_eq!(classes(&world), [Some("cancelled")]);
    let row = &world.store.rows()[0];
    let cost = Usd::nanos(100 * 2_000 + 20 * 10_000);
    assert_eq!(
        (row.tokens_in, row.tokens_out, row.cost),
        (Some(100), Some(20), cost)
    );
    let state = block_on(world.rig.envelope("e1")).unwrap().unwrap();
    assert_eq!((state.spent, state.reserved), (cost, Usd::ZERO));
    goes_on(&case, &world);
}
