//! What is compiled, and by which cargo?

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// A crate below the target folder, with one module for each schema.
pub(crate) struct Scratch {
    pub(crate) folder: PathBuf,
    target: PathBuf,
}

/// What cargo made of a crate: its program, or for each module that does not compile the first error.
pub(crate) enum Built {
    Program(PathBuf),
    Broken(BTreeMap<usize, String>),
}

impl Scratch {
    /// Returns an empty crate of this name.
    pub(crate) fn new(name: &str) -> Self {
        let program = std::env::current_exe().unwrap();
        let target = program.ancestors().nth(2).unwrap().to_path_buf();
        let folder = target.join("schema_table").join(name);
        drop(fs::remove_dir_all(&folder));
        Self { folder, target }
    }

    /// Has exactly the versions that this repository was tested with.
    pub(crate) fn lock(&self) {
        fs::copy(
            repository().join("Cargo.lock"),
            self.folder.join("Cargo.lock"),
        )
        .unwrap();
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.folder.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Builds the crate's program. Of the cargo around it, cargo inherits only where registry and toolchain are.
    pub(crate) fn build(&self, is_offline: bool) -> Built {
        let mut command = Command::new(std::env::var_os("CARGO").unwrap_or("cargo".into()));
        for (name, _) in std::env::vars_os() {
            let text = name.to_string_lossy();
            let is_cargos = text.starts_with("CARGO") && text != "CARGO_HOME";
            // Build scripts of the registry run again where `OUT_DIR` around cargo is another.
            let others = ["RUSTFLAGS", "RUSTDOCFLAGS", "OUT_DIR"];
            if is_cargos || others.contains(&&*text) {
                command.env_remove(name);
            }
        }
        command
            .current_dir(&self.folder)
            .args(["build", "--message-format=json"])
            // The dependencies are those that the workspace's own tests were built with.
            .env("CARGO_BUILD_BUILD_DIR", &self.target)
            .env("CARGO_TARGET_DIR", self.target.join("schema_table/target"))
            .env("CARGO_PROFILE_DEV_DEBUG", "line-tables-only")
            .env("CARGO_NET_OFFLINE", is_offline.to_string())
            .env("CARGO_TERM_COLOR", "never");
        let output = command.output().unwrap();
        let stdout = String::from_utf8(output.stdout).unwrap();
        let messages: Vec<Value> = stdout
            .lines()
            .filter_map(|line| serde_json::from_str(line).ok())
            .collect();
        if output.status.success() {
            let mut programs = messages
                .iter()
                .filter_map(|message| message["executable"].as_str());
            return Built::Program(PathBuf::from(programs.next_back().unwrap()));
        }
        let mut broken = BTreeMap::new();
        for message in &messages {
            let error = &message["message"];
            let module = module_of(&error["spans"].to_string());
            if let (Some(module), Some("error")) = (module, error["level"].as_str()) {
                let text = error["message"].as_str().unwrap_or_default();
                broken.entry(module).or_insert_with(|| text.to_owned());
            }
        }
        let rendered = messages
            .iter()
            .filter_map(|message| message["message"]["rendered"].as_str());
        assert!(
            !broken.is_empty(),
            "{}\n{}{}",
            self.folder.display(),
            rendered.collect::<String>(),
            String::from_utf8_lossy(&output.stderr)
        );
        Built::Broken(broken)
    }
}

/// Returns the number of the module that an error is in, wherever its macros are.
fn module_of(spans: &str) -> Option<usize> {
    let mut places = spans.split("\"src/s").skip(1);
    places.find_map(|place| place.split_once(".rs\"")?.0.parse().ok())
}

/// Returns the folder of this workspace.
pub(crate) fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}
