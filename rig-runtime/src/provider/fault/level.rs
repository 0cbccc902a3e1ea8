//! What does one error object say, and which others are in it?
//!
//! A gateway's error holds that of its upstream, which may be a gateway as well: each is a level. The places where one
//! stands in another are those of public reports (`error`, `message`, `metadata.raw` and the like), as an object or as
//! text.

use std::time::Duration;

use serde_json::Value;

use super::pasted;
use crate::provider::classify::{LONG_QUOTA, quota};
use crate::provider::wait;

/// An error object, without those within it.
#[derive(Debug, Default)]
pub(super) struct Level {
    /// The status that it names.
    pub(super) status: Option<u16>,
    /// Every code, type and status name, in lower case.
    pub(super) codes: Vec<String>,
    /// Its message, as it came, without an error that is pasted into it.
    pub(super) text: String,
    /// The wait that it asks for.
    pub(super) wait: Option<Duration>,
    /// What it quotes of the model's answer.
    pub(super) answer: Option<String>,
}

/// How many levels are read.
const MOST: usize = 8;

/// Fields that hold a code, a type or a status, as a name or as a number.
const CODE_FIELDS: [&str; 6] = [
    "code",
    "type",
    "status",
    "status_code",
    "statusCode",
    "raw_status_code",
];

/// Fields in which another error may stand; the innermost comes last.
const WITHIN: [&str; 14] = [
    "errors",
    "error",
    "message",
    "detail",
    "details",
    "msg",
    "error_msg",
    "provider_specific_fields",
    "cause",
    "upstream_error",
    "provider_error",
    "body",
    "raw",
    "metadata",
];

/// Adds the levels of an error object, or of an object that holds one under `error`: the outermost first.
pub(super) fn read(value: &Value, levels: &mut Vec<Level>) {
    if levels.len() >= MOST || !value.is_object() {
        return;
    }
    let error = first(&value["error"]);
    let (body, holder) = match error.is_object() {
        true => (error, value),
        false => (value, &Value::Null),
    };
    let own = own_text(body).or_else(|| own_text(holder));
    let own = own.unwrap_or_default();
    let pasted = pasted::object_in(own);
    let mut level = Level {
        text: pasted.as_ref().map_or(own, |(before, _)| before).to_owned(),
        answer: text_of(&body["failed_generation"]).map(str::to_owned),
        ..Level::default()
    };
    for part in [body, holder, &body["innererror"], &body["inner_error"]] {
        level.take_codes(part);
    }
    level.take_details(body);
    level.take_text();
    // `Error code: 429 - {…}`: the status of what follows.
    let said = pasted.and_then(|_| status_in(&level.text));
    levels.push(level);
    for field in WITHIN {
        if field != "error" {
            read_within(field, &holder[field], said, levels);
        }
        read_within(field, &body[field], said, levels);
    }
}

/// Adds the levels of what stands in a field of an error.
fn read_within(name: &str, field: &Value, said: Option<u16>, levels: &mut Vec<Level>) {
    let at = levels.len();
    match (name, field) {
        (_, Value::String(text)) => match pasted::object_in(text) {
            Some((_, object)) => read(&object, levels),
            None if name == "raw" => levels.push(Level::of_text(text)),
            None => {}
        },
        // The findings of a web framework, which quote the request.
        ("detail", Value::Array(_)) => {}
        (_, Value::Array(items)) => {
            if let Some(item) = items.first().filter(|item| pasted::is_told(item)) {
                read(item, levels);
            }
        }
        ("metadata", Value::Object(_)) => read_within("raw", &field["raw"], said, levels),
        (_, Value::Object(_)) if pasted::is_told(field) || field["inner_error"].is_object() => {
            read(field, levels);
        }
        _ => {}
    }
    if let (Some(level), Some(status)) = (levels.get_mut(at), said) {
        level.status.get_or_insert(status);
    }
}

impl Level {
    fn of_text(text: &str) -> Self {
        let mut level = Self {
            text: text.to_owned(),
            ..Self::default()
        };
        level.take_text();
        level
    }

    fn take_codes(&mut self, part: &Value) {
        for field in CODE_FIELDS {
            let number = match &part[field] {
                Value::String(name) => {
                    self.codes.push(name.to_ascii_lowercase());
                    name.parse().ok()
                }
                Value::Number(number) => number.as_u64(),
                _ => None,
            };
            let status = number.and_then(|number| u16::try_from(number).ok());
            self.status = self.status.or(status.filter(is_failure));
        }
    }

    /// Takes what Google and OpenRouter say beside the message.
    fn take_details(&mut self, error: &Value) {
        let metadata = &error["metadata"];
        if metadata["reasons"].is_array() {
            self.codes.push("moderation".to_owned());
        }
        let mut quotas: Vec<&Value> = vec![&metadata["limit_source"]];
        for detail in error["details"].as_array().into_iter().flatten() {
            let reason = detail["reason"].as_str();
            self.codes.extend(reason.map(str::to_ascii_lowercase));
            let delay = detail["retryDelay"].as_str();
            self.wait = self.wait.or(delay.and_then(wait::from_duration));
            quotas.push(&detail["metadata"]["quota_limit"]);
            let violations = detail["violations"].as_array().into_iter().flatten();
            quotas.extend(violations.map(|violation| &violation["quotaId"]));
        }
        let mut quotas = quotas.into_iter().filter_map(Value::as_str);
        if quotas.any(quota::is_long_name) {
            self.codes.push(LONG_QUOTA.to_owned());
        }
    }

    /// Takes what only the text says.
    fn take_text(&mut self) {
        if quota::asks_beyond_limit(&self.text) {
            self.codes.push("requested_over_limit".to_owned());
        }
        if quota::is_long(&self.text) {
            self.codes.push(LONG_QUOTA.to_owned());
        }
        self.wait = self.wait.or_else(|| wait::from_text(&self.text));
    }
}

/// Returns the text of an error: its message, or what stands in the place of one.
fn own_text(error: &Value) -> Option<&str> {
    let detail = &error["detail"];
    let texts = [
        &error["message"],
        &error["error"],
        &error["msg"],
        &error["error_msg"],
        detail,
        // A finding's `input` quotes the request and is left alone.
        &detail[0]["msg"],
        &detail[0],
        &detail["message"],
    ];
    texts.into_iter().find_map(text_of)
}

fn text_of(value: &Value) -> Option<&str> {
    value
        .as_str()
        .map(str::trim)
        .filter(|text| !text.is_empty())
}

/// Returns the first item of a list, and what is none as it is.
fn first(value: &Value) -> &Value {
    value.get(0).unwrap_or(value)
}

fn is_failure(status: &u16) -> bool {
    (400..600).contains(status)
}

/// Returns the status that a text tells: `Error code: 429`, `got status: 503`, or one that it starts with.
fn status_in(text: &str) -> Option<u16> {
    let lower = text.to_ascii_lowercase();
    let mut words = lower.split(|c: char| !c.is_ascii_alphanumeric());
    let mut before = "status";
    words.find_map(|word| {
        let says = ["code", "status", "http", "error"].contains(&before);
        if !word.is_empty() {
            before = word;
        }
        let status: u16 = word.parse().ok().filter(|_| says)?;
        is_failure(&status).then_some(status)
    })
}
