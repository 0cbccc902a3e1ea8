//! Which providers are built in, and how do they differ?
//!
//! One row per provider. Hosts of the same dialect differ only in what the row says, so a host named in
//! `routes/rig.yaml` is a further row of the same shape, written by the compiler.
//!
//! Source of the wire facts: each provider's public API reference, as of August 2026.

use crate::{Capabilities, Capability, SearchFee, Tier, Usd};

/// A wire format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Dialect {
    /// `POST {base}/chat/completions`, as OpenAI defined it.
    OpenAiChat,
    /// `POST {base}/responses`, OpenAI's second one.
    OpenAiResponses,
    /// `POST {base}/messages`, as Anthropic defined it.
    AnthropicMessages,
    /// `POST {base}/models/{model}:generateContent`, as Google defined it.
    Gemini,
}

impl Dialect {
    /// Returns the highest temperature that it takes.
    #[must_use]
    pub const fn highest_temperature(self) -> f64 {
        match self {
            Self::OpenAiChat | Self::OpenAiResponses | Self::Gemini => 2.0,
            Self::AnthropicMessages => 1.0,
        }
    }

    /// Returns what the provider that defines the dialect charges for the web searches of a model. Other hosts of the dialect
    /// are taken to charge the same.
    #[must_use]
    pub fn search_fee(self, model: &str) -> SearchFee {
        let mut fees = self.search_fees().iter();
        *fees
            .find(|fee| fee.fits(model))
            .expect("the last row of each dialect fits every model")
    }

    fn search_fees(self) -> &'static [SearchFee] {
        // OpenAI's pricing page, "web search": 10 USD per 1,000 calls, 25 for previews of models without reasoning.
        const CHAT: &[SearchFee] = &[
            SearchFee::per_request("gpt-5", Usd::nanos(10_000_000)),
            SearchFee::per_request("", Usd::nanos(25_000_000)),
        ];
        const RESPONSES: &[SearchFee] = &[SearchFee::per_search("", Usd::nanos(10_000_000))];
        // Anthropic's web search tool, "usage and pricing": 10 USD per 1,000 searches.
        const MESSAGES: &[SearchFee] = &[SearchFee::per_search("", Usd::nanos(10_000_000))];
        // Gemini's pricing page, "grounding with Google Search": 35 USD per 1,000 requests, from the third generation on 14
        // USD per 1,000 queries. The free allowance is not counted.
        const GEMINI: &[SearchFee] = &[
            SearchFee::per_request("gemini-1", Usd::nanos(35_000_000)),
            SearchFee::per_request("gemini-2", Usd::nanos(35_000_000)),
            SearchFee::per_search("", Usd::nanos(14_000_000)).unbounded(),
        ];
        match self {
            Self::OpenAiChat => CHAT,
            Self::OpenAiResponses => RESPONSES,
            Self::AnthropicMessages => MESSAGES,
            Self::Gemini => GEMINI,
        }
    }
}

/// The JSON key that carries the output token limit in the chat dialect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TokenLimitKey {
    /// `max_completion_tokens`: OpenAI itself, whose reasoning models refuse the other.
    MaxCompletionTokens,
    /// `max_tokens`: everyone else.
    MaxTokens,
}

/// The dialect of JSON Schema in which a provider enforces schemas. The compiler holds the rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NativeSchema {
    /// OpenAI's strict subset: every object closed and every property required.
    OpenAiStrict,
    /// Anthropic's subset: every object closed, no bounds, no recursion.
    Anthropic,
    /// Gemini's `responseJsonSchema`: few bounds, recursion only where it is optional.
    Gemini,
    /// xAI's subset: objects closed unless they say otherwise, no bounds, no recursion.
    Xai,
    /// Fireworks' subset: no bounds at all.
    Fireworks,
    /// What the engines behind DeepInfra's models have in common.
    DeepInfra,
    /// Any schema; what the host cannot enforce it ignores.
    Any,
}

