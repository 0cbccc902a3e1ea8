//! C6: a model that nothing is known about is a warning.

use crate::diagnostic::{Diagnostic, Sink};
use crate::ir::{ProviderRef, Route};

pub(super) fn check(route: &Route, sink: &mut Sink) {
    for candidate in route.candidates.iter().flat_map(|list| &list.value) {
        let (Some(provider), Some(model)) = (&candidate.provider, &candidate.model) else {
            continue;
        };
        if candidate.facts.known {
            continue;
        }
        let key = format!("{}/{}", provider.name(), model.value);
        let message = format!(
            "nothing is known about the model `{key}`: it has no price, and the flags of any model there"
        );
        let help = match provider {
            ProviderRef::BuiltIn(_) => format!(
                "check its name; state its flags under `capability_overrides: {{ {key}: […] }}` in `rig.yaml`"
            ),
            ProviderRef::Host(_) => format!(
                "add `{}: {{ in: …, out: … }}` to the host's `models` in `rig.yaml`",
                model.value
            ),
        };
        sink.push(
            Diagnostic::warning("unknown-model", message)
                .at(model.span)
                .help(help),
        );
    }
}
