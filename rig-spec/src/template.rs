//! What does a compiled prompt template look like?

use crate::Capability;

/// A compiled prompt: the runtime walks its segments and writes text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Template {
    /// The segments, in order.
    pub segments: &'static [Segment],
}

/// One piece of a template.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Segment {
    /// Text that stands for itself.
    Text(&'static str),
    /// The value of the input variable with this name.
    Variable(&'static str),
    /// Segments that are written only for candidates that have the capability (`when`), or lack it (`!when`).
    When {
        /// The capability that decides.
        capability: Capability,
        /// Whether the candidate has to have it.
        present: bool,
        /// Text and variables; conditionals do not nest.
        body: &'static [Segment],
    },
}
