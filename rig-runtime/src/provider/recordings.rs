//! Do real answers decode to what they are?
//!
//! Every recorded answer of the two dialects that was not streamed, compared with its label. The recordings are
//! not part of the repository; where they are missing the test says so and passes.

use std::path::{Path, PathBuf};

use rig_spec::{
    ANTHROPIC, CacheDirective, Capabilities, Dialect, FailureClass, NativeSchema, PROVIDERS,
    Provider, Schema, TokenLimitKey, Tool,
};
use serde_json::{Value, json};

use super::{Failed, Reply, Usage, decode};
use crate::transport::Headers;

/// A host that no row describes.
static HOST: Provider = Provider {
    name: "host",
    dialect: Dialect::OpenAiChat,
    base_url: "http://127.0.0.1:8080/v1",
    base_url_env: "HOST_BASE_URL",
    key_env: None,
    capabilities: Capabilities::of(&[]),
    native_schema: NativeSchema::Any,
    token_limit: TokenLimitKey::MaxTokens,
    cached_prefix: None,
    cache: CacheDirective::None,
    tiers: &[],
};

#[test]
fn recorded_answers_decode_to_their_labels() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/corpora");
    let mut files = Vec::new();
    for corpus in ["provider-recordings", "llama-server"] {
        collect(&folder.join(corpus), &mut files);
    }
    files.sort();
    if files.is_empty() {
        say("no recordings here: skipped");
        return;
    }
    let mut compared = 0;
    let mut findings = Vec::new();
    for file in &files {
        let recording: Value = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
        let Some(finding) = compare(&recording) else {
            continue;
        };
        compared += 1;
        if let Err(finding) = finding {
            findings.push(format!("{}: {finding}", recording["id"]));
        }
    }
    assert!(
        findings.is_empty(),
        "{} of {compared}:\n{}",
        findings.len(),
        findings.join("\n")
    );
    assert!(compared > 200);
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

/// Returns whether a recording decodes to its label; `None` for one that is not ours to read.
fn compare(recording: &Value) -> Option<Result<(), String>> {
    let provider = match recording["api"].as_str()? {
        "anthropic.messages" => &ANTHROPIC,
        "openai.chat" => {
            let named = PROVIDERS
                .into_iter()
                .find(|row| recording["provider"] == row.name);
            named.unwrap_or(&HOST)
        }
        _ => return None,
    };
    let response = &recording["response"];
    let body = response["body"]
        .as_str()
        .filter(|_| recording["stream"] != true)?;
    let status = response["status"]
        .as_u64()
        .or_else(|| response["status_inferred"].as_u64())?;
    let headers = response["headers"].as_object().into_iter().flatten();
    let headers =
        headers.filter_map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned())));
    let headers = Headers::new(headers.collect());
    let (status, body) = (status as u16, body.as_bytes());
    let untold = decode(provider, &[], status, &headers, body);
    let told = decode(provider, &[ANY], status, &headers, body);
    let agreed = agrees(provider, recording, &untold);
    Some(agreed.and_then(|()| calls_agree(recording, &told)))
}

/// The tool of a route that declares some; which ones is the gate's business.
const ANY: Tool = Tool {
    name: "any",
    description: "",
    parameters: Schema {
        name: "any",
        json: "{}",
        skeleton: "",
        gate: "",
        hash: 0,
    },
};

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
    let count = |names: &[&str]| names.iter().find_map(|name| usage[*name].as_u64());
    let cached = count(&["cached", "cache_read_input_tokens"])
        .or_else(|| usage["prompt_tokens_details"]["cached_tokens"].as_u64());
    let reported_in = count(&["input", "prompt_tokens", "input_tokens"]);
    let reported_out = count(&["output", "completion_tokens", "output_tokens"]);
    let is_anthropic = provider.name == ANTHROPIC.name;
    let beside_input = cached.unwrap_or(0) + count(&["cache_write"]).unwrap_or(0);
    let tokens_in = reported_in.map(|input| {
        if is_anthropic {
            input + beside_input
        } else {
            input
        }
    });
    let tokens_out = match (recording["provider"].as_str().unwrap(), reported_out) {
        ("grok", Some(out)) => Some(out + count(&["reasoning"]).unwrap_or(0)),
        ("gemini", Some(_)) => Some(count(&["total"]).unwrap() - reported_in.unwrap()),
        (_, out) => out,
    };
    let written = count(&["cache_write", "cache_creation_input_tokens"])
        .or_else(|| usage["prompt_tokens_details"]["cache_write_tokens"].as_u64());
    let cached = cached.map(|cached| cached.min(tokens_in.unwrap_or(u64::MAX)));
    let is_same = found.tokens_in == tokens_in
        && found.tokens_out == tokens_out
        && (found.tokens_cached == cached || found.tokens_cached.or(cached) == Some(0))
        && (written.is_none() || found.tokens_cache_write == written);
    if is_same {
        Ok(())
    } else {
        Err(format!("usage {found:?}, labelled {usage}"))
    }
}
