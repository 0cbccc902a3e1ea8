//! C2: the repair model is a live candidate of the route, and there when it is needed.

use rig_spec::Capability;

use crate::ast::Require;
use crate::diagnostic::{Diagnostic, Sink};
use crate::fields::{listed, nearest};
use crate::ir::{Candidate, Repair, Route};

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
        excluded(repair, route, &candidates.value, sink);
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

/// A repair model gets the answer to repair: where the route demands zero retention, so does its repair (R6).
fn excluded(repair: &Repair, route: &Route, candidates: &[Candidate], sink: &mut Sink) {
    let mut demands = route.routing.require.iter();
    let Some(demand) = demands.find(|require| require.value == Require::ZeroRetention) else {
        return;
    };
    let Some(model) = &repair.model else { return };
    let declared = candidates
        .iter()
        .find(|candidate| candidate.key().as_ref() == Some(&model.value));
    let Some(candidate) =
        declared.filter(|candidate| !candidate.facts.capabilities.has(Capability::ZeroRetention))
    else {
        return;
    };
    let source = candidate
        .facts
        .source(Capability::ZeroRetention)
        .described();
    let message = format!(
        "the repair model `{}` is not designated to retain nothing ({source})",
        model.value
    );
    let finding = Diagnostic::error("repair-model", message)
        .at(model.span)
        .also(demand.span, "the route demands it")
        .help("name a repair model that is, or write `max_repairs: 1`");
    sink.push(finding);
}
