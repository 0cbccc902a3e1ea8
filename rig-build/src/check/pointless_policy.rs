//! C14: a policy that cannot have the effect its author expects is a warning.

use rig_spec::{Cache, CacheDirective, FailureClass, Policy};

use super::does_not_fit::beside_the_prompt;
use super::range::MOST_RETRIES;
use crate::diagnostic::{Diagnostic, Sink};
use crate::ir::{ProviderRef, Route};
use crate::source::Spanned;
use crate::template::{Segment, Template};
use crate::tokens::{TokenizerFamily, at_most};
use crate::worst::{clock, waits_ms};

pub(super) fn check(route: &Route, sink: &mut Sink) {
    let can_end = route.candidates.iter().flat_map(|all| &all.value).any(|candidate| {
        let provider = candidate.provider.as_ref();
        matches!(provider, Some(ProviderRef::BuiltIn(provider)) if provider.cache == CacheDirective::CachedContent)
    });
    for (class, budget) in &route.retries {
        if !can_end && class.value == FailureClass::CacheInvalid && budget.value > 0 {
            let message = "`cache_invalid` cannot occur: no candidate takes the name of a cache";
            let help = "remove the budget";
            let finding = Diagnostic::warning("pointless-policy", message);
            sink.push(finding.at(class.span).help(help));
        }
    }
    waits_longer_than_the_rest(route, sink);
    times_that_never_count(route, sink);
    deadline_of_one(route, sink);
    cache_without_prefix(route, sink);
}

/// A wait within an attempt that is as long as the attempt may be never ends it.
fn times_that_never_count(route: &Route, sink: &mut Sink) {
    let policy = &route.policy;
    let timeout = timeout_ms(route);
    let times = [
        ("first_token_ms", &policy.first_token_ms),
        ("idle_ms", &policy.idle_ms),
        ("timeout_ms", &policy.timeout_ms),
    ];
    let bounds = [
        ("timeout_ms", Some(timeout)),
        ("timeout_ms", Some(timeout)),
        (
            "deadline_ms",
            policy.deadline_ms.as_ref().map(|ms| ms.value),
        ),
    ];
    for ((name, time), (outer, bound)) in times.into_iter().zip(bounds) {
        let Some(time) = time.as_ref() else { continue };
        // A time of nothing is out of range, and has that finding.
        let Some(bound) = bound.filter(|bound| *bound > 0 && time.value >= *bound) else {
            continue;
        };
        let message = format!(
            "`{name}: {}` never counts: `{outer}` ({bound} ms) ends the wait before",
            time.value
        );
        let help = format!("write less than {bound}, or remove `{name}`");
        let finding = Diagnostic::warning("pointless-policy", message);
        sink.push(finding.at(time.span).help(help));
    }
}

/// A deadline that the first candidate alone can use up leaves the others none.
fn deadline_of_one(route: &Route, sink: &mut Sink) {
    let Some(deadline) = &route.policy.deadline_ms else {
        return;
    };
    let timeout = timeout_ms(route);
    // That a single attempt takes as long has a finding of its own where `timeout_ms` says so.
    let said = route.policy.timeout_ms.is_some() && timeout >= deadline.value;
    if live(route) < 2 || said {
        return;
    }
    let budgets = route.retries.iter().filter(in_range);
    let first = budgets.fold(timeout, |sum, (class, budget)| {
        let waits = waits_ms(route.backoff_of(class.value), budget.value, 0);
        sum.saturating_add(budget.value.saturating_mul(timeout))
            .saturating_add(waits)
    });
    if first < deadline.value {
        return;
    }
    let message = format!(
        "the first candidate alone can use up the deadline: its attempts and waits take up to {}",
        clock(first)
    );
    let help = format!(
        "write `deadline_ms: {}` to leave time for one attempt at the next, or lower `timeout_ms` or the budgets",
        first.saturating_add(timeout)
    );
    let finding = Diagnostic::warning("pointless-policy", message);
    sink.push(finding.at(deadline.span).help(help));
}

/// Only what all calls begin with can be read from a cache, and only from a certain length on.
fn cache_without_prefix(route: &Route, sink: &mut Sink) {
    let Some(cache) = route
        .cache
        .as_ref()
        .filter(|cache| cache.value == Cache::Auto)
    else {
        return;
    };
    let candidates = route.candidates.iter().flat_map(|list| &list.value);
    let live = candidates.filter(|candidate| !candidate.trial);
    let smallest = live.map(|candidate| match &candidate.provider {
        Some(ProviderRef::BuiltIn(provider)) => provider.cached_prefix,
        Some(ProviderRef::Host(_)) | None => None,
    });
    // One that does not say from when on it caches may cache anything.
    let Some(smallest) = smallest.collect::<Option<Vec<_>>>() else {
        return;
    };
    let Some(smallest) = smallest.into_iter().min() else {
        return;
    };
    // Calls without variables share everything, whatever that is.
    if route
        .templates()
        .all(|template| template.variables().is_empty())
    {
        return;
    }
    let family = TokenizerFamily::Unknown;
    let prompts = route
        .templates()
        .map(|template| at_most(&shared(template), family));
    let most = beside_the_prompt(route, family).saturating_add(prompts.sum());
    if most >= smallest {
        return;
    }
    let message = format!(
        "`cache: auto` can never hit: calls share at most {most} tokens, and no candidate caches fewer than {smallest}"
    );
    let help = "put what all calls share in front of the first `{{variable}}`, or remove `cache`";
    let finding = Diagnostic::warning("pointless-policy", message);
    sink.push(finding.at(cache.span).help(help));
}

/// Returns what a template may write before its first variable.
fn shared(template: &Template) -> String {
    let mut out = String::new();
    for segment in &template.segments {
        match segment {
            Segment::Text(text) => out.push_str(text),
            Segment::Variable(_) => break,
            Segment::When { body, .. } => {
                for inner in body {
                    match inner {
                        Segment::Text(text) => out.push_str(text),
                        Segment::Variable(_) | Segment::When { .. } => break,
                    }
                }
            }
        }
    }
    out
}

/// Returns how many candidates may serve.
fn live(route: &Route) -> usize {
    let candidates = route.candidates.iter().flat_map(|list| &list.value);
    candidates.filter(|candidate| !candidate.trial).count()
}

fn timeout_ms(route: &Route) -> u64 {
    let timeout = route.policy.timeout_ms.as_ref();
    timeout.map_or(Policy::DEFAULT_TIMEOUT_MS, |timeout| timeout.value)
}

/// A budget out of range has a finding of its own.
fn in_range<T>((_, budget): &&(T, Spanned<u64>)) -> bool {
    budget.value <= MOST_RETRIES
}

/// Waiting for a candidate that sheds load is pointless while the next one could have answered several times.
fn waits_longer_than_the_rest(route: &Route, sink: &mut Sink) {
    let rest = timeout_ms(route).saturating_mul(live(route).saturating_sub(1) as u64);
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
