//! How does every dispatch get its row?
//!
//! The row is written when the dispatch is dropped, so it is there however it ends, also when the caller goes away. Who
//! listens to the run is told of its beginning and of a failure in the same two places.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::time::Duration;

use rig_spec::{Prices, Usd};

use crate::envelope::Reservation;
use crate::id;
use crate::journal::Journal;
use crate::ladder::Job;
use crate::provider::{Failed, Usage};
use crate::rig::Parts;
use crate::store::{AttemptRow, Capture, RowFailure};
use crate::stream::{Listener, Told};
use crate::trace::Traceparent;
use crate::transport::Departure;

/// A dispatch under way. Dropping it writes its row.
pub(crate) struct Dispatch<'a> {
    parts: &'a Parts,
    /// When it began, in the clock's monotonic time.
    started: Duration,
    /// The row so far: that of a dispatch whose caller went away. Only `drop` takes it.
    row: Option<AttemptRow>,
    /// What is kept of a conformant answer if it serves, where the route asks for it.
    capture: Option<Capture>,
    /// What pays for it, of calls with an envelope. Dropped after the row is written.
    reservation: Option<Reservation<'a>>,
    /// Whether its request has been sent.
    departure: Departure,
    listener: Option<&'a Listener>,
}

/// What the rows of a run have in common.
pub(crate) struct Origin<'a> {
    /// `ladder` or `raw`.
    pub(crate) lane: &'static str,
    /// The route; empty where there is none.
    pub(crate) route: &'static str,
    /// The route's version; 0 where there is none.
    pub(crate) route_version: u32,
    /// The variant that the caller chose.
    pub(crate) variant: Option<&'static str>,
    /// The caller's tags.
    pub(crate) tags: &'a BTreeMap<String, String>,
    /// Where in the caller's trace the run belongs.
    pub(crate) traceparent: Option<Traceparent>,
    /// Who is told what happens while it happens.
    pub(crate) listener: Option<&'a Listener>,
}

impl<'a> Dispatch<'a> {
    /// Starts a dispatch of the ladder: from here on it has a row.
    pub(crate) fn start(
        parts: &'a Parts,
        job: &'a Job,
        journal: &mut Journal,
        provider: Cow<'static, str>,
        model: Cow<'static, str>,
    ) -> Self {
        let origin = Origin {
            lane: "ladder",
            route: job.route.name,
            route_version: job.route.version,
            variant: job.variant.map(|variant| variant.name),
            tags: &job.tags,
            traceparent: job.traceparent,
            listener: job.listener.as_ref(),
        };
        Self::begin(parts, &origin, journal, provider, model)
    }

    /// Starts a dispatch: from here on it has a row.
    pub(crate) fn begin(
        parts: &'a Parts,
        origin: &Origin<'a>,
        journal: &mut Journal,
        provider: Cow<'static, str>,
        model: Cow<'static, str>,
    ) -> Self {
        let row = AttemptRow {
            id: id::fresh(&*parts.clock).to_string(),
            ts_ms: i64::try_from(parts.clock.wall().as_millis()).unwrap_or(i64::MAX),
            run_id: journal.run_id().to_owned(),
            route: origin.route.into(),
            route_version: origin.route_version,
            provider,
            model,
            requested_tier: None,
            served_tier: None,
            tokens_in: None,
            tokens_out: None,
            tokens_cached: None,
            tokens_cache_write: None,
            searches: None,
            cost: Usd::ZERO,
            pricing_missing: false,
            usage_missing: true,
            latency_ms: 0,
            ttfb_ms: None,
            failure: Some(RowFailure::Cancelled),
            attempt: journal.dispatch(),
            tags: origin.tags.clone(),
            served_variant: origin.variant.map(Into::into),
            repaired_by: None,
            cache_key: None,
            prefix_fingerprint: None,
            lane: origin.lane.into(),
            traceparent: origin.traceparent,
        };
        let listener = origin.listener;
        if let Some(listener) = listener {
            listener.tell(Told::Started {
                attempt: row.attempt,
                provider: row.provider.clone(),
                model: row.model.clone(),
            });
        }
        Self {
            parts,
            started: parts.clock.monotonic(),
            row: Some(row),
            capture: None,
            reservation: None,
            departure: Departure::default(),
            listener,
        }
    }

    /// Returns the row so far.
    pub(crate) fn row(&mut self) -> &mut AttemptRow {
        self.row.as_mut().expect("only `drop` takes the row")
    }

    /// Has it paid for: from here on what was reserved is its charge, until somebody knows better.
    pub(crate) fn pay(&mut self, reservation: Option<Reservation<'a>>) {
        if let Some(mut reservation) = reservation {
            self.row().id = reservation.id().to_owned();
            reservation.charge(None);
            self.reservation = Some(reservation);
        }
    }

    /// Sets what its envelope is charged; `None` is what was reserved, since nobody knows what the dispatch used.
    pub(crate) fn charge(&mut self, charge: Option<Usd>) {
        self.row().usage_missing = charge.is_none();
        if let Some(reservation) = &mut self.reservation {
            reservation.charge(charge);
        }
    }

