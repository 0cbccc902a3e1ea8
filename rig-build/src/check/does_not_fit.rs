//! C13: answers fit into `max_output_tokens`, and prompt and answer into each candidate's limits.
//!
//! An error is certain: it rests on bounds that hold for every tokenizer of a family. What is only likely is a warning.

use std::collections::HashMap;

use rig_spec::coaching;

use crate::diagnostic::{Diagnostic, Sink};
use crate::ir::{Answer, Candidate, Route};
use crate::schema::answer_size::{AnswerSize, answer_size};
use crate::source::Spanned;
use crate::template::{Segment, Template};
use crate::tokens::{TokenizerFamily, at_least, at_most, at_most_of_chars, framing};

pub(super) fn check(route: &Route, sink: &mut Sink) {
    let size = match &route.schema {
        Answer::Schema(schema) => {
            let size = answer_size(&schema.root);
            if size.shortest.is_none() {
                let message = "no answer can conform to this schema";
                let help = "look for a recursion without an end, or bounds that exclude each other";
                sink.push(finding(message).at(schema.root.span).help(help));
                return;
            }
            Some(size)
        }
        Answer::Any | Answer::Broken => None,
    };
    let limit = route.policy.max_output_tokens.as_ref();
    // 0 is out of range, and has that finding.
    let limit = limit.filter(|limit| limit.value > 0);
    let mut cut = false;
    let candidates = route.candidates.iter().flat_map(|list| &list.value);
    for candidate in candidates.filter(|candidate| !candidate.trial) {
        let Some(key) = candidate.key() else { continue };
        let family = family(candidate);
        if let Some(limit) = limit {
            output_limit(candidate, &key, limit, sink);
            let mut fits = |size| shortest_answer(candidate, &key, family, limit, size, sink);
            cut |= size.is_some_and(|size| !fits(size));
        }
        context(route, candidate, &key, family, sink);
    }
    if let (Some(limit), Some(size), false) = (limit, size, cut) {
        longest_answer(limit, size, sink);
    }
}

fn finding(message: impl Into<String>) -> Diagnostic {
    Diagnostic::error("does-not-fit", message)
}

fn family(candidate: &Candidate) -> TokenizerFamily {
    match (&candidate.provider, &candidate.model) {
        (Some(provider), Some(model)) => TokenizerFamily::of(provider.name(), &model.value),
        _ => TokenizerFamily::Unknown,
    }
}

/// Returns whether the shortest conformant answer fits.
fn shortest_answer(
    candidate: &Candidate,
    key: &str,
    family: TokenizerFamily,
    limit: &Spanned<u64>,
    size: AnswerSize,
    sink: &mut Sink,
) -> bool {
    let Some(shortest) = size.shortest else {
        return true;
    };
    let needed = at_least(shortest.bytes, shortest.word_edges, family);
    if needed <= limit.value {
        return true;
    }
    let message = format!(
        "`max_output_tokens: {}` cuts every answer: the shortest that conforms has at least {needed} tokens",
        limit.value
    );
    let help = "raise `max_output_tokens`, and leave room for reasoning where the model does";
    sink.push(
        finding(message)
            .at(limit.span)
            .also(candidate.span, format!("counted for `{key}`"))
            .help(help),
    );
    false
}

/// An answer as long as its bounds allow takes a token for about four bytes.
fn longest_answer(limit: &Spanned<u64>, size: AnswerSize, sink: &mut Sink) {
    const BYTES_PER_TOKEN: u64 = 4;
    let Some(tokens) = size.longest.map(|bytes| bytes.div_ceil(BYTES_PER_TOKEN)) else {
        return;
    };
    if tokens <= limit.value {
        return;
    }
    let message = format!(
        "`max_output_tokens: {}` cuts long answers: the longest that conforms can take about {tokens} tokens",
        limit.value
    );
    let help = "raise `max_output_tokens`, or lower the schema's `maxLength` and `maxItems`";
    let warning = Diagnostic::warning("does-not-fit", message);
    sink.push(warning.at(limit.span).help(help));
}

