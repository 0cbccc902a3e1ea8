//! What is a route that keeps every rule?

use std::collections::HashMap;
use std::rc::Rc;

use rig_spec::{
    Backoff, Cache, Capabilities, Capability, FailureClass, Limits, NativeSchema, Policy, Price,
    Tier,
};

use super::no_serveable_candidates::declared_ones;
use crate::ast::{self, Json, VariableKind};
use crate::ir::{Answer, Candidate, ProviderRef, Repair, Route, Variant};
use crate::names::{Taken, snake};
use crate::project::{Project, Search};
use crate::resolve::resolve;
use crate::schema::Schema;
use crate::schema::lower::Forms;
use crate::source::Spanned;
use crate::template::{Segment, Template};
use crate::tool::Tool;

/// How a candidate is made to answer in the route's shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Enforcement {
    /// The provider enforces the schema, in this dialect.
    Native(NativeSchema),
    /// The provider guarantees JSON, the prompt states the schema.
    JsonMode,
    /// Only the prompt states the schema.
    Coached,
}

/// A route that keeps every rule. Only `check` makes one.
#[derive(Debug)]
pub(crate) struct Checked {
    pub(crate) name: String,
    pub(crate) version: u64,
    pub(crate) schema: Option<Schema>,
    /// The schema in the dialects of the candidates that could enforce it.
    pub(crate) forms: Rc<Forms>,
    /// How the route asks for JSON.
    pub(crate) json: Json,
    pub(crate) plan: Plan,
    /// The variants that have a live candidate.
    pub(crate) variants: Vec<(String, Plan)>,
    pub(crate) retries: Vec<(FailureClass, u64)>,
    pub(crate) backoff: Vec<(FailureClass, Backoff)>,
    pub(crate) timeout_ms: u64,
    pub(crate) first_token_ms: Option<u64>,
    pub(crate) idle_ms: Option<u64>,
    pub(crate) deadline_ms: Option<u64>,
    pub(crate) tier: Option<Tier>,
    pub(crate) temperature: Option<f64>,
    pub(crate) top_p: Option<f64>,
    pub(crate) max_output_tokens: Option<u64>,
    /// The variables that may not be longer than so many characters.
    pub(crate) max_chars: Vec<(String, u64)>,
    pub(crate) zero_retention: bool,
    pub(crate) capture: bool,
    pub(crate) cache: Cache,
    pub(crate) grounding: Option<PlannedGrounding>,
    pub(crate) tools: Vec<Tool>,
    pub(crate) project: Rc<Project>,
}

/// The search that the prompt is grounded on.
#[derive(Debug)]
pub(crate) struct PlannedGrounding {
    pub(crate) query: Template,
    /// Who searches; `None` where every candidate does so itself.
    pub(crate) search: Option<Rc<Search>>,
}

impl Checked {
    /// Returns the backoff of a class: the route's, else the failure table's.
    pub(crate) fn backoff_of(&self, class: FailureClass) -> Backoff {
        let own = self.backoff.iter().find(|(named, _)| *named == class);
        own.map_or_else(|| class.default_backoff(), |(_, backoff)| *backoff)
    }

    /// Returns whether a candidate of the default plan would enforce the schema, could it be said in its dialect.
    pub(crate) fn wants_native(&self, candidate: &PlannedCandidate) -> bool {
        self.json == Json::Native && candidate.capabilities.has(Capability::StructuredNative)
    }
}

/// How calls are served: the live candidates in ladder order, the prompt, the repair rung.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) candidates: Vec<PlannedCandidate>,
    pub(crate) prompt: Template,
    pub(crate) repair: Option<PlannedRepair>,
}

/// A live candidate, and how it is asked for JSON.
#[derive(Clone, Debug)]
pub(crate) struct PlannedCandidate {
    pub(crate) provider: ProviderRef,
    pub(crate) model: String,
    pub(crate) capabilities: Capabilities,
    pub(crate) enforcement: Enforcement,
    pub(crate) price: Option<Price>,
    pub(crate) limits: Limits,
}

/// The repair rung of a plan.
#[derive(Clone, Debug)]
pub(crate) struct PlannedRepair {
    pub(crate) max_repairs: u64,
    pub(crate) model: Option<PlannedCandidate>,
}

/// A field of the input struct.
#[derive(Debug)]
pub(crate) struct Input {
    /// Its name in Rust, not escaped.
    pub(crate) name: String,
    /// The variable's name.
    pub(crate) key: String,
    pub(crate) kind: VariableKind,
    pub(crate) optional: bool,
}

