//! What do two runs at once make of one envelope? They have one rig, one store and one clock, and take turns.

use std::array;
use std::cell::RefCell;
use std::task::{Context, Poll, Waker};

use super::case::{Case, What};
use super::check::{self, equal};
use super::dice::Dice;
use super::draw;
use super::model::{End as Ends, expect};
use super::reach::Reach;
use super::seen::{Bed, Calling, ENVELOPE, End, Seen, run};
use super::world::Pausing;

/// What has to happen in pairs of runs.
pub(super) const WHOLE: [&str; 10] = [
    "two runs",
    "two routes",
    "two listeners",
    "both served",
    "requests of two runs alternate",
    "refused for what the other run has taken",
    "refused, and the other served",
    "given up, and the other served",
    "a reservation lapsed under a gate",
    "a lapsed reservation is corrected",
];

/// Two calls that share everything but their routes and options.
struct Pair {
    cases: [Case; 2],
    /// When the second one begins, in milliseconds.
    after: u64,
}

/// What was seen of the envelope while the runs went on.
#[derive(Default)]
struct Looks {
    /// How much was spent when a reservation had lapsed that its run had yet to settle.
    lapsed: Option<u64>,
}

/// Holds the pair of a number against the model of each run, and against what holds for both.
///
/// # Errors
///
/// When something differs: what, and all that there is to know about the run.
pub(super) fn check(seed: u64, reach: &mut Reach) -> Result<(), String> {
    let pair = pair(seed);
    let cases = pair.cases.each_ref();
    let cap = cases[0].options.cap.unwrap_or(0);
    let bed = Bed::new(&cases);
    let told = [RefCell::default(), RefCell::default()];
    let calls = array::from_fn(|run| {
        let after = if run == 0 { 0 } else { pair.after };
        let call = bed.call(cases[run], run, &told[run]);
        let world = bed.world.clone();
        let begun: Calling<'_> = Box::pin(async move {
            world.begin(after).await;
            call.await
        });
        begun
    });
    let mut looks = Looks::default();
    let ends = join(&bed, calls, &mut |run| {
        looks.look(&bed, cap, cases[run].route.policy.timeout_ms)
    });
    let named = |what| format!("pair {seed}: {what}");
    let [mut first, mut second] = ends.map_err(named)?.map(Some);
    let seen = array::from_fn(|run| {
        bed.world.turn(run);
        let end = [&mut first, &mut second][run].take().expect("it ends once");
        bed.seen(cases[run], run, told[run].take(), end)
    });
    each(cases, &seen).map_err(named)?;
    both(&bed, &seen).map_err(named)?;
    note(reach, cases, &seen, &looks);
    Ok(())
}

fn pair(seed: u64) -> Pair {
    let dice = &mut Dice(seed.wrapping_mul(0x9fb2_1c65_1e98_df25));
    // Neighbours share a route.
    let other = match dice.one_in(3) {
        true => dice.below(1 << 20),
        false => 2 * seed + 1,
    };
    let mut cases = [draw::case(2 * seed), draw::case(other)];
    for case in &mut cases {
        case.seed = seed;
        case.options.cap = Some(draw::AMPLE);
        if dice.one_in(5) {
            // Longer than a reservation lasts.
            case.options.gate_ms = Some(*dice.of(&[130_000, 400_000]));
        }
        for reply in &mut case.script {
            // Whoever goes away takes no time of the other's.
            if let What::LeavesBeforeHead { after } | What::LeavesBeforeEnd { after } =
                &mut reply.what
            {
                *after = 0;
            }
        }
    }
    cases[1].keys = cases[0].keys.clone();
    // As much as one of them needs for its dearest dispatch, and more or less than both need.
    let [one, other] = cases.each_ref().map(|case| {
        let amounts = run(case).observed().amounts;
        amounts.into_iter().max().unwrap_or(0)
    });
    let cap = *dice.of(&[
        one.max(other),
        (one + other).saturating_sub(1),
        one + other,
        2 * (one + other),
        draw::AMPLE,
    ]);
    for case in &mut cases {
        case.options.cap = Some(cap);
    }
    Pair {
        cases,
        after: *dice.of(&[0, 0, 3, 911, 61_007]),
    }
}

/// Polls both calls in turn until they end, and looks at the envelope after each poll.
fn join<'a>(
    bed: &Bed,
    calls: [Calling<'a>; 2],
    look: &mut impl FnMut(usize) -> Result<(), String>,
) -> Result<[End; 2], String> {
    const MOST_ROUNDS: usize = 20_000;
    let mut calls = calls.map(Some);
    let mut ends = [None, None];
    let mut round = |polls| -> Result<bool, String> {
        for (run, (under_way, end)) in calls.iter_mut().zip(&mut ends).enumerate() {
            bed.world.turn(run);
            let Some(call) = under_way else { continue };
            let mut ctx = Context::from_waker(Waker::noop());
            let result = match call.as_mut().poll(&mut ctx) {
                Poll::Ready(result) => Some(result),
                Poll::Pending if bed.world.leaving().is_some() => None,
                Poll::Pending => {
                    look(run)?;
                    continue;
                }
            };
            *end = Some(End::now(&bed.world, result, polls));
            *under_way = None;
            look(run)?;
        }
        Ok(ends.iter().all(Option::is_some))
    };
    let mut rounds = (1..MOST_ROUNDS).map(&mut round);
    let ended = rounds.find(|ended| *ended != Ok(false));
    // A call that is dropped looks at the state of its run.
    for (run, call) in calls.iter_mut().enumerate() {
        bed.world.turn(run);
        *call = None;
    }
    ended.unwrap_or(Ok(false))?;
    match ends {
        [Some(first), Some(second)] => Ok([first, second]),
        _ => Err("a call waits for something that no script and no clock brings".to_owned()),
    }
}

