//! How does a caller ask one model, without a route?
//!
//! The raw lane: one provider and model, one request, one row. There is no ladder, no gate, no repair and no envelope;
//! nothing judges the answer. What a provider does not honour cannot be said to one that is named in the source
//! ([`gemini`], …), and is refused before anything is sent by one that is not ([`Rig::raw`]).
//!
//! ```no_run
//! # use rig_runtime as rig;
//! # async fn ask() -> rig::Result<()> {
//! let run = rig::raw::gemini("gemini-3.1-pro-preview")
//!     .user("Who won the county's bread prize?")
//!     .grounding()
//!     .run()
//!     .await?;
//! println!("{} ({:?})", run.output.text, run.meta.citations);
//! # Ok(())
//! # }
//! ```

mod guard;
mod lane;
mod reply;

use std::collections::BTreeMap;
use std::fmt;
use std::future::IntoFuture;
use std::marker::PhantomData;
use std::time::Duration;

use rig_spec::{PROVIDERS, Policy, Tier};
use serde_json::Value;

use crate::error::Result;
use crate::ladder::Served;
use crate::rig::{self, Rig};
use crate::run::Run;
use crate::stream::{Events, Listener};
use crate::trace::Traceparent;
use crate::transport::BoxFuture;
use crate::turn::Turn;

pub use reply::{RawReply, RawToolCall};
pub use rig_spec::{
    Anthropic, AnyProvider, DeepInfra, DeepSeek, Effort, Fireworks, Gemini, Grok, Honours, Known,
    OpenAi, markers,
};

/// A provider that is built in, to be named when the program runs.
#[derive(Clone, Copy, PartialEq)]
pub struct Provider(&'static rig_spec::Provider);

/// A direct call that has not been made yet. Nothing happens until it is awaited.
///
/// It has a method for each knob that its provider honours; `P` stands for the provider. What a model of the provider
/// does not honour, a value out of range and two knobs that do not go together are a failure of class
/// `invariant_violation`: nothing is sent, and there is no row.
///
/// Dropping the future ends the call, and what was dispatched keeps its row.
#[must_use = "a call does nothing until it is awaited"]
pub struct Raw<P = AnyProvider> {
    asked: Asked,
    rig: Option<Rig>,
    provider: PhantomData<fn() -> P>,
}

/// Everything that a direct call says.
struct Asked {
    provider: &'static rig_spec::Provider,
    model: String,
    key: Option<String>,
    system: String,
    user: String,
    tags: BTreeMap<String, String>,
    traceparent: Option<Traceparent>,
    policy: Policy,
    form: Form,
    tools: Vec<Tool>,
    grounding: bool,
    cache: Cache,
    effort: Option<Effort>,
}

enum Form {
    Free,
    Json,
    Schema { name: String, json: String },
}

struct Tool {
    name: String,
    description: String,
    parameters: String,
}

enum Cache {
    Off,
    System,
    At(String),
}

macro_rules! entries {
    ($($entry:ident $type:ident)*) => {$(
        #[doc = concat!("Begins a direct call of a model of ", stringify!($entry), ".")]
        pub fn $entry(model: impl Into<String>) -> Raw<$type> {
            Raw::new(<$type as Known>::PROVIDER, model.into(), None)
        }
    )*};
}
entries! {
    openai OpenAi
    anthropic Anthropic
    gemini Gemini
    deepseek DeepSeek
    grok Grok
    deepinfra DeepInfra
    fireworks Fireworks
}

impl Provider {
    /// OpenAI.
    pub const OPENAI: Self = Self(OpenAi::PROVIDER);
    /// Anthropic.
    pub const ANTHROPIC: Self = Self(Anthropic::PROVIDER);
    /// Gemini.
    pub const GEMINI: Self = Self(Gemini::PROVIDER);
    /// DeepSeek.
    pub const DEEPSEEK: Self = Self(DeepSeek::PROVIDER);
    /// xAI.
    pub const GROK: Self = Self(Grok::PROVIDER);
    /// DeepInfra.
    pub const DEEPINFRA: Self = Self(DeepInfra::PROVIDER);
    /// Fireworks.
    pub const FIREWORKS: Self = Self(Fireworks::PROVIDER);

    /// Returns the provider of this name, as routes name it.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        let mut providers = PROVIDERS.into_iter();
        providers.find(|provider| provider.name == name).map(Self)
    }

    /// Returns the name.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.0.name
    }
}

