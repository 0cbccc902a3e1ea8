//! The Gemini dialect: `POST {base}/models/{model}:generateContent`, as Google defined it.

mod stream;
mod usage;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use rig_spec::{Candidate, Provider, Tier};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use super::fault::{self, Fault};
use super::finish::{Answer, Finish, Reason};
use super::reading::{Heard, Sender};
use super::{Form, Prompt};
use crate::prefix::Prefix;
use crate::run::Citation;
use crate::transport::{Headers, Request};

pub(super) use stream::Assembly;
use usage::{queries, usage};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Body<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    system_instruction: Option<Content<'a>>,
    contents: [Content<'a>; 1],
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<AnyTool<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    generation_config: Option<GenerationConfig<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cached_content: Option<&'a str>,
    /// The one field that the dialect takes in snake case only.
    #[serde(rename = "service_tier", skip_serializing_if = "Option::is_none")]
    service_tier: Option<&'static str>,
}

#[derive(Serialize)]
struct Content<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    role: Option<&'static str>,
    parts: Vec<TextPart<'a>>,
}

#[derive(Serialize)]
struct TextPart<'a> {
    text: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
enum AnyTool<'a> {
    GoogleSearch {},
    FunctionDeclarations(Vec<Function<'a>>),
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Function<'a> {
    name: &'a str,
    description: &'a str,
    parameters_json_schema: &'a RawValue,
}

#[derive(Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
struct GenerationConfig<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    top_p: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_output_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_mime_type: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_json_schema: Option<Verbatim<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking_config: Option<ThinkingConfig>,
}

#[derive(PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
struct ThinkingConfig {
    thinking_level: &'static str,
}

/// A schema as it stands.
#[derive(Serialize)]
#[serde(transparent)]
struct Verbatim<'a>(&'a RawValue);

impl PartialEq for Verbatim<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.0.get() == other.0.get()
    }
}

/// Returns the request of a prompt.
pub(super) fn encode(prompt: &Prompt<'_>) -> Request {
    let provider = prompt.provider;
    let cached_content = prompt.prefix.and_then(Prefix::handle);
    let system = Some(prompt.system).filter(|system| !system.is_empty());
    // Beside a cache the dialect takes neither a system instruction nor tools.
    let (system_instruction, first, tools) = match cached_content {
        Some(_) => (None, system, Vec::new()),
        None => (system, None, tools(prompt)),
    };
    let body = Body {
        system_instruction: system_instruction.map(|system| content(None, [system])),
        contents: [content(
            Some("user"),
            first.into_iter().chain([prompt.user]),
        )],
        tools,
        cached_content,
        generation_config: Some(generation_config(prompt))
            .filter(|config| *config != GenerationConfig::default()),
        service_tier: prompt
            .policy
            .tier
            .filter(|tier| provider.tiers.contains(tier))
            .map(Tier::name),
    };
    let mut headers = super::json_headers();
    if let Some(key) = prompt.key {
        headers.push(("x-goog-api-key", key.reveal().to_owned()));
    }
    Request::new(
        format!(
            "{}/{}:{}",
            prompt.base_url,
            path(prompt.model),
            if prompt.streams {
                "streamGenerateContent?alt=sse"
            } else {
                "generateContent"
            }
        ),
        headers,
        serde_json::to_vec(&body).expect("text and numbers can be written as JSON"),
    )
}

/// What a segment of a path takes as it is, beside letters and digits (RFC 3986, 2.3).
const SEGMENT: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

/// Returns the path of a model. Google has two collections, and a name without one is that of a base model.
fn path(model: &str) -> String {
    let (collection, name) = collection(model);
    format!("{collection}/{}", utf8_percent_encode(name, SEGMENT))
}

/// Returns the collection that a model is in, and its name there.
fn collection(model: &str) -> (&str, &str) {
    match model.split_once('/') {
        Some((collection @ ("models" | "tunedModels"), name)) => (collection, name),
        _ => ("models", model),
    }
}

/// Returns whether a model can have this name: `NAME`, `models/NAME` or `tunedModels/NAME`.
pub(super) fn is_model(model: &str) -> bool {
    let (_, name) = collection(model);
    let is_of_name = |byte: u8| byte.is_ascii_alphanumeric() || b"-._@".contains(&byte);
    !matches!(name, "" | "." | "..") && name.bytes().all(is_of_name)
}

fn content<'a>(
    role: Option<&'static str>,
    texts: impl IntoIterator<Item = &'a str>,
) -> Content<'a> {
    Content {
        role,
        parts: texts.into_iter().map(|text| TextPart { text }).collect(),
    }
}

fn tools<'a>(prompt: &Prompt<'a>) -> Vec<AnyTool<'a>> {
    let functions = prompt.tools.iter().map(|tool| Function {
        name: tool.name,
        description: tool.description,
        parameters_json_schema: super::verbatim(tool.parameters),
    });
    let functions: Vec<_> = functions.collect();
    let search = prompt.searches.then_some(AnyTool::GoogleSearch {});
    let declared = (!functions.is_empty()).then_some(AnyTool::FunctionDeclarations(functions));
    search.into_iter().chain(declared).collect()
}

