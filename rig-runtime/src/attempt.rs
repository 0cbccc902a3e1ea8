//! What happens in one attempt?
//!
//! One dispatch, one row, however the attempt ends.
//!
//! **Invariant:** only a candidate of the plan, or its repair model, is ever dispatched.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use rig_spec::{Cache, Candidate, FailureClass, Tool, Usd};

use crate::access::Host;
use crate::cache::CacheHandle;
use crate::conform::{self, Held, Nonconformant, Rejected};
use crate::deadline::Left;
use crate::dispatch::Dispatch;
use crate::envelope::{self, Unfunded};
use crate::exchange::{Awaited, exchange};
use crate::journal::Journal;
use crate::ladder::Job;
use crate::prefix::Prefix;
use crate::provider::{self, Failed, Form, Offer, Prompt, Reply, Sent, Usage};
use crate::rig::Parts;
use crate::run::Citation;
use crate::search::Finding;
use crate::step::{LONGEST_WAIT, asks_too_long};
use crate::store::RowFailure;
use crate::turn::{self, Turn, Unusable};

/// What an attempt ended with.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// A conformant answer.
    Conformant(Box<Answer>),
    /// Calls of tools that the route declares.
    ToolCalls(Box<Answer>),
    /// An answer that the conformance gate did not let through.
    Nonconformant(Nonconformant),
    /// An answer that was cut at the token limit; what there is of it is not kept.
    Truncated {
        /// The route's `max_output_tokens`.
        limit: Option<u32>,
    },
    /// A conformant answer that the caller's quality gate rejected.
    QualityRejected,
    /// What was found for candidates that cannot search.
    Found(Vec<Finding>),
    /// No answer.
    Failed(Failed),
    /// No dispatch, since the run has no time left.
    Late(Left),
    /// No dispatch, since the envelope of the call does not pay for it.
    Unfunded(Unfunded),
    /// No dispatch, since there is no usable key.
    Keyless {
        /// Which key is missing; not the key.
        message: String,
    },
}

/// An answer that serves, and its row's facts.
#[derive(Debug)]
pub(crate) struct Answer {
    /// The output in the type of the call, or the tool calls.
    pub(crate) turn: Turn<Held>,
    /// What the provider says it drew on.
    pub(crate) citations: Vec<Citation>,
    /// The attempt's id.
    pub(crate) id: String,
    /// What it used.
    pub(crate) usage: Usage,
    /// What it cost.
    pub(crate) cost: Usd,
    /// Whether no price is known.
    pub(crate) pricing_missing: bool,
    /// From dispatch to the last byte.
    pub(crate) latency: Duration,
    /// The tier that served.
    pub(crate) served_tier: Option<String>,
    /// The key that the provider's prompt cache was told.
    pub(crate) cache_key: Option<String>,
}

/// Who is asked what.
pub(crate) struct Ask {
    /// Who.
    pub(crate) candidate: &'static Candidate,
    /// The place in its prompt cache that the caller names.
    pub(crate) handle: Option<CacheHandle>,
    /// The system prompt, coaching included.
    pub(crate) system: String,
    /// How many bytes of it every such call begins with.
    pub(crate) shared: usize,
    /// The user turn.
    pub(crate) user: Cow<'static, str>,
    /// The tools that may be called.
    pub(crate) tools: &'static [Tool],
    /// Whether the candidate is to search the web itself.
    pub(crate) searches: bool,
    /// Whether it belongs to the repair rung.
    pub(crate) is_repair: bool,
}

/// Answers are the same if they are those of the same attempt.
impl PartialEq for Answer {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

impl Outcome {
    /// Returns the class and the message of a failure.
    pub(crate) fn failure(&self) -> Option<(FailureClass, Cow<'_, str>)> {
        Some(match self {
            Self::Conformant(_) | Self::ToolCalls(_) | Self::Found(_) => return None,
            Self::Nonconformant(answer) => {
                (FailureClass::ContentInvalid, answer.message.as_str().into())
            }
            Self::Truncated { limit: Some(limit) } => (
                FailureClass::ContentInvalid,
                format!("the answer was cut at `max_output_tokens` ({limit})").into(),
            ),
            Self::Truncated { limit: None } => (
                FailureClass::ContentInvalid,
                "the answer was cut at the provider's limit, since `max_output_tokens` is not set"
                    .into(),
            ),
            Self::QualityRejected => (
                FailureClass::QualityRejected,
                "the quality gate rejected the output".into(),
            ),
            Self::Failed(failed) if asks_too_long(failed) => {
                let asked = failed.retry_after.unwrap_or_default().as_secs();
                let longest = LONGEST_WAIT.as_secs();
                let message = &failed.message;
                (failed.class, format!("{message}; it asks to wait {asked} s, and more than {longest} s is not waited for").into())
            }
            Self::Failed(failed) => (failed.class, failed.message.as_str().into()),
            Self::Late(left) => (FailureClass::Timeout, left.message().into()),
            Self::Unfunded(unfunded) => (FailureClass::BudgetExhausted, unfunded.message().into()),
            Self::Keyless { message } => (FailureClass::ConfigAuth, message.as_str().into()),
        })
    }
}

impl Answer {
    /// Returns the output, if it is one of this type.
    pub(crate) fn output<T: 'static>(&self) -> Option<&T> {
        match &self.turn {
            Turn::Output(held) => held.get(),
            Turn::ToolCalls(_) => None,
        }
    }
}

