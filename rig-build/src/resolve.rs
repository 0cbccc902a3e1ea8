//! Which candidates are left of those that a route names, and in what order?
//!
//! Contract R1, as far as it does not depend on a call: trial candidates go, then `providers.only`,
//! `providers.ignore`, `require`, the price ceiling; what is left is sorted.

use rig_spec::Capability;

use crate::ast::{Json, Prefer, Require};
use crate::ir::{Candidate, Route};

/// The outcome of a resolution.
pub(crate) struct Resolved<'a> {
    /// Who may serve, in ladder order.
    pub(crate) kept: Vec<&'a Candidate>,
    /// Who may not, and the filter that says so.
    pub(crate) removed: Vec<(&'a Candidate, String)>,
}

/// Narrows and orders the candidates of a route or a variant.
pub(crate) fn resolve<'a>(candidates: &[&'a Candidate], route: &Route, json: Json) -> Resolved<'a> {
    let mut resolved = Resolved {
        kept: Vec::new(),
        removed: Vec::new(),
    };
    for candidate in candidates {
        match removed_by(candidate, route, json) {
            Some(filter) => resolved.removed.push((candidate, filter)),
            None => resolved.kept.push(candidate),
        }
    }
    if route
        .routing
        .prefer
        .iter()
        .any(|prefer| prefer.value == Prefer::Cost)
    {
        // Stable, and the unpriced last.
        resolved.kept.sort_by_key(|candidate| {
            let price = candidate.facts.price.map(|price| price.rates.blended());
            (price.is_none(), price)
        });
    }
    resolved
}

/// Returns the first filter, in the contract's order, that removes the candidate.
pub(crate) fn removed_by(candidate: &Candidate, route: &Route, json: Json) -> Option<String> {
    let routing = &route.routing;
    if candidate.trial {
        return Some("`trial: true`".to_owned());
    }
    let provider = candidate.provider.as_ref()?.name();
    if !routing.only.is_empty() && routing.only.iter().all(|name| name.value != provider) {
        return Some(format!("`providers.only` does not name `{provider}`"));
    }
    if routing.ignore.iter().any(|name| name.value == provider) {
        return Some(format!("`providers.ignore` names `{provider}`"));
    }
    if let Some(missing) = routing
        .require
        .iter()
        .find_map(|require| misses(candidate, require.value, route, json))
    {
        return Some(missing);
    }
    let ceiling = routing.max_price.as_ref()?;
    match candidate.facts.price {
        None => Some("`max_price_usd_per_mtok`: its price is not known".to_owned()),
        Some(price) if price.rates.blended() > ceiling.value => {
            let price = dollars(price.rates.blended().as_nanos());
            Some(format!(
                "`max_price_usd_per_mtok`: input and output cost {price} per million tokens"
            ))
        }
        Some(_) => None,
    }
}

/// Returns what the candidate lacks for a requirement (R2).
fn misses(candidate: &Candidate, require: Require, route: &Route, json: Json) -> Option<String> {
    // Who does not search by itself is told what the search provider found.
    if require == Require::Grounded && route.can_search() {
        return None;
    }
    let flags: &[Capability] = match (require, json) {
        (Require::SchemaConformant, Json::Native) => &[Capability::StructuredNative],
        (Require::SchemaConformant, Json::JsonMode) => {
            &[Capability::StructuredNative, Capability::JsonMode]
        }
        (Require::Grounded, _) => &[Capability::GroundedNative],
        (Require::ZeroRetention, _) => &[Capability::ZeroRetention],
        (Require::TraceVisible, _) => &[Capability::TraceVisible],
    };
    if flags
        .iter()
        .any(|flag| candidate.facts.capabilities.has(*flag))
    {
        return None;
    }
    let named: Vec<_> = flags
        .iter()
        .map(|flag| format!("`{}`", flag.name()))
        .collect();
    let source = candidate.facts.source(flags[0]).described();
    let instead = match require {
        Require::Grounded if route.grounding.is_none() => ", and the route has no `grounding`",
        Require::Grounded => ", and `rig.yaml` has no `search`",
        _ => "",
    };
    Some(format!(
        "`require: {}`: no {} ({source}){instead}",
        require.name(),
        named.join(" or ")
    ))
}

fn dollars(nanos: u64) -> String {
    rig_spec::Usd::nanos(nanos).to_string()
}