fn generation_config<'a>(prompt: &Prompt<'a>) -> GenerationConfig<'a> {
    let sampling = &prompt.policy.sampling;
    let has_tools = !prompt.tools.is_empty();
    let is_free = has_tools || prompt.searches;
    let form = if is_free && is_early(prompt.model) {
        Form::Free
    } else {
        prompt.form
    };
    let (mime_type, schema) = match form {
        Form::Schema { json, .. } => (true, Some(json)),
        Form::Json => (true, None),
        Form::Free => (false, None),
    };
    GenerationConfig {
        temperature: sampling.temperature,
        top_p: sampling.top_p,
        max_output_tokens: sampling.max_output_tokens,
        response_mime_type: mime_type.then_some("application/json"),
        response_json_schema: schema.map(|json| Verbatim(super::verbatim(json))),
        thinking_config: prompt.effort.map(|effort| ThinkingConfig {
            thinking_level: effort.name(),
        }),
    }
}

/// Returns whether a candidate has to be told the schema because it has tools: before its third generation, a model
/// takes neither a schema nor JSON mode beside them.
pub(super) fn coaches(candidate: &Candidate, has_tools: bool) -> bool {
    has_tools && is_early(candidate.model)
}

/// Returns whether a model is older than the third generation.
fn is_early(model: &str) -> bool {
    let (_, name) = collection(model);
    let generation = name.strip_prefix("gemini-");
    generation.is_some_and(|rest| rest.starts_with(['1', '2']))
}

/// A response. Its leaves are plain values, so that an odd one costs that leaf and not the answer.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Generated {
    #[serde(default)]
    candidates: Option<Vec<Value>>,
    #[serde(default)]
    prompt_feedback: Value,
    #[serde(default)]
    usage_metadata: Value,
    #[serde(default)]
    error: Value,
}

/// Reads a response with a good status; `None` where there is no answer in it. A list holds the pieces of a streamed
/// one, as hosts send them to those who ask for no events.
pub(super) fn read(provider: &'static Provider, headers: &Headers, body: &[u8]) -> Option<Answer> {
    let body: Value = serde_json::from_slice(body).ok()?;
    if body.is_array() {
        let mut assembly = Assembly::default();
        let sender = Sender { provider, headers };
        let _ = assembly.take(false, body, sender, &mut Heard::default());
        return assembly.finish(headers);
    }
    answer(serde_json::from_value(body).ok()?, headers)
}

/// Returns what a response says; `None` for one that has nothing of the dialect. One without a candidate is empty.
fn answer(response: Generated, headers: &Headers) -> Option<Answer> {
    let feedback = &response.prompt_feedback;
    let usage = usage(&response.usage_metadata);
    let is_ours = response.candidates.is_some() || feedback.is_object() || usage.is_told();
    let is_error = fault::is_error(&response.error);
    if !is_ours && !is_error {
        return None;
    }
    let error = || Fault::of(&serde_json::json!({ "error": response.error }));
    let turn = response.candidates.into_iter().flatten().next();
    let turn = turn.unwrap_or_default();
    let parts = turn["content"]["parts"].as_array();
    let parts = parts.map(Vec::as_slice).unwrap_or_default();
    let calls = parts.iter().map(|part| &part["functionCall"]);
    let calls = calls.filter(|call| call.is_object());
    // A prompt that was blocked has no candidates.
    let (finish, reason) = match feedback["blockReason"].as_str() {
        Some(_) => (
            Finish::Refused,
            reason(feedback, "blockReason", "blockReasonMessage"),
        ),
        None => (
            Finish::of(&turn["finishReason"]),
            reason(&turn, "finishReason", "finishMessage"),
        ),
    };
    Some(Answer {
        text: spoken(parts).collect(),
        tool_calls: calls
            .map(|call| super::called(&call["id"], &call["name"], &call["args"]))
            .collect(),
        citations: citations(&turn["groundingMetadata"]),
        finish,
        reason,
        fault: is_error.then(error),
        usage: usage.with_searches(queries(&turn["groundingMetadata"]).len() as u64),
        served_tier: served_tier(&response.usage_metadata, headers),
    })
}

/// Returns why an answer ended, or why there is none: the name of the reason, the categories that blocked it, and words.
fn reason(of: &Value, name: &str, words: &str) -> Reason {
    let ratings = of["safetyRatings"].as_array().into_iter().flatten();
    let blocking = ratings.filter(|rating| rating["blocked"] == true);
    let names = [&of[name]].into_iter();
    Reason::of(
        names.chain(blocking.map(|rating| &rating["category"])),
        of[words].as_str().unwrap_or_default(),
    )
}

/// Returns the text of parts that are no thoughts.
fn spoken(parts: &[Value]) -> impl Iterator<Item = &str> {
    let spoken = parts.iter().filter(|part| part["thought"] != true);
    spoken.filter_map(|part| part["text"].as_str())
}

fn served_tier(usage: &Value, headers: &Headers) -> Option<String> {
    let told = usage["serviceTier"].as_str();
    let told = told.or_else(|| headers.get("x-gemini-service-tier"));
    told.map(str::to_ascii_lowercase)
}

fn citations(grounding: &Value) -> Vec<Citation> {
    let chunks = grounding["groundingChunks"]
        .as_array()
        .into_iter()
        .flatten();
    let cited = chunks.filter_map(|chunk| {
        let web = &chunk["web"];
        Some(Citation {
            title: web["title"].as_str().unwrap_or_default().to_owned(),
            url: web["uri"].as_str()?.to_owned(),
        })
    });
    cited.collect()
}
