//! C1: a route has at least one candidate that is not on trial.
//!
//! A variant may consist of trial candidates alone: it is for replays, and calls cannot name it (C10).

use crate::diagnostic::{Diagnostic, Sink};
use crate::ir::Route;

pub(super) fn check(route: &Route, sink: &mut Sink) {
    let Some(list) = &route.candidates else {
        return;
    };
    if list.value.is_empty() || list.value.iter().any(|candidate| !candidate.trial) {
        return;
    }
    let message = "every candidate is on trial, and a trial candidate never serves a call";
    let mut finding = Diagnostic::error("no-live-candidates", message)
        .at(list.span)
        .help("remove `trial: true` from a candidate, or add one without it");
    for candidate in &list.value {
        finding = finding.also(candidate.span, "dropped: `trial: true`");
    }
    sink.push(finding);
}
