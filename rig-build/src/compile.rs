//! How does a directory of routes become a directory of Rust?

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use crate::ast;
use crate::check::{self, Checked, input_fields};
use crate::diagnostic::{Diagnostic, Sink};
use crate::emit;
use crate::files::Files;
use crate::finding::{Finding, rendered};
use crate::ir::{Answer, Route};
use crate::lower::lower;
use crate::names::{Taken, pascal};
use crate::node::Node;
use crate::project::{self, Project};
use crate::schema::types::{self, Types};
use crate::source::SourceId;
use crate::yaml;

/// The file of a routes directory that is no route.
const PROJECT_FILE: &str = "rig.yaml";

/// What came of a directory of routes.
#[derive(Debug, Default)]
pub struct Compilation {
    /// Every route file, in the order of their names.
    pub routes: Vec<CompiledRoute>,
    /// What is wrong with the directory itself: it is missing, `rig.yaml` is broken, two files hold one route.
    pub directory: Vec<Finding>,
    /// Every file that was read, and the folders of files that are missing.
    pub watched: BTreeSet<PathBuf>,
}

/// What came of one route file.
#[derive(Debug)]
pub struct CompiledRoute {
    /// The route's name; where the file does not say it, the file's own.
    pub name: String,
    /// The file, as messages say it.
    pub file: String,
    /// What was found, errors first.
    pub findings: Vec<Finding>,
    /// The generated module, but for the output types; `None` where there are errors.
    pub module: Option<String>,
    /// The output types, where prompt and schema are good; `None` for any JSON value.
    pub output_types: Option<String>,
    /// The input type and the variants of a route with errors, where prompt and schema are good.
    pub(crate) types: Option<String>,
    /// What the documentation of the route's function says.
    pub(crate) docs: String,
    /// The output type's name; `None` for any JSON value, and where the schema is broken.
    pub(crate) output: Option<String>,
    /// What it was made from; `None` where there are errors.
    pub(crate) whole: Option<Box<Whole>>,
}

/// A route that keeps every rule: as its author means it, and as it is decided.
#[derive(Debug)]
pub(crate) struct Whole {
    pub(crate) meant: Route,
    pub(crate) checked: Checked,
}

impl CompiledRoute {
    /// Returns whether the route has errors.
    #[must_use]
    pub fn is_broken(&self) -> bool {
        self.module.is_none()
    }

    /// Returns all that is generated, as one text; `None` where there are errors.
    #[must_use]
    pub fn expanded(&self) -> Option<String> {
        let module = self.module.as_ref()?;
        Some(match &self.output_types {
            Some(types) => format!("{types}\n{module}"),
            None => module.clone(),
        })
    }
}

/// Compiles every route of a directory. `shown` is the directory's path as messages say it.
#[must_use]
pub fn compile_dir(dir: &Path, shown: &str) -> Compilation {
    compile_with(dir, shown, &mut |_, _| {})
}

/// Compiles every route of a directory, and hands each good one to `good`.
pub(crate) fn compile_with(
    dir: &Path,
    shown: &str,
    good: &mut dyn FnMut(&Route, &Checked),
) -> Compilation {
    let mut files = Files::default();
    let mut sink = Sink::default();
    let names = match route_files(dir) {
        Ok(names) => names,
        Err(error) => {
            let found = match error.kind() {
                io::ErrorKind::NotFound => "is not there",
                io::ErrorKind::NotADirectory => "is a file",
                _ => "cannot be read",
            };
            let finding = Diagnostic::error(
                "routes-directory",
                format!("the routes directory `{shown}` {found}"),
            )
            .help(format!(
                "create `{shown}/my-task.yaml`, or name another directory in `build.rs`"
            ));
            sink.push(finding);
            let directory = rendered(sink, &files);
            let parent = dir
                .ancestors()
                .skip(1)
                .find(|folder| folder.is_dir())
                .map(Path::to_path_buf);
            return Compilation {
                routes: Vec::new(),
                directory,
                watched: parent.into_iter().collect(),
            };
        }
    };
    if names.is_empty() {
        let finding = Diagnostic::error(
            "routes-directory",
            format!("the routes directory `{shown}` holds no route"),
        )
        .help(format!("create a route file, e.g. `{shown}/my-task.yaml`"));
        sink.push(finding);
    }
    let project = Rc::new(read_project(dir, shown, &mut files, &mut sink));
    let mut read = Vec::new();
    for name in names {
        let mut own = Sink::default();
        let route = read_route(
            &dir.join(&name),
            &format!("{shown}/{name}"),
            &project,
            &mut files,
            &mut own,
        );
        read.push((name, route, own));
    }
    duplicate_routes(&read, &mut sink);
    let routes = read
        .into_iter()
        .map(|(file, route, own)| finish(&file, shown, route, own, &files, good))
        .collect();
    let mut watched = files.watched().clone();
    watched.insert(dir.to_path_buf());
    Compilation {
        routes,
        directory: rendered(sink, &files),
        watched,
    }
}

