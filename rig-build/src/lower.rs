//! How do names become ids?
//!
//! Providers, failure classes and files are looked up; a name that means nothing is reported, with the name
//! that was probably meant.

use std::rc::Rc;

use rig_spec::{FailureClass, PROVIDERS, Tier};

use crate::ast;
use crate::diagnostic::{Diagnostic, Sink};
use crate::facts::{Facts, facts};
use crate::fields::unknown;
use crate::files::Files;
use crate::ir::{
    Answer, Candidate, Grounding, Prompt, PromptChange, ProviderRef, Repair, Route, Scaffold,
    Variant,
};
use crate::project::Project;
use crate::schema::{self, lower::Forms};
use crate::source::Spanned;
use crate::template::{self, Segment, Template};
use crate::tool;

/// Lowers a route as written to a route as meant.
pub(crate) fn lower(
    route: ast::Route,
    project: &Rc<Project>,
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
    let candidates = route.candidates.map(|list| candidates(list, known, sink));
    let forms = match &schema {
        Answer::Schema(schema) => {
            let all = candidates.iter().flat_map(|list| &list.value);
            Forms::of(all.filter_map(Candidate::native_dialect), &schema.root)
        }
        Answer::Any | Answer::Broken => Forms::default(),
    };
    Route {
        name: route.name,
        version: route.version,
        schema,
        forms: Rc::new(forms),
        candidates,
        prompt,
        policy,
        retries,
        backoff,
        repair: route.repair.map(repair),
        routing: route.routing,
        limits: route.limits,
        capture: route.capture.is_some_and(|capture| capture.value),
        cache: route.cache,
        grounding: route.grounding.map(|grounding| Grounding {
            span: grounding.span,
            query: grounding
                .query
                .and_then(|query| whole(sink, |sink| template::parse_value(&query, sink))),
        }),
        tools: route
            .tools
            .iter()
            .filter_map(|name| tool::load(name, files, sink))
            .collect(),
        project: project.clone(),
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
    let change = |name: Option<Spanned<String>>, files: &mut Files, sink: &mut Sink| {
        name.map(|name| PromptChange {
            span: name.span,
            template: read_template(&name, files, sink),
        })
    };
    Variant {
        name: variant.name,
        prompt_override: change(variant.prompt_override, files, sink),
        prompt_append: change(variant.prompt_append, files, sink),
        scaffold: variant.scaffold.map(|name| scaffold(&name, files, sink)),
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
    whole(sink, |sink| template::parse(&files.sources, source, sink))
}

/// Reads what a variant writes around the prompt: a template that holds `{{prompt}}` once, outside of any block.
fn scaffold(name: &Spanned<String>, files: &mut Files, sink: &mut Sink) -> Scaffold {
    let broken = Scaffold {
        before: None,
        after: None,
    };
    let Some(mut template) = read_template(name, files, sink) else {
        return broken;
    };
    let is_prompt = |name: &Spanned<String>| name.value == "prompt";
    let uses: Vec<_> = template
        .variables()
        .into_iter()
        .filter(|name| is_prompt(name))
        .collect();
    let at = template
        .segments
        .iter()
        .position(|segment| matches!(segment, Segment::Variable(name) if is_prompt(name)));
    let (message, place) = match (uses.as_slice(), at) {
        ([_], Some(at)) => {
            let after = Template {
                segments: template.segments.split_off(at + 1),
            };
            template.segments.truncate(at);
            return Scaffold {
                before: Some(template),
                after: Some(after),
            };
        }
        ([], _) => ("the scaffold has no `{{prompt}}`", name.span),
        ([only], None) => ("the scaffold's `{{prompt}}` stands in a block", only.span),
        ([_, second, ..], _) => ("the scaffold has `{{prompt}}` twice", second.span),
    };
    let help = "write `{{prompt}}` once, where the prompt belongs, and outside of `{{#if}}` and `{{#unless}}`";
    let finding = Diagnostic::error("scaffold", message).at(place).help(help);
    sink.push(match place == name.span {
        true => finding,
        false => finding.also(name.span, "the scaffold of this variant"),
    });
    broken
}

/// Returns what was read, or `None` where reading it reported errors.
fn whole<T>(sink: &mut Sink, read: impl FnOnce(&mut Sink) -> T) -> Option<T> {
    let mut own = Sink::default();
    let read = read(&mut own);
    let broken = own.has_errors();
    own.into_findings()
        .into_iter()
        .for_each(|finding| sink.push(finding));
    (!broken).then_some(read)
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
    sink.push(project.unknown_provider(&name.value, name.span));
    None
}
