//! What does a process need to call routes?
//!
//! A [`Rig`] holds keys, addresses, the HTTP client, the store and the clock. A process has one by default,
//! built from the environment at the first call or handed to [`install`].

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use rig_spec::Usd;

use crate::access::{Access, Settings};
use crate::clock::{self, Clock};
use crate::envelope;
use crate::error::{ConfigError, Result};
use crate::export::{self, Exporters};
use crate::id;
use crate::search::Search;
use crate::store::{
    AttemptRow, Capture, ChargeRow, Envelope, EnvelopeState, Grade, Graded, ObservedLatency, Page,
    Spend, Spending, Store, StoreError, StoreLocation, Verdict, VerdictRow, VerdictsOf,
};
use crate::transport::Transport;
use crate::transport::http::HttpTransport;

mod captures;
mod guard;
mod process;
mod upkeep;

use captures::Captures;
pub use guard::{Guard, guard};
pub(crate) use process::process_default;
pub use process::{AlreadyInstalled, install};

/// Everything that calls stand on. Cloning it is cheap and shares all of it.
#[derive(Clone)]
pub struct Rig(Arc<Parts>);

/// Builds a [`Rig`]; what is not said comes from the environment.
#[derive(Default)]
#[must_use]
pub struct RigBuilder {
    settings: Settings,
    transport: Option<Box<dyn Transport>>,
    store: Option<Box<dyn Store>>,
    clock: Option<Box<dyn Clock>>,
    search: Option<Box<dyn Search>>,
    telemetry_db: Option<StoreLocation>,
    captures: Captures,
    envelope_cap: Option<Usd>,
    pub(crate) exports: export::Told,
}

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
}

const TELEMETRY_DB: &str = ".modelrig/telemetry.db";
const TELEMETRY_DB_ENV: &str = "MODELRIG_TELEMETRY_DB";
const ENVELOPE_CAP_ENV: &str = "MODELRIG_ENVELOPE_BUDGET_USD";

impl Rig {
    /// Returns a builder.
    pub fn builder() -> RigBuilder {
        RigBuilder::default()
    }

    /// Waits until the rows of everything done so far are durable.
    ///
    /// # Errors
    ///
    /// When the store failed to keep them.
    pub async fn flush(&self) -> Result<(), StoreError> {
        self.0.store.flush().await
    }

    /// Gives up this handle and waits until the rows of everything done so far are durable, and, for at most five seconds,
    /// until exporters have sent them. A process calls it before it ends.
    ///
    /// # Errors
    ///
    /// When the store failed to keep them.
    pub async fn close(self) -> Result<(), StoreError> {
        let flushed = self.flush().await;
        self.0.exporters.drain().await;
        flushed
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
    /// When the store cannot be written.
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
        self.0.store.open_envelope(envelope, now_ms).await
    }

    /// Returns what an envelope holds; `None` if nobody has opened it.
    ///
    /// # Errors
    ///
    /// When the store cannot be read.
    pub async fn envelope(&self, name: &str) -> Result<Option<EnvelopeState>, StoreError> {
        self.0.store.envelope(name, self.now_ms()).await
    }

    /// Returns what every envelope holds, in the order of their names.
    ///
    /// # Errors
    ///
    /// When the store cannot be read.
    pub async fn envelopes(&self) -> Result<Vec<EnvelopeState>, StoreError> {
        self.0.store.envelopes(self.now_ms()).await
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
    /// When nothing with the id is stored, the score is no finite number, or the store cannot be written.
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
        self.0.store.grade(grade).await
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
    /// Waits until the rows so far are durable, and lets exporters know. What could not be stored was counted and logged, and
    /// costs a run nothing.
    pub(crate) async fn stored(&self) {
        let _ = self.store.flush().await;
        self.exporters.poke();
    }
}

impl RigBuilder {
    /// Sets the key of a provider, in place of its environment variable. The name is the one in routes; that of the
    /// search provider is `search`.
    pub fn key(mut self, provider: impl Into<String>, key: impl Into<String>) -> Self {
        self.settings.keys.insert(provider.into(), key.into());
        self
    }