/// Returns the names of the route files of a directory, sorted.
fn route_files(dir: &Path) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(dir)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let is_yaml = name.ends_with(".yaml") || name.ends_with(".yml");
        if is_yaml && name != PROJECT_FILE && !name.starts_with('.') && entry.path().is_file() {
            names.push(name);
        }
    }
    names.sort();
    Ok(names)
}

fn read_project(dir: &Path, shown: &str, files: &mut Files, sink: &mut Sink) -> Project {
    let path = dir.join(PROJECT_FILE);
    if !path.is_file() {
        return Project::default();
    }
    let source = files.read(&path, &format!("{shown}/{PROJECT_FILE}"), sink);
    let tree = source.and_then(|source| yaml::parse(&files.sources, source, sink));
    tree.map(|tree| project::project(&tree, sink))
        .unwrap_or_default()
}

/// A route file, as far as it could be read.
struct ReadRoute {
    source: Option<SourceId>,
    route: Option<Route>,
}

fn read_route(
    path: &Path,
    shown: &str,
    project: &Rc<Project>,
    files: &mut Files,
    sink: &mut Sink,
) -> ReadRoute {
    let source = files.read(path, shown, sink);
    let tree: Option<Node> = source.and_then(|source| yaml::parse(&files.sources, source, sink));
    let route = tree
        .and_then(|tree| ast::route(&tree, sink))
        .map(|route| lower(route, project, files, sink));
    if let Some(route) = &route {
        check::run(route, sink);
    }
    ReadRoute { source, route }
}

/// C3: a route's name is unique in its directory.
fn duplicate_routes(read: &[(String, ReadRoute, Sink)], sink: &mut Sink) {
    let names: Vec<_> = read
        .iter()
        .filter_map(|(_, read, _)| read.route.as_ref().and_then(|route| route.name.as_ref()))
        .collect();
    for (index, name) in names.iter().enumerate() {
        let Some(first) = names[..index]
            .iter()
            .find(|earlier| earlier.value == name.value)
        else {
            continue;
        };
        let message = format!("two files hold the route `{}`", name.value);
        let finding = Diagnostic::error("duplicate-route", message)
            .at_label(name.span, "second file")
            .also(first.span, "first file")
            .help("rename one of the two routes");
        sink.push(finding);
    }
}

