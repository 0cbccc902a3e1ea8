//! C8 (in part): a schema that a provider does not take natively is a warning that says what is done instead.

use std::collections::BTreeSet;

use rig_spec::Capability;

use crate::ast::Json;
use crate::diagnostic::{Diagnostic, Sink};
use crate::ir::{Answer, Route};
use crate::schema::native::obstacle;

pub(super) fn check(route: &Route, sink: &mut Sink) {
    let Answer::Schema(schema) = &route.schema else {
        return;
    };
    if route
        .policy
        .json
        .as_ref()
        .is_some_and(|json| json.value == Json::JsonMode)
    {
        return;
    }
    let mut said = BTreeSet::new();
    for candidate in route.candidates.iter().flat_map(|list| &list.value) {
        let Some(provider) = candidate.provider.as_ref() else {
            continue;
        };
        if !candidate
            .facts
            .capabilities
            .has(Capability::StructuredNative)
            || !said.insert(provider.name().to_owned())
        {
            continue;
        }
        let Some(found) = obstacle(provider.native_schema(), &schema.root) else {
            continue;
        };
        let message = format!(
            "`{}` cannot enforce this schema: {} (at `{}`)",
            provider.name(),
            found.reason,
            found.pointer
        );
        let finding = Diagnostic::warning("native-schema", message)
            .at(found.span)
            .also(
                candidate.span,
                "this candidate is told the schema in its prompt instead",
            )
            .help("change the schema, or write `json: json_mode` to say that this is meant");
        sink.push(finding);
    }
}
