//! What remains of a call whose caller went away?

use std::pin::pin;
use std::task::{Context, Waker};
use std::time::Duration;

use rig::store::RowFailure;
use tests::World;
use tests::routes::{ladder, mend};

use crate::{BOTH, bad, good, mend_input, question, shed};

/// Polls a call until this many requests were sent, lets `after` happen, and drops it.
fn dropped(world: &World, call: impl Future, requests: usize, after: impl FnOnce()) {
    let mut call = pin!(call);
    let mut ctx = Context::from_waker(Waker::noop());
    for _ in 0..1_000 {
        assert!(call.as_mut().poll(&mut ctx).is_pending(), "the call ended");
        if world.transport.requests().len() == requests {
            after();
            return;
        }
    }
    panic!("no request number {requests}");
}

fn ends(world: &World) -> Vec<&'static str> {
    let end = |end: Option<RowFailure>| end.map_or("conformant", RowFailure::name);
    world
        .store
        .rows()
        .iter()
        .map(|row| end(row.failure))
        .collect()
}

// L11, K6: dropped while the answer is on its way.
#[test]
fn what_was_dispatched_has_its_row() {
    let world = World::with_keys(BOTH);
    world.push([good().after(Duration::from_secs(3))]);
    let call = ladder(question()).tag("customer", "acme").on(&world.rig);
    dropped(&world, call.run(), 1, || {
        world.clock.advance(Duration::from_millis(120));
    });
    let rows = world.store.rows();
    let [row] = rows.as_slice() else {
        panic!("{rows:?}")
    };
    assert_eq!(row.failure, Some(RowFailure::Cancelled));
    assert_eq!((row.tokens_in, row.tokens_out), (None, None));
    assert_eq!((row.attempt, row.latency_ms, row.ttfb_ms), (1, 120, None));
    assert_eq!((&*row.provider, &*row.model), ("north", "n1"));
    assert_eq!(row.tags["customer"], "acme");
}

// L11: dropped between two attempts nothing is under way, so there is nothing to mark.
#[test]
fn a_call_that_is_dropped_while_it_waits_keeps_its_rows_as_they_are() {
    let world = World::with_keys(BOTH);
    world.push([shed(), good()]);
    dropped(&world, ladder(question()).on(&world.rig).run(), 1, || {});
    assert_eq!(ends(&world), ["capacity_shed"]);
    assert!(world.clock.waits().is_empty());
}

// L11: in the middle of the ladder, here of the repair rung.
#[test]
fn a_cancelled_repair_says_who_was_repairing() {
    let world = World::with_keys(BOTH);
    world.push([bad(), good().after(Duration::from_secs(3))]);
    dropped(&world, mend(mend_input()).on(&world.rig).run(), 2, || {});
    assert_eq!(ends(&world), ["content_invalid", "cancelled"]);
    let row = &world.store.rows()[1];
    assert_eq!(
        (row.attempt, row.repaired_by.as_deref()),
        (2, Some("north/n1"))
    );
}
