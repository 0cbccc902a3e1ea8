//! Which parts of a model's text are reasoning?
//!
//! Models reason aloud before they answer, and every family marks that otherwise: by tags in several brackets, by the
//! channels of the harmony format, or by what is left of those once their special tokens are gone. The
//! text of a block is not an answer. Nor is the text before a closing mark that has no opening one.
//!
//! Marks in the strings of a JSON value are data, so values are stepped over.

use super::brackets::Brackets;
use super::{prose, whole};
use crate::json::Fault;

/// What is left of a text once its reasoning is out.
#[derive(Debug, Default)]
pub(super) struct Spoken<'t> {
    /// The parts between marks that hold more than blanks, in their order.
    pub(super) pieces: Vec<&'t str>,
    /// Whether there was any reasoning.
    pub(super) is_cut: bool,
}

/// A mark that reasoning begins or ends with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mark {
    Open(Family),
    Close(Family),
    /// A token of the host's that says nothing of reasoning, e.g. `<|im_end|>`.
    Token,
}

/// How a mark is written. A block ends with a mark of its own family.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Family {
    /// `<think>`, `</think>`.
    Tag,
    /// `[THINK]`, `[/THINK]`.
    Square,
    /// `◁think▷`, `◁/think▷`.
    Triangle,
    /// `<|begin_of_thought|>`, `<|end_of_thought|>`.
    Token,
    /// `<|channel|>analysis<|message|>`: every channel but `final` is reasoning, and only that ends it.
    Channel,
    /// The same without the special tokens: `analysis…assistantfinal…`.
    BareChannel,
}

/// The names of the blocks in which models reason aloud, in lower case.
const NAMES: [&str; 8] = [
    "think",
    "thinking",
    "thought",
    "thoughts",
    "reasoning",
    "analysis",
    "reflection",
    "scratchpad",
];

/// Returns what is left of a text once its reasoning is out; `None` where the text ends within it.
pub(super) fn left_out(text: &str) -> Option<Spoken<'_>> {
    let mut spoken = Spoken::default();
    let (mut start, mut at) = (0, 0);
    let mut unmarked = Unmarked {
        brackets: Brackets::new(text),
        is_in_fence: false,
    };
    if let Some(rest) = text.trim_start().strip_prefix("analysis")
        && rest.starts_with(|c: char| c.is_alphanumeric() || "{[\"'(*".contains(c))
    {
        spoken.is_cut = true;
        at = text.len() - rest.len();
        at += after_block(&text[at..], Family::BareChannel)?;
        start = at;
    }
    while at < text.len() {
        let ahead = &text[at..];
        // Marks in a string that is all the rest are data.
        if at == start && ahead.trim_start().starts_with('"') && whole(ahead).is_ok() {
            break;
        }
        let Some((mark, length)) = mark(ahead) else {
            at = unmarked.after(at);
            continue;
        };
        spoken.is_cut |= mark != Mark::Token;
        match mark {
            Mark::Open(_) | Mark::Token => spoken.pieces.push(&text[start..at]),
            // Whatever came before was reasoning.
            Mark::Close(_) => spoken.pieces.clear(),
        }
        at += length;
        if let Mark::Open(family) = mark {
            at += after_block(&text[at..], family)?;
            if matches!(family, Family::Channel | Family::BareChannel) {
                spoken.pieces.clear();
            }
        }
        start = at;
    }
    spoken.pieces.push(&text[start..]);
    spoken.pieces.retain(|piece| !piece.trim().is_empty());
    Some(spoken)
}

/// The parts of a text in which no mark begins.
struct Unmarked<'t> {
    brackets: Brackets<'t>,
    is_in_fence: bool,
}

impl Unmarked<'_> {
    /// Returns where such a part ends that begins here: a JSON value, or one character.
    fn after(&mut self, at: usize) -> usize {
        let ahead = &self.brackets.text[at..];
        let length = match ahead.as_bytes() {
            [b'{' | b'[', ..] => match self.brackets.value(at) {
                Ok(value) => Some(value.len()),
                // It may hold marks in its strings all the same.
                Err(Fault::Repeated(_)) => self.brackets.length(at),
                Err(_) => None,
            },
            [b'`', b'`', b'`', ..] => Some(self.fence(ahead)),
            _ => None,
        };
        let length = length.or_else(|| ahead.chars().next().map(char::len_utf8));
        at + length.unwrap_or(1)
    }

    /// Returns the length of a fence that holds a value, or of the backticks that begin or end another one.
    fn fence(&mut self, ahead: &str) -> usize {
        // What follows the end of a fence is not in it.
        if !std::mem::replace(&mut self.is_in_fence, false) {
            if let (Some(_), after) = prose::fence(ahead) {
                return ahead.len() - after.len();
            }
            self.is_in_fence = true;
        }
        ahead.len() - ahead.trim_start_matches('`').len()
    }
}

/// Returns the end of a block; `text` is what follows the mark that opens it.
fn after_block(text: &str, family: Family) -> Option<usize> {
    let mut depth = 1_usize;
    let mut at = 0;
    while at < text.len() {
        let found = mark(&text[at..]);
        match found {
            Some((Mark::Close(other), length)) if other == family => {
                at += length;
                depth -= 1;
                // Channels do not nest.
                if depth == 0 || matches!(family, Family::Channel | Family::BareChannel) {
                    return Some(at);
                }
                continue;
            }
            Some((Mark::Open(other), _)) if other == family => depth += 1,
            _ => {}
        }
        at += text[at..].chars().next().map_or(1, char::len_utf8);
    }
    None
}

