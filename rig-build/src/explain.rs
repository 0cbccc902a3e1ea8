//! What would a call of a route do, as data for whoever tells or compares it?
//!
//! Nothing is decided here: the ladder is the checked route's, the filters are those of `resolve` and of a call's
//! narrowing, the worst case is that of `worst`.

mod settings;

use rig_spec::{Capability, FailureClass, Limits, Narrowing, Price, Usd};

use crate::ast::Json;
use crate::check::{Plan, PlannedCandidate, PlannedRepair, declared_ones};
use crate::compile::{CompiledRoute, Whole};
use crate::facts::Source;
use crate::ir::{Candidate, ProviderRef, Variant};
use crate::resolve::resolve;
use crate::{emit, worst};

/// What calls of a route do, in one variant and under one narrowing.
#[derive(Debug)]
pub struct Explained {
    /// The route's name.
    pub route: String,
    /// Its version.
    pub version: u64,
    /// Its file, as messages say it.
    pub file: String,
    /// The variant; `None` is the route itself.
    pub variant: Option<String>,
    /// Every variant that the route declares.
    pub variants: Vec<String>,
    /// Who may serve, in ladder order.
    pub candidates: Vec<Rung>,
    /// Who may not, in the order in which the filters act.
    pub dropped: Vec<Dropped>,
    /// Who searches the web for candidates that cannot; `None` where nobody has to.
    pub search: Option<Searcher>,
    /// The retry budgets above 0, for each candidate.
    pub budgets: Vec<Budget>,
    /// The repair rung.
    pub repair: Option<RepairRung>,
    /// The most that a call can do.
    pub worst: WorstCase,
    /// The variables, in their order.
    pub variables: Vec<Variable>,
    /// The schema of the output, self-contained, as compact JSON; `None` takes any JSON value.
    pub schema: Option<String>,
    /// Every other setting of the route that says something, by the name of its key.
    pub settings: Vec<(&'static str, String)>,
}

/// A candidate on the ladder.
#[derive(Debug)]
pub struct Rung {
    /// The provider's name.
    pub provider: String,
    /// The model's name at the provider.
    pub model: String,
    /// What its tokens cost, at the tier that the route asks for where that has a price.
    pub price: Option<Price>,
    /// How large an attempt of it can become.
    pub limits: Limits,
    /// Every capability, and who says so, in the order of [`Capability::ALL`].
    pub flags: Vec<Flag>,
    /// How it is made to answer in the route's shape: `enforces the schema`.
    pub shape: String,
    /// What its dialect does not hold as the schema says it, a line each.
    pub receipt: Vec<String>,
    /// Whether the route's search is asked for it.
    pub is_searched_for: bool,
    /// The variable of the environment with its key; `None` for a host that needs none.
    pub key_env: Option<String>,
    /// Its address.
    pub base_url: String,
    /// The variable of the environment that overrides the address.
    pub base_url_env: String,
}

/// Whether a candidate has a capability.
#[derive(Debug)]
pub struct Flag {
    /// The capability.
    pub capability: Capability,
    /// Whether it has it.
    pub holds: bool,
    /// Who says so.
    pub source: Source,
}

/// A declared candidate that does not serve.
#[derive(Debug, PartialEq, Eq)]
pub struct Dropped {
    /// `provider/model`.
    pub candidate: String,
    /// The filter that removes it.
    pub filter: String,
}

/// The search of the web.
#[derive(Debug)]
pub struct Searcher {
    /// Its address.
    pub url: String,
    /// The variable of the environment with its key; `None` where it needs none.
    pub key_env: Option<String>,
    /// What one query costs.
    pub cost: Usd,
}

/// How often, and after which waits, a class is retried.
#[derive(Debug, PartialEq, Eq)]
pub struct Budget {
    /// The failure class.
    pub class: FailureClass,
    /// How many retries there are for each candidate.
    pub retries: u64,
    /// The wait before each retry, in milliseconds, without jitter; of a large budget the first few.
    pub waits_ms: Vec<u64>,
    /// Whether a provider's `Retry-After` lengthens them.
    pub heeds_retry_after: bool,
}

/// The repair rung of a run.
#[derive(Debug, PartialEq, Eq)]
pub struct RepairRung {
    /// How many repairs there are.
    pub max_repairs: u64,
    /// Who does the second, as `provider/model`.
    pub model: Option<String>,
}

/// The most that a call can do (contract C9).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorstCase {
    /// The most attempts.
    pub attempts: u64,
    /// The longest wall clock, in milliseconds.
    pub wall_clock_ms: u64,
    /// The highest cost.
    pub cost: Usd,
    /// How the sums come about, a line each.
    pub parts: Vec<String>,
}

