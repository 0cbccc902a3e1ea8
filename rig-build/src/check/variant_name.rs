//! C3: a variant's name is its own, not reserved, and can be told apart in Rust.

use std::collections::HashMap;

use crate::diagnostic::{Diagnostic, Sink};
use crate::ir::Route;
use crate::names::pascal;

/// What a call without a variant is served by.
const RESERVED: &str = "default";

pub(super) fn check(route: &Route, sink: &mut Sink) {
    let names: Vec<_> = route
        .variants
        .iter()
        .filter_map(|variant| variant.name.as_ref())
        .collect();
    let mut seen = HashMap::new();
    for name in names {
        if name.value == RESERVED {
            let message = "the variant name `default` is reserved for the route itself";
            sink.push(
                Diagnostic::error("variant-name", message)
                    .at(name.span)
                    .help("give the variant another name"),
            );
        }
        let rust = pascal(&name.value);
        let Some(first) = seen.get(&rust).copied() else {
            seen.insert(rust, name);
            continue;
        };
        let message = match first.value == name.value {
            true => format!("the variant `{}` stands twice", name.value),
            false => format!(
                "the variants `{}` and `{}` get the same Rust name",
                first.value, name.value
            ),
        };
        let finding = Diagnostic::error("variant-name", message)
            .at_label(name.span, "second time")
            .also(first.span, "first time")
            .help("rename one of the two");
        sink.push(finding);
    }
}
