//! Sends a request and reads its answer.
//!
//! The one place that reads an answer, whole or streamed. A caller who listens receives it while it arrives, and sets the
//! pace: nothing more is read until the caller has taken what there is.

use std::time::Duration;

use rig_spec::{FailureClass, Policy, Prices, Provider};

use crate::attempt::{Limit, millis};
use crate::clock::{Clock, within};
use crate::dispatch::Dispatch;
use crate::envelope;
use crate::provider::{self, Failed, Reading, Reply, Sent, Usage};
use crate::rig::Parts;
use crate::stream::{Listener, Told};
use crate::transport::{Pieces, Request};

/// How long a response is read on once it is settled, in ms: after a finish reason for the usage and the end mark, after
/// the status of a failure for its body.
const LINGER_MS: u64 = 1_500;

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
    /// How long it may take.
    pub(crate) limit: Limit,
    /// What the request held that the answer may quote.
    pub(crate) sent: Sent<'a>,
}

impl Awaited<'_> {
    /// Returns a usage with its searches if the request allows any, and without them otherwise. A provider that does not count
    /// its searches has searched once.
    fn counted(&self, usage: Usage) -> Usage {
        let asked = self.prices.search.filter(|_| usage.is_told());
        Usage {
            searches: asked.map(|_| usage.searches.unwrap_or(1)),
            ..usage
        }
    }
}

/// Sends a request and reads the answer, to its end or to the first silence that is too long. What was complete by then is
/// an answer all the same (L18).
pub(crate) async fn exchange(
    parts: &Parts,
    dispatch: &mut Dispatch<'_>,
    request: Request,
    awaited: &Awaited<'_>,
) -> Result<Reply, Failed> {
    dispatch.sends(&request.departure);
    let mut reading = None;
    let arrival = receive(parts, dispatch, request, awaited, &mut reading);
    let broken = match within(&*parts.clock, awaited.limit.time, arrival).await {
        Some(Ok(())) => None,
        Some(Err(failed)) => Some(failed),
        None => Some(awaited.limit.timed_out()),
    };
    match reading {
        Some(reading) => match reading.end(broken, awaited.has_tools) {
            Ok(reply) => Ok(Reply {
                usage: awaited.counted(reply.usage),
                ..reply
            }),
            Err(failed) => Err(Failed {
                usage: awaited.counted(failed.usage),
                ..failed
            }),
        },
        None => Err(broken.expect("a response that was received has been read")),
    }
}

/// Reads a response into `reading`, from its head on.
async fn receive<'a>(
    parts: &Parts,
    dispatch: &mut Dispatch<'_>,
    request: Request,
    awaited: &Awaited<'a>,
    reading: &mut Option<Reading<'a>>,
) -> Result<(), Failed> {
    let listener = awaited.listener;
    let policy = listener.map(|_| awaited.policy);
    let mut silence = Silence::new(policy, &*parts.clock);
    let sent = silence.bounds(parts.transport.send(request)).await?;
    let failed = |error| provider::transport_failed(&error, awaited.sent.key);
    let mut response = sent.map_err(failed)?;
    // K2: a wait that is asked for as a date is reckoned from the response's own.
    response.headers.date(parts.clock.wall());
    let head = millis(dispatch.elapsed());
    let begun = Reading::new(awaited.provider, response.status, response.headers);
    let reading = reading.insert(begun.to(awaited.sent));
    if listener.is_none() || reading.is_settled() {
        dispatch.row().ttfb_ms = Some(head);
    }
    let mut pieces = Pieces::new(response.body);
    while !reading.is_over() {
        if reading.is_settled() {
            silence.settles();
        }
        let piece = silence.bounds(pieces.next(reading.is_stream())).await?;
        let Some(piece) = piece.map_err(failed)? else {
            break;
        };
        let heard = reading.push(&piece);
        if heard.has_usage || reading.is_settled() {
            let (usage, served_tier) = reading.used();
            let usage = awaited.counted(usage);
            // K6: before the end, what it has used is a part of what may be billed.
            if reading.is_settled() && usage.is_known() {
                let price = awaited.prices.at(served_tier.as_deref());
                let searches = awaited.prices.searches(usage.searches);
                dispatch.charge(envelope::charge(usage, false, price, searches));
            }
            if heard.has_usage {
                dispatch.used(usage, served_tier, &awaited.prices);
            }
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
    Ok(())
}

/// How long a provider may be silent: until the first content, and from content to content. What keeps a connection
/// alive breaks no silence, and the time that the caller takes over a piece is none.
struct Silence<'a> {
    clock: &'a dyn Clock,
    /// When it began, in the clock's monotonic time.
    since: Duration,
    limit: Option<Longest>,
    idle_ms: Option<u64>,
    is_settled: bool,
}

#[derive(Clone, Copy)]
struct Longest {
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
                .map(|ms| Longest {
                    ms,
                    what: "no content",
                }),
            idle_ms: policy.and_then(|policy| policy.idle_ms),
            is_settled: false,
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

    /// Allows, from the first call on, no silence that is longer than [`LINGER_MS`].
    fn settles(&mut self) {
        if !self.is_settled {
            self.is_settled = true;
            self.idle_ms = Some(self.idle_ms.unwrap_or(LINGER_MS).min(LINGER_MS));
            self.ends();
        }
    }

    /// Begins the next silence.
    fn ends(&mut self) {
        self.since = self.clock.monotonic();
        self.limit = self.idle_ms.map(|ms| Longest {
            ms,
            what: "no more content",
        });
    }
}
