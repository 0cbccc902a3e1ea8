//! What does a call with an envelope reserve, and what is it charged?

use std::pin::pin;
use std::task::{Context, Waker};
use std::time::Duration;

use proptest::prelude::*;
use rig::store::{EnvelopeState, StoreError};
use rig::testing::{ManualClock, MemoryStore, Scripted, ScriptedTransport};
use rig::{FailureClass, Rig, Usd};
use serde_json::json;
use tests::routes::{AnythingInput, GroundedInput, anything, grounded, ladder, mend};
use tests::{Watched, World, block_on, check};

use crate::{BOTH, GOOD, QUESTION, bad, fault, good, mend_input, question, shed};

/// What 100 tokens in and 20 out cost at `north`.
const COST: Usd = Usd::nanos(140_000);

/// What `providers` may add to a request, in tokens, as `docs/envelopes.md` says.
const ADDED: u64 = 1_024;

fn state(rig: &Rig, name: &str) -> EnvelopeState {
    block_on(rig.envelope(name)).unwrap().unwrap()
}

fn holds(rig: &Rig, spent: Usd, reserved: Usd) {
    let state = state(rig, "e");
    assert_eq!((state.spent, state.reserved), (spent, reserved));
}

/// Returns what asking `north` with this request body reserves: 1 USD per million tokens in, 2 per million out, and
/// `max_output_tokens` are 256.
fn bound(world: &World, request: usize) -> Usd {
    let bytes = world.transport.requests()[request].body.len() as u64;
    Usd::nanos((bytes + ADDED) * 1_000 + 256 * 2_000)
}

// E1: the first opener sets the cap: a call's own, else the rig's, else $25.
#[test]
fn the_first_opener_sets_the_cap() {
    let world = World::with_keys(BOTH);
    world.push([good(), good(), good()]);
    let call = |name: &str, cap| {
        block_on(ladder(question()).envelope(name, cap).on(&world.rig).run()).unwrap();
        state(&world.rig, name).cap
    };
    assert_eq!(call("plain", None), Usd::dollars(25));
    assert_eq!(call("plain", Some(Usd::dollars(1))), Usd::dollars(25));
    assert_eq!(call("own", Some(Usd::dollars(3))), Usd::dollars(3));
    let opened = block_on(world.rig.open_envelope("own", Usd::dollars(9))).unwrap();
    assert_eq!((opened.cap, opened.spent), (Usd::dollars(3), COST));
    assert_eq!(block_on(world.rig.envelope("nobody's")), Ok(None));

    let told = Rig::builder().ignore_env().envelope_cap(Usd::dollars(7));
    let told = told.store(MemoryStore::default()).build().unwrap();
    let opened = block_on(told.open_envelope("e", None)).unwrap();
    assert_eq!(opened.cap, Usd::dollars(7));
}

// E2, K6: reserved while the answer is on its way; what it cost if it comes, all of it if the caller has gone away.
#[test]
fn the_bound_is_reserved_and_what_it_cost_is_charged() {
    let world = World::with_keys(BOTH);
    world.push([good().after(Duration::from_secs(3)), good()]);
    {
        let call = ladder(question()).envelope("e", Usd::dollars(1));
        let mut call = pin!(call.on(&world.rig).run());
        let mut ctx = Context::from_waker(Waker::noop());
        while world.transport.requests().is_empty() {
            assert!(call.as_mut().poll(&mut ctx).is_pending());
        }
        holds(&world.rig, Usd::ZERO, bound(&world, 0));
    }
    let kept = bound(&world, 0);
    assert!(kept > COST);
    holds(&world.rig, kept, Usd::ZERO);
    let call = ladder(question()).envelope("e", None).on(&world.rig).run();
    assert_eq!(block_on(call).unwrap().meta.cost, COST);
    holds(&world.rig, kept + COST, Usd::ZERO);
}

