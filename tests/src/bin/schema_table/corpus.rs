//! What does a folder of schemas hold?

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::value::RawValue;

/// A schema with what it should let through and what not.
pub(crate) struct Case {
    /// Its file's name, without `.json`.
    pub(crate) name: String,
    /// The schema, as it stands in the file.
    pub(crate) schema: String,
    /// Whether each is valid, and its text.
    pub(crate) instances: Vec<(bool, String)>,
}

#[derive(serde::Deserialize)]
struct File {
    schema: Box<RawValue>,
    #[serde(default)]
    tests: Vec<Test>,
}

#[derive(serde::Deserialize)]
struct Test {
    valid: Option<bool>,
    /// The label for whom `format` says nothing; the other one may assert formats.
    valid_format_annotation: Option<bool>,
    data: Box<RawValue>,
}

/// Reads the cases of a folder, in the order of their names; what is no case is told.
pub(crate) fn read(folder: &Path) -> Vec<Result<Case, (String, String)>> {
    let entries =
        fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| {
        path.extension()
            .is_some_and(|extension| extension == "json")
    });
    paths.sort();
    paths.iter().map(|path| case(path)).collect()
}

fn case(path: &Path) -> Result<Case, (String, String)> {
    let name = path
        .file_stem()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    let text = fs::read_to_string(path).map_err(|error| (name.clone(), error.to_string()))?;
    let file: File =
        serde_json::from_str(&text).map_err(|error| (name.clone(), format!("no case: {error}")))?;
    let instances = file.tests.into_iter().filter_map(|test| {
        let valid = test.valid_format_annotation.or(test.valid)?;
        Some((valid, test.data.get().to_owned()))
    });
    let instances = instances.collect();
    Ok(Case {
        name,
        schema: file.schema.get().to_owned(),
        instances,
    })
}
