//! What does the ladder do after an attempt?
//!
//! The contract's ladder (§L) and failure classes (§K) as one pure function: no clock, no dispatch, and chance
//! comes in as a number. The ladder does what it says.

use std::time::Duration;

use rig_spec::{Disposition, FailureClass, Policy};

use crate::attempt::{Answer, Outcome};
use crate::conform::Nonconformant;
use crate::provider::Failed;
use crate::search::Finding;

/// The longest wait that a provider may ask for; one that asks for more is left for the next candidate.
pub(crate) const LONGEST_WAIT: Duration = Duration::from_millis(FailureClass::LONGEST_WAIT_MS);

/// What the ladder does next.
#[derive(Debug, PartialEq)]
pub(crate) enum Step {
    /// Returns the answer.
    Serve(Box<Answer>),
    /// Has the last schema-invalid answer repaired.
    Repair(Repairer, Nonconformant),
    /// Asks the same candidate, which can now be told what was found.
    Ground(Vec<Finding>),
    /// Asks the same candidate again after this wait.
    Retry(Duration),
    /// Goes on to the next candidate.
    FallThrough,
    /// Goes on to the next candidate, since the wait before a retry would not end before the run does.
    TooLate,
    /// Ends the run.
    Abort,
}

/// Who repairs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Repairer {
    /// The model that answered.
    SameModel,
    /// The route's repair model.
    RepairModel,
}

/// What a run has used up.
#[derive(Debug)]
pub(crate) struct LadderState<'a> {
    policy: &'a Policy,
    /// The units of the repair rung that are left. It is armed once per run.
    repairs: &'static [Repairer],
    /// The answer under repair, while the rung runs.
    under_repair: Option<Nonconformant>,
    /// The retries of the present candidate, by class.
    retried: [u32; FailureClass::ALL.len()],
    /// Whether the present candidate has answered with something schema-invalid.
    was_invalid: bool,
    /// Whether the present candidate has refused the caller's cache handle.
    drops_handle: bool,
}

/// Decides what follows an attempt of the present candidate, or of the repair rung in its place.
///
/// `chance`, between 0 and 1, picks the jitter of a wait; `left` is what a run with a deadline has left.
pub(crate) fn step(
    state: &mut LadderState<'_>,
    outcome: Outcome,
    chance: f64,
    left: Option<Duration>,
) -> Step {
    match decide(state, outcome, chance) {
        // L16: it is not begun. The next candidate may be in time.
        Step::Retry(wait) if left.is_some_and(|left| wait >= left) => {
            state.fall_through();
            Step::TooLate
        }
        decided => decided,
    }
}

fn decide(state: &mut LadderState<'_>, outcome: Outcome, chance: f64) -> Step {
    let under_repair = state.under_repair.take();
    // L10, also where a repair found out.
    if let Outcome::Failed(failed) = &outcome {
        state.drops_handle |= failed.class == FailureClass::CacheInvalid;
    }
    match (outcome, under_repair) {
        (Outcome::Conformant(answer) | Outcome::ToolCalls(answer), _) => Step::Serve(answer),
        (Outcome::Failed(failed), _) if failed.class.spec().disposition == Disposition::Abort => {
            Step::Abort
        }
        (Outcome::Found(found), _) => Step::Ground(found),
        // L16: nothing more is started.
        (Outcome::Late(_), _) => Step::Abort,
        // L5: no other candidate is asked, since the caller has set what the run may spend.
        (Outcome::Unfunded(_), _) => Step::Abort,
        // L8: the schema is met, so there is nothing to repair. L7: a rung that has run is not armed again.
        (Outcome::QualityRejected, repaired) => {
            if repaired.is_some() {
                state.repairs = &[];
            }
            state.retry(FailureClass::QualityRejected, Duration::ZERO, chance)
        }
        (Outcome::Nonconformant(answer), _) => {
            state.was_invalid = true;
            state.repair_or_retry(answer, chance)
        }
        // However a repair failed, it has used its unit.
        (_, Some(answer)) => state.repair_or_retry(answer, chance),
        (Outcome::Truncated { .. } | Outcome::Keyless { .. }, None) => state.fall_through(),
        (Outcome::Failed(failed), None) if failed.rejected || asks_too_long(&failed) => {
            state.fall_through()
        }
        (Outcome::Failed(failed), None) => {
            let asked = failed
                .retry_after
                .filter(|_| failed.class.heeds_retry_after());
            state.retry(failed.class, asked.unwrap_or_default(), chance)
        }
    }
}

/// Returns whether a provider asks for a longer wait than anybody waits.
pub(crate) fn asks_too_long(failed: &Failed) -> bool {
    failed.class.heeds_retry_after() && failed.retry_after.is_some_and(|wait| wait > LONGEST_WAIT)
}

impl<'a> LadderState<'a> {
    /// Returns the state at the start of a run.
    pub(crate) fn new(policy: &'a Policy, max_repairs: u8) -> Self {
        const UNITS: &[Repairer] = &[Repairer::SameModel, Repairer::RepairModel];
        let units = usize::from(max_repairs);
        Self {
            policy,
            repairs: &UNITS[..units.min(UNITS.len())],
            under_repair: None,
            retried: [0; FailureClass::ALL.len()],
            was_invalid: false,
            drops_handle: false,
        }
    }

    /// Returns whether the present candidate has answered with something schema-invalid.
    pub(crate) fn was_invalid(&self) -> bool {
        self.was_invalid
    }

    /// Returns whether the present candidate has refused the caller's cache handle.
    pub(crate) fn drops_handle(&self) -> bool {
        self.drops_handle
    }

    fn repair_or_retry(&mut self, answer: Nonconformant, chance: f64) -> Step {
        let Some((next, rest)) = self.repairs.split_first() else {
            return self.retry(FailureClass::ContentInvalid, Duration::ZERO, chance);
        };
        self.repairs = rest;
        self.under_repair = Some(answer.clone());
        Step::Repair(*next, answer)
    }

    /// Asks again within the budget of the class; the provider's wait lengthens the backoff.
    fn retry(&mut self, class: FailureClass, at_least: Duration, chance: f64) -> Step {
        let budget = self.policy.retry_budget(class);
        let retried = &mut self.retried[class as usize];
        if !class.is_retryable() || *retried >= budget {
            return self.fall_through();
        }
        let backoff = self.policy.backoff(class).wait(*retried, chance);
        *retried += 1;
        Step::Retry(backoff.max(at_least))
    }

    /// Arms all budgets anew for the next candidate.
    fn fall_through(&mut self) -> Step {
        self.retried = [0; FailureClass::ALL.len()];
        self.was_invalid = false;
        self.drops_handle = false;
        Step::FallThrough
    }
}

#[cfg(test)]
mod tests;
