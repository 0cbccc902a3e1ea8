//! Prints what recorded responses say, one JSON line each: `cargo run -p tests --bin decode_recordings -- DIR`.
//!
//! `DIR` holds one JSON file a recording (`id`, `provider`, `api`, `response`), in folders or not. The lines stand in the
//! order of the paths. A file that is no recording is named on standard error, and the exit code is then 1.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "the lines go to standard output"
)]

use std::error::Error;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use tests::recordings::{Recording, files};

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let Some(dir) = std::env::args().nth(1) else {
        eprintln!("usage: decode_recordings DIR, where DIR holds one JSON file a recording");
        return Ok(ExitCode::from(2));
    };
    let mut code = ExitCode::SUCCESS;
    let mut out = std::io::stdout().lock();
    for file in files(Path::new(&dir))? {
        let Some(recording) = Recording::of(&fs::read(&file)?) else {
            eprintln!("{}: not a recording", file.display());
            code = ExitCode::FAILURE;
            continue;
        };
        writeln!(out, "{}", serde_json::to_string(&recording.line())?)?;
    }
    Ok(code)
}
