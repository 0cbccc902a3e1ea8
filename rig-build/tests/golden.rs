//! Every rejected route renders as its `stderr.txt`, every accepted one expands to its `expanded.rs`.
//!
//! A case is a folder that is compiled as a routes directory. `UPDATE_EXPECT=1` writes the files anew.

#![allow(clippy::unwrap_used, clippy::disallowed_methods)]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use rig_build::{CODES, Compilation, Severity, compile_dir};

fn cases(kind: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests")
        .join(kind);
    let mut cases: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    cases.retain(|path| path.is_dir() && !path.ends_with("_base"));
    cases.sort();
    cases
}

fn name(case: &Path) -> String {
    case.file_name().unwrap().to_string_lossy().into_owned()
}

/// Every finding of a compilation, in the order in which a user meets them.
fn rendered(compilation: &Compilation) -> String {
    let routes = compilation.routes.iter().flat_map(|route| &route.findings);
    compilation
        .directory
        .iter()
        .chain(routes)
        .map(|finding| format!("{}\n", finding.text))
        .collect()
}

fn expect(file: &Path, actual: &str, failures: &mut Vec<String>) {
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        fs::write(file, actual).unwrap();
    }
    let expected = fs::read_to_string(file).unwrap_or_default();
    if expected != actual {
        failures.push(format!(
            "{}:\n--- expected\n{expected}--- actual\n{actual}",
            file.display()
        ));
    }
}

fn conclude(failures: &[String]) {
    assert!(
        failures.is_empty(),
        "{} cases differ\n\n{}",
        failures.len(),
        failures.join("\n")
    );
}

// R7 and C1 to C17: each case is a mistake, and what the compiler says about it.
#[test]
fn rejected_routes_render_as_expected() {
    let mut failures = Vec::new();
    for case in cases("reject") {
        let compilation = compile_dir(&case, "routes");
        expect(
            &case.join("stderr.txt"),
            &rendered(&compilation),
            &mut failures,
        );
        let findings = compilation
            .routes
            .iter()
            .flat_map(|route| &route.findings)
            .chain(&compilation.directory);
        let codes: BTreeSet<_> = findings.map(|finding| finding.code).collect();
        let wanted = name(&case).split("--").next().unwrap().to_owned();
        if !codes.contains(wanted.as_str()) {
            failures.push(format!(
                "{}: no finding has the code `{wanted}`, only {codes:?}",
                name(&case)
            ));
        }
    }
    conclude(&failures);
}

#[test]
fn accepted_routes_expand_as_expected() {
    let mut failures = Vec::new();
    for case in cases("accept") {
        let compilation = compile_dir(&case, "routes");
        let texts = rendered(&compilation);
        expect(&case.join("stderr.txt"), &texts, &mut failures);
        for route in &compilation.routes {
            match route.expanded() {
                Some(module) => expect(&case.join("expanded.rs"), &module, &mut failures),
                None => failures.push(format!("{}: rejected\n{texts}", name(&case))),
            }
        }
        assert!(
            compilation
                .directory
                .iter()
                .all(|finding| finding.severity == Severity::Warning)
        );
    }
    conclude(&failures);
}

/// C3: two files with one route are a fault of the directory; C1 and C5 faults of other files are still told.
#[test]
fn one_broken_route_hides_no_other() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    let route = |name: &str, candidates: &str| {
        format!(
            "route: {name}\nversion: 1\nschema: null\ncandidates: {candidates}\nprompt: {{ system: ./p.md }}\n"
        )
    };
    write("p.md", "Hello.");
    write(
        "a.yaml",
        &route("same", "[{ provider: deepseek, model: deepseek-chat }]"),
    );
    write("b.yaml", &route("same", "[]"));
    write("c.yaml", "route: c\n\tx");
    write(
        "d.yaml",
        &route("d", "[{ provider: deepsek, model: deepseek-chat }]"),
    );
    let compilation = compile_dir(folder.path(), "routes");
    let directory: Vec<_> = compilation
        .directory
        .iter()
        .map(|finding| finding.code)
        .collect();
    assert_eq!(directory, ["duplicate-route"]);
    let codes = |route: &rig_build::CompiledRoute| {
        route
            .findings
            .iter()
            .map(|finding| finding.code)
            .collect::<Vec<_>>()
    };
    let found: Vec<_> = compilation
        .routes
        .iter()
        .map(|route| (route.name.as_str(), codes(route)))
        .collect();
    let expected = [
        ("same", vec![]),
        ("same", vec!["no-candidates"]),
        ("c", vec!["yaml-syntax"]),
        ("d", vec!["unknown-provider"]),
    ];
    assert_eq!(found, expected);
}

