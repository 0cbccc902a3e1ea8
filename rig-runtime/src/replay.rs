//! How is captured traffic asked again?
//!
//! A [`Replay`] renders the variables of a [`Capture`] into the prompt of a variant and goes down the very same ladder as
//! a [`Call`]. Three things are different, and here is where they are (contract W4): trial candidates may
//! serve, an envelope pays for it always, and its rows have the tags [`REPLAY`] and [`REPLAY_OF`]. Nothing is captured:
//! a [`TrialRoute`] captures nothing. A caller's quality gate is no part of a route, so there is none.

use rig_spec::{TrialRoute, Usd};
use serde_json::{Map, Value};

use crate::call::{Call, RouteVariant, call};
use crate::error::{ConfigError, Result};
use crate::rig::Rig;
use crate::run::Run;
use crate::store::Capture;
use crate::turn::Turn;

/// The tag of every row of a replay; its value is the replay's id.
pub const REPLAY: &str = "replay";

/// The tag that names the capture of which a row is the replay.
pub const REPLAY_OF: &str = "replay_of";

/// The route itself, as [`Replay::variant`] names it.
pub const DEFAULT: &str = "default";

/// What is asked again, and how.
#[derive(Clone, Debug)]
pub struct Replay<'a> {
    /// The route.
    pub route: &'static TrialRoute,
    /// The variant; [`DEFAULT`] is the route itself.
    pub variant: &'a str,
    /// What was captured.
    pub capture: &'a Capture,
    /// The id that the rows are tagged with.
    pub id: &'a str,
    /// The envelope that pays for every dispatch.
    pub envelope: &'a str,
    /// The cap of the envelope, if this opens it.
    pub cap: Usd,
}

/// A variant by its place.
#[derive(Clone, Copy)]
struct Nth(usize);

impl RouteVariant for Nth {
    fn index(self) -> usize {
        self.0
    }
}

impl Replay<'_> {
    /// Asks, and returns the answer with how it came about.
    ///
    /// # Errors
    ///
    /// As [`Call::run`](crate::Call::run): `Config` where nothing could be dispatched, among others because the route
    /// has no such variant, else `Failure`.
    pub async fn run(&self, rig: &Rig) -> Result<Run<Turn<Value>>> {
        let variables: Option<Map<String, Value>> =
            serde_json::from_str(&self.capture.variables).ok();
        let name = self.route.name();
        let variables = variables.ok_or(ConfigError::Input { route: name })?;
        let mut replay: Call<Turn<Value>, Nth> = call(self.route.open_for_replay(), variables)
            .on(rig)
            .tag(REPLAY, self.id)
            .tag(REPLAY_OF, self.capture.id.clone())
            .envelope(self.envelope, self.cap);
        if self.variant != DEFAULT {
            let place = self.route.variants().position(|name| name == self.variant);
            let unknown = ConfigError::UnknownVariant { route: name };
            replay = replay.variant(Nth(place.ok_or(unknown)?));
        }
        replay.run().await
    }
}
