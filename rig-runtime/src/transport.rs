//! How does a request reach a provider?
//!
//! The only module that opens a connection is `transport::http`. Everything else sees the types of this file,
//! so a test answers requests from a script.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::time::{Duration, UNIX_EPOCH};

mod departure;
pub mod http;

pub use departure::Departure;

/// A boxed future, as the edge traits return them.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// One HTTP `POST` to a provider.
pub struct Request {
    /// The whole address.
    pub url: String,
    /// Header names in lower case, and their values. Values may hold a key.
    pub headers: Vec<(&'static str, String)>,
    /// The body.
    pub body: Vec<u8>,
    /// Whether it has been sent; the transport says so here.
    pub departure: Departure,
}

/// The head of an HTTP response, and a body still to be read.
pub struct Response {
    /// The HTTP status.
    pub status: u16,
    /// The headers.
    pub headers: Headers,
    /// The body.
    pub body: Box<dyn Body>,
}

/// Response headers, looked up without regard to case.
#[derive(Clone, Debug, Default)]
pub struct Headers(Vec<(String, String)>);

/// A response body that arrives in pieces.
pub trait Body: Send {
    /// Returns the next piece, or `None` after the last.
    fn chunk(&mut self) -> BoxFuture<'_, Result<Option<Vec<u8>>, TransportError>>;

    /// Gives up the rest of a body of which nobody needs more. The connection may be kept for another request, whereas a
    /// body that is dropped aborts the exchange. It waits for nothing.
    fn finish(self: Box<Self>) {}
}

/// Sends requests. It never sends one again that a host may have processed.
pub trait Transport: Send + Sync {
    /// Sends one request and returns when the response's head has arrived.
    fn send(&self, request: Request) -> BoxFuture<'_, Result<Response, TransportError>>;
}

/// Why no (whole) response arrived. The text never holds a key, a prompt or an output.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TransportError {
    /// What happened, e.g. `connection refused`.
    pub message: String,
    /// Whether the request may have been sent. One that was not cannot have been billed (E2).
    pub was_sent: bool,
}

/// The longest body that is read whole.
const LONGEST_BODY: usize = 16 << 20;

/// The longest stream of events that is read: the frame around a word is many times as long as the word.
const LONGEST_STREAM: usize = 64 << 20;

/// A body that is read as far as the longest.
pub(crate) struct Pieces {
    body: Box<dyn Body>,
    read: usize,
}

impl Pieces {
    /// Returns the pieces of a body.
    pub(crate) fn new(body: Box<dyn Body>) -> Self {
        Self { body, read: 0 }
    }

    /// Returns the next piece, or `None` after the last. `is_stream` says what the pieces so far are.
    pub(crate) async fn next(
        &mut self,
        is_stream: bool,
    ) -> Result<Option<Vec<u8>>, TransportError> {
        let piece = self.body.chunk().await?;
        let longest = if is_stream {
            LONGEST_STREAM
        } else {
            LONGEST_BODY
        };
        self.read += piece.as_ref().map_or(0, Vec::len);
        if self.read > longest {
            let message = format!("the response is longer than {longest} bytes");
            return Err(TransportError::new(message));
        }
        Ok(piece)
    }

    /// Gives up the rest: the answer has ended.
    pub(crate) fn finish(self) {
        self.body.finish();
    }
}

/// Reads a body to its end, or as far as it goes.
pub(crate) async fn read(from: Box<dyn Body>, body: &mut Vec<u8>) -> Result<(), TransportError> {
    let mut pieces = Pieces::new(from);
    while let Some(piece) = pieces.next(false).await? {
        body.extend_from_slice(&piece);
    }
    Ok(())
}

impl Headers {
    /// Returns headers of these names and values.
    #[must_use]
    pub fn new(pairs: Vec<(String, String)>) -> Self {
        Self(pairs)
    }

    /// Returns the first value of a header.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        let found = self
            .0
            .iter()
            .find(|(key, _)| key.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }

    /// Dates a response whose sender did not, with the time since 1970 at which it arrived (RFC 9110, 6.6.1).
    pub(crate) fn date(&mut self, arrived: Duration) {
        if self.get("date").is_none() {
            let date = httpdate::fmt_http_date(UNIX_EPOCH + arrived);
            self.0.push(("date".to_owned(), date));
        }
    }
}

impl Request {
    /// Returns a request that has not been sent.
    #[must_use]
    pub fn new(url: String, headers: Vec<(&'static str, String)>, body: Vec<u8>) -> Self {
        Self {
            url,
            headers,
            body,
            departure: Departure::default(),
        }
    }
}

impl TransportError {
    /// Returns the error of a request that may have been sent.
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            was_sent: true,
        }
    }

    /// Returns the error of a request of which no byte was sent, or which the host says that it did not process.
    pub fn unsent(message: impl Into<String>) -> Self {
        Self {
            was_sent: false,
            ..Self::new(message)
        }
    }
}

impl fmt::Debug for Request {
    /// Shows the address, the header names and the body's length, and no value of either.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.headers.iter().map(|(name, _)| name).collect();
        f.debug_struct("Request")
            .field("url", &self.url)
            .field("headers", &names)
            .field("body_bytes", &self.body.len())
            .finish()
    }
}

impl fmt::Display for TransportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for TransportError {}

#[cfg(test)]
mod tests {
    use super::*;

    /// A body that goes on for ever.
    struct Endless;

    impl Body for Endless {
        fn chunk(&mut self) -> BoxFuture<'_, Result<Option<Vec<u8>>, TransportError>> {
            Box::pin(async { Ok(Some(vec![b' '; 1 << 20])) })
        }
    }

    #[tokio::test]
    async fn a_body_is_read_as_far_as_the_longest() {
        for (is_stream, longest) in [(false, LONGEST_BODY), (true, LONGEST_STREAM)] {
            let mut pieces = Pieces::new(Box::new(Endless));
            let mut read = 0;
            let error = loop {
                match pieces.next(is_stream).await {
                    Ok(piece) => read += piece.unwrap().len(),
                    Err(error) => break error,
                }
            };
            let message = format!("the response is longer than {longest} bytes");
            assert_eq!((read, error), (longest, TransportError::new(message)));
        }
    }
}
