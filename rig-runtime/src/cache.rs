//! Which place in a provider's prompt cache does the caller mean?

use rig_spec::Route;

/// A place in the prompt cache of one provider, which the caller names. It means nothing to any other.
///
/// For a provider with a `prompt_cache_key` it is that key: requests that carry the same one go where their beginning is
/// cached. For Gemini it is the name of a cache that you have made (`cachedContents/…`): it stands in front of the
/// prompt, which then is all in the user's turn, since a request with a cache takes neither a system instruction nor tools.
/// One that has ended is `cache_invalid`, and retries of that candidate do without it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CacheHandle {
    pub(crate) provider: String,
    pub(crate) name: String,
}

impl CacheHandle {
    /// Returns the handle of this name at a provider, as routes name it.
    #[must_use]
    pub fn new(provider: impl Into<String>, name: impl Into<String>) -> Self {
        Self {
            provider: provider.into(),
            name: name.into(),
        }
    }

    /// Returns whether a candidate of the route can be told it.
    pub(crate) fn is_taken(&self, route: &Route) -> bool {
        let variants = route.variants.iter().map(|variant| &variant.plan);
        let plans = [&route.plan].into_iter().chain(variants);
        let mut providers = plans
            .flat_map(|plan| plan.candidates)
            .map(|candidate| candidate.provider);
        providers.any(|provider| provider.name == self.provider && provider.cache.takes_handle())
    }
}
