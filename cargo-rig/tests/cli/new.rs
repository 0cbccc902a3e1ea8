//! `cargo rig new` makes a crate that builds and runs.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::path::Path;
use std::thread;

use crate::scratch::{Scratch, cargo, repository, run};
use crate::{Ran, rig_with};

/// What `cargo new` writes.
const MANIFEST: &str =
    "[package]\nname = \"fresh\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[dependencies]\n";
const MAIN: &str = "fn main() {\n    println!(\"Hello, world!\");\n}\n";

fn new(folder: &Path, arguments: &[&str]) -> Ran {
    let checkout = repository().to_str().unwrap();
    rig_with(
        folder,
        &[&["new"], arguments].concat(),
        &[("MODELRIG_CHECKOUT", checkout)],
    )
}

/// Serves one answer of the chat dialect on a free port; returns its address.
fn provider(content: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/v1", listener.local_addr().unwrap());
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut reader = BufReader::new(stream.try_clone().unwrap());
            let mut length = 0;
            loop {
                let mut line = String::new();
                if reader.read_line(&mut line).unwrap() == 0 || line == "\r\n" {
                    break;
                }
                if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                    length = value.trim().parse().unwrap();
                }
            }
            reader.read_exact(&mut vec![0; length]).unwrap();
            let message = serde_json::json!({ "role": "assistant", "content": content });
            let body = serde_json::json!({ "choices": [{ "index": 0, "message": message, "finish_reason": "stop" }] }).to_string();
            let head = format!(
                "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
                body.len()
            );
            stream.write_all((head + &body).as_bytes()).unwrap();
        }
    });
    address
}

/// `cargo new`, `cargo rig new`, paste, `cargo run`: it builds before the paste, says which key to set where there is none,
/// and prints an answer where there is one.
#[test]
fn a_fresh_crate_runs_as_printed() {
    let scratch = Scratch::new(
        "fresh",
        &[
            ("Cargo.toml", &(MANIFEST.to_owned() + "\n[workspace]\n")),
            ("src/main.rs", MAIN),
        ],
    );
    let ran = new(scratch.root(), &[]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    for line in [
        "Added routes/headline.yaml",
        "Added build.rs",
        "Changed Cargo.toml: rig, tokio, rig-build",
        "put this into `src/main.rs`",
    ] {
        assert!(ran.stderr.contains(line), "{line}: {}", ran.stderr);
    }
    assert_eq!(
        rig_with(scratch.root(), &["check"], &[]).stdout,
        "checked 1 route\n"
    );

    // It builds at once: only cargo's warning says that nobody calls the route yet.
    let built = scratch.cargo(&["build"]).good();
    assert!(
        built
            .stderr
            .contains("the route `headline` is bound by no function"),
        "{}",
        built.stderr
    );

    scratch.write("src/main.rs", &ran.stdout);
    let keyless = run(command(&scratch).env_remove("OPENAI_API_KEY"));
    assert!(!keyless.ok, "{}", keyless.stdout);
    for part in [
        "config_auth",
        "`ANTHROPIC_API_KEY` is not set",
        "help: Set the provider's API key",
    ] {
        assert!(keyless.stderr.contains(part), "{part}: {}", keyless.stderr);
    }

    let address = provider(r#"{"text": "Third bread prize", "confidence": 0.9}"#);
    let answered = run(command(&scratch)
        .env("OPENAI_API_KEY", "none")
        .env("OPENAI_BASE_URL", address))
    .good();
    assert_eq!(answered.stdout, "Third bread prize (90 %)\n");
}

fn command(scratch: &Scratch) -> std::process::Command {
    let mut command = cargo(scratch.root());
    for name in ["ANTHROPIC_API_KEY", "OPENAI_BASE_URL", "ANTHROPIC_BASE_URL"] {
        command.env_remove(name);
    }
    command.arg("run");
    command
}

/// Whatever is there stays as it is, and then nothing at all is written.
#[test]
fn nothing_is_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    let write = |path: &str, text: &str| {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    write("Cargo.toml", MANIFEST);
    write("src/lib.rs", "");
    write("routes/headline.md", "Mine.");
    let ran = new(folder.path(), &[]);
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""));
    assert!(
        ran.stderr.contains("`routes/headline.md` is there already"),
        "{}",
        ran.stderr
    );
    assert_eq!(
        fs::read_to_string(folder.path().join("Cargo.toml")).unwrap(),
        MANIFEST
    );
    assert!(
        !folder.path().join("build.rs").exists()
            && !folder.path().join("routes/headline.yaml").exists()
    );

    // A build script of the user's is told what it lacks; its folder is where the next route goes.
    write("build.rs", "fn main() {}\n");
    let ran = new(folder.path(), &["--route", "other"]);
    assert!(
        ran.stderr
            .contains("in `build.rs`, add to `main`: `rig_build::compile(\"routes\");`"),
        "{}",
        ran.stderr
    );
    assert_eq!(
        fs::read_to_string(folder.path().join("build.rs")).unwrap(),
        "fn main() {}\n"
    );
    write("build.rs", "fn main() { rig_build::compile(\"tasks\"); }\n");
    let ran = new(folder.path(), &["--route", "third"]);
    assert!(
        ran.stderr.contains("Added tasks/third.yaml"),
        "{}",
        ran.stderr
    );
    // A library gets the function alone.
    assert!(
        ran.stdout.contains("pub async fn third(") && !ran.stdout.contains("fn main"),
        "{}",
        ran.stdout
    );
    let ran = new(folder.path(), &["--route", "third"]);
    assert!(
        ran.stderr.contains("holds a route `third` already"),
        "{}",
        ran.stderr
    );
}

#[test]
fn a_folder_without_a_crate_is_told_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let ran = new(folder.path(), &[]);
    assert_eq!(ran.code, 2);
    assert!(
        ran.stderr.starts_with(
            "error: no `Cargo.toml` here or in a folder above\nhelp: `cargo new my-app`"
        ),
        "{}",
        ran.stderr
    );
    let ran = new(folder.path(), &["--route", "a b"]);
    assert_eq!(ran.code, 2);
}
