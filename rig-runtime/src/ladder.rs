//! How does a run go down its candidates?
//!
//! The loop: it asks a candidate, lets `step` decide, and does what it says. It decides nothing itself, and
//! it is compiled once for all routes.

use std::collections::BTreeMap;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::pin;
use std::task::Poll;
use std::thread;
use std::time::Duration;

use rig_spec::{Candidate, Capability, Plan, Route, Variant};
use serde_json::{Map, Value};

use crate::attempt::{self, Answer, Ask};
use crate::cache::CacheHandle;
use crate::coach;
use crate::conform::{Held, Hold, Nonconformant};
use crate::deadline::Deadline;
use crate::dimensions;
use crate::envelope::Named;
use crate::error::{ConfigError, Error};
use crate::ground;
use crate::id;
use crate::journal::Journal;
use crate::provider;
use crate::quality::QualityGate;
use crate::render::{self, Bound};
use crate::repair;
use crate::resolve::Eligible;
use crate::rig::Parts;
use crate::run::{Run, RunMeta};
use crate::search::Finding;
use crate::step::{LadderState, Repairer, Step, step};
use crate::stream::Listener;
use crate::trace::Traceparent;
use crate::turn::Turn;

/// What is to be run.
pub(crate) struct Job {
    /// The route.
    pub(crate) route: &'static Route,
    /// The variant that the caller chose.
    pub(crate) variant: Option<&'static Variant>,
    /// The variables of the prompt.
    pub(crate) input: Map<String, Value>,
    /// Who may serve.
    pub(crate) eligible: Eligible,
    /// Whether nothing may go to an endpoint that may keep it.
    pub(crate) zero_retention: bool,
    /// The caller's tags.
    pub(crate) tags: BTreeMap<String, String>,
    /// Where in the caller's trace the run belongs.
    pub(crate) traceparent: Option<Traceparent>,
    /// The longest that the caller lets the run take.
    pub(crate) deadline: Option<Duration>,
    /// How long the call has waited for its rig.
    pub(crate) waited: Duration,
    /// Reads an answer into the output type of the call.
    pub(crate) hold: Hold,
    /// Who is told what happens while it happens; answers are streamed then.
    pub(crate) listener: Option<Listener>,
    /// The places in prompt caches that the caller names, one per provider.
    pub(crate) caches: Vec<CacheHandle>,
    /// The caller's own judgement of an output.
    pub(crate) quality: Option<QualityGate>,
    /// What pays for every dispatch.
    pub(crate) envelope: Option<Named>,
}

/// The output of a run, with what an error about it would have to say.
pub(crate) struct Served {
    /// The output and how it came about.
    pub(crate) run: Run<Turn<Held>>,
    /// What happened, in one line.
    pub(crate) history: String,
}

/// Runs a job.
///
/// # Errors
///
/// `Config` when nothing could be dispatched, else `Failure` with the last failure.
pub(crate) async fn run(parts: &Parts, job: &Job) -> Result<Served, Error> {
    let result = caught(walk(parts, job)).await;
    // A process may end as soon as its last call has returned: the rows of the call are safe by then.
    parts.stored().await;
    result.unwrap_or_else(|panic| resume_unwind(panic))
}

/// Waits for a future, and holds back a panic in it: the caller's quality gate may panic, and the rows come first.
async fn caught<T>(work: impl Future<Output = T>) -> thread::Result<T> {
    let mut work = pin!(work);
    poll_fn(|cx| {
        // What panicked is not looked at again.
        match catch_unwind(AssertUnwindSafe(|| work.as_mut().poll(cx))) {
            Ok(poll) => poll.map(Ok),
            Err(panic) => Poll::Ready(Err(panic)),
        }
    })
    .await
}

async fn walk(parts: &Parts, job: &Job) -> Result<Served, Error> {
    let now = || parts.clock.monotonic();
    let deadline = Deadline::new(job.route.policy.deadline_ms, job.deadline, now());
    let deadline = deadline.begun(job.waited);
    let route = job.route.name;
    let eligible = &job.eligible;
    let Some(first) = eligible.candidates.first() else {
        return Err(ConfigError::NothingEligible {
            route,
            variant: job.variant.map(|variant| variant.name),
            removed: eligible.removed.clone(),
        }
        .into());
    };
    let missing = |variable| ConfigError::MissingVariable { route, variable };
    let prompt = Bound::new(job.plan().prompt, &job.input).map_err(missing)?;
    if let Some(grounding) = &job.route.grounding {
        Bound::new(grounding.query, &job.input).map_err(missing)?;
    }
    if let Some(long) = render::too_long(job.route.max_chars, &job.input) {
        return Err(ConfigError::TooLong {
            route,
            variable: long.variable,
            limit: long.limit,
            length: long.length,
        }
        .into());
    }

    dimensions::warn_of_missing(job.route, &job.tags);
    let mut journal = Journal::new(id::fresh(&*parts.clock).to_string());
    let mut state = LadderState::new(&job.route.policy, eligible.max_repairs);
    let mut found: Option<Vec<Finding>> = None;
    'candidates: for candidate in &eligible.candidates {
        let mut ask = job.task(&prompt, candidate, &state, found.as_deref());
        loop {
            let left = deadline.left(now());
            let outcome = if ground::is_due(job, &ask, found.as_deref()) {
                ground::search(parts, job, &mut journal, &ask, left).await
            } else {
                attempt::dispatch(parts, job, &mut journal, &ask, left).await
            };
            journal.note(&ask, &outcome);
            let chance = id::chance(id::fresh(&*parts.clock));
            let left = deadline.left(now());
            ask = match step(&mut state, outcome, chance, left.map(|left| left.time)) {
                Step::Serve(answer) => {
                    return Ok(job.served(&journal, &ask, *answer, found.as_deref()));
                }
                Step::Ground(findings) => {
                    found = Some(findings);
                    job.task(&prompt, candidate, &state, found.as_deref())
                }
                Step::Repair(repairer, answer) => {
                    let task = job.task(&prompt, candidate, &state, found.as_deref());
                    job.repair(repairer, task, &answer)
                }
                Step::Retry(wait) => {
                    if !wait.is_zero() {
                        parts.clock.sleep(wait).await;
                    }
                    job.task(&prompt, candidate, &state, found.as_deref())
                }
                Step::FallThrough => continue 'candidates,
                Step::TooLate => {
                    left.iter().for_each(|left| journal.late(candidate, *left));
                    continue 'candidates;
                }
                Step::Abort => break 'candidates,
            };
        }
    }
    Err(journal.into_error(route, first))
}

