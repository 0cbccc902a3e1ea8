//! How is a YAML file read?
//!
//! YAML 1.2 core schema, one document, plain data: aliases, merge keys, tags and further documents are errors
//! that say what to write instead. The only module that names the YAML crate.

use std::collections::HashMap;

use granit_parser::{Event, Parser, ScalarStyle};

use crate::diagnostic::{Diagnostic, Sink};
use crate::json::duplicate_key;
use crate::node::{Entry, Kind, Node};
use crate::source::{SourceId, Sources, Span};

/// Deeper nesting than any route needs is an error rather than a stack overflow later.
const MAX_DEPTH: usize = 64;

/// Reads a YAML file. What can be read is returned even where something was reported.
pub(crate) fn parse(sources: &Sources, source: SourceId, sink: &mut Sink) -> Option<Node> {
    let text = &sources.get(source).text;
    let mut builder = Builder {
        text,
        source,
        sink,
        open: Vec::new(),
        root: None,
        aliased: false,
    };
    let options = granit_parser::options! { emit_unresolved_aliases: true };
    for next in Parser::new_from_str_with_options(text, options) {
        match next {
            Ok((event, span)) => {
                let bytes = |span: granit_parser::Span| {
                    Span::new(source, span.byte_range().unwrap_or(0..0))
                };
                if let Some(tag) = span.tag_span() {
                    builder.tag(bytes(tag));
                }
                if !builder.take(event, bytes(span)) {
                    break;
                }
            }
            Err(error) => {
                let at = error.marker().byte_offset().unwrap_or(text.len());
                builder.sink.push(syntax_error(
                    text,
                    &error.info(),
                    Span::new(source, at..at + 1),
                ));
                return None;
            }
        }
    }
    if builder.aliased {
        return None;
    }
    Some(builder.root.unwrap_or(Node {
        span: Span::new(source, 0..0),
        kind: Kind::Null,
    }))
}

struct Builder<'a> {
    text: &'a str,
    source: SourceId,
    sink: &'a mut Sink,
    open: Vec<Open>,
    root: Option<Node>,
    /// Whether a value is missing from the tree because it was an alias.
    aliased: bool,
}

/// A list or map that is still being read.
struct Open {
    span: Span,
    kind: OpenKind,
}

enum OpenKind {
    List(Vec<Node>),
    /// Its entries, where each key stands, and what it waits for.
    Map(Vec<Entry>, HashMap<String, Span>, Pending),
}

/// What a map waits for.
enum Pending {
    Key,
    Value(String, Span),
    /// The value of a key that was reported and is left out.
    Dropped,
}

impl Builder<'_> {
    /// Takes one event in; returns whether to go on.
    fn take(&mut self, event: Event<'_>, span: Span) -> bool {
        match event {
            Event::DocumentStart(..) if self.root.is_some() => {
                let help = "write one route per file";
                let finding =
                    Diagnostic::error("yaml-document", "the file holds a second document");
                self.sink.push(finding.at(span).help(help));
                return false;
            }
            Event::Scalar(text, style, anchor, _) => {
                self.anchor(anchor, span);
                let kind = match style {
                    ScalarStyle::Plain => core_schema(&text),
                    _ => Kind::String(text.into_owned()),
                };
                self.node(Node { span, kind });
            }
            Event::SequenceStart(_, anchor, _) => {
                self.anchor(anchor, span);
                return self.open(span, OpenKind::List(Vec::new()));
            }
            Event::MappingStart(_, anchor, _) => {
                self.anchor(anchor, span);
                return self.open(
                    span,
                    OpenKind::Map(Vec::new(), HashMap::new(), Pending::Key),
                );
            }
            Event::SequenceEnd | Event::MappingEnd => self.close(span),
            Event::Alias(_) | Event::UnresolvedAlias(_) => {
                let finding = Diagnostic::error("yaml-alias", "aliases (`*name`) are not read");
                self.sink.push(
                    finding
                        .at(span)
                        .help("write the value out where it is used"),
                );
                self.aliased = true;
                self.node(Node {
                    span,
                    kind: Kind::Null,
                });
            }
            _ => {}
        }
        true
    }

    fn anchor(&mut self, anchor: usize, value: Span) {
        if anchor == 0 {
            return;
        }
        let start = self.text[..value.start].rfind('&').unwrap_or(value.start);
        let name = self.text[start..]
            .find(char::is_whitespace)
            .map_or(value.end, |length| start + length);
        let help = "remove the anchor, and write the value out where it is used";
        let finding = Diagnostic::error("yaml-alias", "anchors (`&name`) are not read");
        self.sink
            .push(finding.at(Span::new(self.source, start..name)).help(help));
    }

    fn tag(&mut self, at: Span) {
        let help = "remove the tag; quote the value to make it a string";
        self.sink.push(
            Diagnostic::error("yaml-tag", "tags (`!name`) are not read")
                .at(at)
                .help(help),
        );
    }

    fn open(&mut self, span: Span, kind: OpenKind) -> bool {
        self.open.push(Open { span, kind });
        if self.open.len() <= MAX_DEPTH {
            return true;
        }
        let message = format!("nesting is deeper than {MAX_DEPTH} levels");
        self.sink.push(
            Diagnostic::error("yaml-syntax", message)
                .at(span)
                .help("flatten the file"),
        );
        false
    }

    fn close(&mut self, span: Span) {
        let Some(open) = self.open.pop() else { return };
        // A flow collection ends with its bracket; a block collection ends with its last value, while its end
        // event stands at whatever comes next.
        let bracket = (span.end > span.start).then_some(span.end);
        let (kind, last) = match open.kind {
            OpenKind::List(items) => {
                let last = items.last().map(|item| item.span.end);
                (Kind::List(items), last)
            }
            OpenKind::Map(entries, ..) => {
                let last = entries.last().map(|entry| entry.value.span.end);
                (Kind::Map(entries), last)
            }
        };
        let end = bracket.or(last).unwrap_or(open.span.end);
        self.node(Node {
            span: Span::new(self.source, open.span.start..end),
            kind,
        });
    }

    fn node(&mut self, node: Node) {
        match self.open.last_mut().map(|open| &mut open.kind) {
            None => self.root = Some(node),
            Some(OpenKind::List(items)) => items.push(node),
            Some(OpenKind::Map(entries, seen, pending)) => {
                match std::mem::replace(pending, Pending::Key) {
                    Pending::Key => *pending = key(&node, seen, self.sink),
                    Pending::Value(key, key_span) => entries.push(Entry {
                        key,
                        key_span,
                        value: node,
                    }),
                    Pending::Dropped => {}
                }
            }
        }
    }
}

