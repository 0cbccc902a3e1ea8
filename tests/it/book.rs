//! Is the book whole: every page in its summary, every link with an end?

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Returns every page of the book, by its name.
fn pages() -> BTreeMap<String, String> {
    let files = fs::read_dir(root().join("docs")).unwrap();
    let pages = files.map(|file| file.unwrap().path());
    let pages = pages.filter(|path| path.extension().is_some_and(|ending| ending == "md"));
    let name = |path: &Path| path.file_name().unwrap().to_str().unwrap().to_owned();
    pages
        .map(|path| (name(&path), fs::read_to_string(&path).unwrap()))
        .collect()
}

/// Returns a text without its fenced blocks.
fn prose(page: &str) -> String {
    let parts = page.split("```");
    parts.step_by(2).collect()
}

/// Returns the targets of the links in a text.
fn links(text: &str) -> impl Iterator<Item = &str> {
    let rest = text.split("](").skip(1);
    rest.filter_map(|rest| rest.split_once(')').map(|(target, _)| target))
}

/// Returns the names by which the headings of a page can be linked to.
fn anchors(page: &str) -> BTreeSet<String> {
    let text = prose(page);
    let headings = text.lines().filter(|line| line.starts_with('#'));
    headings
        .map(|line| {
            let title = line.trim_start_matches('#').trim().to_lowercase();
            let kept = title.chars().filter_map(|letter| match letter {
                ' ' => Some('-'),
                '-' | '_' => Some(letter),
                letter => letter.is_alphanumeric().then_some(letter),
            });
            kept.collect()
        })
        .collect()
}

#[test]
fn every_page_is_in_the_summary() {
    let mut pages = pages();
    let summary = pages.remove("SUMMARY.md").unwrap();
    let listed: BTreeSet<_> = links(&summary).collect();
    let pages: BTreeSet<_> = pages.keys().map(String::as_str).collect();
    assert_eq!(listed, pages);
}

#[test]
fn every_link_has_an_end() {
    let pages = pages();
    let mut texts: Vec<(String, PathBuf, String)> = pages
        .iter()
        .map(|(name, page)| (format!("docs/{name}"), root().join("docs"), page.clone()))
        .collect();
    for name in ["README.md", "ARCHITECTURE.md"] {
        let page = fs::read_to_string(root().join(name)).unwrap();
        texts.push((name.to_owned(), root(), page));
    }
    for (name, folder, page) in &texts {
        for link in links(&prose(page)) {
            if link.starts_with("http") {
                continue;
            }
            let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
            let target = match file {
                "" => page.clone(),
                file => {
                    let path = folder.join(file);
                    assert!(path.exists(), "{name}: {link}");
                    fs::read_to_string(path).unwrap_or_default()
                }
            };
            let has = anchor.is_empty() || anchors(&target).contains(anchor);
            assert!(has, "{name}: {link}");
        }
    }
}

/// The page of the failure classes, which ships with the crate and is printed from the ladder's table.
#[test]
fn the_book_has_the_page_of_the_failure_classes() {
    let page = fs::read_to_string(root().join("rig/failures.md")).unwrap();
    tests::expect_file("../docs/failures.md", &format!("# Failures\n\n{page}"));
}
