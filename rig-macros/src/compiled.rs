//! What did the build script write?
//!
//! `routes.index` has a line per route: its name, a tab, its output type (`-` for any JSON value). A good route
//! has `<name>.rs` and `<name>.md`; a broken one `<name>.err`, and `<name>.types.rs` where its types are good. The types of
//! its output are in `<name>.output.rs`, where there are any.

use std::path::{Path, PathBuf};

/// The folder that the build script wrote to.
pub(crate) struct Compiled {
    folder: PathBuf,
    /// Whether the files are to be named relative to `OUT_DIR`, as in every ordinary build.
    in_out_dir: bool,
    routes: Vec<(String, String)>,
}

/// A route that was compiled.
pub(crate) enum Found {
    /// It is good.
    Good {
        /// Whether its output is a type of its module, rather than any JSON value.
        typed: bool,
    },
    /// It has errors.
    Broken {
        /// The findings, rendered.
        findings: Vec<String>,
        /// Whether there is a file with its types.
        types: bool,
    },
}

impl Compiled {
    /// Reads the index; the error is what to tell the user.
    pub(crate) fn open() -> Result<Self, String> {
        let given = variable("RIG_OUT_DIR");
        let in_out_dir = given.is_none();
        let folder = given
            .or_else(|| Some(variable("OUT_DIR")?.join("rig")))
            .ok_or(NO_BUILD_SCRIPT)?;
        let index =
            std::fs::read_to_string(folder.join("routes.index")).map_err(|_| NO_BUILD_SCRIPT)?;
        let lines = index.lines().filter_map(|line| line.split_once('\t'));
        let routes = lines
            .map(|(name, output)| (name.to_owned(), output.to_owned()))
            .collect();
        Ok(Self {
            folder,
            in_out_dir,
            routes,
        })
    }

    /// Returns the route; the error is what to tell the user.
    pub(crate) fn find(&self, route: &str) -> Result<Found, String> {
        let Some((_, output)) = self.routes.iter().find(|(name, _)| name == route) else {
            return Err(self.unknown(route));
        };
        let Ok(errors) = std::fs::read_to_string(self.folder.join(format!("{route}.err"))) else {
            return Ok(Found::Good {
                typed: output != "-",
            });
        };
        let findings = errors
            .split('\u{1e}')
            .map(|text| headline(text.trim_end()))
            .collect();
        let types = self.folder.join(format!("{route}.types.rs")).exists();
        Ok(Found::Broken { findings, types })
    }

    /// Returns the expression that names the file of a route's output types, where there is one.
    pub(crate) fn output_types(&self, route: &str) -> Option<proc_macro2::TokenStream> {
        let file = format!("{route}.output.rs");
        self.folder.join(&file).exists().then(|| self.path(&file))
    }

    /// Returns the expression that names a file, for `include!`.
    pub(crate) fn path(&self, file: &str) -> proc_macro2::TokenStream {
        if self.in_out_dir {
            let file = format!("/rig/{file}");
            return quote::quote!(::core::concat!(::core::env!("OUT_DIR"), #file));
        }
        let path = self.folder.join(file).to_string_lossy().into_owned();
        quote::quote!(#path)
    }

    fn unknown(&self, route: &str) -> String {
        let names = self.routes.iter().map(|(name, _)| name.as_str());
        let near = names
            .clone()
            .map(|name| (strsim::damerau_levenshtein(route, name), name))
            .filter(|(distance, _)| *distance <= (route.chars().count() / 3).max(1))
            .min();
        let help = match near {
            Some((_, name)) => format!("did you mean `{name}`?"),
            None => {
                let listed: Vec<_> = names.map(|name| format!("`{name}`")).collect();
                format!("the routes of this crate are {}", listed.join(", "))
            }
        };
        format!("there is no route `{route}`\nhelp: {help}")
    }
}

const NO_BUILD_SCRIPT: &str = "no routes were compiled for this crate
help: create `build.rs` beside `Cargo.toml`

    fn main() {
        rig_build::compile(\"routes\");
    }

and add to `Cargo.toml`

    [build-dependencies]
    rig-build = \"0.1\"
";

/// rustc writes `error: ` before the text of a compile error, so the finding's own goes.
fn headline(text: &str) -> String {
    match text
        .strip_prefix("error[")
        .and_then(|rest| rest.split_once("]: "))
    {
        Some((code, rest)) => format!("[{code}] {rest}"),
        None => text.to_owned(),
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "cargo tells a macro where its crate's build script wrote"
)]
fn variable(name: &str) -> Option<PathBuf> {
    std::env::var_os(name).map(|path| Path::new(&path).to_path_buf())
}
