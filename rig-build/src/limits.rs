//! Does the worst case of a route stay within its `limits`?

use crate::ast::Limits;
use crate::diagnostic::{Diagnostic, Sink};
use crate::source::{Span, Spanned};
use crate::worst::{Worst, clock};

/// Reports every bound beyond its limit, with the sum line by line: that of the plan where it is highest.
pub(crate) fn check(limits: &Limits, plans: &[Worst], sink: &mut Sink) {
    let attempts = |worst: &Worst| worst.attempts;
    let wall_clock = |worst: &Worst| worst.wall_clock_ms;
    let cost = |worst: &Worst| worst.cost;
    if let Some((limit, worst)) = beyond(limits.max_attempts.as_ref(), plans, attempts) {
        report(&format!("{} attempts", worst.attempts), limit, worst, sink);
    }
    if let Some((limit, worst)) = beyond(limits.max_wall_clock_ms.as_ref(), plans, wall_clock) {
        report(&clock(worst.wall_clock_ms), limit, worst, sink);
    }
    if let Some((limit, worst)) = beyond(limits.max_cost.as_ref(), plans, cost) {
        report(&worst.cost.to_string(), limit, worst, sink);
    }
}

/// Returns the place of a limit and the first of the worst plans, where that is beyond it.
fn beyond<'a, T: Copy + Ord>(
    limit: Option<&Spanned<T>>,
    plans: &'a [Worst],
    bound: fn(&Worst) -> T,
) -> Option<(Span, &'a Worst)> {
    let worst = plans.iter().rev().max_by_key(|worst| bound(worst))?;
    let limit = limit.filter(|limit| bound(worst) > limit.value)?;
    Some((limit.span, worst))
}

fn report(bound: &str, at: Span, worst: &Worst, sink: &mut Sink) {
    let what = match &worst.variant {
        None => "a run of this route".to_owned(),
        Some(name) => format!("a run of the variant `{name}`"),
    };
    let mut finding = Diagnostic::error("limits", format!("{what} can take up to {bound}"))
        .at_label(at, "beyond this limit")
        .help(
            "lower budgets, timeouts or `max_output_tokens`, drop a candidate, or raise the limit",
        );
    for part in &worst.parts {
        finding = finding.note(part);
    }
    sink.push(finding);
}
