//! What does a user see whose routes, or whose build script, have a fault?

use serde_json::Value;

use crate::scratch::{BUILD, PROMPT, SCHEMA, Scratch, WORKSPACE, manifest, route};

/// A crate that binds `fc.base`, with these further files.
fn library(more: &[(&str, &str)]) -> Scratch {
    let manifest = manifest("library", "") + WORKSPACE;
    let route = route("fc.base");
    let mut files = vec![
        ("Cargo.toml", manifest.as_str()),
        ("build.rs", BUILD),
        ("src/lib.rs", LIBRARY),
        ("routes/route.yaml", &route),
        ("routes/prompt.md", PROMPT),
        ("routes/schema.json", SCHEMA),
    ];
    files.extend(more);
    Scratch::new("library", &files)
}

const LIBRARY: &str = r#"//! Binds a route.

#[rig::route("fc.base")]
pub async fn fc_base(input: FcBaseInput) -> rig::Result<FcBase>;
"#;

const SECOND: &str = r#"
#[rig::route("second")]
pub async fn second(input: SecondInput) -> rig::Result<self::FcBase>;
"#;

/// A program that binds `fc.base` and has a fault of its own; it never builds.
fn faulty(more: &[(&str, &str)]) -> Scratch {
    let manifest = manifest("faulty", "") + WORKSPACE;
    let mut files = vec![
        ("Cargo.toml", manifest.as_str()),
        ("build.rs", BUILD),
        ("src/main.rs", FAULTY),
    ];
    files.extend(more);
    Scratch::new("faulty", &files)
}

const FAULTY: &str = r#"#[rig::route("fc.base")]
async fn fc_base(input: FcBaseInput) -> rig::Result<FcBase>;

fn main() {
    let input = FcBaseInput { q: "x".to_owned() };
    let _ = async { fc_base(input).await.unwrap().answer };
    let _: u32 = "unrelated";
}
"#;

/// The finding of a route that has `retires` for `retries`.
const MISSPELT: &str = "[unknown-key] the policy has no key `retires`
  --> routes/second.yaml:16:3
   |
16 |   retires: {}
   |   ^^^^^^^
help: did you mean `retries`?
";

/// C12.
#[test]
fn a_new_route_file_is_seen_and_one_that_no_function_binds_is_a_warning() {
    let scratch = library(&[]);
    let unbound = "warning: library@0.0.0: the route `second` is bound by no function: \
                   add `#[rig::route(\"second\")]`, or remove its file";
    let built = scratch.cargo(&["build"]).good();
    assert!(!built.stderr.contains("warning"), "{}", built.stderr);

    scratch.write("routes/second.yaml", &route("second"));
    assert!(
        scratch
            .cargo(&["build"])
            .good()
            .says(&[unbound])
            .compiled("library")
    );
    scratch.cargo(&["build"]).fresh().says(&[unbound]);

    scratch.write("src/lib.rs", &format!("{LIBRARY}{SECOND}"));
    let built = scratch.cargo(&["build"]).good();
    assert!(!built.stderr.contains("warning"), "{}", built.stderr);

    scratch.remove("routes/second.yaml");
    scratch
        .cargo(&["build"])
        .bad(&["there is no route `second`", "src/lib.rs:6:14"]);
}

#[test]
fn a_broken_route_that_no_function_binds_fails_the_build_script_with_the_whole_finding() {
    let broken = route("second") + "  retires: {}\n";
    let scratch = library(&[("routes/second.yaml", &broken)]);
    let finding = MISSPELT.replacen("] ", "]: ", 1);
    let indented = format!("error{finding}").replace('\n', "\n  ");
    for _ in 0..2 {
        scratch
            .cargo(&["build"])
            .bad(&["failed to run custom build command", indented.trim_end()]);
    }
    // Binding it is enough to move the finding to the function.
    scratch.write("src/lib.rs", &format!("{LIBRARY}{SECOND}"));
    let built = scratch
        .cargo(&["build"])
        .bad(&[MISSPELT.lines().next().unwrap(), "src/lib.rs:6:14"]);
    assert!(
        !built.stderr.contains("custom build command"),
        "{}",
        built.stderr
    );
    scratch.write("routes/second.yaml", &route("second"));
    scratch.cargo(&["build"]).good();
}

#[test]
fn a_broken_route_is_a_compile_error_at_its_name_and_hides_no_other_error() {
    let broken = route("fc.base") + "  retires: {}\n";
    let scratch = faulty(&[
        ("routes/second.yaml", &broken),
        ("routes/prompt.md", PROMPT),
        ("routes/schema.json", SCHEMA),
    ]);
    let built = scratch.cargo(&["build", "--message-format=json"]);
    let messages = built.messages();
    let errors: Vec<_> = messages
        .iter()
        .filter(|message| message["reason"] == "compiler-message")
        .map(|message| &message["message"])
        .filter(|message| message["level"] == "error" && message["spans"] != Value::Array(vec![]))
        .collect();
    let [route, unrelated] = errors.as_slice() else {
        panic!("{errors:#?}{}", built.stderr)
    };
    assert_eq!(route["message"].as_str().unwrap(), MISSPELT.trim_end());
    assert_eq!(place(route), ("src/main.rs", 1, 14, 23));
    assert_eq!(unrelated["message"], "mismatched types");
    assert_eq!(place(unrelated), ("src/main.rs", 7, 18, 29));
}

/// Returns the file, the line and the columns of a message.
fn place(message: &Value) -> (&str, u64, u64, u64) {
    let span = &message["spans"][0];
    let number = |key: &str| span[key].as_u64().unwrap();
    let file = span["file_name"].as_str().unwrap();
    assert_eq!(number("line_start"), number("line_end"));
    (
        file,
        number("line_start"),
        number("column_start"),
        number("column_end"),
    )
}

#[test]
fn a_routes_directory_that_is_missing_or_empty_is_a_clear_error() {
    let scratch = faulty(&[]);
    std::fs::remove_dir_all(scratch.root().join("routes")).unwrap_or_default();
    scratch.cargo(&["build"]).bad(&[
        "error[routes-directory]: the routes directory `routes` is not there",
        "help: create `routes/my-task.yaml`, or name another directory in `build.rs`",
    ]);
    std::fs::create_dir(scratch.root().join("routes")).unwrap();
    scratch.cargo(&["build"]).bad(&[
        "error[routes-directory]: the routes directory `routes` holds no route",
        "help: create a route file, e.g. `routes/my-task.yaml`",
    ]);
}

#[test]
fn a_crate_without_a_build_script_is_told_what_to_add() {
    let manifest = manifest("unbuilt", "") + WORKSPACE;
    let scratch = Scratch::new(
        "unbuilt",
        &[("Cargo.toml", &manifest), ("src/lib.rs", LIBRARY)],
    );
    scratch.cargo(&["build"]).bad(&[
        "no routes were compiled for this crate",
        "create `build.rs` beside `Cargo.toml`",
        "rig_build::compile(\"routes\");",
        "[build-dependencies]",
        "rig-build = \"0.1\"",
        "src/lib.rs:3:14",
    ]);
}
