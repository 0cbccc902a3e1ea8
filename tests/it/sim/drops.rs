//! What remains of a call that is given up, wherever it is? The contract's L11 and K6: each case is run to its end, and then
//! once more for each of its polls, after which the call is dropped.

use rig::store::{AttemptRow, RowFailure};

use super::case::Case;
use super::check::{self, equal, show, without_ids};
use super::dice::Dice;
use super::draw;
use super::model::{Expected, Row, expect};
use super::reach::Reach;
use super::seen::{Seen, run, run_until};
use super::world::Pausing;

/// Where calls have to be given up.
pub(super) const WHOLE: [&str; 14] = [
    "dropped before anything was sent",
    "dropped in a wait for room",
    "dropped in a wait for a reservation",
    "dropped while the request is held back",
    "dropped before the head",
    "dropped in a stream",
    "dropped after the finish reason",
    "dropped in a gate",
    "dropped in a gate, and paid by usage",
    "dropped in a wait before a retry",
    "dropped while a row is waited for",
    "dropped with a capture",
    "dropped between events",
    "dropped in a search",
];

/// The most polls of a case; of longer ones no more is learnt.
const MOST_POLLS: usize = 160;

/// Drops the call of a number's case after each of its polls.
///
/// # Errors
///
/// When something differs: what, and all that there is to know about the case.
pub(super) fn check(seed: u64, reach: &mut Reach) -> Result<(), String> {
    let case = case(seed);
    let backoffs = case.route.policy.backoff;
    if backoffs.iter().any(|(_, own)| own.jitter > 0.0) {
        // How far a wait is lengthened is chance.
        return Ok(());
    }
    let whole = run(&case);
    let expected = expect(&case, &whole.observed());
    check::compared(&case, &expected, &whole)?;
    if whole.polls > MOST_POLLS {
        return Ok(());
    }
    for polls in 0..whole.polls {
        let seen = run_until(&case, polls);
        reach.runs += 1;
        note(reach, &seen);
        hold(&expected, &whole, &seen).map_err(|what| {
            let what = format!("dropped after {polls} of {} polls: {what}", whole.polls);
            show(&case, &expected, &seen, &what)
        })?;
    }
    Ok(())
}

fn case(seed: u64) -> Case {
    let dice = &mut Dice(seed.wrapping_mul(0xd6e8_feb8_6659_fd93));
    let mut case = draw::case(dice.below(1 << 32));
    case.seed = seed;
    case.script.truncate(1 + dice.below(5) as usize);
    if !dice.one_in(4) {
        case.options.cap = Some(draw::AMPLE);
    }
    case
}

fn hold(expected: &Expected, whole: &Seen, seen: &Seen) -> Result<(), String> {
    let starts = |what: &str, holds: bool| equal(what, true, holds);
    equal("rows, one a request", seen.asked.len(), seen.rows.len())?;
    starts("requests", whole.asked.starts_with(&seen.asked))?;
    starts("waits", whole.backoffs.starts_with(&seen.backoffs))?;
    starts("what is told", whole.told.starts_with(&seen.told))?;
    let amounts = seen.observed().amounts;
    starts(
        "what is reserved",
        whole.observed().amounts.starts_with(&amounts),
    )?;
    let mut spent = 0;
    for (at, (row, model)) in seen.rows.iter().zip(&expected.rows).enumerate() {
        let is_last = at + 1 == seen.rows.len();
        equal("the run", &seen.rows[0].run_id, &row.run_id)?;
        let is_cancelled = is_last && row.failure == Some(RowFailure::Cancelled);
        let (found, charge, missing) = if is_cancelled {
            let (charge, missing) = cancelled(seen, row, model, amounts.get(at).copied());
            (ended_as(&whole.rows[at], row), charge, missing)
        } else {
            (row.clone(), model.charge, model.missing)
        };
        let found = (without_ids(&found), row.usage_missing);
        equal("a row", (without_ids(&whole.rows[at]), missing), found)?;
        let charged = seen.charges.get(&row.id).copied().flatten();
        equal("a charge", charge, charged)?;
        spent += charge.unwrap_or(0);
    }
    equal("what is spent and reserved", (spent, 0), seen.envelope)?;
    // The row of a search has no failure either, but it does not serve the call.
    let serves = seen
        .rows
        .last()
        .filter(|_| seen.rows.len() == whole.rows.len());
    let serves = serves.filter(|row| row.failure.is_none());
    let captures = serves.map_or(0, |_| whole.captures.len());
    equal("captures", captures, seen.captures.len())?;
    let is_of = |row: &AttemptRow| seen.captures.iter().all(|capture| capture.id == row.id);
    equal("who is captured", true, serves.is_none_or(is_of))?;
    equal("nothing comes of it", true, seen.result.is_none())
}

