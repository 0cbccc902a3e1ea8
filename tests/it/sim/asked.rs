//! What was one request?

use rig::transport::Request;

use super::world::{CUT, HANDLE, TASKS};

/// What one request was.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Asked {
    /// The host's name.
    pub(super) host: String,
    pub(super) model: String,
    /// When, in milliseconds from the run's start.
    pub(super) at: u64,
    /// Whether it states the schema in words.
    pub(super) coached: bool,
    /// Whether it holds what the caller gave.
    pub(super) has_task: bool,
    /// Whether it holds text of an answer that was cut.
    pub(super) has_cut: bool,
    /// Whether it carries its host's key.
    pub(super) has_key: bool,
    /// Whether it names the caller's place in a cache.
    pub(super) has_handle: bool,
    /// Whether it asks for a stream.
    pub(super) streams: bool,
    /// Whether it holds what another run's caller gave.
    pub(super) has_other: bool,
    /// Its length.
    pub(super) bytes: u64,
}

impl Asked {
    /// Reads a request of the run whose caller gives this.
    pub(super) fn of(request: &Request, at: u64, task: &str) -> Self {
        let body = str::from_utf8(&request.body).unwrap();
        let host = request.url.strip_prefix("http://").unwrap();
        let host = host.split(".test").next().unwrap().to_owned();
        // The model is in the body, or in the path.
        let model = body.split(r#""model":""#).nth(1);
        let model = model.or(request.url.split("/models/").nth(1));
        let model = model.map_or("search.test", |rest| rest.split(['"', ':']).next().unwrap());
        let is_key = |(_, value): &(&str, String)| value.contains(&key(&host));
        Self {
            at,
            model: model.to_owned(),
            coached: body.contains("JSON Schema"),
            has_task: body.contains(task),
            has_other: TASKS
                .iter()
                .any(|other| *other != task && body.contains(other)),
            bytes: request.body.len() as u64,
            has_cut: body.contains(CUT),
            has_key: request.headers.iter().any(is_key),
            has_handle: body.contains(HANDLE),
            streams: streams(request),
            host,
        }
    }
}

/// The key of a host.
pub(super) fn key(host: &str) -> String {
    format!("key-of-{host}")
}

/// Whether a request asks for a stream.
pub(super) fn streams(request: &Request) -> bool {
    request.url.ends_with(":streamGenerateContent?alt=sse")
        || str::from_utf8(&request.body)
            .unwrap()
            .contains(r#""stream":true"#)
}
