//! What does cargo do with a crate that uses this repository?
//!
//! A scratch crate has a fixed folder below the target folder, and of a run before it only what differs is
//! written anew. Its build folder is this workspace's own, so that no crate of the registry is compiled twice;
//! its programs and its docs go to a folder of their own.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// The build script of a scratch crate with its routes in `routes`.
pub(crate) const BUILD: &str = "fn main() {\n    rig_build::compile(\"routes\");\n}\n";

/// The prompt of the field cases.
pub(crate) const PROMPT: &str = include_str!("../routes/fc.base.md");

/// The schema of the field cases.
pub(crate) const SCHEMA: &str = include_str!("../routes/fc.base.schema.json");

/// Returns the route of the field cases, under a name of the caller's choice.
pub(crate) fn route(name: &str) -> String {
    format!(
        "route: {name}
version: 1
schema: ./schema.json
candidates:
  - provider: deepseek
    model: deepseek-v4-flash
  - provider: fireworks
    model: kimi-k3
prompt:
  system: ./prompt.md
  variables: [q]
policy:
  timeout_ms: 2000
  tier: standard
  json: json_mode
"
    )
}

/// Returns the manifest of a crate that binds routes; `more` is what follows its dependencies.
pub(crate) fn manifest(name: &str, more: &str) -> String {
    format!(
        "[package]
name = \"{name}\"
version = \"0.0.0\"
edition = \"2024\"
license = \"MIT\"
description = \"A scratch crate.\"

[build-dependencies]
rig-build = {{ path = '{0}/rig-build' }}

[dependencies]
rig = {{ package = \"modelrig\", path = '{0}/rig' }}
{more}",
        repository().display()
    )
}

/// What makes a scratch crate a workspace of its own.
pub(crate) const WORKSPACE: &str = "\n[workspace]\nresolver = \"3\"\n";

/// The files of a folder, by their paths.
pub(crate) type Tree = BTreeMap<String, Vec<u8>>;

/// A scratch crate, or a workspace of some. Two tests, or two test runs, take turns at one name.
pub(crate) struct Scratch {
    root: PathBuf,
    _turn: File,
}

/// What cargo said.
pub(crate) struct Built {
    /// Whether it ended well.
    pub(crate) ok: bool,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Scratch {
    /// Returns the crate of this name with exactly these files.
    pub(crate) fn new(name: &str, files: &[(&str, &str)]) -> Self {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("scratch");
        let root = folder.join(name);
        fs::create_dir_all(&root).unwrap();
        let turn = File::create(folder.join(format!("{name}.lock"))).unwrap();
        turn.lock().unwrap();
        let scratch = Self { root, _turn: turn };
        for path in scratch.tree().keys() {
            if !files.iter().any(|(wanted, _)| wanted == path) {
                scratch.remove(path);
            }
        }
        for (path, text) in files {
            scratch.write(path, text);
        }
        // The versions that this repository was tested with; cargo resolves nothing anew.
        let lock = repository().join("Cargo.lock");
        fs::copy(lock, scratch.root.join("Cargo.lock")).unwrap();
        scratch
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// Writes a file, unless it holds this text already. Cargo compares the time of an edit with the start of its
    /// last run, and that lies a whole run back: nobody has to wait for an edit to count.
    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.root.join(path);
        if fs::read(&path).is_ok_and(|old| old == text.as_bytes()) {
            return;
        }
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
    }

    pub(crate) fn remove(&self, path: &str) {
        fs::remove_file(self.root.join(path)).unwrap();
    }

    /// Runs cargo in the crate's folder.
    pub(crate) fn cargo(&self, arguments: &[&str]) -> Built {
        run(cargo(&self.root).args(arguments))
    }

    /// Returns every file but the lock file, which is cargo's to write.
    pub(crate) fn tree(&self) -> Tree {
        let mut tree = Tree::new();
        walk(&self.root, &mut |path| {
            let name = path.strip_prefix(&self.root).unwrap();
            if name != Path::new("Cargo.lock") {
                let name = name.to_str().unwrap().replace('\\', "/");
                tree.insert(name, fs::read(path).unwrap());
            }
        });
        tree
    }
}

impl Built {
    /// Returns whether cargo compiled a crate.
    pub(crate) fn compiled(&self, name: &str) -> bool {
        self.stderr.contains(&format!("Compiling {name} v"))
    }

    /// Asserts that cargo ended well.
    #[track_caller]
    pub(crate) fn good(self) -> Self {
        assert!(self.ok, "{}{}", self.stdout, self.stderr);
        self
    }

    /// Asserts that cargo failed, with all of these in what it printed.
    #[track_caller]
    pub(crate) fn bad(self, parts: &[&str]) -> Self {
        assert!(!self.ok, "{}{}", self.stdout, self.stderr);
        self.says(parts)
    }

    /// Asserts that cargo printed all of these.
    #[track_caller]
    pub(crate) fn says(self, parts: &[&str]) -> Self {
        for part in parts {
            assert!(
                self.stderr.contains(part),
                "no {part:?} in:\n{}",
                self.stderr
            );
        }
        self
    }

    /// Asserts that cargo ended well and had nothing to do.
    #[track_caller]
    pub(crate) fn fresh(self) -> Self {
        let built = self.good();
        assert!(!built.stderr.contains("Compiling"), "{}", built.stderr);
        built
    }

    /// Returns the messages of `--message-format=json`.
    pub(crate) fn messages(&self) -> Vec<Value> {
        let lines = self.stdout.lines().filter(|line| line.starts_with('{'));
        lines
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }

    /// Returns the folders that the build scripts of these packages wrote to.
    pub(crate) fn out_dirs(&self, packages: &[&str]) -> Vec<PathBuf> {
        let is_of = |message: &Value, name: &str| {
            let id = message["package_id"].as_str().unwrap();
            id.contains(&format!("/{name}#")) || id.contains(&format!("#{name}@"))
        };
        let messages = self.messages();
        let of = |name: &&str| {
            let ran = messages
                .iter()
                .find(|message| {
                    message["reason"] == "build-script-executed" && is_of(message, name)
                })
                .unwrap_or_else(|| panic!("no build script of `{name}`"));
            PathBuf::from(ran["out_dir"].as_str().unwrap())
        };
        packages.iter().map(of).collect()
    }
}

/// Returns cargo, to be run in a folder. Of the cargo around the tests it inherits nothing but where the registry
/// and the toolchain are.
pub(crate) fn cargo(folder: &Path) -> Command {
    let build = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or("cargo".into()));
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        let is_cargos = text.starts_with("CARGO") && text != "CARGO_HOME";
        let is_flag = ["RUSTFLAGS", "RUSTDOCFLAGS", "RUSTC_WORKSPACE_WRAPPER"].contains(&&*text);
        if is_cargos || is_flag || text == "OUT_DIR" || text == "RIG_OUT_DIR" {
            command.env_remove(name);
        }
    }
    command
        .current_dir(folder)
        .env("CARGO_BUILD_BUILD_DIR", build)
        .env("CARGO_TARGET_DIR", build.join("scratch"))
        // The workspace's profile, without which the registry's crates would be compiled again.
        .env("CARGO_PROFILE_DEV_DEBUG", "line-tables-only")
        .env("CARGO_NET_OFFLINE", "true")
        .env("CARGO_TERM_COLOR", "never");
    command
}

/// Runs a command to its end.
pub(crate) fn run(command: &mut Command) -> Built {
    let output = command.output().unwrap();
    Built {
        ok: output.status.success(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// Calls `file` for every file below a folder.
pub(crate) fn walk(folder: &Path, file: &mut dyn FnMut(&Path)) {
    let entries = fs::read_dir(folder).unwrap();
    let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            walk(&path, file);
        } else {
            file(&path);
        }
    }
}

/// Returns the folder of this workspace.
pub(crate) fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}