    /// Enters what it has used as far as is known, and returns what that costs at the tier that served.
    pub(crate) fn used(
        &mut self,
        usage: Usage,
        served_tier: Option<String>,
        prices: &Prices,
    ) -> Usd {
        let price = prices.at(served_tier.as_deref());
        let tokens = price.map_or(Usd::ZERO, |price| {
            price.cost(
                usage.tokens_in.unwrap_or(0),
                usage.tokens_cached.unwrap_or(0),
                usage.tokens_cache_write.unwrap_or(0),
                usage.tokens_out.unwrap_or(0),
            )
        });
        let cost = tokens + prices.searches(usage.searches);
        let row = self.row();
        row.tokens_in = usage.tokens_in;
        row.tokens_out = usage.tokens_out;
        row.tokens_cached = usage.tokens_cached;
        row.tokens_cache_write = usage.tokens_cache_write;
        row.searches = usage.searches;
        row.served_tier = served_tier;
        row.cost = cost;
        cost
    }

    /// Remembers where the transport says whether the request was sent.
    pub(crate) fn sends(&mut self, departure: &Departure) {
        self.departure = departure.clone();
    }

    /// Ends a failed dispatch: whatever was not sent by now never will be, and cannot have been billed (E2). Usage and tier
    /// of an answer that broke off are those that the row has.
    pub(crate) fn complete(&mut self, failed: Failed) -> Failed {
        let failed = Failed {
            unbilled: failed.unbilled || !self.departure.stop(),
            ..failed
        };
        if failed.usage.is_told() {
            return failed;
        }
        let row = self.row();
        Failed {
            usage: Usage {
                tokens_in: row.tokens_in,
                tokens_out: row.tokens_out,
                tokens_cached: row.tokens_cached,
                tokens_cache_write: row.tokens_cache_write,
                searches: row.searches,
            },
            served_tier: failed.served_tier.or_else(|| row.served_tier.clone()),
            ..failed
        }
    }

    /// Keeps variables and output beside the row, if it ends as that of the answer that serves and captures are on.
    pub(crate) fn capture(&mut self, job: &Job, output: String) {
        if !self.parts.captures {
            return;
        }
        let row = self.row();
        self.capture = Some(Capture {
            id: row.id.clone(),
            ts_ms: row.ts_ms,
            run_id: row.run_id.clone(),
            route: row.route.clone(),
            route_version: row.route_version,
            variables: serde_json::to_string(&job.input).expect("a JSON object can be written"),
            output,
        });
    }

    /// Returns the time since the dispatch.
    pub(crate) fn elapsed(&self) -> Duration {
        self.parts.clock.monotonic().saturating_sub(self.started)
    }
}

impl Drop for Dispatch<'_> {
    fn drop(&mut self) {
        let latency = u64::try_from(self.elapsed().as_millis()).unwrap_or(u64::MAX);
        if self.row().failure == Some(RowFailure::Cancelled) {
            self.row().latency_ms = latency;
            if !self.departure.stop() {
                self.charge(Some(Usd::ZERO));
            }
        }
        if let Some(row) = self.row.take() {
            if let (Some(listener), Some(RowFailure::Class(class))) = (self.listener, row.failure) {
                listener.tell(Told::Discarded {
                    attempt: row.attempt,
                    class,
                });
            }
            let serves = row.failure.is_none();
            match self.capture.take().filter(|_| serves) {
                Some(capture) => self.parts.store.record_captured(row, capture),
                None => self.parts.store.record(row),
            }
            // Of a run that was dropped nobody else says that it has left a row.
            self.parts.exporters.poke();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::sync::Arc;
    use std::task::{Context, Waker};

    use super::*;
    use crate::access::{Access, Settings};
    use crate::envelope;
    use crate::export::Exporters;
    use crate::testing::{ManualClock, MemoryStore, ScriptedTransport};

    // T4: the row of a run that was dropped is exported as soon as any other.
    #[test]
    fn a_dropped_dispatch_tells_exporters_of_its_row() {
        let (clock, store) = (ManualClock::new(), MemoryStore::default());
        let (exporters, poke) = Exporters::idle();
        let parts = Parts {
            slow: Default::default(),
            access: Access::new(Settings {
                ignore_env: true,
                ..Settings::default()
            }),
            transport: Box::new(ScriptedTransport::new(&clock)),
            exporters,
            store: Arc::new(store.clone()),
            captures: true,
            clock: Box::new(clock),
            search: None,
            envelope_cap: envelope::DEFAULT_CAP,
        };
        let tags = BTreeMap::new();
        let origin = Origin {
            lane: "raw",
            route: "",
            route_version: 0,
            variant: None,
            tags: &tags,
            traceparent: None,
            listener: None,
        };
        let mut journal = Journal::new("run".to_owned());
        let is_poked = || {
            let mut cx = Context::from_waker(Waker::noop());
            pin!(poke.notified()).poll(&mut cx).is_ready()
        };
        let dispatch = Dispatch::begin(&parts, &origin, &mut journal, "p".into(), "m".into());
        assert!(!is_poked());
        drop(dispatch);
        assert_eq!(store.rows()[0].failure, Some(RowFailure::Cancelled));
        assert!(is_poked());
    }
}
