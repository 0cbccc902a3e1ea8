//! Which part of a provider's message may be shown?
//!
//! **Invariant:** what leaves here is one line of at most [`LONGEST`] characters. It holds no key, nothing that looks
//! like one, no long quotation, and no run of eight characters of what is private about the request.

use std::borrow::Cow;

use super::Sent;
use crate::key::Key;

mod repeats;

use repeats::without_repeats;

/// The longest message, in characters.
pub(super) const LONGEST: usize = 300;

/// The longest quotation that is a name rather than a piece of a prompt, in characters.
const LONGEST_QUOTATION: usize = 60;

/// What stands in the place of a key.
const REDACTED: &str = "[redacted]";

/// What stands in front of a key that need not look like one.
const ANNOUNCERS: [&str; 6] = [
    "bearer ",
    "api key: ",
    "key provided: ",
    "x-api-key: ",
    "authorization: ",
    "token: ",
];

const KEY_PREFIXES: [&str; 8] = ["sk-", "sk_", "pk-", "xai-", "gsk_", "fw_", "hf_", "AIza"];

/// Returns what may be shown and stored of a message about a request. The further texts are as private as those that
/// were sent. What says nothing of its own is empty.
pub(super) fn presentable(raw: &str, sent: &Sent<'_>, further: &[&str]) -> String {
    let line = readable(raw, sent.key);
    if line.is_empty() {
        return line;
    }
    let mut private = sent.private();
    private.extend(further.iter().map(|text| Cow::from(*text)));
    let shown = without_repeats(&without_quotations(&line), &private);
    let shown = match shortened(&shown, LONGEST) {
        Cow::Borrowed(_) => shown,
        // The mark at the end may join what is left to something that a text holds.
        Cow::Owned(cut) => without_repeats(&cut, &private),
    };
    match shown.contains(char::is_alphanumeric) {
        true => shown,
        false => String::new(),
    }
}

/// Returns what may be shown of the words of a transport, which has no prompt in them.
pub(super) fn of_transport(raw: &str, key: Option<&Key>) -> String {
    shortened(&without_quotations(&readable(raw, key)), LONGEST).into_owned()
}

/// Returns a text of at most this many characters.
pub(super) fn shortened(text: &str, longest: usize) -> Cow<'_, str> {
    match text.char_indices().nth(longest) {
        Some(_) => {
            let kept: String = text.chars().take(longest - 1).collect();
            format!("{}…", kept.trim_end()).into()
        }
        None => text.into(),
    }
}

/// Returns the text as one line without keys.
fn readable(raw: &str, key: Option<&Key>) -> String {
    // Beyond this nothing would be shown anyway, and a body may be of any size.
    let longest = 16 * LONGEST;
    let mut line = one_line(&shortened(raw, longest));
    if raw.chars().nth(longest).is_some() {
        // The last word may be the half of a key.
        line.truncate(line.rfind(' ').unwrap_or(0));
    }
    // A shorter key is a placeholder for a host that checks none, and a part of ordinary words.
    if let Some(key) = key.filter(|key| key.reveal().len() >= 6) {
        line = line.replace(key.reveal(), REDACTED);
    }
    without_keys(&line)
}

fn one_line(raw: &str) -> String {
    let spaced: String = raw
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    spaced.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Replaces every quotation that is too long to be a name, also one that never closes.
fn without_quotations(line: &str) -> String {
    let mut shown = String::with_capacity(line.len());
    let mut rest = line;
    while let Some((open, close)) = rest.char_indices().find_map(|(at, c)| opens(rest, at, c)) {
        let start = open + rest[open..].chars().next().map_or(0, char::len_utf8);
        let end = closes(rest, start, close);
        let inside = &rest[start..end];
        shown.push_str(&rest[..start]);
        if inside.chars().count() > LONGEST_QUOTATION {
            shown.push('…');
        } else {
            shown.push_str(inside);
        }
        let after = end + rest[end..].chars().next().map_or(0, char::len_utf8);
        shown.push_str(&rest[end..after]);
        rest = &rest[after..];
    }
    shown.push_str(rest);
    shown
}

/// Returns where a quotation opens, and what closes it. An apostrophe within a word opens none.
fn opens(text: &str, at: usize, c: char) -> Option<(usize, char)> {
    let close = match c {
        '"' | '\'' | '`' => c,
        '“' => '”',
        '«' => '»',
        _ => return None,
    };
    let before = text[..at].chars().next_back();
    before
        .is_none_or(|before| !before.is_alphanumeric())
        .then_some((at, close))
}

/// Returns where a quotation ends: at the closing mark that no word follows, else with the text.
fn closes(text: &str, start: usize, close: char) -> usize {
    let found = text[start..].char_indices().find(|(at, c)| {
        let after = text[start + at + c.len_utf8()..].chars().next();
        *c == close && after.is_none_or(|after| !after.is_alphanumeric())
    });
    found.map_or(text.len(), |(at, _)| start + at)
}

fn without_keys(line: &str) -> String {
    let mut shown = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(start) = rest.find(is_word_char) {
        shown.push_str(&rest[..start]);
        let end = rest[start..]
            .find(|c| !is_word_char(c))
            .map_or(rest.len(), |len| start + len);
        let word = &rest[start..end];
        let is_key =
            looks_like_key(word) || (is_announced(&shown) && !word.eq_ignore_ascii_case("bearer"));
        shown.push_str(if is_key { REDACTED } else { word });
        rest = &rest[end..];
    }
    shown.push_str(rest);
    shown
}

fn is_word_char(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '-' | '_' | '*' | '•')
}

