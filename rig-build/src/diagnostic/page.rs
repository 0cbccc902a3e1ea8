//! Which part of a rendered finding has which colour?
//!
//! The text is one and the same with and without colours.

use std::ffi::OsString;
use std::io::IsTerminal;

/// A rendered text, and how its parts are to look.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Page {
    pub(crate) text: String,
    pub(crate) parts: Parts,
}

/// How the parts of a text look.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Parts {
    /// Where each part ends; a part begins where the one before ends.
    ends: Vec<(usize, Style)>,
}

/// How a part of a page looks on a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    Plain,
    Strong,
    Error,
    Warning,
    Help,
    Gutter,
}

impl Page {
    /// Adds a part.
    pub(crate) fn put(&mut self, style: Style, text: &str) {
        self.text += text;
        self.parts.ends.push((self.text.len(), style));
    }
}

impl Parts {
    /// Returns the text with the escape sequences of a terminal.
    pub(crate) fn coloured(&self, text: &str) -> String {
        let mut out = String::with_capacity(2 * text.len());
        let mut start = 0;
        for (end, style) in &self.ends {
            let text = &text[start..*end];
            // A line break within a colour would colour what other programs write on the next line.
            let body = text.trim_end_matches('\n');
            match style.code() {
                Some(code) if !body.is_empty() => {
                    out += &format!("\u{1b}[{code}m{body}\u{1b}[0m{}", &text[body.len()..]);
                }
                _ => out += text,
            }
            start = *end;
        }
        out
    }
}

impl Style {
    /// Returns the parameters of the escape sequence (ECMA-48, SGR): those that rustc uses.
    const fn code(self) -> Option<&'static str> {
        match self {
            Self::Plain => None,
            Self::Strong => Some("1"),
            Self::Error => Some("1;31"),
            Self::Warning => Some("1;33"),
            Self::Help => Some("1;36"),
            Self::Gutter => Some("1;34"),
        }
    }
}

/// Returns whether a program may write colours to this stream: it is a terminal, `NO_COLOR` is not set (or empty), and
/// `TERM` is not `dumb`. `variable` reads a variable of the environment.
#[must_use]
pub fn wants_colour(stream: &impl IsTerminal, variable: impl Fn(&str) -> Option<OsString>) -> bool {
    stream.is_terminal() && may_colour(variable)
}

fn may_colour(variable: impl Fn(&str) -> Option<OsString>) -> bool {
    let refused = variable("NO_COLOR").is_some_and(|value| !value.is_empty());
    !refused && variable("TERM").is_none_or(|terminal| terminal != "dumb")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page() -> Page {
        let mut page = Page::default();
        page.put(Style::Error, "error[e]");
        page.put(Style::Strong, ": m\n");
        page.put(Style::Plain, "text\n");
        page
    }

    #[test]
    fn colours_change_nothing_but_colours() {
        let Page { text, parts } = page();
        let coloured = parts.coloured(&text);
        assert_eq!(
            coloured,
            "\u{1b}[1;31merror[e]\u{1b}[0m\u{1b}[1m: m\u{1b}[0m\ntext\n"
        );
        let mut plain = coloured;
        for code in ["\u{1b}[1;31m", "\u{1b}[1m", "\u{1b}[0m"] {
            plain = plain.replace(code, "");
        }
        assert_eq!(plain, text);
    }

    #[test]
    fn a_user_who_wants_no_colour_gets_none() {
        let with = |no_color: &str, term: &str| {
            let (no_color, term) = (OsString::from(no_color), OsString::from(term));
            may_colour(move |name| match name {
                "NO_COLOR" => Some(no_color.clone()),
                _ => Some(term.clone()),
            })
        };
        assert!(may_colour(|_| None));
        assert!(with("", "xterm"));
        assert!(!with("1", "xterm"));
        assert!(!with("", "dumb"));
        // A file is no terminal, whatever the environment says.
        let file = tempfile::tempfile().unwrap();
        assert!(!wants_colour(&file, |_| None));
    }
}
