//! What do the calls of a route have in common at their beginning?
//!
//! Providers cache beginnings of prompts. A route with `cache: auto` tells each of them, in its own way, where the
//! common beginning ends, or by which key it is known.

use rig_spec::{CacheDirective, Schema, Tool};

use crate::cache::CacheHandle;

/// The common beginning of a route's calls, for one candidate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Prefix {
    /// How many bytes of the system prompt belong to it.
    pub(crate) shared: usize,
    /// Which one it is: the same in every process, and not a word of it.
    pub(crate) fingerprint: String,
    /// The caller's own name for it.
    name: Option<String>,
}

impl Prefix {
    /// Returns the common beginning: so much of the system prompt, and the schema and tools that go with it.
    pub(crate) fn new(
        system: &str,
        shared: usize,
        schema: Option<&Schema>,
        tools: &[Tool],
    ) -> Self {
        let mut hash = Fnv::default();
        hash.text(system.get(..shared).unwrap_or_default());
        hash.text(schema.map_or("", |schema| schema.json));
        for tool in tools {
            hash.text(tool.name);
            hash.text(tool.description);
            hash.text(tool.parameters.json);
        }
        Self {
            shared,
            fingerprint: format!("{:016x}", hash.0),
            name: None,
        }
    }

    /// Names the place where it is cached.
    pub(crate) fn at(self, handle: Option<&CacheHandle>) -> Self {
        let name = handle.map(|handle| handle.name.clone());
        Self { name, ..self }
    }

    /// Returns what a provider's cache is told as a name or a key; `None` where it is told none.
    pub(crate) fn cache_key(&self, directive: CacheDirective) -> Option<&str> {
        match directive {
            CacheDirective::PromptCacheKey => Some(self.key()),
            CacheDirective::CachedContent => self.handle(),
            CacheDirective::CacheControl | CacheDirective::None => None,
        }
    }

    /// Returns the caller's own name for it.
    pub(crate) fn handle(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// Returns the key by which a provider finds it in its cache (W3: the caller's own wins).
    pub(crate) fn key(&self) -> &str {
        self.name.as_ref().unwrap_or(&self.fingerprint)
    }
}

/// FNV-1a, which is the same everywhere and for ever.
struct Fnv(u64);

impl Default for Fnv {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Fnv {
    /// Adds a text and its end, so that two texts are not one.
    fn text(&mut self, text: &str) {
        for byte in text.bytes().chain([0xff]) {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCHEMA: Schema = Schema {
        name: "s",
        json: "{}",
        skeleton: "",
        gate: "",
        hash: 1,
    };
    const TOOL: Tool = Tool {
        name: "lookup",
        description: "Looks up.",
        parameters: SCHEMA,
    };

    // W3: it changes with what is shared and with nothing else, and never from build to build.
    #[test]
    fn the_fingerprint_is_that_of_what_is_shared() {
        let of = |system: &str, schema: Option<&Schema>, tools: &[Tool]| {
            Prefix::new(system, 5, schema, tools).fingerprint
        };
        let base = of("abcde fgh", Some(&SCHEMA), &[TOOL]);
        assert_eq!(base, of("abcde xyz", Some(&SCHEMA), &[TOOL]));
        for other in [
            of("abcdX fgh", Some(&SCHEMA), &[TOOL]),
            of("abcde fgh", None, &[TOOL]),
            of("abcde fgh", Some(&SCHEMA), &[]),
        ] {
            assert_ne!(base, other);
        }
        assert_eq!(of("abcde", None, &[]), "3ed8cf501651145e");
    }
}
