//! Which lines does a manifest lack? Everything else in it stays as it is written.

use std::path::Path;

use toml_edit::{Array, DocumentMut, InlineTable, Item, Table, Value};

use crate::output::{Result, Stop};

/// The package that users import.
const PACKAGE: &str = "modelrig";

/// A manifest of a package.
pub(super) struct Manifest {
    document: DocumentMut,
}

/// What a crate with a route needs.
pub(super) struct Wanted<'a> {
    /// The checkout to depend on; `None` is the published version.
    pub(super) checkout: Option<&'a Path>,
    /// Whether the crate runs calls itself, and so needs a runtime.
    pub(super) runs: bool,
}

/// What becomes of a manifest.
pub(super) struct Edited {
    /// The new text; `None` where nothing is lacking.
    pub(super) text: Option<String>,
    /// The dependencies that were added.
    pub(super) added: Vec<String>,
    /// What is left to the user.
    pub(super) todo: Vec<String>,
    /// The name under which the crate sees the facade.
    pub(super) root: String,
}

impl Manifest {
    /// Reads a manifest.
    pub(super) fn read(text: &str) -> Result<Self> {
        let document: DocumentMut = text
            .parse()
            .map_err(|error| Stop::new(format!("`Cargo.toml` cannot be read: {error}")))?;
        if document.get("package").is_none() {
            return Err(Stop::new("`Cargo.toml` is a workspace without a package")
                .help("go into one of its members"));
        }
        Ok(Self { document })
    }

    /// Says what a build script that is not `build.rs` has to hold.
    pub(super) fn script_elsewhere(&self) -> Option<String> {
        match self.document.get("package")?.get("build")?.as_value()? {
            Value::String(path) if path.value() != "build.rs" => Some(format!(
                "the build script is `{}`: what `build.rs` says belongs there",
                path.value()
            )),
            Value::Boolean(runs) if !runs.value() => {
                Some("`package.build` is `false`: remove it, so that `build.rs` runs".to_owned())
            }
            _ => None,
        }
    }

    /// Adds what is lacking.
    pub(super) fn with(&self, wanted: &Wanted<'_>) -> Edited {
        let mut document = self.document.clone();
        let (mut added, mut todo) = (Vec::new(), Vec::new());
        let dependencies = self.document.get("dependencies");
        let known = facade(dependencies);
        let root =
            known
                .clone()
                .unwrap_or_else(|| match dependencies.and_then(|all| all.get("rig")) {
                    // That name belongs to another crate on the registry, which the user has already.
                    Some(_) => PACKAGE.to_owned(),
                    None => "rig".to_owned(),
                });
        let mut add = |section: &str, name: &str, value: Value| {
            let table = document
                .entry(section)
                .or_insert_with(|| Item::Table(Table::new()));
            if let Some(table) = table
                .as_table_like_mut()
                .filter(|table| !table.contains_key(name))
            {
                table.insert(name, Item::Value(value));
                added.push(name.to_owned());
            }
        };
        if known.is_none() {
            add(
                "dependencies",
                &root,
                ours(PACKAGE, "rig", root != PACKAGE, wanted.checkout),
            );
        }
        if wanted.runs {
            match dependencies.and_then(|all| all.get("tokio")) {
                None => add("dependencies", "tokio", tokio()),
                Some(given) => todo.extend(lacking_features(given)),
            }
        }
        add(
            "build-dependencies",
            "rig-build",
            ours("rig-build", "rig-build", false, wanted.checkout),
        );
        let text = (!added.is_empty()).then(|| document.to_string());
        Edited {
            text,
            added,
            todo,
            root,
        }
    }
}

/// Returns the name under which the facade is a dependency already.
fn facade(dependencies: Option<&Item>) -> Option<String> {
    let table = dependencies?.as_table_like()?;
    let is_facade = |name: &str, item: &Item| {
        let package = item.get("package").and_then(Item::as_str);
        package.unwrap_or(name) == PACKAGE
    };
    let found = table.iter().find(|(name, item)| is_facade(name, item));
    found.map(|(name, _)| name.to_owned())
}

/// Returns a dependency on one of our packages, which lies in this folder of a checkout.
fn ours(package: &str, folder: &str, renamed: bool, checkout: Option<&Path>) -> Value {
    let mut table = InlineTable::new();
    if renamed {
        table.insert("package", package.into());
    }
    match checkout {
        Some(checkout) => {
            let path = checkout.join(folder).to_string_lossy().replace('\\', "/");
            table.insert("path", path.into());
        }
        None if renamed => {
            table.insert("version", env!("CARGO_PKG_VERSION").into());
        }
        None => return env!("CARGO_PKG_VERSION").into(),
    }
    Value::InlineTable(table)
}

