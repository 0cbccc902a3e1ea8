//! The messages dialect: `POST {base}/messages`, as Anthropic defined it.

use rig_spec::{CacheDirective, Effort, SearchFee, Tier};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use super::fault::{self, Fault};
use super::finish::{Answer, Finish, Reason};
use super::{Form, Prompt, Usage};
use crate::transport::Request;

mod stream;

pub(super) use stream::Assembly;

/// The version of the dialect that is spoken here.
const VERSION: &str = "2023-06-01";

/// The token limit of a route that sets none: the dialect demands one, and every model takes this.
const DEFAULT_MAX_TOKENS: u32 = 4_096;

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    max_tokens: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    system: Option<System<'a>>,
    messages: [Message<'a>; 1],
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<AnyTool<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    top_p: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output_config: Option<OutputConfig<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    service_tier: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stream: Option<bool>,
}

#[derive(Serialize)]
struct Message<'a> {
    role: &'static str,
    content: &'a str,
}

#[derive(Serialize)]
#[serde(untagged)]
enum System<'a> {
    Text(&'a str),
    Blocks(Vec<TextBlock<'a>>),
}

#[derive(Serialize)]
struct TextBlock<'a> {
    r#type: &'static str,
    text: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_control: Option<CacheControl>,
}

#[derive(Serialize)]
struct CacheControl {
    r#type: &'static str,
}

/// Keeps what leads up to it for five minutes.
const EPHEMERAL: CacheControl = CacheControl {
    r#type: "ephemeral",
};

#[derive(Serialize)]
#[serde(untagged)]
enum AnyTool<'a> {
    Server(ServerTool),
    Client(ClientTool<'a>),
}

/// A tool that the provider runs.
#[derive(Serialize)]
struct ServerTool {
    r#type: &'static str,
    name: &'static str,
    /// The most searches of this request.
    max_uses: u32,
}

const WEB_SEARCH: ServerTool = ServerTool {
    r#type: "web_search_20250305",
    name: "web_search",
    max_uses: SearchFee::BOUND,
};

#[derive(Serialize)]
struct ClientTool<'a> {
    name: &'a str,
    description: &'a str,
    input_schema: &'a RawValue,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_control: Option<CacheControl>,
}

#[derive(Serialize)]
struct OutputConfig<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    effort: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    format: Option<Format<'a>>,
}

#[derive(Serialize)]
struct Format<'a> {
    r#type: &'static str,
    schema: &'a RawValue,
}

/// Returns the request of a prompt.
pub(super) fn encode(prompt: &Prompt<'_>) -> Request {
    let provider = prompt.provider;
    let sampling = &prompt.policy.sampling;
    let system = system(prompt);
    let body = Body {
        model: prompt.model,
        max_tokens: sampling.max_output_tokens.unwrap_or(DEFAULT_MAX_TOKENS),
        tools: tools(prompt, &system),
        system,
        messages: [Message {
            role: "user",
            content: prompt.user,
        }],
        // A route may say up to 2.
        temperature: sampling
            .temperature
            .map(|value| value.clamp(0.0, provider.dialect.highest_temperature())),
        top_p: sampling.top_p,
        output_config: output_config(prompt),
        service_tier: prompt
            .policy
            .tier
            .filter(|tier| provider.tiers.contains(tier))
            .and_then(tier_name),
        stream: prompt.streams.then_some(true),
    };
    let mut headers = super::json_headers();
    headers.push(("anthropic-version", VERSION.to_owned()));
    if let Some(key) = prompt.key {
        headers.push(("x-api-key", key.reveal().to_owned()));
    }
    Request::new(
        format!("{}/messages", prompt.base_url),
        headers,
        serde_json::to_vec(&body).expect("text and numbers can be written as JSON"),
    )
}

/// What all calls share is a block of its own. The dialect takes no block without a word in it.
fn system<'a>(prompt: &Prompt<'a>) -> Option<System<'a>> {
    if prompt.system.is_empty() {
        return None;
    }
    let directive = prompt.provider.cache;
    let prefix = prompt
        .prefix
        .filter(|_| directive == CacheDirective::CacheControl);
    let split = prefix.and_then(|prefix| prompt.system.split_at_checked(prefix.shared));
    let block = |text, cache_control| TextBlock {
        r#type: "text",
        text,
        cache_control,
    };
    match split {
        Some((shared, own)) if !shared.trim().is_empty() => {
            Some(System::Blocks(if own.trim().is_empty() {
                vec![block(prompt.system, Some(EPHEMERAL))]
            } else {
                vec![block(shared, Some(EPHEMERAL)), block(own, None)]
            }))
        }
        _ => Some(System::Text(prompt.system)),
    }
}

