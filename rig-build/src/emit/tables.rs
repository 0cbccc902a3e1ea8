//! The tables that a route is made of: hosts, plans, candidates, templates, schemas.

use std::collections::BTreeMap;

use rig_spec::Dialect;

use super::values::{capabilities, hash, limits, optional, price};
use super::{forms, put};
use crate::check::{Checked, Enforcement, Plan, PlannedCandidate};
use crate::ir::ProviderRef;
use crate::names::pascal;
use crate::project::Host;
use crate::schema::Schema;
use crate::schema::lower::Forms;
use crate::template::{Segment, Template};

/// Writes a schema.
pub(super) fn schema(indent: &str, schema: &Schema) -> String {
    format!(
        "__rig::Schema {{\n{indent}    name: {:?},\n{indent}    json: {:?},\n{indent}    skeleton: {:?},\n{indent}    gate: {:?},\n{indent}    hash: {},\n{indent}}}",
        wire_name(&schema.type_name),
        schema.json,
        schema.skeleton,
        schema.gate,
        hash(schema.hash)
    )
}

/// Providers take 1 to 64 of `A-Z a-z 0-9 _ -` as a schema's name.
pub(crate) fn wire_name(name: &str) -> String {
    let plain: String = name
        .chars()
        .filter(|c| c.is_ascii_alphanumeric() || *c == '_')
        .take(64)
        .collect();
    if plain.is_empty() {
        "Answer".to_owned()
    } else {
        plain
    }
}

/// Every host that a plan names, as a `static` of its own.
pub(super) fn hosts(out: &mut String, route: &Checked) {
    let mut hosts = BTreeMap::new();
    let plans = std::iter::once(&route.plan).chain(route.variants.iter().map(|(_, plan)| plan));
    for plan in plans {
        let repair = plan
            .repair
            .iter()
            .filter_map(|repair| repair.model.as_ref());
        for candidate in plan.candidates.iter().chain(repair) {
            if let ProviderRef::Host(host) = &candidate.provider {
                hosts.insert(host.name.clone(), host.clone());
            }
        }
    }
    for host in hosts.values() {
        let dialect = match host.dialect {
            Dialect::OpenAiChat => "OpenAiChat",
            Dialect::OpenAiResponses => "OpenAiResponses",
            Dialect::AnthropicMessages => "AnthropicMessages",
            Dialect::Gemini => "Gemini",
        };
        put(
            out,
            format_args!(
                "\nstatic {}: __rig::Provider = __rig::Provider {{\n",
                host_static(host)
            ),
        );
        put(
            out,
            format_args!(
                "    name: {:?},\n    dialect: __rig::Dialect::{dialect},\n",
                host.name
            ),
        );
        put(
            out,
            format_args!(
                "    base_url: {:?},\n    base_url_env: {:?},\n",
                host.base_url,
                host.base_url_env()
            ),
        );
        put(
            out,
            format_args!(
                "    key_env: {},\n",
                optional(host.key_env.as_ref().map(|name| format!("{name:?}")))
            ),
        );
        put(
            out,
            format_args!("    capabilities: {},\n", capabilities(host.capabilities)),
        );
        out.push_str("    ..__rig::Provider::BLANK\n};\n");
    }
}

fn host_static(host: &Host) -> String {
    format!("HOST_{}", host.upper())
}

/// Writes a plan.
pub(super) fn plan(out: &mut String, indent: &str, forms: &Forms, plan: &Plan) {
    out.push_str("__rig::Plan {\n");
    put(out, format_args!("{indent}    candidates: &[\n"));
    let inner = format!("{indent}        ");
    for planned in &plan.candidates {
        out.push_str(&inner);
        candidate(out, &inner, forms, planned);
        out.push_str(",\n");
    }
    put(out, format_args!("{indent}    ],\n{indent}    prompt: "));
    template(out, &format!("{indent}    "), &plan.prompt);
    out.push_str(",\n");
    match &plan.repair {
        None => put(
            out,
            format_args!("{indent}    repair: ::core::option::Option::None,\n"),
        ),
        Some(repair) => {
            put(
                out,
                format_args!("{indent}    repair: ::core::option::Option::Some(__rig::Repair {{\n"),
            );
            put(
                out,
                format_args!(
                    "{inner}max_repairs: {},\n{inner}model: ",
                    repair.max_repairs
                ),
            );
            match &repair.model {
                None => out.push_str("::core::option::Option::None"),
                Some(model) => {
                    out.push_str("::core::option::Option::Some(&");
                    candidate(out, &inner, forms, model);
                    out.push(')');
                }
            }
            put(out, format_args!(",\n{indent}    }}),\n"));
        }
    }
    put(out, format_args!("{indent}}}"));
}

