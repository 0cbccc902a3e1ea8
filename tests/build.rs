//! Compiles the routes that the tests bind, those that the simulation draws, and what `rig-build` is expected to generate.

#[path = "build/drawn.rs"]
mod drawn;

use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    println!("cargo::rustc-check-cfg=cfg(trybuild)");
    rig_build::compile("routes");
    let out = output_folder()?;
    fs::write(out.join("drawn.rs"), drawn::modules(&out)?)?;
    fs::write(
        out.join("accept.rs"),
        accepted(Path::new("../rig-build/tests/accept"))?,
    )
}

/// Returns a module for each accepted route, so that rustc sees all of them at once.
fn accepted(folder: &Path) -> io::Result<String> {
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut cases = Vec::new();
    for entry in fs::read_dir(folder)? {
        cases.push(entry?.path());
    }
    cases.sort();
    let mut modules = String::new();
    for case in cases {
        let name = case.file_name().unwrap_or_default().to_string_lossy();
        let name = name.replace('-', "_");
        for route in rig_build::compile_dir(&case, "routes").routes {
            let Some(module) = route.expanded() else {
                return Err(io::Error::other(format!("{} is rejected", case.display())));
            };
            modules += &format!(
                "/// The route `{}`.\npub mod {name} {{\n    use ::rig::__private as __rig;\n\n{module}}}\n\n",
                route.name
            );
        }
    }
    Ok(modules)
}

#[expect(
    clippy::disallowed_methods,
    reason = "cargo speaks to build scripts through the environment"
)]
fn output_folder() -> io::Result<PathBuf> {
    let out = env::var_os("OUT_DIR").ok_or_else(|| io::Error::other("cargo sets `OUT_DIR`"))?;
    Ok(PathBuf::from(out))
}
