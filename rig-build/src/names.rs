//! How does a name from a file become a Rust identifier?

use std::collections::{BTreeSet, HashMap};

use unicode_ident::{is_xid_continue, is_xid_start};

/// Names that are taken in one scope.
#[derive(Clone, Debug, Default)]
pub(crate) struct Taken {
    names: BTreeSet<String>,
    /// The first number that may be free behind a name: ten thousand of one name need no search each.
    next: HashMap<String, usize>,
}

impl Taken {
    /// Returns a scope in which these names are taken already.
    pub(crate) fn with<I: IntoIterator<Item = String>>(names: I) -> Self {
        Self {
            names: names.into_iter().collect(),
            next: HashMap::new(),
        }
    }

    /// Takes the name, or the first of `name2`, `name3`, … (`name1_2` behind a digit) that is free.
    pub(crate) fn take(&mut self, name: String) -> String {
        let gap = if name.ends_with(|c: char| c.is_ascii_digit()) {
            "_"
        } else {
            ""
        };
        if self.names.insert(name.clone()) {
            return name;
        }
        let mut n = self.next.get(&name).copied().unwrap_or(2);
        let mut free = format!("{name}{gap}{n}");
        while !self.names.insert(free.clone()) {
            n += 1;
            free = format!("{name}{gap}{n}");
        }
        self.next.insert(name, n + 1);
        free
    }
}

/// Returns a type's or variant's name: `order_item` becomes `OrderItem`, `>=` becomes `GtEq`.
#[must_use]
pub fn pascal(text: &str) -> String {
    let mut out: String = words(text)
        .iter()
        .flat_map(|word| {
            let mut chars = word.chars();
            let first = chars.next().into_iter().flat_map(char::to_uppercase);
            first.chain(chars).collect::<Vec<_>>()
        })
        .collect();
    if out.is_empty() {
        out = spelled(text);
    }
    if !out.chars().next().is_some_and(is_xid_start) {
        out.insert(0, 'N');
    }
    if out == "Self" {
        "Self_".to_owned()
    } else {
        out
    }
}

/// Returns a field's or function's name: `orderItem` becomes `order_item`, `type` becomes `r#type`.
#[must_use]
pub fn snake(text: &str) -> String {
    let words: Vec<_> = words(text).iter().map(|word| word.to_lowercase()).collect();
    let mut out = words.join("_");
    if out.is_empty() {
        out = spelled(text).to_lowercase();
    }
    if !out.chars().next().is_some_and(is_xid_start) {
        out.insert(0, '_');
    }
    out
}

/// Returns a field's identifier as it is written in Rust: keywords are escaped.
#[must_use]
pub fn escaped(name: &str) -> String {
    match name {
        "self" | "super" | "crate" => format!("{name}_"),
        _ if KEYWORDS.contains(&name) => format!("r#{name}"),
        _ => name.to_owned(),
    }
}

/// The strict and reserved keywords of the 2024 edition, and `union`-like words left out: they are fine as names.
const KEYWORDS: [&str; 48] = [
    "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "do", "dyn",
    "else", "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "let",
    "loop", "macro", "match", "mod", "move", "mut", "override", "priv", "pub", "ref", "return",
    "static", "struct", "trait", "true", "try", "type", "typeof", "unsafe", "unsized", "use",
    "virtual", "where", "while", "yield",
];

/// Splits at everything that no identifier holds, and where `camelCase` turns.
fn words(text: &str) -> Vec<String> {
    let mut words: Vec<String> = vec![String::new()];
    let mut previous: Option<char> = None;
    for c in text.chars() {
        if c == '_' || !is_xid_continue(c) {
            words.push(String::new());
            previous = None;
            continue;
        }
        if c.is_uppercase() && previous.is_some_and(|p| p.is_lowercase() || p.is_numeric()) {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut() {
            word.push(c);
        }
        previous = Some(c);
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Spells out text that holds no letter or digit.
fn spelled(text: &str) -> String {
    if text.is_empty() {
        return "Empty".to_owned();
    }
    text.chars()
        .map(|c| match c {
            '=' => "Eq".to_owned(),
            '<' => "Lt".to_owned(),
            '>' => "Gt".to_owned(),
            '!' => "Not".to_owned(),
            '≥' => "AtLeast".to_owned(),
            '≤' => "AtMost".to_owned(),
            '+' => "Plus".to_owned(),
            '-' => "Minus".to_owned(),
            '*' => "Star".to_owned(),
            '/' => "Slash".to_owned(),
            '%' => "Percent".to_owned(),
            '&' => "And".to_owned(),
            '|' => "Or".to_owned(),
            '?' => "Question".to_owned(),
            '.' => "Dot".to_owned(),
            ' ' => "Space".to_owned(),
            '_' => "Underscore".to_owned(),
            c => format!("U{:04X}", u32::from(c)),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_identifier(text: &str) -> bool {
        let mut chars = text.chars();
        chars.next().is_some_and(|c| c == '_' || is_xid_start(c)) && chars.all(is_xid_continue)
    }

    #[test]
    fn names_read_as_rust_names() {
        let cases = [
            ("order_item", "OrderItem", "order_item"),
            ("orderItemID", "OrderItemID", "order_item_id"),
            ("fc.base", "FcBase", "fc_base"),
            ("type", "Type", "type"),
            ("2fast", "N2fast", "_2fast"),
            ("", "Empty", "empty"),
            ("_", "Underscore", "underscore"),
            (">=", "GtEq", "gteq"),
            ("日本", "日本", "日本"),
            ("✓", "U2713", "u2713"),
            ("self", "Self_", "self"),
        ];
        for (text, type_name, field) in cases {
            assert_eq!(
                (pascal(text).as_str(), snake(text).as_str()),
                (type_name, field),
                "{text:?}"
            );
        }
        assert_eq!(escaped("type"), "r#type");
        assert_eq!(escaped("crate"), "crate_");
    }

    proptest::proptest! {
        #[test]
        fn every_text_becomes_an_identifier(text in ".{0,12}") {
            for name in [pascal(&text), snake(&text)] {
                proptest::prop_assert!(is_identifier(&name), "{:?} became {:?}", text, name);
            }
        }
    }
}
