//! What did the author write?
//!
//! The route as it stands in the file, every value with its place. Reports shape only: keys that are missing,
//! unknown or of the wrong type. A part that could not be read is `None` and was reported.

#[cfg(test)]
mod editor;
mod policy;
mod routing;

pub(crate) use policy::{Backoff, Json, Policy};
pub(crate) use routing::{Limits, Prefer, Require, Routing};

use policy::JSON_WORDS;

use crate::diagnostic::Sink;
use crate::fields::{Fields, Keys, boolean, integer, list, string, word};
use crate::node::{Kind, Node};
use crate::source::{Span, Spanned};

/// A route file.
#[derive(Debug)]
pub(crate) struct Route {
    pub(crate) name: Option<Spanned<String>>,
    pub(crate) version: Option<Spanned<u64>>,
    pub(crate) schema: Option<SchemaRef>,
    pub(crate) candidates: Option<Spanned<Vec<Candidate>>>,
    pub(crate) prompt: Option<Prompt>,
    pub(crate) policy: Policy,
    pub(crate) repair: Option<Repair>,
    pub(crate) routing: Routing,
    pub(crate) limits: Limits,
    pub(crate) variants: Vec<Variant>,
}

/// What `schema` names.
#[derive(Debug)]
pub(crate) enum SchemaRef {
    /// `null`: any JSON value.
    Any,
    /// A file, relative to the route file.
    File(Spanned<String>),
}

/// One entry of `candidates`.
#[derive(Debug)]
pub(crate) struct Candidate {
    pub(crate) span: Span,
    pub(crate) provider: Option<Spanned<String>>,
    pub(crate) model: Option<Spanned<String>>,
    pub(crate) trial: Option<Spanned<bool>>,
}

/// The prompt.
#[derive(Debug)]
pub(crate) struct Prompt {
    pub(crate) system: Option<Spanned<String>>,
    pub(crate) variables: Spanned<Vec<Variable>>,
}

/// One declared input variable.
#[derive(Debug)]
pub(crate) struct Variable {
    pub(crate) name: Spanned<String>,
    pub(crate) kind: VariableKind,
    pub(crate) optional: bool,
}

/// The type of an input variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum VariableKind {
    String,
    Json,
    Integer,
    Number,
    Boolean,
}

/// The repair rung.
#[derive(Debug)]
pub(crate) struct Repair {
    pub(crate) max_repairs: Option<Spanned<u64>>,
    pub(crate) model: Option<Spanned<String>>,
}

/// One entry of `variants`.
#[derive(Debug)]
pub(crate) struct Variant {
    pub(crate) name: Option<Spanned<String>>,
    pub(crate) candidates: Option<Spanned<Vec<Candidate>>>,
    pub(crate) json: Option<Spanned<Json>>,
    pub(crate) prompt_override: Option<Spanned<String>>,
    pub(crate) prompt_append: Option<Spanned<String>>,
    pub(crate) repair: Option<Repair>,
}

const ROUTE: Keys = Keys {
    what: "the route",
    known: &[
        "route",
        "version",
        "schema",
        "candidates",
        "prompt",
        "policy",
        "repair",
        "require",
        "prefer",
        "providers",
        "max_price_usd_per_mtok",
        "limits",
        "capture",
        "variants",
    ],
    later: &["cache", "grounding", "tools"],
};
const CANDIDATE: Keys = Keys {
    what: "a candidate",
    known: &["provider", "model", "trial"],
    later: &[],
};
const PROMPT: Keys = Keys {
    what: "the prompt",
    known: &["system", "variables"],
    later: &[],
};
const REPAIR: Keys = Keys {
    what: "`repair`",
    known: &["max_repairs", "repair_model"],
    later: &[],
};
const VARIANT: Keys = Keys {
    what: "a variant",
    known: &[
        "name",
        "candidates",
        "json",
        "prompt_override",
        "prompt_append",
        "repair",
    ],
    later: &["scaffold"],
};
const KIND_WORDS: [(&str, VariableKind); 5] = [
    ("string", VariableKind::String),
    ("json", VariableKind::Json),
    ("integer", VariableKind::Integer),
    ("number", VariableKind::Number),
    ("boolean", VariableKind::Boolean),
];

/// Reads a route file's tree.
pub(crate) fn route(node: &Node, sink: &mut Sink) -> Option<Route> {
    let fields = Fields::open(node, &ROUTE, sink)?;
    let name = fields
        .need("route", "my-task", sink)
        .and_then(|node| string("`route`", node, sink));
    let version = fields
        .need("version", "1", sink)
        .and_then(|node| integer("`version`", node, sink));
    let schema = fields
        .need("schema", "./schemas/answer.schema.json", sink)
        .and_then(|node| schema_ref(node, sink));
    let candidates = fields
        .need(
            "candidates",
            "[{ provider: openai, model: gpt-5.4-mini }]",
            sink,
        )
        .and_then(|node| candidates(node, sink));
    let prompt = fields
        .need("prompt", "{ system: ./prompts/my-task.md }", sink)
        .and_then(|node| prompt(node, sink));
    let policy = fields
        .get("policy")
        .map(|node| policy::policy(node, sink))
        .unwrap_or_default();
    let repair = fields.get("repair").and_then(|node| repair(node, sink));
    let routing = routing::routing(&fields, sink);
    let limits = fields
        .get("limits")
        .map(|node| routing::limits(node, sink))
        .unwrap_or_default();
    capture(fields.get("capture"), sink);
    let variants = fields
        .get("variants")
        .and_then(|node| list("`variants`", node, sink))
        .unwrap_or_default()
        .iter()
        .filter_map(|node| variant(node, sink))
        .collect();
    Some(Route {
        name,
        version,
        schema,
        candidates,
        prompt,
        policy,
        repair,
        routing,
        limits,
        variants,
    })
}

