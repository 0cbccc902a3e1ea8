//! How does a request go out, and its answer come in?
//!
//! The one place that reads an answer, whole or streamed. Who listens to the run hears it while it arrives, and what
//! listens sets the pace: nothing more is read until it has taken what there is.

use std::time::Duration;

use rig_spec::{FailureClass, Policy, Prices, Provider};

use crate::attempt::millis;
use crate::clock::{Clock, within};
use crate::dispatch::Dispatch;
use crate::provider::{self, Failed, Reading, Reply};
use crate::rig::Parts;
use crate::stream::{Listener, Told};
use crate::transport::{Pieces, Request};

/// What there is to know of an answer before it comes.
pub(crate) struct Awaited<'a> {
    /// Who answers.
    pub(crate) provider: &'static Provider,
    /// What the tokens cost.
    pub(crate) prices: Prices,
    /// Whether the model was told of tools; without any, a tool call is no answer.
    pub(crate) has_tools: bool,
    /// Who hears the answer.
    pub(crate) listener: Option<&'a Listener>,
    /// How long it may be silent while somebody hears it.
    pub(crate) policy: &'a Policy,
}

/// Sends a request and reads the answer, to its end or to the first silence that is too long.
pub(crate) async fn exchange(
    parts: &Parts,
    dispatch: &mut Dispatch<'_>,
    request: Request,
    awaited: &Awaited<'_>,
) -> Result<Reply, Failed> {
    dispatch.sends(&request.departure);
    let listener = awaited.listener;
    let policy = listener.map(|_| awaited.policy);
    let mut silence = Silence::new(policy, &*parts.clock);
    let sent = silence.bounds(parts.transport.send(request)).await?;
    let mut response = sent.map_err(|error| provider::transport_failed(&error))?;
    // K2: a wait that is asked for as a date is reckoned from the response's own.
    response.headers.date(parts.clock.wall());
    let head = millis(dispatch.elapsed());
    let is_failure = response.status >= 400;
    if listener.is_none() || is_failure {
        dispatch.row().ttfb_ms = Some(head);
    }
    let mut reading = Reading::new(awaited.provider, response.status, response.headers);
    let mut pieces = Pieces::new(response.body);
    while !reading.is_over() {
        let piece = match silence.bounds(pieces.next(reading.is_stream())).await? {
            Ok(Some(piece)) => piece,
            Ok(None) => break,
            // A status that is a failure by itself is not lost with the rest of the body.
            Err(_) if is_failure => break,
            Err(error) => return Err(provider::transport_failed(&error)),
        };
        let heard = reading.push(&piece);
        if heard.has_usage {
            let (usage, served_tier) = reading.used();
            dispatch.used(usage, served_tier, &awaited.prices);
        }
        if !heard.is_content {
            continue;
        }
        let now = millis(dispatch.elapsed());
        let first = if reading.is_stream() { now } else { head };
        let attempt = dispatch.row().attempt;
        dispatch.row().ttfb_ms.get_or_insert(first);
        if let Some(listener) = listener.filter(|_| !heard.text.is_empty()) {
            let text = heard.text;
            listener.deliver(Told::Delta { attempt, text }).await;
        }
        silence.ends();
    }
    pieces.finish();
    reading.finish(awaited.has_tools)
}

/// How long a provider may be silent: until the first content, and from content to content. What keeps a connection
/// alive breaks no silence, and the time that the caller takes over a piece is none.
struct Silence<'a> {
    clock: &'a dyn Clock,
    /// When it began, in the clock's monotonic time.
    since: Duration,
    limit: Option<Limit>,
    idle_ms: Option<u64>,
}

#[derive(Clone, Copy)]
struct Limit {
    ms: u64,
    what: &'static str,
}

impl<'a> Silence<'a> {
    /// Returns a silence that begins now; without a policy it may be as long as the attempt.
    fn new(policy: Option<&Policy>, clock: &'a dyn Clock) -> Self {
        Self {
            clock,
            since: clock.monotonic(),
            limit: policy
                .and_then(|policy| policy.first_token_ms)
                .map(|ms| Limit {
                    ms,
                    what: "no content",
                }),
            idle_ms: policy.and_then(|policy| policy.idle_ms),
        }
    }

    /// Returns what `work` ends with.
    ///
    /// # Errors
    ///
    /// `timeout` if the silence becomes too long before.
    async fn bounds<T>(&self, work: impl Future<Output = T>) -> Result<T, Failed> {
        let Some(limit) = self.limit else {
            return Ok(work.await);
        };
        let past = self.clock.monotonic().saturating_sub(self.since);
        let left = Duration::from_millis(limit.ms).saturating_sub(past);
        let done = within(self.clock, left, work).await;
        done.ok_or_else(|| {
            let message = format!("{} within {} ms", limit.what, limit.ms);
            Failed::new(FailureClass::Timeout, message)
        })
    }

    /// Begins the next silence.
    fn ends(&mut self) {
        self.since = self.clock.monotonic();
        self.limit = self.idle_ms.map(|ms| Limit {
            ms,
            what: "no more content",
        });
    }
}
