//! What does `routes/rig.yaml` add: hosts of its own, and what is known better about others?

mod host;

pub(crate) use host::Host;

use std::rc::Rc;

use rig_spec::{Capabilities, Capability, PROVIDERS, Usd};

use crate::diagnostic::{Diagnostic, Sink};
use crate::fields::{Fields, Keys, boolean, list, string, unknown, usd};
use crate::node::{Kind, Node};
use crate::source::{Span, Spanned};

/// The settings of a routes directory.
#[derive(Debug, Default)]
pub(crate) struct Project {
    /// The project's name.
    pub(crate) name: Option<String>,
    /// The tag keys that calls are to carry, and whether a call without one is warned of.
    pub(crate) dimensions: Vec<(String, bool)>,
    /// Who searches for candidates that cannot.
    pub(crate) search: Option<Rc<Search>>,
    /// Further hosts.
    pub(crate) providers: Vec<Rc<Host>>,
    /// Flags that replace those of a provider (`openai`) or of one model (`openai/gpt-5.4-mini`).
    pub(crate) overrides: Vec<(String, Capabilities)>,
}

/// The search provider that `rig.yaml` names.
#[derive(Debug)]
pub(crate) struct Search {
    pub(crate) url: String,
    pub(crate) key_env: Option<String>,
    pub(crate) cost: Usd,
    pub(crate) zero_retention: bool,
}

const PROJECT: Keys = Keys {
    what: "`rig.yaml`",
    known: &[
        "project",
        "dimensions",
        "providers",
        "capability_overrides",
        "search",
    ],
};
const DIMENSION: Keys = Keys {
    what: "a dimension",
    known: &["key", "required"],
};
const SEARCH: Keys = Keys {
    what: "`search`",
    known: &["url", "key_env", "usd_per_query", "zero_retention"],
};

/// Reads the tree of `rig.yaml`. An empty file is no settings.
pub(crate) fn project(node: &Node, sink: &mut Sink) -> Project {
    let mut project = Project::default();
    if node.kind == Kind::Null {
        return project;
    }
    let Some(fields) = Fields::open(node, &PROJECT, sink) else {
        return project;
    };
    project.name = fields
        .get("project")
        .and_then(|node| string("`project`", node, sink))
        .map(|name| name.value);
    dimensions(&fields, &mut project, sink);
    project.search = fields
        .get("search")
        .and_then(|node| search(node, sink))
        .map(Rc::new);
    hosts(&fields, &mut project, sink);
    overrides(&fields, &mut project, sink);
    project
}

fn dimensions(fields: &Fields<'_>, project: &mut Project, sink: &mut Sink) {
    let items = fields
        .get("dimensions")
        .and_then(|node| list("`dimensions`", node, sink))
        .unwrap_or_default();
    let mut first: Vec<Spanned<String>> = Vec::new();
    for item in items {
        let Some(fields) = Fields::open(item, &DIMENSION, sink) else {
            continue;
        };
        let key = fields
            .need("key", "key: customer", sink)
            .and_then(|node| string("`key`", node, sink));
        let required = fields
            .get("required")
            .and_then(|node| boolean("`required`", node, sink));
        let Some(key) = key else { continue };
        if let Some(first) = first.iter().find(|first| first.value == key.value) {
            let message = format!("there is already a dimension `{}`", key.value);
            let finding = Diagnostic::error("duplicate-dimension", message)
                .at(key.span)
                .also(first.span, "the first one")
                .help("keep one of the two");
            sink.push(finding);
            continue;
        }
        let required = required.is_some_and(|required| required.value);
        project.dimensions.push((key.value.clone(), required));
        first.push(key);
    }
}

fn search(node: &Node, sink: &mut Sink) -> Option<Search> {
    let fields = Fields::open(node, &SEARCH, sink)?;
    let url = fields
        .need("url", "url: \"https://search.example/v1\"", sink)
        .and_then(|node| string("`url`", node, sink));
    let key_env = fields
        .get("key_env")
        .and_then(|node| string("`key_env`", node, sink));
    let cost = fields
        .need("usd_per_query", "usd_per_query: 0.005", sink)
        .and_then(|node| usd("`usd_per_query`", node, sink));
    let zero_retention = fields
        .get("zero_retention")
        .and_then(|node| boolean("`zero_retention`", node, sink));
    Some(Search {
        url: address(url?, sink)?,
        key_env: key_env.map(|name| name.value),
        cost: cost?.value,
        zero_retention: zero_retention.is_some_and(|designated| designated.value),
    })
}

/// Returns an address without its trailing slash.
fn address(url: Spanned<String>, sink: &mut Sink) -> Option<String> {
    if !url.value.starts_with("http://") && !url.value.starts_with("https://") {
        let message = format!("`{}` is no address", url.value);
        let help = "write it with its scheme, e.g. `http://127.0.0.1:8080/v1`";
        sink.push(
            Diagnostic::error("base-url", message)
                .at(url.span)
                .help(help),
        );
        return None;
    }
    Some(url.value.trim_end_matches('/').to_owned())
}

fn hosts(fields: &Fields<'_>, project: &mut Project, sink: &mut Sink) {
    let items = fields
        .get("providers")
        .and_then(|node| list("`providers`", node, sink))
        .unwrap_or_default();
    for item in items {
        let Some(host) = host::host(item, sink) else {
            continue;
        };
        if project
            .provider_names()
            .any(|known| known == host.value.name)
        {
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
}

/// Reads `{ openai: [flags], openai/gpt-5.4-mini: [flags] }`.
fn overrides(fields: &Fields<'_>, project: &mut Project, sink: &mut Sink) {
    let Some(node) = fields.get("capability_overrides") else {
        return;
    };
    if !matches!(node.kind, Kind::Map(_)) {
        let message = format!(
            "`capability_overrides` has to be a map of providers, found {}",
            node.described()
        );
        let help = "write it as `{ openai: [structured_native, json_mode] }`";
        sink.push(
            Diagnostic::error("wrong-type", message)
                .at(node.span)
                .help(help),
        );
    }
    for entry in node.entries() {
        let provider = entry.key.split('/').next().unwrap_or("");
        if !project.provider_names().any(|known| known == provider) {
            sink.push(project.unknown_provider(provider, entry.key_span));
        }
        let flags = capabilities(&entry.value, sink);
        project.overrides.push((entry.key.clone(), flags));
    }
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

impl Project {
    /// Returns the name of every provider that a candidate can have.
    fn provider_names(&self) -> impl Iterator<Item = &str> {
        let built_in = PROVIDERS.iter().map(|provider| provider.name);
        built_in.chain(self.providers.iter().map(|host| host.name.as_str()))
    }

    /// The finding for the name of a provider that there is not.
    pub(crate) fn unknown_provider(&self, name: &str, at: Span) -> Diagnostic {
        let names: Vec<_> = self.provider_names().collect();
        let message = format!("there is no provider `{name}`");
        let mut finding = unknown("unknown-provider", message, name, &names, at);
        if let Some(help) = finding.help.as_mut().filter(|help| !help.ends_with('?')) {
            *help += "; a host of your own is named under `providers` in `rig.yaml`";
        }
        finding
    }
}
