//! Does every schema of the JSON Schema Test Suite end in a type or in a finding?

#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    clippy::disallowed_methods,
    reason = "a test, which says what it skipped"
)]

use std::fs;
use std::path::Path;

use rig_build::{Severity, compile_dir};
use serde_json::Value;

const ROUTE: &str = "route: r\nversion: 1\nschema: ./s.json\ncandidates: [{ provider: deepseek, model: deepseek-chat }]\nprompt: { system: ./p.md }\npolicy: { json: json_mode }\n";

#[test]
fn every_schema_of_the_suite_gives_a_type_or_a_finding_with_its_place() {
    let suite = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../shared/corpora/json-schema-test-suite/tests");
    if !suite.is_dir() {
        eprintln!("skipped: {} is not there", suite.display());
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    write("r.yaml", ROUTE);
    write("p.md", "Answer.");
    let (mut typed, mut refused) = (0, 0);
    for draft in ["draft2020-12", "draft7"] {
        for entry in fs::read_dir(suite.join(draft)).unwrap() {
            let path = entry.unwrap().path();
            let groups: Vec<Value> =
                serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
            for group in groups {
                write("s.json", &group["schema"].to_string());
                let route = compile_dir(folder.path(), "routes").routes.remove(0);
                match route.module {
                    Some(_) => typed += 1,
                    None => {
                        let error = route
                            .findings
                            .iter()
                            .find(|finding| finding.severity == Severity::Error);
                        let text = &error.unwrap().text;
                        assert!(text.contains("--> routes/"), "{}: {text}", path.display());
                        refused += 1;
                    }
                }
            }
        }
    }
    eprintln!("{typed} types, {refused} findings");
    assert!(
        typed > 500 && refused > 0,
        "{typed} types, {refused} findings"
    );
}
