//! What holds of what is on trial, of a place in a cache, and of an envelope?

use rig::FailureClass;
use rig::store::RowFailure;

use super::{is_search, that};
use crate::sim::case::{Case, Usage};
use crate::sim::check::equal;
use crate::sim::seen::Seen;

// R1: what is declared on trial serves nobody, whatever route, variant, repair or call say.
pub(super) fn no_trial_candidate(case: &Case, seen: &Seen) -> Result<(), String> {
    let is_on_trial = |provider: &str, model: &str| case.trials.contains(&(provider, model));
    let asked = seen.asked.iter();
    let mut asked = asked.map(|asked| (&*asked.host, &*asked.model));
    let rows = seen.rows.iter();
    let mut rows = rows.map(|row| (&*row.provider, &*row.model));
    that(
        "no trial candidate is asked",
        !asked.any(|(host, model)| is_on_trial(host, model)),
    )?;
    that(
        "no trial candidate has a row",
        !rows.any(|(provider, model)| is_on_trial(provider, model)),
    )
}

// L10: once a candidate has refused the place, it is told it no more. Nobody but a candidate of its provider is told, and
// each is as long as nothing was refused.
pub(super) fn handle_is_dropped(case: &Case, seen: &Seen) -> Result<(), String> {
    let stale = Some(RowFailure::Class(FailureClass::CacheInvalid));
    let attempts = seen.rows.iter().zip(&seen.asked);
    for (at, (row, asked)) in attempts.clone().enumerate() {
        // The repair model is told something else than what was cached.
        let is_task = asked.has_task && !is_search(row);
        let is_due = case.options.handle && asked.host == "echo" && is_task;
        let before = attempts.clone().take(at);
        let mut refused = before.filter(|(row, _)| row.failure == stale).peekable();
        let holds = match asked.has_handle {
            true => is_due && !refused.any(|(_, by)| by.has_handle && by.model == asked.model),
            false => !is_due || refused.peek().is_some(),
        };
        that("a place in a cache is told until it is refused", holds)
            .map_err(|what| format!("{what}, row {}", at + 1))?;
    }
    Ok(())
}

// E1, E2, E5, T1: no cap is exceeded, and nothing is left reserved. No charge is more than its reservation, and each covers what
// its row costs, unless the provider tells of more than its request can have used.
pub(super) fn money_is_kept(case: &Case, seen: &Seen) -> Result<(), String> {
    let Some(cap) = case.options.cap else {
        return that(
            "nothing is reserved without an envelope",
            seen.reserves.is_empty(),
        );
    };
    let (spent, reserved) = seen.envelope;
    equal("what is still reserved", 0, reserved)?;
    that("the cap holds", spent <= cap)?;
    let all: Option<Vec<_>> = seen.charges.values().copied().collect();
    let all: u64 = all.ok_or("a charge is not settled")?.iter().sum();
    equal("what is spent is the sum of the charges", all, spent)?;
    let charge = |id: &str| seen.charges.get(id).copied().flatten().unwrap_or(0);
    let mut ids: Vec<_> = seen.reserves.iter().map(|(id, _)| id).collect();
    ids.sort_unstable();
    ids.dedup();
    equal("no id is reserved twice", ids.len(), seen.reserves.len())?;
    for (at, (id, amount)) in seen.reserves.iter().enumerate() {
        let Some(row) = seen.rows.get(at) else {
            equal("the charge of what was not dispatched", 0, charge(id))?;
            continue;
        };
        equal("what is reserved is the row's", id, &row.id)?;
        that(
            "no charge is more than its reservation",
            charge(id) <= *amount,
        )?;
        let is_absurd = case
            .script
            .get(at)
            .is_some_and(|reply| reply.usage == Usage::Absurd);
        that(
            "a charge covers what the row costs",
            is_absurd || row.cost.as_nanos() <= charge(id),
        )?;
    }
    Ok(())
}
