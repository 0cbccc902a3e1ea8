//! The chat dialect: `POST {base}/chat/completions`, as OpenAI defined it and most hosts speak it.

use rig_spec::{
    CacheDirective, DEEPINFRA, DEEPSEEK, Effort, NativeSchema, Provider, Tier, TokenLimitKey,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use super::fault::{self, Fault};
use super::finish::{Answer, Finish, Reason};
use super::usage::output;
use super::{Form, Offer, Prompt, Usage};
use crate::prefix::Prefix;
use crate::transport::{Headers, Request};

mod stream;

pub(super) use stream::Assembly;

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    messages: &'a [Message<'a>],
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    top_p: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_completion_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<ChatTool<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_format: Option<ResponseFormat<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    service_tier: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    prompt_cache_key: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_effort: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking: Option<Thinking>,
    #[serde(skip_serializing_if = "Option::is_none")]
    web_search_options: Option<NoOptions>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stream: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stream_options: Option<StreamOptions>,
}

/// Without it most hosts do not say what a streamed answer used.
#[derive(Serialize)]
struct StreamOptions {
    include_usage: bool,
}

#[derive(Serialize)]
struct Message<'a> {
    role: &'static str,
    content: &'a str,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum ResponseFormat<'a> {
    JsonObject,
    JsonSchema { json_schema: JsonSchema<'a> },
}

#[derive(Serialize)]
struct JsonSchema<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    strict: Option<bool>,
    schema: &'a RawValue,
}

#[derive(Serialize)]
struct NoOptions {}

/// DeepSeek's own way to say whether the model thinks at all.
#[derive(Serialize)]
struct Thinking {
    r#type: &'static str,
}

#[derive(Serialize)]
struct ChatTool<'a> {
    r#type: &'static str,
    function: Function<'a>,
}

#[derive(Serialize)]
struct Function<'a> {
    name: &'a str,
    description: &'a str,
    parameters: &'a RawValue,
}

/// Returns the request of a prompt.
pub(super) fn encode(prompt: &Prompt<'_>) -> Request {
    let provider = prompt.provider;
    let sampling = &prompt.policy.sampling;
    let turns = [
        Message {
            role: "system",
            content: prompt.system,
        },
        Message {
            role: "user",
            content: prompt.user,
        },
    ];
    // Some hosts reject an empty turn.
    let messages = if prompt.system.is_empty() {
        &turns[1..]
    } else {
        &turns[..]
    };
    let (max_completion_tokens, max_tokens) = match provider.token_limit {
        TokenLimitKey::MaxCompletionTokens => (sampling.max_output_tokens, None),
        TokenLimitKey::MaxTokens => (None, sampling.max_output_tokens),
    };
    let (effort, thinking) = match prompt.effort {
        Some(Effort::None) if provider.name == DEEPSEEK.name => {
            (None, Some(Thinking { r#type: "disabled" }))
        }
        effort => (effort.map(Effort::name), None),
    };
    let body = Body {
        model: prompt.model,
        messages,
        temperature: sampling.temperature,
        top_p: sampling.top_p,
        max_completion_tokens,
        max_tokens,
        tools: prompt.tools.iter().map(chat_tool).collect(),
        response_format: response_format(prompt),
        service_tier: prompt
            .policy
            .tier
            .filter(|tier| provider.tiers.contains(tier))
            .map(tier_name),
        prompt_cache_key: prompt
            .prefix
            .filter(|_| provider.cache == CacheDirective::PromptCacheKey)
            .map(Prefix::key),
        reasoning_effort: effort,
        thinking,
        web_search_options: prompt.searches.then_some(NoOptions {}),
        stream: prompt.streams.then_some(true),
        stream_options: prompt.streams.then_some(StreamOptions {
            include_usage: true,
        }),
    };
    let mut headers = super::json_headers();
    if let Some(key) = prompt.key {
        headers.push(("authorization", format!("Bearer {}", key.reveal())));
    }
    Request::new(
        format!("{}/chat/completions", prompt.base_url),
        headers,
        serde_json::to_vec(&body).expect("text and numbers can be written as JSON"),
    )
}

fn chat_tool<'a>(tool: &Offer<'a>) -> ChatTool<'a> {
    ChatTool {
        r#type: "function",
        function: Function {
            name: tool.name,
            description: tool.description,
            parameters: super::verbatim(tool.parameters),
        },
    }
}

fn response_format<'a>(prompt: &Prompt<'a>) -> Option<ResponseFormat<'a>> {
    match prompt.form {
        Form::Schema { name, json } => {
            let dialect = prompt.provider.native_schema;
            let is_strict = matches!(dialect, NativeSchema::OpenAiStrict | NativeSchema::Xai);
            Some(ResponseFormat::JsonSchema {
                json_schema: JsonSchema {
                    name,
                    strict: is_strict.then_some(true),
                    schema: super::verbatim(json),
                },
            })
        }
        Form::Json => Some(ResponseFormat::JsonObject),
        Form::Free => None,
    }
}

pub(super) fn tier_name(tier: Tier) -> &'static str {
    match tier {
        Tier::Standard => "default",
        Tier::Flex | Tier::Priority => tier.name(),
    }
}

