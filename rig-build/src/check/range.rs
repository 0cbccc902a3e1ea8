//! C4: numbers are in their ranges.

use crate::diagnostic::{Diagnostic, Sink};
use crate::ir::Route;
use crate::source::Spanned;

/// More attempts or waiting than any run can use; also what keeps the arithmetic of the ladder exact.
pub(super) const MOST_RETRIES: u64 = 1_000;
const MOST_MS: u64 = 86_400_000;
const MOST: u64 = u32::MAX as u64;

pub(super) fn check(route: &Route, sink: &mut Sink) {
    let policy = &route.policy;
    whole("version", route.version.as_ref(), 1, MOST, "", sink);
    let times = [
        ("timeout_ms", &policy.timeout_ms),
        ("first_token_ms", &policy.first_token_ms),
        ("idle_ms", &policy.idle_ms),
        ("deadline_ms", &policy.deadline_ms),
    ];
    for (name, time) in times {
        whole(name, time.as_ref(), 1, MOST_MS, " ms", sink);
    }
    whole(
        "max_output_tokens",
        policy.max_output_tokens.as_ref(),
        1,
        MOST,
        "",
        sink,
    );
    decimal(
        "temperature",
        policy.temperature.as_ref(),
        |t| (0.0..=2.0).contains(&t),
        "0 to 2",
        sink,
    );
    decimal(
        "top_p",
        policy.top_p.as_ref(),
        |p| p > 0.0 && p <= 1.0,
        "above 0, at most 1",
        sink,
    );
    let variables = route
        .prompt
        .iter()
        .flat_map(|prompt| &prompt.variables.value);
    for variable in variables {
        whole("max_chars", variable.max_chars.as_ref(), 1, MOST, "", sink);
    }
    for (_, budget) in &route.retries {
        whole("a retry budget", Some(budget), 0, MOST_RETRIES, "", sink);
    }
    for (_, backoff) in &route.backoff {
        whole("first", backoff.first_ms.as_ref(), 0, MOST_MS, " ms", sink);
        whole("cap", backoff.cap_ms.as_ref(), 0, MOST_MS, " ms", sink);
        decimal(
            "factor",
            backoff.factor.as_ref(),
            |f| (1.0..=100.0).contains(&f),
            "1 to 100",
            sink,
        );
        decimal(
            "jitter",
            backoff.jitter.as_ref(),
            |j| (0.0..=1.0).contains(&j),
            "0 to 1",
            sink,
        );
    }
}

fn whole(
    name: &str,
    number: Option<&Spanned<u64>>,
    least: u64,
    most: u64,
    unit: &str,
    sink: &mut Sink,
) {
    let Some(number) = number.filter(|number| !(least..=most).contains(&number.value)) else {
        return;
    };
    report(
        name,
        &format!("{}{unit}", number.value),
        &format!("{least} to {most}{unit}"),
        number,
        sink,
    );
}

fn decimal(
    name: &str,
    number: Option<&Spanned<f64>>,
    fits: fn(f64) -> bool,
    range: &str,
    sink: &mut Sink,
) {
    let Some(number) = number.filter(|number| !fits(number.value)) else {
        return;
    };
    report(name, &number.value.to_string(), range, number, sink);
}

fn report<T>(name: &str, found: &str, range: &str, at: &Spanned<T>, sink: &mut Sink) {
    let name = if name.contains(' ') {
        name.to_owned()
    } else {
        format!("`{name}`")
    };
    let message = format!("{name} is out of range: {found}");
    let help = format!("the range is {range}");
    sink.push(Diagnostic::error("range", message).at(at.span).help(help));
}
