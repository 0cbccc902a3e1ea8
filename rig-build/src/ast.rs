//! What did the author write?
//!
//! The route as it stands in the file, every value with its place. Reports shape only: keys that are missing,
//! unknown or of the wrong type. A part that could not be read is `None` and was reported.

#[cfg(test)]
mod editor;
mod policy;
mod prompt;
mod routing;

pub(crate) use policy::{Backoff, Json, Policy};
pub(crate) use prompt::{Prompt, Variable, VariableKind};
pub(crate) use routing::{Limits, Prefer, Require, Routing};

use rig_spec::Cache;

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
    pub(crate) capture: Option<Spanned<bool>>,
    pub(crate) cache: Option<Spanned<Cache>>,
    pub(crate) grounding: Option<Grounding>,
    /// The tool files, relative to the route file.
    pub(crate) tools: Vec<Spanned<String>>,
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

/// The search that the prompt is grounded on.
#[derive(Debug)]
pub(crate) struct Grounding {
    pub(crate) span: Span,
    /// A template, as a value of the route.
    pub(crate) query: Option<Spanned<String>>,
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
    pub(crate) scaffold: Option<Spanned<String>>,
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
        "cache",
        "grounding",
        "tools",
        "variants",
    ],
};
const CANDIDATE: Keys = Keys {
    what: "a candidate",
    known: &["provider", "model", "trial"],
};
const CACHE_WORDS: [(&str, Cache); 2] = [("off", Cache::Off), ("auto", Cache::Auto)];
const GROUNDING: Keys = Keys {
    what: "`grounding`",
    known: &["query"],
};
const REPAIR: Keys = Keys {
    what: "`repair`",
    known: &["max_repairs", "repair_model"],
};
const VARIANT: Keys = Keys {
    what: "a variant",
    known: &[
        "name",
        "candidates",
        "json",
        "prompt_override",
        "prompt_append",
        "scaffold",
        "repair",
    ],
};
/// Reads a route file's tree.
pub(crate) fn route(node: &Node, sink: &mut Sink) -> Option<Route> {
    let fields = Fields::open(node, &ROUTE, sink)?;
    let name = fields
        .need("route", "route: my-task", sink)
        .and_then(|node| string("`route`", node, sink));
    let version = fields
        .need("version", "version: 1", sink)
        .and_then(|node| integer("`version`", node, sink));
    let schema = fields
        .need("schema", "schema: ./schemas/answer.schema.json", sink)
        .and_then(|node| schema_ref(node, sink));
    let candidates = fields
        .need(
            "candidates",
            "candidates: [{ provider: openai, model: gpt-5.4-mini }]",
            sink,
        )
        .and_then(|node| candidates(node, sink));
    let prompt = fields
        .need("prompt", "prompt: { system: ./prompts/my-task.md }", sink)
        .and_then(|node| prompt::prompt(node, sink));
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
    let capture = fields
        .get("capture")
        .and_then(|node| boolean("`capture`", node, sink));
    let cache = fields
        .get("cache")
        .and_then(|node| word("`cache`", node, &CACHE_WORDS, sink));
    let grounding = fields
        .get("grounding")
        .and_then(|node| grounding(node, sink));
    let tools = fields
        .get("tools")
        .and_then(|node| list("`tools`", node, sink))
        .unwrap_or_default()
        .iter()
        .filter_map(|node| string("a tool file", node, sink))
        .collect();
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
        capture,
        cache,
        grounding,
        tools,
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
        .need("provider", "provider: openai", sink)
        .and_then(|node| string("`provider`", node, sink));
    let model = fields
        .need("model", "model: gpt-5.4-mini", sink)
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

fn grounding(node: &Node, sink: &mut Sink) -> Option<Grounding> {
    let fields = Fields::open(node, &GROUNDING, sink)?;
    let query = fields
        .need("query", "query: \"{{topic}} news\"", sink)
        .and_then(|node| string("`grounding.query`", node, sink));
    Some(Grounding {
        span: node.span,
        query,
    })
}

fn repair(node: &Node, sink: &mut Sink) -> Option<Repair> {
    let fields = Fields::open(node, &REPAIR, sink)?;
    let max_repairs = fields
        .need("max_repairs", "max_repairs: 1", sink)
        .and_then(|node| integer("`max_repairs`", node, sink));
    let model = fields
        .get("repair_model")
        .and_then(|node| string("`repair_model`", node, sink));
    Some(Repair { max_repairs, model })
}

fn variant(node: &Node, sink: &mut Sink) -> Option<Variant> {
    let fields = Fields::open(node, &VARIANT, sink)?;
    let text = |key: &str, what: &str, sink: &mut Sink| {
        fields.get(key).and_then(|node| string(what, node, sink))
    };
    Some(Variant {
        name: fields
            .need("name", "name: cheap", sink)
            .and_then(|node| string("`name`", node, sink)),
        candidates: fields
            .get("candidates")
            .and_then(|node| candidates(node, sink)),
        json: fields
            .get("json")
            .and_then(|node| word("`json`", node, &JSON_WORDS, sink)),
        prompt_override: text("prompt_override", "`prompt_override`", sink),
        prompt_append: text("prompt_append", "`prompt_append`", sink),
        scaffold: text("scaffold", "`scaffold`", sink),
        repair: fields.get("repair").and_then(|node| repair(node, sink)),
    })
}