/// Returns the mark that a text starts with, and its length.
fn mark(text: &str) -> Option<(Mark, usize)> {
    match text.as_bytes().first()? {
        b'a' => bare_channel(text),
        b'<' => channel(text)
            .or_else(|| token(text))
            .or_else(|| tag(text, "<", ">", Family::Tag)),
        b'[' => tag(text, "[", "]", Family::Square),
        _ => tag(text, "◁", "▷", Family::Triangle),
    }
}

fn bare_channel(text: &str) -> Option<(Mark, usize)> {
    let name = text.strip_prefix("assistant")?;
    let of = |name: &str| "assistant".len() + name.len();
    if name.starts_with("final") {
        return Some((Mark::Close(Family::BareChannel), of("final")));
    }
    let others = ["analysis", "commentary"];
    let other = others.iter().find(|other| name.starts_with(**other))?;
    Some((Mark::Open(Family::BareChannel), of(other)))
}

/// Returns the mark of a channel: `<|channel|>NAME … <|message|>`. Some hosts write `<|channel>NAME … <channel|>`.
fn channel(text: &str) -> Option<(Mark, usize)> {
    if let Some(rest) = text.strip_prefix("<channel|>") {
        return Some((Mark::Close(Family::Channel), text.len() - rest.len()));
    }
    let rest = text.strip_prefix("<|channel")?;
    let rest = rest.strip_prefix('|').unwrap_or(rest).strip_prefix('>')?;
    let rest = rest.trim_start();
    let name_end = rest.find(|c: char| !c.is_alphanumeric() && c != '_');
    let (name, after) = rest.split_at(name_end.unwrap_or(rest.len()));
    let mark = match name.eq_ignore_ascii_case("final") {
        true => Mark::Close(Family::Channel),
        false => Mark::Open(Family::Channel),
    };
    // The rest of the header says whom the message is for, and its type: `to=…`, `<|constrain|>json`.
    let header = before(after, "<|message|>");
    let length = header.map_or(0, |header| header.len() + "<|message|>".len());
    Some((mark, text.len() - after.len() + length))
}

/// The most characters of what stands between a mark's brackets.
const LONGEST_MARK: usize = 200;

/// Returns what stands before the end of a mark.
fn before<'t>(text: &'t str, end: &str) -> Option<&'t str> {
    let mut starts = text.char_indices().take(LONGEST_MARK);
    let found = starts.find(|(at, _)| text[*at..].starts_with(end));
    found.map(|(at, _)| &text[..at])
}

/// Returns the mark that a special token is: `<|im_end|>`, `<|begin_of_thought|>`.
fn token(text: &str) -> Option<(Mark, usize)> {
    let inner = before(text.strip_prefix("<|")?, "|>")?;
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-/ ".contains(c);
    if !inner.chars().all(is_plain) {
        return None;
    }
    let name = inner.trim().to_ascii_lowercase();
    let rest_of = |starts: &[&str]| {
        let mut rests = starts.iter().filter_map(|start| name.strip_prefix(start));
        rests.find(|rest| NAMES.contains(rest)).is_some()
    };
    let mark = if rest_of(&["/", "end_of_", "end_"]) {
        Mark::Close(Family::Token)
    } else if rest_of(&["", "begin_of_", "begin_", "start_of_", "start_"]) {
        Mark::Open(Family::Token)
    } else {
        Mark::Token
    };
    Some((mark, inner.len() + "<||>".len()))
}

/// Returns the mark that a tag is, in these brackets, whatever its case and attributes.
fn tag(text: &str, open: &str, close: &str, family: Family) -> Option<(Mark, usize)> {
    let rest = text.strip_prefix(open)?.trim_start();
    let (is_close, rest) = match rest.strip_prefix('/') {
        Some(rest) => (true, rest.trim_start()),
        None => (false, rest),
    };
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == ':';
    let (name, rest) = rest.split_at(rest.find(|c| !is_name(c)).unwrap_or(rest.len()));
    // Some families put their own name before it: `<seed:think>`.
    let name = name.rsplit(':').next().unwrap_or(name).to_ascii_lowercase();
    let is_known = match family {
        // Other words in square brackets are headings: `[Analysis]`.
        Family::Square => name == "think" || name == "thinking",
        _ => NAMES.contains(&name.as_str()),
    };
    if !is_known {
        return None;
    }
    let has_attributes = rest.starts_with(|c: char| c.is_whitespace() || c == '/');
    if !has_attributes && !rest.is_empty() && !rest.starts_with(close) {
        return None;
    }
    // A tag that nothing closes is one as well: what follows is reasoning.
    let attributes = attributes(rest, close);
    let length = text.len() - rest.len() + attributes.map_or(0, |inner| inner.len() + close.len());
    let is_empty = attributes.is_some_and(|inner| inner.trim_end().ends_with('/'));
    Some(match (is_close, is_empty) {
        (true, _) => (Mark::Close(family), length),
        (false, true) => (Mark::Token, length),
        (false, false) => (Mark::Open(family), length),
    })
}

/// Returns what stands before the bracket that closes a tag; brackets in quotes do not count.
fn attributes<'t>(text: &'t str, close: &str) -> Option<&'t str> {
    let mut quote = None;
    for (at, letter) in text.char_indices().take(LONGEST_MARK) {
        match (quote, letter) {
            (Some(open), letter) if open == letter => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(letter),
            (None, _) if text[at..].starts_with(close) => return Some(&text[..at]),
            (None, _) => {}
        }
    }
    None
}
