//! Where are the routes that a command is about?

use std::path::{Path, PathBuf};

use rig_build::Compilation;

use crate::output::{Result, Stop};

/// A directory of routes.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Routes {
    /// Where it is.
    pub(crate) dir: PathBuf,
    /// Its path as messages say it: as a user can open it from where they are.
    pub(crate) shown: String,
    /// The file of the one route that is meant; `None` means them all.
    file: Option<String>,
}

/// The folder of routes in a crate.
const FOLDER: &str = "routes";

/// Returns the directory that is named, or that of the file that is named; else the `routes` of this folder, or of the
/// nearest one above that has some.
pub(crate) fn find(named: Option<&Path>) -> Result<Routes> {
    if let Some(named) = named {
        return Ok(of_path(named));
    }
    let here = std::env::current_dir()
        .map_err(|error| Stop::new(format!("this folder cannot be read: {error}")))?;
    found_from(&here).ok_or_else(|| {
        Stop::new(format!("no folder `{FOLDER}` here or in a folder above"))
            .help("go into a crate that has routes, or name their folder; `cargo rig new` makes a first one")
    })
}

fn of_path(named: &Path) -> Routes {
    let is_file = named.is_file();
    let (dir, file) = match named.file_name().filter(|_| is_file) {
        Some(name) => {
            let file = name.to_string_lossy().into_owned();
            (named.parent().unwrap_or(Path::new("")), Some(file))
        }
        None => (named, None),
    };
    let dir = if dir.as_os_str().is_empty() {
        Path::new(".")
    } else {
        dir
    };
    let shown = slashes(dir);
    let shown = match shown.trim_end_matches('/') {
        "" => "/".to_owned(),
        shown => shown.to_owned(),
    };
    Routes {
        dir: dir.to_path_buf(),
        shown,
        file,
    }
}

impl Routes {
    /// Leaves of a compilation what is about the route that is meant.
    pub(crate) fn narrow(&self, compilation: &mut Compilation) -> Result<()> {
        let Some(file) = &self.file else {
            return Ok(());
        };
        let shown = format!("{}/{file}", self.shown);
        compilation.routes.retain(|route| route.file == shown);
        if compilation.routes.is_empty() {
            let message = format!("`{shown}` is no route");
            return Err(Stop::new(message).help("a route is a `.yaml` file directly in its folder"));
        }
        Ok(())
    }
}

/// Looks in this folder, and in those above.
fn found_from(here: &Path) -> Option<Routes> {
    let mut up = String::new();
    for folder in here.ancestors() {
        let dir = folder.join(FOLDER);
        if dir.is_dir() {
            let shown = format!("{up}{FOLDER}");
            return Some(Routes {
                dir,
                shown,
                file: None,
            });
        }
        up += "../";
    }
    None
}

/// Returns a path with `/` between its parts on every system.
fn slashes(path: &Path) -> String {
    path.to_string_lossy().replace('\\', "/")
}
