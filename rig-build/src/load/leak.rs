//! Which values does a checked route become?
//!
//! One function for each table that `emit` writes, and in the same order. A test holds every accepted route of both
//! against each other.

use rig_spec as spec;

use crate::check::{Checked, Enforcement, Plan, PlannedCandidate, PlannedGrounding, PlannedRepair};
use crate::emit::wire_name;
use crate::ir::ProviderRef;
use crate::project::{Host, Project, Search};
use crate::schema::Schema;
use crate::schema::lower::{Forms, Lowered, Shape, Step};
use crate::template::{Segment, Template};
use crate::tool::Tool;

/// Makes a value live as long as the process.
pub(super) fn value<T>(value: T) -> &'static T {
    Box::leak(Box::new(value))
}

fn text(text: &str) -> &'static str {
    text.to_owned().leak()
}

fn list<T, U>(items: &[T], item: impl FnMut(&T) -> U) -> &'static [U] {
    items.iter().map(item).collect::<Vec<_>>().leak()
}

/// Numbers are checked to be small before; a larger one is the largest.
fn narrow<T: TryFrom<u64>>(number: u64, most: T) -> T {
    T::try_from(number).unwrap_or(most)
}

/// Returns a route with these variants.
pub(super) fn route<'a>(
    route: &Checked,
    variants: impl Iterator<Item = (&'a str, &'a Plan)>,
) -> spec::Route {
    let variants = variants.map(|(name, of)| spec::Variant {
        name: text(name),
        plan: plan(route, of),
    });
    spec::Route {
        name: text(&route.name),
        version: narrow(route.version, u32::MAX),
        schema: route.schema.as_ref().map(schema),
        plan: plan(route, &route.plan),
        variants: variants.collect::<Vec<_>>().leak(),
        policy: policy(route),
        max_chars: list(&route.max_chars, |(name, most)| (text(name), *most)),
        zero_retention: route.zero_retention,
        capture: route.capture,
        cache: route.cache,
        grounding: route.grounding.as_ref().map(grounding),
        tools: list(&route.tools, tool),
        project: value(project(&route.project)),
    }
}

fn policy(route: &Checked) -> spec::Policy {
    let retries = |(class, budget): &(_, u64)| (*class, narrow(*budget, u32::MAX));
    let tokens = route.max_output_tokens;
    spec::Policy {
        retries: list(&route.retries, retries),
        backoff: list(&route.backoff, |backoff| *backoff),
        timeout_ms: route.timeout_ms,
        first_token_ms: route.first_token_ms,
        idle_ms: route.idle_ms,
        deadline_ms: route.deadline_ms,
        tier: route.tier,
        sampling: spec::Sampling {
            temperature: route.temperature,
            top_p: route.top_p,
            max_output_tokens: tokens.map(|tokens| narrow(tokens, u32::MAX)),
        },
    }
}

fn grounding(grounding: &PlannedGrounding) -> spec::Grounding {
    spec::Grounding {
        query: template(&grounding.query),
        search: grounding.search.as_deref().map(search).map(value),
    }
}

fn search(search: &Search) -> spec::Search {
    spec::Search {
        url: text(&search.url),
        key_env: search.key_env.as_deref().map(text),
        cost: search.cost,
        zero_retention: search.zero_retention,
    }
}

fn tool(tool: &Tool) -> spec::Tool {
    spec::Tool {
        name: text(&tool.name.value),
        description: text(&tool.description),
        parameters: schema(&tool.parameters),
    }
}

fn project(project: &Project) -> spec::Project {
    spec::Project {
        name: project.name.as_deref().map(text),
        dimensions: list(&project.dimensions, |(key, required)| spec::Dimension {
            key: text(key),
            required: *required,
        }),
    }
}

fn schema(schema: &Schema) -> spec::Schema {
    spec::Schema {
        name: text(&wire_name(&schema.type_name)),
        json: text(&schema.json),
        skeleton: text(&schema.skeleton),
        gate: text(&schema.gate),
        hash: schema.hash,
    }
}

fn plan(route: &Checked, plan: &Plan) -> spec::Plan {
    let repair = |repair: &PlannedRepair| spec::Repair {
        max_repairs: narrow(repair.max_repairs, 2),
        model: repair
            .model
            .as_ref()
            .map(|model| value(candidate(&route.forms, model))),
    };
    spec::Plan {
        candidates: list(&plan.candidates, |planned| candidate(&route.forms, planned)),
        prompt: template(&plan.prompt),
        repair: plan.repair.as_ref().map(repair),
    }
}

fn candidate(forms: &Forms, candidate: &PlannedCandidate) -> spec::Candidate {
    let provider = match &candidate.provider {
        ProviderRef::BuiltIn(provider) => provider,
        ProviderRef::Host(own) => value(host(own)),
    };
    let enforcement = match candidate.enforcement {
        Enforcement::Native(kind) => match forms.get(kind) {
            Some(Ok(form)) => spec::Enforcement::Native(value(lowered(form))),
            Some(Err(_)) | None => spec::Enforcement::Coached,
        },
        Enforcement::JsonMode => spec::Enforcement::JsonMode,
        Enforcement::Coached => spec::Enforcement::Coached,
    };
    spec::Candidate {
        provider,
        model: text(&candidate.model),
        capabilities: candidate.capabilities,
        enforcement,
        price: candidate.price,
        limits: candidate.limits,
    }
}

fn host(host: &Host) -> spec::Provider {
    spec::Provider {
        name: text(&host.name),
        dialect: host.dialect,
        base_url: text(&host.base_url),
        base_url_env: text(&host.base_url_env()),
        key_env: host.key_env.as_deref().map(text),
        capabilities: host.capabilities,
        ..spec::Provider::BLANK
    }
}

fn lowered(form: &Lowered) -> spec::Lowered {
    if form.is_as_written() {
        return spec::Lowered::AS_WRITTEN;
    }
    spec::Lowered {
        json: form.json.as_deref().map(text),
        wrapped_in: form.wrapped_in.as_deref().map(text),
        shapes: list(&form.shapes, shape),
    }
}

fn shape(shape: &Shape) -> spec::Shape {
    spec::Shape {
        absent: list(&shape.absent, |name| text(name)),
        within: list(&shape.within, |(step, next)| match step {
            Step::Property(name) => (spec::Step::Property(text(name)), *next),
            Step::Items => (spec::Step::Items, *next),
        }),
    }
}

fn template(template: &Template) -> spec::Template {
    spec::Template {
        segments: segments(&template.segments),
    }
}

fn segments(all: &[Segment]) -> &'static [spec::Segment] {
    list(all, |segment| match segment {
        Segment::Text(own) => spec::Segment::Text(text(own)),
        Segment::Variable(name) => spec::Segment::Variable(text(&name.value)),
        Segment::When {
            capability,
            present,
            body,
        } => spec::Segment::When {
            capability: *capability,
            present: *present,
            body: segments(body),
        },
    })
}
