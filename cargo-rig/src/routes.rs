//! Where are the routes that a command is about?

use std::path::{Path, PathBuf};

use crate::output::{Result, Stop};

/// A directory of routes.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Routes {
    /// Where it is.
    pub(crate) dir: PathBuf,
    /// Its path as messages say it: as a user can open it from where they are.
    pub(crate) shown: String,
}

/// The folder of routes in a crate.
const FOLDER: &str = "routes";

/// Returns the directory that is named; else the `routes` of this folder, or of the nearest one above that has some.
pub(crate) fn find(named: Option<&Path>) -> Result<Routes> {
    if let Some(named) = named {
        let shown = slashes(named);
        return Ok(Routes {
            dir: named.to_path_buf(),
            shown: shown.trim_end_matches('/').to_owned(),
        });
    }
    let here = std::env::current_dir()
        .map_err(|error| Stop::new(format!("this folder cannot be read: {error}")))?;
    found_from(&here).ok_or_else(|| {
        Stop::new(format!("no folder `{FOLDER}` here or in a folder above"))
            .help("go into a crate that has routes, or name their folder; `cargo rig new` makes a first one")
    })
}

/// Looks in this folder, and in those above until a crate without routes or the root is met.
fn found_from(here: &Path) -> Option<Routes> {
    let mut up = String::new();
    for folder in here.ancestors() {
        let dir = folder.join(FOLDER);
        if dir.is_dir() {
            let shown = format!("{up}{FOLDER}");
            return Some(Routes { dir, shown });
        }
        up += "../";
    }
    None
}

/// Returns a path with `/` between its parts on every system.
fn slashes(path: &Path) -> String {
    path.to_string_lossy().replace('\\', "/")
}