fn candidate(out: &mut String, indent: &str, forms: &Forms, candidate: &PlannedCandidate) {
    let provider = match &candidate.provider {
        ProviderRef::BuiltIn(provider) => format!("&__rig::{}", provider.name.to_ascii_uppercase()),
        ProviderRef::Host(host) => format!("&{}", host_static(host)),
    };
    let native = |kind| {
        let form = forms::expression(forms, kind)?;
        Some(format!("Native({form})"))
    };
    let enforcement = match candidate.enforcement {
        Enforcement::Native(kind) => native(kind),
        Enforcement::JsonMode => Some("JsonMode".to_owned()),
        Enforcement::Coached => None,
    };
    let enforcement = enforcement.unwrap_or_else(|| "Coached".to_owned());
    put(
        out,
        format_args!("__rig::Candidate {{\n{indent}    provider: {provider},\n"),
    );
    put(
        out,
        format_args!("{indent}    model: {:?},\n", candidate.model),
    );
    put(
        out,
        format_args!(
            "{indent}    capabilities: {},\n",
            capabilities(candidate.capabilities)
        ),
    );
    put(
        out,
        format_args!("{indent}    enforcement: __rig::Enforcement::{enforcement},\n"),
    );
    put(
        out,
        format_args!(
            "{indent}    price: {},\n{indent}    limits: {},\n{indent}}}",
            optional(candidate.price.as_ref().map(price)),
            limits(&candidate.limits)
        ),
    );
}

/// Writes a template.
pub(super) fn template(out: &mut String, indent: &str, template: &Template) {
    out.push_str("__rig::Template {\n");
    put(out, format_args!("{indent}    segments: "));
    segments(out, &format!("{indent}    "), &template.segments);
    put(out, format_args!(",\n{indent}}}"));
}

fn segments(out: &mut String, indent: &str, list: &[Segment]) {
    if list.is_empty() {
        out.push_str("&[]");
        return;
    }
    out.push_str("&[\n");
    for segment in list {
        match segment {
            Segment::Text(text) => put(
                out,
                format_args!("{indent}    __rig::Segment::Text({text:?}),\n"),
            ),
            Segment::Variable(name) => {
                put(
                    out,
                    format_args!("{indent}    __rig::Segment::Variable({:?}),\n", name.value),
                );
            }
            Segment::When {
                capability,
                present,
                body,
            } => {
                let inner = format!("{indent}        ");
                put(out, format_args!("{indent}    __rig::Segment::When {{\n"));
                put(
                    out,
                    format_args!(
                        "{inner}capability: __rig::Capability::{},\n",
                        pascal(capability.name())
                    ),
                );
                put(
                    out,
                    format_args!("{inner}present: {present},\n{inner}body: "),
                );
                segments(out, &inner, body);
                put(out, format_args!(",\n{indent}    }},\n"));
            }
        }
    }
    put(out, format_args!("{indent}]"));
}

/// The generated code names a built-in provider by its `static`.
#[cfg(test)]
#[test]
fn every_built_in_provider_has_a_static_of_its_name() {
    let names: Vec<_> = rig_spec::PROVIDERS
        .iter()
        .map(|provider| provider.name.to_ascii_uppercase())
        .collect();
    assert_eq!(
        names,
        [
            "OPENAI",
            "ANTHROPIC",
            "GEMINI",
            "DEEPSEEK",
            "GROK",
            "DEEPINFRA",
            "FIREWORKS"
        ]
    );
}
