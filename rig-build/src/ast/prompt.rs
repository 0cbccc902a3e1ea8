//! What did the author write under `prompt`?

use crate::diagnostic::Sink;
use crate::fields::{Fields, Keys, integer, list, string, word};
use crate::node::{Kind, Node};
use crate::source::Spanned;

/// The prompt.
#[derive(Debug)]
pub(crate) struct Prompt {
    pub(crate) system: Option<Spanned<String>>,
    pub(crate) variables: Spanned<Vec<Variable>>,
}

/// One declared input variable.
#[derive(Debug)]
pub(crate) struct Variable {
    pub(crate) name: Spanned<String>,
    pub(crate) kind: VariableKind,
    pub(crate) optional: bool,
    /// The most characters that it may have.
    pub(crate) max_chars: Option<Spanned<u64>>,
}

/// The type of an input variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum VariableKind {
    String,
    Json,
    Integer,
    Number,
    Boolean,
}

pub(super) const PROMPT: Keys = Keys {
    what: "the prompt",
    known: &["system", "variables"],
};
pub(super) const VARIABLE: Keys = Keys {
    what: "a variable",
    known: &["type", "max_chars"],
};
pub(super) const KIND_WORDS: [(&str, VariableKind); 5] = [
    ("string", VariableKind::String),
    ("json", VariableKind::Json),
    ("integer", VariableKind::Integer),
    ("number", VariableKind::Number),
    ("boolean", VariableKind::Boolean),
];

/// Reads `prompt`.
pub(super) fn prompt(node: &Node, sink: &mut Sink) -> Option<Prompt> {
    let fields = Fields::open(node, &PROMPT, sink)?;
    let system = fields
        .need("system", "system: ./prompts/my-task.md", sink)
        .and_then(|node| string("`prompt.system`", node, sink));
    let variables = match fields.get("variables") {
        Some(node) => Spanned::new(variables(node, sink), node.span),
        None => Spanned::new(Vec::new(), node.span),
    };
    Some(Prompt { system, variables })
}

/// Reads `[a, b]` (strings) or `{ a: string, b: json?, c: { type: string, max_chars: 4000 } }`.
fn variables(node: &Node, sink: &mut Sink) -> Vec<Variable> {
    let variable = |name, (kind, optional), max_chars| Variable {
        name,
        kind,
        optional,
        max_chars,
    };
    // A variable of an unknown type is declared all the same, so that its uses are not reported too.
    const UNKNOWN: (VariableKind, bool) = (VariableKind::String, false);
    if let Kind::Map(entries) = &node.kind {
        let typed = entries.iter().map(|entry| {
            let name = Spanned::new(entry.key.clone(), entry.key_span);
            if !matches!(entry.value.kind, Kind::Map(_)) {
                let kind = variable_kind(&entry.value, sink).unwrap_or(UNKNOWN);
                return variable(name, kind, None);
            }
            let Some(fields) = Fields::open(&entry.value, &VARIABLE, sink) else {
                return variable(name, UNKNOWN, None);
            };
            let kind = fields
                .need("type", "type: string", sink)
                .and_then(|node| variable_kind(node, sink));
            let max_chars = fields
                .get("max_chars")
                .and_then(|node| integer("`max_chars`", node, sink));
            variable(name, kind.unwrap_or(UNKNOWN), max_chars)
        });
        return typed.collect();
    }
    let items = list("`prompt.variables`", node, sink).unwrap_or_default();
    let names = items
        .iter()
        .filter_map(|node| string("a variable's name", node, sink));
    names.map(|name| variable(name, UNKNOWN, None)).collect()
}

fn variable_kind(node: &Node, sink: &mut Sink) -> Option<(VariableKind, bool)> {
    let optional = node.as_str().is_some_and(|text| text.ends_with('?'));
    let plain = match node.as_str() {
        Some(text) => Node {
            span: node.span,
            kind: Kind::String(text.trim_end_matches('?').to_owned()),
        },
        None => node.clone(),
    };
    let kind = word("a variable's type", &plain, &KIND_WORDS, sink)?;
    Some((kind.value, optional))
}
