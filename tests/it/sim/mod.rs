//! Simulation: does the ladder do what the contract says, whatever happens?
//!
//! A case is a route, a call of it, and a world in which everything may go wrong. It is run on the real ladder and
//! held against a model that was written from the contract, and against what holds for every run. Cases are drawn from
//! numbers, and enumerated: `SIM_SEED=7 cargo test -p tests sim::drawn -- --nocapture` runs the case of one number and shows it,
//! `SIM_CASES` says how many are drawn.

mod asked;
mod case;
mod check;
mod dice;
mod draw;
mod drops;
mod every;
mod invariants;
mod model;
mod pair;
mod reach;
mod seen;
mod wire;
mod world;

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use reach::Reach;

/// How many cases are drawn.
const CASES: usize = 100_000;

/// How many pairs of runs are drawn.
const PAIRS: usize = 10_000;

/// How many cases are drawn whose call is given up wherever it may be.
const DROPS: usize = 3_000;

/// How many runs there are, of ladders and outcomes that `every` enumerates.
const RUNS: usize = 122_055;

// L1 to L7, L9, L11 to L18, K0, K2 to K4, K6, R1, R4 to R6, T5, E2 to E6: cases drawn from numbers.
#[test]
#[expect(
    clippy::print_stdout,
    reason = "whoever names a seed wants to see its case"
)]
fn drawn_ladders_do_what_the_contract_says() {
    if let Some(seed) = number("SIM_SEED") {
        let case = draw::case(seed as u64);
        check::check_twice(&case, &mut Reach::default()).unwrap_or_else(|text| panic!("{text}"));
        println!("{}", check::shown(&case));
        return;
    }
    let cases = number("SIM_CASES").unwrap_or(CASES);
    let reach = share(cases, |seed, reach| {
        check::check_twice(&draw::case(seed as u64), reach)
    });
    if cases == CASES {
        reach.assert_whole();
    }
}

// L2 to L7, K2, K4: every run of small ladders.
#[test]
fn every_small_ladder_does_what_the_contract_says() {
    let ladders = every::every_ladder();
    let reach = share(ladders.len(), |index, reach| {
        ladders[index].runs(&mut |case| check::check(case, reach))
    });
    assert_eq!(reach.runs, RUNS);
}

// E1, E2, E4, T1: two runs share a rig, and the envelope that pays for both.
#[test]
fn two_runs_at_once_keep_to_themselves_and_to_their_cap() {
    if let Some(seed) = number("SIM_SEED") {
        return pair::check(seed as u64, &mut Reach::default())
            .unwrap_or_else(|text| panic!("{text}"));
    }
    let pairs = number("SIM_CASES").unwrap_or(PAIRS);
    let reach = share(pairs, |seed, reach| pair::check(seed as u64, reach));
    if pairs == PAIRS {
        reach.assert_often(&pair::WHOLE, 20);
    }
}

// L11, K6, E2: whatever is waited for when a call is given up.
#[test]
fn a_call_that_is_given_up_anywhere_leaves_its_rows_and_its_charges() {
    if let Some(seed) = number("SIM_SEED") {
        return drops::check(seed as u64, &mut Reach::default())
            .unwrap_or_else(|text| panic!("{text}"));
    }
    let drops = number("SIM_CASES").unwrap_or(DROPS);
    let reach = share(drops, |seed, reach| drops::check(seed as u64, reach));
    if drops == DROPS {
        reach.assert_often(&drops::WHOLE, 20);
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "a person chooses a case by the environment"
)]
fn number(variable: &str) -> Option<usize> {
    std::env::var(variable).ok()?.parse().ok()
}

/// Shares numbered work among the processors, and stops at the first difference.
fn share(count: usize, work: impl Fn(usize, &mut Reach) -> Result<(), String> + Sync) -> Reach {
    let next = AtomicUsize::new(0);
    let whole = Mutex::new(Reach::default());
    let difference = Mutex::new(None);
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(2, usize::from) {
            scope.spawn(|| {
                let mut reach = Reach::default();
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= count {
                        break;
                    }
                    if let Err(text) = work(number, &mut reach) {
                        next.store(count, Ordering::Relaxed);
                        *difference.lock().unwrap() = Some(text);
                    }
                }
                whole.lock().unwrap().add(&reach);
            });
        }
    });
    if let Some(text) = difference.into_inner().unwrap() {
        panic!("{text}");
    }
    whole.into_inner().unwrap()
}
