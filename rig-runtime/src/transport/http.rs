//! Sends requests over real connections.
//!
//! The only module that opens one. HTTP/2 where the host offers it, through the proxy of the environment, without
//! redirects. It trusts whom the system trusts; outside Windows and macOS `SSL_CERT_FILE` names a file of certificates
//! instead, as that of a company's proxy.
//!
//! Sockets belong to the driver's thread, so a call can be made from any executor. A connection carries one request at
//! a time (`lanes`). A request goes out again only if nobody can have processed it: its pooled connection turned out to
//! be closed before a byte of it was written, or the host says that it refused the request.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use reqwest::Url;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use rustls::client::ClientConfig;
use rustls_platform_verifier::BuilderVerifierExt;

use super::{Body, BoxFuture, Headers, Request, Response, Transport, TransportError};
use crate::clock::{SystemClock, within};
use crate::driver::Driver;

mod clear;
mod failure;
mod lanes;
mod outgoing;

use lanes::{Lane, Lanes};
use outgoing::Outgoing;

/// How long the rest of a body is read of which nobody needs more, so that its connection can serve again.
const LONGEST_DRAIN: Duration = Duration::from_secs(1);

/// How many bytes of it are read.
const MOST_DRAINED: usize = 64 << 10;

/// Sends requests over HTTP.
#[derive(Clone)]
pub struct HttpTransport {
    driver: Arc<Driver>,
    lanes: Arc<Lanes>,
    clock: Arc<SystemClock>,
}

impl HttpTransport {
    /// Returns a transport with a connection pool of its own.
    ///
    /// # Errors
    ///
    /// Returns an error if TLS cannot be set up on this system, or a thread cannot be started.
    pub fn new() -> Result<Self, TransportError> {
        Ok(Self {
            driver: Driver::shared()?,
            lanes: Arc::new(Lanes::new(tls()?)),
            clock: Arc::new(SystemClock::new()?),
        })
    }
}

impl Transport for HttpTransport {
    fn send(&self, request: Request) -> BoxFuture<'_, Result<Response, TransportError>> {
        Box::pin(async move {
            request.departure.hold();
            let url = Url::parse(&request.url)
                .map_err(|_| TransportError::unsent("the provider's base URL is not a URL"))?;
            clear::warn(&url, &request.headers);
            let outgoing = Outgoing {
                headers: headers(request.headers)?,
                url,
                body: Bytes::from(request.body),
                departure: request.departure.clone(),
            };
            let lanes = Arc::clone(&self.lanes);
            let sent = self
                .driver
                .spawn(async move { lanes.send(&outgoing).await });
            let (lane, response) = match sent.await {
                Some(sent) => sent?,
                None => return Err(failure::lost(&request.departure)),
            };
            let pairs = response.headers().iter().map(|(name, value)| {
                let value = String::from_utf8_lossy(value.as_bytes()).into_owned();
                (name.as_str().to_owned(), value)
            });
            Ok(Response {
                status: response.status().as_u16(),
                headers: Headers::new(pairs.collect()),
                body: Box::new(HttpBody {
                    response,
                    lane: Some(lane),
                    transport: self.clone(),
                }),
            })
        })
    }
}

/// A body whose connection is closed when it is dropped, unless it was read to its end.
struct HttpBody {
    response: reqwest::Response,
    /// `None` once the body has ended.
    lane: Option<Lane>,
    transport: HttpTransport,
}

impl Body for HttpBody {
    fn chunk(&mut self) -> BoxFuture<'_, Result<Option<Vec<u8>>, TransportError>> {
        Box::pin(async move {
            match self.response.chunk().await {
                Ok(Some(piece)) => Ok(Some(Vec::from(piece))),
                Ok(None) => {
                    if let Some(lane) = self.lane.take() {
                        self.transport.lanes.give_back(lane);
                    }
                    Ok(None)
                }
                Err(error) => {
                    self.lane = None;
                    Err(TransportError::new(failure::message(&error)))
                }
            }
        })
    }

    /// Reads the rest in the background, within a second and 64 KiB.
    fn finish(self: Box<Self>) {
        let Self {
            mut response,
            lane: Some(lane),
            transport,
        } = *self
        else {
            return;
        };
        let HttpTransport {
            driver,
            lanes,
            clock,
        } = transport;
        driver.detach(async move {
            let drained = within(&*clock, LONGEST_DRAIN, drain(&mut response)).await;
            if drained == Some(true) {
                lanes.give_back(lane);
            }
        });
    }
}

/// Reads a body and returns whether it has come to its end.
async fn drain(response: &mut reqwest::Response) -> bool {
    let mut left = MOST_DRAINED;
    loop {
        match response.chunk().await {
            Ok(Some(piece)) if piece.len() <= left => left -= piece.len(),
            Ok(None) => return true,
            Ok(Some(_)) | Err(_) => return false,
        }
    }
}

/// Returns what verifies hosts. The crypto provider is named here and not installed for the process, which belongs to our
/// user.
pub(crate) fn tls() -> Result<ClientConfig, TransportError> {
    let crypto = Arc::new(rustls::crypto::ring::default_provider());
    let versions = || {
        ClientConfig::builder_with_provider(Arc::clone(&crypto))
            .with_safe_default_protocol_versions()
            .map_err(|error| TransportError::unsent(format!("TLS cannot be set up: {error}")))
    };
    // A container without certificates can still talk to a plain host; TLS then trusts nobody.
    let mut config = match versions()?.with_platform_verifier() {
        Ok(verified) => verified.with_no_client_auth(),
        Err(_) => versions()?
            .with_root_certificates(rustls::RootCertStore::empty())
            .with_no_client_auth(),
    };
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(config)
}

/// Every value is marked sensitive: it stays out of debug output and of HTTP/2's header tables.
fn headers(pairs: Vec<(&'static str, String)>) -> Result<HeaderMap, TransportError> {
    let mut headers = HeaderMap::with_capacity(pairs.len());
    for (name, value) in pairs {
        let unsendable = || TransportError::unsent(format!("the header `{name}` cannot be sent"));
        let key = HeaderName::from_bytes(name.as_bytes()).map_err(|_| unsendable())?;
        let mut value = HeaderValue::from_str(&value).map_err(|_| unsendable())?;
        value.set_sensitive(true);
        headers.insert(key, value);
    }
    Ok(headers)
}

impl fmt::Debug for HttpTransport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("HttpTransport(…)")
    }
}

#[cfg(test)]
mod tests;
