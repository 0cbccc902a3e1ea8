//! What is a compiled route, as data?
//!
//! Generated code fills in these types as `static`s. Whatever does not depend on a call is already decided
//! in them: the ladder's order, who is live, how each candidate is asked for JSON.

use crate::{
    Backoff, Capabilities, FailureClass, Limits, Lowered, Price, Prices, Provider, Template, Usd,
};

/// A route: the contract that a call runs under.
#[derive(Debug, PartialEq)]
pub struct Route {
    /// The task handle; on every row.
    pub name: &'static str,
    /// The version; on every row.
    pub version: u32,
    /// What an answer has to conform to; `None` takes any JSON value.
    pub schema: Option<Schema>,
    /// How calls without a variant are served.
    pub plan: Plan,
    /// The variants that have a live candidate, in declared order.
    pub variants: &'static [Variant],
    /// Budgets, timeouts and sampling.
    pub policy: Policy,
    /// The variables that may not be longer than so many characters.
    pub max_chars: &'static [(&'static str, u64)],
    /// Whether it demands zero retention: its calls hand nothing to an endpoint that may keep it.
    pub zero_retention: bool,
    /// Whether attempts are captured: variables and output, kept locally.
    pub capture: bool,
    /// What is asked of the providers' prompt caches.
    pub cache: Cache,
    /// The search whose findings the prompt is grounded on.
    pub grounding: Option<Grounding>,
    /// The tools that a model may ask the caller to run.
    pub tools: &'static [Tool],
    /// What the routes of the directory share.
    pub project: &'static Project,
}

/// What is asked of the providers' prompt caches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Cache {
    /// Nothing; a provider may cache by itself.
    Off,
    /// Each provider's own directive goes with the request, where it has one.
    Auto,
}

/// The search whose findings the prompt is grounded on.
#[derive(Debug, PartialEq)]
pub struct Grounding {
    /// What is searched for.
    pub query: Template,
    /// Who searches for candidates that cannot; `None` where all of them can.
    pub search: Option<&'static Search>,
}

/// The search provider of a project.
#[derive(Debug, PartialEq)]
pub struct Search {
    /// Its address.
    pub url: &'static str,
    /// The environment variable that holds its key; `None` where it needs no key.
    pub key_env: Option<&'static str>,
    /// What one query costs.
    pub cost: Usd,
    /// Whether it is designated to keep nothing of what it was sent.
    pub zero_retention: bool,
}

/// A tool that a model may ask the caller to run.
#[derive(Debug, PartialEq)]
pub struct Tool {
    /// Its name: 1 to 64 of `A-Z a-z 0-9 _ -`.
    pub name: &'static str,
    /// What it does, for the model.
    pub description: &'static str,
    /// What its arguments have to conform to; an object.
    pub parameters: Schema,
}

/// What the routes of a directory share.
#[derive(Debug, PartialEq)]
pub struct Project {
    /// Its name.
    pub name: Option<&'static str>,
    /// The tag keys that its calls are to carry.
    pub dimensions: &'static [Dimension],
}

/// A tag key.
#[derive(Debug, PartialEq)]
pub struct Dimension {
    /// The key.
    pub key: &'static str,
    /// Whether a call without it is warned of.
    pub required: bool,
}

/// A named narrowing of a route.
#[derive(Debug, PartialEq)]
pub struct Variant {
    /// Its name; on the rows that it served.
    pub name: &'static str,
    /// How its calls are served.
    pub plan: Plan,
}

/// Everything about a route that a variant may change.
#[derive(Debug, PartialEq)]
pub struct Plan {
    /// The live candidates, in ladder order.
    pub candidates: &'static [Candidate],
    /// The system prompt.
    pub prompt: Template,
    /// The repair rung; `None` has none.
    pub repair: Option<Repair>,
}

/// One provider and model that may serve the route.
#[derive(Debug, PartialEq)]
pub struct Candidate {
    /// The provider.
    pub provider: &'static Provider,
    /// The model's name at the provider.
    pub model: &'static str,
    /// The resolved capability flags.
    pub capabilities: Capabilities,
    /// How an answer of the right shape is asked for.
    pub enforcement: Enforcement,
    /// What its tokens cost; `None` records $0 and `pricing_missing`.
    pub price: Option<Price>,
    /// How large an attempt of it can become.
    pub limits: Limits,
}

/// How a candidate is made to answer in the route's shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Enforcement {
    /// The schema goes with the request in this form, and the provider enforces it.
    Native(&'static Lowered),
    /// The provider guarantees JSON, the prompt states the schema.
    JsonMode,
    /// Only the prompt states the schema.
    Coached,
}

/// The repair rung of a route.
#[derive(Debug, PartialEq)]
pub struct Repair {
    /// 1 or 2. The first repair asks the model that answered, the second `model`.
    pub max_repairs: u8,
    /// Who does the second repair; always there when `max_repairs` is 2.
    pub model: Option<&'static Candidate>,
}

