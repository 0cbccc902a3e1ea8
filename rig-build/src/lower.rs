//! How do names become ids?
//!
//! Providers, failure classes and files are looked up; a name that means nothing is reported, with the name
//! that was probably meant.

use rig_spec::{FailureClass, PROVIDERS, Tier};

use crate::ast;
use crate::diagnostic::{Diagnostic, Sink};
use crate::facts::{Facts, facts};
use crate::fields::unknown;
use crate::files::Files;
use crate::ir::{Answer, Candidate, Prompt, PromptChange, ProviderRef, Repair, Route, Variant};
use crate::project::Project;
use crate::schema;
use crate::source::Spanned;
use crate::template::{self, Template};

/// Built-in providers whose dialect this version does not speak.
const LATER: [&str; 1] = ["gemini"];

/// Lowers a route as written to a route as meant.
pub(crate) fn lower(
    route: ast::Route,
    project: &Project,
    files: &mut Files,
    sink: &mut Sink,
) -> Route {
    let schema = match &route.schema {
        None => Answer::Broken,
        Some(ast::SchemaRef::Any) => Answer::Any,
        Some(ast::SchemaRef::File(name)) => match schema::load(name, files, sink) {
            Some(schema) => Answer::Schema(Box::new(schema)),
            None => Answer::Broken,
        },
    };
    let prompt = route.prompt.map(|prompt| Prompt {
        template: prompt
            .system
            .and_then(|name| read_template(&name, files, sink)),
        variables: prompt.variables,
    });
    let mut policy = route.policy;
    let tier = policy.tier.as_ref().map(|tier| tier.value);
    let known = Known { project, tier };
    for name in route.routing.only.iter().chain(&route.routing.ignore) {
        provider(name, project, sink);
    }
    let retries = std::mem::take(&mut policy.retries);
    let retries = retries
        .into_iter()
        .filter_map(|(class, budget)| Some((class_of(&class, sink)?, budget)))
        .collect();
    let backoff = std::mem::take(&mut policy.backoff);
    let backoff = backoff
        .into_iter()
        .filter_map(|(class, backoff)| Some((class_of(&class, sink)?, backoff)))
        .collect();
    Route {
        name: route.name,
        version: route.version,
        schema,
        candidates: route.candidates.map(|list| candidates(list, known, sink)),
        prompt,
        policy,
        retries,
        backoff,
        repair: route.repair.map(repair),
        routing: route.routing,
        limits: route.limits,
        variants: route
            .variants
            .into_iter()
            .map(|variant| lower_variant(variant, known, files, sink))
            .collect(),
    }
}

/// What is needed to look a candidate up.
#[derive(Clone, Copy)]
struct Known<'a> {
    project: &'a Project,
    tier: Option<Tier>,
}

fn lower_variant(
    variant: ast::Variant,
    known: Known<'_>,
    files: &mut Files,
    sink: &mut Sink,
) -> Variant {
    let mut change = |name: Option<Spanned<String>>, sink: &mut Sink| {
        name.map(|name| PromptChange {
            span: name.span,
            template: read_template(&name, files, sink),
        })
    };
    Variant {
        name: variant.name,
        prompt_override: change(variant.prompt_override, sink),
        prompt_append: change(variant.prompt_append, sink),
        candidates: variant.candidates.map(|list| candidates(list, known, sink)),
        json: variant.json,
        repair: variant.repair.map(repair),
    }
}

fn repair(repair: ast::Repair) -> Repair {
    Repair {
        max_repairs: repair.max_repairs,
        model: repair.model,
    }
}

/// Returns the template, or `None` where the file or a part of it is broken.
fn read_template(name: &Spanned<String>, files: &mut Files, sink: &mut Sink) -> Option<Template> {
    let source = files.read_named("prompt", name, sink)?;
    let mut own = Sink::default();
    let template = template::parse(&files.sources, source, &mut own);
    let broken = own.has_errors();
    own.into_findings()
        .into_iter()
        .for_each(|finding| sink.push(finding));
    (!broken).then_some(template)
}

fn class_of(name: &Spanned<String>, sink: &mut Sink) -> Option<Spanned<FailureClass>> {
    let class = FailureClass::from_name(&name.value);
    if class.is_none() {
        let retryable = FailureClass::ALL
            .iter()
            .filter(|class| class.is_retryable());
        let names: Vec<_> = retryable.map(|class| class.name()).collect();
        let message = format!("there is no failure class `{}`", name.value);
        sink.push(unknown(
            "unknown-class",
            message,
            &name.value,
            &names,
            name.span,
        ));
    }
    Some(Spanned::new(class?, name.span))
}

fn candidates(
    list: Spanned<Vec<ast::Candidate>>,
    known: Known<'_>,
    sink: &mut Sink,
) -> Spanned<Vec<Candidate>> {
    let lowered = list
        .value
        .into_iter()
        .map(|candidate| lower_candidate(candidate, known, sink))
        .collect();
    Spanned::new(lowered, list.span)
}

fn lower_candidate(candidate: ast::Candidate, known: Known<'_>, sink: &mut Sink) -> Candidate {
    let provider = candidate
        .provider
        .as_ref()
        .and_then(|name| provider(name, known.project, sink));
    let model = candidate.model;
    let facts = match (&provider, &model) {
        (Some(provider), Some(model)) => facts(provider, &model.value, known.tier, known.project),
        _ => Facts::default(),
    };
    let trial = candidate.trial.is_some_and(|trial| trial.value);
    Candidate {
        span: candidate.span,
        provider,
        model,
        trial,
        facts,
    }
}

fn provider(name: &Spanned<String>, project: &Project, sink: &mut Sink) -> Option<ProviderRef> {
    if let Some(found) = PROVIDERS
        .iter()
        .find(|provider| provider.name == name.value)
    {
        return Some(ProviderRef::BuiltIn(found));
    }
    if let Some(found) = project
        .providers
        .iter()
        .find(|host| host.name == name.value)
    {
        return Some(ProviderRef::Host(found.clone()));
    }
    if LATER.contains(&name.value.as_str()) {
        let message = format!(
            "the provider `{}` is not supported by this version of modelrig",
            name.value
        );
        let help = "remove the candidate, or reach the model through a host named in `rig.yaml`";
        sink.push(
            Diagnostic::error("unsupported-provider", message)
                .at(name.span)
                .help(help),
        );
        return None;
    }
    let built_in = PROVIDERS.iter().map(|provider| provider.name);
    let names: Vec<_> = built_in
        .chain(project.providers.iter().map(|host| host.name.as_str()))
        .collect();
    let message = format!("there is no provider `{}`", name.value);
    let mut finding = unknown("unknown-provider", message, &name.value, &names, name.span);
    if let Some(help) = finding.help.as_mut().filter(|help| !help.ends_with('?')) {
        *help += "; a host of your own is named under `providers` in `rig.yaml`";
    }
    sink.push(finding);
    None
}
