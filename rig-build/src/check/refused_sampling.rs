//! C14: sampling that a candidate's model does not take is a warning.
//!
//! What a model takes is in the table of knobs, which the raw lane is held to as well. What it takes on a condition is not
//! reported.

use rig_spec::{Knob, Takes};

use crate::diagnostic::{Diagnostic, Sink};
use crate::ir::{ProviderRef, Route};

pub(super) fn check(route: &Route, sink: &mut Sink) {
    let policy = &route.policy;
    let knobs = [
        (Knob::Temperature, &policy.temperature),
        (Knob::TopP, &policy.top_p),
    ];
    for candidate in route.candidates.iter().flat_map(|list| &list.value) {
        let (Some(ProviderRef::BuiltIn(provider)), Some(model)) =
            (&candidate.provider, &candidate.model)
        else {
            continue;
        };
        for (knob, value) in knobs {
            // 1 is what a model does by itself.
            let Some(value) = value.as_ref().filter(|value| value.value != 1.0) else {
                continue;
            };
            if knob.at(provider, &model.value) != Takes::No {
                continue;
            }
            let name = knob.name();
            let message = format!("`{}/{}` takes no `{name}`", provider.name, model.value);
            sink.push(
                Diagnostic::warning("refused-sampling", message)
                    .at(value.span)
                    .also(
                        candidate.span,
                        "it refuses a request that says one, or does not heed it",
                    )
                    .help(format!("remove `{name}`, or the candidate")),
            );
        }
    }
}
