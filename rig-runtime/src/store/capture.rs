//! What is kept of an answer's content, where a route asks for it?

use std::borrow::Cow;
use std::fmt;

/// The variables and the output of an attempt that served, kept beside its row.
///
/// It stays where the rows are: nothing sends it anywhere, and its `Debug` form shows neither.
#[derive(Clone, PartialEq, Eq)]
pub struct Capture {
    /// The attempt's id, which is its row's.
    pub id: String,
    /// When it was dispatched, in milliseconds since 1970 (UTC).
    pub ts_ms: i64,
    /// The run it belongs to.
    pub run_id: String,
    /// The route.
    pub route: Cow<'static, str>,
    /// The route's version.
    pub route_version: u32,
    /// The variables, as a JSON object.
    pub variables: String,
    /// The answer's text, as the model wrote it.
    pub output: String,
}

impl fmt::Debug for Capture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Capture")
            .field("id", &self.id)
            .field("variables_bytes", &self.variables.len())
            .field("output_bytes", &self.output.len())
            .finish_non_exhaustive()
    }
}
