//! How does every dispatch get its row?
//!
//! The row is written when the dispatch is dropped, so it is there however it ends, also when the caller goes away.

use std::borrow::Cow;
use std::time::Duration;

use rig_spec::Usd;

use crate::id;
use crate::journal::Journal;
use crate::ladder::Job;
use crate::rig::Parts;
use crate::store::{AttemptRow, Capture, RowFailure};

/// A dispatch under way. Dropping it writes its row.
pub(crate) struct Dispatch<'a> {
    parts: &'a Parts,
    /// When it began, in the clock's monotonic time.
    started: Duration,
    /// The row so far: that of a dispatch whose caller went away. Only `drop` takes it.
    row: Option<AttemptRow>,
    /// What is kept of a conformant answer, where the route asks for it.
    capture: Option<Capture>,
}

impl<'a> Dispatch<'a> {
    /// Starts a dispatch: from here on it has a row.
    pub(crate) fn start(
        parts: &'a Parts,
        job: &Job,
        journal: &mut Journal,
        provider: Cow<'static, str>,
        model: Cow<'static, str>,
    ) -> Self {
        let row = AttemptRow {
            id: id::fresh(&*parts.clock).to_string(),
            ts_ms: i64::try_from(parts.clock.wall().as_millis()).unwrap_or(i64::MAX),
            run_id: journal.run_id().to_owned(),
            route: job.route.name.into(),
            route_version: job.route.version,
            provider,
            model,
            requested_tier: None,
            served_tier: None,
            tokens_in: None,
            tokens_out: None,
            tokens_cached: None,
            tokens_cache_write: None,
            cost: Usd::ZERO,
            pricing_missing: false,
            latency_ms: 0,
            ttfb_ms: None,
            failure: Some(RowFailure::Cancelled),
            attempt: journal.dispatch(),
            tags: job.tags.clone(),
            served_variant: job.variant.map(|variant| variant.name.into()),
            repaired_by: None,
            cache_key: None,
            prefix_fingerprint: None,
            lane: "ladder".into(),
        };
        Self {
            parts,
            started: parts.clock.monotonic(),
            row: Some(row),
            capture: None,
        }
    }

    /// Returns the row so far.
    pub(crate) fn row(&mut self) -> &mut AttemptRow {
        self.row.as_mut().expect("only `drop` takes the row")
    }

    /// Keeps variables and output beside the row.
    pub(crate) fn capture(&mut self, job: &Job, output: String) {
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