    /// Sets the address of a provider, in place of its environment variable and its public address.
    pub fn base_url(mut self, provider: impl Into<String>, url: impl Into<String>) -> Self {
        self.settings.base_urls.insert(provider.into(), url.into());
        self
    }

    /// Sets what sends requests, in place of HTTP.
    pub fn transport(mut self, transport: impl Transport + 'static) -> Self {
        self.transport = Some(Box::new(transport));
        self
    }

    /// Sets what keeps rows, in place of the telemetry database.
    pub fn store(mut self, store: impl Store + 'static) -> Self {
        self.store = Some(Box::new(store));
        self
    }

    /// Sets what tells the time and waits, in place of the machine's clock.
    pub fn clock(mut self, clock: impl Clock + 'static) -> Self {
        self.clock = Some(Box::new(clock));
        self
    }

    /// Sets what searches the web for candidates that cannot, in place of HTTP. Address, cost and designation stay those
    /// of `search` in `rig.yaml`; its key is not needed.
    pub fn search(mut self, search: impl Search + 'static) -> Self {
        self.search = Some(Box::new(search));
        self
    }

    /// Sets where the telemetry database is, in place of `MODELRIG_TELEMETRY_DB` and
    /// `.modelrig/telemetry.db`: a file, whose directory is created, or with the feature `postgres` the URL of a database,
    /// `postgres://user:password@host:port/database`.
    pub fn telemetry_db(mut self, location: impl Into<StoreLocation>) -> Self {
        self.telemetry_db = Some(location.into());
        self
    }

    /// Sets the cap of envelopes that their opener gives none, in place of `MODELRIG_ENVELOPE_BUDGET_USD` and $25.
    pub fn envelope_cap(mut self, cap: Usd) -> Self {
        self.envelope_cap = Some(cap);
        self
    }

    /// Leaves the environment alone: keys, addresses and the database's place are those that the builder was
    /// told, or the defaults.
    pub fn ignore_env(mut self) -> Self {
        self.settings.ignore_env = true;
        self
    }

    /// Builds the rig.
    ///
    /// # Errors
    ///
    /// `Config` when the telemetry database cannot be opened, the HTTP client not be set up,
    /// `MODELRIG_ENVELOPE_BUDGET_USD` is no amount, or `MODELRIG_CAPTURE` is neither `on` nor `off`.
    pub fn build(self) -> Result<Rig> {
        let envelope_cap = match (
            self.envelope_cap,
            self.settings.variable_os(ENVELOPE_CAP_ENV),
        ) {
            (Some(cap), _) => cap,
            (None, None) => envelope::DEFAULT_CAP,
            (None, Some(told)) => {
                let told = told
                    .to_str()
                    .and_then(|told| Usd::from_decimal(told.trim()));
                told.ok_or(ConfigError::EnvelopeBudget)?
            }
        };
        let captures = self.captures.are_on(&self.settings)?;
        let store: Box<dyn Store> = match self.store {
            Some(store) => store,
            None => {
                let named = || self.settings.variable_os(TELEMETRY_DB_ENV);
                let location = self.telemetry_db.or_else(|| named().map(Into::into));
                location.unwrap_or_else(|| TELEMETRY_DB.into()).open()?
            }
        };
        let store = Arc::from(store);
        let destinations = self.exports.destinations(&self.settings);
        let exporters = Exporters::start(destinations, &store)?;
        let transport = match self.transport {
            Some(transport) => transport,
            None => Box::new(HttpTransport::new().map_err(ConfigError::Transport)?),
        };
        Ok(Rig::of(Parts {
            access: Access::new(self.settings),
            transport,
            exporters,
            store,
            captures,
            search: self.search,
            envelope_cap,
            clock: clock::or_system(self.clock).map_err(ConfigError::Transport)?,
        }))
    }
}

impl fmt::Debug for Rig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Rig(…)")
    }
}
