//! What holds of what is on trial, of a place in a cache, and of an envelope?

use rig::FailureClass;
use rig::store::RowFailure;

use super::{is_search, that};
use crate::sim::case::Case;
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

// E1, E2, T1: no cap is exceeded, nothing is left reserved, and what was spent covers what the rows cost.
pub(super) fn money_is_kept(case: &Case, seen: &Seen) -> Result<(), String> {
    let Some(cap) = case.options.cap else {
        return that(
            "nothing is reserved without an envelope",
            seen.amounts.is_empty(),
        );
    };
    let (spent, reserved) = seen.envelope;
    equal("what is still reserved", 0, reserved)?;
    that("the cap holds", spent <= cap)?;
    let cost: u64 = seen.rows.iter().map(|row| row.cost.as_nanos()).sum();
    that("what is spent covers the rows", cost <= spent)?;
    let most: u64 = seen.amounts.iter().take(seen.rows.len()).sum();
    that("no more is spent than was reserved", spent <= most)
}
