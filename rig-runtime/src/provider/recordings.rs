//! Do real answers decode to what they are?
//!
//! Every recorded answer of the dialects that we speak, whole or streamed, compared with its label; a stream also with
//! itself, cut in other places. The recordings are not part of the repository; where they are missing the tests say so
//! and pass.

use std::path::{Path, PathBuf};

use rig_spec::{ANTHROPIC, Dialect, FailureClass, GEMINI, PROVIDERS, Provider};
use serde_json::{Value, json};

use super::{Failed, Reading, Reply, Sent, Usage};
use crate::transport::Headers;

/// A host that no row describes.
const fn host(dialect: Dialect) -> Provider {
    Provider {
        name: "host",
        dialect,
        base_url: "http://127.0.0.1:8080/v1",
        base_url_env: "HOST_BASE_URL",
        ..Provider::BLANK
    }
}

static HOST: Provider = host(Dialect::OpenAiChat);
pub(super) static RESPONSES: Provider = host(Dialect::OpenAiResponses);

#[test]
fn recorded_answers_decode_to_their_labels() {
    let recordings = recordings();
    let ours = recordings.iter().filter_map(Recorded::of);
    let compared: Vec<_> = ours.map(|ours| (ours.id, compare(&ours))).collect();
    let findings = compared
        .iter()
        .filter_map(|(id, found)| Some(format!("{id}: {}", found.as_ref().err()?)));
    let findings: Vec<_> = findings.collect();
    assert!(
        findings.is_empty(),
        "{} of {}:\n{}",
        findings.len(),
        compared.len(),
        findings.join("\n")
    );
    assert!(recordings.is_empty() || compared.len() > 260);
}

// K5: the pieces in which a stream arrives mean nothing.
#[test]
fn a_stream_says_the_same_however_it_is_cut() {
    let recordings = recordings();
    let streams = recordings.iter().filter_map(Recorded::of);
    let streams: Vec<_> = streams.filter(|ours| ours.is_stream).collect();
    for stream in &streams {
        let body = stream.body;
        let whole = stream.heard([body]);
        if let Ok(reply) = &whole.0 {
            assert_eq!(reply.text, whole.1, "{}: the deltas", stream.id);
        }
        assert_eq!(whole, stream.heard([body, b""]), "{}", stream.id);
        // Every byte is followed by a cut, in pieces of each of these sizes.
        for size in [1, 2, 3, 7, 61] {
            for first in 0..size.min(body.len()) {
                let (start, rest) = body.split_at(first);
                let pieces = std::iter::once(start).chain(rest.chunks(size));
                assert_eq!(whole, stream.heard(pieces), "{} {first}/{size}", stream.id);
            }
        }
        // One cut at every place, where that does not take all day.
        for at in 0..if body.len() < 1_500 { body.len() } else { 0 } {
            let (start, rest) = body.split_at(at);
            assert_eq!(whole, stream.heard([start, rest]), "{} at {at}", stream.id);
        }
    }
    assert!(recordings.is_empty() || streams.len() > 60);
}

/// A stream that breaks off anywhere is an answer only if nothing of it but the end is missing.
// K5: without a finish reason it is `network`.
#[test]
fn a_stream_that_breaks_off_is_no_other_answer() {
    let recordings = recordings();
    for stream in recordings.iter().filter_map(Recorded::of) {
        let (Ok(whole), _) = stream.heard([stream.body]) else {
            continue;
        };
        let ends = (0..stream.body.len()).step_by(37);
        for at in ends.filter(|_| stream.is_stream) {
            match stream.heard([&stream.body[..at]]).0 {
                Ok(reply) => {
                    let same = (&reply.text, &reply.tool_calls, reply.truncated);
                    let whole = (&whole.text, &whole.tool_calls, whole.truncated);
                    assert_eq!(same, whole, "{} at {at}", stream.id);
                }
                Err(failed) => {
                    assert_eq!(failed.class, FailureClass::Network, "{} at {at}", stream.id);
                    assert!(!failed.rejected, "{} at {at}", stream.id);
                }
            }
        }
    }
}

fn recordings() -> Vec<Value> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/corpora");
    let mut files = Vec::new();
    for corpus in ["provider-recordings", "llama-server"] {
        collect(&folder.join(corpus), &mut files);
    }
    files.sort();
    if files.is_empty() {
        say("no recordings here: skipped");
    }
    let read = |file| serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
    files.iter().map(read).collect()
}

#[expect(clippy::print_stderr, reason = "a skipped test has to say so")]
fn say(line: &str) {
    eprintln!("{line}");
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, files);
        } else if path
            .extension()
            .is_some_and(|extension| extension == "json")
        {
            files.push(path);
        }
    }
}

