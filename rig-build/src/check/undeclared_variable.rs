//! C5: a template uses only variables that the route declares.

use std::collections::HashSet;

use crate::diagnostic::{Diagnostic, Sink};
use crate::fields::nearest;
use crate::ir::Route;

pub(super) fn check(route: &Route, sink: &mut Sink) {
    let Some(prompt) = &route.prompt else { return };
    let declared: Vec<_> = prompt
        .variables
        .value
        .iter()
        .map(|variable| variable.name.value.as_str())
        .collect();
    let known: HashSet<_> = declared.iter().copied().collect();
    for used in route
        .all_templates()
        .flat_map(|template| template.variables())
    {
        let name = used.value.as_str();
        if known.contains(name) {
            continue;
        }
        let message =
            format!("the prompt uses `{{{{{name}}}}}`, which `prompt.variables` does not declare");
        let help = match nearest(name, declared.iter().copied()) {
            Some(near) => format!("did you mean `{{{{{near}}}}}`?"),
            None => format!("add `{name}` to `prompt.variables`"),
        };
        let mut finding = Diagnostic::error("undeclared-variable", message)
            .at(used.span)
            .help(help);
        if !declared.is_empty() {
            finding = finding.also(prompt.variables.span, "declared here");
        }
        sink.push(finding);
    }
}
