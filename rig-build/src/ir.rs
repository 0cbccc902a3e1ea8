//! What does the route mean?
//!
//! Names have become ids, files have been read. Every value keeps the place that a check may point at. A part
//! that could not be read is `None`, and was reported.

use std::rc::Rc;

use rig_spec::{Cache, Capability, FailureClass, NativeSchema, Provider, SearchFee};

use crate::ast::{Backoff, Json, Limits, Policy, Routing, Variable};
use crate::facts::Facts;
use crate::project::{Host, Project};
use crate::schema::Schema;
use crate::schema::lower::Forms;
use crate::source::{Span, Spanned};
use crate::template::Template;
use crate::tool::Tool;

/// A route, as meant.
#[derive(Debug)]
pub(crate) struct Route {
    pub(crate) name: Option<Spanned<String>>,
    pub(crate) version: Option<Spanned<u64>>,
    pub(crate) schema: Answer,
    /// The schema in the dialects of the candidates that could enforce it.
    pub(crate) forms: Rc<Forms>,
    pub(crate) candidates: Option<Spanned<Vec<Candidate>>>,
    pub(crate) prompt: Option<Prompt>,
    pub(crate) policy: Policy,
    pub(crate) retries: Vec<(Spanned<FailureClass>, Spanned<u64>)>,
    pub(crate) backoff: Vec<(Spanned<FailureClass>, Backoff)>,
    pub(crate) repair: Option<Repair>,
    pub(crate) routing: Routing,
    pub(crate) limits: Limits,
    pub(crate) capture: bool,
    pub(crate) cache: Option<Spanned<Cache>>,
    pub(crate) grounding: Option<Grounding>,
    pub(crate) tools: Vec<Tool>,
    pub(crate) variants: Vec<Variant>,
    pub(crate) project: Rc<Project>,
}

/// What an answer has to be.
#[derive(Debug)]
pub(crate) enum Answer {
    /// Any JSON value.
    Any,
    /// What conforms to this schema, which this value of the route names.
    Schema(Box<Schema>),
    /// Unknown: the schema could not be read.
    Broken,
}

/// A provider that a candidate names.
#[derive(Clone, Debug)]
pub(crate) enum ProviderRef {
    BuiltIn(&'static Provider),
    Host(Rc<Host>),
}

/// A candidate.
#[derive(Clone, Debug)]
pub(crate) struct Candidate {
    pub(crate) span: Span,
    pub(crate) provider: Option<ProviderRef>,
    pub(crate) model: Option<Spanned<String>>,
    pub(crate) trial: bool,
    pub(crate) facts: Facts,
}

/// The prompt.
#[derive(Debug)]
pub(crate) struct Prompt {
    pub(crate) template: Option<Template>,
    pub(crate) variables: Spanned<Vec<Variable>>,
}

/// The search that the prompt is grounded on.
#[derive(Debug)]
pub(crate) struct Grounding {
    pub(crate) span: Span,
    pub(crate) query: Option<Template>,
}

/// The repair rung.
#[derive(Debug)]
pub(crate) struct Repair {
    pub(crate) max_repairs: Option<Spanned<u64>>,
    /// `provider/model`, as written.
    pub(crate) model: Option<Spanned<String>>,
}

/// A variant.
#[derive(Debug)]
pub(crate) struct Variant {
    pub(crate) name: Option<Spanned<String>>,
    pub(crate) candidates: Option<Spanned<Vec<Candidate>>>,
    pub(crate) json: Option<Spanned<Json>>,
    pub(crate) prompt_override: Option<PromptChange>,
    pub(crate) prompt_append: Option<PromptChange>,
    pub(crate) scaffold: Option<Scaffold>,
    pub(crate) repair: Option<Repair>,
}

/// A variant's own prompt file.
#[derive(Debug)]
pub(crate) struct PromptChange {
    pub(crate) span: Span,
    pub(crate) template: Option<Template>,
}

/// What a variant writes around the prompt.
#[derive(Debug)]
pub(crate) struct Scaffold {
    pub(crate) before: Option<Template>,
    pub(crate) after: Option<Template>,
}

impl ProviderRef {
    /// Returns the provider's name.
    pub(crate) fn name(&self) -> &str {
        match self {
            Self::BuiltIn(provider) => provider.name,
            Self::Host(host) => &host.name,
        }
    }

