//! A route's name becomes file names and type names. (design.md §2)

use crate::diagnostic::{Diagnostic, Sink};
use crate::ir::Route;

pub(super) fn check(route: &Route, sink: &mut Sink) {
    let Some(name) = &route.name else { return };
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    if name.value.starts_with(|c: char| c.is_ascii_alphabetic()) && name.value.chars().all(allowed)
    {
        return;
    }
    let message = format!("`{}` cannot name a route", name.value);
    let help = "start with a letter, and use only `a-z A-Z 0-9 . _ -`";
    sink.push(
        Diagnostic::error("route-name", message)
            .at(name.span)
            .help(help),
    );
}
