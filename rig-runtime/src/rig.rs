//! What does a process need to call routes?
//!
//! A [`Rig`] holds keys, addresses, the HTTP client, the store and the clock. A process has one by default,
//! built from the environment at the first call or handed to [`install`]; see `default`.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use rig_spec::Usd;

use crate::access::Access;
use crate::clock::{Clock, Seldom, SystemClock, answer_within};
use crate::deadline::Left;
use crate::export::Exporters;
use crate::id;
use crate::search::Search;
use crate::store::{
    AttemptRow, CLOSE, Capture, ChargeRow, Envelope, EnvelopeState, GRACE, Grade, Graded,
    ObservedLatency, Page, Spend, Spending, Store, StoreCounts, StoreError, Verdict, VerdictRow,
    VerdictsOf,
};
use crate::transport::Transport;

mod builder;
mod captures;
mod default;
mod guard;
mod upkeep;

pub use builder::RigBuilder;
pub(crate) use default::process_default;
pub use default::{AlreadyInstalled, install};
pub use guard::{Guard, guard};

/// How long somebody waits who opens, reads or judges something beside a run.
const PATIENCE: Duration = Duration::from_secs(10);

/// Everything that calls stand on. Cloning it is cheap and shares all of it.
#[derive(Clone)]
pub struct Rig(Arc<Parts>);

/// What a rig holds.
pub(crate) struct Parts {
    pub(crate) access: Access,
    pub(crate) transport: Box<dyn Transport>,
    /// What sends rows elsewhere. Before the store, which has to be there until they have ended.
    pub(crate) exporters: Exporters,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) clock: Box<dyn Clock>,
    /// Whether the answers of routes that ask for it are captured (T3).
    pub(crate) captures: bool,
    /// What searches in place of HTTP.
    pub(crate) search: Option<Box<dyn Search>>,
    /// The cap of an envelope that its opener gives none.
    pub(crate) envelope_cap: Usd,
    /// When it was last said that the store is slow.
    pub(crate) slow: Seldom,
}

impl Rig {
    /// Returns a builder.
    pub fn builder() -> RigBuilder {
        RigBuilder::default()
    }

    /// Waits until the rows of everything done so far are durable: while the store is locked or away, as long as that lasts.
    /// Dropping the future gives up the wait and no row.
    ///
    /// # Errors
    ///
    /// When the store failed to keep them.
    pub async fn flush(&self) -> Result<(), StoreError> {
        self.0.store.flush().await
    }

    /// Gives up this handle and waits until the rows of everything done so far are durable, for at most five seconds
    /// ([`CLOSE`]), and as long until exporters have sent them. A process calls it before it ends. Dropping the
    /// last handle waits for rows as long once more; what is not stored then is lost.
    ///
    /// # Errors
    ///
    /// When the store failed to keep them, or has not stored them yet.
    pub async fn close(self) -> Result<(), StoreError> {
        // By the machine's clock, whatever the rig's is: a process is about to end.
        let clock = SystemClock::new().map_err(|error| StoreError::Failed {
            reason: error.to_string(),
        })?;
        let flushed = answer_within(&clock, CLOSE, self.flush()).await;
        let flushed = flushed.unwrap_or_else(|| Err(no_answer(CLOSE)));
        self.0.exporters.drain().await;
        flushed
    }

    /// Returns what became of the rows that were handed to the store since it was opened: how many wait, were stored late, or
    /// are lost.
    #[must_use]
    pub fn store_counts(&self) -> StoreCounts {
        self.0.store.counts()
    }

    /// Returns the rows of a run, in the order of the attempts.
    ///
    /// # Errors
    ///
    /// When the store cannot be read.
    pub async fn attempts(&self, run_id: &str) -> Result<Vec<AttemptRow>, StoreError> {
        self.0.store.attempts(run_id).await
    }

    /// Returns what was captured of a route's calls, oldest first.
    ///
    /// # Errors
    ///
    /// When the store cannot be read.
    pub async fn captures(&self, route: &str) -> Result<Vec<Capture>, StoreError> {
        self.0.store.captures(route).await
    }

    /// Returns how long the served attempts of a route took, by provider and model. It influences no routing.
    ///
    /// # Errors
    ///
    /// When the store cannot be read.
    pub async fn observed_latency(&self, route: &str) -> Result<Vec<ObservedLatency>, StoreError> {
        self.0.store.observed_latency(route).await
    }

    /// Adds up what was dispatched in a window of time, in milliseconds since 1970 (UTC), and has this tag (key and
    /// value), or any.
    ///
    /// # Errors
    ///
    /// When the store cannot be read.
    pub async fn spend(
        &self,
        tag: Option<(&str, &str)>,
        window_ms: Range<i64>,
    ) -> Result<Spend, StoreError> {
        let tag = tag.map(|(key, value)| (key.to_owned(), value.to_owned()));
        self.0.store.spend(Spending { tag, window_ms }).await
    }

    /// Returns the rows of a page, in the order of their ids, which is nearly that of dispatch.
    ///
    /// # Errors
    ///
    /// When the store cannot be read.
    pub async fn page(&self, of: Page) -> Result<Vec<AttemptRow>, StoreError> {
        self.0.store.page(of).await
    }

