//! C5: a variable is declared once, and can be told apart in Rust and written in a template.

use crate::diagnostic::{Diagnostic, Sink};
use crate::ir::Route;
use crate::names::snake;
use crate::template::is_name;

pub(super) fn check(route: &Route, sink: &mut Sink) {
    let Some(prompt) = &route.prompt else { return };
    let variables = &prompt.variables.value;
    for (index, variable) in variables.iter().enumerate() {
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
        let same = |other: &&crate::ast::Variable| snake(&other.name.value) == snake(&name.value);
        let Some(first) = variables[..index].iter().find(same) else {
            continue;
        };
        let message = match first.name.value == name.value {
            true => format!("the variable `{}` is declared twice", name.value),
            false => format!(
                "the variables `{}` and `{}` get the same Rust name",
                first.name.value, name.value
            ),
        };
        let finding = Diagnostic::error("duplicate-variable", message)
            .at_label(name.span, "second time")
            .also(first.name.span, "first time")
            .help("keep one of the two");
        sink.push(finding);
    }
}