fn is_announced(before: &str) -> bool {
    let before = before
        .trim_end_matches(['"', '\'', '`'])
        .to_ascii_lowercase();
    ANNOUNCERS
        .iter()
        .any(|announcer| before.ends_with(announcer))
}

/// Returns whether a word looks like a key: a known beginning, a masked middle, or a long run of letters and
/// digits. Model names consist of short runs.
fn looks_like_key(word: &str) -> bool {
    let has = |text: &str, test: fn(char) -> bool| text.chars().any(test);
    let is_mixed = |text: &str| has(text, char::is_alphabetic) && has(text, char::is_numeric);
    let is_long_run = |run: &str| run.len() >= 16 && is_mixed(run);
    KEY_PREFIXES
        .iter()
        .any(|prefix| word.starts_with(prefix) && word.len() > prefix.len() + 3)
        || word.contains("***")
        || word.contains('•')
        || word.split(['-', '_']).any(is_long_run)
        || (word.len() >= 32 && word.chars().all(|c| c.is_ascii_hexdigit() || c == '-'))
        || (word.len() >= 40
            && is_mixed(word)
            && has(word, char::is_uppercase)
            && has(word, char::is_lowercase))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn presentable(raw: &str) -> String {
        super::presentable(raw, &Sent::default(), &[])
    }

    #[test]
    fn keys_are_redacted_and_names_are_kept() {
        let cases = [
            (
                "Incorrect API key provided: hunter2. Go",
                "Incorrect API key provided: [redacted]. Go",
            ),
            (
                "Incorrect API key provided: sk-ab**yz.",
                "Incorrect API key provided: [redacted].",
            ),
            ("bad header `Bearer abc`", "bad header `Bearer [redacted]`"),
            (
                "Authorization: Bearer abc is wrong",
                "Authorization: Bearer [redacted] is wrong",
            ),
            ("got sk-proj-abcdEFGH1234", "got [redacted]"),
            ("got ABCDEF0123456789abcd", "got [redacted]"),
            ("got 96164522-08b2-4cbf-886e-e5a38961a688", "got [redacted]"),
            (
                "Your api key: ****-key is invalid",
                "Your api key: [redacted] is invalid",
            ),
            (
                "see https://x.example/?key=AIzaSyA1b2C3d4",
                "see https://x.example/?key=[redacted]",
            ),
            (
                "model claude-haiku-4-5-20251001 not found",
                "model claude-haiku-4-5-20251001 not found",
            ),
            (
                "model Qwen3-235B-A22B-Instruct-2507",
                "model Qwen3-235B-A22B-Instruct-2507",
            ),
            (
                "ResponsibleAIPolicyViolation",
                "ResponsibleAIPolicyViolation",
            ),
            (
                "max_completion_tokens is unsupported",
                "max_completion_tokens is unsupported",
            ),
        ];
        for (raw, expected) in cases {
            assert_eq!(presentable(raw), expected);
        }
    }

    #[test]
    fn long_quotations_are_cut_and_short_ones_kept() {
        let prompt = "the customer wrote ".repeat(8);
        for (open, close) in [("\"", "\""), ("'", "'"), ("`", "`"), ("“", "”")] {
            let shown = presentable(&format!("cannot read {open}{prompt}{close} at 3"));
            assert_eq!(shown, format!("cannot read {open}…{close} at 3"));
        }
        assert_eq!(presentable(&format!("input: '{prompt}")), "input: '…");
        let prose =
            "you don't have access to this model and it can't be used by this organization's key";
        assert_eq!(presentable(prose), prose);
        assert_eq!(
            presentable("The model `x-y` isn't here"),
            "The model `x-y` isn't here"
        );
    }

    #[test]
    fn a_key_at_the_cut_is_not_left_in_half() {
        let raw = format!("{} sk-proj-abcdEFGH1234ijklMNOP", "word ".repeat(58));
        assert!(!presentable(&raw).contains("sk-"), "{}", presentable(&raw));
    }

    #[test]
    fn a_message_is_one_short_line() {
        assert_eq!(presentable(" a\n\tb\u{0}c\r\n "), "a b c");
        let shown = presentable(&"word ".repeat(400));
        assert!(shown.chars().count() <= LONGEST && shown.ends_with('…'));
        assert_eq!(presentable(&"ä".repeat(LONGEST)).chars().count(), LONGEST);
        assert_eq!(presentable(""), "");
        assert_eq!(presentable(" … \" ' "), "");
    }

    #[test]
    fn an_echoed_key_is_taken_out_whatever_it_looks_like() {
        let key = Key::new("hunter two");
        let sent = Sent {
            key: key.as_ref(),
            ..Sent::default()
        };
        let shown = |raw: &str| super::presentable(raw, &sent, &[]);
        assert_eq!(
            shown("nobody knows hunter two here"),
            "nobody knows [redacted] here"
        );
        // Also where the message is cut in the middle of it.
        for before in 280..300 {
            let raw = format!("{}hunter two", "é".repeat(before));
            assert!(!shown(&raw).contains('h'), "{raw}");
        }
        let said = of_transport("no route to hunter two", key.as_ref());
        assert_eq!(said, "no route to [redacted]");
    }

    #[test]
    fn what_was_sent_is_cut_before_the_message_is_shortened() {
        let prompt = "the customer wrote ".repeat(40);
        let texts = [prompt.as_str()];
        let sent = Sent {
            texts: &texts,
            ..Sent::default()
        };
        let raw = format!("cannot read {prompt}at all");
        let shown = super::presentable(&raw, &sent, &[]);
        assert_eq!(shown, "cannot read … at all");
        assert_eq!(super::presentable(&prompt, &sent, &[]), "");
    }
}
