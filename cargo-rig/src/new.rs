//! `cargo rig new`: how does a crate get its first route?
//!
//! What is to be written is decided before anything is; a file that is there is left as it is.

mod manifest;
mod route;

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use anstyle::Style;
use rig_build::compile_dir;

use self::manifest::{Manifest, Wanted};
use self::route::NewRoute;
use crate::output::{Exit, GOOD, HELP, Output, Result, Stop, paint, say};
use crate::table::wrapped;

/// What `cargo rig new` is told.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The name of the route.
    #[arg(long, value_name = "NAME", default_value = "headline")]
    route: String,
    /// For the development of modelrig itself: depend on this checkout, not on the published version.
    #[arg(
        long,
        value_name = "DIR",
        env = "MODELRIG_CHECKOUT",
        hide_env_values = true
    )]
    checkout: Option<PathBuf>,
}

/// Adds a route to the crate of this folder, and prints the function that binds it.
pub(crate) fn run(arguments: &Arguments, output: &mut Output) -> Result {
    let root = crate_root()?;
    let read = |path: &Path| fs::read_to_string(path).map_err(|error| unreadable(path, &error));
    let manifest_path = root.join("Cargo.toml");
    let manifest = Manifest::read(&read(&manifest_path)?)?;
    let script = root.join("build.rs");
    let script = script.is_file().then(|| read(&script)).transpose()?;
    let folder = script
        .as_deref()
        .and_then(compiled_folder)
        .unwrap_or("routes");
    let is_program = root.join("src/main.rs").is_file();

    let route = NewRoute::named(&arguments.route)?;
    no_such_route(&root.join(folder), folder, &arguments.route)?;
    let checkout = arguments.checkout.as_deref().map(absolute).transpose()?;
    let wanted = Wanted {
        checkout: checkout.as_deref(),
        runs: is_program,
    };
    let edited = manifest.with(&wanted);

    let mut files = route.files(folder);
    if script.is_none() {
        files.push((
            "build.rs".to_owned(),
            format!("fn main() {{\n    rig_build::compile(\"{folder}\");\n}}\n"),
        ));
    }
    if let Some((path, _)) = files.iter().find(|(path, _)| root.join(path).exists()) {
        return Err(Stop::new(format!("`{path}` is there already"))
            .help("nothing was written; choose another name with `--route`"));
    }
    for (path, text) in &files {
        create(&root, path, text)?;
        tell(GOOD, "Added", path);
    }
    if let Some(text) = &edited.text {
        fs::write(&manifest_path, text).map_err(|error| unwritable("Cargo.toml", &error))?;
        tell(
            GOOD,
            "Changed",
            &format!("Cargo.toml: {}", edited.added.join(", ")),
        );
    }
    let mut todo = edited.todo;
    if script
        .as_deref()
        .is_some_and(|text| compiled_folder(text).is_none())
    {
        todo.push(format!(
            "in `build.rs`, add to `main`: `rig_build::compile(\"{folder}\");`"
        ));
    }
    todo.extend(manifest.script_elsewhere());
    for line in todo {
        tell(HELP, "To do", &line);
    }
    self_check(&root, folder, &arguments.route)?;
    let place = if is_program {
        "src/main.rs"
    } else {
        "src/lib.rs"
    };
    let keys = "then set OPENAI_API_KEY, ANTHROPIC_API_KEY or both";
    let then = if is_program {
        format!("{keys}, and `cargo run`")
    } else {
        format!("{keys}, and call it")
    };
    let told = format!(
        "put this into `{place}`, {then}; `cargo rig explain {}` tells what a call does",
        route.name()
    );
    say(&format!("\n{}\n", wrapped(&told, output.width(), 0)));
    output.print(&route.code(&edited.root, is_program))?;
    Ok(Exit::Good)
}

/// Tells what was done, as cargo does.
fn tell(style: Style, verb: &str, what: &str) {
    say(&format!(
        "{} {what}\n",
        paint(style, format_args!("{verb:>12}"))
    ));
}

/// Returns the folder of the nearest `Cargo.toml`.
fn crate_root() -> Result<PathBuf> {
    let here = std::env::current_dir().map_err(|error| unreadable(Path::new("."), &error))?;
    let found = here
        .ancestors()
        .find(|folder| folder.join("Cargo.toml").is_file());
    found.map(Path::to_path_buf).ok_or_else(|| {
        Stop::new("no `Cargo.toml` here or in a folder above")
            .help("`cargo new my-app`, and go into it")
    })
}

/// Returns the folder that a build script compiles.
fn compiled_folder(script: &str) -> Option<&str> {
    let (_, rest) = script.split_once("rig_build::compile(")?;
    let quoted = rest
        .trim_start()
        .strip_prefix('"')
        .and_then(|rest| rest.split('"').next());
    // One that is computed cannot be read here; the usual one is as good a guess as any.
    Some(quoted.unwrap_or("routes"))
}

fn no_such_route(dir: &Path, shown: &str, name: &str) -> Result<()> {
    if !dir.is_dir() {
        return Ok(());
    }
    let compilation = compile_dir(dir, shown);
    match compilation.routes.iter().find(|route| route.name == name) {
        Some(route) => Err(
            Stop::new(format!("`{}` holds a route `{name}` already", route.file))
                .help("nothing was written; choose another name with `--route`"),
        ),
        None => Ok(()),
    }
}

/// The compiler has the last word about what was written.
fn self_check(root: &Path, folder: &str, name: &str) -> Result<()> {
    let compilation = compile_dir(&root.join(folder), folder);
    let route = compilation.routes.iter().find(|route| route.name == name);
    match route {
        Some(route) if !route.is_broken() => Ok(()),
        Some(route) => {
            let texts: Vec<_> = route
                .findings
                .iter()
                .map(|finding| finding.text.as_str())
                .collect();
            Err(Stop::new(format!(
                "the new route has errors\n{}",
                texts.join("\n")
            )))
        }
        None => Err(Stop::new("the new route is not found")),
    }
}

fn create(root: &Path, path: &str, text: &str) -> Result<()> {
    let file = root.join(path);
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder).map_err(|error| unwritable(path, &error))?;
    }
    let created = OpenOptions::new().write(true).create_new(true).open(&file);
    created
        .and_then(|mut file| file.write_all(text.as_bytes()))
        .map_err(|error| unwritable(path, &error))
}

fn absolute(path: &Path) -> Result<PathBuf> {
    if !path.join("rig-build/Cargo.toml").is_file() {
        return Err(Stop::new(format!(
            "`{}` is no checkout of modelrig",
            path.display()
        )));
    }
    std::path::absolute(path).map_err(|error| unreadable(path, &error))
}

fn unreadable(path: &Path, error: &std::io::Error) -> Stop {
    Stop::new(format!("`{}` cannot be read: {error}", path.display()))
}

fn unwritable(path: &str, error: &std::io::Error) -> Stop {
    Stop::new(format!("`{path}` cannot be written: {error}"))
}

#[cfg(test)]
mod tests {
    use super::compiled_folder;

    #[test]
    fn the_folder_is_the_one_that_the_build_script_compiles() {
        assert_eq!(
            compiled_folder("fn main() { rig_build::compile(\"tasks\"); }"),
            Some("tasks")
        );
        assert_eq!(
            compiled_folder("fn main() { rig_build::compile( dir ); }"),
            Some("routes")
        );
        assert_eq!(compiled_folder("fn main() {}"), None);
    }
}
