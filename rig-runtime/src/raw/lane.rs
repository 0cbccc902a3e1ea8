//! What happens in a direct call?
//!
//! The guard, then one dispatch through the same encoder, exchange and row as an attempt of the ladder.

use std::time::Duration;

use rig_spec::{FailureClass, Prices, Tier, model_facts};

use super::{Asked, Cache, Form, RawReply, guard};
use crate::access::given_key;
use crate::attempt::{Limit, millis, violation};
use crate::cache::CacheHandle;
use crate::conform::Held;
use crate::dispatch::{Dispatch, Origin};
use crate::envelope;
use crate::error::{Error, Failure};
use crate::exchange::{Awaited, exchange};
use crate::id;
use crate::journal::Journal;
use crate::key::Key;
use crate::ladder::Served;
use crate::prefix::Prefix;
use crate::provider::{self, Failed, Offer, Prompt, Sent};
use crate::rig::Parts;
use crate::run::{Run, RunMeta};
use crate::store::RowFailure;
use crate::stream::Listener;
use crate::turn::Turn;

/// The lane of the row.
const LANE: &str = "raw";

/// Makes the call. Its row is stored when this returns.
pub(super) async fn run(
    parts: &Parts,
    asked: &Asked,
    listener: Option<&Listener>,
) -> Result<Served, Error> {
    let mut journal = Journal::new(id::fresh(&*parts.clock).to_string());
    let result = match admit(parts, asked) {
        Ok(host) => dispatch(parts, asked, &host, listener, &mut journal).await,
        Err(failed) => Err(failed),
    };
    // As with a call of a route: a row that could not be stored costs the caller nothing.
    parts.stored().await;
    let who = format!("{}/{}", asked.provider.name, asked.model);
    match result {
        Ok((reply, meta)) => Ok(Served {
            run: Run {
                output: Turn::Output(Held::unjudged(reply)),
                meta,
            },
            history: format!("{who} answered"),
        }),
        Err(failed) => Err(Error::Failure(Box::new(Failure {
            envelope: None,
            class: failed.class,
            message: failed.message,
            provider: asked.provider.name,
            model: asked.model.clone().into(),
            route: "",
            run_id: journal.run_id().to_owned(),
            history: match journal.attempts().total() {
                0 => "nothing was sent".to_owned(),
                _ => format!("{who} {}", failed.class),
            },
        }))),
    }
}

/// Where the call goes.
struct Target {
    base_url: String,
    key: Option<Key>,
}

/// Returns where the call goes, if its provider honours all of it and there is a key (W1: else no dispatch and no row).
#[expect(
    clippy::result_large_err,
    reason = "a failure is moved once, and there is one a call"
)]
fn admit(parts: &Parts, asked: &Asked) -> Result<Target, Failed> {
    let provider = asked.provider;
    if let Some(objection) = guard::objection(asked) {
        let message = format!("{}/{} {objection}", provider.name, asked.model);
        return Err(violation(message));
    }
    let host = parts.access.host(provider);
    let key = match &asked.key {
        Some(text) => given_key(provider.name, text).map(Some),
        None => host.key.clone(),
    };
    Ok(Target {
        base_url: host.base_url.clone(),
        key: key.map_err(|message| Failed::new(FailureClass::ConfigAuth, message))?,
    })
}