/// A recorded answer that is ours to read.
struct Recorded<'a> {
    id: &'a str,
    recording: &'a Value,
    provider: &'static Provider,
    status: u16,
    headers: Headers,
    body: &'a [u8],
    is_stream: bool,
}

impl<'a> Recorded<'a> {
    fn of(recording: &'a Value) -> Option<Self> {
        let provider = match recording["api"].as_str()? {
            "anthropic.messages" => &ANTHROPIC,
            "gemini.generate" | "gemini.stream" => &GEMINI,
            "openai.responses" => &RESPONSES,
            "openai.chat" => {
                let mut named = PROVIDERS.into_iter().filter(|row| {
                    row.dialect == Dialect::OpenAiChat && recording["provider"] == row.name
                });
                named.next().unwrap_or(&HOST)
            }
            _ => return None,
        };
        let response = &recording["response"];
        let sse = response["sse"].as_str();
        let status = response["status"]
            .as_u64()
            .or_else(|| response["status_inferred"].as_u64())
            .or(sse.map(|_| 200))?;
        let headers = response["headers"].as_object().into_iter().flatten();
        let headers =
            headers.filter_map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned())));
        Some(Self {
            id: recording["id"].as_str().unwrap(),
            recording,
            provider,
            status: status as u16,
            headers: Headers::new(headers.collect()),
            body: sse.or(response["body"].as_str())?.as_bytes(),
            is_stream: sse.is_some(),
        })
    }

    /// Reads it in pieces: what it says in the end, and the text on the way.
    fn heard<'b>(
        &self,
        pieces: impl IntoIterator<Item = &'b [u8]>,
    ) -> (Result<Reply, Failed>, String) {
        self.told(true, pieces)
    }

    fn told<'b>(
        &self,
        has_tools: bool,
        pieces: impl IntoIterator<Item = &'b [u8]>,
    ) -> (Result<Reply, Failed>, String) {
        let sent = Sent {
            handle: self.provider.cache.takes_handle().then_some(""),
            ..Sent::default()
        };
        let mut reading = Reading::new(self.provider, self.status, self.headers.clone()).to(sent);
        let mut text = String::new();
        for piece in pieces {
            text.push_str(&reading.push(piece).text);
        }
        (reading.finish(has_tools), text)
    }
}

/// Returns whether a recording decodes to its label.
fn compare(recorded: &Recorded<'_>) -> Result<(), String> {
    let untold = recorded.told(false, [recorded.body]).0;
    let told = recorded.heard([recorded.body]).0;
    agrees(recorded.provider, recorded.recording, &untold)?;
    calls_agree(recorded.recording, &told)
}

/// L1: told of tools, a tool call is one, with its names and arguments; what is none stays none.
fn calls_agree(recording: &Value, decoded: &Result<Reply, Failed>) -> Result<(), String> {
    let label = &recording["label"];
    let labelled = label["tool_calls"].as_array().into_iter().flatten();
    let found = match decoded {
        Ok(reply) if !reply.truncated => reply.tool_calls.as_slice(),
        _ => &[],
    };
    if label["outcome"] != "tool_call" {
        let is_none = found.is_empty() || label["tool_calls"].is_array();
        return is_none.then_some(()).ok_or(format!("calls {found:?}"));
    }
    let json = |text: &str| serde_json::from_str::<Value>(text).unwrap_or_else(|_| json!({}));
    let found: Vec<_> = found
        .iter()
        .map(|call| (call.name.as_str(), json(&call.arguments)))
        .collect();
    let expected: Vec<_> = labelled
        .map(|call| {
            let written = call["args"].as_str().or(call["arguments"].as_str());
            (call["name"].as_str().unwrap(), json(written.unwrap()))
        })
        .collect();
    if found == expected && !found.is_empty() {
        Ok(())
    } else {
        Err(format!("calls {found:?}, labelled {expected:?}"))
    }
}

