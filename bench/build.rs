//! Compiles the schema, as the build script of a user's crate does.

use std::path::Path;
use std::{env, fs};

const ROUTE: &str = "route: report\nversion: 1\nschema: ./report.schema.json\ncandidates: [{ provider: openai, model: gpt-5.4-mini }]\nprompt: { system: ./report.md }\n";

fn main() {
    println!("cargo::rerun-if-changed=src/report.schema.json");
    let out = env::var_os("OUT_DIR").expect("cargo sets it");
    let routes = Path::new(&out).join("routes");
    fs::create_dir_all(&routes).expect("a folder");
    fs::copy("src/report.schema.json", routes.join("report.schema.json")).expect("the schema");
    fs::write(routes.join("report.md"), "Report.\n").expect("the prompt");
    fs::write(routes.join("report.yaml"), ROUTE).expect("the route");
    let route = rig_build::compile_dir(&routes, "routes").routes.remove(0);
    let types = route.output_types.expect("the schema is good");
    fs::write(Path::new(&out).join("types.rs"), types).expect("the types");
}