/// A response. Its leaves are plain values, so that an odd one costs that leaf and not the answer.
#[derive(Default, Deserialize)]
struct Completion {
    #[serde(default)]
    choices: Option<Vec<Choice>>,
    #[serde(default)]
    usage: Value,
    #[serde(default)]
    service_tier: Value,
    #[serde(default)]
    error: Value,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Choice {
    message: Option<Turn>,
    finish_reason: Value,
    native_finish_reason: Value,
    content_filter_results: Value,
    error: Value,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Turn {
    content: Value,
    refusal: Value,
    tool_calls: Value,
    annotations: Value,
}

/// Reads a response with a good status; `None` where there is no answer in it.
pub(super) fn read(provider: &Provider, headers: &Headers, body: &[u8]) -> Option<Answer> {
    answer(provider, headers, serde_json::from_slice(body).ok()?)
}

/// Returns what a completion says; `None` for one that has nothing of the dialect. One without a choice is empty.
fn answer(provider: &Provider, headers: &Headers, completion: Completion) -> Option<Answer> {
    let usage = usage(provider, &completion.usage, headers);
    let is_ours = completion.choices.is_some() || usage.is_told();
    let served_tier = completion.service_tier.as_str().map(str::to_owned);
    let choice = completion.choices.into_iter().flatten().next();
    let has_choice = choice.is_some();
    let choice = choice.unwrap_or_default();
    let mut errors = [&completion.error, &choice.error].into_iter();
    let fault = errors.find(|error| fault::is_error(error));
    let fault = fault.map(|error| Fault::of(&serde_json::json!({ "error": error })));
    if fault.is_none() && !has_choice && !is_ours {
        return None;
    }
    let turn = choice.message.unwrap_or_default();
    let (text, refused) = content(turn.content);
    let refusal = turn.refusal.as_str().filter(|refusal| !refusal.is_empty());
    let refusal = refusal.map(str::to_owned).or(refused);
    let finish = match &refusal {
        Some(_) => Finish::Refused,
        None => finish(&choice.finish_reason, &choice.native_finish_reason),
    };
    let filtered = filtered(&choice.content_filter_results);
    let mut names = vec![&choice.finish_reason];
    if choice.native_finish_reason != choice.finish_reason {
        names.push(&choice.native_finish_reason);
    }
    let mut reason = Reason::of(names, refusal.unwrap_or_default());
    reason.names.extend(filtered);
    let notes = turn.annotations.as_array().into_iter().flatten();
    let calls = turn.tool_calls.as_array().into_iter().flatten();
    let called = |call: &Value| {
        let function = &call["function"];
        super::called(&call["id"], &function["name"], &function["arguments"])
    };
    Some(Answer {
        text,
        tool_calls: calls.map(called).collect(),
        citations: notes
            .filter_map(|note| super::citation(&note["url_citation"]))
            .collect(),
        finish,
        reason,
        fault,
        usage,
        served_tier,
    })
}

/// Returns the categories for which Azure's filter cut an answer.
fn filtered(results: &Value) -> Vec<String> {
    let results = results.as_object().into_iter().flatten();
    let hit = results.filter(|(_, result)| result["filtered"] == true);
    hit.map(|(category, _)| category.clone()).collect()
}

/// A router's own reason may hide the model's: a tool call that was cut still ends with `tool_calls`.
fn finish(reason: &Value, native: &Value) -> Finish {
    match Finish::of(reason) {
        Finish::Complete => Finish::of(native),
        finish => finish,
    }
}

/// Returns the text of a turn, and that of its refusal, if one of its parts is one.
fn content(content: Value) -> (String, Option<String>) {
    match content {
        Value::String(text) => (text, None),
        Value::Array(parts) => {
            let of = |kind: &'static str| parts.iter().filter(move |part| part["type"] == kind);
            let text = of("text").filter_map(|part| part["text"].as_str());
            let refused = of("refusal").map(|part| part["refusal"].as_str().unwrap_or_default());
            let refusal = refused.collect::<String>();
            let is_refused = of("refusal").next().is_some();
            (text.collect(), is_refused.then_some(refusal))
        }
        _ => (String::new(), None),
    }
}

/// Returns the token counts. Hosts differ in whether output includes the reasoning; mostly the total tells.
fn usage(provider: &Provider, usage: &Value, headers: &Headers) -> Usage {
    let details = &usage["prompt_tokens_details"];
    let reasoning = usage["completion_tokens_details"]["reasoning_tokens"]
        .as_u64()
        .unwrap_or(0);
    let tokens_in = usage["prompt_tokens"].as_u64();
    let total = usage["total_tokens"].as_u64();
    let written = usage["completion_tokens"].as_u64();
    let stated = written.map(|written| written.saturating_add(tokens_in.unwrap_or(0)));
    // DeepInfra leaves the reasoning out of the total as well. Reasoning beyond the output cannot be a part of it.
    let left_out = provider.name == DEEPINFRA.name
        && written.is_some_and(|written| reasoning > written)
        && (total.is_none() || total == stated);
    let tokens_out = match written {
        Some(written) if left_out => Some(written.saturating_add(reasoning)),
        written => output(written, tokens_in, total),
    };
    let header = || {
        headers
            .get("fireworks-cached-prompt-tokens")?
            .trim()
            .parse()
            .ok()
    };
    Usage {
        tokens_in,
        tokens_out,
        tokens_cached: details["cached_tokens"]
            .as_u64()
            .or_else(|| usage["prompt_cache_hit_tokens"].as_u64())
            .or_else(header),
        tokens_cache_write: details["cache_write_tokens"].as_u64(),
        searches: None,
    }
    .checked()
}
