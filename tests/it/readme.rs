//! The routes that README and docs show are ones that compile.

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

/// The page on tests shows the drill that its route has.
#[test]
fn the_page_on_tests_shows_the_drill_of_its_route() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/testing.md");
    let docs = fs::read_to_string(docs).unwrap();
    let shown = docs.split("```text\n").nth(1).unwrap();
    let shown = shown.split("```").next().unwrap();
    let drill = tests::routes::headline::drill().to_string();
    assert!(shown == drill, "{drill}");
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

/// The route of `docs/routes.md` has every key, and no errors.
#[test]
fn the_docs_show_a_route_that_compiles() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let docs = fs::read_to_string(root.join("docs/routes.md")).unwrap();
    let route = docs.split("```yaml\n").nth(1).unwrap();
    let route = route.split("```").next().unwrap();
    let tool = docs.split("```json\n").nth(1).unwrap();
    let tool = tool.split("```").next().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    fs::create_dir(folder.path().join("tools")).unwrap();
    write("triage.yaml", route);
    write("tools/lookup.tool.json", tool);
    for name in ["triage.md", "triage-v2.md"] {
        write(name, "Triage {{ticket}} of {{product}}.\n");
    }
    write("triage.schema.json", r#"{ "type": "object" }"#);
    let host = "{ name: local, dialect: openai, base_url: \"http://127.0.0.1:8080/v1\" }";
    let search = "{ url: \"https://search.example/v1\", usd_per_query: 0.005 }";
    write(
        "rig.yaml",
        &format!("providers: [{host}]\nsearch: {search}\n"),
    );
    let compilation = rig_build::compile_dir(folder.path(), "routes");
    assert_eq!(compilation.directory, []);
    let route = &compilation.routes[0];
    assert!(!route.is_broken(), "{:?}", route.findings);
}
