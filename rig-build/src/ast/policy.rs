//! What did the author write under `policy`?

use rig_spec::Tier;

use crate::diagnostic::{Diagnostic, Sink};
use crate::fields::{Fields, Keys, duration_ms, integer, number, word};
use crate::node::{Entry, Kind, Node};
use crate::source::Spanned;

/// The policy.
#[derive(Debug, Default)]
pub(crate) struct Policy {
    pub(crate) retries: Vec<(Spanned<String>, Spanned<u64>)>,
    pub(crate) backoff: Vec<(Spanned<String>, Backoff)>,
    pub(crate) timeout_ms: Option<Spanned<u64>>,
    pub(crate) first_token_ms: Option<Spanned<u64>>,
    pub(crate) idle_ms: Option<Spanned<u64>>,
    pub(crate) deadline_ms: Option<Spanned<u64>>,
    pub(crate) tier: Option<Spanned<Tier>>,
    pub(crate) json: Option<Spanned<Json>>,
    pub(crate) temperature: Option<Spanned<f64>>,
    pub(crate) top_p: Option<Spanned<f64>>,
    pub(crate) max_output_tokens: Option<Spanned<u64>>,
}

/// The backoff of one class, as far as it is given.
#[derive(Debug, Default)]
pub(crate) struct Backoff {
    pub(crate) first_ms: Option<Spanned<u64>>,
    pub(crate) factor: Option<Spanned<f64>>,
    pub(crate) cap_ms: Option<Spanned<u64>>,
    pub(crate) jitter: Option<Spanned<f64>>,
}

/// How JSON is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Json {
    Native,
    JsonMode,
}

pub(super) const POLICY: Keys = Keys {
    what: "the policy",
    known: &[
        "retries",
        "backoff",
        "timeout_ms",
        "first_token_ms",
        "idle_ms",
        "deadline_ms",
        "tier",
        "json",
        "sampling",
    ],
};
pub(super) const BACKOFF: Keys = Keys {
    what: "a backoff",
    known: &["first", "factor", "cap", "jitter"],
};
pub(super) const SAMPLING: Keys = Keys {
    what: "`sampling`",
    known: &["temperature", "top_p", "max_output_tokens"],
};
pub(super) const JSON_WORDS: [(&str, Json); 2] =
    [("native", Json::Native), ("json_mode", Json::JsonMode)];
pub(super) const TIER_WORDS: [(&str, Tier); 3] = [
    ("standard", Tier::Standard),
    ("flex", Tier::Flex),
    ("priority", Tier::Priority),
];

/// Reads `policy`.
pub(super) fn policy(node: &Node, sink: &mut Sink) -> Policy {
    let mut policy = Policy::default();
    let Some(fields) = Fields::open(node, &POLICY, sink) else {
        return policy;
    };
    for entry in fields
        .get("retries")
        .map(|node| class_map("`policy.retries`", node, sink))
        .unwrap_or_default()
    {
        let class = Spanned::new(entry.key.clone(), entry.key_span);
        if let Some(budget) = integer("a retry budget", &entry.value, sink) {
            policy.retries.push((class, budget));
        }
    }
    for entry in fields
        .get("backoff")
        .map(|node| class_map("`policy.backoff`", node, sink))
        .unwrap_or_default()
    {
        let class = Spanned::new(entry.key.clone(), entry.key_span);
        policy.backoff.push((class, backoff(&entry.value, sink)));
    }
    let ms = |key: &str, what: &str, sink: &mut Sink| {
        fields.get(key).and_then(|node| integer(what, node, sink))
    };
    policy.timeout_ms = ms("timeout_ms", "`timeout_ms`", sink);
    policy.first_token_ms = ms("first_token_ms", "`first_token_ms`", sink);
    policy.idle_ms = ms("idle_ms", "`idle_ms`", sink);
    policy.deadline_ms = ms("deadline_ms", "`deadline_ms`", sink);
    policy.tier = fields
        .get("tier")
        .and_then(|node| word("`tier`", node, &TIER_WORDS, sink));
    policy.json = fields
        .get("json")
        .and_then(|node| word("`json`", node, &JSON_WORDS, sink));
    let Some(sampling) = fields.get("sampling") else {
        return policy;
    };
    let Some(fields) = Fields::open(sampling, &SAMPLING, sink) else {
        return policy;
    };
    policy.temperature = fields
        .get("temperature")
        .and_then(|node| number("`temperature`", node, sink));
    policy.top_p = fields
        .get("top_p")
        .and_then(|node| number("`top_p`", node, sink));
    policy.max_output_tokens = fields
        .get("max_output_tokens")
        .and_then(|node| integer("`max_output_tokens`", node, sink));
    policy
}

fn class_map<'a>(what: &str, node: &'a Node, sink: &mut Sink) -> &'a [Entry] {
    if !matches!(node.kind, Kind::Map(_)) {
        let message = format!(
            "{what} has to be a map of failure classes, found {}",
            node.described()
        );
        let help = "write it as `{ network: 4, capacity_shed: 3 }`";
        sink.push(
            Diagnostic::error("wrong-type", message)
                .at(node.span)
                .help(help),
        );
    }
    node.entries()
}

fn backoff(node: &Node, sink: &mut Sink) -> Backoff {
    let Some(fields) = Fields::open(node, &BACKOFF, sink) else {
        return Backoff::default();
    };
    Backoff {
        first_ms: fields
            .get("first")
            .and_then(|node| duration_ms("`first`", node, sink)),
        factor: fields
            .get("factor")
            .and_then(|node| number("`factor`", node, sink)),
        cap_ms: fields
            .get("cap")
            .and_then(|node| duration_ms("`cap`", node, sink)),
        jitter: fields
            .get("jitter")
            .and_then(|node| number("`jitter`", node, sink)),
    }
}
