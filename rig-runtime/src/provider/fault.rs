//! What does an error body say?
//!
//! Any of the shapes that hosts are known to answer with, and the error of the upstream within a gateway's. What cannot
//! be read is not quoted: an edge page says nothing that its status does not.

use rig_spec::FailureClass;
use serde_json::Value;

use super::classify::{self, Classified, Verdict};
use super::{Failed, Sent, message, wait};
use crate::transport::Headers;

mod level;
mod pasted;

use level::Level;

/// An error, whatever its shape was.
#[derive(Debug, Default)]
pub(super) struct Fault {
    /// The error, those within it, and those within them: the outermost first.
    levels: Vec<Level>,
    /// What is said where the body says nothing; ours, and not the provider's.
    fallback: Option<&'static str>,
}

/// What there is to say of a stream that ends before its answer does.
pub(super) const CUT: &str = "the stream ended without a finish reason";

/// What there is to say of a stream that cannot be understood.
pub(super) const UNREADABLE: &str = "an event of the stream cannot be read";

/// The longest text of a level that has another within it, in characters: the inner reason is what matters.
const LONGEST_OUTER: usize = 100;

impl Fault {
    /// Reads a body.
    pub(super) fn read(body: &[u8]) -> Self {
        let body = body
            .strip_prefix(b"\xef\xbb\xbf")
            .unwrap_or(body)
            .trim_ascii_start();
        // Some proxies frame the error of a failed stream as an event although the status is an error's.
        let is_framed = [&b"data:"[..], b"event:", b":"]
            .iter()
            .any(|start| body.starts_with(start));
        let mut lines = body.split(|byte| *byte == b'\n');
        let event = lines.find_map(|line| line.strip_prefix(b"data:"));
        let body = event.filter(|_| is_framed).unwrap_or(body);
        match serde_json::from_slice::<Value>(body) {
            Ok(Value::Array(items)) => items.first().map_or_else(Self::default, Self::of),
            Ok(Value::String(text)) => Self::pasted(&text),
            Ok(value) => Self::of(&value),
            Err(_) => Self::pasted(&String::from_utf8_lossy(body)),
        }
    }

    /// Reads an error object, or an object that holds one under `error`.
    pub(super) fn of(value: &Value) -> Self {
        let mut fault = Self::default();
        level::read(value, &mut fault.levels);
        fault
    }

    /// Fills in a message where the body had none.
    pub(super) fn or(mut self, text: &'static str) -> Self {
        self.fallback = Some(text);
        self
    }

    /// Returns whether the body had a message, or a code that is known.
    pub(super) fn is_told(&self) -> bool {
        self.known_code().is_some() || self.levels.iter().any(|level| !level.text.is_empty())
    }

    /// Returns the class that it has under an HTTP status, whatever was sent.
    pub(super) fn class(&self, status: u16) -> FailureClass {
        self.verdict(status, &Sent::default()).class()
    }

    /// Returns the failure that it is under an HTTP status. `answer` is what the model has said before it.
    pub(super) fn failed(
        &self,
        status: u16,
        headers: &Headers,
        sent: &Sent<'_>,
        answer: &[&str],
    ) -> Failed {
        let is_good = (200..300).contains(&status);
        let verdict = self.verdict(status, sent);
        let quoted = self
            .levels
            .iter()
            .filter_map(|level| level.answer.as_deref());
        let private: Vec<_> = answer.iter().copied().chain(quoted).collect();
        let said = self.message();
        let shown = match message::presentable(&said, sent, &private) {
            // What we say ourselves quotes nobody.
            _ if [CUT, UNREADABLE].contains(&said.as_str()) => said,
            shown if !shown.is_empty() => shown,
            _ => match (self.fallback, self.known_code()) {
                (Some(text), _) => text.to_owned(),
                (None, Some(code)) => format!("HTTP {status} ({code})"),
                (None, None) => format!("HTTP {status}"),
            },
        };
        // Hosts send wait headers with good answers too; there they are information.
        let told_not_to = !is_good
            && headers
                .get("x-should-retry")
                .is_some_and(|value| value.trim() == "false");
        let asked = (!is_good).then(|| wait::from_headers(headers)).flatten();
        let mut told = self.levels.iter().rev().filter_map(|level| level.wait);
        Failed {
            retry_after: asked.or_else(|| told.next()),
            rejected: verdict == Verdict::Rejected || (verdict == classify::NETWORK && told_not_to),
            unbilled: (400..600).contains(&status),
            ..Failed::new(verdict.class(), shown)
        }
    }