fn output_limit(candidate: &Candidate, key: &str, limit: &Spanned<u64>, sink: &mut Sink) {
    let Some(most) = candidate
        .facts
        .max_output
        .filter(|most| limit.value > *most)
    else {
        return;
    };
    let message = format!(
        "`{key}` is known to write at most {most} tokens, fewer than `max_output_tokens: {}`",
        limit.value
    );
    let help =
        format!("write `max_output_tokens: {most}`; a provider may refuse the request otherwise");
    let warning = Diagnostic::warning("does-not-fit", message);
    sink.push(
        warning
            .at(limit.span)
            .also(candidate.span, "this candidate")
            .help(help),
    );
}

/// Holds what is known of the prompt before a call against the candidate's context window.
fn context(
    route: &Route,
    candidate: &Candidate,
    key: &str,
    family: TokenizerFamily,
    sink: &mut Sink,
) {
    let Some(window) = candidate.facts.context_window else {
        return;
    };
    let limit = route.policy.max_output_tokens.as_ref();
    // A limit beyond what the model writes has a finding of its own.
    let most = candidate.facts.max_output.unwrap_or(u64::MAX);
    let output = limit.map_or(0, |limit| limit.value.min(most));
    let beside = beside_the_prompt(route, family);
    for template in route.templates() {
        let certain =
            at_least(text(template, false).len() as u64, 0, family).saturating_add(output);
        let text = text(template, true);
        let filled = variables(route, template, family);
        let possible = at_most(&text, family)
            .saturating_add(filled)
            .saturating_add(beside)
            .saturating_add(output);
        let (mut report, words) = match (certain > window, possible > window) {
            (true, _) => (finding(""), "does not fit"),
            (false, true) => (Diagnostic::warning("does-not-fit", ""), "may not fit"),
            (false, false) => continue,
        };
        let bounded = certain <= window && filled > 0;
        let filled = match bounded {
            true => "with variables as long as they may be, at four tokens a character",
            false => "even with empty variables",
        };
        report.message = format!(
            "the prompt {words} into the context window of `{key}` ({window} tokens), {filled}"
        );
        let shorten = if bounded {
            "lower `max_chars`"
        } else {
            "shorten the prompt"
        };
        let help = format!(
            "{shorten}, lower `max_output_tokens`, or choose a candidate with a larger window"
        );
        sink.push(report.at(candidate.span).help(help));
        return;
    }
}

/// Returns a number of tokens that what goes along with a prompt does not exceed: the schema, in the longest of the
/// forms in which a candidate may be told of it, and the tools.
pub(super) fn beside_the_prompt(route: &Route, family: TokenizerFamily) -> u64 {
    let schema = match &route.schema {
        Answer::Schema(schema) => {
            let forms = route.forms.iter();
            let lowered = forms.filter_map(|(_, form)| form.json.as_deref());
            let sent = lowered.map(|json| at_most(json, family)).max();
            let told = coaching(Some((&schema.json, &schema.skeleton)));
            at_most(&told, family).max(sent.unwrap_or_default())
        }
        Answer::Any | Answer::Broken => 0,
    };
    let tools = route.tools.iter().map(|tool| {
        let texts = [&tool.name.value, &tool.description, &tool.parameters.json];
        texts.map(|text| at_most(text, family)).iter().sum::<u64>() + framing(1)
    });
    schema
        .saturating_add(tools.sum())
        .saturating_add(framing(2))
}

/// Returns the most tokens that the variables of a template can take, as far as they declare how long they are.
fn variables(route: &Route, template: &Template, family: TokenizerFamily) -> u64 {
    let declared = route
        .prompt
        .iter()
        .flat_map(|prompt| &prompt.variables.value);
    let most: HashMap<_, _> = declared
        .filter_map(|variable| {
            let most = variable.max_chars.as_ref()?.value;
            Some((variable.name.value.as_str(), at_most_of_chars(most, family)))
        })
        .collect();
    let used = template.variables();
    let used = used.iter().filter_map(|name| most.get(name.value.as_str()));
    used.fold(0, |sum, tokens| sum.saturating_add(*tokens))
}

/// Returns the text that a template writes whatever its variables hold; that of its conditional blocks as well, or
/// not.
fn text(template: &Template, with_blocks: bool) -> String {
    let mut out = String::new();
    for segment in &template.segments {
        match segment {
            Segment::Text(text) => out.push_str(text),
            Segment::Variable(_) => {}
            Segment::When { body, .. } if with_blocks => {
                for inner in body {
                    if let Segment::Text(text) = inner {
                        out.push_str(text);
                    }
                }
            }
            Segment::When { .. } => {}
        }
    }
    out
}
