//! The responses dialect: `POST {base}/responses`, OpenAI's second one, which some hosts speak as well.

use rig_spec::{CacheDirective, NativeSchema, SearchFee};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use super::fault::{self, Fault};
use super::finish::{Answer, Finish, Reason};
use super::usage::output;
use super::{Form, Prompt, Usage};
use crate::prefix::Prefix;
use crate::transport::Request;

mod stream;

pub(super) use stream::Assembly;

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    instructions: Option<&'a str>,
    input: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    top_p: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_output_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<AnyTool<'a>>,
    /// The most calls of tools that the provider runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tool_calls: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<Text<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    service_tier: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    prompt_cache_key: Option<&'a str>,
    /// The dialect keeps what it answered unless it is told not to.
    store: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning: Option<Reasoning>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stream: Option<bool>,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum AnyTool<'a> {
    WebSearch,
    Function {
        name: &'a str,
        description: &'a str,
        parameters: &'a RawValue,
        /// A strict tool takes a part of JSON Schema only, and here a tool is strict unless it says otherwise.
        strict: bool,
    },
}

#[derive(Serialize)]
struct Reasoning {
    effort: &'static str,
}

#[derive(Serialize)]
struct Text<'a> {
    format: Format<'a>,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Format<'a> {
    JsonObject,
    JsonSchema {
        name: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        strict: Option<bool>,
        schema: &'a RawValue,
    },
}

/// Returns the request of a prompt.
pub(super) fn encode(prompt: &Prompt<'_>) -> Request {
    let provider = prompt.provider;
    let sampling = &prompt.policy.sampling;
    let tier = prompt.policy.tier;
    let body = Body {
        model: prompt.model,
        instructions: Some(prompt.system).filter(|system| !system.is_empty()),
        input: prompt.user,
        temperature: sampling.temperature,
        top_p: sampling.top_p,
        max_output_tokens: sampling.max_output_tokens,
        tools: tools(prompt),
        max_tool_calls: prompt.searches.then_some(SearchFee::BOUND),
        text: format(prompt).map(|format| Text { format }),
        service_tier: tier
            .filter(|tier| provider.tiers.contains(tier))
            .map(super::chat::tier_name),
        prompt_cache_key: prompt
            .prefix
            .filter(|_| provider.cache == CacheDirective::PromptCacheKey)
            .map(Prefix::key),
        store: false,
        reasoning: prompt.effort.map(|effort| Reasoning {
            effort: effort.name(),
        }),
        stream: prompt.streams.then_some(true),
    };
    let mut headers = super::json_headers();
    if let Some(key) = prompt.key {
        headers.push(("authorization", format!("Bearer {}", key.reveal())));
    }
    Request::new(
        format!("{}/responses", prompt.base_url),
        headers,
        serde_json::to_vec(&body).expect("text and numbers can be written as JSON"),
    )
}

fn tools<'a>(prompt: &Prompt<'a>) -> Vec<AnyTool<'a>> {
    let functions = prompt.tools.iter().map(|tool| AnyTool::Function {
        name: tool.name,
        description: tool.description,
        parameters: super::verbatim(tool.parameters),
        strict: false,
    });
    let search = prompt.searches.then_some(AnyTool::WebSearch);
    search.into_iter().chain(functions).collect()
}

fn format<'a>(prompt: &Prompt<'a>) -> Option<Format<'a>> {
    match prompt.form {
        Form::Schema { name, json } => {
            let dialect = prompt.provider.native_schema;
            let is_strict = matches!(dialect, NativeSchema::OpenAiStrict | NativeSchema::Xai);
            Some(Format::JsonSchema {
                name,
                strict: is_strict.then_some(true),
                schema: super::verbatim(json),
            })
        }
        Form::Json => Some(Format::JsonObject),
        Form::Free => None,
    }
}

/// A response. Its leaves are plain values, so that an odd one costs that leaf and not the answer.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Whole {
    status: Value,
    output: Option<Vec<Value>>,
    incomplete_details: Value,
    usage: Value,
    service_tier: Value,
    error: Value,
}

