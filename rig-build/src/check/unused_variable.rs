//! C5: a variable that no template uses is a warning.

use std::collections::HashSet;

use crate::diagnostic::{Diagnostic, Sink};
use crate::ir::Route;
use crate::template::is_name;

pub(super) fn check(route: &Route, sink: &mut Sink) {
    // A template that could not be read may use anything.
    let Some(prompt) = route.prompt.as_ref().filter(|_| route.templates_complete()) else {
        return;
    };
    let used: HashSet<_> = route
        .all_templates()
        .flat_map(|template| template.variables())
        .map(|name| name.value.as_str())
        .collect();
    for variable in &prompt.variables.value {
        let name = &variable.name;
        if used.contains(name.value.as_str()) || !is_name(&name.value) {
            continue;
        }
        let message = format!(
            "the variable `{}` is declared, but no prompt uses it",
            name.value
        );
        let help = format!(
            "remove it, or write `{{{{{}}}}}` where it belongs",
            name.value
        );
        sink.push(
            Diagnostic::warning("unused-variable", message)
                .at(name.span)
                .help(help),
        );
    }
}
