//! Do the generated types keep the law for the schemas that people give to models?
//!
//! The tool `schema_table` judges all of them; here it judges some.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

#[test]
fn what_the_gate_accepts_is_held_and_written_again() {
    let corpora = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/corpora");
    for (folder, every) in [("llm-schemas", 10), ("jsonschemabench", 30)] {
        let folder = corpora.join(folder);
        if !folder.is_dir() {
            eprintln!("skipped: {} is not there", folder.display());
            continue;
        }
        let mut command = Command::new(env!("CARGO_BIN_EXE_schema_table"));
        command.arg(&folder).args(["--every", &every.to_string()]);
        let output = command.output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let lines: Vec<Value> = text
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        let Some((totals, rows)) = lines.split_last() else {
            panic!("{}", String::from_utf8_lossy(&output.stderr));
        };
        for row in rows {
            assert_eq!(row["reason"], json!(""), "{row}");
        }
        let totals = &totals["totals"];
        assert!(
            totals["valid"].as_u64() > Some(10) && totals["invalid"].as_u64() > Some(10),
            "{totals}"
        );
        for (all, kept) in [
            ("schemas", "compiles"),
            ("valid", "valid_ok"),
            ("invalid", "invalid_rejected"),
        ] {
            assert_eq!(totals[all], totals[kept], "{totals}");
        }
    }
}
