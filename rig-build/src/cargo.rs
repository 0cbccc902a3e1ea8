//! What does a build script say to cargo?
//!
//! **Invariant:** a fault in a route that a function binds never fails the build script; the attribute raises it
//! where the user is looking.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use crate::compile::{Compilation, CompiledRoute};
use crate::diagnostic::Severity;
use crate::files::slashes;
use crate::output::compile_to;

/// Compiles the routes of a directory; to be called from `build.rs`.
///
/// The directory is relative to the crate that is built, and every path in a route is relative to the route's
/// file. The result goes to `$OUT_DIR/rig`, where `#[rig::route]` finds it; nothing else is written.
///
/// ```no_run
/// rig_build::compile("routes");
/// ```
///
/// # Exits
///
/// With status 1, after printing why, when the directory itself is at fault, when a route with errors is bound by no
/// function (a text scan of `src/` looks for `route("name"`), and when it is called twice. Errors of a bound route
/// become compile errors at the function instead.
#[expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "this is how a build script talks to cargo and to its user"
)]
pub fn compile(dir: impl AsRef<Path>) {
    if CALLED.swap(true, Ordering::SeqCst) {
        eprintln!(
            "rig_build::compile was called twice\nhelp: keep the routes of a crate in one directory"
        );
        std::process::exit(1);
    }
    let script = BuildScript::from_env().unwrap_or_else(|missing| {
        eprintln!(
            "rig_build::compile has to be called from a build script: `{missing}` is not set"
        );
        std::process::exit(1);
    });
    match script.run(dir.as_ref()) {
        Ok(outcome) => {
            print!("{}", outcome.directives);
            if let Some(faults) = outcome.faults {
                eprint!("{faults}");
                std::process::exit(1);
            }
        }
        Err(error) => {
            eprintln!("rig_build::compile cannot write to `OUT_DIR`: {error}");
            std::process::exit(1);
        }
    }
}

/// Whether `compile` was called: a second call would replace what the first one wrote.
static CALLED: AtomicBool = AtomicBool::new(false);

/// What cargo tells a build script.
struct BuildScript {
    manifest_dir: PathBuf,
    out_dir: PathBuf,
}

/// What a build script answers.
struct Outcome {
    directives: String,
    faults: Option<String>,
}

impl BuildScript {
    #[expect(
        clippy::disallowed_methods,
        reason = "cargo speaks to build scripts through the environment"
    )]
    fn from_env() -> Result<Self, &'static str> {
        let path = |name: &'static str| std::env::var_os(name).map(PathBuf::from).ok_or(name);
        Ok(Self {
            manifest_dir: path("CARGO_MANIFEST_DIR")?,
            out_dir: path("OUT_DIR")?,
        })
    }

    fn run(&self, dir: &Path) -> std::io::Result<Outcome> {
        let shown = slashes(dir);
        let shown = shown.trim_start_matches("./").trim_end_matches('/');
        let compilation = compile_to(
            &self.manifest_dir.join(dir),
            shown,
            &self.out_dir.join("rig"),
        )?;
        let bound = bound_routes(&self.manifest_dir.join("src"));
        let is_bound = |route: &CompiledRoute| bound.contains(&format!("\"{}\"", route.name));
        let mut directives = watch(&compilation);
        let mut faults: String = compilation
            .directory
            .iter()
            .map(|finding| format!("{}\n", finding.text))
            .collect();
        let mut all_bound = true;
        for route in &compilation.routes {
            all_bound &= is_bound(route);
            for finding in &route.findings {
                match finding.severity {
                    Severity::Warning => warn(&mut directives, &finding.text),
                    Severity::Error if !is_bound(route) => faults += &format!("{}\n", finding.text),
                    Severity::Error | Severity::Note => {}
                }
            }
            if !route.is_broken() && !is_bound(route) {
                let name = &route.name;
                let text = format!(
                    "the route `{name}` is bound by no function: add `#[rig::route(\"{name}\")]`, or remove its file"
                );
                warn(&mut directives, &text);
            }
        }
        // Only while something is unbound does an edit of a Rust file change what is said here.
        if !all_bound || !faults.is_empty() {
            directives += "cargo::rerun-if-changed=src\n";
        }
        Ok(Outcome {
            directives,
            faults: Some(faults).filter(|faults| !faults.is_empty()),
        })
    }
}

fn watch(compilation: &Compilation) -> String {
    let mut out = String::new();
    for path in &compilation.watched {
        let written = writeln!(out, "cargo::rerun-if-changed={}", path.display());
        debug_assert!(written.is_ok(), "writing to a string cannot fail");
    }
    out
}

/// A cargo warning is one line, so that a finding becomes one per line; cargo writes `warning: ` before each.
fn warn(out: &mut String, text: &str) {
    let plain = match text
        .strip_prefix("warning[")
        .and_then(|rest| rest.split_once("]: "))
    {
        Some((code, rest)) => format!("[{code}] {rest}"),
        None => text.to_owned(),
    };
    for line in plain.lines() {
        let written = writeln!(out, "cargo::warning={line}");
        debug_assert!(written.is_ok(), "writing to a string cannot fail");
    }
}

/// Returns what stands between the parentheses of every `route(…)` in the crate's sources: a plain text scan,
/// which has to find every binding and may find more.
fn bound_routes(src: &Path) -> String {
    let mut found = String::new();
    let mut folders = vec![src.to_path_buf()];
    while let Some(folder) = folders.pop() {
        let Ok(entries) = std::fs::read_dir(&folder) else {
            continue;
        };
        for path in entries.flatten().map(|entry| entry.path()) {
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = std::fs::read_to_string(&path).unwrap_or_default();
                for (_, rest) in text
                    .match_indices("route")
                    .map(|(at, word)| (at, &text[at + word.len()..]))
                {
                    if let Some(arguments) = rest.trim_start().strip_prefix('(') {
                        found += arguments.split(')').next().unwrap_or("");
                        found.push('\n');
                    }
                }
            }
        }
    }
    found
}