/// A variable of the prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// Its type, as a route writes it: `string?`.
    pub kind: String,
}

/// So many waits of one budget are listed.
const MOST_WAITS: u64 = 12;

impl CompiledRoute {
    /// Returns what calls of the route do; of a variant where one is named, and under a call's narrowing. `None` where the
    /// route has errors, or no such variant.
    #[must_use]
    pub fn explain(&self, variant: Option<&str>, narrowing: &Narrowing) -> Option<Explained> {
        let whole = self.whole.as_deref()?;
        let Whole { meant, checked } = whole;
        let named = match variant {
            None => None,
            Some(name) => Some(
                meant
                    .variants
                    .iter()
                    .find(|variant| name_of(variant) == name)?,
            ),
        };
        let (plan, dropped) = narrowed(whole, named, narrowing);
        let rungs: Vec<_> = plan
            .candidates
            .iter()
            .filter_map(|candidate| rung(candidate, whole))
            .collect();
        let worst = worst::of_plan(&plan, checked);
        let search = checked
            .grounding
            .as_ref()
            .and_then(|found| found.search.as_ref());
        let search = search.filter(|_| rungs.iter().any(|rung| rung.is_searched_for));
        Some(Explained {
            route: checked.name.clone(),
            version: checked.version,
            file: self.file.clone(),
            variant: named.map(|variant| name_of(variant).to_owned()),
            variants: meant
                .variants
                .iter()
                .map(|variant| name_of(variant).to_owned())
                .collect(),
            candidates: rungs,
            dropped,
            search: search.map(|search| Searcher {
                url: search.url.clone(),
                key_env: search.key_env.clone(),
                cost: search.cost,
            }),
            budgets: FailureClass::ALL
                .into_iter()
                .filter_map(|class| budget(whole, class))
                .collect(),
            repair: plan.repair.as_ref().map(|repair| RepairRung {
                max_repairs: repair.max_repairs,
                model: repair.model.as_ref().map(key),
            }),
            worst: WorstCase {
                attempts: worst.attempts,
                wall_clock_ms: worst.wall_clock_ms,
                cost: worst.cost,
                parts: worst.parts,
            },
            variables: settings::variables(meant),
            schema: checked.schema.as_ref().map(|schema| schema.json.clone()),
            settings: settings::settings(whole, named, &plan),
        })
    }

    /// Returns the names of the variants that the route declares.
    #[must_use]
    pub fn variants(&self) -> Vec<&str> {
        let whole = self.whole.as_deref();
        let variants = whole.map(|whole| whole.meant.variants.as_slice());
        variants.unwrap_or_default().iter().map(name_of).collect()
    }
}

/// Returns a variant's name; every variant of a checked route has one.
fn name_of(variant: &Variant) -> &str {
    variant.name.as_ref().map_or("", |name| &name.value)
}

fn key(candidate: &PlannedCandidate) -> String {
    format!("{}/{}", candidate.provider.name(), candidate.model)
}