// T1: what a provider does not tell the usage of is charged as it was reserved; K3: what it does tell, is not.
#[test]
fn unknown_usage_costs_what_was_reserved() {
    let world = World::with_keys(BOTH);
    world.push([Scripted::fault("the connection was reset"), bad(), good()]);
    let call = ladder(question()).envelope("e", Usd::dollars(1));
    block_on(call.on(&world.rig).run()).unwrap();
    let rows = world.store.rows();
    let ends: Vec<_> = rows.iter().map(|row| row.failure.is_some()).collect();
    assert_eq!(ends, [true, true, false]);
    assert_eq!(rows[0].tokens_in, None);
    holds(&world.rig, bound(&world, 0) + COST + COST, Usd::ZERO);
}

// E2, L5: what the envelope cannot cover is not dispatched and has no row, nobody else is asked, and the error says what
// is spent, reserved and the cap.
#[test]
fn an_exhausted_envelope_ends_the_run_before_the_dispatch() {
    let seen = check(
        BOTH,
        [],
        |rig| {
            ladder(question())
                .envelope("e", Usd::nanos(1_000))
                .on(rig)
                .run()
        },
        r#"
        ! budget_exhausted north/n1: the envelope `e` cannot cover the next dispatch, which may cost $0.002246: of $0.000001, $0.00 are spent and $0.00 reserved
        (north/n1 budget_exhausted)
        "#,
    );
    let failure = seen.error().failure().unwrap();
    assert_eq!(failure.class, FailureClass::BudgetExhausted);
    let expected = EnvelopeState {
        name: "e".to_owned(),
        cap: Usd::nanos(1_000),
        spent: Usd::ZERO,
        reserved: Usd::ZERO,
    };
    assert_eq!(failure.envelope, Some(expected));
}

// E2, L7: a repair and a retry are dispatches like others.
#[test]
fn a_repair_is_held_to_the_envelope() {
    let world = World::with_keys(BOTH);
    world.push([bad()]);
    // Just enough for the task, whose output nothing bounds but the largest context window there is.
    let plain = World::with_keys(BOTH);
    plain.push([good()]);
    block_on(mend(mend_input()).on(&plain.rig).run()).unwrap();
    let bytes = plain.transport.requests()[0].body.len() as u64;
    let cap = Usd::nanos((bytes + ADDED) * 1_000 + 2_000_000 * 2_000);
    let call = mend(mend_input()).envelope("e", cap);
    let error = block_on(call.on(&world.rig).run()).unwrap_err();
    assert_eq!(
        error.class(),
        Some(FailureClass::BudgetExhausted),
        "{error}"
    );
    let history = &error.failure().unwrap().history;
    assert_eq!(
        history,
        "north/n1 content_invalid, north/n1 (repair) budget_exhausted"
    );
    assert_eq!(world.store.rows().len(), 1);
    assert_eq!(world.transport.requests().len(), 1);
}

// E2: so is the search, whose cost is known.
#[test]
fn a_search_is_held_to_the_envelope() {
    let input = || GroundedInput {
        question: QUESTION.to_owned(),
    };
    let world = World::with_keys("north search");
    let call = grounded(input()).envelope("e", Usd::nanos(4_999_999));
    let error = block_on(call.on(&world.rig).run()).unwrap_err();
    assert_eq!(error.class(), Some(FailureClass::BudgetExhausted));
    assert!(error.to_string().contains("which may cost $0.005"));
    assert_eq!(
        (world.store.rows().len(), world.transport.requests().len()),
        (0, 0)
    );

    let found = json!({ "results": [] }).to_string();
    world.push([Scripted::status(200, found), good()]);
    let call = grounded(input()).envelope("paid", Usd::dollars(25));
    block_on(call.on(&world.rig).run()).unwrap();
    let spent = state(&world.rig, "paid").spent;
    assert_eq!(spent, Usd::nanos(5_000_000) + COST);
}

