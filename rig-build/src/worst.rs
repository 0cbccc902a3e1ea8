//! What is the worst that a call of a route can do?
//!
//! Contract C9: most attempts, longest wall clock, highest cost, from budgets, timeouts, backoffs, repair and prices.
//! The arithmetic is exact: the ladder reaches the bound on attempts, and never exceeds any of the three.

use rig_spec::{Backoff, Capability, FailureClass, Usd};

use crate::check::{Checked, Plan, PlannedCandidate};

/// The worst case of a plan, or of a route over all its plans.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Worst {
    /// The variant whose plan it is.
    pub(crate) variant: Option<String>,
    pub(crate) attempts: u64,
    pub(crate) wall_clock_ms: u64,
    pub(crate) cost: Usd,
    /// How the sums come about, one line a part.
    pub(crate) parts: Vec<String>,
}

/// Returns the worst case of a route: in each respect that of its own plan, or of a variant that is worse.
pub(crate) fn of_route(route: &Checked) -> Worst {
    let plans = of_plans(route);
    plans.iter().fold(Worst::default(), |worst, plan| Worst {
        attempts: worst.attempts.max(plan.attempts),
        wall_clock_ms: worst.wall_clock_ms.max(plan.wall_clock_ms),
        cost: worst.cost.max(plan.cost),
        ..worst
    })
}

/// Returns the worst case of the route's own plan, then that of each variant.
pub(crate) fn of_plans(route: &Checked) -> Vec<Worst> {
    let own = of_plan(&route.plan, route);
    let variants = route.variants.iter().map(|(name, plan)| Worst {
        variant: Some(name.clone()),
        ..of_plan(plan, route)
    });
    std::iter::once(own).chain(variants).collect()
}

/// Returns the worst case of a plan; nothing where nobody is left to serve.
pub(crate) fn of_plan(plan: &Plan, route: &Checked) -> Worst {
    if plan.candidates.is_empty() {
        return Worst::default();
    }
    let retries: u64 = route.retries.iter().map(|(_, budget)| budget).sum();
    let attempts = 1 + retries;
    let waits = |(class, budget): &(FailureClass, u64)| {
        let backoff = route.backoff_of(*class);
        let asked = if class.heeds_retry_after() {
            FailureClass::LONGEST_WAIT_MS
        } else {
            0
        };
        waits_ms(backoff, *budget, asked)
    };
    let waits: u64 = route.retries.iter().map(waits).sum();
    let wall_clock_ms = attempts * route.timeout_ms + waits;
    let mut worst = Worst::default();
    // A search that fails takes the place of an attempt; one that succeeds is an attempt more, once a run.
    let search = route
        .grounding
        .as_ref()
        .and_then(|grounding| grounding.search.as_ref());
    let is_told =
        |candidate: &PlannedCandidate| !candidate.capabilities.has(Capability::GroundedNative);
    let search = search.filter(|_| plan.candidates.iter().any(is_told));
    if let Some(search) = search {
        worst.add("search", 1, route.timeout_ms, search.cost);
    }
    for candidate in &plan.candidates {
        let each = most(candidate, route);
        let query = search
            .filter(|_| is_told(candidate))
            .map(|search| search.cost);
        let each = each.max(query.unwrap_or_default());
        let key = format!("{}/{}", candidate.provider.name(), candidate.model);
        worst.add(&key, attempts, wall_clock_ms, each);
    }
    if let Some(repair) = &plan.repair {
        let bounds = plan
            .candidates
            .iter()
            .map(|candidate| most(candidate, route));
        worst.add(
            "repair by the model that answered",
            1,
            route.timeout_ms,
            bounds.max().unwrap_or_default(),
        );
        if let Some(model) = &repair.model {
            let each = most(model, route);
            worst.add("repair by the repair model", 1, route.timeout_ms, each);
        }
    }
    // L16: a run does not outlast its deadline.
    if let Some(deadline) = route.deadline_ms.filter(|ms| *ms < worst.wall_clock_ms) {
        worst.wall_clock_ms = deadline;
        worst
            .parts
            .push(format!("the run ends after {}", clock(deadline)));
    }
    worst
}

/// Returns the most that one attempt can cost: with a prompt that fills the context window, and all the searches that the
/// provider may make.
fn most(candidate: &PlannedCandidate, route: &Checked) -> Usd {
    let output = route.max_output_tokens;
    let searches =
        route.grounding.is_some() && candidate.capabilities.has(Capability::GroundedNative);
    let search = searches.then(|| candidate.provider.search_fee(&candidate.model));
    let limits = &candidate.limits;
    limits.most(candidate.price, u64::MAX, output, search)
}

impl Worst {
    fn add(&mut self, what: &str, attempts: u64, wall_clock_ms: u64, each: Usd) {
        let cost = Usd::nanos(each.as_nanos().saturating_mul(attempts));
        self.attempts += attempts;
        self.wall_clock_ms += wall_clock_ms;
        self.cost = self.cost + cost;
        let clock = clock(wall_clock_ms);
        self.parts
            .push(format!("{what}: {attempts} × {each} = {cost}, {clock}"));
    }
}

/// Returns the longest that the waits before this many retries take together, where a provider may ask for `asked`.
pub(crate) fn waits_ms(backoff: Backoff, budget: u64, asked: u64) -> u64 {
    let wait = |retry| {
        let longest = backoff
            .wait(u32::try_from(retry).unwrap_or(u32::MAX), 1.0)
            .as_millis();
        u64::try_from(longest).unwrap_or(u64::MAX).max(asked)
    };
    (0..budget).map(wait).fold(0, u64::saturating_add)
}

/// Returns a duration in milliseconds as a person says it: `12 min 4 s`.
#[must_use]
pub fn clock(ms: u64) -> String {
    let (hours, minutes, seconds, ms) = (
        ms / 3_600_000,
        ms / 60_000 % 60,
        ms / 1_000 % 60,
        ms % 1_000,
    );
    let parts = [(hours, "h"), (minutes, "min"), (seconds, "s"), (ms, "ms")];
    let shown: Vec<_> = parts
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, unit)| format!("{count} {unit}"))
        .collect();
    if shown.is_empty() {
        "0 s".to_owned()
    } else {
        shown.join(" ")
    }
}

#[cfg(test)]
mod tests {
    use super::clock;

    #[test]
    fn durations_read_as_people_say_them() {
        assert_eq!(clock(724_000), "12 min 4 s");
        assert_eq!(clock(3_600_500), "1 h 500 ms");
        assert_eq!(clock(0), "0 s");
    }
}
