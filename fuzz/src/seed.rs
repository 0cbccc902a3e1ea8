//! Which inputs does fuzzing start from? One for each golden case of `rig-build`, in `target/corpus`; the cases of
//! `answers`; and the recorded responses, where they are beside the checkout, in `target/replies`.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// What a case expects is no input.
const EXPECTED: [&str; 2] = ["stderr.txt", "expanded.rs"];

/// Files that the cases of `reject` share.
const SHARED: &str = "_base";

fn main() -> io::Result<()> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let corpus = here.join("target/corpus");
    fs::create_dir_all(&corpus)?;
    let mut count = 0;
    for kind in ["accept", "reject"] {
        let cases = here.join("../rig-build/tests").join(kind);
        for case in entries(&cases)? {
            let mut files = Vec::new();
            read(&case, &case, &mut files)?;
            if kind == "reject" {
                read(&cases, &cases.join(SHARED), &mut files)?;
            }
            let name = case.file_name().unwrap_or_default().to_string_lossy();
            fs::write(
                corpus.join(format!("{kind}-{name}")),
                rig_fuzz::join(&files),
            )?;
            count += 1;
        }
    }
    let answers = here.join("target/answers");
    fs::create_dir_all(&answers)?;
    for (at, (_, answer)) in rig_fuzz::answers::CASES.iter().enumerate() {
        fs::write(answers.join(format!("case-{at}")), answer)?;
    }
    replies(&here.join("../../shared/corpora/provider-recordings"), here)?;
    println!("{count} inputs in {}", corpus.display());
    Ok(())
}

/// Writes the recorded responses of a folder as inputs of `decode` and `stream`.
fn replies(recordings: &Path, here: &Path) -> io::Result<()> {
    let inputs = here.join("target/replies");
    fs::create_dir_all(&inputs)?;
    let mut files = Vec::new();
    if recordings.is_dir() {
        read(recordings, recordings, &mut files)?;
    }
    for (name, json) in files {
        let recording: serde_json::Value = serde_json::from_slice(&json).unwrap_or_default();
        let (api, response) = (recording["api"].as_str(), &recording["response"]);
        let body = response["sse"].as_str().or(response["body"].as_str());
        let status = response["status"].as_u64().unwrap_or(200);
        let status = u16::try_from(status).unwrap_or(200);
        if let (Some(api), Some(body)) = (api, body)
            && let Some(input) = rig_fuzz::replies::input(api, status, body)
        {
            fs::write(inputs.join(name.replace('/', "-")), input)?;
        }
    }
    Ok(())
}

fn read(root: &Path, folder: &Path, files: &mut Vec<(String, Vec<u8>)>) -> io::Result<()> {
    for path in entries(folder)? {
        let name = path.strip_prefix(root).unwrap_or(&path).to_string_lossy();
        if path.is_dir() {
            read(root, &path, files)?;
        } else if !EXPECTED.contains(&name.as_ref()) {
            files.push((name.replace('\\', "/"), within(fs::read(&path)?)));
        }
    }
    Ok(())
}

/// The files that cases share lie within the directory of each.
fn within(bytes: Vec<u8>) -> Vec<u8> {
    match String::from_utf8(bytes) {
        Ok(text) => text
            .replace(&format!("../{SHARED}/"), &format!("{SHARED}/"))
            .into_bytes(),
        Err(error) => error.into_bytes(),
    }
}

fn entries(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder)?.map(|entry| entry.map(|entry| entry.path()));
    let mut paths = entries.collect::<io::Result<Vec<_>>>()?;
    paths.sort();
    Ok(paths)
}
