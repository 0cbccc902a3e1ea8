//! C9: no run is worse than the bounds that the compiler has computed, and the worst one reaches them.

use std::time::Duration;

use proptest::prelude::*;
use rig::Usd;
use rig::testing::{Scripted, chat_completion};
use tests::routes::{GroundedInput, HastyInput, grounded, hasty, mend, patient};
use tests::{World, block_on};

use crate::{QUESTION, fault, mend_input, patient_input};

/// What a bounded run may do.
struct Bounds {
    attempts: u32,
    wall_clock: Duration,
    cost: Usd,
}

const MEND: Bounds = Bounds {
    attempts: mend::MAX_ATTEMPTS,
    wall_clock: mend::MAX_WALL_CLOCK,
    cost: mend::MAX_COST,
};
const PATIENT: Bounds = Bounds {
    attempts: patient::MAX_ATTEMPTS,
    wall_clock: patient::MAX_WALL_CLOCK,
    cost: patient::MAX_COST,
};

const HASTY: Bounds = Bounds {
    attempts: hasty::MAX_ATTEMPTS,
    wall_clock: hasty::MAX_WALL_CLOCK,
    cost: hasty::MAX_COST,
};

const GROUNDED: Bounds = Bounds {
    attempts: grounded::MAX_ATTEMPTS,
    wall_clock: grounded::MAX_WALL_CLOCK,
    cost: grounded::MAX_COST,
};

// A user can add bounds up and hold them against his own, when the crate is compiled.
const _: () = assert!(mend::MAX_ATTEMPTS + patient::MAX_ATTEMPTS < 30);

/// A schema-invalid answer that used this many tokens.
fn invalid(tokens_in: u64, tokens_out: u64) -> Scripted {
    Scripted::status(200, chat_completion("[]", "stop", tokens_in, tokens_out))
}

/// Plays one outcome: what the provider does, and how long it takes.
fn outcome(kind: u8, seconds: u64) -> Scripted {
    let reply = match kind {
        0 => invalid(1_000_000, 1_000_000),
        1 => fault(429, "rate_limit_exceeded", "slow down"),
        2 => fault(429, "rate_limit_exceeded", "slow down").header("retry-after", "240"),
        3 => fault(500, "server_error", "down").header("retry-after", "239"),
        4 => Scripted::fault("connection refused"),
        5 => fault(401, "invalid_api_key", "no"),
        6 => fault(404, "model_not_found", "no such model"),
        7 => Scripted::status(200, chat_completion("{", "length", 10, 10)),
        _ => fault(400, "content_filter", "no"),
    };
    reply.after(Duration::from_secs(seconds))
}

/// Runs a script to its end and holds what happened against the bounds; returns the number of attempts.
fn held(keys: &str, bounds: &Bounds, script: Vec<Scripted>, call: impl FnOnce(&World)) -> u32 {
    let world = World::with_keys(keys);
    world.push(script);
    let before = rig::Clock::monotonic(&world.clock);
    call(&world);
    let took = rig::Clock::monotonic(&world.clock) - before;
    let rows = world.store.rows();
    let attempts = u32::try_from(rows.len()).unwrap();
    let cost: Usd = rows.iter().map(|row| row.cost).sum();
    assert!(attempts <= bounds.attempts, "{attempts} attempts");
    assert!(took <= bounds.wall_clock, "{took:?}");
    assert!(cost <= bounds.cost, "{cost}");
    attempts
}

fn run_mend(script: Vec<Scripted>) -> u32 {
    held("north south", &MEND, script, |world| {
        let _ = block_on(mend(mend_input()).on(&world.rig).run());
    })
}

fn run_patient(script: Vec<Scripted>) -> u32 {
    held("openai anthropic", &PATIENT, script, |world| {
        let _ = block_on(patient(patient_input()).on(&world.rig).run());
    })
}

fn run_hasty(script: Vec<Scripted>) -> u32 {
    let question = QUESTION.to_owned();
    held("north south", &HASTY, script, |world| {
        let _ = block_on(hasty(HastyInput { question }).on(&world.rig).run());
    })
}

fn run_grounded(script: Vec<Scripted>) -> u32 {
    let question = QUESTION.to_owned();
    held(
        "north vault scout sage search",
        &GROUNDED,
        script,
        |world| {
            let _ = block_on(grounded(GroundedInput { question }).on(&world.rig).run());
        },
    )
}

proptest! {
    #[test]
    fn no_run_is_worse_than_its_bounds(script in proptest::collection::vec((0_u8..9, 0_u64..70), 40)) {
        let play = || script.iter().map(|(kind, seconds)| outcome(*kind, *seconds)).collect();
        run_mend(play());
        run_patient(play());
        run_hasty(play());
        run_grounded(play());
        // A search that succeeds at once, and one that fails first.
        let found = || Scripted::status(200, r#"{"results":[]}"#);
        run_grounded(std::iter::once(found()).chain(play()).collect());
        let fails = std::iter::once(Scripted::fault("refused")).chain([found()]);
        run_grounded(fails.chain(play()).collect());
    }
}

#[test]
fn the_worst_runs_reach_the_bound_on_attempts() {
    // Every answer misses the schema: each candidate's budget and the whole repair rung are used up.
    let answers = (0..40).map(|_| invalid(10, 10)).collect();
    assert_eq!(run_mend(answers), mend::MAX_ATTEMPTS);
    // Each class's budget is used up at each candidate, and the last failure has none left.
    let shed = || fault(429, "rate_limit_exceeded", "slow down");
    let down = || fault(500, "server_error", "down");
    let candidate = || [shed(), shed(), shed(), down(), down(), shed()];
    let failures = candidate().into_iter().chain(candidate()).collect();
    assert_eq!(run_patient(failures), patient::MAX_ATTEMPTS);
}

// L16
#[test]
fn a_run_reaches_its_deadline_and_no_more() {
    assert_eq!(HASTY.wall_clock, Duration::from_secs(40));
    let world = World::with_keys("north south");
    world.push((0..9).map(|_| invalid(10, 10).after(Duration::from_millis(10_001))));
    let question = QUESTION.to_owned();
    assert!(block_on(hasty(HastyInput { question }).on(&world.rig).run()).is_err());
    assert_eq!(rig::Clock::monotonic(&world.clock), HASTY.wall_clock);
}

#[test]
fn the_longest_run_reaches_the_bound_on_wall_clock() {
    // Every attempt takes just as long as it may, and every wait is the longest that a provider may ask for.
    let slow = |reply: Scripted| {
        reply
            .header("retry-after", "240")
            .after(Duration::from_millis(59_999))
    };
    let shed = || slow(fault(429, "rate_limit_exceeded", "slow down"));
    let down = || slow(fault(500, "server_error", "down"));
    let candidate = || [shed(), shed(), shed(), down(), down(), shed()];
    let world = World::with_keys("openai anthropic");
    world.push(candidate().into_iter().chain(candidate()));
    let before = rig::Clock::monotonic(&world.clock);
    assert!(block_on(patient(patient_input()).on(&world.rig).run()).is_err());
    let short = PATIENT.wall_clock - (rig::Clock::monotonic(&world.clock) - before);
    // A millisecond an attempt is left.
    assert_eq!(short, Duration::from_millis(u64::from(PATIENT.attempts)));
}
