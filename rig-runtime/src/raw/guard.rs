//! What does a direct call say that its provider would not honour?
//!
//! Pure. It reads the table of knobs, and whatever it lets through is in the request.

use rig_spec::{CONFLICTS, Effort, Knob, Takes};

use super::{Asked, Cache, Form};
use crate::provider;

/// Returns what keeps the call from being sent; `None` sends it.
pub(super) fn objection(asked: &Asked) -> Option<String> {
    let said = said(asked);
    let refused = said.iter().find_map(|knob| refused(asked, *knob));
    misnamed(asked)
        .or(refused)
        .or_else(|| out_of_range(asked))
        .or_else(|| conflict(asked, &said))
        .or_else(|| nothing_to_cache(asked))
}

/// A name that is part of a URL must not change what the URL means.
fn misnamed(asked: &Asked) -> Option<String> {
    let is_model = provider::is_model(asked.provider, &asked.model);
    let objection = "is not the name of a model: letters, digits and `-._@`, or such a name after `models/` or `tunedModels/`";
    (!is_model).then(|| objection.to_owned())
}

/// Returns the knobs that the call sets.
fn said(asked: &Asked) -> Vec<Knob> {
    let is_set = |knob: &Knob| {
        let sampling = &asked.policy.sampling;
        match knob {
            Knob::Temperature => sampling.temperature.is_some(),
            Knob::TopP => sampling.top_p.is_some(),
            Knob::MaxOutputTokens => sampling.max_output_tokens.is_some(),
            Knob::Tier => asked.policy.tier.is_some(),
            Knob::JsonSchema => matches!(asked.form, Form::Schema { .. }),
            Knob::JsonMode => matches!(asked.form, Form::Json),
            Knob::Tools => !asked.tools.is_empty(),
            Knob::Grounding => asked.grounding,
            Knob::Cache => matches!(asked.cache, Cache::System),
            Knob::CacheHandle => matches!(asked.cache, Cache::At(_)),
            Knob::Reasoning => asked.effort.is_some(),
        }
    };
    Knob::ALL.into_iter().filter(is_set).collect()
}

fn refused(asked: &Asked, knob: Knob) -> Option<String> {
    let name = knob.name();
    match knob.at(asked.provider, &asked.model) {
        Takes::Yes => None,
        Takes::No => Some(format!("does not honour `{name}`")),
        Takes::WithoutReasoning if asked.effort == Some(Effort::None) => None,
        Takes::WithoutReasoning => {
            Some(format!("honours `{name}` only with `reasoning` at `none`"))
        }
        Takes::Efforts(levels) => {
            let effort = asked.effort.filter(|effort| !levels.contains(effort))?;
            let levels: Vec<_> = levels.iter().map(|level| level.name()).collect();
            let levels = levels.join(", ");
            Some(format!(
                "has no `{name}` at `{}`, but at {levels}",
                effort.name()
            ))
        }
    }
}

fn out_of_range(asked: &Asked) -> Option<String> {
    let sampling = &asked.policy.sampling;
    let highest = asked.provider.dialect.highest_temperature();
    let tiers = asked.provider.tiers;
    if sampling
        .temperature
        .is_some_and(|value| !(0.0..=highest).contains(&value))
    {
        return Some(format!("takes a `temperature` from 0 to {highest}"));
    }
    if sampling
        .top_p
        .is_some_and(|value| !(value > 0.0 && value <= 1.0))
    {
        return Some("takes a `top_p` above 0 and at most 1".to_owned());
    }
    if sampling.max_output_tokens == Some(0) {
        return Some("takes a `max_output_tokens` of at least 1".to_owned());
    }
    let tier = asked.policy.tier.filter(|tier| !tiers.contains(tier))?;
    Some(format!("has no tier `{}`", tier.name()))
}

fn conflict(asked: &Asked, said: &[Knob]) -> Option<String> {
    let mut conflicts = CONFLICTS.iter().filter(|conflict| {
        conflict.is_of(asked.provider, &asked.model) && said.contains(&conflict.knob)
    });
    conflicts.find_map(|conflict| {
        let other = conflict.others.iter().find(|other| said.contains(other))?;
        let (one, other) = (conflict.knob.name(), other.name());
        Some(format!("does not take `{one}` and `{other}` together"))
    })
}

fn nothing_to_cache(asked: &Asked) -> Option<String> {
    let is_empty = asked.system.trim().is_empty() && asked.tools.is_empty();
    let objects = is_empty && matches!(asked.cache, Cache::System);
    objects.then(|| "has nothing to `cache` without a system prompt".to_owned())
}