    /// Returns what a model's own web searches cost.
    pub(crate) fn search_fee(&self, model: &str) -> SearchFee {
        match self {
            Self::BuiltIn(provider) => provider.search_fee(model),
            Self::Host(host) => host.dialect.search_fee(model),
        }
    }

    /// Returns which schemas the provider enforces. A host of one's own takes what it is given.
    pub(crate) fn native_schema(&self) -> NativeSchema {
        match self {
            Self::BuiltIn(provider) => provider.native_schema,
            Self::Host(_) => NativeSchema::Any,
        }
    }
}

impl Candidate {
    /// Returns the dialect in which the candidate could enforce a schema; `None` where it enforces none.
    pub(crate) fn native_dialect(&self) -> Option<NativeSchema> {
        let provider = self.provider.as_ref()?;
        let flags = self.facts.capabilities;
        flags
            .has(Capability::StructuredNative)
            .then(|| provider.native_schema())
    }

    /// Returns `provider/model`, where both are known.
    pub(crate) fn key(&self) -> Option<String> {
        Some(format!(
            "{}/{}",
            self.provider.as_ref()?.name(),
            self.model.as_ref()?.value
        ))
    }
}

impl Route {
    /// Returns the backoff of a class. What the route leaves open is as in the failure table; a cap that it leaves
    /// open never cuts its own first wait.
    pub(crate) fn backoff_of(&self, class: FailureClass) -> rig_spec::Backoff {
        let table = class.default_backoff();
        let Some((_, given)) = self.backoff.iter().find(|(named, _)| named.value == class) else {
            return table;
        };
        let first_ms = given
            .first_ms
            .as_ref()
            .map_or(table.first_ms, |first| first.value);
        rig_spec::Backoff {
            first_ms,
            factor: given
                .factor
                .as_ref()
                .map_or(table.factor, |factor| factor.value),
            cap_ms: given
                .cap_ms
                .as_ref()
                .map_or(table.cap_ms.max(first_ms), |cap| cap.value),
            jitter: given
                .jitter
                .as_ref()
                .map_or(table.jitter, |jitter| jitter.value),
        }
    }

    /// Returns whether there is something to search for, and someone who searches for candidates that cannot.
    pub(crate) fn can_search(&self) -> bool {
        self.grounding.is_some() && self.project.search.is_some()
    }

    /// Returns every template that a call may render into its prompt, as far as it could be read.
    pub(crate) fn templates(&self) -> impl Iterator<Item = &Template> {
        self.prompts().flatten()
    }

    /// Returns every template that a call may render, also for the search.
    pub(crate) fn all_templates(&self) -> impl Iterator<Item = &Template> {
        self.templates().chain(self.query().flatten())
    }

    /// Returns whether every template could be read.
    pub(crate) fn templates_complete(&self) -> bool {
        self.prompt.is_some()
            && self
                .prompts()
                .chain(self.query())
                .all(|read| read.is_some())
    }

    fn prompts(&self) -> impl Iterator<Item = Option<&Template>> {
        let own = self.prompt.iter().map(|prompt| prompt.template.as_ref());
        let changes = self.variants.iter().flat_map(|variant| {
            let changes = variant.prompt_override.iter().chain(&variant.prompt_append);
            let scaffold = variant.scaffold.iter();
            let around =
                scaffold.flat_map(|around| [around.before.as_ref(), around.after.as_ref()]);
            changes.map(|change| change.template.as_ref()).chain(around)
        });
        own.chain(changes)
    }

    fn query(&self) -> impl Iterator<Item = Option<&Template>> {
        self.grounding
            .iter()
            .map(|grounding| grounding.query.as_ref())
    }
}
