//! C14: a policy that cannot have the effect its author expects is a warning.

use rig_spec::FailureClass;

use super::range::MOST_RETRIES;
use crate::diagnostic::{Diagnostic, Sink};
use crate::ir::Route;
use crate::source::Spanned;
use crate::worst::{clock, waits_ms};

pub(super) fn check(route: &Route, sink: &mut Sink) {
    for (class, budget) in &route.retries {
        if class.value == FailureClass::CacheInvalid && budget.value > 0 {
            let message = "`cache_invalid` cannot occur: no candidate takes a cache handle";
            let help = "remove the budget";
            let finding = Diagnostic::warning("pointless-policy", message);
            sink.push(finding.at(class.span).help(help));
        }
    }
    waits_longer_than_the_rest(route, sink);
}

/// Waiting for a candidate that sheds load is pointless while the next one could have answered several times.
fn waits_longer_than_the_rest(route: &Route, sink: &mut Sink) {
    let Some(candidates) = &route.candidates else {
        return;
    };
    let live = candidates
        .value
        .iter()
        .filter(|candidate| !candidate.trial)
        .count();
    let timeout = route.policy.timeout_ms.as_ref();
    let timeout = timeout.map_or(rig_spec::Policy::DEFAULT_TIMEOUT_MS, |timeout| {
        timeout.value
    });
    let rest = timeout.saturating_mul(live.saturating_sub(1) as u64);
    let in_range = |(_, budget): &&(_, Spanned<u64>)| budget.value <= MOST_RETRIES;
    for (class, budget) in route.retries.iter().filter(in_range) {
        let backoff = route.backoff_of(class.value);
        let waits = waits_ms(backoff, budget.value, 0);
        if rest == 0 || waits <= rest {
            continue;
        }
        let fits = (0..budget.value)
            .rev()
            .find(|fewer| waits_ms(backoff, *fewer, 0) <= rest)
            .unwrap_or(0);
        let message = format!(
            "the waits of `{}` take {} before the next candidate is asked, longer than an attempt at each of the others may take ({})",
            class.value,
            clock(waits),
            clock(rest)
        );
        let help = format!(
            "write `{}: {fits}`, or shorten `policy.backoff.{}`",
            class.value, class.value
        );
        sink.push(
            Diagnostic::warning("pointless-policy", message)
                .at(budget.span)
                .help(help),
        );
    }
}
