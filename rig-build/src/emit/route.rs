//! The `static` that a call runs under.
//!
//! Only what the route says is written; the rest is as in a route that says nothing (`Route::BLANK`).

use rig_spec::{Backoff, Cache, FailureClass, Policy};

use super::values::{integer, optional, tier};
use super::{bounds, forms, put, tables};
use crate::check::{Checked, PlannedGrounding};
use crate::names::pascal;
use crate::project::{Project, Search};
use crate::tool::Tool;

/// A field and its value; `None` is that of the blank.
type Field = (&'static str, Option<String>);

/// Writes the table of a route, and what it is made of.
pub(super) fn write(out: &mut String, route: &Checked) {
    tables::hosts(out, route);
    forms::write(out, route);
    let (name, version) = (&route.name, route.version);
    let chars = |(name, chars): &(String, u64)| format!("({name:?}, {})", integer(chars));
    let fields = [
        ("name", Some(format!("{name:?}"))),
        ("version", Some(version.to_string())),
        ("schema", {
            let schema = route.schema.as_ref();
            schema.map(|schema| some(tables::schema("    ", schema)))
        }),
        ("plan", {
            let mut text = String::new();
            tables::plan(&mut text, "    ", &route.forms, &route.plan);
            Some(text)
        }),
        ("variants", variants(route)),
        ("policy", policy(route)),
        ("max_chars", list(route.max_chars.iter().map(chars))),
        (
            "zero_retention",
            route.zero_retention.then(|| "true".to_owned()),
        ),
        ("capture", route.capture.then(|| "true".to_owned())),
        (
            "cache",
            match route.cache {
                Cache::Off => None,
                Cache::Auto => Some("__rig::Cache::Auto".to_owned()),
            },
        ),
        ("grounding", route.grounding.as_ref().map(grounding)),
        ("tools", tools(&route.tools)),
        ("project", project(&route.project)),
    ];
    let literal = literal("__rig::Route", "", &fields);
    put(
        out,
        format_args!(
            "\n/// Route `{name}`, version {version}.\npub static ROUTE: __rig::Route = {literal};\n"
        ),
    );
    bounds::write(out, route);
}

/// Returns a struct whose other fields are the blank's.
fn literal(kind: &str, indent: &str, fields: &[Field]) -> String {
    let mut text = format!("{kind} {{\n");
    for (name, value) in fields {
        if let Some(value) = value {
            put(&mut text, format_args!("{indent}    {name}: {value},\n"));
        }
    }
    if fields.iter().any(|(_, value)| value.is_none()) {
        put(&mut text, format_args!("{indent}    ..{kind}::BLANK\n"));
    }
    text + indent + "}"
}

fn some(value: impl std::fmt::Display) -> String {
    format!("::core::option::Option::Some({value})")
}

fn list(items: impl Iterator<Item = String>) -> Option<String> {
    let items: Vec<_> = items.collect();
    (!items.is_empty()).then(|| format!("&[{}]", items.join(", ")))
}

fn variants(route: &Checked) -> Option<String> {
    if route.variants.is_empty() {
        return None;
    }
    let mut text = "&[\n".to_owned();
    for (name, plan) in &route.variants {
        put(
            &mut text,
            format_args!(
                "        __rig::Variant {{\n            name: {name:?},\n            plan: "
            ),
        );
        tables::plan(&mut text, "            ", &route.forms, plan);
        text.push_str(",\n        },\n");
    }
    Some(text + "    ]")
}

fn policy(route: &Checked) -> Option<String> {
    let class = |class: FailureClass| format!("__rig::FailureClass::{}", pascal(class.name()));
    let retries = |(named, budget): &(FailureClass, u64)| format!("({}, {budget})", class(*named));
    let backoff = |(named, backoff): &(FailureClass, Backoff)| {
        format!(
            "({}, __rig::Backoff {{ first_ms: {}, factor: {:?}, cap_ms: {}, jitter: {:?} }})",
            class(*named),
            integer(backoff.first_ms),
            backoff.factor,
            integer(backoff.cap_ms),
            backoff.jitter
        )
    };
    let own_timeout = route.timeout_ms != Policy::DEFAULT_TIMEOUT_MS;
    let time = |ms: Option<u64>| ms.map(|ms| some(integer(ms)));
    let fields = [
        ("retries", list(route.retries.iter().map(retries))),
        ("backoff", list(route.backoff.iter().map(backoff))),
        ("timeout_ms", own_timeout.then(|| integer(route.timeout_ms))),
        ("first_token_ms", time(route.first_token_ms)),
        ("idle_ms", time(route.idle_ms)),
        ("deadline_ms", time(route.deadline_ms)),
        ("tier", route.tier.map(|at| some(tier(at)))),
        ("sampling", sampling(route)),
    ];
    said(&fields).then(|| literal("__rig::Policy", "    ", &fields))
}

fn sampling(route: &Checked) -> Option<String> {
    let decimal = |value: Option<f64>| value.map(|value| some(format_args!("{value:?}")));
    let tokens = route.max_output_tokens;
    let fields = [
        ("temperature", decimal(route.temperature)),
        ("top_p", decimal(route.top_p)),
        (
            "max_output_tokens",
            tokens.map(|tokens| some(integer(tokens))),
        ),
    ];
    said(&fields).then(|| literal("__rig::Sampling", "        ", &fields))
}

fn said(fields: &[Field]) -> bool {
    fields.iter().any(|(_, value)| value.is_some())
}

fn grounding(grounding: &PlannedGrounding) -> String {
    let mut query = String::new();
    tables::template(&mut query, "        ", &grounding.query);
    let search = grounding.search.as_deref().map(search);
    some(format_args!(
        "__rig::Grounding {{\n        query: {query},\n        search: {},\n    }}",
        optional(search)
    ))
}

fn search(search: &Search) -> String {
    let key_env = search.key_env.as_ref().map(|name| format!("{name:?}"));
    format!(
        "&__rig::Search {{ url: {:?}, key_env: {}, cost: __rig::Usd::nanos({}), zero_retention: {} }}",
        search.url,
        optional(key_env),
        integer(search.cost.as_nanos()),
        search.zero_retention
    )
}

fn tools(tools: &[Tool]) -> Option<String> {
    list(tools.iter().map(|tool| {
        format!(
            "__rig::Tool {{\n        name: {:?},\n        description: {:?},\n        parameters: {},\n    }}",
            tool.name.value,
            tool.description,
            tables::schema("        ", &tool.parameters)
        )
    }))
}

fn project(project: &Project) -> Option<String> {
    let dimension = |(key, required): &(String, bool)| {
        format!("__rig::Dimension {{ key: {key:?}, required: {required} }}")
    };
    let fields = [
        (
            "name",
            project
                .name
                .as_ref()
                .map(|name| some(format_args!("{name:?}"))),
        ),
        ("dimensions", list(project.dimensions.iter().map(dimension))),
    ];
    said(&fields).then(|| format!("&{}", literal("__rig::Project", "    ", &fields)))
}
