//! A lane is a connection that carries one request at a time.
//!
//! A client of the HTTP library has one HTTP/2 connection per host and puts every request on it: beyond the host's
//! limit of streams they wait, and before its first settings they are refused. A slow reader also fills the window that
//! all of them share. So each lane is a client with one connection of its own. A request takes an idle lane or a new
//! one and never waits, over HTTP/2 as over HTTP/1.1 (A4). All lanes share the TLS sessions, so that a further
//! connection to a host resumes.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use reqwest::redirect::Policy;
use reqwest::{Client, Response, retry};
use rustls::client::ClientConfig;
use tokio::task::yield_now;

use super::failure;
use super::outgoing::Outgoing;
use crate::transport::TransportError;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// How long a connection stays open that nobody uses.
const IDLE_TIMEOUT: Duration = Duration::from_secs(90);

/// The most lanes of a host that are kept for later.
const MOST_IDLE: usize = 128;

/// How often a request is sent that its host refuses unprocessed.
const MOST_SENT: u32 = 3;

const USER_AGENT: &str = concat!("modelrig/", env!("CARGO_PKG_VERSION"));

/// A connection, or what will make one.
pub(super) struct Lane {
    client: Client,
    /// Scheme, host and port.
    origin: String,
}

/// The lanes that carry nothing at the moment.
pub(super) struct Lanes {
    tls: ClientConfig,
    /// By origin; the last one given back is the first to be taken. The client of a lane closes its connection after
    /// the idle time-out, and makes a new one if it is taken after that.
    idle: Mutex<HashMap<String, Vec<Lane>>>,
}

impl Lanes {
    pub(super) fn new(tls: ClientConfig) -> Self {
        Self {
            tls,
            idle: Mutex::default(),
        }
    }

    /// Sends a request and returns when the head of the response has arrived. It has to run on the driver.
    pub(super) async fn send(
        &self,
        outgoing: &Outgoing,
    ) -> Result<(Lane, Response), TransportError> {
        let origin = outgoing.url.origin().ascii_serialization();
        let mut lane = match self.take(&origin) {
            Some(lane) => {
                // Whatever happened to the connection meanwhile is noticed before the request is on it: that it is
                // ready again after its last exchange, or that the host has closed it.
                yield_now().await;
                lane
            }
            None => self.open(origin)?,
        };
        let mut sent = 1;
        loop {
            let error = match outgoing.post(&lane.client).send().await {
                Ok(response) => return Ok((lane, response)),
                Err(error) => error,
            };
            if !failure::is_unprocessed(&error) {
                let may_be_sent = outgoing.departure.stop();
                return Err(failure::of(&error, may_be_sent));
            }
            outgoing.departure.recall();
            if sent == MOST_SENT {
                let message = "the host refuses requests before it processes them";
                return Err(TransportError::unsent(message));
            }
            sent += 1;
            lane = self.open(lane.origin)?;
        }
    }

    /// Keeps a lane whose exchange has come to its end.
    pub(super) fn give_back(&self, lane: Lane) {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let lanes = idle.entry(lane.origin.clone()).or_default();
        if lanes.len() < MOST_IDLE {
            lanes.push(lane);
        }
    }

    fn take(&self, origin: &str) -> Option<Lane> {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        idle.get_mut(origin)?.pop()
    }

    fn open(&self, origin: String) -> Result<Lane, TransportError> {
        let client = Client::builder()
            .tls_backend_preconfigured(self.tls.clone())
            .user_agent(USER_AGENT)
            .connect_timeout(CONNECT_TIMEOUT)
            .pool_idle_timeout(IDLE_TIMEOUT)
            .pool_max_idle_per_host(1)
            .redirect(Policy::none())
            .retry(retry::never())
            .build()
            .map_err(|error| failure::of(&error, false))?;
        Ok(Lane { client, origin })
    }
}
