//! How are requests sent over real connections?
//!
//! The only module that opens one. Pooled, HTTP/2 where the host offers it, through the proxy of the
//! environment, without redirects. It trusts whom the system trusts; outside Windows and macOS `SSL_CERT_FILE`
//! names a file of certificates instead, as that of a company's proxy. It never sends a request twice: a request
//! goes out again only if its pooled connection turned out to be closed before a byte of it was written.

use std::error::Error;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use rustls::client::ClientConfig;
use rustls_platform_verifier::BuilderVerifierExt;

use super::{Body, BoxFuture, Headers, Request, Response, Transport, TransportError};

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

const USER_AGENT: &str = concat!("modelrig/", env!("CARGO_PKG_VERSION"));

/// Sends requests over HTTP.
#[derive(Clone, Debug)]
pub struct HttpTransport {
    client: reqwest::Client,
}

impl HttpTransport {
    /// Returns a transport with a connection pool of its own.
    ///
    /// # Errors
    ///
    /// Returns an error if TLS cannot be set up on this system.
    pub fn new() -> Result<Self, TransportError> {
        let client = reqwest::Client::builder()
            .tls_backend_preconfigured(tls()?)
            .user_agent(USER_AGENT)
            .connect_timeout(CONNECT_TIMEOUT)
            .redirect(reqwest::redirect::Policy::none())
            .retry(reqwest::retry::never())
            .build()
            .map_err(|error| plain(&error))?;
        Ok(Self { client })
    }
}

impl Transport for HttpTransport {
    fn send(&self, request: Request) -> BoxFuture<'_, Result<Response, TransportError>> {
        Box::pin(async move {
            let url = reqwest::Url::parse(&request.url)
                .map_err(|_| failure("the provider's base URL is not a URL"))?;
            let sent = self
                .client
                .post(url)
                .headers(headers(request.headers)?)
                .body(request.body);
            let response = sent.send().await.map_err(|error| plain(&error))?;
            let pairs = response.headers().iter().map(|(name, value)| {
                let value = String::from_utf8_lossy(value.as_bytes()).into_owned();
                (name.as_str().to_owned(), value)
            });
            Ok(Response {
                status: response.status().as_u16(),
                headers: Headers::new(pairs.collect()),
                body: Box::new(HttpBody(response)),
            })
        })
    }
}

struct HttpBody(reqwest::Response);

impl Body for HttpBody {
    fn chunk(&mut self) -> BoxFuture<'_, Result<Option<Vec<u8>>, TransportError>> {
        Box::pin(async move {
            let piece = self.0.chunk().await.map_err(|error| plain(&error))?;
            Ok(piece.map(Vec::from))
        })
    }
}

/// The crypto provider is named here and not installed for the process, which belongs to our user.
/// Returns what verifies hosts.
pub(crate) fn tls() -> Result<ClientConfig, TransportError> {
    let crypto = Arc::new(rustls::crypto::ring::default_provider());
    let versions = || {
        ClientConfig::builder_with_provider(Arc::clone(&crypto))
            .with_safe_default_protocol_versions()
            .map_err(|error| failure(format!("TLS cannot be set up: {error}")))
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
        let unsendable = || failure(format!("the header `{name}` cannot be sent"));
        let key = HeaderName::from_bytes(name.as_bytes()).map_err(|_| unsendable())?;
        let mut value = HeaderValue::from_str(&value).map_err(|_| unsendable())?;
        value.set_sensitive(true);
        headers.insert(key, value);
    }
    Ok(headers)
}

fn failure(message: impl Into<String>) -> TransportError {
    TransportError::new(message)
}

/// Says what went wrong. The client's own text is never used, as it holds the address.
fn plain(error: &reqwest::Error) -> TransportError {
    if error.is_builder() {
        return failure("the request cannot be sent to this address");
    }
    if error.is_timeout() {
        return failure("the connection timed out");
    }
    if error.is_dns() {
        return failure("the host name cannot be resolved");
    }
    let causes = std::iter::successors(error.source(), |cause| (*cause).source());
    let causes: Vec<_> = causes.collect();
    if let Some(said) = causes.iter().rev().find_map(|cause| known(*cause)) {
        return failure(said);
    }
    // Deeper causes come from the HTTP stack and know neither address nor headers.
    failure(match causes.last() {
        Some(cause) => format!("the connection failed: {cause}"),
        None => "the connection failed".to_owned(),
    })
}

fn known(cause: &(dyn Error + 'static)) -> Option<String> {
    if let Some(tls) = cause.downcast_ref::<rustls::Error>() {
        return Some(format!("TLS failed: {tls}"));
    }
    if let Some(error) = cause.downcast_ref::<io::Error>() {
        // An I/O error hides what it wraps from `source`.
        let wrapped = error.get_ref().and_then(|inner| known(inner));
        return wrapped.or_else(|| of_kind(error.kind()).map(str::to_owned));
    }
    let text = cause.to_string();
    let is_cut = [
        "connection closed before message completed",
        "end of file before message length reached",
    ]
    .iter()
    .any(|cut| text.contains(cut))
        || text.contains("unexpected EOF");
    is_cut.then(|| "the connection was closed early".to_owned())
}

fn of_kind(kind: io::ErrorKind) -> Option<&'static str> {
    match kind {
        io::ErrorKind::ConnectionRefused => Some("connection refused"),
        io::ErrorKind::ConnectionReset
        | io::ErrorKind::ConnectionAborted
        | io::ErrorKind::BrokenPipe => Some("the connection was reset"),
        io::ErrorKind::UnexpectedEof => Some("the connection was closed early"),
        io::ErrorKind::TimedOut => Some("the connection timed out"),
        io::ErrorKind::HostUnreachable | io::ErrorKind::NetworkUnreachable => {
            Some("the host cannot be reached")
        }
        io::ErrorKind::InvalidData => Some("the body cannot be decoded"),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
