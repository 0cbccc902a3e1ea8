//! What does `rig.yaml` say of a host of one's own?

use rig_spec::{Capabilities, Dialect, Price, Rates, UsdPerMtok};

use super::{address, capabilities};
use crate::diagnostic::{Diagnostic, Sink};
use crate::fields::{Fields, Keys, integer, string, usd, word};
use crate::node::Node;
use crate::source::Spanned;

/// A host that `rig.yaml` names.
#[derive(Debug)]
pub(crate) struct Host {
    pub(crate) name: String,
    pub(crate) dialect: Dialect,
    pub(crate) base_url: String,
    pub(crate) key_env: Option<String>,
    pub(crate) capabilities: Capabilities,
    pub(crate) models: Vec<HostModel>,
}

/// What `rig.yaml` says of a host's model.
#[derive(Debug)]
pub(crate) struct HostModel {
    pub(crate) name: String,
    pub(crate) price: Option<Price>,
    /// The context window, in tokens.
    pub(crate) context: Option<u64>,
    /// The most output tokens.
    pub(crate) max_output: Option<u64>,
}

impl Host {
    /// Returns the name as identifiers and variables of the environment have it.
    pub(crate) fn upper(&self) -> String {
        self.name.to_ascii_uppercase().replace('-', "_")
    }

    /// Returns the variable of the environment that overrides the address.
    pub(crate) fn base_url_env(&self) -> String {
        format!("{}_BASE_URL", self.upper())
    }
}

const HOST: Keys = Keys {
    what: "a provider",
    known: &[
        "name",
        "dialect",
        "base_url",
        "key_env",
        "capabilities",
        "models",
    ],
};
const MODEL: Keys = Keys {
    what: "a model",
    known: &[
        "in",
        "out",
        "cached_in",
        "cache_write",
        "context",
        "max_output",
    ],
};
const DIALECTS: [(&str, Dialect); 4] = [
    ("openai", Dialect::OpenAiChat),
    ("openai_responses", Dialect::OpenAiResponses),
    ("anthropic", Dialect::AnthropicMessages),
    ("gemini", Dialect::Gemini),
];

/// Reads an entry of `providers`.
pub(super) fn host(node: &Node, sink: &mut Sink) -> Option<Spanned<Host>> {
    let fields = Fields::open(node, &HOST, sink)?;
    let name = fields
        .need("name", "name: local", sink)
        .and_then(|node| string("`name`", node, sink));
    let dialect = fields
        .need("dialect", "dialect: openai", sink)
        .and_then(|node| word("`dialect`", node, &DIALECTS, sink));
    let base_url = fields
        .need("base_url", "base_url: http://127.0.0.1:8080/v1", sink)
        .and_then(|node| string("`base_url`", node, sink));
    let key_env = fields
        .get("key_env")
        .and_then(|node| string("`key_env`", node, sink));
    let capabilities = fields
        .get("capabilities")
        .map(|node| capabilities(node, sink))
        .unwrap_or_default();
    let models = fields.get("models").map(Node::entries).unwrap_or_default();
    let models = models
        .iter()
        .filter_map(|entry| host_model(&entry.key, &entry.value, sink))
        .collect();
    let base_url = base_url.and_then(|url| address(url, sink));
    let (name, base_url) = (name?, base_url?);
    let plain = name
        .value
        .chars()
        .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_' || c == '-');
    if !plain || !name.value.starts_with(|c: char| c.is_ascii_lowercase()) {
        let message = format!("`{}` cannot name a provider", name.value);
        let help = "use lower-case letters, digits, `-` and `_`; the name also makes the variable `<NAME>_BASE_URL`";
        sink.push(
            Diagnostic::error("provider-name", message)
                .at(name.span)
                .help(help),
        );
        return None;
    }
    let host = Host {
        name: name.value,
        dialect: dialect?.value,
        base_url,
        key_env: key_env.map(|name| name.value),
        capabilities,
        models,
    };
    Some(Spanned::new(host, name.span))
}

/// Reads `{ in: 0.10, out: 0.40, …, context: 32768, max_output: 8192 }`: US dollars per million tokens, and tokens.
fn host_model(name: &str, node: &Node, sink: &mut Sink) -> Option<HostModel> {
    let fields = Fields::open(node, &MODEL, sink)?;
    let mut usd = |key: &str| {
        fields
            .get(key)
            .and_then(|node| usd(&format!("`{key}`"), node, sink))
            .map(|price| UsdPerMtok::nanos(price.value.as_nanos()))
    };
    let (input, output) = (usd("in"), usd("out"));
    let (cached_input, cache_write) = (usd("cached_in"), usd("cache_write"));
    let price = input.zip(output).map(|(input, output)| {
        Price::flat(Rates {
            input,
            output,
            cached_input,
            cache_write,
        })
    });
    let mut tokens = |key: &str, what: &str| {
        let node = fields.get(key)?;
        integer(what, node, sink).map(|tokens| tokens.value)
    };
    Some(HostModel {
        name: name.to_owned(),
        price,
        context: tokens("context", "`context`"),
        max_output: tokens("max_output", "`max_output`"),
    })
}