/// How long a dispatch may take.
#[derive(Clone, Copy)]
pub(crate) struct Limit {
    /// The route's timeout, or what the run has left.
    pub(crate) time: Duration,
    /// The deadline, where it is what ends the dispatch.
    pub(crate) cut: Option<Left>,
}

impl Limit {
    /// Returns the limit of a dispatch that starts now.
    pub(crate) fn of(job: &Job, left: Option<Left>) -> Self {
        let timeout = Duration::from_millis(job.route.policy.timeout_ms);
        let cut = left.filter(|left| left.time <= timeout);
        Self {
            time: cut.map_or(timeout, |left| left.time),
            cut,
        }
    }

    pub(crate) fn timed_out(&self) -> Failed {
        let message = self.cut.map_or_else(
            || format!("no complete answer within {} ms", self.time.as_millis()),
            |left| left.message(),
        );
        Failed::new(FailureClass::Timeout, message)
    }
}

/// Asks a candidate once, within what the run has left.
pub(crate) async fn dispatch(
    parts: &Parts,
    job: &Job,
    journal: &mut Journal,
    ask: &Ask,
    left: Option<Left>,
) -> Outcome {
    let host = match admit(parts, job, ask, left) {
        Ok(host) => host,
        Err(outcome) => return outcome,
    };
    let key = host.key.as_ref().ok().and_then(Option::as_ref);
    let schema = job.route.schema.as_ref();
    let prefix = match (job.route.cache, &ask.handle) {
        (Cache::Off, None) => None,
        (_, handle) => {
            let prefix = Prefix::new(&ask.system, ask.shared, schema, ask.tools);
            Some(prefix.at(handle.as_ref()))
        }
    };
    let tools: Vec<_> = ask.tools.iter().map(Offer::from).collect();
    let request = provider::encode(&Prompt {
        provider: ask.candidate.provider,
        model: ask.candidate.model,
        base_url: &host.base_url,
        key,
        system: &ask.system,
        user: &ask.user,
        form: Form::of(ask.candidate.enforcement, schema),
        tools: &tools,
        searches: ask.searches,
        prefix: prefix.as_ref(),
        policy: &job.route.policy,
        effort: None,
        streams: job.listener.is_some(),
    });

    let left = parts.room(left).await;
    let most = || envelope::most(job, ask, request.body.len());
    let (reservation, left) = match envelope::reserve(parts, job, most, left).await {
        Ok(reserved) => reserved,
        Err(outcome) => return *outcome,
    };
    let candidate = ask.candidate;
    let (provider, model) = (candidate.provider.name, candidate.model);
    let mut dispatch = Dispatch::start(parts, job, journal, provider.into(), model.into());
    dispatch.pay(reservation);
    let row = dispatch.row();
    row.requested_tier = job.route.policy.tier;
    row.pricing_missing = candidate.price.is_none();
    row.repaired_by = ask.is_repair.then(|| name(candidate));
    let told = prefix
        .as_ref()
        .and_then(|prefix| prefix.cache_key(candidate.provider.cache));
    row.cache_key = told.map(str::to_owned);
    row.prefix_fingerprint = prefix.map(|prefix| prefix.fingerprint);
    let private = ask.private(job);
    let prices = candidate.prices(ask.searches);
    let awaited = Awaited {
        provider: candidate.provider,
        prices,
        has_tools: !ask.tools.is_empty(),
        listener: job.listener.as_ref(),
        policy: &job.route.policy,
        limit: Limit::of(job, left),
        sent: Sent {
            key,
            handle: ask.handle.as_ref().map(|handle| handle.name.as_str()),
            variables: Some(&job.input),
            texts: &private,
        },
    };
    let reply = exchange(parts, &mut dispatch, request, &awaited).await;
    // Not what is known of an answer that broke off: the rest of it may be billed as well.
    let (usage, served_tier) = match &reply {
        Ok(reply) => (reply.usage, reply.served_tier.as_deref()),
        Err(failed) => (failed.usage, failed.served_tier.as_deref()),
    };
    let (price, searches) = (prices.at(served_tier), prices.searches(usage.searches));
    let reply = reply.map_err(|failed| dispatch.complete(failed));
    let is_unbilled = reply.as_ref().is_err_and(|failed| failed.unbilled);
    dispatch.charge(envelope::charge(usage, is_unbilled, price, searches));
    let outcome = finish(&mut dispatch, journal, job, ask, reply);
    let outcome = match (outcome, &job.quality) {
        (Outcome::Conformant(answer), Some(gate)) => {
            let left = left.map(|left| left.after(dispatch.elapsed()));
            gate.judge(&*parts.clock, answer, left).await
        }
        (outcome, _) => outcome,
    };
    let failure = outcome.failure();
    dispatch.row().failure = failure.map(|(class, _)| RowFailure::Class(class));
    outcome
}

