//! A request on its way out.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Frame, SizeHint};
use reqwest::header::HeaderMap;
use reqwest::{Client, RequestBuilder, Url};

use crate::transport::Departure;

/// A request that may be sent more than once.
pub(super) struct Outgoing {
    pub(super) url: Url,
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
    pub(super) departure: Departure,
}

impl Outgoing {
    /// Returns the request for a client.
    pub(super) fn post(&self, client: &Client) -> RequestBuilder {
        let body = OutgoingBody {
            bytes: Some(self.body.clone()),
            departure: self.departure.clone(),
        };
        client
            .post(self.url.clone())
            .headers(self.headers.clone())
            .body(reqwest::Body::wrap(body))
    }
}

/// A body that marks its request as sent when the HTTP stack takes it.
///
/// That is the last moment before anything is written. Over HTTP/1.1 the head is written together with the body. Over
/// HTTP/2 the head may go ahead where the host takes no data yet; without its body no host can process it.
struct OutgoingBody {
    /// `None` once it is taken.
    bytes: Option<Bytes>,
    departure: Departure,
}

/// The caller has given up, and nothing is written.
#[derive(Debug)]
struct GivenUp;

impl http_body::Body for OutgoingBody {
    type Data = Bytes;
    type Error = GivenUp;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, GivenUp>>> {
        let Some(bytes) = self.bytes.take() else {
            return Poll::Ready(None);
        };
        Poll::Ready(Some(match self.departure.leave() {
            true => Ok(Frame::data(bytes)),
            false => Err(GivenUp),
        }))
    }

    fn is_end_stream(&self) -> bool {
        self.bytes.is_none()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.bytes.as_ref().map_or(0, |bytes| bytes.len() as u64))
    }
}

impl fmt::Display for GivenUp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the caller has given up")
    }
}

impl std::error::Error for GivenUp {}
