//! How is a map with known keys read, so that every slip is reported and the rest is read on?

use rig_spec::{Usd, UsdPerMtok};

use crate::diagnostic::{Diagnostic, Sink};
use crate::node::{Entry, Kind, Node};
use crate::source::{Span, Spanned};

/// A map whose keys are known.
pub(crate) struct Fields<'a> {
    what: &'static str,
    node: &'a Node,
}

/// The keys a map may have.
pub(crate) struct Keys {
    /// What the map is, as a message says it: `the route`.
    pub(crate) what: &'static str,
    /// Keys that are read.
    pub(crate) known: &'static [&'static str],
}

impl<'a> Fields<'a> {
    /// Opens a map, and reports what is no map or no key of it.
    pub(crate) fn open(node: &'a Node, keys: &Keys, sink: &mut Sink) -> Option<Self> {
        let what = keys.what;
        let Kind::Map(entries) = &node.kind else {
            let first = keys.known[0];
            let help = format!("write it as a map of keys, e.g. `{first}: …`");
            sink.push(wrong_type(what, "a map", node).help(help));
            return None;
        };
        for Entry { key, key_span, .. } in entries {
            if keys.known.contains(&key.as_str()) {
                continue;
            }
            let help = match nearest(key, keys.known.iter().copied()) {
                Some(name) => format!("did you mean `{name}`?"),
                None => format!("the keys of {what} are {}", listed(keys.known)),
            };
            let message = format!("{what} has no key `{key}`");
            sink.push(
                Diagnostic::error("unknown-key", message)
                    .at(*key_span)
                    .help(help),
            );
        }
        Some(Self { what, node })
    }

    /// Returns the value of a key.
    pub(crate) fn get(&self, key: &str) -> Option<&'a Node> {
        self.node.get(key)
    }

    /// Returns the value of a key that has to be there, and reports where it is not. The example is in the file's own
    /// format: `version: 1`.
    pub(crate) fn need(&self, key: &str, example: &str, sink: &mut Sink) -> Option<&'a Node> {
        let value = self.get(key);
        if value.is_none() {
            let message = format!("{} has no `{key}`", self.what);
            // The map may go on for pages; its first key is where the reader has to look.
            let at = self
                .node
                .entries()
                .first()
                .map_or(self.node.span, |entry| entry.key_span);
            let help = format!("add `{example}`");
            sink.push(Diagnostic::error("missing-key", message).at(at).help(help));
        }
        value
    }
}

/// Reads a string that is not empty.
pub(crate) fn string(what: &str, node: &Node, sink: &mut Sink) -> Option<Spanned<String>> {
    match &node.kind {
        Kind::String(text) if text.trim().is_empty() => {
            let message = format!("{what} is empty");
            sink.push(
                Diagnostic::error("wrong-type", message)
                    .at(node.span)
                    .help("write a value"),
            );
            None
        }
        Kind::String(text) => Some(Spanned::new(text.clone(), node.span)),
        Kind::Number(text) => {
            let help = format!("quote it to make it a string: `\"{text}\"`");
            sink.push(wrong_type(what, "a string", node).help(help));
            None
        }
        Kind::Bool(value) => {
            let help = format!("quote it to make it a string: `\"{value}\"`");
            sink.push(wrong_type(what, "a string", node).help(help));
            None
        }
        _ => {
            sink.push(
                wrong_type(what, "a string", node)
                    .help("write a value, in quotes if it could be read otherwise"),
            );
            None
        }
    }
}

/// Reads a boolean.
pub(crate) fn boolean(what: &str, node: &Node, sink: &mut Sink) -> Option<Spanned<bool>> {
    if let Kind::Bool(value) = node.kind {
        return Some(Spanned::new(value, node.span));
    }
    let help = match node.as_str().map(str::to_ascii_lowercase).as_deref() {
        Some("no" | "off" | "n") => "YAML 1.2 reads this word as a string; write `false`",
        Some("yes" | "on" | "y") => "YAML 1.2 reads this word as a string; write `true`",
        _ => "write `true` or `false`",
    };
    sink.push(wrong_type(what, "`true` or `false`", node).help(help));
    None
}

/// Reads a whole number that is not negative.
pub(crate) fn integer(what: &str, node: &Node, sink: &mut Sink) -> Option<Spanned<u64>> {
    let text = match &node.kind {
        Kind::Number(text) | Kind::String(text) => text.as_str(),
        _ => "",
    };
    if matches!(node.kind, Kind::Number(_)) {
        let parsed = match (text.strip_prefix("0x"), text.strip_prefix("0o")) {
            (Some(hex), _) => u64::from_str_radix(hex, 16),
            (_, Some(octal)) => u64::from_str_radix(octal, 8),
            (None, None) => text.parse(),
        };
        if let Ok(value) = parsed {
            return Some(Spanned::new(value, node.span));
        }
    }
    let plain = text.replace('_', "");
    let help = match plain.parse::<u64>() {
        Ok(value) => format!("write `{value}`, without `_` and without quotes"),
        Err(_) => "write digits only, e.g. `3`".to_owned(),
    };
    sink.push(wrong_type(what, "a whole number", node).help(help));
    None
}

/// Reads a decimal number.
pub(crate) fn number(what: &str, node: &Node, sink: &mut Sink) -> Option<Spanned<f64>> {
    if let Kind::Number(text) = &node.kind
        && let Ok(value) = text.parse::<f64>()
        && value.is_finite()
    {
        return Some(Spanned::new(value, node.span));
    }
    sink.push(wrong_type(what, "a decimal number", node).help("write a number, e.g. `0.7`"));
    None
}