/// Reads a response with a good status; `None` where there is no answer in it.
pub(super) fn read(body: &[u8]) -> Option<Answer> {
    answer(serde_json::from_slice(body).ok()?)
}

/// Returns what a response says; `None` for one that has nothing of the dialect. One without an item is empty.
fn answer(whole: Whole) -> Option<Answer> {
    let usage = usage(&whole.usage).with_searches(searches(whole.output.as_deref()));
    let is_ours = whole.output.is_some() || whole.status.is_string() || usage.is_told();
    let status = whole.status.as_str().unwrap_or("completed");
    let is_error = fault::is_error(&whole.error);
    let cause = &whole.incomplete_details["reason"];
    let finish = match (status, cause.as_str()) {
        _ if is_error => Finish::Broken,
        ("completed", _) if is_ours => Finish::Complete,
        ("incomplete", Some("max_output_tokens")) => Finish::Truncated,
        ("incomplete", Some("content_filter")) => Finish::Refused,
        ("incomplete" | "failed" | "cancelled", _) => Finish::Broken,
        ("queued" | "in_progress", _) => Finish::Unfinished,
        _ => return None,
    };
    let error = || Fault::of(&serde_json::json!({ "error": whole.error }));
    let items = whole.output.unwrap_or_default();
    let of = |kind: &'static str| items.iter().filter(move |item| item["type"] == kind);
    let parts = of("message").filter_map(|item| item["content"].as_array());
    let parts: Vec<_> = parts.flatten().collect();
    let spoken = parts.iter().filter(|part| part["type"] == "output_text");
    let notes = spoken
        .clone()
        .filter_map(|part| part["annotations"].as_array());
    let notes = notes
        .flatten()
        .filter(|note| note["type"] == "url_citation");
    let called = |call: &Value| super::called(&call["call_id"], &call["name"], &call["arguments"]);
    let refused = parts.iter().filter(|part| part["type"] == "refusal");
    let refusal = refused.clone().filter_map(|part| part["refusal"].as_str());
    // What broke has no better name than its status.
    let named = Some(&whole.status).filter(|_| finish == Finish::Broken);
    let names = named.into_iter().chain([cause]);
    let reason = Reason::of(names, refusal.collect::<String>());
    Some(Answer {
        text: spoken.filter_map(|part| part["text"].as_str()).collect(),
        tool_calls: of("function_call").map(called).collect(),
        citations: notes.filter_map(super::citation).collect(),
        finish: match refused.count() {
            0 => finish,
            _ => Finish::Refused,
        },
        reason,
        fault: is_error.then(error),
        usage,
        // Before its end a response names the tier that was asked for.
        served_tier: whole
            .service_tier
            .as_str()
            .filter(|_| !is_error && !matches!(status, "failed" | "queued" | "in_progress"))
            .map(str::to_owned),
    })
}

/// Returns the token counts. The dialect's output includes the reasoning, unless the total shows that a host leaves it out.
fn usage(usage: &Value) -> Usage {
    let count = |name: &str| usage[name].as_u64();
    let details = &usage["input_tokens_details"];
    let tokens_in = count("input_tokens");
    Usage {
        tokens_in,
        tokens_out: output(count("output_tokens"), tokens_in, count("total_tokens")),
        tokens_cached: details["cached_tokens"].as_u64(),
        tokens_cache_write: details["cache_write_tokens"].as_u64(),
        searches: None,
    }
    .checked()
}

/// Returns how many of a response's items are web searches. An item that opens a page is not one: the provider charges no fee
/// for it.
fn searches(items: Option<&[Value]>) -> u64 {
    let items = items.unwrap_or_default().iter();
    let calls = items.filter(|item| item["type"] == "web_search_call");
    let action = |call: &&Value| matches!(call["action"]["type"].as_str(), None | Some("search"));
    calls.filter(action).count() as u64
}

#[cfg(test)]
mod tests;