/// Reads a map's key, which has to be a string that the map does not have yet.
fn key(node: &Node, seen: &mut HashMap<String, Span>, sink: &mut Sink) -> Pending {
    let name = match &node.kind {
        Kind::String(text) => text.clone(),
        Kind::Null => "null".to_owned(),
        Kind::Bool(value) => value.to_string(),
        Kind::Number(text) => text.clone(),
        Kind::List(_) | Kind::Map(_) => {
            let found = node.described();
            let finding = Diagnostic::error(
                "yaml-key",
                format!("a key has to be a string, found {found}"),
            );
            sink.push(
                finding
                    .at(node.span)
                    .help("write `key: value`; templates in values need quotes"),
            );
            return Pending::Dropped;
        }
    };
    if name == "<<" {
        let finding = Diagnostic::error("yaml-merge-key", "merge keys (`<<`) are not read");
        sink.push(finding.at(node.span).help("write the merged keys out"));
        return Pending::Dropped;
    }
    match seen.get(&name) {
        Some(first) => {
            sink.push(duplicate_key(&name, node.span, *first));
            Pending::Dropped
        }
        None => {
            seen.insert(name.clone(), node.span);
            Pending::Value(name, node.span)
        }
    }
}

/// Resolves a plain scalar as YAML 1.2.2 §10.3.2 (core schema) says.
fn core_schema(text: &str) -> Kind {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => Kind::Null,
        "true" | "True" | "TRUE" => Kind::Bool(true),
        "false" | "False" | "FALSE" => Kind::Bool(false),
        _ if is_number(text) => Kind::Number(text.to_owned()),
        _ => Kind::String(text.to_owned()),
    }
}

fn is_number(text: &str) -> bool {
    let all = |text: &str, wanted: fn(char) -> bool| !text.is_empty() && text.chars().all(wanted);
    if let Some(octal) = text.strip_prefix("0o") {
        return all(octal, |c| c.is_digit(8));
    }
    if let Some(hex) = text.strip_prefix("0x") {
        return all(hex, |c| c.is_ascii_hexdigit());
    }
    if matches!(text, ".nan" | ".NaN" | ".NAN") {
        return true;
    }
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    if matches!(unsigned, ".inf" | ".Inf" | ".INF") {
        return true;
    }
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (unsigned, None),
    };
    let digits = |text: &str| all(text, |c| c.is_ascii_digit());
    let exponent_fits =
        exponent.is_none_or(|text| digits(text.strip_prefix(['-', '+']).unwrap_or(text)));
    let mantissa_fits = match mantissa.split_once('.') {
        Some(("", fraction)) => digits(fraction),
        Some((whole, fraction)) => digits(whole) && (fraction.is_empty() || digits(fraction)),
        None => digits(mantissa),
    };
    exponent_fits && mantissa_fits
}

fn syntax_error(text: &str, info: &str, at: Span) -> Diagnostic {
    let line_start = text[..text.floor_char_boundary(at.start)]
        .rfind('\n')
        .map_or(0, |at| at + 1);
    let line = text[line_start..].lines().next().unwrap_or("");
    let indent = &line[..line.len() - line.trim_start().len()];
    let help = if indent.contains('\t') {
        "indent with blanks; YAML takes no tabs there"
    } else {
        "quote a value that holds `: `, ` #`, or starts with one of `{ [ & * ! | > % @`"
    };
    let mut letters = info.chars();
    let first = letters
        .next()
        .map(|c| c.to_lowercase().to_string())
        .unwrap_or_default();
    let message = format!(
        "this is no YAML: {first}{}",
        letters.as_str().trim_end_matches('.')
    );
    Diagnostic::error("yaml-syntax", message).at(at).help(help)
}

#[cfg(test)]
mod tests;
