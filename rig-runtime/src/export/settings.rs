//! Who has asked for exports, and where to?
//!
//! What the builder was told wins over the environment. What is asked for and cannot be done is said aloud once, and costs no
//! run anything.

use super::Destination;
use super::ingest::Ingest;
use crate::access::Settings;
use crate::key::Key;
use crate::rig::RigBuilder;

const KEY_ENV: &str = "MODELRIG_API_KEY";
const URL_ENV: &str = "MODELRIG_INGEST_URL";
const OTLP_ENV: &str = "MODELRIG_OTLP_ENDPOINT";
#[cfg(feature = "otlp")]
const OTLP_HEADERS_ENV: &str = "MODELRIG_OTLP_HEADERS";

/// What the builder was told of exports.
#[derive(Default)]
pub(crate) struct Told {
    /// An address and a key.
    ingest: Option<(String, String)>,
    #[cfg(feature = "otlp")]
    otlp: Option<super::Otlp>,
}

impl RigBuilder {
    /// Sends rows to this address with this key, in place of `MODELRIG_INGEST_URL` and `MODELRIG_API_KEY`: numbers, ids and
    /// names, no prompt, output, capture or tag. It happens in the background, and at least once each.
    pub fn ingest(mut self, url: impl Into<String>, key: impl Into<String>) -> Self {
        self.exports.ingest = Some((url.into(), key.into()));
        self
    }

    /// Sends a span for each row, in place of `MODELRIG_OTLP_ENDPOINT` and `MODELRIG_OTLP_HEADERS`.
    #[cfg(feature = "otlp")]
    pub fn otlp(mut self, otlp: super::Otlp) -> Self {
        self.exports.otlp = Some(otlp);
        self
    }
}

impl Told {
    /// Returns where rows go.
    pub(crate) fn destinations(self, settings: &Settings) -> Vec<Box<dyn Destination>> {
        let mut found: Vec<Box<dyn Destination>> = Vec::new();
        if let Some(ingest) = ingest(self.ingest, settings) {
            found.push(Box::new(ingest));
        }
        #[cfg(feature = "otlp")]
        if let Some(otlp) = self.otlp.or_else(|| otlp(settings)) {
            if is_http(otlp.url()) {
                found.push(Box::new(otlp));
            } else {
                tracing::error!("`{OTLP_ENV}` is not an http(s) URL: nothing is exported there");
            }
        }
        #[cfg(not(feature = "otlp"))]
        if settings.variable(OTLP_ENV).is_some() {
            tracing::warn!(
                "`{OTLP_ENV}` is set, and modelrig was compiled without its feature `otlp`"
            );
        }
        found
    }
}

fn ingest(told: Option<(String, String)>, settings: &Settings) -> Option<Ingest> {
    let (url, key) = match told {
        Some((url, key)) => (Some(url), key),
        None => (settings.variable(URL_ENV), settings.variable(KEY_ENV)?),
    };
    let Some(url) = url else {
        tracing::warn!("`{KEY_ENV}` is set and `{URL_ENV}` is not: nothing is exported");
        return None;
    };
    let Some(key) = Key::new(&key).filter(Key::is_sendable) else {
        tracing::warn!("the key of the exporter cannot stand in a header: nothing is exported");
        return None;
    };
    let url = url.trim().to_owned();
    if !is_http(&url) {
        tracing::error!("`{URL_ENV}` is not an http(s) URL: nothing is exported");
        return None;
    }
    Some(Ingest { url, key })
}

/// Returns whether a text is the URL of something that speaks HTTP. It is not shown where it is not: it may hold a secret.
fn is_http(url: &str) -> bool {
    let rest = url.strip_prefix("http://").or(url.strip_prefix("https://"));
    rest.is_some_and(|rest| !rest.is_empty() && !rest.starts_with(['/', '?', '#', ':']))
}

#[cfg(feature = "otlp")]
fn otlp(settings: &Settings) -> Option<super::Otlp> {
    let mut otlp = super::Otlp::new(settings.variable(OTLP_ENV)?);
    for (name, value) in headers(&settings.variable(OTLP_HEADERS_ENV).unwrap_or_default()) {
        otlp = otlp.header(name, value);
    }
    // These two are OpenTelemetry's own.
    let compression = settings.variable("OTEL_EXPORTER_OTLP_COMPRESSION");
    if compression.is_some_and(|kind| kind.trim() == "gzip") {
        otlp = otlp.gzip();
    }
    match settings.variable("OTEL_SERVICE_NAME") {
        Some(name) => Some(otlp.service(name)),
        None => Some(otlp),
    }
}

/// Reads `name=value,name=value`, with values in percent-encoding, as `OTEL_EXPORTER_OTLP_HEADERS` has it. What is none is
/// left out, and not shown.
#[cfg(feature = "otlp")]
fn headers(text: &str) -> Vec<(String, String)> {
    let pairs = text.split(',').filter(|pair| !pair.trim().is_empty());
    let read = pairs.map(|pair| {
        let (name, value) = pair.split_once('=')?;
        let value = percent_encoding::percent_decode_str(value.trim());
        let value = value.decode_utf8().ok()?.into_owned();
        let is_name = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
        let name = name.trim();
        let is_sendable = value.bytes().all(|byte| (b' '..=b'~').contains(&byte));
        (!name.is_empty() && name.bytes().all(is_name) && is_sendable)
            .then(|| (name.to_owned(), value))
    });
    let read: Vec<_> = read.collect();
    if read.contains(&None) {
        tracing::warn!("`{OTLP_HEADERS_ENV}` holds what is no `name=value`: it is left out");
    }
    read.into_iter().flatten().collect()
}

#[cfg(all(test, feature = "otlp"))]
mod tests {
    use super::*;

    #[test]
    fn headers_are_read_as_opentelemetry_has_them() {
        let read =
            headers("authorization=Bearer%20a%3Db, x-Team = one ,,broken,=x,bad name=1,n=%0a");
        let expected = [("authorization", "Bearer a=b"), ("x-Team", "one")];
        assert_eq!(
            read,
            expected.map(|(name, value)| (name.to_owned(), value.to_owned()))
        );
    }
}
