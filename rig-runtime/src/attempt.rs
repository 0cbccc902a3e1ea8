//! What happens in one attempt?
//!
//! One dispatch, one row. The row is written when the attempt's guard is dropped, so it is there however the
//! attempt ends, also when its caller goes away.
//!
//! **Invariant:** only a candidate of the plan, or its repair model, is ever dispatched.

use std::borrow::Cow;
use std::time::Duration;

use rig_spec::{Cache, CacheDirective, Candidate, FailureClass, Price, Usd};

use crate::clock::within;
use crate::conform::{self, Held, Nonconformant, Rejected};
use crate::deadline::Left;
use crate::id;
use crate::journal::Journal;
use crate::ladder::Job;
use crate::prefix::Prefix;
use crate::provider::{self, Failed, Prompt, Reply, Usage};
use crate::rig::Parts;
use crate::step::{LONGEST_WAIT, asks_too_long};
use crate::store::{AttemptRow, Capture, RowFailure};
use crate::transport::{Body, Request, TransportError};

/// What an attempt ended with.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// A conformant answer.
    Conformant(Box<Answer>),
    /// An answer that the conformance gate did not let through.
    Nonconformant(Nonconformant),
    /// An answer that was cut at the token limit; what there is of it is not kept.
    Truncated {
        /// The route's `max_output_tokens`.
        limit: Option<u32>,
    },
    /// No answer.
    Failed(Failed),
    /// No dispatch, since the run has no time left.
    Late(Left),
    /// No dispatch, since there is no usable key.
    Keyless {
        /// Which key is missing; not the key.
        message: String,
    },
}

/// A conformant answer and its row's facts.
#[derive(Debug)]
pub(crate) struct Answer {
    /// The answer in the output type of the call.
    pub(crate) output: Held,
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
}

/// Who is asked what.
pub(crate) struct Ask {
    /// Who.
    pub(crate) candidate: &'static Candidate,
    /// The system prompt, coaching included.
    pub(crate) system: String,
    /// How many bytes of it every such call begins with.
    pub(crate) shared: usize,
    /// The user turn.
    pub(crate) user: Cow<'static, str>,
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
            Self::Conformant(_) => return None,
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
            Self::Failed(failed) if asks_too_long(failed) => {
                let asked = failed.retry_after.unwrap_or_default().as_secs();
                let longest = LONGEST_WAIT.as_secs();
                let message = &failed.message;
                (failed.class, format!("{message}; it asks to wait {asked} s, and more than {longest} s is not waited for").into())
            }
            Self::Failed(failed) => (failed.class, failed.message.as_str().into()),
            Self::Late(left) => (FailureClass::Timeout, left.message().into()),
            Self::Keyless { message } => (FailureClass::ConfigAuth, message.as_str().into()),
        })
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
    if !job.eligible.allows(ask.candidate) {
        let message = format!("{} is not a candidate of the route", name(ask.candidate));
        return Outcome::Failed(violation(message));
    }
    if let Some(left) = left.filter(|left| left.time.is_zero()) {
        return Outcome::Late(left);
    }
    let host = parts.access.host(ask.candidate.provider);
    let key = match &host.key {
        Ok(key) => key.as_ref(),
        Err(message) => {
            return Outcome::Keyless {
                message: message.clone(),
            };
        }
    };
    let schema = job.route.schema.as_ref();
    let prefix = match job.route.cache {
        Cache::Off => None,
        Cache::Auto => Some(Prefix::new(
            &ask.system,
            ask.shared,
            schema,
            job.route.tools,
        )),
    };
    let request = provider::encode(&Prompt {
        candidate: ask.candidate,
        base_url: &host.base_url,
        key,
        system: &ask.system,
        user: &ask.user,
        schema,
        prefix: prefix.as_ref(),
        policy: &job.route.policy,
    });

    let mut attempt = Attempt::start(parts, job, journal, ask, prefix);
    let timeout = Duration::from_millis(job.route.policy.timeout_ms);
    let cut = left.filter(|left| left.time <= timeout);
    let limit = cut.map_or(timeout, |left| left.time);
    let reply = match within(
        &*parts.clock,
        limit,
        attempt.exchange(request, ask.candidate),
    )
    .await
    {
        Some(reply) => reply.map_err(|failed| failed.without(key)),
        None => Err(timed_out(limit, cut)),
    };
    attempt.finish(journal, job, ask.candidate, reply)
}

/// Returns `provider/model`.
pub(crate) fn name(candidate: &Candidate) -> String {
    format!("{}/{}", candidate.provider.name, candidate.model)
}

/// The longest body that is read.
const LONGEST_BODY: usize = 16 << 20;

/// An attempt under way. Dropping it writes its row.
struct Attempt<'a> {
    parts: &'a Parts,
    /// When it was dispatched, in the clock's monotonic time.
    started: Duration,
    /// The row so far: that of an attempt whose caller went away.
    row: Option<AttemptRow>,
    /// What is kept of a conformant answer, where the route asks for it.
    capture: Option<Capture>,
}

