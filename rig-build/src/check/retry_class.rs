//! C4: only a class that is retried has a budget and a backoff, and each has one.

use rig_spec::{Disposition, FailureClass};

use crate::diagnostic::{Diagnostic, Sink};
use crate::ir::Route;
use crate::source::Spanned;

pub(super) fn check(route: &Route, sink: &mut Sink) {
    let budgets = route
        .retries
        .iter()
        .map(|(class, _)| ("retry budget", class));
    let backoffs = route.backoff.iter().map(|(class, _)| ("backoff", class));
    for (what, class) in budgets.chain(backoffs) {
        never_retried(what, class, sink);
    }
}

fn never_retried(what: &str, class: &Spanned<FailureClass>, sink: &mut Sink) {
    let why = match class.value.spec().disposition {
        Disposition::Retry(_) => return,
        Disposition::FallThrough => "the ladder goes on with the next candidate at once",
        Disposition::Abort => "the run ends with it",
    };
    let message = format!(
        "`{}` takes no {what}: it is never retried, {why}",
        class.value
    );
    let retryable = FailureClass::ALL
        .iter()
        .filter(|class| class.is_retryable());
    let names: Vec<_> = retryable.map(|class| class.name()).collect();
    let help = format!(
        "remove it; the classes that are retried are {}",
        crate::fields::listed(&names)
    );
    sink.push(
        Diagnostic::error("retry-class", message)
            .at(class.span)
            .help(help),
    );
}
