//! The page about the commands shows what they print.

use std::fs;
use std::path::Path;

use tempfile::TempDir;

use crate::diff::{committed, edit};
use crate::{copy, repository, rig_with};

/// A route with a provider that nobody has, and a variable that nobody declares.
const BROKEN: &str = "route: reply
version: 1
schema: null
candidates:
  - { provider: openai, model: gpt-5.4-mini }
  - { provider: antropic, model: claude-haiku-4-5 }
prompt:
  system: ./reply.md
  variables: [question]
";

/// The crate in which a command of the page is run, and the folder of the crate.
fn place(command: &str) -> (TempDir, &'static str) {
    let folder = tempfile::tempdir().unwrap();
    let write = |path: &str, text: &str| {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    match command {
        "check" => {
            write("routes/reply.yaml", BROKEN);
            write("routes/reply.md", "Answer {{customer}}.\n\n{{question}}\n");
        }
        "new" => {
            write(
                "Cargo.toml",
                "[package]\nname = \"my-app\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[dependencies]\n",
            );
            write("src/main.rs", "fn main() {}\n");
        }
        "diff" => {
            let folder = committed();
            let route = "app/routes/summarize.yaml";
            edit(&folder, route, "network: 2", "network: 3");
            edit(
                &folder,
                route,
                "prompt:\n",
                "  - { provider: deepseek, model: deepseek-v4-flash }\nprompt:\n",
            );
            edit(
                &folder,
                route,
                "[ticket, product]",
                "[ticket, product, plan]",
            );
            edit(
                &folder,
                "app/routes/prompts/summarize.md",
                "{{product}}",
                "{{product}} ({{plan}})",
            );
            edit(
                &folder,
                "app/routes/schemas/summary.schema.json",
                "\"high\"",
                "\"urgent\"",
            );
            return (folder, "app");
        }
        _ => copy(&repository().join("routes"), &folder.path().join("routes")),
    }
    (folder, "")
}

/// Returns what a command prints, first to stderr.
fn printed(line: &str, columns: &str) -> String {
    let arguments: Vec<_> = line.split(' ').collect();
    let (folder, below) = place(arguments[0]);
    let environment = [("COLUMNS", columns), ("ANTHROPIC_API_KEY", "none")];
    let ran = rig_with(&folder.path().join(below), &arguments, &environment);
    let text = ran.stderr + &ran.stdout;
    // Findings are as wide as the lines that they quote, a program as its own.
    if ["explain", "diff"].contains(&arguments[0]) {
        let widest = text.lines().map(|line| line.chars().count()).max().unwrap();
        assert!(widest <= columns.parse().unwrap(), "{widest}: {text}");
    }
    text
}

#[test]
fn the_page_shows_what_the_commands_print() {
    let path = repository().join("docs/cli.md");
    let page = fs::read_to_string(&path).unwrap();
    let mut parts = page.split("<!-- ");
    let mut expected = parts.next().unwrap().to_owned();
    let mut pictures = 0;
    for part in parts {
        let (columns, rest) = part
            .split_once(" columns -->\n```text\n$ cargo rig ")
            .unwrap();
        let (block, after) = rest.split_once("```\n").unwrap();
        let line = block.lines().next().unwrap();
        let text = printed(line, columns);
        let text = text.trim_end();
        expected += &format!(
            "<!-- {columns} columns -->\n```text\n$ cargo rig {line}\n{text}\n```\n{after}"
        );
        pictures += 1;
    }
    assert_eq!(pictures, 5);
    write_or_compare(&path, &page, &expected);
}

/// `UPDATE_EXPECT=1` writes the page anew.
fn write_or_compare(path: &Path, page: &str, expected: &str) {
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        fs::write(path, expected).unwrap();
    } else {
        assert!(
            page == expected,
            "set UPDATE_EXPECT=1 to print the page anew; it would be\n{expected}"
        );
    }
}