#[test]
fn a_missing_and_an_empty_directory_say_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let missing = compile_dir(&folder.path().join("nope"), "nope");
    let empty = compile_dir(folder.path(), "routes");
    for compilation in [missing, empty] {
        let [finding] = compilation.directory.as_slice() else {
            panic!("{:?}", compilation.directory)
        };
        assert_eq!(finding.code, "routes-directory");
        assert!(finding.text.contains("help: create "), "{}", finding.text);
    }
}

/// The same files give the same bytes, whatever the file system's order.
#[test]
fn compiling_twice_writes_nothing_the_second_time() {
    let folder = tempfile::tempdir().unwrap();
    let case = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/accept/every-key");
    let times = || {
        rig_build::compile_to(&case, "routes", folder.path()).unwrap();
        let entries = fs::read_dir(folder.path())
            .unwrap()
            .map(|entry| entry.unwrap());
        let mut times: Vec<_> = entries
            .map(|entry| (entry.path(), entry.metadata().unwrap().modified().unwrap()))
            .collect();
        times.sort();
        times
    };
    let first = times();
    assert!(!first.is_empty());
    assert_eq!(times(), first);
}

/// `docs/checks.md`: every code with its meaning, and its golden case as the example.
#[test]
fn the_docs_of_the_checks_are_printed_from_the_codes() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut page = String::from(
        "# Checks\n\nEvery finding of the route compiler has a code. This page is printed from the compiler's own table, its examples\nare what the compiler says.\n",
    );
    for code in CODES {
        let case = root.join("tests/reject").join(code.code);
        let text = fs::read_to_string(case.join("stderr.txt")).unwrap();
        let mut findings = text.split("\n\n");
        let head = format!("[{}]", code.code);
        for finding in text.split("\n\n").filter(|finding| finding.contains(&head)) {
            let severity = finding.split('[').next().unwrap();
            assert!(
                code.severity.contains(severity),
                "{}: {severity}",
                code.code
            );
        }
        let example = findings
            .find(|finding| finding.contains(&head))
            .unwrap_or_default();
        page += &format!(
            "\n## {}\n\n*{}.* {} {}\n\n**Fix.** {}\n\n```text\n{}\n```\n",
            code.code,
            code.severity,
            code.what,
            code.why,
            code.fix,
            example.trim_end()
        );
    }
    let mut failures = Vec::new();
    expect(&root.join("../docs/checks.md"), &page, &mut failures);
    conclude(&failures);
}

#[test]
fn every_case_has_a_code_and_every_code_a_case() {
    let cases: BTreeSet<_> = cases("reject")
        .iter()
        .map(|case| name(case).split("--").next().unwrap().to_owned())
        .collect();
    let codes: BTreeSet<_> = CODES.iter().map(|code| code.code.to_owned()).collect();
    assert_eq!(codes, cases);
}

/// An editor with `routes/route.schema.json` sees the shape of a route as the compiler does.
#[test]
fn the_editors_schema_agrees_about_shapes() {
    const SHAPE: [&str; 9] = [
        "unknown-key",
        "missing-key",
        "wrong-type",
        "unknown-value",
        "range",
        "unknown-class",
        "retry-class",
        "max-repairs",
        "route-name",
    ];
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let text = fs::read_to_string(root.join("../routes/route.schema.json")).unwrap();
    let validator = jsonschema::validator_for(&serde_json::from_str(&text).unwrap()).unwrap();
    let valid = |case: &Path| {
        let text = fs::read_to_string(case.join("route.yaml")).ok()?;
        let value: serde_json::Value = serde_yaml::from_str(&text).ok()?;
        Some(validator.is_valid(&value))
    };
    for case in cases("accept") {
        assert_eq!(valid(&case), Some(true), "{}", name(&case));
    }
    let mut refused = 0;
    for case in cases("reject") {
        let compilation = compile_dir(&case, "routes");
        let findings = compilation.routes.iter().flat_map(|route| &route.findings);
        // A fault of `rig.yaml` or of a tool is none of the route's.
        let shape = findings
            .into_iter()
            .filter(|finding| finding.text.contains("--> routes/route.yaml"))
            .any(|finding| SHAPE.contains(&finding.code));
        if shape {
            assert_ne!(valid(&case), Some(true), "{}", name(&case));
            refused += 1;
        }
    }
    assert!(refused > 15, "{refused}");
}
