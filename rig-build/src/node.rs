//! What do a YAML file and a JSON file look like once read? The same tree, with the place of everything.

use crate::source::Span;

/// A value and where it stands.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Node {
    pub(crate) span: Span,
    pub(crate) kind: Kind,
}

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Kind {
    Null,
    Bool(bool),
    /// A number as it was written, so that none loses digits.
    Number(String),
    String(String),
    List(Vec<Node>),
    Map(Vec<Entry>),
}

/// A key and its value. Keys of one map differ.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Entry {
    pub(crate) key: String,
    pub(crate) key_span: Span,
    pub(crate) value: Node,
}

impl Node {
    /// Returns the value of a key, where this is a map that has it.
    pub(crate) fn get(&self, key: &str) -> Option<&Self> {
        self.entry(key).map(|entry| &entry.value)
    }

    /// Returns a key and its value, where this is a map that has it.
    pub(crate) fn entry(&self, key: &str) -> Option<&Entry> {
        self.entries().iter().find(|entry| entry.key == key)
    }

    /// Returns the entries of a map; none for anything else.
    pub(crate) fn entries(&self) -> &[Entry] {
        match &self.kind {
            Kind::Map(entries) => entries,
            _ => &[],
        }
    }

    /// Returns the items of a list; none for anything else.
    pub(crate) fn items(&self) -> &[Self] {
        match &self.kind {
            Kind::List(items) => items,
            _ => &[],
        }
    }

    /// Returns the text of a string.
    pub(crate) fn as_str(&self) -> Option<&str> {
        match &self.kind {
            Kind::String(text) => Some(text),
            _ => None,
        }
    }

    /// Returns what the value is, as a message says it: ``the number `1.10` ``.
    pub(crate) fn described(&self) -> String {
        match &self.kind {
            Kind::Null => "null".to_owned(),
            Kind::Bool(value) => format!("the boolean `{value}`"),
            Kind::Number(text) => format!("the number `{text}`"),
            Kind::String(text) if text.chars().count() <= 40 => format!("the string `{text}`"),
            Kind::String(_) => "a string".to_owned(),
            Kind::List(items) if items.is_empty() => "an empty list".to_owned(),
            Kind::List(_) => "a list".to_owned(),
            Kind::Map(_) => "a map".to_owned(),
        }
    }

    /// Writes the value as compact JSON, keys in their order.
    pub(crate) fn write_json(&self, out: &mut String) {
        match &self.kind {
            Kind::Null => *out += "null",
            Kind::Bool(value) => *out += if *value { "true" } else { "false" },
            Kind::Number(text) => *out += text,
            Kind::String(text) => write_json_string(text, out),
            Kind::List(items) => {
                for (index, item) in items.iter().enumerate() {
                    out.push(if index == 0 { '[' } else { ',' });
                    item.write_json(out);
                }
                *out += if items.is_empty() { "[]" } else { "]" };
            }
            Kind::Map(entries) => {
                for (index, entry) in entries.iter().enumerate() {
                    out.push(if index == 0 { '{' } else { ',' });
                    write_json_string(&entry.key, out);
                    out.push(':');
                    entry.value.write_json(out);
                }
                *out += if entries.is_empty() { "{}" } else { "}" };
            }
        }
    }

    /// Returns the value as compact JSON.
    pub(crate) fn to_json(&self) -> String {
        let mut out = String::new();
        self.write_json(&mut out);
        out
    }
}

fn write_json_string(text: &str, out: &mut String) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => *out += "\\\"",
            '\\' => *out += "\\\\",
            '\n' => *out += "\\n",
            '\r' => *out += "\\r",
            '\t' => *out += "\\t",
            c if c < ' ' => *out += &format!("\\u{:04x}", u32::from(c)),
            c => out.push(c),
        }
    }
    out.push('"');
}
