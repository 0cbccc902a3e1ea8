//! What do recorded responses say, as the adapters read them?
//!
//! A recording is one JSON file: who answered in which `api`, under what status and headers, with what body. What a
//! response says is the adapters' business; here it is only put before them and written down.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use rig::__private::{Decoded, Dialect, FailureClass, PROVIDERS, Provider, read_response};
use rig::transport::Headers;
use serde::Serialize;
use serde_json::Value;

/// A recorded response.
pub struct Recording {
    /// `<provider>/<file name>`.
    pub id: String,
    /// Whether it is quoted from where nobody licensed it.
    pub is_quoted: bool,
    /// Whether its body is a stream of events.
    pub is_stream: bool,
    provider: Option<&'static Provider>,
    status: u16,
    headers: Headers,
    body: String,
}

/// A recording as one line tells it.
#[derive(Debug, Serialize)]
pub struct Line {
    id: String,
    outcome: &'static str,
    class: Option<&'static str>,
    falls_through: bool,
    text: Option<String>,
    tool_calls: Vec<Call>,
    tokens_in: Option<u64>,
    tokens_out: Option<u64>,
    tokens_cached: Option<u64>,
    served_tier: Option<String>,
    citations: Vec<Page>,
    message: Option<String>,
}

#[derive(Debug, Serialize)]
struct Call {
    name: String,
    arguments: Value,
}

#[derive(Debug, Serialize)]
struct Page {
    title: String,
    url: String,
}

/// Returns a host of a dialect that no row describes.
const fn host(dialect: Dialect) -> Provider {
    Provider {
        name: "host",
        dialect,
        base_url: "http://127.0.0.1:8080/v1",
        base_url_env: "HOST_BASE_URL",
        ..Provider::BLANK
    }
}

static CHAT: Provider = host(Dialect::OpenAiChat);
static RESPONSES: Provider = host(Dialect::OpenAiResponses);
static MESSAGES: Provider = host(Dialect::AnthropicMessages);
static GENERATE: Provider = host(Dialect::Gemini);

/// Returns who speaks an `api`: the provider of that name, else any host; `None` where no adapter does.
fn speaker(api: &str, name: &str) -> Option<&'static Provider> {
    let host = match api {
        "openai.chat" => &CHAT,
        "openai.responses" => &RESPONSES,
        "anthropic.messages" => &MESSAGES,
        "gemini.generate" | "gemini.stream" => &GENERATE,
        _ => return None,
    };
    let mut rows = PROVIDERS.into_iter();
    let row = rows.find(|row| row.name == name && row.dialect == host.dialect);
    Some(row.unwrap_or(host))
}

/// Returns the paths of the recordings below a folder, sorted.
///
/// # Errors
///
/// Those of reading the folder.
pub fn files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else if path
                .extension()
                .is_some_and(|extension| extension == "json")
            {
                files.push(path);
            }
        }
    }
    files.sort();
    Ok(files)
}

impl Recording {
    /// Reads a recording; `None` where the file is none.
    #[must_use]
    pub fn of(json: &[u8]) -> Option<Self> {
        let recording: Value = serde_json::from_slice(json).ok()?;
        let response = &recording["response"];
        let events = response["sse"].as_str();
        // A body that was recorded without its status speaks for itself.
        let status = [&response["status"], &response["status_inferred"]];
        let status = status.into_iter().find_map(Value::as_u64).unwrap_or(200);
        let headers = response["headers"].as_object().into_iter().flatten();
        let headers =
            headers.filter_map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned())));
        let name = recording["provider"].as_str().unwrap_or_default();
        Some(Self {
            id: recording["id"].as_str()?.to_owned(),
            is_quoted: recording["fidelity"] == "quoted",
            is_stream: events.is_some(),
            provider: speaker(recording["api"].as_str()?, name),
            status: u16::try_from(status).ok()?,
            headers: Headers::new(headers.collect()),
            body: events
                .or(response["body"].as_str())
                .unwrap_or_default()
                .to_owned(),
        })
    }

    /// Returns what it says when its body arrives in pieces of this many bytes; `None` where no adapter speaks its
    /// `api`.
    #[must_use]
    pub fn decode(&self, size: usize) -> Option<Decoded> {
        let provider = self.provider?;
        let pieces = self.body.as_bytes().chunks(size.max(1));
        Some(read_response(
            provider,
            self.status,
            self.headers.clone(),
            pieces,
        ))
    }

    /// Returns the line that tells what it says.
    #[must_use]
    pub fn line(&self) -> Line {
        let id = self.id.clone();
        let Some(decoded) = self.decode(usize::MAX) else {
            return Line::unsupported(id);
        };
        let calls = decoded.tool_calls.into_iter();
        let pages = decoded.citations.into_iter();
        Line {
            outcome: decoded.outcome.name(),
            class: decoded.class.map(FailureClass::name),
            falls_through: decoded.falls_through,
            text: Some(decoded.text).filter(|text| !text.is_empty()),
            tool_calls: calls
                .map(|(name, arguments)| Call { name, arguments })
                .collect(),
            tokens_in: decoded.tokens_in,
            tokens_out: decoded.tokens_out,
            tokens_cached: decoded.tokens_cached,
            served_tier: decoded.served_tier,
            citations: pages
                .map(|page| Page {
                    title: page.title,
                    url: page.url,
                })
                .collect(),
            message: decoded.message,
            ..Line::unsupported(id)
        }
    }
}

impl Line {
    /// An error of an `api` that no adapter speaks is unsupported as well: no call could have had it.
    fn unsupported(id: String) -> Self {
        Self {
            id,
            outcome: "unsupported",
            class: None,
            falls_through: false,
            text: None,
            tool_calls: Vec::new(),
            tokens_in: None,
            tokens_out: None,
            tokens_cached: None,
            served_tier: None,
            citations: Vec::new(),
            message: None,
        }
    }
}
