//! What holds for every run, whatever the model says?

mod held;
mod told;

use rig::__private::{Candidate, Capability, Plan};
use rig::FailureClass;
use rig::store::{AttemptRow, RowFailure};

use super::case::Case;
use super::check::equal;
use super::seen::{CUSTOMERS, Seen};
use super::world::{GOOD, TASKS};

/// Holds a run against all of them; the error names the one that is broken.
pub(super) fn hold(case: &Case, seen: &Seen) -> Result<(), String> {
    one_row_a_dispatch(seen)?;
    only_declared_candidates(case, seen)?;
    held::no_trial_candidate(case, seen)?;
    held::handle_is_dropped(case, seen)?;
    held::money_is_kept(case, seen)?;
    told::told_as_it_was(case, seen)?;
    bounded(case, seen)?;
    budgets_are_non_fungible(case, seen)?;
    repaired_once(case, seen)?;
    nothing_leaks(case, seen)?;
    in_time(case, seen)
}

pub(super) fn zero_retention(case: &Case) -> bool {
    case.route.zero_retention || case.options.zero_retention
}

fn plan(case: &Case) -> &'static Plan {
    if case.options.variant {
        &case.route.variants[0].plan
    } else {
        &case.route.plan
    }
}

fn that(what: &str, holds: bool) -> Result<(), String> {
    equal(what, true, holds)
}

fn names(row: &AttemptRow, candidate: &Candidate) -> bool {
    row.provider == candidate.provider.name && row.model == candidate.model
}

fn is_search(row: &AttemptRow) -> bool {
    row.provider == "search"
}

// T1, L11
fn one_row_a_dispatch(seen: &Seen) -> Result<(), String> {
    equal("rows, one a dispatch", seen.asked.len(), seen.rows.len())?;
    for (at, (row, asked)) in seen.rows.iter().zip(&seen.asked).enumerate() {
        equal("the row's number", at + 1, row.attempt as usize)?;
        equal(
            "the row's place",
            (asked.host.as_str(), asked.model.as_str()),
            (&*row.provider, &*row.model),
        )?;
        equal("the row's run", &seen.rows[0].run_id, &row.run_id)?;
        that("the row's tag", row.tags["customer"] == CUSTOMERS[seen.run])?;
        that(
            "a row that serves is the last",
            row.failure.is_some() || is_search(row) || at + 1 == seen.rows.len(),
        )?;
    }
    Ok(())
}

// L13: also of the repair rung, which may ask one declared candidate that the plan has not.
fn only_declared_candidates(case: &Case, seen: &Seen) -> Result<(), String> {
    let plan = plan(case);
    for (row, asked) in seen.rows.iter().zip(&seen.asked) {
        let is_candidate = plan.candidates.iter().any(|one| names(row, one));
        let repairs = plan.repair.as_ref().and_then(|repair| repair.model);
        let is_repair = row.repaired_by.is_some() && repairs.is_some_and(|one| names(row, one));
        let searches = is_search(row) && case.route.grounding.is_some();
        that(
            "only declared candidates are asked",
            is_candidate || is_repair || searches,
        )?;
        let is_keyed = asked.has_key == case.keys.contains(&&*asked.host);
        that(
            "a host is asked with its own key",
            is_keyed || asked.host == "delta" || is_search(row),
        )?;
    }
    Ok(())
}