impl Job {
    /// Returns how long the run may take.
    pub(crate) fn time(&self) -> Option<Duration> {
        Deadline::length(self.route.policy.deadline_ms, self.deadline)
    }

    /// Returns whether the answer that serves is captured (T3, R6).
    pub(crate) fn captures(&self) -> bool {
        self.route.capture && !self.zero_retention
    }

    fn plan(&self) -> &'static Plan {
        self.variant
            .map_or(&self.route.plan, |variant| &variant.plan)
    }

    /// Asks a candidate to do the route's task.
    fn task(
        &self,
        prompt: &Bound<'_>,
        candidate: &'static Candidate,
        state: &LadderState<'_>,
        found: Option<&[Finding]>,
    ) -> Ask {
        let mut rendered = prompt.render(candidate.capabilities);
        let schema = self.route.schema.as_ref();
        let can_search = candidate.capabilities.has(Capability::GroundedNative);
        let searches = self.route.grounding.is_some() && can_search;
        if let Some(found) = found.filter(|_| !can_search) {
            rendered.shared.get_or_insert(rendered.text.len());
            rendered.text = format!(
                "{}\n\n{}",
                rendered.text.trim_end_matches('\n'),
                ground::block(found)
            );
        }
        // A dialect whose answers with citations cannot be held to a schema is told it instead.
        let is_told = state.was_invalid()
            || provider::coaches(candidate, searches, !self.route.tools.is_empty());
        let system = coach::system(rendered.text, candidate, schema, is_told);
        let mut handles = self.caches.iter();
        let handle = handles.find(|handle| handle.provider == candidate.provider.name);
        Ask {
            candidate,
            handle: handle.filter(|_| !state.drops_handle()).cloned(),
            shared: rendered.shared.unwrap_or(system.len()),
            system,
            user: if self.route.tools.is_empty() {
                coach::ANSWER_NOW.into()
            } else {
                coach::ANSWER_OR_CALL.into()
            },
            tools: self.route.tools,
            searches,
            is_repair: false,
        }
    }

    /// Asks for the repair of a schema-invalid answer to `task`.
    fn repair(&self, repairer: Repairer, task: Ask, answer: &Nonconformant) -> Ask {
        let schema = self.route.schema.as_ref();
        match (repairer, self.eligible.repair_model) {
            (Repairer::RepairModel, Some(model)) => {
                let system = repair::system(schema);
                Ask {
                    candidate: model,
                    // It is asked something else than what the caller has cached.
                    handle: None,
                    shared: system.len(),
                    system,
                    user: repair::user(answer, schema).into(),
                    tools: &[],
                    searches: false,
                    is_repair: true,
                }
            }
            (Repairer::SameModel, _) | (Repairer::RepairModel, None) => Ask {
                user: repair::ask_again(answer).into(),
                is_repair: true,
                ..task
            },
        }
    }

    fn served(
        &self,
        journal: &Journal,
        ask: &Ask,
        answer: Answer,
        found: Option<&[Finding]>,
    ) -> Served {
        let told = found.filter(|_| !ask.searches).map(ground::citations);
        let meta = RunMeta {
            inference_id: answer.id,
            run_id: journal.run_id().to_owned(),
            route: self.route.name,
            route_version: self.route.version,
            provider: ask.candidate.provider.name,
            model: ask.candidate.model.into(),
            requested_tier: self.route.policy.tier,
            served_tier: answer.served_tier,
            tokens_in: answer.usage.tokens_in,
            tokens_out: answer.usage.tokens_out,
            tokens_cached: answer.usage.tokens_cached,
            tokens_cache_write: answer.usage.tokens_cache_write,
            searches: answer.usage.searches,
            cache_key: answer.cache_key,
            cost: answer.cost,
            run_cost: journal.cost(),
            pricing_missing: answer.pricing_missing,
            latency: answer.latency,
            validated: matches!(answer.turn, Turn::Output(_)),
            attempts: journal.attempts(),
            served_variant: self.variant.map(|variant| variant.name),
            repaired_by: ask.is_repair.then(|| attempt::name(ask.candidate)),
            citations: told.unwrap_or(answer.citations),
            tool_calls: match &answer.turn {
                Turn::Output(_) => Vec::new(),
                Turn::ToolCalls(calls) => calls.clone(),
            },
        };
        Served {
            run: Run {
                output: answer.turn,
                meta,
            },
            history: journal.history(),
        }
    }
}

impl Ask {
    /// Returns its texts that hold more than the template and the variables: a repair quotes an answer, and a candidate
    /// that cannot search gets what was found.
    pub(crate) fn private(&self, job: &Job) -> Vec<&str> {
        let repair = self.is_repair.then_some(&*self.user);
        let found = job.route.grounding.as_ref().map(|_| self.system.as_str());
        repair.into_iter().chain(found).collect()
    }
}

#[cfg(test)]
mod tests;
