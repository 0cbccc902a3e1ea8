//! Who may serve a call? The contract's §R, as far as it is decided at run time.

use rig::__private::{Candidate, Capability, Plan, Search};

use crate::sim::case::Case;

/// R1, R6: the candidates that may serve, in their order.
pub(super) fn eligible(case: &Case) -> Vec<&'static Candidate> {
    let may_be_told = |candidate: &&Candidate| {
        let search = searcher(case, candidate);
        search.is_none_or(|search| search.zero_retention || !zero_retention(case))
    };
    let candidates = plan(case).candidates.iter();
    candidates
        .filter(|one| allows(case, one))
        .filter(may_be_told)
        .collect()
}

/// What the call leaves of the plan's candidates; the repair model is held to it too.
pub(super) fn allows(case: &Case, candidate: &Candidate) -> bool {
    let options = &case.options;
    let name = candidate.provider.name;
    let price = candidate.price.map(|price| price.rates);
    let price = price.map(|rates| rates.input.as_nanos() + rates.output.as_nanos());
    options
        .only
        .as_ref()
        .is_none_or(|only| only.contains(&name))
        && !options.ignore.contains(&name)
        && (!zero_retention(case) || candidate.capabilities.has(Capability::ZeroRetention))
        && options
            .max_price
            .is_none_or(|most| price.is_some_and(|price| price <= most))
}

/// R5.
pub(super) fn has_key(case: &Case, candidate: &Candidate) -> bool {
    candidate.provider.key_env.is_none() || case.keys.contains(&candidate.provider.name)
}

/// Who searches for a candidate that cannot, on a route that grounds its prompt.
pub(super) fn searcher(case: &Case, candidate: &Candidate) -> Option<&'static Search> {
    let search = case.route.grounding.as_ref()?.search?;
    (!candidate.capabilities.has(Capability::GroundedNative)).then_some(search)
}

/// Whether a candidate that can is to search the web itself.
pub(super) fn searches_itself(case: &Case, candidate: &Candidate) -> bool {
    case.route.grounding.is_some() && candidate.capabilities.has(Capability::GroundedNative)
}

pub(super) fn zero_retention(case: &Case) -> bool {
    case.route.zero_retention || case.options.zero_retention
}

pub(super) fn plan(case: &Case) -> &'static Plan {
    if case.options.variant {
        &case.route.variants[0].plan
    } else {
        &case.route.plan
    }
}