/// Tools stand in front of the system prompt, so that they are cached with it, or else as all that calls share.
fn tools<'a>(prompt: &Prompt<'a>, system: &Option<System<'_>>) -> Vec<AnyTool<'a>> {
    let directive = prompt.provider.cache;
    let is_marked = matches!(system, Some(System::Blocks(_)));
    let marks = prompt.prefix.is_some() && directive == CacheDirective::CacheControl && !is_marked;
    let last = prompt.tools.len().wrapping_sub(1);
    let tools = prompt.tools.iter().enumerate();
    let tools = tools.map(|(index, tool)| ClientTool {
        name: tool.name,
        description: tool.description,
        input_schema: super::verbatim(tool.parameters),
        cache_control: (marks && index == last).then_some(EPHEMERAL),
    });
    let own = prompt.searches.then_some(AnyTool::Server(WEB_SEARCH));
    own.into_iter().chain(tools.map(AnyTool::Client)).collect()
}

/// The dialect has no JSON mode: without a schema only the prompt asks for JSON.
fn output_config<'a>(prompt: &Prompt<'a>) -> Option<OutputConfig<'a>> {
    let format = match prompt.form {
        Form::Schema { json, .. } if !prompt.searches => Some(Format {
            r#type: "json_schema",
            schema: super::verbatim(json),
        }),
        Form::Schema { .. } | Form::Json | Form::Free => None,
    };
    let effort = prompt.effort.map(Effort::name);
    let says_something = effort.is_some() || format.is_some();
    says_something.then_some(OutputConfig { effort, format })
}

/// Priority cannot be demanded: `auto` takes it where the account has it. There is no flex tier.
fn tier_name(tier: Tier) -> Option<&'static str> {
    match tier {
        Tier::Standard => Some("standard_only"),
        Tier::Priority => Some("auto"),
        Tier::Flex => None,
    }
}

/// A response. Its leaves are plain values, so that an odd one costs that leaf and not the answer.
#[derive(Default, Deserialize)]
struct Turn {
    #[serde(default)]
    content: Option<Vec<Block>>,
    #[serde(default)]
    stop_reason: Value,
    #[serde(default)]
    stop_details: Value,
    #[serde(default)]
    usage: Value,
    #[serde(default)]
    error: Value,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Block {
    r#type: Value,
    text: Value,
    id: Value,
    name: Value,
    input: Value,
    citations: Value,
}

/// Reads a response with a good status; `None` where there is no answer in it.
pub(super) fn read(body: &[u8]) -> Option<Answer> {
    answer(serde_json::from_slice(body).ok()?)
}

/// Returns what a message says; `None` for one that has nothing of the dialect. One without a block is empty.
fn answer(turn: Turn) -> Option<Answer> {
    let usage = usage(&turn.usage);
    let is_ours = turn.content.is_some() || turn.stop_reason.is_string() || usage.is_told();
    let is_error = fault::is_error(&turn.error);
    if !is_ours && !is_error {
        return None;
    }
    let error = || Fault::of(&serde_json::json!({ "error": turn.error }));
    let blocks = turn.content.unwrap_or_default();
    let text = blocks.iter().filter(|block| block.r#type == "text");
    let cited = text.clone().flat_map(|block| block.citations.as_array());
    let cited = cited.flatten();
    let calls = blocks.iter().filter(|block| block.r#type == "tool_use");
    let called = |block: &Block| super::called(&block.id, &block.name, &block.input);
    let details = &turn.stop_details;
    Some(Answer {
        tool_calls: calls.map(called).collect(),
        citations: cited.filter_map(super::citation).collect(),
        text: text.filter_map(|block| block.text.as_str()).collect(),
        finish: Finish::of(&turn.stop_reason),
        reason: Reason::of(
            [&turn.stop_reason, &details["category"]],
            details["explanation"].as_str().unwrap_or_default(),
        ),
        fault: is_error.then(error),
        usage,
        served_tier: turn.usage["service_tier"].as_str().map(str::to_owned),
    })
}

/// Returns the counts. The dialect's input leaves out what was read from or written to a cache.
fn usage(usage: &Value) -> Usage {
    let cached = usage["cache_read_input_tokens"].as_u64();
    let written = usage["cache_creation_input_tokens"].as_u64();
    let plain = usage["input_tokens"].as_u64();
    let searches = usage["server_tool_use"]["web_search_requests"].as_u64();
    Usage {
        tokens_in: plain.map(|plain| {
            plain
                .saturating_add(cached.unwrap_or(0))
                .saturating_add(written.unwrap_or(0))
        }),
        tokens_out: usage["output_tokens"].as_u64(),
        tokens_cached: cached,
        tokens_cache_write: written,
        searches: None,
    }
    .checked()
    .with_searches(searches.unwrap_or(0))
}