impl Rig {
    /// Begins a direct call of a provider that is known only now. With one that the source names, as in
    /// [`gemini`], a knob that it does not honour is no method.
    pub fn raw(&self, provider: Provider, model: impl Into<String>) -> Raw {
        Raw::new(provider.0, model.into(), Some(self.clone()))
    }
}

impl<P> Raw<P> {
    fn new(provider: &'static rig_spec::Provider, model: String, rig: Option<Rig>) -> Self {
        Self {
            asked: Asked {
                provider,
                model,
                key: None,
                system: String::new(),
                user: String::new(),
                tags: BTreeMap::new(),
                traceparent: None,
                policy: Policy::BLANK,
                form: Form::Free,
                tools: Vec::new(),
                grounding: false,
                cache: Cache::Off,
                effort: None,
            },
            rig,
            provider: PhantomData,
        }
    }

    /// Makes the call on this rig instead of the process default.
    pub fn on(mut self, rig: &Rig) -> Self {
        self.rig = Some(rig.clone());
        self
    }

    /// Sends this key instead of the rig's.
    pub fn key(mut self, key: impl Into<String>) -> Self {
        self.asked.key = Some(key.into());
        self
    }

    /// Sets the system prompt.
    pub fn system(mut self, text: impl Into<String>) -> Self {
        self.asked.system = text.into();
        self
    }

    /// Sets the user's turn.
    pub fn user(mut self, text: impl Into<String>) -> Self {
        self.asked.user = text.into();
        self
    }

    /// Puts a tag on the row. A key that is given again gets the new value.
    pub fn tag(mut self, key: impl Into<String>, value: impl Into<String>) -> Self {
        self.asked.tags.insert(key.into(), value.into());
        self
    }

    /// Says where in a trace the call belongs: see [`Call::traceparent`](crate::Call::traceparent).
    pub fn traceparent(mut self, header: &str) -> Self {
        self.asked.traceparent = Traceparent::parse(header);
        self
    }

