//! C5: a variable is declared once, and can be told apart in Rust and written in a template.

use std::collections::HashMap;

use crate::diagnostic::{Diagnostic, Sink};
use crate::ir::Route;
use crate::names::snake;
use crate::template::is_name;

pub(super) fn check(route: &Route, sink: &mut Sink) {
    let Some(prompt) = &route.prompt else { return };
    let variables = &prompt.variables.value;
    let mut seen = HashMap::new();
    for variable in variables {
        let name = &variable.name;
        if !is_name(&name.value) {
            let message = format!(
                "`{}` cannot name a variable: no template could use it",
                name.value
            );
            let help = "start with a letter or `_`, and use letters, digits and `_`";
            sink.push(
                Diagnostic::error("duplicate-variable", message)
                    .at(name.span)
                    .help(help),
            );
            continue;
        }
        let rust = snake(&name.value);
        let Some(first) = seen.get(&rust).copied() else {
            seen.insert(rust, name);
            continue;
        };
        let message = match first.value == name.value {
            true => format!("the variable `{}` is declared twice", name.value),
            false => format!(
                "the variables `{}` and `{}` get the same Rust name",
                first.value, name.value
            ),
        };
        let finding = Diagnostic::error("duplicate-variable", message)
            .at_label(name.span, "second time")
            .also(first.span, "first time")
            .help("keep one of the two");
        sink.push(finding);
    }
}
