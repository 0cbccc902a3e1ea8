//! The rules of the house: reads the sources, and names who breaks one.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// A file of the repository: its path from the root, and its text.
struct File {
    path: String,
    text: String,
}

impl File {
    fn is_rust(&self) -> bool {
        // What `rig-build` is expected to generate is nobody's source.
        self.path.ends_with(".rs") && !self.path.ends_with("/expanded.rs")
    }

    /// Whether it is a source of one of the published crates.
    fn is_library(&self) -> bool {
        self.is_rust()
            && CRATES
                .iter()
                .any(|name| self.path.starts_with(&format!("{name}/src/")))
    }

    /// The code without its tests.
    fn code(&self) -> &str {
        if self.path.ends_with("/tests.rs") {
            return "";
        }
        let code = self.text.split("#[cfg(test)]\nmod tests {").next();
        code.unwrap_or_default()
    }
}

const CRATES: [&str; 5] = ["rig", "rig-spec", "rig-build", "rig-macros", "rig-runtime"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Every text file of the repository, in the order of their paths.
fn files() -> Vec<File> {
    let root = root();
    let mut found = Vec::new();
    let mut folders = vec![root.clone()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if name.starts_with('.') || name == "target" || name == "Cargo.lock" {
                continue;
            }
            if path.is_dir() {
                folders.push(path);
            } else if let Ok(text) = fs::read_to_string(&path) {
                let path = path.strip_prefix(&root).unwrap();
                let path = path.to_string_lossy().replace('\\', "/");
                found.push(File { path, text });
            }
        }
    }
    found.sort_by(|a, b| a.path.cmp(&b.path));
    assert!(found.len() > 100, "the repository is where it was");
    found
}

fn names_in(folder: &str) -> BTreeSet<String> {
    let entries = fs::read_dir(root().join(folder)).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned());
    names.collect()
}

fn conclude(rule: &str, offenders: &[String]) {
    assert!(offenders.is_empty(), "{rule}:\n{}", offenders.join("\n"));
}

/// The lines of a section of a manifest, e.g. `dependencies`.
fn section(manifest: &str, name: &str) -> Vec<String> {
    let header = format!("[{name}]");
    let lines = manifest.lines().skip_while(|line| *line != header).skip(1);
    let lines = lines.take_while(|line| !line.starts_with('['));
    lines
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map(str::to_owned)
        .collect()
}

/// The name that a line of `[dependencies]` gives.
fn dependency(line: &str) -> &str {
    line.split(['.', ' ', '=']).next().unwrap_or_default()
}

fn manifest(member: &str) -> String {
    fs::read_to_string(root().join(member).join("Cargo.toml")).unwrap()
}

#[test]
fn imports_point_one_way() {
    let arrows: [(&str, &[&str]); 6] = [
        ("rig", &["rig-macros", "rig-runtime", "rig-spec"]),
        ("rig-spec", &[]),
        ("rig-build", &["rig-spec"]),
        ("rig-macros", &[]),
        ("rig-runtime", &["rig-spec"]),
        ("cargo-rig", &["rig-build", "rig-runtime", "rig-spec"]),
    ];
    for (member, allowed) in arrows {
        let manifest = manifest(member);
        let lines = section(&manifest, "dependencies");
        let ours: Vec<_> = lines
            .iter()
            .map(|line| dependency(line))
            .filter(|name| CRATES.contains(name))
            .collect();
        assert_eq!(ours, allowed, "{member} imports of ours");
    }
}

#[test]
fn a_build_script_compiles_no_client_and_no_database() {
    const HEAVY: [&str; 6] = [
        "reqwest",
        "tokio",
        "rusqlite",
        "jsonschema",
        "serde_json",
        "rustls",
    ];
    for member in ["rig-build", "rig-spec", "rig-macros"] {
        for line in section(&manifest(member), "dependencies") {
            assert!(!HEAVY.contains(&dependency(&line)), "{member}: {line}");
        }
    }
}

#[test]
fn versions_and_lints_are_stated_once() {
    let workspace = manifest(".");
    let members = workspace
        .lines()
        .find(|line| line.starts_with("members = "))
        .unwrap();
    let mut offenders = Vec::new();
    for member in members.split('"').skip(1).step_by(2) {
        let manifest = manifest(member);
        for name in ["dependencies", "dev-dependencies", "build-dependencies"] {
            let stated = section(&manifest, name);
            let own = stated
                .iter()
                .filter(|line| !line.contains("workspace = true"));
            offenders.extend(own.map(|line| format!("{member}: {line}")));
        }
        if section(&manifest, "lints") != ["workspace = true"] {
            offenders.push(format!("{member}: its own lints"));
        }
    }
    conclude(
        "the workspace states every version and every lint",
        &offenders,
    );
}

#[test]
fn a_long_file_has_a_reason() {
    const LONGEST: usize = 400;
    let reason = format!("// tidy: longer than {LONGEST} lines because ");
    let mut offenders = Vec::new();
    for file in files().iter().filter(|file| file.is_rust()) {
        let lines = file.text.lines().count();
        let has_reason = file.text.lines().any(|line| line.starts_with(&reason));
        if (lines > LONGEST) != has_reason {
            offenders.push(format!("{}: {lines} lines", file.path));
        }
    }
    conclude(
        &format!("more than {LONGEST} lines want a reason, and no others: a line `{reason}…`"),
        &offenders,
    );
}

