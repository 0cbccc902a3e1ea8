//! How does a checked route become Rust?
//!
//! Data plus one call: types, tables, nothing else. Cannot fail and reports nothing. The text is written in its
//! final form, in declared order: the same route gives the same bytes.

mod tables;
mod types;

pub(crate) use types::{Source, types};

use std::fmt::Write as _;

use crate::check::Checked;

/// Returns the module of a route: its types, its variants, its table.
pub(crate) fn module(route: &Checked, source: &Source<'_>) -> String {
    let mut out = types(source);
    tables::write(&mut out, route);
    out
}

/// Returns what the documentation of a route's function says besides the user's own words.
pub(crate) fn docs(route: &Checked, shown: &str) -> String {
    let mut out = String::new();
    let candidates: Vec<_> = route
        .plan
        .candidates
        .iter()
        .map(|candidate| format!("`{}/{}`", candidate.provider.name(), candidate.model))
        .collect();
    put(
        &mut out,
        format_args!("Candidates: {}.\n\n", candidates.join(", then ")),
    );
    put(
        &mut out,
        format_args!(
            "Route `{}`, version {}, from `{shown}`.\n",
            route.name, route.version
        ),
    );
    out
}

/// Writes to a string, which cannot fail.
fn put(out: &mut String, text: std::fmt::Arguments<'_>) {
    let written = out.write_fmt(text);
    debug_assert!(written.is_ok(), "writing to a string cannot fail");
}

/// Writes a documentation comment that rustdoc takes as prose, whatever the text holds.
fn docs_comment(out: &mut String, indent: &str, text: &str) {
    for line in text.lines() {
        let line = prose(line.trim());
        let blank = if line.is_empty() { "" } else { " " };
        put(out, format_args!("{indent}///{blank}{line}\n"));
    }
}

/// Escapes what rustdoc would read as a link, an HTML tag, a list or a code block.
fn prose(line: &str) -> String {
    let mut out = String::new();
    let mut in_code = false;
    let line = line.replace("```", "'''");
    let ordered = line.split_once(['.', ')']).is_some_and(|(digits, _)| {
        !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
    });
    if line.starts_with(['-', '*', '+', '#', '=', '|']) || ordered {
        out.push_str(if ordered { "\u{200b}" } else { "\\" });
    }
    for c in line.chars() {
        if c == '`' {
            in_code = !in_code;
        } else if !in_code && matches!(c, '[' | ']' | '<' | '>') {
            out.push('\\');
        }
        out.push(if c.is_control() { ' ' } else { c });
    }
    out
}