impl<'a> Attempt<'a> {
    fn start(
        parts: &'a Parts,
        job: &Job,
        journal: &mut Journal,
        ask: &Ask,
        prefix: Option<Prefix>,
    ) -> Self {
        let candidate = ask.candidate;
        let fingerprint = prefix.map(|prefix| prefix.fingerprint);
        let is_keyed = candidate.provider.cache == CacheDirective::PromptCacheKey;
        let row = AttemptRow {
            id: id::fresh(&*parts.clock).to_string(),
            ts_ms: i64::try_from(parts.clock.wall().as_millis()).unwrap_or(i64::MAX),
            run_id: journal.run_id().to_owned(),
            route: job.route.name.into(),
            route_version: job.route.version,
            provider: candidate.provider.name.into(),
            model: candidate.model.into(),
            requested_tier: job.route.policy.tier,
            served_tier: None,
            tokens_in: None,
            tokens_out: None,
            tokens_cached: None,
            tokens_cache_write: None,
            cost: Usd::ZERO,
            pricing_missing: candidate.price.is_none(),
            latency_ms: 0,
            ttfb_ms: None,
            failure: Some(RowFailure::Cancelled),
            attempt: journal.dispatch(),
            tags: job.tags.clone(),
            served_variant: job.variant.map(|variant| variant.name.into()),
            repaired_by: ask.is_repair.then(|| name(candidate)),
            cache_key: fingerprint.clone().filter(|_| is_keyed),
            prefix_fingerprint: fingerprint,
            lane: "ladder".into(),
        };
        Self {
            parts,
            started: parts.clock.monotonic(),
            row: Some(row),
            capture: None,
        }
    }

    async fn exchange(&mut self, request: Request, candidate: &Candidate) -> Result<Reply, Failed> {
        let sent = self.parts.transport.send(request).await;
        let mut response = sent.map_err(|error| provider::transport_failed(&error))?;
        let ttfb = millis(self.elapsed());
        if let Some(row) = &mut self.row {
            row.ttfb_ms = Some(ttfb);
        }
        let mut body = Vec::new();
        match read(&mut *response.body, &mut body).await {
            // A status that is a failure by itself is not lost with the rest of the body.
            Err(error) if response.status < 400 => Err(provider::transport_failed(&error)),
            _ => provider::decode(
                candidate.provider,
                response.status,
                &response.headers,
                &body,
            ),
        }
    }

    fn finish(
        mut self,
        journal: &mut Journal,
        job: &Job,
        candidate: &Candidate,
        reply: Result<Reply, Failed>,
    ) -> Outcome {
        let latency = self.elapsed();
        let (usage, served_tier) = match &reply {
            Ok(reply) => (reply.usage, reply.served_tier.clone()),
            Err(failed) => (failed.usage, failed.served_tier.clone()),
        };
        let cost = candidate
            .price
            .map_or(Usd::ZERO, |price| cost(&price, usage));
        journal.spend(cost);
        let row = self.row.as_mut().expect("only `drop` takes the row");
        let outcome = match reply {
            Err(failed) => Outcome::Failed(failed),
            Ok(reply) if reply.truncated => Outcome::Truncated {
                limit: job.route.policy.sampling.max_output_tokens,
            },
            Ok(reply) => match conform::gate(
                job.route.schema.as_ref(),
                candidate.enforcement,
                job.hold,
                &reply.text,
            ) {
                Ok(output) => {
                    self.capture = job.captures().then(|| capture(row, job, reply.text));
                    Outcome::Conformant(Box::new(Answer {
                        output,
                        id: row.id.clone(),
                        usage,
                        cost,
                        pricing_missing: row.pricing_missing,
                        latency,
                        served_tier: served_tier.clone(),
                    }))
                }
                Err(Rejected::Answer(answer)) => Outcome::Nonconformant(answer),
                Err(Rejected::Schema(reason)) => Outcome::Failed(violation(format!(
                    "the route's schema is no schema: {reason}"
                ))),
            },
        };
        row.latency_ms = millis(latency);
        row.tokens_in = usage.tokens_in;
        row.tokens_out = usage.tokens_out;
        row.tokens_cached = usage.tokens_cached;
        row.tokens_cache_write = usage.tokens_cache_write;
        row.cost = cost;
        row.served_tier = served_tier;
        row.failure = outcome.failure().map(|(class, _)| RowFailure::Class(class));
        outcome
    }

    fn elapsed(&self) -> Duration {
        self.parts.clock.monotonic().saturating_sub(self.started)
    }
}

impl Drop for Attempt<'_> {
    fn drop(&mut self) {
        let latency = millis(self.elapsed());
        if let Some(mut row) = self.row.take() {
            if row.failure == Some(RowFailure::Cancelled) {
                row.latency_ms = latency;
            }
            match self.capture.take() {
                Some(capture) => self.parts.store.record_captured(row, capture),
                None => self.parts.store.record(row),
            }
        }
    }
}

/// Returns what is kept of an answer.
fn capture(row: &AttemptRow, job: &Job, output: String) -> Capture {
    Capture {
        id: row.id.clone(),
        ts_ms: row.ts_ms,
        run_id: row.run_id.clone(),
        route: row.route.clone(),
        route_version: row.route_version,
        variables: serde_json::to_string(&job.input).expect("a JSON object can be written"),
        output,
    }
}

/// Reads a body to its end, or as far as it goes.
async fn read(from: &mut dyn Body, body: &mut Vec<u8>) -> Result<(), TransportError> {
    while let Some(piece) = from.chunk().await? {
        if body.len() + piece.len() > LONGEST_BODY {
            let message = format!("the response is longer than {LONGEST_BODY} bytes");
            return Err(TransportError { message });
        }
        body.extend_from_slice(&piece);
    }
    Ok(())
}

fn cost(price: &Price, usage: Usage) -> Usd {
    price.cost(
        usage.tokens_in.unwrap_or(0),
        usage.tokens_cached.unwrap_or(0),
        usage.tokens_cache_write.unwrap_or(0),
        usage.tokens_out.unwrap_or(0),
    )
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// `cut` is the deadline, where it has ended the attempt.
fn timed_out(limit: Duration, cut: Option<Left>) -> Failed {
    let message = cut.map_or_else(
        || format!("no complete answer within {} ms", limit.as_millis()),
        |left| left.message(),
    );
    Failed::new(FailureClass::Timeout, message)
}

fn violation(message: String) -> Failed {
    Failed::new(FailureClass::InvariantViolation, message)
}
