//! What an envelope is charged for a dispatch, and what the row says that it cost.

mod searches;

use std::pin::pin;
use std::task::{Context, Waker};
use std::time::Duration;

use rig::store::AttemptRow;
use rig::testing::{Scripted, chat_completion};
use rig::{FailureClass, Usd};
use serde_json::Value;
use tests::routes::{TierOpenInput, TierPriorityInput, ladder, tier_open, tier_priority};
use tests::{World, block_on};

use crate::{BOTH, GOOD, QUESTION, fault, good, question, shed};

/// What 100 tokens in and 20 out cost at `south`, the second candidate.
const SOUTH: Usd = Usd::nanos(14_000);

fn spent(world: &World, name: &str) -> Usd {
    let state = block_on(world.rig.envelope(name)).unwrap().unwrap();
    assert_eq!(state.reserved, Usd::ZERO);
    state.spent
}

/// Fails the first candidate of `ladder` with this, as often as it is asked, and serves from the second one.
fn after(failure: &Scripted) -> (World, Vec<AttemptRow>) {
    let world = World::with_keys(BOTH);
    for _ in 0..8 {
        world.push([failure.clone()]);
    }
    let call = ladder(question()).envelope("e", None).on(&world.rig).run();
    let _ = block_on(call);
    let rows = world.store.rows();
    (world, rows)
}

// E2: what cannot have been billed is charged nothing, and its cost is known to be nothing.
#[test]
fn what_cannot_have_been_billed_is_charged_nothing() {
    let statuses = [400, 401, 403, 404, 409, 422, 429, 500, 502, 503, 529, 599];
    let failures = statuses.map(|status| fault(status, "", "no"));
    let unsent = ["connection refused", "TLS failed"].map(Scripted::unsent);
    for failure in failures.into_iter().chain(unsent) {
        let (world, rows) = after(&failure);
        assert!(rows.len() >= 2, "{failure:?}");
        assert_eq!(spent(&world, "e"), Usd::ZERO, "{failure:?}");
        let all_known = rows.iter().all(|row| !row.usage_missing);
        assert!(all_known, "{failure:?}");
    }
}

