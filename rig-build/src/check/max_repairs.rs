//! C2: `max_repairs` is 1 or 2.

use crate::diagnostic::{Diagnostic, Sink};
use crate::ir::Route;

pub(super) fn check(route: &Route, sink: &mut Sink) {
    let all = route.repair.iter().chain(
        route
            .variants
            .iter()
            .filter_map(|variant| variant.repair.as_ref()),
    );
    for count in all.filter_map(|repair| repair.max_repairs.as_ref()) {
        if matches!(count.value, 1 | 2) {
            continue;
        }
        let message = format!("`max_repairs` is 1 or 2, found {}", count.value);
        let help = match count.value {
            0 => "remove `repair` to have none",
            _ => "1 asks the same model again, 2 also asks the repair model",
        };
        sink.push(
            Diagnostic::error("max-repairs", message)
                .at(count.span)
                .help(help),
        );
    }
}
