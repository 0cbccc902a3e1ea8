//! Does generated code pass the lints of a strict crate?

use crate::scratch::{
    BUILD, PROMPT, SCHEMA as SCHEMA_OF_FC_BASE, Scratch, WORKSPACE, cargo, manifest, route, run,
};

const LIBRARY: &str = r#"//! A crate that forgives nothing.

#![deny(warnings, missing_docs, unreachable_pub, rust_2018_idioms, unused_qualifications)]

/// Judges a case.
#[rig::route("judge")]
pub async fn judge(input: JudgeInput) -> rig::Result<Judgement>;
"#;

const ROUTE: &str = "route: judge
version: 1
schema: ./schema.json
candidates:
  - { provider: deepseek, model: deepseek-v4-flash }
  - { provider: fireworks, model: kimi-k3 }
prompt:
  system: ./prompt.md
  variables: { q: string, history: json, count: integer }
policy:
  retries: { content_invalid: 1 }
  json: json_mode
variants:
  - name: one-only
    candidates: [{ provider: fireworks, model: kimi-k3 }]
";

/// Whatever makes a type of its own, and texts that rustdoc could take for markup.
const SCHEMA: &str = r##"{
  "title": "Judgement",
  "description": "See [this] <b>page</b>, http://example.test/<id> and `code [x]`; a lone ` before [y]\n~~~\nlike ^\\<d>$",
  "type": "object",
  "properties": {
    "verdict": { "enum": ["yes", "no", "it depends"], "description": "- a list\n    and code" },
    "type": { "type": ["string", "null"] },
    "score": { "type": "number" },
    "parts": { "type": "array", "items": { "$ref": "#/$defs/part" } },
    "extra": { "type": "object", "additionalProperties": { "type": "integer" } },
    "either": {
      "anyOf": [
        { "$ref": "#/$defs/part" },
        { "title": "Other", "type": "object", "properties": { "text": { "type": "integer" } }, "required": ["text"] },
        { "type": "array", "prefixItems": [{ "type": "string" }, { "type": "integer" }], "minItems": 1 },
        { "type": "boolean" }
      ]
    }
  },
  "required": ["verdict", "type", "parts"],
  "$defs": {
    "part": {
      "type": "object",
      "properties": { "text": { "type": "string" }, "weight": { "type": "integer" } },
      "required": ["text"],
      "additionalProperties": false
    }
  },
  "additionalProperties": false
}
"##;

#[test]
fn a_crate_that_denies_warnings_builds_and_documents_a_public_route() {
    let prompt = format!("{PROMPT}{{{{history}}}} {{{{count}}}}\n");
    let scratch = Scratch::new(
        "strict",
        &[
            ("Cargo.toml", &(manifest("strict", "") + WORKSPACE)),
            ("build.rs", BUILD),
            ("src/lib.rs", LIBRARY),
            ("routes/judge.yaml", ROUTE),
            ("routes/prompt.md", &prompt),
            ("routes/schema.json", SCHEMA),
        ],
    );
    let built = scratch.cargo(&["build"]).good();
    assert!(!built.stderr.contains("warning"), "{}", built.stderr);
    let mut doc = cargo(scratch.root());
    doc.args(["doc", "--no-deps"])
        .env("RUSTDOCFLAGS", "-Dwarnings");
    let built = run(&mut doc).good();
    assert!(!built.stderr.contains("warning"), "{}", built.stderr);
}

/// Another crate of the registry is named `rig` too; a crate that depends on both names ours `modelrig`.
#[test]
fn a_crate_with_another_crate_named_rig_binds_routes() {
    let manifest = manifest(
        "neighbour",
        "other = { package = \"rig\", path = \"other\" }\n",
    )
    .replace(
        "rig = { package = \"modelrig\"",
        "modelrig = { package = \"modelrig\"",
    )
    .replace("other = { package = \"rig\"", "rig = { package = \"rig\"");
    let other = "[package]\nname = \"rig\"\nversion = \"9.0.0\"\nedition = \"2024\"\n";
    let main = "//! Uses both.

/// Asks.
#[modelrig::route(\"fc.base\", crate = modelrig)]
pub async fn ask(input: FcBaseInput) -> modelrig::Result<FcBase>;

fn main() {
    let _call = ask(FcBaseInput { q: rig::other().to_owned() });
}
";
    let scratch = Scratch::new(
        "neighbour",
        &[
            ("Cargo.toml", &(manifest + WORKSPACE)),
            ("build.rs", BUILD),
            ("src/main.rs", main),
            ("other/Cargo.toml", other),
            (
                "other/src/lib.rs",
                "//! The other one.\n\n/// Answers.\npub fn other() -> &'static str {\n    \"other\"\n}\n",
            ),
            ("routes/fc.base.yaml", &route("fc.base")),
            ("routes/prompt.md", PROMPT),
            ("routes/schema.json", SCHEMA_OF_FC_BASE),
        ],
    );
    let built = scratch.cargo(&["build"]).good();
    assert!(!built.stderr.contains("warning"), "{}", built.stderr);
}