/// Returns how to reach a candidate, if it may be asked now.
#[expect(
    clippy::result_large_err,
    reason = "an outcome is as large wherever it comes from, and is moved once"
)]
pub(crate) fn admit(
    parts: &Parts,
    job: &Job,
    ask: &Ask,
    left: Option<Left>,
) -> Result<Arc<Host>, Outcome> {
    if !job.eligible.allows(ask.candidate) {
        let message = format!("{} is not a candidate of the route", name(ask.candidate));
        return Err(Outcome::Failed(violation(message)));
    }
    if let Some(left) = left.filter(|left| left.time.is_zero()) {
        return Err(Outcome::Late(left));
    }
    let host = parts.access.host(ask.candidate.provider);
    match &host.key {
        Ok(_) => Ok(host),
        Err(message) => Err(Outcome::Keyless {
            message: message.clone(),
        }),
    }
}

/// Returns `provider/model`.
pub(crate) fn name(candidate: &Candidate) -> String {
    format!("{}/{}", candidate.provider.name, candidate.model)
}

/// Reads a reply, and fills in the row but for how the attempt ends: the caller has yet to judge the output.
fn finish(
    dispatch: &mut Dispatch<'_>,
    journal: &mut Journal,
    job: &Job,
    ask: &Ask,
    reply: Result<Reply, Failed>,
) -> Outcome {
    let latency = dispatch.elapsed();
    let (usage, served_tier) = match &reply {
        Ok(reply) => (reply.usage, reply.served_tier.clone()),
        Err(failed) => (failed.usage, failed.served_tier.clone()),
    };
    let prices = ask.candidate.prices(ask.searches);
    let cost = dispatch.used(usage, served_tier.clone(), &prices);
    journal.spend(cost);
    let id = dispatch.row().id.clone();
    let cache_key = dispatch.row().cache_key.clone();
    let answer = |turn, citations| {
        Box::new(Answer {
            turn,
            citations,
            id,
            usage,
            cost,
            pricing_missing: prices.requested.is_none(),
            latency,
            served_tier,
            cache_key,
        })
    };
    let outcome = match reply {
        Err(failed) => Outcome::Failed(failed),
        Ok(reply) if reply.truncated => Outcome::Truncated {
            limit: job.route.policy.sampling.max_output_tokens,
        },
        Ok(reply) if !reply.tool_calls.is_empty() => {
            match turn::gate(&reply.tool_calls, ask.tools) {
                Ok(calls) => Outcome::ToolCalls(answer(Turn::ToolCalls(calls), reply.citations)),
                Err(Unusable::Answer(message)) => {
                    Outcome::Failed(Failed::new(FailureClass::ContentInvalid, message))
                }
                Err(Unusable::Schema(reason)) => Outcome::Failed(violation(format!(
                    "the parameters of a tool are no schema: {reason}"
                ))),
            }
        }
        Ok(reply) => match conform::gate(
            job.route.schema.as_ref(),
            ask.candidate.enforcement,
            job.hold,
            &reply.text,
        ) {
            Ok(value) => {
                if job.captures() {
                    dispatch.capture(job, reply.text);
                }
                Outcome::Conformant(answer(Turn::Output(value), reply.citations))
            }
            Err(Rejected::Answer(answer)) => Outcome::Nonconformant(answer),
            Err(Rejected::Schema(reason)) => Outcome::Failed(violation(format!(
                "the route's schema is no schema: {reason}"
            ))),
        },
    };
    let row = dispatch.row();
    row.latency_ms = millis(latency);
    outcome
}

/// Returns a time in whole milliseconds.
pub(crate) fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// Returns the failure that only a bug can cause.
pub(crate) fn violation(message: String) -> Failed {
    Failed::new(FailureClass::InvariantViolation, message)
}