// E3: 30 USD per million tokens in and 180 out, while the row has no cost.
#[test]
fn an_unpriced_model_is_reckoned_at_the_conservative_rate() {
    let input = || AnythingInput {
        data: json!({}),
        count: 1,
        note: None,
    };
    let world = World::with_keys("");
    world.push([good()]);
    let call = anything(input()).envelope("e", Usd::dollars(1_000));
    block_on(call.on(&world.rig).run()).unwrap();
    let row = &world.store.rows()[0];
    assert_eq!((row.cost, row.pricing_missing), (Usd::ZERO, true));
    holds(
        &world.rig,
        Usd::nanos(100 * 30_000 + 20 * 180_000),
        Usd::ZERO,
    );
    // Nothing bounds its output but the largest context window there is: 2,000,000 tokens out are $360.
    let call = anything(input()).envelope("small", Usd::dollars(360));
    let error = block_on(call.on(&world.rig).run()).unwrap_err();
    assert_eq!(error.class(), Some(FailureClass::BudgetExhausted));
}

// T5: money fails closed, and only where money was asked for.
#[test]
fn what_cannot_be_reserved_is_not_dispatched() {
    let clock = ManualClock::new();
    let transport = ScriptedTransport::new(&clock);
    transport.push(good());
    let rows = MemoryStore::default();
    let builder = Rig::builder().ignore_env().key("north", "k");
    let builder = builder.transport(transport.clone()).clock(clock);
    let broke = Watched::new(rows.clone(), |_| {
        let reason = "the disk is full".to_owned();
        Err(StoreError::Failed { reason })
    });
    let rig = builder.store(broke).build().unwrap();
    let call = ladder(question()).envelope("e", None).on(&rig).run();
    let error = block_on(call).unwrap_err();
    let failure = error.failure().unwrap();
    assert_eq!(failure.class, FailureClass::BudgetExhausted);
    assert_eq!(failure.envelope, None);
    assert_eq!(
        failure.message,
        "nothing could be reserved in the envelope `e`: the telemetry store failed: the disk is full"
    );
    assert_eq!((rows.rows().len(), transport.requests().len()), (0, 0));
    block_on(ladder(question()).on(&rig).run()).unwrap();
    assert_eq!(rows.rows().len(), 1);
}

fn reply(kind: u8) -> Scripted {
    match kind {
        0 => good(),
        1 => bad(),
        2 => shed(),
        3 => fault(500, "server_error", "down"),
        4 => Scripted::fault("connection refused"),
        5 => Scripted::chat(GOOD).after(Duration::from_secs(61)),
        _ => fault(401, "invalid_api_key", "no"),
    }
}

proptest! {
    // E2: whatever happens to runs, nothing more than the cap is spent, nothing stays reserved, and what is spent is at
    // least what the rows cost.
    #[test]
    fn no_sequence_of_runs_spends_past_the_cap(
        runs in proptest::collection::vec(proptest::collection::vec(0_u8..7, 12), 1..6),
        cap in 0_u64..40_000_000,
    ) {
        let world = World::with_keys(BOTH);
        let cap = Usd::nanos(cap);
        block_on(world.rig.open_envelope("e", cap)).unwrap();
        for script in runs {
            world.push(script.into_iter().map(reply));
            let before = world.store.rows().len();
            let result = block_on(ladder(question()).envelope("e", None).on(&world.rig).run());
            let state = state(&world.rig, "e");
            prop_assert_eq!(state.reserved, Usd::ZERO);
            prop_assert!(state.spent <= cap);
            let rows = world.store.rows();
            prop_assert!(state.spent >= rows.iter().map(|row| row.cost).sum());
            prop_assert_eq!(rows.len(), world.transport.requests().len());
            if let Err(error) = result {
                let exhausted = error.class() == Some(FailureClass::BudgetExhausted);
                prop_assert_eq!(exhausted, error.failure().unwrap().envelope.is_some());
                prop_assert!(exhausted || rows.len() > before);
            }
        }
    }
}
