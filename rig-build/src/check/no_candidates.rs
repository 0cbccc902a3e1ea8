//! C1: a route, and a variant that names candidates, has at least one.

use crate::diagnostic::{Diagnostic, Sink};
use crate::ir::{Candidate, Route};
use crate::source::Spanned;

pub(super) fn check(route: &Route, sink: &mut Sink) {
    empty("the route", route.candidates.as_ref(), sink);
    for variant in &route.variants {
        let name = variant.name.as_ref().map_or("?", |name| &name.value);
        empty(
            &format!("the variant `{name}`"),
            variant.candidates.as_ref(),
            sink,
        );
    }
}

fn empty(what: &str, candidates: Option<&Spanned<Vec<Candidate>>>, sink: &mut Sink) {
    let Some(list) = candidates.filter(|list| list.value.is_empty()) else {
        return;
    };
    let message = format!("{what} has no candidates: nothing could ever serve it");
    let help = "name at least one, e.g. `{ provider: openai, model: gpt-5.4-mini }`";
    sink.push(
        Diagnostic::error("no-candidates", message)
            .at(list.span)
            .help(help),
    );
}
