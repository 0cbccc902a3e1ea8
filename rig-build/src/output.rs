//! What is written to the folder that `#[rig::route]` reads?
//!
//! `<route>.rs` and `<route>.md` of a good route; `<route>.err` of a broken one, with `<route>.types.rs` where its input
//! type is good; `<route>.output.rs` where its output types are; and an index. `rig-macros` reads the same names.

use std::collections::BTreeSet;
use std::io;
use std::path::Path;

use crate::compile::{Compilation, compile_dir};
use crate::diagnostic::Severity;

/// Compiles a directory of routes into `out`, and touches only the files that change.
///
/// `shown` is the directory's path as messages say it. This is what `compile` does, for tests and tools.
///
/// # Errors
///
/// Returns what the system says when `out` cannot be written. A fault in a route is no error: it is in the
/// returned [`Compilation`].
pub fn compile_to(dir: &Path, shown: &str, out: &Path) -> io::Result<Compilation> {
    let compilation = compile_dir(dir, shown);
    std::fs::create_dir_all(out)?;
    let mut wanted = BTreeSet::new();
    let mut index = String::new();
    for route in &compilation.routes {
        let mut write = |kind: &str, text: &str| {
            let name = format!("{}.{kind}", route.name);
            let result = write_changed(&out.join(&name), text);
            wanted.insert(name);
            result
        };
        if let Some(types) = &route.output_types {
            write("output.rs", types)?;
        }
        match &route.module {
            Some(module) => {
                write("rs", module)?;
                write("md", &route.docs)?;
            }
            None => {
                if let Some(types) = &route.types {
                    write("types.rs", types)?;
                }
                let errors = route
                    .findings
                    .iter()
                    .filter(|finding| finding.severity == Severity::Error);
                let texts: Vec<_> = errors.map(|finding| finding.text.as_str()).collect();
                write("err", &texts.join(RECORD_SEPARATOR))?;
            }
        }
        let output = route
            .output
            .as_deref()
            .unwrap_or(if route.is_broken() { "" } else { "-" });
        index += &format!("{}\t{output}\n", route.name);
    }
    write_changed(&out.join(INDEX), &index)?;
    wanted.insert(INDEX.to_owned());
    for entry in std::fs::read_dir(out)? {
        let entry = entry?;
        if !wanted.contains(entry.file_name().to_string_lossy().as_ref())
            && entry.file_type()?.is_file()
        {
            std::fs::remove_file(entry.path())?;
        }
    }
    Ok(compilation)
}

/// Stands between the findings of an `.err` file. `rig-macros` splits at it.
const RECORD_SEPARATOR: &str = "\u{1e}";

/// One line per route: its name, a tab, and its output type (`-` for any JSON value, nothing where unknown).
const INDEX: &str = "routes.index";

fn write_changed(path: &Path, text: &str) -> io::Result<()> {
    if std::fs::read(path).is_ok_and(|old| old == text.as_bytes()) {
        return Ok(());
    }
    std::fs::write(path, text)
}
