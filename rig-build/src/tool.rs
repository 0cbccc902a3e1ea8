//! What does a tool file say?
//!
//! A JSON object: the tool's `name`, a `description` for the model, and the schema of its `parameters`.

use crate::diagnostic::Sink;
use crate::fields::{Fields, Keys, string};
use crate::files::Files;
use crate::json;
use crate::names::pascal;
use crate::schema::{self, Schema};
use crate::source::Spanned;

/// A tool that a model may ask the caller to run.
#[derive(Clone, Debug)]
pub(crate) struct Tool {
    pub(crate) name: Spanned<String>,
    pub(crate) description: String,
    pub(crate) parameters: Schema,
}

const TOOL: Keys = Keys {
    what: "the tool",
    known: &["name", "description", "parameters"],
};

/// Reads the tool file that a route names.
pub(crate) fn load(name: &Spanned<String>, files: &mut Files, sink: &mut Sink) -> Option<Tool> {
    let source = files.read_named("tool", name, sink)?;
    let root = json::parse(&files.sources, source, sink)?;
    let fields = Fields::open(&root, &TOOL, sink)?;
    let name = fields
        .need("name", "\"name\": \"lookup\"", sink)
        .and_then(|node| string("`name`", node, sink));
    let description = fields
        .need(
            "description",
            "\"description\": \"Looks a customer up.\"",
            sink,
        )
        .and_then(|node| string("`description`", node, sink));
    let parameters = fields.need(
        "parameters",
        "\"parameters\": { \"type\": \"object\" }",
        sink,
    )?;
    let type_name = pascal(name.as_ref().map_or("tool", |name| &name.value));
    let parameters = schema::schema(parameters.clone(), type_name, files, sink);
    Some(Tool {
        name: name?,
        description: description?.value,
        parameters: parameters?,
    })
}
