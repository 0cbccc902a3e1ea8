//! The README's first route is one that is compiled here.

use std::fs;
use std::path::Path;

#[test]
fn the_readme_shows_files_that_compile() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let readme = fs::read_to_string(root.join("README.md")).unwrap();
    for name in ["headline.yaml", "headline.md", "headline.schema.json"] {
        let (_, rest) = readme.split_once(&format!("In `routes/{name}`:")).unwrap();
        let block = rest.split("```").nth(1).unwrap();
        let (_, shown) = block.split_once('\n').unwrap();
        let compiled = fs::read_to_string(root.join("tests/routes").join(name)).unwrap();
        assert_eq!(shown, compiled, "{name}");
    }
}

/// The README shows what the compiler says of a route without candidates.
#[test]
fn the_readme_shows_the_error_that_the_compiler_writes() {
    let folder = tempfile::tempdir().unwrap();
    let routes = Path::new(env!("CARGO_MANIFEST_DIR")).join("routes");
    for name in ["headline.md", "headline.schema.json"] {
        fs::copy(routes.join(name), folder.path().join(name)).unwrap();
    }
    let good = fs::read_to_string(routes.join("headline.yaml")).unwrap();
    let (head, rest) = good.split_once("candidates:").unwrap();
    let (_, tail) = rest.split_once("prompt:").unwrap();
    let bad = format!("{head}candidates: []\nprompt:{tail}");
    fs::write(folder.path().join("headline.yaml"), bad).unwrap();
    let compilation = rig_build::compile_dir(folder.path(), "routes");
    let readme = fs::read_to_string(routes.join("../../README.md")).unwrap();
    for line in compilation.routes[0].findings[0].text.lines().skip(1) {
        assert!(readme.contains(line.trim()), "{line}");
    }
}