fn finish(
    file: &str,
    shown: &str,
    read: ReadRoute,
    mut sink: Sink,
    files: &Files,
    good: &mut dyn FnMut(&Route, &Checked),
) -> CompiledRoute {
    let name = read
        .route
        .as_ref()
        .and_then(|route| route.name.as_ref())
        .map(|name| name.value.clone());
    let name = name.filter(|name| is_file_name(name)).unwrap_or_else(|| {
        let text = read
            .source
            .map_or("", |source| files.sources.get(source).text.as_str());
        guessed_name(text)
            .unwrap_or(file.trim_end_matches(".yaml").trim_end_matches(".yml"))
            .to_owned()
    });
    let input_name = format!("{}Input", pascal(&name));
    let schema_types = read
        .route
        .as_ref()
        .and_then(|route| schema_types(route, &input_name, &mut sink));
    let checked = read
        .route
        .as_ref()
        .and_then(|route| check::checked(route, &mut sink));
    if let (Some(route), Some(checked)) = (&read.route, &checked) {
        good(route, checked);
    }
    let variants = variant_names(read.route.as_ref(), checked.as_ref());
    let input = read.route.as_ref().and_then(|route| route.prompt.as_ref());
    let input = input.map(|prompt| input_fields(&prompt.variables.value));
    let source = input
        .as_ref()
        .zip(schema_types.as_ref())
        .map(|(input, output)| emit::Source {
            route: &name,
            input_name: &input_name,
            input,
            output: output.as_ref().map(|(types, hash)| (types, *hash)),
            variants: &variants,
        });
    let (module, types) = match (&checked, &source) {
        (Some(checked), Some(source)) => (Some(emit::module(checked, source)), None),
        (None, Some(source)) => (None, Some(emit::types(source))),
        _ => (None, None),
    };
    let output_types = source.as_ref().and_then(emit::output_types);
    let file = format!("{shown}/{file}");
    let docs = checked
        .as_ref()
        .map(|checked| emit::docs(checked, &file))
        .unwrap_or_default();
    let output = schema_types
        .flatten()
        .and_then(|(types, _)| Some(types.defs.first()?.name.clone()));
    let whole = read.route.zip(checked);
    let whole = whole.map(|(meant, checked)| Box::new(Whole { meant, checked }));
    CompiledRoute {
        name,
        file,
        findings: rendered(sink, files),
        module,
        output_types,
        types,
        docs,
        output,
        whole,
    }
}

/// Returns the schema's types: `Some(None)` for any JSON value, `None` where the schema is broken.
fn schema_types(route: &Route, input_name: &str, sink: &mut Sink) -> Option<Option<(Types, u64)>> {
    match &route.schema {
        Answer::Broken => None,
        Answer::Any => Some(None),
        Answer::Schema(schema) => {
            let taken = Taken::with([input_name.to_owned(), "Variant".to_owned()]);
            Some(Some((
                types::read(&schema.root, &schema.type_name, taken, sink),
                schema.hash,
            )))
        }
    }
}

/// Returns the variants that a call can name; of a broken route all that it declares, so that callers do not cascade.
fn variant_names<'a>(route: Option<&'a Route>, checked: Option<&'a Checked>) -> Vec<&'a str> {
    if let Some(checked) = checked {
        return checked
            .variants
            .iter()
            .map(|(name, _)| name.as_str())
            .collect();
    }
    let declared = route
        .map(|route| route.variants.as_slice())
        .unwrap_or_default();
    let mut names: Vec<&str> = Vec::new();
    let mut known = BTreeSet::new();
    for name in declared.iter().filter_map(|variant| variant.name.as_ref()) {
        if known.insert(pascal(&name.value)) {
            names.push(&name.value);
        }
    }
    names
}

/// Returns whether files can have the name on every system, and the index a line with it.
fn is_file_name(name: &str) -> bool {
    const OF_PATHS: [char; 9] = ['/', '\\', ':', '*', '?', '"', '<', '>', '|'];
    name.len() <= check::LONGEST_NAME
        && !name.contains(OF_PATHS)
        && !name.contains(char::is_control)
}

/// Finds the name in a file that is no YAML, so that the finding still reaches the function that binds it.
fn guessed_name(text: &str) -> Option<&str> {
    let line = text.lines().find_map(|line| line.strip_prefix("route:"))?;
    let name = line
        .split('#')
        .next()
        .unwrap_or("")
        .trim()
        .trim_matches(['"', '\'']);
    let plain = name
        .chars()
        .all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-'));
    (plain && !name.is_empty() && is_file_name(name)).then_some(name)
}
