//! Does the worst case of a route stay within its `limits`?

use crate::ast::Limits;
use crate::diagnostic::{Diagnostic, Sink};
use crate::source::Span;
use crate::worst::{Worst, clock};

/// Reports every bound beyond its limit, with the sum line by line.
pub(crate) fn check(limits: &Limits, worst: &Worst, sink: &mut Sink) {
    let attempts = limits.max_attempts.as_ref();
    if let Some(limit) = attempts.filter(|limit| worst.attempts > limit.value) {
        report(
            &format!("{} attempts", worst.attempts),
            limit.span,
            worst,
            sink,
        );
    }
    let wall_clock = limits.max_wall_clock_ms.as_ref();
    if let Some(limit) = wall_clock.filter(|limit| worst.wall_clock_ms > limit.value) {
        report(&clock(worst.wall_clock_ms), limit.span, worst, sink);
    }
    let cost = limits.max_cost.as_ref();
    if let Some(limit) = cost.filter(|limit| worst.cost > limit.value) {
        report(&worst.cost.to_string(), limit.span, worst, sink);
    }
}

fn report(bound: &str, at: Span, worst: &Worst, sink: &mut Sink) {
    let message = format!("a run of this route can take up to {bound}");
    let mut finding = Diagnostic::error("limits", message)
        .at_label(at, "beyond this limit")
        .help(
            "lower budgets, timeouts or `max_output_tokens`, drop a candidate, or raise the limit",
        );
    for part in &worst.parts {
        finding = finding.note(part);
    }
    sink.push(finding);
}
