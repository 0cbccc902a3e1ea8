//! What is said of a request that failed?

use std::error::Error;
use std::io;

use crate::transport::{Departure, TransportError};

/// Returns what a failed request ends with.
pub(super) fn of(error: &reqwest::Error, may_be_sent: bool) -> TransportError {
    match may_be_sent {
        true => TransportError::new(message(error)),
        false => TransportError::unsent(message(error)),
    }
}

/// Returns what a request ends with whose connection ended with the driver.
pub(super) fn lost(departure: &Departure) -> TransportError {
    let message = "the connection failed";
    match departure.stop() {
        true => TransportError::new(message),
        false => TransportError::unsent(message),
    }
}

/// Returns whether the host says that it has not processed the request: it refused the stream (RFC 9113, §8.7), or its
/// GOAWAY names an earlier stream as the last (§6.8).
pub(super) fn is_unprocessed(error: &reqwest::Error) -> bool {
    causes(error)
        .filter_map(|cause| cause.downcast_ref::<h2::Error>())
        .any(|error| {
            // Of a GOAWAY only the streams above the last one fail with it.
            let is_refused = error.is_reset() && error.reason() == Some(h2::Reason::REFUSED_STREAM);
            error.is_remote() && (error.is_go_away() || is_refused)
        })
}

/// Says what went wrong. The client's own text is never used, as it holds the address.
pub(super) fn message(error: &reqwest::Error) -> String {
    if error.is_builder() {
        return "the request cannot be sent to this address".to_owned();
    }
    if error.is_timeout() {
        return "the connection timed out".to_owned();
    }
    if error.is_dns() {
        return "the host name cannot be resolved".to_owned();
    }
    let causes: Vec<_> = causes(error).collect();
    if let Some(said) = causes.iter().rev().find_map(|cause| known(*cause)) {
        return said;
    }
    // Deeper causes come from the HTTP stack and know neither address nor headers.
    match causes.last() {
        Some(cause) => format!("the connection failed: {cause}"),
        None => "the connection failed".to_owned(),
    }
}

fn causes(error: &reqwest::Error) -> impl Iterator<Item = &(dyn Error + 'static)> {
    std::iter::successors(error.source(), |cause| (*cause).source())
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
