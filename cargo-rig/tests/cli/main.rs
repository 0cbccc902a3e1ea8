//! What does the program print, and how does it end?

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "this binary is a test, and starts processes"
)]

mod bakeoff;
mod bench;
mod check;
mod diff;
mod docs;
mod explain;
mod new;
mod reading;
mod resume;
#[expect(dead_code, reason = "it serves the tests of the repository as well")]
#[path = "../../../tests/loopback/scratch.rs"]
mod scratch;
#[allow(dead_code, reason = "what only the tests of the transport need")]
#[path = "../../../tests/loopback/server.rs"]
mod server;
mod upkeep;

use std::path::{Path, PathBuf};
use std::process::Command;

/// What a command came to.
struct Ran {
    code: i32,
    stdout: String,
    stderr: String,
}

/// Runs `cargo-rig` in a folder, with nothing of the environment but what it needs to start, and `more`.
fn rig_with(folder: &Path, arguments: &[&str], more: &[(&str, &str)]) -> Ran {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-rig"));
    command.env_clear().current_dir(folder).args(arguments);
    for name in ["PATH", "HOME", "SystemRoot", "TEMP"] {
        if let Some(value) = std::env::var_os(name) {
            command.env(name, value);
        }
    }
    let output = command.envs(more.iter().copied()).output().unwrap();
    Ran {
        code: output.status.code().unwrap(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

fn rig(folder: &Path, arguments: &[&str]) -> Ran {
    rig_with(folder, arguments, &[])
}

/// The folder of this repository.
fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

/// Copies a folder and all that is in it.
fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let (path, to): (PathBuf, PathBuf) = {
            let entry = entry.unwrap();
            (entry.path(), to.join(entry.file_name()))
        };
        if path.is_dir() {
            copy(&path, &to);
        } else {
            std::fs::copy(&path, &to).unwrap();
        }
    }
}