/// What `#[tokio::main]` needs.
const FEATURES: [&str; 2] = ["macros", "rt-multi-thread"];

fn tokio() -> Value {
    let mut table = InlineTable::new();
    table.insert("version", "1".into());
    table.insert("features", Value::Array(Array::from_iter(FEATURES)));
    Value::InlineTable(table)
}

/// Says which features a dependency on tokio lacks, as far as this manifest shows them.
fn lacking_features(tokio: &Item) -> Option<String> {
    let given = tokio.get("features").and_then(Item::as_array);
    let given: Vec<_> = given
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let is_elsewhere = tokio.get("workspace").is_some() || given.contains(&"full");
    let lacking: Vec<_> = FEATURES
        .into_iter()
        .filter(|feature| !given.contains(feature))
        .collect();
    (!is_elsewhere && !lacking.is_empty()).then(|| {
        format!(
            "`#[tokio::main]` needs the features {} of `tokio`",
            lacking.join(" and ")
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edited(text: &str, runs: bool) -> Edited {
        let wanted = Wanted {
            checkout: None,
            runs,
        };
        Manifest::read(text).unwrap().with(&wanted)
    }

    const VERSION: &str = env!("CARGO_PKG_VERSION");

    #[test]
    fn what_is_there_keeps_its_form() {
        let before =
            "# Mine.\n[package]\nname = 'x' # odd\n\n[dependencies]\nserde = \"1\"   # first\n";
        let edited = edited(before, true);
        let expected = format!(
            "{before}rig = {{ package = \"modelrig\", version = \"{VERSION}\" }}\ntokio = {{ version = \"1\", features = [\"macros\", \"rt-multi-thread\"] }}\n\n[build-dependencies]\nrig-build = \"{VERSION}\"\n"
        );
        assert_eq!(edited.text.unwrap(), expected);
        assert_eq!(
            (edited.added, edited.root.as_str()),
            (
                vec!["rig".to_owned(), "tokio".to_owned(), "rig-build".to_owned()],
                "rig"
            )
        );
        assert!(edited.todo.is_empty());
    }

    #[test]
    fn nothing_is_added_twice() {
        let text = "[package]\nname = \"x\"\n[dependencies]\nllm = { package = \"modelrig\", version = \"0.1\" }\n[build-dependencies]\nrig-build = \"0.1\"\n";
        let edited = edited(text, false);
        assert_eq!((edited.text, edited.root.as_str()), (None, "llm"));
    }

    #[test]
    fn another_crate_named_rig_keeps_its_name() {
        let edited = edited(
            "[package]\nname = \"x\"\n[dependencies]\nrig = \"0.9\"\n",
            false,
        );
        assert_eq!(edited.root, "modelrig");
        let text = edited.text.unwrap();
        assert!(
            text.contains(&format!("\nrig = \"0.9\"\nmodelrig = \"{VERSION}\"\n")),
            "{text}"
        );
    }

    #[test]
    fn a_tokio_without_its_macros_is_told() {
        let text = "[package]\nname = \"x\"\n[dependencies]\ntokio = { version = \"1\", features = [\"rt\"] }\n";
        let lacking = "`#[tokio::main]` needs the features macros and rt-multi-thread of `tokio`";
        assert_eq!(edited(text, true).todo, [lacking]);
        assert!(edited(text, false).todo.is_empty());
        assert!(edited(&text.replace("rt", "full"), true).todo.is_empty());
    }

    #[test]
    fn a_build_script_elsewhere_is_told() {
        let says = |line: &str| {
            let text = format!("[package]\nname = \"x\"\n{line}\n");
            Manifest::read(&text).unwrap().script_elsewhere()
        };
        assert!(
            says("build = \"scripts/b.rs\"")
                .unwrap()
                .contains("`scripts/b.rs`")
        );
        assert!(says("build = false").unwrap().contains("remove it"));
        assert_eq!((says("build = \"build.rs\""), says("")), (None, None));
    }

    #[test]
    fn a_workspace_alone_is_no_crate() {
        assert!(Manifest::read("[workspace]\nmembers = []\n").is_err());
    }
}
