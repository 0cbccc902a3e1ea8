//! `cargo rig diff` tells what has changed in meaning since a revision.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;
use tempfile::TempDir;

use crate::{Ran, copy, repository, rig};

fn git(folder: &Path, arguments: &[&str]) {
    let mut git = Command::new("git");
    git.current_dir(folder).args([
        "-c",
        "user.name=t",
        "-c",
        "user.email=t@example.test",
        "-c",
        "commit.gpgsign=false",
    ]);
    let output = git.args(arguments).output().unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

/// A repository whose crate lies in a folder of it, with the routes of the examples and a prompt outside of the crate.
pub(crate) fn committed() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    copy(
        &repository().join("routes"),
        &folder.path().join("app/routes"),
    );
    fs::create_dir(folder.path().join("shared")).unwrap();
    fs::write(folder.path().join("shared/p.md"), "Hello.").unwrap();
    let outside = "route: outside\nversion: 1\nschema: null\ncandidates: [{ provider: deepseek, model: deepseek-chat }]\nprompt: { system: ../../shared/p.md }\n";
    fs::write(folder.path().join("app/routes/outside.yaml"), outside).unwrap();
    git(folder.path(), &["init", "-q", "-b", "main"]);
    git(folder.path(), &["add", "-A"]);
    git(folder.path(), &["commit", "-q", "-m", "first"]);
    folder
}

pub(crate) fn edit(folder: &TempDir, file: &str, from: &str, to: &str) {
    let path = folder.path().join(file);
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.contains(from), "{file}: {from}");
    fs::write(path, text.replace(from, to)).unwrap();
}

fn diff(folder: &TempDir, arguments: &[&str]) -> Ran {
    rig(
        &folder.path().join("app"),
        &[&["diff", "HEAD"], arguments].concat(),
    )
}

#[test]
fn what_means_the_same_is_no_change() {
    let folder = committed();
    let ran = diff(&folder, &[]);
    assert_eq!(
        (ran.code, ran.stdout.as_str()),
        (0, "no route means anything else than in `HEAD`\n"),
        "{}",
        ran.stderr
    );
    // A comment, another order of keys, a candidate's quotes: nothing that a call does.
    edit(
        &folder,
        "app/routes/summarize.yaml",
        "version: 1\n",
        "version: 1   # the first\n",
    );
    assert_eq!(diff(&folder, &[]).code, 0);
    // The user's index and files are as they were.
    let output = Command::new("git")
        .current_dir(folder.path())
        .args(["status", "--porcelain"])
        .output()
        .unwrap();
    assert_eq!(
        String::from_utf8(output.stdout).unwrap(),
        " M app/routes/summarize.yaml\n"
    );
}

#[test]
fn every_change_of_meaning_is_told_and_a_version_is_missed() {
    let folder = committed();
    let route = "app/routes/summarize.yaml";
    edit(
        &folder,
        route,
        "  - { provider: openai, model: gpt-5.4-mini }\n",
        "",
    );
    edit(
        &folder,
        route,
        "prompt:\n",
        "  - { provider: openai, model: gpt-5.4-mini }\nprompt:\n",
    );
    edit(&folder, route, "network: 2", "network: 3");
    edit(
        &folder,
        route,
        "[ticket, product]",
        "{ ticket: string, product: string? }",
    );
    edit(&folder, route, "timeout_ms: 60000", "timeout_ms: 30000");
    let ran = diff(&folder, &["summarize"]);
    for line in [
        "summarize version 1\n",
        "  order: openai/gpt-5.4-mini, anthropic/claude-haiku-4-5 → anthropic/claude-haiku-4-5,\n    openai/gpt-5.4-mini\n",
        "  retries of network: 2 → 3\n",
        "  policy.timeout_ms: 1 min → 30 s\n",
        "  worst case: ",
        "  variable product: string → string?; callers have to change\n",
        "  warning: the route has changed, and its version is 1 as before",
    ] {
        assert!(ran.stdout.contains(line), "{line:?}: {}", ran.stdout);
    }
    assert_eq!(ran.code, 1);
    // With a version of its own the same change is well.
    edit(&folder, route, "version: 1\n", "version: 2\n");
    let ran = diff(&folder, &[]);
    assert!(
        ran.stdout.starts_with("summarize version 1 → 2\n") && !ran.stdout.contains("warning"),
        "{}",
        ran.stdout
    );
    assert_eq!(ran.code, 0);
}

#[test]
fn old_answers_that_no_longer_fit_are_told_by_place() {
    let folder = committed();
    let schema = "app/routes/schemas/summary.schema.json";
    edit(&folder, schema, "\"high\"", "\"urgent\"");
    edit(
        &folder,
        "app/routes/summarize.yaml",
        "version: 1\n",
        "version: 2\n",
    );
    let ran = diff(&folder, &["--json"]);
    let told: Value = serde_json::from_str(&ran.stdout).unwrap();
    let route = &told["routes"][0];
    assert_eq!(
        (&route["route"], route["schema_changed"].as_bool()),
        (&"summarize".into(), Some(true))
    );
    let unfit = &route["old_answers_that_no_longer_fit"][0];
    assert_eq!(unfit["pointer"], "/severity", "{told}");
    assert_eq!(unfit["text"], "`\"high\"` is no longer allowed");
    assert_eq!(ran.code, 0);
}

#[test]
fn prompts_routes_that_come_and_go_and_broken_ones_are_told() {
    let folder = committed();
    fs::write(folder.path().join("shared/p.md"), "Hello there.").unwrap();
    fs::remove_file(folder.path().join("app/routes/desk.yaml")).unwrap();
    fs::write(
        folder.path().join("app/routes/triage.yaml"),
        "route: triage\nversion: [",
    )
    .unwrap();
    let new = fs::read_to_string(folder.path().join("app/routes/outside.yaml")).unwrap();
    fs::write(
        folder.path().join("app/routes/more.yaml"),
        new.replace("outside", "more"),
    )
    .unwrap();
    let ran = diff(&folder, &[]);
    for part in [
        "outside version 1\n  prompt: changed, 6 → 12 characters\n",
        "desk version 1\n  the route is gone\n",
        "triage version 1\n  the route has errors: `cargo rig check`\n",
        "more version 1\n  the route is new\n",
    ] {
        assert!(ran.stdout.contains(part), "{part:?}: {}", ran.stdout);
    }
    assert_eq!(ran.code, 1);
}

#[test]
fn what_git_does_not_know_is_told() {
    let folder = committed();
    let ran = rig(&folder.path().join("app"), &["diff", "nope"]);
    assert_eq!(
        (ran.code, ran.stderr.as_str()),
        (2, "error: git knows no revision `nope`\n")
    );
    let ran = diff(&folder, &["nobody"]);
    assert_eq!(
        (ran.code, ran.stderr.as_str()),
        (
            2,
            "error: there is no route `nobody`, neither here nor in `HEAD`\n"
        )
    );
    let outside = tempfile::tempdir().unwrap();
    copy(&repository().join("routes"), &outside.path().join("routes"));
    let ran = rig(outside.path(), &["diff", "HEAD"]);
    assert!(
        ran.code == 2 && ran.stderr.starts_with("error: git: "),
        "{}",
        ran.stderr
    );
}
