//! How is a provider key held so that it cannot be printed?

use std::fmt;

/// A provider key. It has no way to show itself but to the request that carries it.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Key(String);

impl Key {
    /// Returns the key without surrounding white space, or `None` for an empty one.
    pub(crate) fn new(text: &str) -> Option<Self> {
        let text = text.trim();
        (!text.is_empty()).then(|| Self(text.to_owned()))
    }

    /// Returns whether the key can stand in an HTTP header.
    pub(crate) fn is_sendable(&self) -> bool {
        self.0.bytes().all(|byte| (b' '..=b'~').contains(&byte))
    }

    /// Returns the key's text, for a request's header.
    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(…)")
    }
}