// C9
fn bounded(case: &Case, seen: &Seen) -> Result<(), String> {
    let (plan, policy) = (plan(case), &case.route.policy);
    let retries: u32 = policy.retries.iter().map(|(_, budget)| budget).sum();
    let searches = u64::from(
        case.route
            .grounding
            .as_ref()
            .is_some_and(|grounding| grounding.search.is_some()),
    );
    let repairs = plan
        .repair
        .as_ref()
        .map_or(0, |repair| u64::from(repair.max_repairs));
    let most = plan.candidates.len() as u64 * u64::from(1 + retries) + repairs + searches;
    that(
        "no more attempts than C9 says",
        seen.rows.len() as u64 <= most,
    )?;
    let waits = |(class, budget): &(FailureClass, u32)| {
        let backoff = policy.backoff(*class);
        let asks = if class.heeds_retry_after() {
            240_000
        } else {
            0
        };
        let wait = |retry| (backoff.wait(retry, 1.0).as_millis() as u64).max(asks);
        (0..*budget).map(wait).sum::<u64>()
    };
    let waits: u64 = policy.retries.iter().map(waits).sum();
    // A caller that goes away may have been later than a timeout.
    let left = if seen.result.is_none() { 900 } else { 0 };
    let paused = paused(seen, 0, seen.ended);
    let longest = most * policy.timeout_ms + plan.candidates.len() as u64 * waits + left;
    that("no longer than C9 says", seen.ended - paused <= longest)
}

// L6: at one candidate, no class is seen more often than its budget and the attempt that used it up.
fn budgets_are_non_fungible(case: &Case, seen: &Seen) -> Result<(), String> {
    let ladder: Vec<_> = seen
        .rows
        .iter()
        .filter(|row| row.repaired_by.is_none())
        .collect();
    let rejected = Some(RowFailure::Class(FailureClass::QualityRejected));
    let is_rejected = seen
        .rows
        .iter()
        .any(|row| row.repaired_by.is_some() && row.failure == rejected);
    for candidate in plan(case).candidates {
        let mut used_up = 0;
        for class in FailureClass::ALL {
            let of_class = |row: &&&AttemptRow| {
                names(row, candidate) && row.failure == Some(RowFailure::Class(class))
            };
            let failed = ladder.iter().filter(of_class).count() as u32;
            let budget = case.route.policy.retry_budget(class);
            // L8: an answer whose repair the caller rejects is retried by that class.
            let more = u32::from(is_rejected && class == FailureClass::ContentInvalid);
            that(
                "a class uses no more than its budget",
                failed <= budget + 1 + more,
            )?;
            used_up += u32::from(failed > budget);
        }
        that(
            "one failure beyond a budget is the candidate's last",
            used_up <= 1 + u32::from(is_rejected),
        )?;
    }
    // Nobody comes back to a candidate that was left.
    let order = plan(case).candidates.iter();
    let place = |row: &&AttemptRow| order.clone().position(|one| names(row, one));
    that(
        "candidates are asked in order",
        ladder.iter().filter_map(place).is_sorted(),
    )
}

// L7
fn repaired_once(case: &Case, seen: &Seen) -> Result<(), String> {
    let repairs: Vec<_> = seen
        .rows
        .iter()
        .enumerate()
        .filter(|(_, row)| row.repaired_by.is_some())
        .collect();
    let Some((first, row)) = repairs.first() else {
        return Ok(());
    };
    let max = plan(case)
        .repair
        .as_ref()
        .map_or(0, |repair| usize::from(repair.max_repairs));
    that("no more repairs than the route has", repairs.len() <= max)?;
    that(
        "the repair rung runs once",
        repairs
            .iter()
            .map(|(at, _)| *at)
            .eq(*first..*first + repairs.len()),
    )?;
    let before = &seen.rows[first - 1];
    that(
        "what is repaired missed the schema",
        before.failure == Some(RowFailure::Class(FailureClass::ContentInvalid)),
    )?;
    that(
        "who answered repairs first",
        (&before.provider, &before.model) == (&row.provider, &row.model),
    )?;
    for (at, row) in &repairs {
        let by = format!("{}/{}", row.provider, row.model);
        equal("who repaired", Some(by), row.repaired_by.clone())?;
        that(
            "the repair model is not told the task",
            seen.asked[*at].has_task == (at == first),
        )?;
    }
    Ok(())
}

