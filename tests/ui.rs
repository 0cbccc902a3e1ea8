//! What rustc shows a user: each `ui/<case>.rs` fails to compile with the text of its `.stderr`.
//!
//! The routes of all cases are compiled once. No build script runs for a case, so the attribute is told by
//! `RIG_OUT_DIR` where they are. A process cannot set its own environment safely, so this one starts itself again.

#![allow(clippy::unwrap_used)]

use std::env;
use std::path::Path;
use std::process::{Command, ExitCode};

const OUT_DIR: &str = "RIG_OUT_DIR";

#[expect(
    clippy::disallowed_methods,
    reason = "the attribute reads the environment, so that it has to be set up here"
)]
fn main() -> ExitCode {
    if env::var_os(OUT_DIR).is_some() {
        trybuild::TestCases::new().compile_fail("ui/*.rs");
        return ExitCode::SUCCESS;
    }
    let routes = Path::new(env!("CARGO_MANIFEST_DIR")).join("ui/routes");
    // Named as cargo names a package's `OUT_DIR`, so that the texts hold no path of this machine.
    let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join("routes-0123456789abcdef/out");
    let compilation = rig_build::compile_to(&routes, "routes", &out).unwrap();
    assert_eq!(
        compilation.directory,
        [],
        "only the routes themselves are broken"
    );
    let status = Command::new(env::current_exe().unwrap())
        .args(env::args_os().skip(1))
        .env(OUT_DIR, out)
        .status()
        .unwrap();
    if status.success() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
