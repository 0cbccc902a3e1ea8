//! What do the types that typify generates make of a folder's instances?
//!
//! There is no gate: what serde can read into the type is accepted.

use std::collections::BTreeMap;
use std::fs;
use std::process::Command;

use serde_json::Value;

use crate::Row;
use crate::corpus::Case;
use crate::generated::compile_and_run;
use crate::scratch::{Built, Scratch};

const GENERATOR: &str = "[package]
name = \"schema-table-typify-generator\"
edition = \"2024\"

[dependencies]
schemars = \"0.8\"
serde_json = \"1\"
typify = \"0.6\"

[workspace]
resolver = \"3\"
";

/// The dependencies are those that typify tells its users to have.
const JUDGED: &str = "[package]
name = \"schema-table-typify\"
edition = \"2024\"

[dependencies]
chrono = { version = \"0.4\", features = [\"serde\"] }
regress = \"0.10\"
serde = { version = \"1\", features = [\"derive\"] }
serde_json = \"1\"
uuid = { version = \"1\", features = [\"serde\"] }

[workspace]
resolver = \"3\"
";

/// Judges every case, in their order.
pub(crate) fn judge(cases: &[Case]) -> Vec<Row> {
    let mut rows: Vec<Row> = cases.iter().map(Row::new).collect();
    let scratch = Scratch::new("typify");
    scratch.write("Cargo.toml", JUDGED);
    for (number, case) in cases.iter().enumerate() {
        scratch.write(&format!("schemas/{number}.schema.json"), &case.schema);
        let instances = serde_json::to_string(&case.instances).unwrap();
        scratch.write(&format!("cases/{number}.json"), &instances);
    }
    let mut roots = BTreeMap::new();
    let schemas = scratch.folder.join("schemas");
    for line in generate(&schemas.display().to_string()) {
        let number = usize::try_from(line["number"].as_u64().unwrap()).unwrap();
        match line["root"].as_str() {
            Some(root) => {
                let module = fs::read_to_string(schemas.join(format!("{number}.rs"))).unwrap();
                scratch.write(&format!("src/s{number}.rs"), &module);
                roots.insert(number, root.to_owned());
            }
            None => rows[number]
                .reasons
                .push(line["reason"].as_str().unwrap().to_owned()),
        }
    }
    let read =
        |_| "|text| serde_json::from_str(text).map_err(|error| error.to_string())".to_owned();
    compile_and_run(&scratch, false, roots, read, &mut rows);
    rows
}

/// Runs typify over the schemas of a folder.
fn generate(schemas: &str) -> Vec<Value> {
    let scratch = Scratch::new("typify_generator");
    scratch.write("Cargo.toml", GENERATOR);
    scratch.write("src/main.rs", include_str!("generate_with_typify.rs"));
    let Built::Program(program) = scratch.build(false) else {
        panic!("the generator does not compile");
    };
    let output = Command::new(program).arg(schemas).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}