/// How a provider is told which part of a prompt to cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CacheDirective {
    /// Not at all: it caches by itself, or it may refuse a field that it does not know.
    None,
    /// `prompt_cache_key`: requests with the same one go where their beginning is cached.
    PromptCacheKey,
    /// `cache_control` on the last block that is to be cached.
    CacheControl,
    /// `cachedContent`: the name of a cache that the caller has made, and that may have ended since.
    CachedContent,
}

impl CacheDirective {
    /// Returns whether a caller may name a place in the cache.
    #[must_use]
    pub const fn takes_handle(self) -> bool {
        match self {
            Self::PromptCacheKey | Self::CachedContent => true,
            Self::None | Self::CacheControl => false,
        }
    }
}

/// A provider: where it is, what it speaks, what it can do.
#[derive(Debug, PartialEq)]
pub struct Provider {
    /// The name that routes, rows and errors use.
    pub name: &'static str,
    /// The wire format.
    pub dialect: Dialect,
    /// The address that the dialect's path is appended to, without a trailing slash.
    pub base_url: &'static str,
    /// The environment variable that overrides `base_url`.
    pub base_url_env: &'static str,
    /// The environment variable that holds the key; `None` for a host that needs no key.
    pub key_env: Option<&'static str>,
    /// What its models can do unless something more precise is known.
    pub capabilities: Capabilities,
    /// In which dialect it enforces schemas.
    pub native_schema: NativeSchema,
    /// How the chat dialect names the output token limit.
    pub token_limit: TokenLimitKey,
    /// The fewest tokens of a prompt's beginning that it caches, that of its most eager model; `None` where it does
    /// not say.
    pub cached_prefix: Option<u64>,
    /// How it is told what to cache.
    pub cache: CacheDirective,
    /// The service tiers that can be asked for by name; another is not sent.
    pub tiers: &'static [Tier],
    /// What it charges for the web searches that it runs itself, where that differs from [`Dialect::search_fee`]. The first
    /// row that fits the model counts.
    pub search_fees: &'static [SearchFee],
}

impl Provider {
    /// A host that says nothing of itself: no key, no flags, the chat dialect. Others are written as this one and what
    /// is different.
    pub const BLANK: Self = Self {
        name: "",
        dialect: Dialect::OpenAiChat,
        base_url: "",
        base_url_env: "",
        key_env: None,
        capabilities: Capabilities::of(&[]),
        native_schema: NativeSchema::Any,
        token_limit: TokenLimitKey::MaxTokens,
        cached_prefix: None,
        cache: CacheDirective::None,
        tiers: &[],
        search_fees: &[],
    };

    /// Returns what a model's own web searches cost beside its tokens.
    #[must_use]
    pub fn search_fee(&self, model: &str) -> SearchFee {
        let mut own = self.search_fees.iter();
        own.find(|fee| fee.fits(model))
            .copied()
            .unwrap_or_else(|| self.dialect.search_fee(model))
    }
}

const NATIVE: Capabilities =
    Capabilities::of(&[Capability::StructuredNative, Capability::JsonMode]);
const JSON_MODE: Capabilities = Capabilities::of(&[Capability::JsonMode]);

/// OpenAI.
pub static OPENAI: Provider = Provider {
    name: "openai",
    dialect: Dialect::OpenAiChat,
    base_url: "https://api.openai.com/v1",
    base_url_env: "OPENAI_BASE_URL",
    key_env: Some("OPENAI_API_KEY"),
    capabilities: NATIVE,
    native_schema: NativeSchema::OpenAiStrict,
    token_limit: TokenLimitKey::MaxCompletionTokens,
    cached_prefix: Some(1_024),
    cache: CacheDirective::PromptCacheKey,
    tiers: &Tier::ALL,
    search_fees: &[],
};

/// Anthropic. It has no JSON mode without a schema.
pub static ANTHROPIC: Provider = Provider {
    name: "anthropic",
    dialect: Dialect::AnthropicMessages,
    base_url: "https://api.anthropic.com/v1",
    base_url_env: "ANTHROPIC_BASE_URL",
    key_env: Some("ANTHROPIC_API_KEY"),
    capabilities: Capabilities::of(&[Capability::StructuredNative]),
    native_schema: NativeSchema::Anthropic,
    token_limit: TokenLimitKey::MaxTokens,
    cached_prefix: Some(512),
    cache: CacheDirective::CacheControl,
    tiers: &[Tier::Standard, Tier::Priority],
    search_fees: &[],
};

