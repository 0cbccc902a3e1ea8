//! C3: a variant narrows; it brings no candidate of its own.

use std::collections::HashSet;

use crate::diagnostic::{Diagnostic, Sink};
use crate::fields::{listed, nearest};
use crate::ir::{Candidate, Route};

pub(super) fn check(route: &Route, sink: &mut Sink) {
    let Some(candidates) = &route.candidates else {
        return;
    };
    let keys: Vec<_> = candidates.value.iter().filter_map(Candidate::key).collect();
    let known: HashSet<_> = keys.iter().map(String::as_str).collect();
    let lists = route
        .variants
        .iter()
        .filter_map(|variant| variant.candidates.as_ref());
    for candidate in lists.flat_map(|list| &list.value) {
        let Some(key) = candidate.key().filter(|key| !known.contains(key.as_str())) else {
            continue;
        };
        let message = format!("the variant's candidate `{key}` is no candidate of the route");
        let help = match nearest(&key, keys.iter().map(String::as_str)) {
            Some(near) => format!("did you mean `{near}`?"),
            None if keys.is_empty() => "declare it under the route's `candidates`".to_owned(),
            None => format!("a variant can only choose among {}", listed(&keys)),
        };
        sink.push(
            Diagnostic::error("variant-candidate", message)
                .at(candidate.span)
                .help(help),
        );
    }
}
