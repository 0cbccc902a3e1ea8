//! Does the gate let through what others let through?
//!
//! Three judges have to agree: the pass that builds the type, the one that looks at the whole value, and the
//! `jsonschema` crate; and where a corpus says what conforms, they have to agree with it. The corpora lie beside
//! the repository; where they are not there a test says so.

use std::fs;
use std::path::{Path, PathBuf};

use referencing::meta;
use std::collections::BTreeMap;

use serde_json::Value;

use super::super::{Ready, judge, read};
use crate::json::Reader;

/// A schema, as the three judges have it.
pub(super) struct Schema {
    pub(super) ready: Ready,
    pub(super) peer: Option<jsonschema::Validator>,
}

impl Schema {
    pub(super) fn new(schema: &Value, documents: &[(String, String)]) -> Result<Self, String> {
        let borrowed: Vec<_> = documents
            .iter()
            .map(|(address, text)| (address.as_str(), text.as_str()))
            .collect();
        let gate = rig_build::compile_schema(&schema.to_string(), &borrowed)?;
        Ok(Self {
            ready: Ready::new(gate.leak())?,
            peer: documents.is_empty().then(|| peer(schema)).flatten(),
        })
    }

    /// Returns whether an answer conforms, once all judges agree.
    pub(super) fn takes(&self, what: &str, data: &Value) -> bool {
        let text = data.to_string();
        let value = Reader::new(&text).value(true).unwrap();
        let whole = judge::problems(&self.ready, &value, 9);
        let passing = read::<Value>(Some(&self.ready), false, &text);
        let piecewise = read::<Any>(Some(&self.ready), false, &text);
        let piecewise = piecewise.map(|any| serde_json::to_value(any).unwrap());
        let rewritten = piecewise.map(|any| Reader::new(&any.to_string()).value(true).unwrap());
        assert_eq!(rewritten.is_ok(), passing.is_ok(), "{what}: {text}");
        if let Ok(read) = rewritten {
            assert_eq!(read, value, "{what}");
        }
        assert_eq!(
            passing.is_ok(),
            whole.is_empty(),
            "{what}: {text} {whole:?}"
        );
        if let Ok(passed) = passing {
            assert_eq!(passed, value, "{what}");
        }
        if let Some(peer) = &self.peer {
            assert_eq!(
                peer.is_valid(&value),
                whole.is_empty(),
                "{what}: {text} {whole:?}"
            );
        }
        whole.is_empty()
    }
}

/// Any value, read piece by piece as generated types are.
enum Any {
    List(Vec<Any>),
    Object(BTreeMap<String, Any>),
    Text(String),
    Integer(i64),
    Unsigned(u64),
    Float(f64),
    Boolean(bool),
    Null(()),
}

crate::__union!(Any {
    List,
    Object,
    Text,
    Integer,
    Unsigned,
    Float,
    Boolean,
    Null
});

fn peer(schema: &Value) -> Option<jsonschema::Validator> {
    let dialect = schema.get("$schema").and_then(Value::as_str).unwrap_or("");
    let draft = if dialect.contains("draft-07") {
        jsonschema::Draft::Draft7
    } else {
        jsonschema::Draft::Draft202012
    };
    let options = jsonschema::options().with_draft(draft);
    let options = options.should_validate_formats(false).offline();
    options.build(schema).ok()
}

/// Returns a folder of the corpora, or says that it is not there.
#[expect(
    clippy::print_stderr,
    reason = "a test that could not look at its inputs says so aloud"
)]
pub(super) fn corpus(name: &str) -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../shared/corpora")
        .join(name);
    if folder.is_dir() {
        return Some(folder);
    }
    eprintln!("skipped: the corpus {name} is not beside the repository");
    None
}

/// Returns the JSON files of a folder and of those in it, in the order of their paths.
pub(super) fn files(folder: &Path) -> Vec<(PathBuf, Value)> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path
                .extension()
                .is_some_and(|extension| extension == "json")
            {
                let text = fs::read_to_string(&path).unwrap();
                found.push((path, serde_json::from_str(&text).unwrap()));
            }
        }
    }
    found.sort_by(|(one, _), (other, _)| one.cmp(other));
    found
}

