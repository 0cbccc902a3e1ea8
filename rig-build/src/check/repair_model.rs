//! C2: the repair model is a live candidate of the route, and there when it is needed.

use crate::ast::Json;
use crate::diagnostic::{Diagnostic, Sink};
use crate::fields::{listed, nearest};
use crate::ir::{Candidate, Repair, Route};
use crate::resolve::removed_by;
use crate::source::Spanned;

pub(super) fn check(route: &Route, sink: &mut Sink) {
    let Some(candidates) = &route.candidates else {
        return;
    };
    let all = route.repair.iter().chain(
        route
            .variants
            .iter()
            .filter_map(|variant| variant.repair.as_ref()),
    );
    for repair in all {
        one(repair, &candidates.value, sink);
    }
    let json = |own: &Option<Spanned<Json>>| own.as_ref().map(|json| json.value);
    let of_route = json(&route.policy.json).unwrap_or(Json::Native);
    let is_excluded = |repair: &Option<Repair>, json, sink: &mut Sink| {
        let repair = repair.as_ref();
        repair.is_some_and(|repair| excluded(repair, json, route, &candidates.value, sink))
    };
    let is_reported = is_excluded(&route.repair, of_route, sink);
    for variant in &route.variants {
        let own = json(&variant.json);
        if variant.repair.is_some() {
            is_excluded(&variant.repair, own.unwrap_or(of_route), sink);
        } else if let Some(own) = own.filter(|_| !is_reported) {
            is_excluded(&route.repair, own, sink);
        }
    }
}

fn one(repair: &Repair, candidates: &[Candidate], sink: &mut Sink) {
    let live: Vec<_> = candidates
        .iter()
        .filter(|candidate| !candidate.trial)
        .filter_map(Candidate::key)
        .collect();
    let count = repair.max_repairs.as_ref();
    let Some(model) = &repair.model else {
        if let Some(count) = count.filter(|count| count.value == 2) {
            let example = live.first().map_or("openai/gpt-5.4-mini", String::as_str);
            let finding =
                Diagnostic::error("repair-model", "`max_repairs: 2` needs a `repair_model`")
                    .at(count.span)
                    .help(format!(
                        "add `repair_model: {example}`, or write `max_repairs: 1`"
                    ));
            sink.push(finding);
        }
        return;
    };
    let declared = candidates
        .iter()
        .find(|candidate| candidate.key().as_ref() == Some(&model.value));
    let finding = match declared {
        Some(candidate) if candidate.trial => {
            let message = format!(
                "the repair model `{}` is on trial, and a trial candidate never serves a call",
                model.value
            );
            Diagnostic::error("repair-model", message)
                .at(model.span)
                .also(candidate.span, "declared with `trial: true`")
                .help(format!("name a live candidate: {}", listed(&live)))
        }
        None => {
            let message = format!(
                "the repair model `{}` is no candidate of the route",
                model.value
            );
            let help = match nearest(&model.value, live.iter().map(String::as_str)) {
                Some(near) => format!("did you mean `{near}`?"),
                None if live.is_empty() => "declare it under `candidates`".to_owned(),
                None => format!(
                    "name one of {}, or declare it under `candidates`",
                    listed(&live)
                ),
            };
            Diagnostic::error("repair-model", message)
                .at(model.span)
                .help(help)
        }
        Some(_) if count.is_some_and(|count| count.value == 1) => Diagnostic::warning(
            "repair-model",
            "`repair_model` is never asked: `max_repairs: 1` asks the same model again",
        )
        .at(model.span)
        .help("write `max_repairs: 2`, or remove `repair_model`"),
        Some(_) => return,
    };
    sink.push(finding);
}

/// R7: every filter of the route binds its repair model as well. Returns whether one excludes it.
fn excluded(
    repair: &Repair,
    json: Json,
    route: &Route,
    candidates: &[Candidate],
    sink: &mut Sink,
) -> bool {
    let Some(model) = &repair.model else {
        return false;
    };
    let declared = candidates
        .iter()
        .find(|candidate| candidate.key().as_ref() == Some(&model.value));
    // What is on trial has its own finding.
    let live = declared.filter(|candidate| !candidate.trial);
    let Some(filter) = live.and_then(|candidate| removed_by(candidate, route, json)) else {
        return false;
    };
    let message = format!(
        "the route excludes its own repair model `{}`: {filter}",
        model.value
    );
    let finding = Diagnostic::error("repair-model", message)
        .at(model.span)
        .help("name a repair model that the route keeps, or write `max_repairs: 1`");
    sink.push(finding);
    true
}
