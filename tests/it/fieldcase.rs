//! Field cases: what went wrong elsewhere, and must not here.
//!
//! The inputs lie beside the repository, in `shared/fieldcases`. Where they are not there a test says so and runs
//! with what it holds itself.

mod answers;
mod fc_01;
mod fc_02;
mod fc_05;
mod fc_06;
mod fc_41;
mod fc_58;
mod fc_59;
mod fc_65;
mod fc_71;
mod fc_73;
mod fc_75;
pub(crate) mod ladder;
mod streams;

use std::fs;
use std::path::{Path, PathBuf};

use rig_build::{CompiledRoute, Finding, Severity, compile_dir};
use serde_json::Value;

/// A folder of inputs.
struct Case(PathBuf);

impl Case {
    /// Returns the inputs of a case, or says that they are not there.
    #[expect(
        clippy::print_stderr,
        reason = "a test that could not look at its inputs says so aloud"
    )]
    fn open(name: &str) -> Option<Self> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../../shared/fieldcases")
            .join(name);
        if folder.is_dir() {
            return Some(Self(folder));
        }
        eprintln!("skipped: the inputs of {name} are not beside the repository");
        None
    }

    fn read(&self, file: &str) -> String {
        fs::read_to_string(self.0.join(file)).unwrap()
    }

    /// Returns the files of a folder of the case.
    fn files(&self, folder: &str) -> Vec<String> {
        let entries = fs::read_dir(self.0.join(folder)).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.map(|name| format!("{folder}/{name}")).collect()
    }

    fn json(&self, file: &str) -> Value {
        serde_json::from_str(&self.read(file)).unwrap()
    }

    /// Returns the files of a part of `expect.json`, and what is expected of each.
    fn expected(&self, part: &str) -> Vec<(String, String)> {
        let expect = self.json("expect.json");
        let files = expect[part].as_object().unwrap().iter();
        files
            .map(|(file, outcome)| (file.clone(), outcome.as_str().unwrap().to_owned()))
            .collect()
    }

    /// Compiles one route file beside the base's schema and prompt and these files of the case.
    fn compile(&self, name: &str, route: &str, beside: &[&str]) -> CompiledRoute {
        let base = Self(self.0.with_file_name("_base"));
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: String| fs::write(folder.path().join(name), text).unwrap();
        write("schema.json", base.read("schema.json"));
        write("prompt.md", base.read("prompt.md"));
        for file in beside {
            write(file, self.read(file));
        }
        write(name, route.to_owned());
        let mut compilation = compile_dir(folder.path(), "routes");
        assert_eq!(compilation.directory, []);
        let mut route = compilation.routes.remove(0);
        assert!(compilation.routes.is_empty());
        // The models of the cases are made up, and the compiler says that it does not know them.
        route
            .findings
            .retain(|finding| finding.code != "unknown-model");
        route
    }
}

/// Returns the one error of a route that does not compile.
fn the_error<'a>(file: &str, route: &'a CompiledRoute) -> &'a Finding {
    let findings = route.findings.iter();
    let errors: Vec<_> = findings
        .filter(|finding| finding.severity == Severity::Error)
        .collect();
    let [finding] = errors.as_slice() else {
        panic!("{file}: {:#?}", route.findings)
    };
    assert!(route.is_broken(), "{file}");
    finding
}

/// An error has this code, this place, and each of these words.
fn assert_error(file: &str, route: &CompiledRoute, code: &str, place: &str, words: &[&str]) {
    let finding = the_error(file, route);
    let text = &finding.text;
    assert_eq!(finding.code, code, "{file}: {text}");
    for word in words.iter().chain(&[place, "\nhelp: "]) {
        assert!(text.contains(word), "{file}: no `{word}` in:\n{text}");
    }
}