/// Judges the tests of a draft; returns how many there are, and those that are judged otherwise.
fn suite(folder: &Path, draft: &str, dialect: &str) -> (usize, Vec<String>) {
    let remotes = folder.join("remotes");
    let mut documents = Vec::new();
    for (path, document) in files(&remotes) {
        let name = path.strip_prefix(&remotes).unwrap().to_str().unwrap();
        let others = ["draft2019-09", "draft2020-12", "draft7"];
        if others
            .iter()
            .any(|other| name.starts_with(other) && *other != draft)
        {
            continue;
        }
        let mut document = document;
        if let Some(document) = document.as_object_mut() {
            document.entry("$schema").or_insert(dialect.into());
        }
        documents.push((
            format!("http://localhost:1234/{name}"),
            document.to_string(),
        ));
    }
    let metaschemas = [
        ("http://json-schema.org/draft-07/schema", &*meta::DRAFT7),
        (dialect, &*meta::DRAFT202012),
        (
            "https://json-schema.org/draft/2020-12/meta/core",
            &*meta::DRAFT202012_CORE,
        ),
        (
            "https://json-schema.org/draft/2020-12/meta/applicator",
            &*meta::DRAFT202012_APPLICATOR,
        ),
        (
            "https://json-schema.org/draft/2020-12/meta/unevaluated",
            &*meta::DRAFT202012_UNEVALUATED,
        ),
        (
            "https://json-schema.org/draft/2020-12/meta/validation",
            &*meta::DRAFT202012_VALIDATION,
        ),
        (
            "https://json-schema.org/draft/2020-12/meta/meta-data",
            &*meta::DRAFT202012_META_DATA,
        ),
        (
            "https://json-schema.org/draft/2020-12/meta/format-annotation",
            &*meta::DRAFT202012_FORMAT_ANNOTATION,
        ),
        (
            "https://json-schema.org/draft/2020-12/meta/content",
            &*meta::DRAFT202012_CONTENT,
        ),
    ];
    let metaschemas =
        metaschemas.map(|(address, document)| (address.to_owned(), document.to_string()));
    documents.extend(metaschemas);
    let (mut count, mut others) = (0, Vec::new());
    for (path, groups) in files(&folder.join("tests").join(draft)) {
        let file = path.file_stem().unwrap().to_str().unwrap();
        for group in groups.as_array().unwrap() {
            let mut schema = group["schema"].clone();
            if let Some(schema) = schema.as_object_mut() {
                schema.entry("$schema").or_insert(dialect.into());
            }
            let text = schema.to_string();
            let needs_more = ["http://localhost:1234", "\"$ref\":\"http"];
            let needs_more = needs_more.iter().any(|word| text.contains(word));
            let documents = if needs_more { &documents[..] } else { &[] };
            let compiled = Schema::new(&schema, documents);
            for test in group["tests"].as_array().unwrap() {
                count += 1;
                let what = format!("{file}: {}: {}", group["description"], test["description"]);
                match &compiled {
                    Ok(compiled) if compiled.takes(&what, &test["data"]) == test["valid"] => {}
                    Ok(_) => others.push(what),
                    Err(fault) => others.push(format!("{what}: {fault}")),
                }
            }
        }
    }
    (count, others)
}

#[test]
fn the_test_suite_of_json_schema_2020_12_is_agreed_with() {
    if let Some(folder) = corpus("json-schema-test-suite") {
        let dialect = "https://json-schema.org/draft/2020-12/schema";
        let (count, others) = suite(&folder, "draft2020-12", dialect);
        assert_eq!(count, 1_299);
        // A dialect of one's own that leaves out a vocabulary: its schemas are read as 2020-12.
        let known = r#"vocabulary: "schema that uses custom metaschema with with no validation vocabulary": "no validation: invalid number, but it still validates""#;
        assert_eq!(others, [known]);
    }
}

#[test]
fn the_test_suite_of_json_schema_draft_07_is_agreed_with() {
    if let Some(folder) = corpus("json-schema-test-suite") {
        let (count, others) = suite(&folder, "draft7", "http://json-schema.org/draft-07/schema#");
        assert_eq!(count, 927);
        assert_eq!(others, Vec::<String>::new());
    }
}

#[test]
fn answers_of_models_are_judged_as_their_corpora_say() {
    for (name, label, instances) in [
        ("llm-schemas", "valid", 2_095),
        ("jsonschemabench", "valid_format_annotation", 1_001),
    ] {
        let Some(folder) = corpus(name) else { return };
        let (mut count, mut others) = (0, Vec::new());
        for (path, case) in files(&folder) {
            let what = path.file_stem().unwrap().to_string_lossy();
            match Schema::new(&case["schema"], &[]) {
                Err(fault) => others.push(format!("{what}: {fault}")),
                Ok(schema) => {
                    for test in case["tests"].as_array().unwrap() {
                        count += 1;
                        if schema.takes(&what, &test["data"]) != test[label] {
                            others.push(format!("{what}: {}", test["data"]));
                        }
                    }
                }
            }
        }
        assert_eq!(others, Vec::<String>::new(), "{name}");
        assert_eq!(count, instances, "{name}");
    }
}
