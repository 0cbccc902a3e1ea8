//! Compiles the schemas that answers are judged by, as the build script of a user's crate does.

use std::path::Path;
use std::{env, fs};

fn main() {
    println!("cargo::rerun-if-changed=src/answers");
    let out = env::var_os("OUT_DIR").expect("cargo sets it");
    let out = Path::new(&out);
    let routes = out.join("routes");
    fs::create_dir_all(&routes).expect("a folder");
    fs::write(routes.join("prompt.md"), "Answer.\n").expect("the prompt");
    for name in ["ticket", "pairs", "tree", "links"] {
        let schema = format!("{name}.schema.json");
        let written = format!("src/answers/{schema}");
        fs::copy(written, routes.join(&schema)).expect("the schema");
        let route = format!(
            "route: {name}\nversion: 1\nschema: ./{schema}\ncandidates: [{{ provider: openai, model: gpt-5.4-mini }}]\nprompt: {{ system: ./prompt.md }}\n"
        );
        fs::write(routes.join(format!("{name}.yaml")), route).expect("the route");
    }
    for route in rig_build::compile_dir(&routes, "routes").routes {
        let types = route.output_types.expect("the schema is good");
        fs::write(out.join(format!("{}.rs", route.name)), types).expect("the types");
    }
}