/// Gemini. It caches by itself; a handle of a cache is the caller's to make.
pub static GEMINI: Provider = Provider {
    name: "gemini",
    dialect: Dialect::Gemini,
    base_url: "https://generativelanguage.googleapis.com/v1beta",
    base_url_env: "GEMINI_BASE_URL",
    key_env: Some("GEMINI_API_KEY"),
    capabilities: Capabilities::of(&[
        Capability::StructuredNative,
        Capability::JsonMode,
        Capability::GroundedNative,
    ]),
    native_schema: NativeSchema::Gemini,
    token_limit: TokenLimitKey::MaxTokens,
    cached_prefix: Some(1_024),
    cache: CacheDirective::CachedContent,
    tiers: &Tier::ALL,
    search_fees: &[],
};

/// DeepSeek. Its chat endpoint has JSON mode only.
pub static DEEPSEEK: Provider = Provider {
    name: "deepseek",
    dialect: Dialect::OpenAiChat,
    base_url: "https://api.deepseek.com",
    base_url_env: "DEEPSEEK_BASE_URL",
    key_env: Some("DEEPSEEK_API_KEY"),
    capabilities: JSON_MODE,
    native_schema: NativeSchema::Any,
    token_limit: TokenLimitKey::MaxTokens,
    cached_prefix: Some(64),
    cache: CacheDirective::None,
    tiers: &[],
    search_fees: &[],
};

/// xAI.
pub static GROK: Provider = Provider {
    name: "grok",
    dialect: Dialect::OpenAiChat,
    base_url: "https://api.x.ai/v1",
    base_url_env: "GROK_BASE_URL",
    key_env: Some("XAI_API_KEY"),
    capabilities: NATIVE,
    native_schema: NativeSchema::Xai,
    token_limit: TokenLimitKey::MaxTokens,
    cached_prefix: None,
    cache: CacheDirective::PromptCacheKey,
    tiers: &[Tier::Standard, Tier::Priority],
    search_fees: &[
        // Pricing page, "tools": 5 USD per 1,000 calls of the web search.
        SearchFee::per_search("", Usd::nanos(5_000_000)),
    ],
};

/// DeepInfra. Schema enforcement depends on the model, so it is not assumed.
pub static DEEPINFRA: Provider = Provider {
    name: "deepinfra",
    dialect: Dialect::OpenAiChat,
    base_url: "https://api.deepinfra.com/v1/openai",
    base_url_env: "DEEPINFRA_BASE_URL",
    key_env: Some("DEEPINFRA_API_KEY"),
    capabilities: JSON_MODE,
    native_schema: NativeSchema::DeepInfra,
    token_limit: TokenLimitKey::MaxTokens,
    cached_prefix: None,
    cache: CacheDirective::PromptCacheKey,
    tiers: &[],
    search_fees: &[],
};

/// Fireworks. It takes a priority tier, but never says which tier served.
pub static FIREWORKS: Provider = Provider {
    name: "fireworks",
    dialect: Dialect::OpenAiChat,
    base_url: "https://api.fireworks.ai/inference/v1",
    base_url_env: "FIREWORKS_BASE_URL",
    key_env: Some("FIREWORKS_API_KEY"),
    capabilities: NATIVE,
    native_schema: NativeSchema::Fireworks,
    token_limit: TokenLimitKey::MaxTokens,
    cached_prefix: None,
    cache: CacheDirective::PromptCacheKey,
    tiers: &[Tier::Priority],
    search_fees: &[],
};

/// Every built-in provider.
pub static PROVIDERS: [&Provider; 7] = [
    &OPENAI, &ANTHROPIC, &GEMINI, &DEEPSEEK, &GROK, &DEEPINFRA, &FIREWORKS,
];
