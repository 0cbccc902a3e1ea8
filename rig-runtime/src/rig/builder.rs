//! Builds a rig, of what its builder was told and of the environment.

use std::sync::Arc;

use rig_spec::Usd;

use super::captures::Captures;
use super::{Parts, Rig};
use crate::access::{Access, Settings};
use crate::clock::{Clock, Seldom, SystemClock};
use crate::envelope;
use crate::error::{ConfigError, Result};
use crate::export::{self, Exporters};
use crate::search::Search;
use crate::store::{Store, StoreLocation};
use crate::transport::Transport;
use crate::transport::http::HttpTransport;

const TELEMETRY_DB: &str = ".modelrig/telemetry.db";
const TELEMETRY_DB_ENV: &str = "MODELRIG_TELEMETRY_DB";
const ENVELOPE_CAP_ENV: &str = "MODELRIG_ENVELOPE_BUDGET_USD";

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
    pub(super) captures: Captures,
    envelope_cap: Option<Usd>,
    pub(crate) exports: export::Told,
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
    /// `MODELRIG_ENVELOPE_BUDGET_USD` is no amount, or `MODELRIG_CAPTURE` is neither `on` nor `off`. A file
    /// that another process has locked is not an error: rows wait until the lock is gone.
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
        let clock: Box<dyn Clock> = match self.clock {
            Some(clock) => clock,
            None => Box::new(SystemClock::new().map_err(ConfigError::Transport)?),
        };
        Ok(Rig::of(Parts {
            access: Access::new(self.settings),
            transport,
            exporters,
            store,
            captures,
            search: self.search,
            envelope_cap,
            slow: Seldom::default(),
            clock,
        }))
    }
}