#[test]
fn every_check_is_listed_and_has_a_case() {
    let listed = fs::read_to_string(root().join("rig-build/src/check/mod.rs")).unwrap();
    let cases = names_in("rig-build/tests/reject");
    let mut offenders = Vec::new();
    for file in names_in("rig-build/src/check") {
        let rule = file.trim_end_matches(".rs");
        if ["mod", "checked"].contains(&rule) {
            continue;
        }
        let code = rule.replace('_', "-");
        if !listed.contains(&format!("(\"{code}\", {rule}::check)")) {
            offenders.push(format!("{rule}: not in CHECKS"));
        }
        if !cases.contains(&code) {
            offenders.push(format!("{rule}: no tests/reject/{code}"));
        }
    }
    conclude("a rule is listed in CHECKS and has a case", &offenders);
}

/// The codes of diagnostics: the literals that stand first in a call which makes one.
fn codes(code: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let makers = [
        "Diagnostic::error(",
        "Diagnostic::warning(",
        "Diagnostic::noted(",
        "unknown(",
    ];
    for maker in makers {
        for (at, _) in code.match_indices(maker) {
            let rest = code[at + maker.len()..].trim_start();
            found.extend(
                rest.strip_prefix('"')
                    .and_then(|rest| rest.split('"').next()),
            );
        }
    }
    found
}

#[test]
fn every_diagnostic_has_a_case_and_every_case_a_diagnostic() {
    let cases: BTreeSet<_> = names_in("rig-build/tests/reject")
        .iter()
        .map(|name| name.split("--").next().unwrap().to_owned())
        .filter(|name| name != "_base")
        .collect();
    let sources = files();
    let sources = sources
        .iter()
        .filter(|file| file.path.starts_with("rig-build/src/"));
    let codes: BTreeSet<_> = sources
        .flat_map(|file| codes(file.code()))
        .map(str::to_owned)
        .collect();
    assert!(codes.len() > 20, "{codes:?}");
    assert_eq!(codes, cases, "codes in the sources, cases in tests/reject");
}

#[test]
fn every_rust_file_opens_with_what_it_is_about() {
    let opens = |text: &str| text.starts_with("//! ") || text.starts_with("#![doc = include_str!");
    let sources = files();
    let offenders = sources
        .iter()
        .filter(|file| file.is_rust() && !opens(&file.text));
    let offenders: Vec<_> = offenders.map(|file| file.path.clone()).collect();
    conclude("a file opens with `//!`", &offenders);
}

#[test]
fn nothing_is_left_undone() {
    let words = [
        concat!("to", "do!("),
        concat!("un", "implemented!("),
        concat!("#[ig", "nore"),
        concat!("#[should", "_panic"),
    ];
    let mut offenders = Vec::new();
    for file in files().iter().filter(|file| file.is_rust()) {
        for word in words {
            if file.text.contains(word) {
                offenders.push(format!("{}: `{word}`", file.path));
            }
        }
    }
    conclude(
        "no gaps, and no tests that do not run or that expect a panic",
        &offenders,
    );
}

#[test]
fn no_file_knows_this_machine_or_another_ones_line_ends() {
    let places = ["work", "home", "root", "Users", "tmp"].map(|place| format!("/{place}/"));
    let mut offenders = Vec::new();
    for file in files() {
        if file.text.contains('\r') {
            offenders.push(format!("{}: a carriage return", file.path));
        }
        for (at, line) in file.text.lines().enumerate() {
            let starts_path = |place: &String| {
                line.match_indices(place.as_str()).any(|(at, _)| {
                    let before = line[..at].chars().next_back();
                    before.is_none_or(|c| c.is_whitespace() || "\"'`(=<>:".contains(c))
                })
            };
            if places.iter().any(starts_path) {
                offenders.push(format!("{}:{}: {line}", file.path, at + 1));
            }
        }
    }
    conclude("a repository works anywhere", &offenders);
}

/// What only these files may do.
#[test]
fn the_edge_is_where_it_was() {
    let rules: [(&str, &[&str], &[&str]); 5] = [
        (
            "connections are opened by the transport",
            &["reqwest", "hyper::", "TcpStream", "std::net", "tokio::net"],
            &[
                "rig-runtime/src/transport/http.rs",
                "rig-runtime/src/transport/http/clear.rs",
                "rig-runtime/src/transport/http/failure.rs",
                "rig-runtime/src/transport/http/lanes.rs",
                "rig-runtime/src/transport/http/outgoing.rs",
            ],
        ),
        (
            "time is read, and slept through, by the clock",
            &["SystemTime", "Instant::now", "tokio::time", "thread::sleep"],
            &["rig-runtime/src/clock.rs"],
        ),
        (
            "the environment is read where a client or a crate is built",
            &["env::var"],
            &[
                "rig-build/src/cargo.rs",
                "rig-macros/src/compiled.rs",
                "rig-runtime/src/access.rs",
            ],
        ),
        (
            "the YAML crate is named by one module",
            &["granit_parser"],
            &["rig-build/src/yaml.rs"],
        ),
        (
            "trial candidates are asked by replays only",
            &[".open_for_replay("],
            &["rig-runtime/src/replay.rs"],
        ),
    ];
    let sources = files();
    for (rule, words, allowed) in rules {
        let mut offenders = Vec::new();
        for file in sources.iter().filter(|file| file.is_library()) {
            let found = words.iter().find(|word| file.code().contains(**word));
            if let Some(word) = found
                && !allowed.contains(&file.path.as_str())
            {
                offenders.push(format!("{}: `{word}`", file.path));
            }
        }
        conclude(rule, &offenders);
        for path in allowed {
            assert!(
                sources.iter().any(|file| file.path == *path),
                "{path} has moved"
            );
        }
    }
}