// R6, L14
fn nothing_leaks(case: &Case, seen: &Seen) -> Result<(), String> {
    that(
        "what was cut is in no request",
        seen.asked.iter().all(|asked| !asked.has_cut),
    )?;
    that(
        "another run's text is in no request",
        seen.asked.iter().all(|asked| !asked.has_other),
    )?;
    let is_own = |capture: &rig::store::Capture| {
        capture.variables.contains(TASKS[seen.run]) && capture.output.contains(GOOD[seen.run])
    };
    that("a capture is of its run", seen.captures.iter().all(is_own))?;
    let is_tagged = |row: &AttemptRow| {
        row.tags
            .get("zdr_enforced")
            .is_some_and(|tag| tag == "true")
    };
    that(
        "the tag of zero retention",
        seen.rows
            .iter()
            .all(|row| is_tagged(row) == zero_retention(case)),
    )?;
    if !zero_retention(case) {
        return Ok(());
    }
    that(
        "nothing is captured under zero retention",
        seen.captures.is_empty(),
    )?;
    let repair = plan(case).repair.iter().filter_map(|repair| repair.model);
    let designated: Vec<_> = plan(case)
        .candidates
        .iter()
        .chain(repair)
        .filter(|one| one.capabilities.has(Capability::ZeroRetention))
        .collect();
    let search = case
        .route
        .grounding
        .as_ref()
        .and_then(|grounding| grounding.search);
    let may_search = search.is_some_and(|search| search.zero_retention);
    let keeps_nothing = |row: &AttemptRow| {
        if is_search(row) {
            may_search
        } else {
            designated.iter().any(|one| names(row, one))
        }
    };
    that(
        "who is asked keeps nothing",
        seen.rows.iter().all(keeps_nothing),
    )
}

/// How much of a time was spent on waits for the store and for the caller's gate.
fn paused(seen: &Seen, from: u64, until: u64) -> u64 {
    let within = |(begin, end): &(u64, u64)| until.min(*end).saturating_sub(from.max(*begin));
    seen.pauses.iter().map(within).sum()
}

// L16, K0, K2
fn in_time(case: &Case, seen: &Seen) -> Result<(), String> {
    let deadlines = [case.route.policy.deadline_ms, case.options.deadline_ms];
    let deadline = deadlines.into_iter().flatten().min().unwrap_or(u64::MAX);
    that(
        "nothing is dispatched when the time is over",
        seen.asked.iter().all(|asked| asked.at < deadline),
    )?;
    // What the envelope refuses is asked for as any dispatch is: others may have settled meanwhile.
    let refused = (seen.reserves.len() > seen.rows.len()).then_some(seen.ended);
    let dispatches = seen.asked.iter().map(|asked| asked.at);
    let asks: Vec<_> = dispatches.chain(refused).collect();
    let ends = seen.asked.iter().zip(&seen.rows);
    let ends: Vec<_> = ends.map(|(asked, row)| asked.at + row.latency_ms).collect();
    if seen.result.is_some() {
        that("the run is over in time", seen.ended <= deadline)?;
        let last = refused.or(ends.last().copied()).unwrap_or(0);
        equal(
            "the end of the last attempt, which nobody waits after",
            last,
            seen.ended - paused(seen, last, seen.ended),
        )?;
    }
    // Between two attempts there is a whole wait or none.
    let mut backoffs = seen.backoffs.iter();
    for (end, next) in ends.iter().zip(asks.iter().skip(1)) {
        let gap = next - end - paused(seen, *end, *next);
        if gap > 0 {
            equal("the wait between two attempts", backoffs.next(), Some(&gap))?;
        }
    }
    let retries: u32 = case
        .route
        .policy
        .retries
        .iter()
        .map(|(_, budget)| budget)
        .sum();
    that(
        "no wait that no retry follows",
        backoffs.next().is_none()
            && seen.backoffs_begun <= plan(case).candidates.len() * retries as usize,
    )
}
