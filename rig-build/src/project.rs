//! What does `routes/rig.yaml` add: hosts of its own, and what is known better about others?

use std::rc::Rc;

use rig_spec::{Capabilities, Capability, Dialect, Price, Rates, UsdPerMtok};

use crate::diagnostic::{Diagnostic, Sink};
use crate::fields::{Fields, Keys, integer, list, string, unknown, word};
use crate::node::{Kind, Node};
use crate::source::Spanned;

/// The settings of a routes directory.
#[derive(Debug, Default)]
pub(crate) struct Project {
    /// Further hosts.
    pub(crate) providers: Vec<Rc<Host>>,
    /// Flags that replace those of a provider (`openai`) or of one model (`openai/gpt-5.4-mini`).
    pub(crate) overrides: Vec<(String, Capabilities)>,
}

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

const PROJECT: Keys = Keys {
    what: "`rig.yaml`",
    known: &["providers", "capability_overrides"],
    later: &["project", "dimensions", "search"],
};
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
    later: &[],
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
    later: &[],
};
const DIALECTS: [(&str, Dialect); 2] = [
    ("openai", Dialect::OpenAiChat),
    ("anthropic", Dialect::AnthropicMessages),
];

/// Reads the tree of `rig.yaml`. An empty file is no settings.
pub(crate) fn project(node: &Node, sink: &mut Sink) -> Project {
    let mut project = Project::default();
    if node.kind == Kind::Null {
        return project;
    }
    let Some(fields) = Fields::open(node, &PROJECT, sink) else {
        return project;
    };
    let hosts = fields
        .get("providers")
        .and_then(|node| list("`providers`", node, sink))
        .unwrap_or_default();
    for node in hosts {
        let Some(host) = host(node, sink) else {
            continue;
        };
        let twice = project
            .providers
            .iter()
            .any(|known| known.name == host.value.name);
        let built_in = rig_spec::PROVIDERS
            .iter()
            .any(|known| known.name == host.value.name);
        if twice || built_in {
            let message = format!("there is already a provider `{}`", host.value.name);
            let help = "give the host a name of its own; a built-in provider's address is set by `<PROVIDER>_BASE_URL`";
            sink.push(
                Diagnostic::error("duplicate-provider", message)
                    .at(host.span)
                    .help(help),
            );
        } else {
            project.providers.push(Rc::new(host.value));
        }
    }
    if let Some(overrides) = fields.get("capability_overrides") {
        for entry in overrides.entries() {
            project
                .overrides
                .push((entry.key.clone(), capabilities(&entry.value, sink)));
        }
    }
    project
}

fn host(node: &Node, sink: &mut Sink) -> Option<Spanned<Host>> {
    let fields = Fields::open(node, &HOST, sink)?;
    let name = fields
        .need("name", "local", sink)
        .and_then(|node| string("`name`", node, sink));
    let dialect = fields
        .need("dialect", "openai", sink)
        .and_then(|node| word("`dialect`", node, &DIALECTS, sink));
    let base_url = fields
        .need("base_url", "http://127.0.0.1:8080/v1", sink)
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
    if !base_url.value.starts_with("http://") && !base_url.value.starts_with("https://") {
        let message = format!("`{}` is no address", base_url.value);
        let help = "write it with its scheme, e.g. `http://127.0.0.1:8080/v1`";
        sink.push(
            Diagnostic::error("base-url", message)
                .at(base_url.span)
                .help(help),
        );
        return None;
    }
    let host = Host {
        name: name.value,
        dialect: dialect?.value,
        base_url: base_url.value.trim_end_matches('/').to_owned(),
        key_env: key_env.map(|name| name.value),
        capabilities,
        models,
    };
    Some(Spanned::new(host, name.span))
}

fn capabilities(node: &Node, sink: &mut Sink) -> Capabilities {
    let names: Vec<_> = Capability::ALL.iter().map(|flag| flag.name()).collect();
    let mut flags = Vec::new();
    for item in list("a list of capabilities", node, sink).unwrap_or_default() {
        let Some(name) = string("a capability", item, sink) else {
            continue;
        };
        match Capability::from_name(&name.value) {
            Some(flag) => flags.push(flag),
            None => {
                let message = format!("there is no capability `{}`", name.value);
                sink.push(unknown(
                    "unknown-capability",
                    message,
                    &name.value,
                    &names,
                    name.span,
                ));
            }
        }
    }
    Capabilities::of(&flags)
}

/// Reads `{ in: 0.10, out: 0.40, …, context: 32768, max_output: 8192 }`: US dollars per million tokens, and tokens.
fn host_model(name: &str, node: &Node, sink: &mut Sink) -> Option<HostModel> {
    let fields = Fields::open(node, &MODEL, sink)?;
    let mut usd = |key: &str| {
        fields
            .get(key)
            .and_then(|node| usd_per_mtok(key, node, sink))
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

fn usd_per_mtok(key: &str, node: &Node, sink: &mut Sink) -> Option<UsdPerMtok> {
    let text = match &node.kind {
        Kind::Number(text) => text.as_str(),
        _ => "",
    };
    let price = UsdPerMtok::from_decimal(text);
    if price.is_none() {
        let message = format!(
            "`{key}` has to be a price in USD per million tokens, found {}",
            node.described()
        );
        let help = "write a decimal number with at most nine decimals, e.g. `0.25`";
        sink.push(
            Diagnostic::error("wrong-type", message)
                .at(node.span)
                .help(help),
        );
    }
    price
}