impl Looks {
    /// E2, E4: however the runs have got on, no more is spent and reserved than the cap. A reservation is spent one minute after
    /// the end of its attempt's time, and not while that is still to come.
    fn look(&mut self, bed: &Bed, cap: u64, timeout: u64) -> Result<(), String> {
        let (spent, reserved) = bed.sums();
        if spent + reserved > cap {
            return Err(format!("{spent} and {reserved} are more than {cap}"));
        }
        let now = bed.world.now();
        let judged = {
            let state = bed.world.state();
            let is_judging = state.pausing == Some(Pausing::Gate);
            let asked = state.asked.last().filter(|_| is_judging);
            asked
                .zip(state.reserves.last())
                .map(|(asked, (id, _))| (asked.at, id.clone()))
        };
        let Some((at, id)) = judged else {
            return Ok(());
        };
        let charges = tests::block_on(bed.rig.charges(ENVELOPE)).unwrap();
        let is_expired = charges
            .iter()
            .any(|charge| charge.id == id && charge.is_expired);
        let longest = timeout + 60_000;
        if is_expired && now < longest || !is_expired && now > at + longest {
            return Err(format!("at {now}, of {at}, expired: {is_expired}"));
        }
        if is_expired {
            self.lapsed.get_or_insert(spent);
        }
        Ok(())
    }
}

/// Holds each run against the model, which is told what the store has reserved for it.
fn each(cases: [&Case; 2], seen: &[Seen; 2]) -> Result<(), String> {
    for (case, seen) in cases.into_iter().zip(seen) {
        let mut observed = seen.observed();
        let ids = seen.reserves.iter().map(|(id, _)| id);
        observed.grants = Some(ids.map(|id| seen.charges.contains_key(id)).collect());
        let expected = expect(case, &observed);
        check::compared(case, &expected, seen)
            .map_err(|what| format!("run {}: {what}", seen.run))?;
        let own = seen.rows.iter().filter_map(|row| seen.charges.get(&row.id));
        let own: u64 = own.map(|charge| charge.unwrap_or(u64::MAX)).sum();
        let charges = expected.rows.iter().filter_map(|row| row.charge);
        equal("what a run has spent", charges.sum(), own)?;
    }
    Ok(())
}

/// Holds both together: every row is of one of them, and nothing else was spent.
fn both(bed: &Bed, seen: &[Seen; 2]) -> Result<(), String> {
    let [first, second] = seen;
    let count = first.rows.len() + second.rows.len();
    equal("rows of two runs", count, bed.store.rows().len())?;
    let mut ids: Vec<_> = seen.iter().flat_map(|seen| &seen.reserves).collect();
    ids.sort_unstable();
    ids.dedup_by(|one, other| one.0 == other.0);
    let count = first.reserves.len() + second.reserves.len();
    equal("ids of two runs", count, ids.len())?;
    if let ([one, ..], [other, ..]) = (&*first.rows, &*second.rows) {
        equal("two runs have two ids", true, one.run_id != other.run_id)?;
    }
    let rows = seen.iter().flat_map(|seen| &seen.rows);
    let charges = rows.filter_map(|row| first.charges.get(&row.id).copied().flatten());
    equal("what is spent", (charges.sum(), 0), bed.sums())
}

fn note(reach: &mut Reach, cases: [&Case; 2], seen: &[Seen; 2], looks: &Looks) {
    let [first, second] = seen;
    let served = seen
        .each_ref()
        .map(|seen| matches!(seen.result, Some(Ok(_))));
    let refused = seen.each_ref().map(|seen| {
        let is_refused = |(id, _): &(String, u64)| !seen.charges.contains_key(id);
        seen.reserves.last().is_some_and(is_refused)
    });
    // Whether it would have fitted if the run had been alone.
    let for_other = [0, 1].map(|run| {
        let (case, seen) = (cases[run], &seen[run]);
        let alone = expect(case, &seen.observed());
        refused[run] && alone.end != Ends::CallerLeft && alone.rows.len() > seen.rows.len()
            || refused[run] && alone.end == Ends::CallerLeft
    });
    let mut tick = |what, happened| {
        if happened {
            reach.tick(what);
        }
    };
    tick("two runs", true);
    tick(
        "two routes",
        !std::ptr::eq(cases[0].route, cases[1].route) && !second.rows.is_empty(),
    );
    tick(
        "two listeners",
        seen.iter().all(|seen| !seen.told.is_empty()),
    );
    tick("both served", served == [true, true]);
    let mut order: Vec<_> = seen
        .iter()
        .flat_map(|seen| seen.rows.iter().map(|row| (row.ts_ms, seen.run)))
        .collect();
    order.sort_unstable();
    let turns = order.windows(2).filter(|pair| pair[0].1 != pair[1].1);
    tick("requests of two runs alternate", turns.count() > 2);
    tick(
        "refused for what the other run has taken",
        for_other.contains(&true),
    );
    let and_other = |what: [bool; 2]| what[0] && served[1] || what[1] && served[0];
    tick("refused, and the other served", and_other(refused));
    let left = seen.each_ref().map(|seen| seen.result.is_none());
    tick("given up, and the other served", and_other(left));
    tick("a reservation lapsed under a gate", looks.lapsed.is_some());
    let is_corrected = looks.lapsed.is_some_and(|spent| first.envelope.0 < spent);
    tick("a lapsed reservation is corrected", is_corrected);
}
