//! `cargo rig check` says what the compiler says.

use std::fs;
use std::path::{Path, PathBuf};

use rig_build::{CODES, Compilation, Finding, Place, compile_dir};
use serde_json::{Value, json};

use crate::{copy, repository, rig};

/// The golden cases of the compiler, by their names.
fn rejects() -> Vec<(String, PathBuf)> {
    let folder = repository().join("rig-build/tests/reject");
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    let mut cases: Vec<_> = entries
        .map(|entry| (entry.file_name().into_string().unwrap(), entry.path()))
        .filter(|(name, path)| path.is_dir() && name != "_base")
        .collect();
    cases.sort();
    assert!(cases.len() > 60);
    cases
}

/// Puts a golden case where a crate has its routes, with the files that it shares with others.
fn place_routes(case: &Path, root: &Path) {
    copy(case, &root.join("routes"));
    copy(&case.with_file_name("_base"), &root.join("_base"));
}

fn findings(compilation: &Compilation) -> impl Iterator<Item = &Finding> {
    let routes = compilation.routes.iter().flat_map(|route| &route.findings);
    compilation.directory.iter().chain(routes)
}

fn place(place: &Place) -> Value {
    let Place {
        file,
        line,
        column,
        end_line,
        end_column,
        label,
    } = place;
    json!({ "file": file, "line": line, "column": column, "end_line": end_line, "end_column": end_column, "label": label })
}

/// The program, run on a copy of each golden case, tells every finding of the compiler, part by part; its texts are the
/// golden ones, and its exit code says whether there is an error.
#[test]
fn every_golden_case_is_told_as_the_compiler_tells_it() {
    let folder = tempfile::tempdir().unwrap();
    for (name, case) in rejects() {
        let root = folder.path().join(&name);
        place_routes(&case, &root);
        let ran = rig(&root, &["check", "--json"]);
        let document: Value = serde_json::from_str(&ran.stdout).unwrap();
        let told = document["findings"].as_array().unwrap();

        let golden = fs::read_to_string(case.join("stderr.txt")).unwrap();
        let texts: String = told
            .iter()
            .map(|finding| format!("{}\n", finding["text"].as_str().unwrap()))
            .collect();
        assert_eq!(texts, golden, "{name}");

        let compilation = compile_dir(&case, "routes");
        let expected: Vec<_> = findings(&compilation).collect();
        assert_eq!(told.len(), expected.len(), "{name}");
        for (told, expected) in told.iter().zip(expected) {
            assert_eq!(told["code"], expected.code, "{name}");
            assert_eq!(told["severity"], expected.severity.name(), "{name}");
            assert_eq!(told["message"], json!(expected.message), "{name}");
            assert_eq!(
                told["place"],
                json!(expected.place.as_ref().map(place)),
                "{name}"
            );
            let related: Vec<_> = expected.related.iter().map(place).collect();
            assert_eq!(told["related"], json!(related), "{name}");
            assert_eq!(told["notes"], json!(expected.notes), "{name}");
            assert_eq!(told["help"], json!(expected.help), "{name}");
        }
        let errors = golden.matches("error[").count();
        assert_eq!(ran.code == 1, errors > 0, "{name}");
        assert_eq!(ran.stderr, "", "{name}");

        // People read the same.
        let ran = rig(&root, &["check"]);
        assert!(ran.stdout.starts_with(&golden), "{name}: {}", ran.stdout);
    }
}

/// A place is where the text says it is: line and column of the JSON are those behind the arrow.
#[test]
fn places_are_those_of_the_text() {
    for (name, case) in rejects() {
        for finding in findings(&compile_dir(&case, "routes")) {
            let Some(Place {
                file,
                line,
                column,
                end_line,
                end_column,
                ..
            }) = &finding.place
            else {
                continue;
            };
            let arrow = format!("--> {file}:{line}:{column}\n");
            assert!(
                finding.text.contains(&arrow),
                "{name}: {arrow}{}",
                finding.text
            );
            assert!((line, column) <= (end_line, end_column), "{name}");
        }
    }
}

