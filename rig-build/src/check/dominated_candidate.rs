//! C14: a candidate that an earlier one of the same provider beats in everything that is known is a warning.
//!
//! How well a model answers is not known, so a dearer one behind a cheaper one is no fault. It is one only where it can
//! also do less: it costs no less, has no larger limits, and lacks a capability that the other has.

use rig_spec::{Capability, Price};

use crate::diagnostic::{Diagnostic, Sink};
use crate::ir::{Candidate, Route};

pub(super) fn check(route: &Route, sink: &mut Sink) {
    let candidates = route.candidates.iter().flat_map(|list| &list.value);
    let live: Vec<_> = candidates.filter(|candidate| !candidate.trial).collect();
    for (index, candidate) in live.iter().enumerate().take(MOST_COMPARED) {
        let earlier = live[..index].iter();
        let found = earlier
            .filter(|earlier| same_provider(earlier, candidate))
            .find_map(|earlier| Some((earlier, lacks(candidate, earlier)?)));
        let Some((earlier, lacking)) = found else {
            continue;
        };
        let (Some(key), Some(better)) = (candidate.key(), earlier.key()) else {
            continue;
        };
        let message = format!(
            "`{key}` can do less than `{better}` before it, and costs no less: it has no `{}`",
            lacking.name()
        );
        let finding = Diagnostic::warning("dominated-candidate", message)
            .at(candidate.span)
            .also(earlier.span, "beats it in everything that is known")
            .help("remove it, or name a candidate of another provider, which does not fail with the first");
        sink.push(finding);
    }
}

/// More candidates than this are no ladder that somebody wrote.
const MOST_COMPARED: usize = 100;

fn same_provider(a: &Candidate, b: &Candidate) -> bool {
    match (&a.provider, &b.provider) {
        (Some(a), Some(b)) => a.name() == b.name(),
        _ => false,
    }
}

/// Returns what `candidate` lacks, where it has nothing that `better` has not.
fn lacks(candidate: &Candidate, better: &Candidate) -> Option<Capability> {
    let (ours, theirs) = (&candidate.facts, &better.facts);
    let costs_no_less = |ours: Price, theirs: Price| {
        ours.rates.input >= theirs.rates.input && ours.rates.output >= theirs.rates.output
    };
    let no_larger = |ours: Option<u64>, theirs: Option<u64>| match (ours, theirs) {
        (Some(ours), Some(theirs)) => ours <= theirs,
        _ => false,
    };
    let no_better = costs_no_less(ours.price?, theirs.price?)
        && no_larger(ours.context_window, theirs.context_window)
        && no_larger(ours.max_output, theirs.max_output)
        && (ours.capabilities.iter()).all(|flag| theirs.capabilities.has(flag));
    let mut more = theirs.capabilities.iter();
    more.find(|flag| no_better && !ours.capabilities.has(*flag))
}