fn agrees(
    provider: &Provider,
    recording: &Value,
    decoded: &Result<Reply, Failed>,
) -> Result<(), String> {
    let label = &recording["label"];
    let mut accepted = vec![
        label["failure_class"]
            .as_str()
            .or(label["outcome"].as_str())
            .unwrap(),
    ];
    accepted.extend(
        label["also"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str),
    );
    let found = match decoded {
        Ok(reply) if reply.truncated => "truncated_text",
        Ok(_) => "ok",
        Err(failed) if failed.rejected => "bad_request",
        Err(failed) => failed.class.name(),
    };
    let is_accepted = accepted.iter().any(|expected| match *expected {
        // Whether a text conforms is the gate's business; a cut answer is marked and becomes one as well.
        "content_invalid" => matches!(found, "content_invalid" | "truncated_text" | "ok"),
        // On a route without tools a bare tool call holds no answer. Text beside it is the gate's.
        "tool_call" | "paused" => matches!(found, "content_invalid" | "ok"),
        // One server says `completed` of a cut answer as well, and nothing in the answer says otherwise.
        "truncated_text" if label["finish"] == "completed" => found == "ok",
        expected => expected == found,
    });
    if !is_accepted {
        return Err(format!("{found} ({decoded:?}), labelled {accepted:?}"));
    }
    match decoded {
        Ok(reply) => {
            // Of a long text the label has the length only.
            let is_same_text = match (label["text"].as_str(), label["text_chars"].as_u64()) {
                (Some(text), _) => reply.text.trim() == text.trim(),
                (None, chars) => {
                    chars.is_none_or(|chars| reply.text.chars().count() as u64 == chars)
                }
            };
            if !is_same_text {
                return Err(format!("text {:?}, labelled {}", reply.text, label["text"]));
            }
            let tier = label["served_tier"].as_str();
            if tier.is_some() && tier != reply.served_tier.as_deref() {
                return Err(format!("tier {:?}, labelled {tier:?}", reply.served_tier));
            }
            same_usage(provider, recording, reply.usage)
        }
        Err(failed) => {
            let is_presentable = !failed.message.is_empty()
                && failed.message.chars().count() <= 300
                && !failed.message.contains("<html");
            if !is_presentable {
                return Err(format!("message {:?}", failed.message));
            }
            let is_answer = label["usage"].is_object() && failed.class != FailureClass::Network;
            if is_answer {
                same_usage(provider, recording, failed.usage)
            } else {
                Ok(())
            }
        }
    }
}

/// Compares with the labelled counts, which are the provider's own and are brought to one meaning here.
fn same_usage(provider: &Provider, recording: &Value, found: Usage) -> Result<(), String> {
    let usage = &recording["label"]["usage"];
    if usage["input"] == 0 && usage["output"] == 0 {
        let is_unknown = found == Usage::default();
        return is_unknown.then_some(()).ok_or(format!("usage {found:?}"));
    }
    let count = |names: &[&str]| names.iter().find_map(|name| usage[*name].as_u64());
    let cached = count(&["cached", "cache_read_input_tokens"])
        .or_else(|| usage["prompt_tokens_details"]["cached_tokens"].as_u64())
        .or_else(|| usage["input_tokens_details"]["cached_tokens"].as_u64());
    let reported_in = count(&["input", "prompt_tokens", "input_tokens"]);
    let reported_out = count(&["output", "completion_tokens", "output_tokens"]);
    let is_anthropic = provider.name == ANTHROPIC.name;
    let beside_input = cached.unwrap_or(0) + count(&["cache_write"]).unwrap_or(0);
    let is_gemini = provider.name == GEMINI.name;
    let tools_brought = count(&["tool_prompt"]).filter(|_| is_gemini);
    let reported_in = reported_in.map(|input| input + tools_brought.unwrap_or(0));
    let tokens_in = reported_in.map(|input| {
        if is_anthropic {
            input + beside_input
        } else {
            input
        }
    });
    let tokens_out = match (recording["provider"].as_str().unwrap(), reported_out) {
        ("grok", Some(out)) if recording["api"] == "openai.chat" => {
            Some(out + count(&["reasoning"]).unwrap_or(0))
        }
        ("gemini", _) if reported_in.is_some() => {
            Some(count(&["total"]).unwrap() - reported_in.unwrap())
        }
        (_, out) => out,
    };
    let written = count(&["cache_write", "cache_creation_input_tokens"])
        .or_else(|| usage["prompt_tokens_details"]["cache_write_tokens"].as_u64());
    let cached = cached.map(|cached| cached.min(tokens_in.unwrap_or(u64::MAX)));
    // The labels of some streams have the usage of the last event only.
    let is_partial = recording["stream"] == true && reported_in.is_none();
    let is_same = (is_partial || found.tokens_in == tokens_in)
        && found.tokens_out == tokens_out
        && (is_partial
            || found.tokens_cached == cached
            || found.tokens_cached.or(cached) == Some(0))
        && (written.is_none() || found.tokens_cache_write == written);
    if is_same {
        Ok(())
    } else {
        Err(format!("usage {found:?}, labelled {usage}"))
    }
}
