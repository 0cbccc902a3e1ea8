//! What is known about a candidate, and from whom?
//!
//! Flags resolve one by one: `rig.yaml` overrides, then what was probed, then what is declared, then what the
//! provider's adapter does for any model (C11).

use rig_spec::{Capabilities, Capability, Limits, ModelFacts, Price, Probe, Tier, model_facts};

use crate::ir::ProviderRef;
use crate::project::Project;

/// What is known about a candidate.
#[derive(Clone, Debug, Default)]
pub(crate) struct Facts {
    /// The resolved flags.
    pub(crate) capabilities: Capabilities,
    /// Who said so, in the order of [`Capability::ALL`].
    sources: Vec<Source>,
    /// What its tokens cost, at the tier that the route asks for where that has a price.
    pub(crate) price: Option<Price>,
    /// What they cost at each other tier that may serve, by `Tier as usize`.
    pub(crate) tiers: [Option<Price>; Tier::ALL.len()],
    /// The context window, in tokens.
    pub(crate) context_window: Option<u64>,
    /// The most output tokens.
    pub(crate) max_output: Option<u64>,
    /// Whether registry or `rig.yaml` know the model.
    pub(crate) known: bool,
}

/// Who says whether a candidate has a capability.
#[derive(Clone, Debug, PartialEq)]
pub enum Source {
    /// `capability_overrides` in `rig.yaml`.
    Override,
    /// A probe.
    Probed(Probe),
    /// The provider or its price list.
    Declared,
    /// What the adapter does for any model of the provider.
    Adapter,
}

impl Facts {
    /// Returns how large an attempt of the candidate can become.
    pub(crate) fn limits(&self) -> Limits {
        Limits {
            context_window: self.context_window,
            max_output: self.max_output,
            tiers: self.tiers,
        }
    }

    /// Returns who says whether the candidate has the capability.
    pub(crate) fn source(&self, flag: Capability) -> &Source {
        self.sources.get(flag as usize).unwrap_or(&Source::Adapter)
    }
}

impl Source {
    /// Returns the word for it.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Override => "override",
            Self::Probed(_) => "probed",
            Self::Declared => "declared",
            Self::Adapter => "provider",
        }
    }

    /// Returns where the flag comes from, as a message says it.
    #[must_use]
    pub fn described(&self) -> String {
        match self {
            Self::Override => "overridden in `rig.yaml`".to_owned(),
            Self::Probed(probe) => {
                let showed = (f64::from(probe.samples) * probe.rate).round();
                format!(
                    "probed on {}: {showed} of {} requests showed it",
                    probe.date, probe.samples
                )
            }
            Self::Declared => "declared in the registry".to_owned(),
            Self::Adapter => "what holds for any model of the provider".to_owned(),
        }
    }
}

/// Returns what is known about a provider's model; `tier` is the one that the route asks for.
pub(crate) fn facts(
    provider: &ProviderRef,
    model: &str,
    tier: Option<Tier>,
    project: &Project,
) -> Facts {
    let name = provider.name();
    // Fireworks' models have a folder on the wire that no price list names.
    let leaf = model
        .strip_prefix("accounts/fireworks/models/")
        .filter(|_| name == "fireworks")
        .unwrap_or(model);
    let registry = match provider {
        ProviderRef::BuiltIn(_) => model_facts(name, leaf),
        ProviderRef::Host(_) => None,
    };
    let own = match provider {
        ProviderRef::BuiltIn(_) => None,
        ProviderRef::Host(host) => host.models.iter().find(|known| known.name == model),
    };
    let overridden = |wanted: &str| {
        let found = project.overrides.iter().find(|(name, _)| name == wanted);
        found.map(|(_, flags)| *flags)
    };
    let overrides = overridden(&format!("{name}/{model}")).or_else(|| overridden(name));
    let adapter = match provider {
        ProviderRef::BuiltIn(provider) => provider.capabilities,
        ProviderRef::Host(host) => host.capabilities,
    };
    let resolved = Capability::ALL.map(|flag| resolve(flag, overrides, registry.as_ref(), adapter));
    let held: Vec<_> = resolved
        .iter()
        .filter(|(_, holds, _)| *holds)
        .map(|(flag, ..)| *flag)
        .collect();
    let known = registry.is_some() || own.is_some();
    let registry = registry.unwrap_or_default();
    let price = own
        .and_then(|model| model.price)
        .or_else(|| registry.price_at(tier.unwrap_or(Tier::Standard)));
    // A price in `rig.yaml` holds for every tier.
    let has_own = own.is_some_and(|model| model.price.is_some());
    let other = |at: Tier| {
        let listed = registry
            .price_at(at)
            .filter(|_| at.may_serve(tier) && !has_own);
        listed.filter(|listed| Some(*listed) != price)
    };
    Facts {
        capabilities: Capabilities::of(&held),
        sources: resolved.into_iter().map(|(_, _, source)| source).collect(),
        price,
        tiers: Tier::ALL.map(other),
        context_window: own
            .and_then(|model| model.context)
            .or(registry.context_window),
        max_output: own
            .and_then(|model| model.max_output)
            .or(registry.max_output),
        known,
    }
}

fn resolve(
    flag: Capability,
    overrides: Option<Capabilities>,
    registry: Option<&ModelFacts>,
    adapter: Capabilities,
) -> (Capability, bool, Source) {
    if let Some(flags) = overrides {
        return (flag, flags.has(flag), Source::Override);
    }
    if let Some(probe) =
        registry.and_then(|facts| facts.probes.iter().find(|probe| probe.capability == flag))
    {
        return (flag, probe.holds, Source::Probed(probe.clone()));
    }
    let declared = match flag {
        Capability::StructuredNative | Capability::GroundedNative => registry
            .and_then(|facts| facts.declared)
            .map(|flags| flags.has(flag)),
        Capability::ZeroRetention => registry.and_then(|facts| facts.zero_retention),
        Capability::JsonMode | Capability::TraceVisible => None,
    };
    match declared {
        Some(holds) => (flag, holds, Source::Declared),
        None => (flag, adapter.has(flag), Source::Adapter),
    }
}