/// E2, K6: what a call that is given up is charged, and whether its usage is missing.
fn cancelled(
    seen: &Seen,
    row: &AttemptRow,
    model: &Row,
    reserved: Option<u64>,
) -> (Option<u64>, bool) {
    match (seen.pausing, seen.is_held) {
        // The answer was there.
        (Some(Pausing::Gate), _) => (model.charge, model.missing),
        _ if has_ended(row) => (model.charge, model.missing),
        (_, true) => (reserved.map(|_| 0), false),
        (_, false) => (reserved, true),
    }
}

/// Whether an answer had said how it ended and what it used. Before that hosts tell of one token of output at most.
fn has_ended(row: &AttemptRow) -> bool {
    row.tokens_out > Some(1)
}

/// A row of a dispatch whose end was another, as if it had been this one.
fn ended_as(end: &AttemptRow, row: &AttemptRow) -> AttemptRow {
    AttemptRow {
        served_tier: end.served_tier.clone(),
        tokens_in: end.tokens_in,
        tokens_out: end.tokens_out,
        tokens_cached: end.tokens_cached,
        tokens_cache_write: end.tokens_cache_write,
        searches: end.searches,
        cost: end.cost,
        usage_missing: end.usage_missing,
        latency_ms: end.latency_ms,
        ttfb_ms: end.ttfb_ms,
        failure: end.failure,
        ..row.clone()
    }
}

fn note(reach: &mut Reach, seen: &Seen) {
    let last = seen.rows.last();
    let is_cancelled = last.is_some_and(|row| row.failure == Some(RowFailure::Cancelled));
    let is_search = last.is_some_and(|row| row.provider == "search");
    let charge = last.and_then(|row| seen.charges.get(&row.id).copied().flatten());
    let amount = seen.reserves.last().map(|(_, amount)| *amount);
    let is_open = is_cancelled && !seen.is_held && seen.pausing.is_none();
    let mut tick = |what, happened| {
        if happened {
            reach.tick(what);
        }
    };
    let pauses = |pausing| seen.pausing == Some(pausing);
    tick("dropped before anything was sent", last.is_none());
    tick("dropped in a wait for room", pauses(Pausing::Room));
    tick(
        "dropped in a wait for a reservation",
        pauses(Pausing::Reserve),
    );
    tick(
        "dropped while the request is held back",
        is_cancelled && seen.is_held && amount.is_some(),
    );
    let is_silent = last.is_some_and(|row| row.ttfb_ms.is_none());
    tick("dropped before the head", is_open && is_silent);
    let is_streamed = seen.asked.last().is_some_and(|asked| asked.streams);
    let is_heard = is_streamed && !is_silent;
    tick("dropped in a stream", is_open && is_heard);
    let has_ended = last.is_some_and(has_ended);
    tick("dropped after the finish reason", is_open && has_ended);
    tick("dropped in a gate", pauses(Pausing::Gate));
    tick(
        "dropped in a gate, and paid by usage",
        pauses(Pausing::Gate) && charge.is_some() && charge < amount,
    );
    tick(
        "dropped in a wait before a retry",
        seen.backoffs_begun > seen.backoffs.len(),
    );
    tick("dropped while a row is waited for", pauses(Pausing::Flush));
    tick("dropped with a capture", !seen.captures.is_empty());
    tick(
        "dropped between events",
        !seen.told.is_empty() && !is_cancelled,
    );
    tick("dropped in a search", is_cancelled && is_search);
}
