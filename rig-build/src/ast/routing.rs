//! What did the author write about who may serve, and how far a run may go?

use rig_spec::{Usd, UsdPerMtok};

use crate::diagnostic::Sink;
use crate::fields::{Fields, Keys, duration_ms, integer, list, string, usd, word};
use crate::node::Node;
use crate::source::Spanned;

/// What narrows and orders the candidates.
#[derive(Debug, Default)]
pub(crate) struct Routing {
    pub(crate) require: Vec<Spanned<Require>>,
    pub(crate) prefer: Vec<Spanned<Prefer>>,
    pub(crate) only: Vec<Spanned<String>>,
    pub(crate) ignore: Vec<Spanned<String>>,
    pub(crate) max_price: Option<Spanned<UsdPerMtok>>,
}

/// What a candidate has to be able to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Require {
    SchemaConformant,
    Grounded,
    ZeroRetention,
    TraceVisible,
}

/// What the ladder is ordered by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Prefer {
    Cost,
    Latency,
}

/// How far a run may go.
#[derive(Debug, Default)]
pub(crate) struct Limits {
    pub(crate) max_attempts: Option<Spanned<u64>>,
    pub(crate) max_wall_clock_ms: Option<Spanned<u64>>,
    pub(crate) max_cost: Option<Spanned<Usd>>,
}

pub(super) const REQUIRE_WORDS: [(&str, Require); 4] = [
    ("schema_conformant", Require::SchemaConformant),
    ("grounded", Require::Grounded),
    ("zero_retention", Require::ZeroRetention),
    ("trace_visible", Require::TraceVisible),
];
pub(super) const PREFER_WORDS: [(&str, Prefer); 2] =
    [("cost", Prefer::Cost), ("latency", Prefer::Latency)];
pub(super) const PROVIDERS: Keys = Keys {
    what: "`providers`",
    known: &["only", "ignore"],
};
pub(super) const LIMITS: Keys = Keys {
    what: "`limits`",
    known: &["max_attempts", "max_wall_clock", "max_cost_usd"],
};

impl Require {
    /// Returns the word that a route writes.
    pub(crate) fn name(self) -> &'static str {
        REQUIRE_WORDS
            .iter()
            .find(|(_, known)| *known == self)
            .map_or("", |(name, _)| name)
    }
}

/// Reads the keys of a route that narrow and order its candidates.
pub(super) fn routing(route: &Fields<'_>, sink: &mut Sink) -> Routing {
    let words = |key: &str, what: &str, sink: &mut Sink| {
        route
            .get(key)
            .and_then(|node| list(what, node, sink))
            .unwrap_or_default()
    };
    let require = words("require", "`require`", sink);
    let require = require
        .iter()
        .filter_map(|node| word("a requirement", node, &REQUIRE_WORDS, sink))
        .collect();
    let prefer = words("prefer", "`prefer`", sink);
    let prefer = prefer
        .iter()
        .filter_map(|node| word("a preference", node, &PREFER_WORDS, sink))
        .collect();
    let providers = route
        .get("providers")
        .and_then(|node| Fields::open(node, &PROVIDERS, sink));
    let names = |key: &str, what: &str, sink: &mut Sink| -> Vec<Spanned<String>> {
        let node = providers.as_ref().and_then(|fields| fields.get(key));
        let items = node
            .and_then(|node| list(what, node, sink))
            .unwrap_or_default();
        items
            .iter()
            .filter_map(|node| string("a provider", node, sink))
            .collect()
    };
    Routing {
        require,
        prefer,
        only: names("only", "`providers.only`", sink),
        ignore: names("ignore", "`providers.ignore`", sink),
        max_price: route
            .get("max_price_usd_per_mtok")
            .and_then(|node| usd("`max_price_usd_per_mtok`", node, sink))
            // A decimal number of dollars is read alike, whatever it is paid for.
            .map(|price| Spanned::new(UsdPerMtok::nanos(price.value.as_nanos()), price.span)),
    }
}

/// Reads `limits`.
pub(super) fn limits(node: &Node, sink: &mut Sink) -> Limits {
    let Some(fields) = Fields::open(node, &LIMITS, sink) else {
        return Limits::default();
    };
    Limits {
        max_attempts: fields
            .get("max_attempts")
            .and_then(|node| integer("`max_attempts`", node, sink)),
        max_wall_clock_ms: fields
            .get("max_wall_clock")
            .and_then(|node| duration_ms("`max_wall_clock`", node, sink)),
        max_cost: fields
            .get("max_cost_usd")
            .and_then(|node| usd("`max_cost_usd`", node, sink)),
    }
}
