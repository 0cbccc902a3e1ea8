//! Simulation: does the ladder do what the contract says, whatever happens?
//!
//! A case is a route, a call of it, and a world in which everything may go wrong. It is run on the real ladder and
//! held against a model that was written from the contract, and against what holds for every run. Cases are drawn from
//! numbers, and enumerated: `SIM_SEED=7 cargo test -p tests sim::drawn -- --nocapture` runs the case of one number and shows it,
//! `SIM_CASES` says how many are drawn.

mod case;
mod check;
mod dice;
mod draw;
mod every;
mod invariants;
mod model;
mod reach;
mod seen;
mod wire;
mod world;

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use reach::Reach;

/// How many cases are drawn.
const CASES: usize = 200_000;

/// How many runs there are, of ladders and outcomes that `every` enumerates.
const RUNS: usize = 216_953;

// L1 to L7, L9, L11 to L16, K0, K2 to K4, K6, R1, R4 to R6: cases drawn from numbers.
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