/// Returns the fields of the input struct.
pub(crate) fn input_fields(variables: &[ast::Variable]) -> Vec<Input> {
    let mut taken = Taken::default();
    let field = |variable: &ast::Variable| {
        let key = variable.name.value.clone();
        Input {
            name: taken.take(snake(&key)),
            key,
            kind: variable.kind,
            optional: variable.optional,
        }
    };
    variables.iter().map(field).collect()
}

/// Returns the variants of a replay: those of the route, with the trial candidates that they name, and each declared
/// candidate alone. Every other filter holds for trial candidates too (R1).
pub(crate) fn trial_plans(route: &Route, checked: &Checked) -> Vec<(String, Plan)> {
    let json = checked.json;
    let declared = route.candidates.iter().flat_map(|list| &list.value);
    let live: Vec<_> = declared
        .map(|candidate| Candidate {
            trial: false,
            ..candidate.clone()
        })
        .collect();
    let planner = Planner::new(&live, route);
    let all: Vec<_> = route
        .candidates
        .iter()
        .flat_map(|list| &list.value)
        .collect();
    let own = route.variants.iter().filter_map(|variant| {
        let json = variant.json.as_ref().map_or(json, |json| json.value);
        let named = variant.candidates.as_ref();
        let narrowed = named.map_or(all.clone(), |named| declared_ones(&live, named));
        let template = route.prompt.as_ref()?.template.as_ref()?;
        let repair = variant.repair.as_ref().or(route.repair.as_ref());
        let prompt = variant_prompt(template, variant)?;
        let plan = planner.plan(&narrowed, json, prompt, repair)?;
        Some((variant.name.as_ref()?.value.clone(), plan))
    });
    let alone = live.iter().filter_map(|candidate| {
        let prompt = checked.plan.prompt.clone();
        let plan = planner.plan(&[candidate], json, prompt, route.repair.as_ref())?;
        Some((candidate.key()?, plan))
    });
    own.chain(alone)
        .filter(|(_, plan)| !plan.candidates.is_empty())
        .collect()
}

/// Decides everything that does not depend on a call. `None` where a part is missing; that was reported.
pub(super) fn plan(route: &Route) -> Option<Checked> {
    let schema = match &route.schema {
        Answer::Any => None,
        Answer::Schema(schema) => Some(schema.as_ref().clone()),
        Answer::Broken => return None,
    };
    let prompt = route.prompt.as_ref()?;
    let template = prompt.template.as_ref()?;
    let json = route
        .policy
        .json
        .as_ref()
        .map_or(Json::Native, |json| json.value);
    let declared = &route.candidates.as_ref()?.value;
    let planner = Planner::new(declared, route);
    let all: Vec<_> = declared.iter().collect();
    let default = planner.plan(&all, json, template.clone(), route.repair.as_ref())?;
    let variants = route.variants.iter().map(|variant| {
        let json = variant.json.as_ref().map_or(json, |json| json.value);
        let named = variant.candidates.as_ref();
        // A variant names candidates; what they are is declared at the route.
        let narrowed = named.map_or(all.clone(), |named| declared_ones(declared, named));
        let prompt = variant_prompt(template, variant)?;
        let repair = variant.repair.as_ref().or(route.repair.as_ref());
        Some((
            variant.name.as_ref()?.value.clone(),
            planner.plan(&narrowed, json, prompt, repair)?,
        ))
    });
    let variants = variants.collect::<Option<Vec<_>>>()?;
    let grounding = match &route.grounding {
        None => None,
        Some(grounding) => Some(PlannedGrounding {
            query: grounding.query.clone()?,
            search: route.project.search.clone(),
        }),
    };
    let policy = &route.policy;
    let number = |number: &Option<Spanned<f64>>| number.as_ref().map(|number| number.value);
    let whole = |number: &Option<Spanned<u64>>| number.as_ref().map(|number| number.value);
    Some(Checked {
        name: route.name.as_ref()?.value.clone(),
        version: route.version.as_ref()?.value,
        plan: default,
        variants: variants
            .into_iter()
            .filter(|(_, plan)| !plan.candidates.is_empty())
            .collect(),
        retries: route
            .retries
            .iter()
            .map(|(class, budget)| (class.value, budget.value))
            .collect(),
        backoff: route
            .backoff
            .iter()
            .map(|(class, _)| (class.value, route.backoff_of(class.value)))
            .collect(),
        timeout_ms: policy
            .timeout_ms
            .as_ref()
            .map_or(Policy::DEFAULT_TIMEOUT_MS, |timeout| timeout.value),
        first_token_ms: whole(&policy.first_token_ms),
        idle_ms: whole(&policy.idle_ms),
        deadline_ms: whole(&policy.deadline_ms),
        tier: policy.tier.as_ref().map(|tier| tier.value),
        temperature: number(&policy.temperature),
        top_p: number(&policy.top_p),
        max_output_tokens: whole(&policy.max_output_tokens),
        max_chars: prompt
            .variables
            .value
            .iter()
            .filter_map(|variable| {
                let most = variable.max_chars.as_ref()?.value;
                Some((variable.name.value.clone(), most))
            })
            .collect(),
        zero_retention: {
            let mut require = route.routing.require.iter();
            require.any(|require| require.value == ast::Require::ZeroRetention)
        },
        capture: route.capture,
        cache: route.cache.as_ref().map_or(Cache::Off, |cache| cache.value),
        grounding,
        tools: route.tools.clone(),
        project: route.project.clone(),
        schema,
        forms: route.forms.clone(),
        json,
    })
}

