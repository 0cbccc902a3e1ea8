//! L, R6: a route that grounds its prompt has someone who searches, for each of its candidates.

use rig_spec::Capability;

use crate::ast::Require;
use crate::diagnostic::{Diagnostic, Sink};
use crate::ir::{Candidate, Route};

pub(super) fn check(route: &Route, sink: &mut Sink) {
    let Some(grounding) = &route.grounding else {
        return;
    };
    let candidates = route.candidates.iter().flat_map(|list| &list.value);
    let cannot = |candidate: &&Candidate| {
        let flags = candidate.facts.capabilities;
        !candidate.trial && candidate.provider.is_some() && !flags.has(Capability::GroundedNative)
    };
    let Some(candidate) = candidates.clone().find(cannot) else {
        return;
    };
    let key = candidate.key().unwrap_or_default();
    let Some(search) = &route.project.search else {
        let message = format!("`{key}` cannot search, and nobody searches for it");
        let finding = Diagnostic::error("ungrounded-candidate", message)
            .at(grounding.span)
            .also(candidate.span, "this candidate has no `grounded_native`")
            .help("name a search provider under `search` in `rig.yaml`, or remove `grounding`");
        sink.push(finding);
        return;
    };
    let demand = route.routing.require.iter();
    let mut demand = demand.filter(|require| require.value == Require::ZeroRetention);
    if let Some(demand) = demand.next().filter(|_| !search.zero_retention) {
        let message = "the search provider is not designated to retain nothing";
        let finding = Diagnostic::error("ungrounded-candidate", message)
            .at(grounding.span)
            .also(demand.span, "the route demands it")
            .also(candidate.span, "this candidate has no `grounded_native`")
            .help("write `zero_retention: true` under `search` in `rig.yaml` if it is, or remove `grounding`");
        sink.push(finding);
    }
}