/// SARIF 2.1.0, as code hosts read it: rules by index, levels, regions, and a place for every result.
#[test]
fn a_code_review_gets_every_finding_at_its_place() {
    let folder = tempfile::tempdir().unwrap();
    for (name, case) in rejects() {
        let root = folder.path().join(&name);
        place_routes(&case, &root);
        let log: Value = serde_json::from_str(&rig(&root, &["check", "--sarif"]).stdout).unwrap();
        assert_eq!(log["version"], "2.1.0");
        let run = &log["runs"][0];
        let rules = run["tool"]["driver"]["rules"].as_array().unwrap();
        assert_eq!(rules.len(), CODES.len());
        let compilation = compile_dir(&case, "routes");
        let expected: Vec<_> = findings(&compilation).collect();
        let results = run["results"].as_array().unwrap();
        assert_eq!(results.len(), expected.len(), "{name}");
        for (result, finding) in results.iter().zip(expected) {
            let rule = usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap();
            assert_eq!(rules[rule]["id"], finding.code, "{name}");
            assert_eq!(
                (&result["ruleId"], &result["level"]),
                (&json!(finding.code), &json!(finding.severity.name()))
            );
            let text = result["message"]["text"].as_str().unwrap();
            assert!(text.starts_with(&finding.message), "{name}: {text}");
            let [location] = result["locations"].as_array().unwrap().as_slice() else {
                panic!("{name}: {result}")
            };
            let location = &location["physicalLocation"];
            match &finding.place {
                Some(place) => {
                    assert_eq!(
                        location["artifactLocation"]["uri"],
                        json!(place.file),
                        "{name}"
                    );
                    let region = json!({ "startLine": place.line, "startColumn": place.column, "endLine": place.end_line, "endColumn": place.end_column });
                    assert_eq!(location["region"], region, "{name}");
                }
                None => assert_eq!(location["artifactLocation"]["uri"], "routes", "{name}"),
            }
        }
    }
}

/// The routes are found from any folder of the crate, and shown as they can be opened from there.
#[test]
fn routes_are_found_from_below_and_one_file_is_enough() {
    let folder = tempfile::tempdir().unwrap();
    let case = repository().join("rig-build/tests/reject/no-candidates");
    place_routes(&case, folder.path());
    let below = folder.path().join("src/deep");
    fs::create_dir_all(&below).unwrap();
    let ran = rig(&below, &["rig", "check"]);
    assert!(
        ran.stdout.contains(" --> ../../routes/route.yaml:"),
        "{}",
        ran.stdout
    );
    assert!(
        ran.stdout.ends_with("\nchecked 1 route: 1 error\n"),
        "{}",
        ran.stdout
    );
    assert_eq!(ran.code, 1);

    fs::write(folder.path().join("routes/other.yaml"), "route: [").unwrap();
    let ran = rig(folder.path(), &["check", "routes/route.yaml"]);
    assert!(
        ran.stdout.ends_with("\nchecked 1 route: 1 error\n"),
        "{}",
        ran.stdout
    );
    let ran = rig(folder.path(), &["check"]);
    assert!(
        ran.stdout.ends_with("\nchecked 2 routes: 2 errors\n"),
        "{}",
        ran.stdout
    );

    fs::write(folder.path().join("routes/notes.md"), "").unwrap();
    let ran = rig(folder.path(), &["check", "routes/notes.md"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""));
    assert!(
        ran.stderr
            .starts_with("error: `routes/notes.md` is no route\nhelp: "),
        "{}",
        ran.stderr
    );
}

#[test]
fn good_routes_are_an_exit_code_of_zero() {
    let ran = rig(&repository().join("examples"), &["check"]);
    assert_eq!(
        (ran.code, ran.stdout.lines().count()),
        (0, 1),
        "{}",
        ran.stdout
    );
    assert!(ran.stdout.starts_with("checked "), "{}", ran.stdout);
}

/// Without a folder of routes the command says what to do, on stderr.
#[test]
fn no_routes_at_all_is_told_with_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let ran = rig(folder.path(), &["check"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""));
    let expected = "error: no folder `routes` here or in a folder above\nhelp: go into a crate that has routes, or name their folder; `cargo rig new` makes a first one\n";
    assert_eq!(ran.stderr, expected);
}

/// Colours are for terminals, unless they are asked for.
#[test]
fn a_pipe_gets_no_colours_unless_it_asks_for_them() {
    let folder = tempfile::tempdir().unwrap();
    place_routes(
        &repository().join("rig-build/tests/reject/no-candidates"),
        folder.path(),
    );
    assert!(!rig(folder.path(), &["check"]).stdout.contains('\u{1b}'));
    let coloured = rig(folder.path(), &["check", "--color", "always"]).stdout;
    assert!(
        coloured.starts_with("\u{1b}[1;31merror[no-candidates]\u{1b}[0m"),
        "{coloured}"
    );
    let coloured = crate::rig_with(folder.path(), &["check"], &[("CARGO_TERM_COLOR", "always")]);
    assert!(coloured.stdout.contains('\u{1b}'));
}