struct Planner<'a> {
    declared: HashMap<String, &'a Candidate>,
    route: &'a Route,
}

impl<'a> Planner<'a> {
    fn new(candidates: &'a [Candidate], route: &'a Route) -> Self {
        let mut declared = HashMap::new();
        for candidate in candidates {
            if let Some(key) = candidate.key() {
                declared.entry(key).or_insert(candidate);
            }
        }
        Self { declared, route }
    }

    fn plan(
        &self,
        candidates: &[&Candidate],
        json: Json,
        prompt: Template,
        repair: Option<&Repair>,
    ) -> Option<Plan> {
        let resolved = resolve(candidates, self.route, json);
        let candidates = resolved
            .kept
            .into_iter()
            .map(|candidate| self.candidate(candidate, json))
            .collect::<Option<_>>()?;
        let repair = match repair {
            None => None,
            Some(repair) => Some(self.repair(repair, json)?),
        };
        Some(Plan {
            candidates,
            prompt,
            repair,
        })
    }

    fn candidate(&self, candidate: &Candidate, json: Json) -> Option<PlannedCandidate> {
        let provider = candidate.provider.clone()?;
        let flags = candidate.facts.capabilities;
        // What has no form in a dialect is told in the prompt, so every candidate is asked in some way: a ladder that
        // nobody can enforce and nobody be coached on is not sayable.
        let native = json == Json::Native
            && flags.has(Capability::StructuredNative)
            && matches!(self.route.forms.get(provider.native_schema()), Some(Ok(_)));
        let enforcement = match native {
            true => Enforcement::Native(provider.native_schema()),
            false if flags.has(Capability::JsonMode) => Enforcement::JsonMode,
            false => Enforcement::Coached,
        };
        let model = candidate.model.as_ref()?.value.clone();
        Some(PlannedCandidate {
            provider,
            model,
            capabilities: flags,
            enforcement,
            price: candidate.facts.price,
            limits: candidate.facts.limits(),
        })
    }

    fn repair(&self, repair: &Repair, json: Json) -> Option<PlannedRepair> {
        let max_repairs = repair.max_repairs.as_ref()?.value;
        let wanted = repair.model.as_ref().filter(|_| max_repairs == 2);
        let model = match wanted {
            None => None,
            Some(key) => {
                let declared = self.declared.get(&key.value)?;
                Some(self.candidate(declared, json)?)
            }
        };
        Some(PlannedRepair { max_repairs, model })
    }
}

/// Returns a variant's prompt: replaced or added to, then with its scaffold around it.
fn variant_prompt(base: &Template, variant: &Variant) -> Option<Template> {
    let mut prompt = match &variant.prompt_override {
        Some(change) => change.template.clone()?,
        None => base.clone(),
    };
    if let Some(change) = &variant.prompt_append {
        prompt.segments.push(Segment::Text("\n\n".to_owned()));
        prompt
            .segments
            .extend(change.template.as_ref()?.segments.iter().cloned());
    }
    if let Some(scaffold) = &variant.scaffold {
        let mut around = scaffold.before.clone()?;
        around.segments.append(&mut prompt.segments);
        let after = scaffold.after.as_ref()?;
        around.segments.extend(after.segments.iter().cloned());
        prompt = around;
    }
    Some(prompt)
}
