//! C5: a tool has a name that every provider takes, no other tool has it, and its arguments are an object.

use crate::diagnostic::{Diagnostic, Sink};
use crate::ir::Route;
use crate::node::Node;
use crate::tool::Tool;

/// The longest name that every provider takes, in characters.
const LONGEST_NAME: usize = 64;

pub(super) fn check(route: &Route, sink: &mut Sink) {
    for (index, tool) in route.tools.iter().enumerate() {
        name(tool, sink);
        if let Some(first) = route.tools[..index]
            .iter()
            .find(|first| first.name.value == tool.name.value)
        {
            let message = format!("two tools are called `{}`", tool.name.value);
            let finding = Diagnostic::error("tool", message)
                .at_label(tool.name.span, "second tool")
                .also(first.name.span, "first tool")
                .help("rename one of the two");
            sink.push(finding);
        }
        parameters(tool, sink);
    }
}

fn name(tool: &Tool, sink: &mut Sink) {
    let name = &tool.name.value;
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let starts = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    if starts && name.chars().all(plain) && name.len() <= LONGEST_NAME {
        return;
    }
    let message = format!("`{name}` cannot name a tool");
    let help = "start with a letter or `_`, use `A-Z a-z 0-9 _ -`, at most 64 of them";
    sink.push(
        Diagnostic::error("tool", message)
            .at(tool.name.span)
            .help(help),
    );
}

fn parameters(tool: &Tool, sink: &mut Sink) {
    let root = &tool.parameters.root;
    if root.get("type").and_then(Node::as_str) == Some("object") {
        return;
    }
    let message = format!("the parameters of `{}` are no object", tool.name.value);
    let help = "write `\"type\": \"object\"` and the arguments as its `properties`";
    sink.push(Diagnostic::error("tool", message).at(root.span).help(help));
}
