//! A route's name becomes file names and type names. (design.md §2)

use crate::diagnostic::{Diagnostic, Sink};
use crate::ir::Route;

/// The longest name of a route: with what is written behind it, every system takes it as a file's.
pub(crate) const LONGEST_NAME: usize = 100;

pub(super) fn check(route: &Route, sink: &mut Sink) {
    let Some(name) = &route.name else { return };
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    if name.value.len() > LONGEST_NAME {
        let message = format!("the route's name is longer than {LONGEST_NAME} letters");
        let finding = Diagnostic::error("route-name", message).at(name.span);
        sink.push(finding.help("choose a shorter one; files are named after it"));
        return;
    }
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