/// Reads an amount in USD.
pub(crate) fn usd(what: &str, node: &Node, sink: &mut Sink) -> Option<Spanned<Usd>> {
    let text = match &node.kind {
        Kind::Number(text) => text.as_str(),
        _ => "",
    };
    if let Some(amount) = UsdPerMtok::from_decimal(text) {
        return Some(Spanned::new(Usd::nanos(amount.as_nanos()), node.span));
    }
    let help = "write a decimal number with at most nine decimals, e.g. `0.50`";
    sink.push(wrong_type(what, "an amount in USD", node).help(help));
    None
}

/// Reads a duration such as `500ms`, `1s`, `10m` into milliseconds.
pub(crate) fn duration_ms(what: &str, node: &Node, sink: &mut Sink) -> Option<Spanned<u64>> {
    let text = node.as_str().unwrap_or("");
    let split = text
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(text.len());
    let unit = match &text[split..] {
        "ms" => Some(1),
        "s" => Some(1_000),
        "m" => Some(60_000),
        "h" => Some(3_600_000),
        _ => None,
    };
    let count = text[..split].parse::<u64>().ok();
    if let Some(value) = count
        .zip(unit)
        .and_then(|(count, unit)| count.checked_mul(unit))
    {
        return Some(Spanned::new(value, node.span));
    }
    let help = "write a whole number and its unit (ms, s, m, h), e.g. `30s`";
    sink.push(wrong_type(what, "a duration", node).help(help));
    None
}

/// Reads a list.
pub(crate) fn list<'a>(what: &str, node: &'a Node, sink: &mut Sink) -> Option<&'a [Node]> {
    if let Kind::List(items) = &node.kind {
        return Some(items);
    }
    sink.push(wrong_type(what, "a list", node).help("write it as a list: `[a, b]`"));
    None
}

/// Reads one of a fixed set of words.
pub(crate) fn word<T: Copy>(
    what: &str,
    node: &Node,
    words: &[(&str, T)],
    sink: &mut Sink,
) -> Option<Spanned<T>> {
    let names: Vec<_> = words.iter().map(|(name, _)| *name).collect();
    let Some(text) = node.as_str() else {
        let help = format!("it can be {}", listed(&names));
        sink.push(wrong_type(what, "a word", node).help(help));
        return None;
    };
    if let Some((_, value)) = words.iter().find(|(name, _)| *name == text) {
        return Some(Spanned::new(*value, node.span));
    }
    let message = format!("{what} cannot be `{text}`");
    sink.push(unknown("unknown-value", message, text, &names, node.span));
    None
}

/// The finding for a name that is not among `names`: a "did you mean", else the whole list.
pub(crate) fn unknown(
    code: &'static str,
    message: String,
    name: &str,
    names: &[&str],
    at: Span,
) -> Diagnostic {
    let help = match nearest(name, names.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("it can be {}", listed(names)),
    };
    Diagnostic::error(code, message).at(at).help(help)
}

/// Returns the name that the misspelt one was probably meant to be.
pub(crate) fn nearest<'a>(name: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let length = name.chars().count();
    let allowed = (length / 3).max(1);
    let letters = letters(name);
    // Ten thousand unknown names among ten thousand known ones are compared in full only where they may be near.
    let may_be_near = |candidate: &&str| {
        let other = self::letters(candidate);
        let missing = (letters & !other)
            .count_ones()
            .max((other & !letters).count_ones());
        missing as usize <= allowed && candidate.chars().count().abs_diff(length) <= allowed
    };
    names
        .take(MOST_COMPARED)
        .filter(may_be_near)
        .take(MOST_MEASURED)
        .map(|candidate| (distance(name, candidate), candidate))
        .filter(|(distance, _)| *distance <= allowed)
        .min()
        .map(|(_, candidate)| candidate)
}

/// So many names are looked at, and so many of them measured: with more, the nearest may be missed.
const MOST_COMPARED: usize = 2_000;
const MOST_MEASURED: usize = 100;

/// Returns how far two texts are apart. What they have in common at both ends says nothing, and takes long.
fn distance(a: &str, b: &str) -> usize {
    let same = |(a, b): &(char, char)| a == b;
    let length = |pair: (char, char)| pair.0.len_utf8();
    let start: usize = a.chars().zip(b.chars()).take_while(same).map(length).sum();
    let (a, b) = (&a[start..], &b[start..]);
    let end = a.chars().rev().zip(b.chars().rev()).take_while(same);
    let end: usize = end.map(length).sum();
    strsim::osa_distance(&a[..a.len() - end], &b[..b.len() - end])
}

/// Returns which letters the text has, as a bit each: two texts are at least as far apart as they differ in these.
fn letters(text: &str) -> u64 {
    text.chars()
        .fold(0, |set, c| set | 1 << (u32::from(c) & 63))
}

/// Returns names as a message lists them: `` `a`, `b` ``. Of very many it says how many more there are.
pub(crate) fn listed<T: AsRef<str>>(names: &[T]) -> String {
    let quoted = names.iter().map(|name| format!("`{}`", name.as_ref()));
    let mut shown: Vec<_> = quoted.take(MOST_LISTED).collect();
    if names.len() > MOST_LISTED {
        shown.push(format!("and {} more", names.len() - MOST_LISTED));
    }
    shown.join(", ")
}

/// As many names as a reader looks through.
const MOST_LISTED: usize = 40;

fn wrong_type(what: &str, wanted: &str, node: &Node) -> Diagnostic {
    let message = format!("{what} has to be {wanted}, found {}", node.described());
    Diagnostic::error("wrong-type", message).at(node.span)
}
