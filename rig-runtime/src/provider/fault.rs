//! What does an error body say?
//!
//! Any of the shapes that hosts are known to answer with. What cannot be read is not quoted: an edge page says
//! nothing that its status does not.

use std::time::Duration;

use serde_json::Value;

use super::classify::{NETWORK, Verdict, classify};
use super::{Failed, message, wait};
use crate::transport::Headers;

/// An error object, whatever its shape was.
#[derive(Debug, Default)]
pub(super) struct Fault {
    /// The status that the body names; hosts put one there when HTTP said 200.
    pub(super) status: Option<u16>,
    /// Every code, type and status name, in lower case.
    pub(super) codes: Vec<String>,
    /// The wait that the body asks for.
    pub(super) wait: Option<Duration>,
    /// The message as it came. It is for matching; only [`message::presentable`] text may leave.
    pub(super) message: Option<String>,
}

/// Fields that hold a code, a type or a status, as a name or as a number.
const CODE_FIELDS: [&str; 5] = ["code", "type", "status", "status_code", "raw_status_code"];

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
            Ok(value) => Self::of(&value),
            Err(_) => Self::default(),
        }
    }

    /// Reads an error object, or an object that holds one under `error`.
    pub(super) fn of(value: &Value) -> Self {
        let mut fault = Self::default();
        let error = &value["error"];
        for level in [error, value, &error["innererror"], &error["inner_error"]] {
            fault.take_codes(level);
        }
        for detail in error["details"].as_array().into_iter().flatten() {
            let reason = detail["reason"].as_str();
            fault.codes.extend(reason.map(str::to_ascii_lowercase));
            let delay = detail["retryDelay"].as_str();
            fault.wait = fault.wait.or(delay.and_then(wait::from_duration));
        }
        if error["metadata"]["reasons"].is_array() {
            fault.codes.push("moderation".to_owned());
        }
        fault.message = [
            text_of(&error["message"]),
            text_of(&value["message"]),
            text_of(error),
            text_of(&error["detail"]),
            detail(&value["detail"]),
        ]
        .into_iter()
        .flatten()
        .next()
        .map(|text| match text_of(&error["metadata"]["raw"]) {
            Some(upstream) => format!("{text}: {upstream}"),
            None => text.to_owned(),
        });
        if fault.message.as_deref().is_some_and(asks_beyond_limit) {
            fault.codes.push("requested_over_limit".to_owned());
        }
        fault
    }

    /// Fills in a message where the body had none.
    pub(super) fn or(mut self, text: &str) -> Self {
        self.message.get_or_insert_with(|| text.to_owned());
        self
    }

    /// Returns the failure that it is under an HTTP status.
    pub(super) fn failed(&self, status: u16, headers: &Headers) -> Failed {
        let is_good = (200..300).contains(&status);
        let effective = if is_good {
            self.status.unwrap_or(status)
        } else {
            status
        };
        let text = self.message.as_deref().unwrap_or_default();
        let verdict = classify(effective, &self.codes, text);
        let shown = match message::presentable(text) {
            shown if shown.is_empty() => format!("HTTP {status}"),
            shown => shown,
        };
        // Hosts send wait headers with good answers too; there they are information.
        let told_not_to = !is_good
            && headers
                .get("x-should-retry")
                .is_some_and(|value| value.trim() == "false");
        let asked = (!is_good).then(|| wait::from_headers(headers)).flatten();
        Failed {
            retry_after: asked.or(self.wait).or_else(|| wait::from_text(text)),
            rejected: verdict == Verdict::Rejected || (verdict == NETWORK && told_not_to),
            unbilled: (400..600).contains(&status),
            ..Failed::new(verdict.class(), shown)
        }
    }

    fn take_codes(&mut self, level: &Value) {
        for field in CODE_FIELDS {
            let number = match &level[field] {
                Value::String(name) => {
                    self.codes.push(name.to_ascii_lowercase());
                    name.parse().ok()
                }
                Value::Number(number) => number.as_u64(),
                _ => None,
            };
            let status = number.and_then(|number| u16::try_from(number).ok());
            self.status = self
                .status
                .or(status.filter(|status| (400..600).contains(status)));
        }
    }
}

/// Returns whether a field of a good answer holds an error.
pub(super) fn is_error(value: &Value) -> bool {
    match value {
        Value::Object(fields) => !fields.is_empty(),
        Value::String(text) => !text.is_empty(),
        _ => false,
    }
}

