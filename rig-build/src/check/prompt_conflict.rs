//! C3: a variant replaces the prompt or appends to it, not both.

use crate::diagnostic::{Diagnostic, Sink};
use crate::ir::Route;

pub(super) fn check(route: &Route, sink: &mut Sink) {
    for variant in &route.variants {
        let (Some(replaced), Some(appended)) = (&variant.prompt_override, &variant.prompt_append)
        else {
            continue;
        };
        let finding = Diagnostic::error(
            "prompt-conflict",
            "a variant has either `prompt_override` or `prompt_append`",
        )
        .at_label(appended.span, "appended")
        .also(replaced.span, "replaced")
        .help("keep one of the two");
        sink.push(finding);
    }
}
