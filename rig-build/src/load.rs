//! How does a checked route run without being compiled?
//!
//! The command line replays captures through routes that no build has seen. What `emit` writes as Rust is made here as
//! the value that this Rust evaluates to, so that the very same ladder runs it, and the very same gate judges.
//!
//! What a route refers to lives as long as the process: the runtime's data is `'static`, and is leaked here. A process
//! that loads routes loads a directory once and ends with it; a build script never comes here.

mod leak;

use std::path::Path;

use rig_spec::{Route, TrialRoute};

use crate::check::trial_plans;
use crate::compile::{Compilation, compile_with};

/// A good route, ready to run.
#[derive(Debug)]
pub struct LoadedRoute {
    /// The route, as its generated module holds it.
    pub route: &'static Route,
    /// The route with its trial candidates. Only replays take it.
    pub trial: &'static TrialRoute,
}

/// Compiles every route of a directory as [`compile_dir`](crate::compile_dir) does, and returns the good ones ready to
/// run as well.
#[must_use]
pub fn load_dir(dir: &Path, shown: &str) -> (Compilation, Vec<LoadedRoute>) {
    let mut loaded = Vec::new();
    let compilation = compile_with(dir, shown, &mut |route, checked| {
        let variants = checked.variants.iter();
        let trials = trial_plans(route, checked);
        let trials = trials.iter().map(|(name, plan)| (name.as_str(), plan));
        loaded.push(LoadedRoute {
            route: leak::value(leak::route(
                checked,
                variants.map(|(name, plan)| (name.as_str(), plan)),
            )),
            trial: leak::value(TrialRoute::new(leak::route(checked, trials))),
        });
    });
    (compilation, loaded)
}
