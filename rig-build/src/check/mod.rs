//! Which rules does a route have to keep?
//!
//! One file per rule, listed in [`CHECKS`]. A rule looks at the route as meant and reports; it changes nothing.
//! [`checked`] is the only maker of a [`Checked`] route.

mod checked;
mod does_not_fit;
mod dominated_candidate;
mod duplicate_candidate;
mod duplicate_variable;
mod max_repairs;
mod native_schema;
mod no_candidates;
mod no_live_candidates;
mod no_serveable_candidates;
mod pointless_policy;
mod probed_not_native;
mod prompt_conflict;
mod range;
mod refused_sampling;
mod repair_model;
mod retry_class;
mod route_name;
mod tool;
mod undeclared_variable;
mod ungrounded_candidate;
mod unknown_model;
mod unused_variable;
mod variant_candidate;
mod variant_name;

pub(crate) use checked::{
    Checked, Enforcement, Input, Plan, PlannedCandidate, PlannedGrounding, PlannedRepair,
    input_fields, trial_plans,
};
pub(crate) use no_serveable_candidates::declared_ones;
pub(crate) use route_name::LONGEST_NAME;

use crate::diagnostic::Sink;
use crate::ir::Route;
use crate::{limits, worst};

/// A rule: its code, which is its file's name in kebab-case, and how it is checked.
pub(crate) type Check = (&'static str, fn(&Route, &mut Sink));

/// Every rule.
pub(crate) const CHECKS: [Check; 24] = [
    ("route-name", route_name::check),
    ("no-candidates", no_candidates::check),
    ("no-live-candidates", no_live_candidates::check),
    ("no-serveable-candidates", no_serveable_candidates::check),
    ("unknown-model", unknown_model::check),
    ("probed-not-native", probed_not_native::check),
    ("duplicate-candidate", duplicate_candidate::check),
    ("dominated-candidate", dominated_candidate::check),
    ("max-repairs", max_repairs::check),
    ("repair-model", repair_model::check),
    ("retry-class", retry_class::check),
    ("range", range::check),
    ("pointless-policy", pointless_policy::check),
    ("refused-sampling", refused_sampling::check),
    ("variant-name", variant_name::check),
    ("variant-candidate", variant_candidate::check),
    ("prompt-conflict", prompt_conflict::check),
    ("duplicate-variable", duplicate_variable::check),
    ("undeclared-variable", undeclared_variable::check),
    ("unused-variable", unused_variable::check),
    ("ungrounded-candidate", ungrounded_candidate::check),
    ("tool", tool::check),
    ("native-schema", native_schema::check),
    ("does-not-fit", does_not_fit::check),
];

/// Runs every rule.
pub(crate) fn run(route: &Route, sink: &mut Sink) {
    for (_, check) in CHECKS {
        check(route, sink);
    }
}

/// Returns the route in the form that is generated, or `None` where a part of it was reported. Its worst case, which
/// only a whole route has, is held against its limits here.
pub(crate) fn checked(route: &Route, sink: &mut Sink) -> Option<Checked> {
    if sink.has_errors() {
        return None;
    }
    let checked = checked::plan(route)?;
    limits::check(&route.limits, &worst::of_plans(&checked), sink);
    (!sink.has_errors()).then_some(checked)
}
