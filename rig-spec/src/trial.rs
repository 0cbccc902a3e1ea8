//! What may a replay ask that a call may not?
//!
//! Trial candidates: a route declares them, and no call is ever served by one. A type of its own holds a route whose
//! variants have them, so that no call can be made of it by accident.

use crate::Route;

/// A route with its trial candidates, for replays of captured traffic and for nothing else (contract W4, R1, L13).
///
/// Its plan is the route's. Its variants are those of the route, with the trial candidates that they name, and one for
/// each declared candidate alone, of the name `provider/model`.
///
/// **Invariant:** it captures nothing.
#[derive(Debug, PartialEq)]
pub struct TrialRoute(Route);

impl TrialRoute {
    /// Returns the trial form of a route. Only the compiler's loader makes one.
    #[must_use]
    pub fn new(route: Route) -> Self {
        Self(Route {
            capture: false,
            ..route
        })
    }

    /// Returns the route's name.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.0.name
    }

    /// Returns the route's version.
    #[must_use]
    pub fn version(&self) -> u32 {
        self.0.version
    }

    /// Returns the names of the variants, in the route's order.
    pub fn variants(&self) -> impl Iterator<Item = &'static str> + '_ {
        self.0.variants.iter().map(|variant| variant.name)
    }

    /// Opens it. Only the replay of the runtime does, and a test of the sources holds everybody else to that.
    #[must_use]
    pub fn open_for_replay(&self) -> &Route {
        &self.0
    }
}
