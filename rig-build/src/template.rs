//! What does a prompt template say?
//!
//! `{{variable}}`, `{{#if capability.X}}…{{/if}}`, `{{#unless capability.X}}…{{/unless}}`; conditionals do not
//! nest. Any other brace is plain text.

use std::ops::Range;

use rig_spec::Capability;

use crate::diagnostic::{Diagnostic, Sink};
use crate::fields::{nearest, unknown};
use crate::source::{SourceId, Sources, Span, Spanned};

/// A template, read.
#[derive(Clone, Debug, Default)]
pub(crate) struct Template {
    pub(crate) segments: Vec<Segment>,
}

/// One piece of a template.
#[derive(Clone, Debug)]
pub(crate) enum Segment {
    Text(String),
    Variable(Spanned<String>),
    When {
        capability: Capability,
        present: bool,
        body: Vec<Segment>,
    },
}

impl Template {
    /// Returns every use of a variable.
    pub(crate) fn variables(&self) -> Vec<&Spanned<String>> {
        fn collect<'a>(segments: &'a [Segment], out: &mut Vec<&'a Spanned<String>>) {
            for segment in segments {
                match segment {
                    Segment::Text(_) => {}
                    Segment::Variable(name) => out.push(name),
                    Segment::When { body, .. } => collect(body, out),
                }
            }
        }
        let mut out = Vec::new();
        collect(&self.segments, &mut out);
        out
    }
}

/// Reads a template file. What is wrong is reported, and reading goes on behind it.
pub(crate) fn parse(sources: &Sources, source: SourceId, sink: &mut Sink) -> Template {
    let place = |range: Range<usize>| Span::new(source, range);
    read(&sources.get(source).text, &place, sink)
}

/// Reads a template that is a value of a route. All that is found in it is found at the value.
pub(crate) fn parse_value(value: &Spanned<String>, sink: &mut Sink) -> Template {
    read(&value.value, &|_| value.span, sink)
}

fn read(text: &str, place: &dyn Fn(Range<usize>) -> Span, sink: &mut Sink) -> Template {
    let mut reader = Reader {
        sink,
        done: Vec::new(),
        open: Vec::new(),
    };
    let mut at = 0;
    while let Some(open) = text[at..].find("{{").map(|offset| at + offset) {
        // In `{{{x}}}` the inner pair is the tag, the outer braces are text.
        let open = open
            + text[open..]
                .bytes()
                .take_while(|byte| *byte == b'{')
                .count()
            - 2;
        reader.text(&text[at..open]);
        at = match tag(text, open) {
            Tag::Text => {
                reader.text("{{");
                open + 2
            }
            Tag::Unclosed(end) => {
                let found = text[open + 2..end].trim();
                let message = format!("the tag `{{{{{found}` is not closed");
                let help = format!("write `{{{{{found}}}}}`");
                let at = place(open..end);
                reader
                    .sink
                    .push(Diagnostic::error("template-tag", message).at(at).help(help));
                end
            }
            Tag::Closed(end) => {
                reader.tag(text[open + 2..end - 2].trim(), place(open..end));
                end
            }
        };
    }
    reader.text(&text[at..]);
    reader.finish()
}

/// What `{{` begins.
enum Tag {
    /// Nothing: the braces are text.
    Text,
    /// A tag whose `}}` is missing; it is taken to end here.
    Unclosed(usize),
    /// A tag that ends here.
    Closed(usize),
}

fn tag(text: &str, open: usize) -> Tag {
    let inner = open + 2;
    let rest = &text[inner..];
    let body = rest.trim_start_matches([' ', '\t']);
    if !body.starts_with(|c: char| c.is_alphabetic() || matches!(c, '_' | '#' | '/')) {
        return Tag::Text;
    }
    if body.starts_with(['#', '/']) {
        let line = &rest[..rest.find('\n').unwrap_or(rest.len())];
        return match line.find("}}") {
            Some(close) => Tag::Closed(inner + close + 2),
            None => Tag::Unclosed(inner + line.trim_end().len()),
        };
    }
    // Only what is near is looked at: a line may be the whole file, and hold a hundred thousand of these.
    let word_end = body
        .find(|c: char| !(c.is_alphanumeric() || c == '_'))
        .unwrap_or(body.len());
    let end = inner + (rest.len() - body.len()) + word_end;
    let behind = text[end..].trim_start_matches(|c: char| c.is_whitespace() && c != '\n');
    if behind.starts_with("}}") {
        return Tag::Closed(text.len() - behind.len() + 2);
    }
    // A word that stands alone behind the braces was meant as a tag; `{{ some prose` was not.
    let behind = text[end..].trim_start_matches([' ', '\t', '}']);
    let between = &text[end..text.len() - behind.len()];
    let alone = behind.is_empty() || behind.starts_with(['\n', '\r']);
    if alone && !between.contains("}}") {
        Tag::Unclosed(end)
    } else {
        Tag::Text
    }
}