fn text_of(value: &Value) -> Option<&str> {
    value
        .as_str()
        .map(str::trim)
        .filter(|text| !text.is_empty())
}

/// Returns the text of `detail`: a string, or the `msg` of the first finding in a list. The finding's `input`
/// quotes the request and is left alone.
fn detail(value: &Value) -> Option<&str> {
    text_of(value)
        .or_else(|| text_of(&value[0]["msg"]))
        .or_else(|| text_of(&value[0]))
        .or_else(|| text_of(&value["message"]))
}

/// Returns whether a rate limit's message says that one request asks for more than the whole limit allows
/// (`Limit 6000, … Requested 12328`), so that no wait helps.
fn asks_beyond_limit(text: &str) -> bool {
    let number_after = |word: &str| -> Option<u64> {
        let (_, rest) = text.split_once(word)?;
        let digits = rest.trim_start_matches([' ', ':', '~']);
        let end = digits
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(digits.len());
        digits[..end].parse().ok()
    };
    match (number_after("Limit "), number_after("Requested ")) {
        (Some(limit), Some(requested)) => requested > limit,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(body: &str) -> Option<String> {
        Fault::read(body.as_bytes()).message
    }

    #[test]
    fn every_known_shape_yields_its_message() {
        let cases = [
            (
                r#"{"error":{"message":"m","type":"t","code":null}}"#,
                Some("m"),
            ),
            (r#"[{"error":{"message":"m","code":429}}]"#, Some("m")),
            (r#"{"code":"invalid-argument","error":"m"}"#, Some("m")),
            (r#"{"error":"Too Many Requests","message":"m"}"#, Some("m")),
            (
                r#"{"object":"error","message":"m","code":"1300"}"#,
                Some("m"),
            ),
            (r#"{"detail":"m"}"#, Some("m")),
            (
                r#"{"detail":[{"loc":["body","x"],"msg":"m","input":"secret"}]}"#,
                Some("m"),
            ),
            ("data: {\"error\":{\"message\":\"m\"}}\n\n", Some("m")),
            (
                "event: error\r\ndata: {\"error\":{\"message\":\"m\"}}\r\n\r\n",
                Some("m"),
            ),
            ("\u{feff} {\"error\":\"m\"}", Some("m")),
            (
                r#"{"error":{"message":"up","metadata":{"raw":"m"}}}"#,
                Some("up: m"),
            ),
            (r#"{"error":{"code":"401"}}"#, None),
            ("<html>bad gateway</html>", None),
            ("upstream connect error", None),
            ("", None),
        ];
        for (body, expected) in cases {
            assert_eq!(message(body).as_deref(), expected, "{body}");
        }
    }

    #[test]
    fn a_status_in_the_body_is_read_from_number_and_text() {
        for body in [
            r#"{"error":{"code":429}}"#,
            r#"{"error":{"code":"429"}}"#,
            r#"{"raw_status_code":429}"#,
        ] {
            assert_eq!(Fault::read(body.as_bytes()).status, Some(429), "{body}");
        }
        assert_eq!(Fault::read(br#"{"code":"1500"}"#).status, None);
    }

    #[test]
    fn a_request_above_the_whole_limit_is_told_from_a_used_up_one() {
        assert!(asks_beyond_limit("TPM: Limit 6000, Requested 12328"));
        assert!(asks_beyond_limit("Limit 7000, Used 0, Requested ~12903."));
        assert!(!asks_beyond_limit(
            "Limit 200000, Used 162960, Requested 42288."
        ));
        assert!(!asks_beyond_limit("slow down"));
    }

    #[test]
    fn a_body_without_a_message_is_named_by_its_status() {
        let failed = Fault::read(b"<html>").failed(502, &Headers::default());
        assert_eq!(failed.message, "HTTP 502");
    }

    #[test]
    fn wait_headers_count_on_failures_only() {
        let headers = Headers::new(vec![("Retry-After".into(), "7".into())]);
        let fault = Fault::read(br#"{"error":{"message":"busy","code":503}}"#);
        assert_eq!(
            fault
                .failed(503, &headers)
                .retry_after
                .map(|wait| wait.as_secs()),
            Some(7)
        );
        assert_eq!(fault.failed(200, &headers).retry_after, None);
    }

    #[test]
    fn a_host_that_says_not_to_retry_is_believed() {
        let headers = Headers::new(vec![("x-should-retry".into(), "false".into())]);
        assert!(Fault::default().failed(500, &headers).rejected);
        assert!(!Fault::default().failed(500, &Headers::default()).rejected);
    }
}