    /// Reads an object that is pasted into a text. The text itself is not quoted.
    fn pasted(text: &str) -> Self {
        if text.starts_with('<') {
            return Self::default();
        }
        pasted::object_in(text).map_or_else(Self::default, |(_, object)| Self::of(&object))
    }

    /// K7: the innermost error that says what it is decides, and the HTTP status comes last.
    fn verdict(&self, status: u16, sent: &Sent<'_>) -> Verdict {
        let texts = self.levels.iter().map(|level| level.text.to_lowercase());
        let text = texts.collect::<Vec<_>>().join("\n");
        let status = self.effective(status);
        if let Some(handle) = sent.handle {
            let named = self.levels.iter().filter_map(|level| level.status);
            let statuses: Vec<_> = [status].into_iter().chain(named).collect();
            let codes = self.levels.iter().flat_map(|level| &level.codes);
            let codes = codes.map(|code| code.replace(['_', '-'], " "));
            let said = codes.fold(text.clone(), |said, code| said + "\n" + &code);
            if classify::cache::is_gone(&statuses, &said, handle) {
                return classify::CACHE_INVALID;
            }
        }
        let inner = self.levels.iter().skip(1).rev();
        let mut inner = inner.filter_map(|level| {
            classify::inner(level.status, &level.codes, &level.text.to_lowercase())
        });
        if let Some(verdict) = inner.next() {
            return verdict;
        }
        let codes = self.levels.first().map(|level| level.codes.as_slice());
        match classify::outer(status, codes.unwrap_or_default(), &text) {
            Classified::As(verdict) => verdict,
            Classified::Unknown if self.blames_request() => Verdict::Rejected,
            Classified::Unknown => classify::NETWORK,
        }
    }

    /// Returns the status that counts. A body names its own where HTTP says that all is well, and gateways know no better
    /// status for what went wrong behind them than these.
    fn effective(&self, status: u16) -> u16 {
        let named = self.levels.first().and_then(|level| level.status);
        match status {
            200..300 | 400 | 500 | 502 => named.unwrap_or(status),
            _ => status,
        }
    }

    /// Returns whether an inner error says that the request is at fault, and nothing more.
    fn blames_request(&self) -> bool {
        let mut inner = self.levels.iter().skip(1);
        inner.any(|level| {
            level
                .codes
                .iter()
                .any(|code| code == classify::BLAMES_REQUEST)
        })
    }

    /// Returns what the levels say, from the outermost to the innermost, and the code of the innermost that has one.
    fn message(&self) -> String {
        let mut message = String::new();
        let last = self.levels.len().saturating_sub(1);
        for (at, level) in self.levels.iter().enumerate() {
            let text = level.text.trim();
            if text.is_empty() || message.contains(text) {
                continue;
            }
            if !message.is_empty() {
                message.push_str(": ");
            }
            match at < last {
                true => message.push_str(&message::shortened(text, LONGEST_OUTER)),
                false => message.push_str(text),
            }
        }
        let code = self.known_code().filter(|_| last > 0);
        if let Some(code) = code.filter(|code| !message.contains(code)) {
            let gap = if message.is_empty() { "" } else { " " };
            message.push_str(&format!("{gap}({code})"));
        }
        message
    }

    /// Returns the innermost code that the table knows.
    fn known_code(&self) -> Option<&'static str> {
        let codes = self.levels.iter().rev().flat_map(|level| &level.codes);
        codes.filter_map(|code| classify::known(code)).next()
    }
}

/// Returns whether a field of a good answer holds an error.
pub(super) fn is_error(value: &Value) -> bool {
    match value {
        Value::Object(fields) => !fields.is_empty(),
        Value::String(text) => !text.is_empty(),
        Value::Array(items) => items.first().is_some_and(Value::is_object),
        _ => false,
    }
}

#[cfg(test)]
mod tests;