    /// Opens an envelope ahead of the calls that name it; one that is open already keeps its cap. Without a cap it is the
    /// rig's.
    ///
    /// # Errors
    ///
    /// When the name is too long, or the store cannot be written or does not answer within ten seconds.
    pub async fn open_envelope(
        &self,
        name: impl Into<String>,
        cap: impl Into<Option<Usd>>,
    ) -> Result<EnvelopeState, StoreError> {
        let envelope = Envelope {
            name: name.into(),
            cap: cap.into().unwrap_or(self.0.envelope_cap),
        };
        let now_ms = self.now_ms();
        let opened = self.0.store.open_envelope(envelope, now_ms);
        self.0.answered(opened).await
    }

    /// Returns what an envelope holds; `None` if nobody has opened it.
    ///
    /// # Errors
    ///
    /// When the store cannot be read, or does not answer within ten seconds.
    pub async fn envelope(&self, name: &str) -> Result<Option<EnvelopeState>, StoreError> {
        let state = self.0.store.envelope(name, self.now_ms());
        self.0.answered(state).await
    }

    /// Returns what every envelope holds, in the order of their names.
    ///
    /// # Errors
    ///
    /// When the store cannot be read, or does not answer within ten seconds.
    pub async fn envelopes(&self) -> Result<Vec<EnvelopeState>, StoreError> {
        let states = self.0.store.envelopes(self.now_ms());
        self.0.answered(states).await
    }

    /// Returns what was taken from an envelope, dispatch by dispatch, each beside its row: nearly in the order of dispatch.
    ///
    /// # Errors
    ///
    /// When the store cannot be read.
    pub async fn charges(&self, envelope: &str) -> Result<Vec<ChargeRow>, StoreError> {
        self.0.store.charges(envelope).await
    }

    /// Stores what somebody makes of an attempt (`&run.meta` is the one that served) or of a run, beside the rows. Every
    /// verdict stays, and none is exported.
    ///
    /// ```
    /// # use rig_runtime::{Rig, RunMeta, store::{Graded, StoreError, Verdict}};
    /// # async fn judge(rig: Rig, meta: RunMeta) -> Result<(), StoreError> {
    /// rig.grade(&meta, Verdict::up().score(0.9).source("support")).await?;
    /// rig.grade(Graded::Run(meta.run_id), Verdict::down().note("too long")).await
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// When nothing with the id is stored, the score is no finite number, or the store cannot be written or does not answer
    /// within ten seconds.
    pub async fn grade(
        &self,
        graded: impl Into<Graded>,
        verdict: Verdict,
    ) -> Result<(), StoreError> {
        let grade = Grade {
            id: id::fresh(&*self.0.clock).to_string(),
            ts_ms: self.now_ms(),
            of: graded.into(),
            verdict,
        };
        self.0.answered(self.0.store.grade(grade)).await
    }

    /// Returns the verdicts of a run or of a route, oldest first.
    ///
    /// # Errors
    ///
    /// When the store cannot be read.
    pub async fn verdicts(&self, of: VerdictsOf) -> Result<Vec<VerdictRow>, StoreError> {
        self.0.store.verdicts(of).await
    }

    fn now_ms(&self) -> i64 {
        i64::try_from(self.0.clock.wall().as_millis()).unwrap_or(i64::MAX)
    }

    pub(crate) fn of(parts: Parts) -> Self {
        Self(Arc::new(parts))
    }

    pub(crate) fn parts(&self) -> &Parts {
        &self.0
    }
}

impl Parts {
    /// Waits until the rows so far are durable, for no longer than the grace, and lets exporters know (L17). What is not stored
    /// by then stays queued; what cannot be stored is counted and logged. Both cost a run nothing else.
    pub(crate) async fn stored(&self) {
        let flushed = answer_within(&*self.clock, GRACE, self.store.flush()).await;
        if flushed.is_none() && self.slow.is_due(self.clock.monotonic()) {
            let queued_rows = self.store.counts().queued_rows;
            tracing::warn!(
                queued_rows,
                "the telemetry store is slow: calls return before their rows are stored"
            );
        }
        self.exporters.poke();
    }

    /// Waits until the store has room for the rows of another dispatch, for no longer than the grace and a quarter of the time
    /// that the run has left (L17); returns what it has left then.
    pub(crate) async fn room(&self, left: Option<Left>) -> Option<Left> {
        let started = self.clock.monotonic();
        let limit = left.map_or(GRACE, |left| GRACE.min(left.time / 4));
        answer_within(&*self.clock, limit, self.store.room()).await;
        let waited = self.clock.monotonic().saturating_sub(started);
        left.map(|left| left.after(waited))
    }

    /// Waits for what the store answers to somebody beside a run.
    async fn answered<T>(
        &self,
        answer: impl Future<Output = Result<T, StoreError>>,
    ) -> Result<T, StoreError> {
        let answer = answer_within(&*self.clock, PATIENCE, answer).await;
        answer.unwrap_or_else(|| Err(no_answer(PATIENCE)))
    }
}

/// Returns the error of a store that did not answer in time.
pub(crate) fn no_answer(after: Duration) -> StoreError {
    StoreError::NoAnswer {
        after_ms: u64::try_from(after.as_millis()).unwrap_or(u64::MAX),
    }
}

impl fmt::Debug for Rig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Rig(…)")
    }
}
