//! C3: a candidate stands once in a list.

use std::collections::HashMap;

use crate::diagnostic::{Diagnostic, Sink};
use crate::ir::{Candidate, Route};
use crate::source::Spanned;

pub(super) fn check(route: &Route, sink: &mut Sink) {
    repeated(route.candidates.as_ref(), sink);
    for variant in &route.variants {
        repeated(variant.candidates.as_ref(), sink);
    }
}

fn repeated(candidates: Option<&Spanned<Vec<Candidate>>>, sink: &mut Sink) {
    let list = candidates
        .map(|list| list.value.as_slice())
        .unwrap_or_default();
    let mut seen = HashMap::new();
    for candidate in list {
        let Some(key) = candidate.key() else { continue };
        let Some(first) = seen.get(&key).copied() else {
            seen.insert(key, candidate.span);
            continue;
        };
        let finding = Diagnostic::error(
            "duplicate-candidate",
            format!("the candidate `{key}` is listed twice"),
        )
        .at_label(candidate.span, "second time")
        .also(first, "first time")
        .help("remove one; to ask the same model again, raise a retry budget");
        sink.push(finding);
    }
}