/// What an answer has to conform to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Schema {
    /// The name under which providers are told of it: 1 to 64 of `A-Z a-z 0-9 _ -`.
    pub name: &'static str,
    /// The JSON Schema, self-contained, as compact JSON in the file's key order.
    pub json: &'static str,
    /// An answer in its simplest form, as compact JSON: what coaching shows. Empty where there is none.
    pub skeleton: &'static str,
    /// The JSON Schema, compiled: what `write_gate` writes.
    pub gate: &'static str,
    /// A hash of `json` that the output type of a call has to carry too.
    pub hash: u64,
}

/// Budgets, timeouts and sampling of a route.
#[derive(Debug, PartialEq)]
pub struct Policy {
    /// Retry budgets; a class that is missing has none.
    pub retries: &'static [(FailureClass, u32)],
    /// Backoffs that replace the failure table's.
    pub backoff: &'static [(FailureClass, Backoff)],
    /// Longest wall clock of one attempt, headers and body, in milliseconds.
    pub timeout_ms: u64,
    /// Longest wait of a stream for its first content, from dispatch, in milliseconds.
    pub first_token_ms: Option<u64>,
    /// Longest silence of a stream between two pieces of content, in milliseconds; keep-alives are none.
    pub idle_ms: Option<u64>,
    /// Longest wall clock of the whole run, waits included, in milliseconds.
    pub deadline_ms: Option<u64>,
    /// The service tier to ask for; `None` leaves it to the provider.
    pub tier: Option<Tier>,
    /// Sampling parameters.
    pub sampling: Sampling,
}

/// A provider's service tier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Tier {
    /// The ordinary one.
    Standard,
    /// Cheaper and slower, shed first.
    Flex,
    /// Dearer and faster.
    Priority,
}

/// Sampling parameters; `None` leaves one to the provider.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sampling {
    /// 0 to 2.
    pub temperature: Option<f64>,
    /// Above 0, at most 1.
    pub top_p: Option<f64>,
    /// Most output tokens of one attempt, reasoning included.
    pub max_output_tokens: Option<u32>,
}

impl Route {
    /// A route that says nothing: what generated code need not repeat.
    pub const BLANK: Self = Self {
        name: "",
        version: 1,
        schema: None,
        plan: Plan {
            candidates: &[],
            prompt: Template { segments: &[] },
            repair: None,
        },
        variants: &[],
        policy: Policy::BLANK,
        max_chars: &[],
        zero_retention: false,
        capture: false,
        cache: Cache::Off,
        grounding: None,
        tools: &[],
        project: &Project::BLANK,
    };
}

impl Sampling {
    /// The sampling of a route that leaves it to the provider.
    pub const BLANK: Self = Self {
        temperature: None,
        top_p: None,
        max_output_tokens: None,
    };
}

impl Project {
    /// The project of a directory without `rig.yaml`.
    pub const BLANK: Self = Self {
        name: None,
        dimensions: &[],
    };
}

impl Candidate {
    /// Returns what its tokens cost at each tier, and its web searches if it is to search.
    #[must_use]
    pub fn prices(&self, searches: bool) -> Prices {
        Prices {
            requested: self.price,
            others: self.limits.tiers,
            search: searches.then(|| self.provider.search_fee(self.model)),
        }
    }
}

impl Tier {
    /// Every tier.
    pub const ALL: [Self; 3] = [Self::Standard, Self::Flex, Self::Priority];

    /// Returns the tier that a provider names as the one that served, in any provider's words.
    #[must_use]
    pub fn served(name: &str) -> Option<Self> {
        let is = |known: &str| name.eq_ignore_ascii_case(known);
        if is("default") || is("on_demand") {
            return Some(Self::Standard);
        }
        Self::ALL.into_iter().find(|tier| is(tier.name()))
    }

    /// Returns whether this tier may serve a request for `requested`. A provider may serve any tier where none is
    /// requested, and the standard one where it has no room in the requested one.
    #[must_use]
    pub fn may_serve(self, requested: Option<Self>) -> bool {
        requested.is_none_or(|requested| self == requested || self == Self::Standard)
    }

    /// Returns the serialized name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Standard => "standard",
            Self::Flex => "flex",
            Self::Priority => "priority",
        }
    }
}

impl Policy {
    /// The attempt timeout of a route that names none, in milliseconds.
    pub const DEFAULT_TIMEOUT_MS: u64 = 60_000;

    /// The policy of a route that names none.
    pub const BLANK: Self = Self {
        retries: &[],
        backoff: &[],
        timeout_ms: Self::DEFAULT_TIMEOUT_MS,
        first_token_ms: None,
        idle_ms: None,
        deadline_ms: None,
        tier: None,
        sampling: Sampling::BLANK,
    };

    /// Returns the retry budget of a class.
    #[must_use]
    pub fn retry_budget(&self, class: FailureClass) -> u32 {
        let found = self.retries.iter().find(|(named, _)| *named == class);
        found.map_or(0, |(_, budget)| *budget)
    }

    /// Returns the backoff of a class: the route's, else the failure table's.
    #[must_use]
    pub fn backoff(&self, class: FailureClass) -> Backoff {
        let found = self.backoff.iter().find(|(named, _)| *named == class);
        found.map_or_else(|| class.default_backoff(), |(_, backoff)| *backoff)
    }
}