// E2, T1: what may have been billed keeps its reservation, and the row says that its cost is a lower bound.
#[test]
fn what_may_have_been_billed_keeps_its_reservation() {
    let quiet = Scripted::status(200, r#"{"choices":[{"message":{"content":"x"}}]}"#);
    let failures = [
        Scripted::fault("the connection was reset"),
        good().after(Duration::from_secs(61)),
        good().body_after(Duration::from_secs(61)),
        Scripted::stream().cut("the connection was reset"),
        Scripted::status(200, "<html>"),
        quiet,
    ];
    for failure in failures {
        let (world, rows) = after(&failure);
        assert!(rows.iter().all(|row| row.usage_missing), "{failure:?}");
        assert!(spent(&world, "e") > Usd::ZERO, "{failure:?}");
    }
}

// E2, K6: a caller who goes away before the request was sent is charged nothing, and one who goes away later what was
// reserved.
#[test]
fn a_caller_who_goes_away_pays_for_what_was_sent() {
    for (is_held, leaves) in [(true, false), (true, true), (false, false)] {
        let world = World::with_keys(BOTH);
        world.push([good().after(Duration::from_secs(3))]);
        {
            let mut call = pin!(ladder(question()).envelope("e", None).on(&world.rig).run());
            let mut ctx = Context::from_waker(Waker::noop());
            while world.transport.requests().is_empty() {
                assert!(call.as_mut().poll(&mut ctx).is_pending());
            }
            let departure = world.transport.requests().pop().unwrap().departure;
            if is_held {
                departure.hold();
            }
            if leaves {
                assert!(departure.leave());
            }
        }
        let is_free = is_held && !leaves;
        let row = &world.store.rows()[0];
        assert_eq!(row.failure.map(|end| end.name()), Some("cancelled"));
        assert_eq!(row.usage_missing, !is_free);
        assert_eq!(spent(&world, "e") == Usd::ZERO, is_free);
    }
}

// E2: an outage of the first candidate costs nothing, so that a cap which just covers the second one lasts.
#[test]
fn an_outage_of_the_first_candidate_costs_nothing() {
    const CALLS: u64 = 1_000;
    // With how often the route's budgets let the candidate be asked.
    let outages = [
        (Scripted::unsent("connection refused"), 2),
        (fault(503, "", "down"), 3),
        (fault(401, "", "no"), 1),
        (fault(404, "model_not_found", "gone"), 1),
        (shed(), 3),
    ];
    let world = World::with_keys(BOTH);
    // What the calls cost at the second candidate, and room for the bound of one more dispatch.
    let cap = Usd::nanos(SOUTH.as_nanos() * CALLS + 3_000_000);
    block_on(world.rig.open_envelope("e", cap)).unwrap();
    let mut dispatches = 0;
    for number in 0..CALLS {
        let (outage, times) = &outages[number as usize % outages.len()];
        world.push(vec![outage.clone(); *times]);
        world.push([good()]);
        let call = ladder(question()).envelope("e", None).on(&world.rig).run();
        let run = block_on(call).unwrap_or_else(|error| panic!("call {number}: {error}"));
        assert_eq!(run.meta.provider, "south");
        dispatches += times + 1;
    }
    assert_eq!(world.store.rows().len(), dispatches);
    assert_eq!(spent(&world, "e"), Usd::nanos(SOUTH.as_nanos() * CALLS));
    let cost: Usd = world.store.rows().iter().map(|row| row.cost).sum();
    assert_eq!(cost, spent(&world, "e"));
}

fn served_at(tier: Option<&str>) -> Scripted {
    let text = chat_completion(GOOD, "stop", 1_000, 200);
    let mut body: Value = serde_json::from_str(&text).unwrap();
    if let Some(tier) = tier {
        body["service_tier"] = tier.into();
    }
    Scripted::status(200, body.to_string())
}

// E5: the cost is that of the tier that served: gpt-5.4 costs 2.50 and 15 USD per million tokens, half of that at flex and
// twice at priority.
#[test]
fn money_follows_the_tier_that_served() {
    let standard = Usd::nanos(1_000 * 2_500 + 200 * 15_000);
    let half = Usd::nanos(standard.as_nanos() / 2);
    let twice = Usd::nanos(standard.as_nanos() * 2);
    let open = || TierOpenInput {
        question: QUESTION.to_owned(),
    };
    let priority = || TierPriorityInput {
        question: QUESTION.to_owned(),
    };
    for (tier, without, with_priority) in [
        (None, standard, twice),
        (Some("default"), standard, standard),
        (Some("flex"), half, twice),
        (Some("priority"), twice, twice),
        (Some("a word"), standard, twice),
    ] {
        let world = World::with_keys("openai");
        world.push([served_at(tier), served_at(tier)]);
        let call = tier_open(open())
            .envelope("open", None)
            .on(&world.rig)
            .run();
        let meta = block_on(call).unwrap().meta;
        assert_eq!(
            (meta.cost, spent(&world, "open")),
            (without, without),
            "{tier:?}"
        );
        let call = tier_priority(priority()).envelope("priority", None);
        let meta = block_on(call.on(&world.rig).run()).unwrap().meta;
        let found = (meta.cost, spent(&world, "priority"));
        assert_eq!(found, (with_priority, with_priority), "{tier:?}");
        let costs: Vec<_> = world.store.rows().iter().map(|row| row.cost).collect();
        assert_eq!(costs, [without, with_priority], "{tier:?}");
    }
}

// E5: a reservation covers every tier that may serve, so that no cap is passed whichever does.
#[test]
fn a_reservation_covers_every_tier_that_may_serve() {
    let input = || TierOpenInput {
        question: QUESTION.to_owned(),
    };
    let plain = World::with_keys("openai");
    plain.push([served_at(None)]);
    block_on(tier_open(input()).on(&plain.rig).run()).unwrap();
    let bytes = plain.transport.requests()[0].body.len() as u64;
    let most = |rate_in: u64, rate_out: u64| (bytes + 1_024) * rate_in + 256 * rate_out;
    let (at_standard, at_priority) = (most(2_500, 15_000), most(5_000, 30_000));
    for (cap, is_served) in [
        (at_standard, false),
        (at_priority - 1, false),
        (at_priority, true),
    ] {
        let world = World::with_keys("openai");
        world.push([served_at(Some("priority"))]);
        let call = tier_open(input()).envelope("e", Usd::nanos(cap));
        let result = block_on(call.on(&world.rig).run());
        assert_eq!(result.is_ok(), is_served);
        assert!(spent(&world, "e") <= Usd::nanos(cap));
        if let Err(error) = result {
            assert_eq!(error.class(), Some(FailureClass::BudgetExhausted));
        }
    }
}

// E2: a usage beyond what the request can have used is on the row as it was reported, and charged at the reservation.
#[test]
fn no_usage_is_charged_beyond_its_reservation() {
    for (tokens_in, tokens_out) in [
        (u64::MAX, 1),
        (1, u64::MAX),
        (u64::MAX, u64::MAX),
        (9_000_000, 20),
        (100, 9_000_000),
    ] {
        let world = World::with_keys(BOTH);
        let reply = chat_completion(GOOD, "stop", tokens_in, tokens_out);
        world.push([Scripted::status(200, reply)]);
        let cap = Usd::nanos(4_000_000);
        let call = ladder(question()).envelope("e", cap).on(&world.rig).run();
        block_on(call).unwrap();
        let bytes = world.transport.requests()[0].body.len() as u64;
        let reserved = Usd::nanos((bytes + 1_024) * 1_000 + 256 * 2_000);
        assert_eq!(spent(&world, "e"), reserved);
        let row = &world.store.rows()[0];
        assert_eq!(
            (row.tokens_in, row.tokens_out),
            (Some(tokens_in), Some(tokens_out))
        );
        assert!(row.cost > reserved);
    }
}
