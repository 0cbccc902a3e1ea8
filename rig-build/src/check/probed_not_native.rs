//! C7: native JSON on a candidate that a probe found not to be native is a warning.

use rig_spec::Capability;

use crate::ast::Json;
use crate::diagnostic::{Diagnostic, Sink};
use crate::facts::Source;
use crate::ir::{Answer, Route};

pub(super) fn check(route: &Route, sink: &mut Sink) {
    // Without `json` nothing was claimed, and the compiler chooses what each candidate can do.
    let native = route
        .policy
        .json
        .as_ref()
        .filter(|json| json.value == Json::Native);
    let (Some(json), Answer::Schema(_)) = (native, &route.schema) else {
        return;
    };
    for candidate in route.candidates.iter().flat_map(|list| &list.value) {
        let Source::Probed(probe) = candidate.facts.source(Capability::StructuredNative) else {
            continue;
        };
        let Some(key) = candidate.key().filter(|_| !probe.holds) else {
            continue;
        };
        let source = candidate
            .facts
            .source(Capability::StructuredNative)
            .described();
        let message = format!("`{key}` does not enforce schemas ({source})");
        let finding = Diagnostic::warning("probed-not-native", message)
            .at_label(candidate.span, "it is told the schema in its prompt instead")
            .also(json.span, "`json: native` asks for it")
            .help(format!("write `json: json_mode`, or say that it does: `capability_overrides: {{ {key}: [structured_native, json_mode] }}` in `rig.yaml`"));
        sink.push(finding);
    }
}