async fn dispatch(
    parts: &Parts,
    asked: &Asked,
    target: &Target,
    listener: Option<&Listener>,
    journal: &mut Journal,
) -> Result<(RawReply, RunMeta), Failed> {
    let provider = asked.provider;
    let key = target.key.as_ref();
    let prefix = prefix(asked);
    let tools: Vec<_> = asked.tools.iter().map(Offer::from).collect();
    let request = provider::encode(&Prompt {
        provider,
        model: &asked.model,
        base_url: &target.base_url,
        key,
        system: &asked.system,
        user: &asked.user,
        form: (&asked.form).into(),
        tools: &tools,
        searches: asked.grounding,
        prefix: prefix.as_ref(),
        policy: &asked.policy,
        effort: asked.effort,
        streams: listener.is_some(),
    });

    parts.room(None).await;
    let prices = prices(asked);
    let is_unpriced = prices.requested.is_none();
    let origin = Origin {
        lane: LANE,
        route: "",
        route_version: 0,
        variant: None,
        tags: &asked.tags,
        traceparent: asked.traceparent,
        listener,
    };
    let model = asked.model.clone().into();
    let mut dispatch = Dispatch::begin(parts, &origin, journal, provider.name.into(), model);
    let told = prefix
        .as_ref()
        .and_then(|prefix| prefix.cache_key(provider.cache));
    let cache_key = told.map(str::to_owned);
    let row = dispatch.row();
    row.requested_tier = asked.policy.tier;
    row.pricing_missing = is_unpriced;
    row.cache_key.clone_from(&cache_key);
    row.prefix_fingerprint = prefix.map(|prefix| prefix.fingerprint);

    let limit = Limit {
        time: Duration::from_millis(asked.policy.timeout_ms),
        cut: None,
    };
    let awaited = Awaited {
        provider,
        prices,
        has_tools: !tools.is_empty(),
        listener,
        policy: &asked.policy,
        limit,
        sent: Sent {
            key,
            handle: match &asked.cache {
                Cache::At(name) => Some(name),
                Cache::Off | Cache::System => None,
            },
            variables: None,
            texts: &[&asked.system, &asked.user],
        },
    };
    let reply = exchange(parts, &mut dispatch, request, &awaited).await;
    let reply = reply.map_err(|failed| dispatch.complete(failed));
    let is_unbilled = reply.as_ref().is_err_and(|failed| failed.unbilled);

    let latency = dispatch.elapsed();
    let (usage, served_tier) = match &reply {
        Ok(reply) => (reply.usage, reply.served_tier.clone()),
        Err(failed) => (failed.usage, failed.served_tier.clone()),
    };
    let price = prices.at(served_tier.as_deref());
    let searches = prices.searches(usage.searches);
    dispatch.charge(envelope::charge(usage, is_unbilled, price, searches));
    let cost = dispatch.used(usage, served_tier.clone(), &prices);
    let row = dispatch.row();
    row.latency_ms = millis(latency);
    let failure = reply.as_ref().err();
    row.failure = failure.map(|failed| RowFailure::Class(failed.class));
    let inference_id = row.id.clone();
    let reply = reply?;
    let meta = RunMeta {
        inference_id,
        run_id: journal.run_id().to_owned(),
        route: "",
        route_version: 0,
        provider: provider.name,
        model: asked.model.clone().into(),
        requested_tier: asked.policy.tier,
        served_tier,
        tokens_in: usage.tokens_in,
        tokens_out: usage.tokens_out,
        tokens_cached: usage.tokens_cached,
        tokens_cache_write: usage.tokens_cache_write,
        searches: usage.searches,
        cache_key,
        cost,
        run_cost: cost,
        pricing_missing: is_unpriced,
        latency,
        validated: false,
        attempts: journal.attempts(),
        served_variant: None,
        repaired_by: None,
        citations: reply.citations.clone(),
        tool_calls: Vec::new(),
    };
    Ok((reply.into(), meta))
}

/// Returns what the provider's cache is told.
fn prefix(asked: &Asked) -> Option<Prefix> {
    let system = &asked.system;
    let prefix = || Prefix::new(system, system.len(), None, &[]);
    match &asked.cache {
        Cache::Off => None,
        Cache::System => Some(prefix()),
        Cache::At(name) => {
            let handle = CacheHandle::new(asked.provider.name, name.as_str());
            Some(prefix().at(Some(&handle)))
        }
    }
}

/// Returns what the model's tokens cost at each tier, where that is known.
fn prices(asked: &Asked) -> Prices {
    let facts = model_facts(asked.provider.name, &asked.model).unwrap_or_default();
    Prices {
        requested: facts.price_at(asked.policy.tier.unwrap_or(Tier::Standard)),
        others: Tier::ALL.map(|tier| facts.price_at(tier)),
        search: asked
            .grounding
            .then(|| asked.provider.search_fee(&asked.model)),
    }
}

impl<'a> From<&'a super::Tool> for Offer<'a> {
    fn from(tool: &'a super::Tool) -> Self {
        Self {
            name: &tool.name,
            description: &tool.description,
            parameters: &tool.parameters,
        }
    }
}

impl<'a> From<&'a Form> for provider::Form<'a> {
    fn from(form: &'a Form) -> Self {
        match form {
            Form::Free => Self::Free,
            Form::Json => Self::Json,
            Form::Schema { name, json } => Self::Schema { name, json },
        }
    }
}
