//! What can a candidate do?

use std::fmt;

/// One thing that a provider's model may be able to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Capability {
    /// The provider enforces a JSON Schema while the model writes.
    StructuredNative,
    /// The provider can be told to answer with JSON of any shape.
    JsonMode,
    /// The provider can search the web itself and cite what it found.
    GroundedNative,
    /// The model's reasoning is visible in the answer.
    TraceVisible,
    /// The endpoint is designated to keep nothing of what it was sent.
    ZeroRetention,
}

/// A set of [`Capability`] flags.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct Capabilities(u8);

impl Capability {
    /// Every flag.
    pub const ALL: [Self; 5] = [
        Self::StructuredNative,
        Self::JsonMode,
        Self::GroundedNative,
        Self::TraceVisible,
        Self::ZeroRetention,
    ];

    /// Returns the serialized name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::StructuredNative => "structured_native",
            Self::JsonMode => "json_mode",
            Self::GroundedNative => "grounded_native",
            Self::TraceVisible => "trace_visible",
            Self::ZeroRetention => "zero_retention",
        }
    }

    /// Returns the flag of a serialized name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|flag| flag.name() == name)
    }
}

impl Capabilities {
    /// Returns the set of these flags.
    #[must_use]
    pub const fn of(flags: &[Capability]) -> Self {
        let mut set = 0;
        let mut next = 0;
        while next < flags.len() {
            set |= 1 << flags[next] as u8;
            next += 1;
        }
        Self(set)
    }

    /// Returns whether the flag is in the set.
    #[must_use]
    pub const fn has(self, flag: Capability) -> bool {
        self.0 & (1 << flag as u8) != 0
    }

    /// Returns the flags of the set, in the order of [`Capability::ALL`].
    pub fn iter(self) -> impl Iterator<Item = Capability> {
        Capability::ALL
            .into_iter()
            .filter(move |flag| self.has(*flag))
    }
}

impl fmt::Debug for Capabilities {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}
