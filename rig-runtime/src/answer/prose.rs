//! Which JSON values stand in a piece of prose?

use super::brackets::Brackets;
use super::{Groups, Unreadable, Value, prefix};
use crate::json::{Broken, Fault};

/// Adds the values of a piece of prose: those of code fences, and the objects and arrays outside of them.
pub(super) fn scan<'t>(text: &'t str, [fenced, bare]: &mut Groups<'t>) {
    let mut brackets = Brackets::new(text);
    let mut at = 0;
    while let Some(next) = text[at..].find(['`', '{', '[']) {
        at += next;
        let ahead = &text[at..];
        if ahead.starts_with("```") {
            let (value, after) = fence(ahead);
            fenced.extend(value);
            at = text.len() - after.len();
        } else if ahead.starts_with('`') {
            at += 1;
        } else {
            let (value, length) = bracket(&mut brackets, at);
            bare.extend(value);
            at += length;
        }
    }
}

/// Returns the value of the code fence that a text starts with, if it holds one and nothing else; and what follows the
/// fence.
pub(super) fn fence(text: &str) -> (Option<Value<'_>>, &str) {
    let is_language = |c: char| c.is_ascii_alphanumeric() || "_+-".contains(c);
    let content = text.trim_start_matches('`').trim_start_matches(is_language);
    let close = || content.find("```").map_or("", |at| &content[at..]);
    let (value, after) = match prefix(content) {
        Ok((value, after)) => {
            let after = after.trim_start();
            match after.is_empty() || after.starts_with("```") {
                true => (Some(Ok(value)), after),
                false => (None, close()),
            }
        }
        Err(Broken { fault, .. }) => {
            let is_repeated = matches!(fault, Fault::Repeated(_));
            (is_repeated.then(|| Err(repeated(&fault))), close())
        }
    };
    (value, after.trim_start_matches('`'))
}

/// Returns the object or array that begins here, if it is one, and how long it is.
///
/// The scan skips brackets that do not hold JSON, and all that they enclose, since that is not at the top level. Where
/// they do not close, it is either prose (`[size`, `[0, 1)`), and only the bracket is skipped; or it is a broken answer,
/// and no part of that may pass for the whole.
fn bracket<'t>(brackets: &mut Brackets<'t>, at: usize) -> (Option<Value<'t>>, usize) {
    let fault = match brackets.value(at) {
        Ok(value) => return (Some(Ok(value)), value.len()),
        Err(fault) => fault,
    };
    let length = match brackets.length(at) {
        Some(length) => length,
        None if is_prose(brackets.text, at, &fault) => 1,
        None => brackets.text.len() - at,
    };
    let value = matches!(fault, Fault::Repeated(_)).then(|| Err(repeated(&fault)));
    (value, length)
}

fn repeated(fault: &Fault) -> Unreadable {
    Unreadable::RepeatedKey(fault.to_string())
}

/// Returns whether an opening bracket that opens no JSON value is punctuation: as far as the text is JSON, there is no
/// string in it, and nothing that closes.
fn is_prose(text: &str, start: usize, fault: &Fault) -> bool {
    let Fault::Syntax { at, .. } = fault else {
        return false;
    };
    let json = text.get(start + 1..*at).unwrap_or("");
    let rest = text.get(*at..).unwrap_or("");
    !rest.trim_start().is_empty() && !json.contains(['"', '}', ']'])
}