/// Returns whether the text can name a variable.
pub(crate) fn is_name(text: &str) -> bool {
    let mut chars = text.chars();
    chars.next().is_some_and(|c| c.is_alphabetic() || c == '_')
        && chars.all(|c| c.is_alphanumeric() || c == '_')
}

struct Reader<'a> {
    sink: &'a mut Sink,
    done: Vec<Segment>,
    open: Vec<Block>,
}

/// A conditional that is still open. `capability` is `None` where it was reported.
struct Block {
    word: &'static str,
    at: Span,
    capability: Option<Capability>,
    body: Vec<Segment>,
}

impl Reader<'_> {
    fn text(&mut self, text: &str) {
        let target = self.target();
        match target.last_mut() {
            _ if text.is_empty() => {}
            Some(Segment::Text(last)) => last.push_str(text),
            _ => target.push(Segment::Text(text.to_owned())),
        }
    }

    fn target(&mut self) -> &mut Vec<Segment> {
        match self.open.last_mut() {
            Some(block) => &mut block.body,
            None => &mut self.done,
        }
    }

    fn tag(&mut self, content: &str, at: Span) {
        let (word, rest) = content
            .split_once(char::is_whitespace)
            .unwrap_or((content, ""));
        match word {
            "#if" => self.begin("if", rest.trim(), at),
            "#unless" => self.begin("unless", rest.trim(), at),
            "/if" => self.end("if", at),
            "/unless" => self.end("unless", at),
            _ if content.starts_with(['#', '/']) => {
                let message = format!("`{{{{{content}}}}}` is no block of the template language");
                let help = "the blocks are `{{#if capability.X}}…{{/if}}` and `{{#unless capability.X}}…{{/unless}}`";
                self.sink.push(
                    Diagnostic::error("template-block", message)
                        .at(at)
                        .help(help),
                );
            }
            _ => {
                let name = Segment::Variable(Spanned::new(content.to_owned(), at));
                self.target().push(name);
            }
        }
    }

    fn begin(&mut self, word: &'static str, condition: &str, at: Span) {
        if let Some(outer) = self.open.last() {
            let message = format!("`{{{{#{word} {condition}}}}}` stands within another block");
            let finding = Diagnostic::error("template-block", message)
                .at_label(at, "blocks do not nest")
                .also(outer.at, "this block is still open")
                .help(format!(
                    "close the outer block with `{{{{/{}}}}}` first",
                    outer.word
                ));
            self.sink.push(finding);
        }
        let capability = self.capability(condition, at);
        self.open.push(Block {
            word,
            at,
            capability,
            body: Vec::new(),
        });
    }

    fn capability(&mut self, condition: &str, at: Span) -> Option<Capability> {
        let names: Vec<_> = Capability::ALL.iter().map(|flag| flag.name()).collect();
        let Some(name) = condition.strip_prefix("capability.") else {
            let near = nearest(condition, names.iter().copied()).unwrap_or("structured_native");
            let message = format!("`{condition}` is no capability");
            let help =
                format!("a condition tests a candidate's capability, e.g. `capability.{near}`");
            self.sink.push(
                Diagnostic::error("unknown-capability", message)
                    .at(at)
                    .help(help),
            );
            return None;
        };
        let found = Capability::from_name(name);
        if found.is_none() {
            let message = format!("there is no capability `{name}`");
            self.sink
                .push(unknown("unknown-capability", message, name, &names, at));
        }
        found
    }

    fn end(&mut self, word: &'static str, at: Span) {
        let Some(block) = self.open.pop() else {
            let message = format!("`{{{{/{word}}}}}` closes nothing");
            let help = format!("remove it, or open the block with `{{{{#{word} capability.…}}}}`");
            self.sink.push(
                Diagnostic::error("template-block", message)
                    .at(at)
                    .help(help),
            );
            return;
        };
        if block.word != word {
            let finding = Diagnostic::error(
                "template-block",
                format!("`{{{{/{word}}}}}` closes another block"),
            )
            .at(at)
            .also(block.at, "this block is open")
            .help(format!("write `{{{{/{}}}}}`", block.word));
            self.sink.push(finding);
        }
        let present = block.word == "if";
        match block.capability {
            Some(capability) => self.target().push(Segment::When {
                capability,
                present,
                body: block.body,
            }),
            None => self.target().extend(block.body),
        }
    }

    fn finish(mut self) -> Template {
        if let Some(block) = self.open.pop() {
            let word = block.word;
            let finding = Diagnostic::error(
                "template-block",
                format!("the `{{{{#{word} …}}}}` block is never closed"),
            )
            .at_label(block.at, "opened here")
            .help(format!("add `{{{{/{word}}}}}` where the block ends"));
            self.sink.push(finding);
            self.done.extend(block.body);
        }
        Template {
            segments: self.done,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (String, Vec<&'static str>) {
        let mut sources = Sources::default();
        let source = sources.add("p.md".to_owned(), text.to_owned());
        let mut sink = Sink::default();
        let template = parse(&sources, source, &mut sink);
        fn show(segments: &[Segment]) -> String {
            let show_one = |segment: &Segment| match segment {
                Segment::Text(text) => text.clone(),
                Segment::Variable(name) => format!("<{}>", name.value),
                Segment::When {
                    capability,
                    present,
                    body,
                } => {
                    format!(
                        "<{}{}:{}>",
                        if *present { "" } else { "!" },
                        capability.name(),
                        show(body)
                    )
                }
            };
            segments.iter().map(show_one).collect()
        }
        (
            show(&template.segments),
            sink.into_findings()
                .iter()
                .map(|finding| finding.code)
                .collect(),
        )
    }

    /// F1: what is a tag, and what is plain text.
    #[test]
    fn tags_and_plain_braces() {
        let cases = [
            ("a {{x}} b {{ y_1 }}", "a <x> b <y_1>"),
            ("{{{x}}}", "{<x>}"),
            ("{\"a\": {\"b\": 1}}", "{\"a\": {\"b\": 1}}"),
            ("{{\"a\": 1}}", "{{\"a\": 1}}"),
            ("{{a: 1}}", "{{a: 1}}"),
            ("{{}} {{ }} }} {{1}} {{", "{{}} {{ }} }} {{1}} {{"),
            ("{{ some prose follows", "{{ some prose follows"),
            (
                "{{#if capability.json_mode}}J{{x}}{{/if}}",
                "<json_mode:J<x>>",
            ),
            (
                "{{#unless capability.json_mode}}J{{/unless}}.",
                "<!json_mode:J>.",
            ),
        ];
        for (text, expected) in cases {
            assert_eq!(read(text), (expected.to_owned(), Vec::new()), "{text}");
        }
    }

    /// C5: what is wrong with a block or a tag is said.
    #[test]
    fn broken_tags_are_reported_once() {
        let cases = [
            ("{{q", "template-tag"),
            ("Answer {{q\nmore", "template-tag"),
            ("{{q}", "template-tag"),
            ("{{/if}}", "template-block"),
            ("{{#if capability.json_mode}}x", "template-block"),
            ("{{#if capability.json_mode}}x{{/unless}}", "template-block"),
            (
                "{{#if capability.json_mode}}{{#unless capability.json_mode}}x{{/unless}}{{/if}}",
                "template-block",
            ),
            ("{{#each items}}", "template-block"),
            ("{{#if q}}x{{/if}}", "unknown-capability"),
            (
                "{{#if capability.structured_nativ}}x{{/if}}",
                "unknown-capability",
            ),
            ("{{#if capability.json_mode", "template-tag"),
        ];
        for (text, code) in cases {
            assert_eq!(read(text).1, [code], "{text}");
        }
    }

    proptest::proptest! {
        /// Text without a double brace stands for itself, whatever it holds.
        #[test]
        fn text_is_verbatim(text in r"([^{]|\{[^{])*") {
            proptest::prop_assert_eq!(read(&text), (text.clone(), Vec::new()));
        }
    }
}
