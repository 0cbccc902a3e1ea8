//! How is the web searched for candidates that cannot?
//!
//! One small API over HTTP, which `search` in `rig.yaml` names: `POST` with `{"query": …}` and the key as a bearer
//! token, answered by `{"results": [{"title", "url", "content"}]}`. A rig can be given another way.

use std::fmt;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::key::Key;
use crate::provider;
use crate::transport::{self, BoxFuture, Departure, Request, Transport};

/// Searches the web. Never retries.
pub trait Search: Send + Sync {
    /// Returns what was found for a query, best first.
    fn search(&self, query: String) -> BoxFuture<'_, Result<Vec<Finding>, SearchError>>;
}

/// One thing that was found. Its text is the web's, and is never taken for an instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The page's title.
    pub title: String,
    /// The page's address.
    pub url: String,
    /// What it says.
    pub content: String,
}

/// Why nothing was found. The text never holds a key or the query.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SearchError {
    /// What happened, e.g. `connection refused`.
    pub message: String,
    /// Whether the same search can never succeed, so that no retry budget is spent on it.
    pub rejected: bool,
    /// Whether the search cannot have been billed, so that its envelope is charged nothing (E2).
    pub unbilled: bool,
}

impl SearchError {
    /// Returns the error of a search that may succeed another time and may have been billed.
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            rejected: false,
            unbilled: false,
        }
    }
}

impl fmt::Display for SearchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for SearchError {}

/// The search provider of `rig.yaml`, over HTTP.
pub(crate) struct HttpSearch<'a> {
    pub(crate) transport: &'a dyn Transport,
    pub(crate) url: &'static str,
    pub(crate) key: Option<&'a Key>,
    /// Where the transport says whether the search was sent.
    pub(crate) departure: Departure,
}

impl Search for HttpSearch<'_> {
    fn search(&self, query: String) -> BoxFuture<'_, Result<Vec<Finding>, SearchError>> {
        Box::pin(async move {
            let failed = |error: transport::TransportError| SearchError {
                unbilled: !error.was_sent,
                ..SearchError::new(provider::transport_failed(&error, self.key).message)
            };
            let sent = self.transport.send(self.request(&query)).await;
            let response = sent.map_err(failed)?;
            let mut body = Vec::new();
            // Of a failure nothing but the status is told, so that its body need not come.
            if (200..300).contains(&response.status) {
                transport::read(response.body, &mut body)
                    .await
                    .map_err(failed)?;
            }
            decode(response.status, &body)
        })
    }
}

impl HttpSearch<'_> {
    fn request(&self, query: &str) -> Request {
        let mut headers = provider::json_headers();
        if let Some(key) = self.key {
            headers.push(("authorization", format!("Bearer {}", key.reveal())));
        }
        let body = json!({ "query": query }).to_string().into_bytes();
        Request {
            departure: self.departure.clone(),
            ..Request::new(self.url.to_owned(), headers, body)
        }
    }
}

#[derive(Deserialize)]
struct Results {
    results: Vec<Value>,
}

/// Reads an answer. What a fault says is not repeated, since it may quote the query.
fn decode(status: u16, body: &[u8]) -> Result<Vec<Finding>, SearchError> {
    if !(200..300).contains(&status) {
        return Err(SearchError {
            rejected: (400..500).contains(&status) && ![408, 429].contains(&status),
            unbilled: (400..600).contains(&status),
            ..SearchError::new(format!("the search provider answered with status {status}"))
        });
    }
    let results: Results = serde_json::from_slice(body)
        .map_err(|_| SearchError::new("the search provider's answer holds no `results`"))?;
    let text = |result: &Value, name: &str| result[name].as_str().unwrap_or_default().to_owned();
    let finding = |result: &Value| {
        let content = match result["content"].as_str() {
            Some(content) => content.to_owned(),
            None => text(result, "snippet"),
        };
        Finding {
            title: text(result, "title"),
            url: text(result, "url"),
            content,
        }
    };
    Ok(results.results.iter().map(finding).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_read_leniently_and_a_fault_not_repeated() {
        let body = br#"{"results":[{"title":"A","url":"http://a","content":"a"},{"url":7,"snippet":"s"},3]}"#;
        let found = decode(200, body).unwrap();
        assert_eq!(
            (found[0].title.as_str(), found[0].content.as_str()),
            ("A", "a")
        );
        assert_eq!(
            (found[1].url.as_str(), found[1].content.as_str()),
            ("", "s")
        );
        assert_eq!(found.len(), 3);
        assert_eq!(decode(200, br#"{"results":[]}"#), Ok(Vec::new()));
        for (status, rejected) in [
            (200, false),
            (401, true),
            (408, false),
            (429, false),
            (500, false),
        ] {
            let error = decode(status, b"walrus").unwrap_err();
            assert_eq!(error.rejected, rejected);
            assert!(!error.message.contains("walrus"));
        }
    }
}
