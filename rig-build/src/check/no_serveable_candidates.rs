//! C1: at least one live candidate passes every filter, for the route and for each variant.

use std::collections::HashMap;

use crate::ast::Json;
use crate::diagnostic::{Diagnostic, Sink};
use crate::ir::{Candidate, Route};
use crate::resolve::{Resolved, resolve};
use crate::source::{Span, Spanned};

pub(super) fn check(route: &Route, sink: &mut Sink) {
    let Some(declared) = &route.candidates else {
        return;
    };
    let json = route
        .policy
        .json
        .as_ref()
        .map_or(Json::Native, |json| json.value);
    let all: Vec<_> = declared.value.iter().collect();
    report(
        "the route",
        declared.span,
        &resolve(&all, route, json),
        sink,
    );
    for variant in &route.variants {
        let own = variant.candidates.as_ref();
        let narrowed: Vec<_> = match own {
            Some(list) => declared_ones(&declared.value, list),
            None => all.clone(),
        };
        // A variant that changes neither candidates nor JSON says nothing new.
        if own.is_none() && variant.json.is_none() {
            continue;
        }
        let name = variant.name.as_ref();
        let at = own.map(|list| list.span).or(name.map(|name| name.span));
        let what = format!("the variant `{}`", name.map_or("?", |name| &name.value));
        let json = variant.json.as_ref().map_or(json, |json| json.value);
        report(
            &what,
            at.unwrap_or(declared.span),
            &resolve(&narrowed, route, json),
            sink,
        );
    }
}

/// Returns the route's candidates that a variant names, in the variant's order.
pub(crate) fn declared_ones<'a>(
    declared: &'a [Candidate],
    named: &Spanned<Vec<Candidate>>,
) -> Vec<&'a Candidate> {
    let mut by_key = HashMap::new();
    for candidate in declared {
        by_key.entry(candidate.key()).or_insert(candidate);
    }
    let keys = named.value.iter().map(Candidate::key);
    keys.filter_map(|key| by_key.get(&key).copied()).collect()
}

fn report(what: &str, at: Span, resolved: &Resolved<'_>, sink: &mut Sink) {
    let live = resolved
        .removed
        .iter()
        .any(|(candidate, _)| !candidate.trial);
    // None at all, and trial candidates alone, have findings of their own.
    if !resolved.kept.is_empty() || !live {
        return;
    }
    let message = format!("no candidate is left to serve {what}");
    let mut finding = Diagnostic::error("no-serveable-candidates", message)
        .at(at)
        .help("relax the filter that removes a candidate, or add one that passes them all");
    for (candidate, filter) in &resolved.removed {
        finding = finding.also(candidate.span, format!("removed: {filter}"));
    }
    sink.push(finding);
}