    /// Ends the call with a failure of class `timeout` when its answer is not there after this long; a minute if nothing
    /// is said.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.asked.policy.timeout_ms = u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX);
        self
    }

    /// Sets how freely words are drawn: 0 to 2, with Anthropic 0 to 1.
    pub fn temperature(mut self, temperature: f64) -> Self
    where
        P: Honours<markers::Temperature>,
    {
        self.asked.policy.sampling.temperature = Some(temperature);
        self
    }

    /// Sets the share of the likely words that are drawn from: above 0, at most 1.
    pub fn top_p(mut self, top_p: f64) -> Self
    where
        P: Honours<markers::TopP>,
    {
        self.asked.policy.sampling.top_p = Some(top_p);
        self
    }

    /// Sets the most output tokens, reasoning included; at least 1.
    pub fn max_output_tokens(mut self, tokens: u32) -> Self
    where
        P: Honours<markers::MaxOutputTokens>,
    {
        self.asked.policy.sampling.max_output_tokens = Some(tokens);
        self
    }

    /// Asks for a service tier.
    pub fn tier(mut self, tier: Tier) -> Self
    where
        P: Honours<markers::Tier>,
    {
        self.asked.policy.tier = Some(tier);
        self
    }

    /// Has the provider enforce a JSON Schema. It is sent as it is, so it has to be in the part of JSON Schema that the
    /// provider takes. The name is one for the provider: 1 to 64 of `A-Z a-z 0-9 _ -`.
    pub fn json_schema(mut self, name: impl Into<String>, schema: &Value) -> Self
    where
        P: Honours<markers::JsonSchema>,
    {
        self.asked.form = Form::Schema {
            name: name.into(),
            json: schema.to_string(),
        };
        self
    }

    /// Has the provider answer in JSON. Most want the word in the prompt as well.
    pub fn json_mode(mut self) -> Self
    where
        P: Honours<markers::JsonMode>,
    {
        self.asked.form = Form::Json;
        self
    }

    /// Tells the model of a tool: its name, what it does, and a JSON Schema of its arguments. Nothing is run.
    pub fn tool(
        mut self,
        name: impl Into<String>,
        description: impl Into<String>,
        parameters: &Value,
    ) -> Self
    where
        P: Honours<markers::Tools>,
    {
        self.asked.tools.push(Tool {
            name: name.into(),
            description: description.into(),
            parameters: parameters.to_string(),
        });
        self
    }

    /// Has the provider search the web; what it draws on is in `meta.citations`.
    pub fn grounding(mut self) -> Self
    where
        P: Honours<markers::Grounding>,
    {
        self.asked.grounding = true;
        self
    }

    /// Asks the provider to cache the system prompt, in its own way.
    pub fn cache(mut self) -> Self
    where
        P: Honours<markers::Cache>,
    {
        self.asked.cache = Cache::System;
        self
    }

    /// Names a place in the provider's prompt cache: a key, or with Gemini a cache that you have made
    /// (`cachedContents/…`).
    pub fn cache_at(mut self, name: impl Into<String>) -> Self
    where
        P: Honours<markers::CacheHandle>,
    {
        self.asked.cache = Cache::At(name.into());
        self
    }

    /// Sets how hard the model thinks before it answers.
    pub fn reasoning(mut self, effort: Effort) -> Self
    where
        P: Honours<markers::Reasoning>,
    {
        self.asked.effort = Some(effort);
        self
    }

    /// Makes the call and returns the answer with how it came about; its meta is never `validated`.
    ///
    /// # Errors
    ///
    /// [`crate::Error::Config`] if the process default cannot be built, else [`crate::Error::Failure`]: also, without a row, for
    /// what the provider does not honour (`invariant_violation`) and for want of a key (`config_auth`).
    pub fn run(self) -> impl Future<Output = Result<Run<RawReply>>> + Send + use<P> {
        let served = self.serve(None);
        async move { typed(served.await?) }
    }

    /// Makes the call and returns what happens while it happens; the same row and result as with [`Raw::run`]. Nothing
    /// happens until the stream is polled, and dropping it ends the call.
    pub fn stream(self) -> Events<RawReply> {
        Events::new(typed, |listener| self.serve(Some(listener)))
    }

    fn serve(self, listener: Option<Listener>) -> BoxFuture<'static, Result<Served>> {
        let Self { asked, rig, .. } = self;
        Box::pin(async move {
            let rig = match rig {
                Some(rig) => rig,
                None => rig::process_default(None).await?.0,
            };
            lane::run(rig.parts(), &asked, listener.as_ref()).await
        })
    }
}

impl<P> IntoFuture for Raw<P> {
    type Output = Result<RawReply>;
    type IntoFuture = BoxFuture<'static, Result<RawReply>>;

    fn into_future(self) -> Self::IntoFuture {
        let served = self.serve(None);
        Box::pin(async move { Ok(typed(served.await?)?.output) })
    }
}

/// Returns the reply that the lane holds.
fn typed(served: Served) -> Result<Run<RawReply>> {
    let Run { output, meta } = served.run;
    let reply = match output {
        Turn::Output(held) => held.into(),
        Turn::ToolCalls(_) => None,
    };
    let output = reply.expect("the raw lane holds nothing but replies");
    Ok(Run { output, meta })
}

impl fmt::Debug for Provider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl<P> fmt::Debug for Raw<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Asked {
            provider, model, ..
        } = &self.asked;
        write!(f, "Raw({}/{model})", provider.name)
    }
}