fn schema_ref(node: &Node, sink: &mut Sink) -> Option<SchemaRef> {
    match node.kind {
        Kind::Null => Some(SchemaRef::Any),
        _ => string("`schema`", node, sink).map(SchemaRef::File),
    }
}

fn candidates(node: &Node, sink: &mut Sink) -> Option<Spanned<Vec<Candidate>>> {
    let items = list("`candidates`", node, sink)?;
    let read = items
        .iter()
        .filter_map(|node| candidate(node, sink))
        .collect();
    Some(Spanned::new(read, node.span))
}

fn candidate(node: &Node, sink: &mut Sink) -> Option<Candidate> {
    let fields = Fields::open(node, &CANDIDATE, sink)?;
    let provider = fields
        .need("provider", "openai", sink)
        .and_then(|node| string("`provider`", node, sink));
    let model = fields
        .need("model", "gpt-5.4-mini", sink)
        .and_then(|node| string("`model`", node, sink));
    let trial = fields
        .get("trial")
        .and_then(|node| boolean("`trial`", node, sink));
    Some(Candidate {
        span: node.span,
        provider,
        model,
        trial,
    })
}

fn prompt(node: &Node, sink: &mut Sink) -> Option<Prompt> {
    let fields = Fields::open(node, &PROMPT, sink)?;
    let system = fields
        .need("system", "./prompts/my-task.md", sink)
        .and_then(|node| string("`prompt.system`", node, sink));
    let variables = match fields.get("variables") {
        Some(node) => Spanned::new(variables(node, sink), node.span),
        None => Spanned::new(Vec::new(), node.span),
    };
    Some(Prompt { system, variables })
}

/// Reads `[a, b]` (strings) or `{ a: string, b: json? }`.
fn variables(node: &Node, sink: &mut Sink) -> Vec<Variable> {
    if let Kind::Map(entries) = &node.kind {
        let typed = entries.iter().map(|entry| {
            let name = Spanned::new(entry.key.clone(), entry.key_span);
            // A variable of an unknown type is declared all the same, so that its uses are not reported too.
            let (kind, optional) =
                variable_kind(&entry.value, sink).unwrap_or((VariableKind::String, false));
            Variable {
                name,
                kind,
                optional,
            }
        });
        return typed.collect();
    }
    let items = list("`prompt.variables`", node, sink).unwrap_or_default();
    let names = items
        .iter()
        .filter_map(|node| string("a variable's name", node, sink));
    names
        .map(|name| Variable {
            name,
            kind: VariableKind::String,
            optional: false,
        })
        .collect()
}

fn variable_kind(node: &Node, sink: &mut Sink) -> Option<(VariableKind, bool)> {
    let optional = node.as_str().is_some_and(|text| text.ends_with('?'));
    let plain = match node.as_str() {
        Some(text) => Node {
            span: node.span,
            kind: Kind::String(text.trim_end_matches('?').to_owned()),
        },
        None => node.clone(),
    };
    let kind = word("a variable's type", &plain, &KIND_WORDS, sink)?;
    Some((kind.value, optional))
}

fn repair(node: &Node, sink: &mut Sink) -> Option<Repair> {
    let fields = Fields::open(node, &REPAIR, sink)?;
    let max_repairs = fields
        .need("max_repairs", "1", sink)
        .and_then(|node| integer("`max_repairs`", node, sink));
    let model = fields
        .get("repair_model")
        .and_then(|node| string("`repair_model`", node, sink));
    Some(Repair { max_repairs, model })
}

/// `capture: false` is the default and reads well; `true` would promise what is not there yet.
fn capture(node: Option<&Node>, sink: &mut Sink) {
    let Some(value) = node.and_then(|node| boolean("`capture`", node, sink)) else {
        return;
    };
    if value.value {
        let message = "`capture: true` is not supported by this version of modelrig";
        let help = "remove the key; nothing would be captured";
        sink.push(
            crate::diagnostic::Diagnostic::error("unsupported-key", message)
                .at(value.span)
                .help(help),
        );
    }
}

fn variant(node: &Node, sink: &mut Sink) -> Option<Variant> {
    let fields = Fields::open(node, &VARIANT, sink)?;
    let text = |key: &str, what: &str, sink: &mut Sink| {
        fields.get(key).and_then(|node| string(what, node, sink))
    };
    Some(Variant {
        name: fields
            .need("name", "cheap", sink)
            .and_then(|node| string("`name`", node, sink)),
        candidates: fields
            .get("candidates")
            .and_then(|node| candidates(node, sink)),
        json: fields
            .get("json")
            .and_then(|node| word("`json`", node, &JSON_WORDS, sink)),
        prompt_override: text("prompt_override", "`prompt_override`", sink),
        prompt_append: text("prompt_append", "`prompt_append`", sink),
        repair: fields.get("repair").and_then(|node| repair(node, sink)),
    })
}
