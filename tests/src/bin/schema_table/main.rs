//! Which schemas become types, and do the types keep the law?
//!
//! `cargo run --release -p tests --bin schema_table -- DIR…` takes folders of files `{schema, tests: [{valid, data}]}`.
//! It generates a scratch crate with the types of every schema, builds it with the dependencies that the workspace was
//! built with, and has every instance read as an answer of a call is. The law: what the gate accepts is held by the type
//! and written again as the same JSON value, and what it rejects reaches nobody. One JSON line is printed for each
//! schema, then one with the totals of each folder. `--every N` takes each Nth schema only; `--typify` judges the types of
//! typify in the same run, which needs the registry.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "a tool for developers, which deals in processes and tables"
)]

mod corpus;
mod generated;
mod scratch;
mod typify;

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use corpus::Case;

/// What is said of one schema.
#[derive(Default)]
pub(crate) struct Row {
    pub(crate) name: String,
    pub(crate) compiles: bool,
    /// The places that became any JSON value for want of a type.
    pub(crate) value_fallbacks: usize,
    pub(crate) valid: u64,
    pub(crate) valid_ok: u64,
    pub(crate) invalid: u64,
    pub(crate) invalid_rejected: u64,
    /// Why something is not as it should be.
    pub(crate) reasons: Vec<String>,
    /// What typify makes of it.
    pub(crate) typify: Option<Value>,
}

impl Row {
    /// Returns the row of a schema of whose instances nothing is known yet.
    pub(crate) fn new(case: &Case) -> Self {
        let count = |wanted| {
            case.instances
                .iter()
                .filter(|(valid, _)| *valid == wanted)
                .count() as u64
        };
        Self {
            name: case.name.clone(),
            valid: count(true),
            invalid: count(false),
            ..Self::default()
        }
    }

    /// Takes in what a program said of the instances.
    pub(crate) fn judged(&mut self, line: &Value) {
        let number = |key: &str| line[key].as_u64().unwrap();
        (self.valid_ok, self.invalid_rejected) = (number("valid_ok"), number("invalid_rejected"));
        let reasons = line["reasons"].as_array().unwrap();
        self.reasons
            .extend(reasons.iter().filter_map(Value::as_str).map(str::to_owned));
    }

    fn json(&self) -> Value {
        let mut row = json!({
            "name": self.name,
            "compiles": self.compiles,
            "value_fallbacks": self.value_fallbacks,
            "valid_ok": self.valid_ok,
            "valid": self.valid,
            "invalid_rejected": self.invalid_rejected,
            "invalid": self.invalid,
            "reason": self.reasons.join("; "),
        });
        if let Some(typify) = &self.typify {
            row["typify"] = typify.clone();
        }
        row
    }
}

fn main() {
    let mut folders: Vec<PathBuf> = Vec::new();
    let (mut every, mut with_typify) = (1, false);
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--typify" => with_typify = true,
            "--every" => {
                every = arguments
                    .next()
                    .and_then(|n| n.parse().ok())
                    .expect("--every takes a number")
            }
            _ => folders.push(argument.into()),
        }
    }
    assert!(
        !folders.is_empty(),
        "name the folders whose schemas are to be judged"
    );
    for folder in &folders {
        judge(folder, every, with_typify);
    }
}

fn judge(folder: &Path, every: usize, with_typify: bool) {
    let mut rows = Vec::new();
    let mut cases = Vec::new();
    for case in corpus::read(folder).into_iter().step_by(every) {
        match case {
            Ok(case) => cases.push(case),
            Err((name, fault)) => rows.push(Row {
                name,
                reasons: vec![fault],
                ..Row::default()
            }),
        }
    }
    let mut judged = generated::judge(&cases);
    if with_typify {
        for (row, typify) in judged.iter_mut().zip(typify::judge(&cases)) {
            row.typify = Some(typify.json());
        }
    }
    rows.extend(judged);
    rows.iter().for_each(|row| println!("{}", row.json()));
    println!("{}", totals(folder, &rows));
}

fn totals(folder: &Path, rows: &[Row]) -> Value {
    let sum = |of: &dyn Fn(&Row) -> u64| rows.iter().map(of).sum::<u64>();
    let mut totals = json!({
        "folder": folder.display().to_string(),
        "schemas": rows.len(),
        "compiles": sum(&|row| u64::from(row.compiles)),
        "value_fallbacks": sum(&|row| row.value_fallbacks as u64),
        "valid_ok": sum(&|row| row.valid_ok),
        "valid": sum(&|row| row.valid),
        "invalid_rejected": sum(&|row| row.invalid_rejected),
        "invalid": sum(&|row| row.invalid),
    });
    if rows.iter().any(|row| row.typify.is_some()) {
        let typify = |key: &str| {
            let numbers = rows.iter().filter_map(|row| row.typify.as_ref());
            numbers
                .map(|typify| {
                    typify[key]
                        .as_u64()
                        .unwrap_or(u64::from(typify[key] == true))
                })
                .sum::<u64>()
        };
        totals["typify"] = json!({
            "compiles": typify("compiles"),
            "valid_ok": typify("valid_ok"),
            "invalid_rejected": typify("invalid_rejected"),
        });
    }
    json!({ "totals": totals })
}
