//! What does the crate look like that is built?

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

/// How many routes one Rust file binds.
const PER_FILE: usize = 10;

/// A crate with some number of routes.
pub(crate) struct Scratch {
    pub(crate) name: String,
    pub(crate) folder: PathBuf,
    pub(crate) routes: usize,
}

impl Scratch {
    pub(crate) fn new(root: &Path, routes: usize) -> Self {
        let name = format!("scale{routes}");
        let folder = root.join(&name);
        drop(fs::remove_dir_all(&folder));
        let scratch = Self {
            name,
            folder,
            routes,
        };
        scratch.write("Cargo.toml", &scratch.manifest());
        scratch.write(
            "build.rs",
            "fn main() {\n    rig_build::compile(\"routes\");\n}\n",
        );
        let files = routes.div_ceil(PER_FILE);
        scratch.write("src/main.rs", &main_file(files));
        for file in 0..files {
            scratch.write(&format!("src/tasks_{file}.rs"), &scratch.tasks(file, ""));
        }
        for n in 0..routes {
            scratch.write(&format!("routes/task-{n}.yaml"), &route(n, 30_000));
            scratch.write(&format!("routes/task-{n}.md"), &prompt(n));
            scratch.write(&format!("routes/task-{n}.schema.json"), &schema(n));
        }
        // The versions that this repository was tested with; cargo resolves nothing anew.
        fs::copy(
            repository().join("Cargo.lock"),
            scratch.folder.join("Cargo.lock"),
        )
        .unwrap();
        scratch
    }

    /// Returns a crate that depends on `rig-build` alone.
    pub(crate) fn alone(&self, root: &Path) -> Self {
        let alone = Self {
            name: "alone".to_owned(),
            folder: root.join("alone"),
            routes: 0,
        };
        let rig_build = repository().join("rig-build");
        alone.write(
            "Cargo.toml",
            &format!(
                "[package]\nname = \"alone\"\nedition = \"2024\"\n\n[build-dependencies]\nrig-build = {{ path = '{}' }}\n\n[workspace]\n",
                rig_build.display()
            ),
        );
        alone.write("src/lib.rs", "");
        // As every user has it: what a build script stands on is built without debug information.
        alone.write("build.rs", "fn main() {}\n");
        fs::copy(
            self.folder.join("Cargo.lock"),
            alone.folder.join("Cargo.lock"),
        )
        .unwrap();
        alone
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.folder.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn manifest(&self) -> String {
        format!(
            "[package]
name = \"{}\"
version = \"0.0.0\"
edition = \"2024\"

[build-dependencies]
rig-build = {{ path = '{1}/rig-build' }}

[dependencies]
rig = {{ package = \"modelrig\", path = '{1}/rig' }}
tokio = {{ version = \"1\", default-features = false, features = [\"macros\", \"rt\"] }}

[workspace]
resolver = \"3\"
",
            self.name,
            repository().display()
        )
    }

    /// The Rust file that binds ten routes and calls each; `more` is what an edit adds to a text.
    pub(crate) fn tasks(&self, file: usize, more: &str) -> String {
        let mine = (file * PER_FILE..self.routes).take(PER_FILE);
        let mut text = String::new();
        let mut calls = String::new();
        for n in mine {
            write!(
                text,
                "/// Answers the ticket.\n#[rig::route(\"task-{n}\")]\npub async fn task_{n}(input: Task{n}Input) -> rig::Result<Task{n}>;\n\n"
            )
            .unwrap();
            writeln!(
                calls,
                "    let answer = task_{n}(Task{n}Input {{ ticket: \"{n}{more}\".to_owned(), product: \"p\".to_owned() }}).await?;\n    println!(\"{{}} {{:?}}\", answer.title, answer.author);"
            )
            .unwrap();
        }
        text + &format!("pub async fn run() -> rig::Result<()> {{\n{calls}    Ok(())\n}}\n")
    }
}

fn main_file(files: usize) -> String {
    let mut text = String::new();
    let mut calls = String::new();
    for file in 0..files {
        writeln!(text, "mod tasks_{file};").unwrap();
        writeln!(calls, "    tasks_{file}::run().await?;").unwrap();
    }
    text + &format!(
        "\n#[tokio::main(flavor = \"current_thread\")]\nasync fn main() -> rig::Result<()> {{\n{calls}    Ok(())\n}}\n"
    )
}

/// Returns the route with this number.
pub(crate) fn route(n: usize, timeout_ms: usize) -> String {
    format!(
        "route: task-{n}
version: 1
schema: ./task-{n}.schema.json
candidates:
  - {{ provider: openai, model: gpt-5.4-mini }}
  - {{ provider: deepseek, model: deepseek-v4-flash }}
  - {{ provider: anthropic, model: claude-haiku-4-5 }}
prompt:
  system: ./task-{n}.md
  variables: [ticket, product]
policy:
  retries: {{ content_invalid: 2, network: 3, capacity_shed: 2 }}
  timeout_ms: {timeout_ms}
  json: json_mode
repair: {{ max_repairs: 1 }}
"
    )
}

fn prompt(n: usize) -> String {
    format!(
        "You answer tickets of kind {n}. Read the ticket and fill in the form.\n\nThe product is {{{{product}}}}.\n\n{{{{ticket}}}}\n"
    )
}

/// An object that holds another, an enum and a list.
fn schema(n: usize) -> String {
    format!(
        r##"{{
  "title": "Task{n}",
  "type": "object",
  "properties": {{
    "title": {{ "type": "string", "description": "One line." }},
    "urgency": {{ "enum": ["low", "normal", "high"] }},
    "tags": {{ "type": "array", "items": {{ "type": "string" }} }},
    "score": {{ "type": "number" }},
    "author": {{
      "type": "object",
      "properties": {{
        "name": {{ "type": "string" }},
        "age": {{ "type": "integer" }}
      }},
      "required": ["name"],
      "additionalProperties": false
    }}
  }},
  "required": ["title", "urgency", "tags", "author"],
  "additionalProperties": false
}}
"##
    )
}

fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}