/// R1: a variant's narrowing, what the compiler drops, what the call drops.
fn narrowed(
    whole: &Whole,
    variant: Option<&Variant>,
    narrowing: &Narrowing,
) -> (Plan, Vec<Dropped>) {
    let Whole { meant, checked } = whole;
    let declared = meant
        .candidates
        .as_ref()
        .map(|list| list.value.as_slice())
        .unwrap_or_default();
    let mut dropped = Vec::new();
    let mut drop_one = |candidate: Option<String>, filter: String| {
        if let Some(candidate) = candidate {
            dropped.push(Dropped { candidate, filter });
        }
    };
    let mut left: Vec<&Candidate> = declared.iter().collect();
    if let Some(named) = variant.and_then(|variant| variant.candidates.as_ref()) {
        left = declared_ones(declared, named);
        for candidate in declared {
            if !left.iter().any(|kept| kept.key() == candidate.key()) {
                drop_one(candidate.key(), "the variant does not name it".to_owned());
            }
        }
    }
    let json = variant
        .and_then(|variant| variant.json.as_ref())
        .or(meant.policy.json.as_ref());
    let json = json.map_or(Json::Native, |json| json.value);
    for (candidate, filter) in resolve(&left, meant, json).removed {
        drop_one(candidate.key(), filter);
    }
    let name = variant.map(name_of);
    let own = checked
        .variants
        .iter()
        .find(|(known, _)| Some(known.as_str()) == name);
    let mut plan = own.map_or(&checked.plan, |(_, plan)| plan).clone();
    if name.is_some() && own.is_none() {
        // Only trial candidates are left: no call can name the variant.
        plan.candidates.clear();
    }
    let search = checked
        .grounding
        .as_ref()
        .and_then(|found| found.search.as_ref());
    let removes = |candidate: &PlannedCandidate| {
        narrowing.removes(
            candidate.provider.name(),
            candidate.capabilities,
            candidate.price,
        )
    };
    plan.candidates.retain(|candidate| {
        let searched =
            || narrowing.removes_searched(candidate.capabilities, search?.zero_retention);
        let filter = removes(candidate).or_else(searched);
        if let Some(filter) = &filter {
            drop_one(Some(key(candidate)), format!("the call: {filter}"));
        }
        filter.is_none()
    });
    if let Some(PlannedRepair { max_repairs, model }) = &mut plan.repair
        && model.as_ref().is_some_and(|model| removes(model).is_some())
    {
        *model = None;
        *max_repairs = 1;
    }
    (plan, dropped)
}

fn rung(planned: &PlannedCandidate, whole: &Whole) -> Option<Rung> {
    let Whole { meant, checked } = whole;
    let key = key(planned);
    let declared = meant.candidates.as_ref()?.value.iter();
    let facts = &declared
        .clone()
        .find(|candidate| candidate.key().as_ref() == Some(&key))?
        .facts;
    let flag = |capability: Capability| Flag {
        capability,
        holds: planned.capabilities.has(capability),
        source: facts.source(capability).clone(),
    };
    let (key_env, base_url, base_url_env) = match &planned.provider {
        ProviderRef::BuiltIn(provider) => (
            provider.key_env.map(str::to_owned),
            provider.base_url.to_owned(),
            provider.base_url_env.to_owned(),
        ),
        ProviderRef::Host(host) => (
            host.key_env.clone(),
            host.base_url.clone(),
            host.base_url_env(),
        ),
    };
    let search = checked
        .grounding
        .as_ref()
        .and_then(|found| found.search.as_ref());
    Some(Rung {
        provider: planned.provider.name().to_owned(),
        model: planned.model.clone(),
        price: planned.price,
        limits: planned.limits,
        flags: Capability::ALL.into_iter().map(flag).collect(),
        shape: match checked.schema {
            Some(_) => emit::held(checked, planned),
            None => "any JSON value".to_owned(),
        },
        receipt: emit::receipt_of(&checked.forms, planned),
        is_searched_for: search.is_some() && !planned.capabilities.has(Capability::GroundedNative),
        key_env,
        base_url,
        base_url_env,
    })
}

fn budget(whole: &Whole, class: FailureClass) -> Option<Budget> {
    let mut retries = whole.checked.retries.iter();
    let (_, retries) = retries.find(|(named, retries)| *named == class && *retries > 0)?;
    let backoff = whole.checked.backoff_of(class);
    let wait = |retry: u64| {
        let wait = backoff.wait(u32::try_from(retry).unwrap_or(u32::MAX), 0.0);
        u64::try_from(wait.as_millis()).unwrap_or(u64::MAX)
    };
    let waits: Vec<_> = (0..(*retries).min(MOST_WAITS)).map(wait).collect();
    Some(Budget {
        class,
        retries: *retries,
        waits_ms: if waits.iter().all(|wait| *wait == 0) {
            Vec::new()
        } else {
            waits
        },
        heeds_retry_after: class.heeds_retry_after(),
    })
}
