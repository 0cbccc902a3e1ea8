//! How does a checked route become Rust?
//!
//! Data plus one call: types, tables, nothing else. Cannot fail and reports nothing. The text is written in its
//! final form, in declared order: the same route gives the same bytes.

mod bounds;
mod forms;
mod route;
mod tables;
mod types;
mod values;

pub(crate) use forms::{held, receipt as receipt_of};
pub(crate) use tables::wire_name;
pub(crate) use types::{Source, output_types, types};

use std::fmt::Write as _;

use rig_spec::{Usd, UsdPerMtok};

use crate::check::Checked;
use crate::worst::{clock, of_route};

/// Returns the module of a route: its input type, its variants, its table.
pub(crate) fn module(route: &Checked, source: &Source<'_>) -> String {
    let mut out = types(source);
    route::write(&mut out, route);
    out
}

/// Returns what the documentation of a route's function says besides the user's own words.
pub(crate) fn docs(route: &Checked, shown: &str) -> String {
    let mut out = String::from("Candidates, in this order:\n\n");
    let mut receipts = Vec::new();
    for (index, candidate) in route.plan.candidates.iter().enumerate() {
        let price = match &candidate.price {
            Some(price) => {
                let usd = |rate: UsdPerMtok| Usd::nanos(rate.as_nanos());
                let (input, output) = (usd(price.rates.input), usd(price.rates.output));
                format!("{input} in and {output} out per million tokens")
            }
            None => "unpriced".to_owned(),
        };
        let enforced = forms::held(route, candidate);
        let (provider, model) = (candidate.provider.name(), &candidate.model);
        put(
            &mut out,
            format_args!("{}. `{provider}/{model}`: {price}; {enforced}\n", index + 1),
        );
        let indent = " ".repeat((index + 1).to_string().len() + 2);
        for line in receipt(
            &mut receipts,
            index,
            forms::receipt(&route.forms, candidate),
        ) {
            put(&mut out, format_args!("{indent}- {line}\n"));
        }
    }
    let worst = of_route(route);
    put(
        &mut out,
        format_args!(
            "\nAt most {} attempts, {} and {}.\n\nRoute `{}`, version {}, from `{shown}`.\n",
            worst.attempts,
            clock(worst.wall_clock_ms),
            worst.cost,
            route.name,
            route.version
        ),
    );
    out
}

/// Returns the lines of a receipt, or which candidate has the same.
fn receipt(known: &mut Vec<(usize, Vec<String>)>, index: usize, lines: Vec<String>) -> Vec<String> {
    if lines.is_empty() {
        return lines;
    }
    match known.iter().find(|(_, other)| *other == lines) {
        Some((first, _)) => vec![format!("as candidate {}", first + 1)],
        None => {
            known.push((index, lines.clone()));
            lines
        }
    }
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

/// Escapes what rustdoc would read as a link, an address, an HTML tag, a list or a code block.
fn prose(line: &str) -> String {
    let mut out = String::new();
    let mut in_code = false;
    let line = line.replace("```", "'''");
    // A backtick without its partner is one of the text, and so is every other of its line.
    let has_code = line.matches('`').count().is_multiple_of(2);
    let ordered = line.split_once(['.', ')']).is_some_and(|(digits, _)| {
        !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
    });
    if line.starts_with(['-', '*', '+', '#', '=', '|', '~']) || ordered {
        out.push_str(if ordered { "\u{200b}" } else { "\\" });
    }
    for (at, c) in line.char_indices() {
        let is_markup = match c {
            '`' => !has_code,
            '[' | ']' | '<' | '>' | '\\' => !in_code,
            ':' => !in_code && line[at..].starts_with("://"),
            _ => false,
        };
        if c == '`' && has_code {
            in_code = !in_code;
        }
        if is_markup {
            out.push('\\');
        }
        out.push(if c.is_control() { ' ' } else { c });
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documentation_is_prose_whatever_the_text_holds() {
        let cases = [
            ("see `a[0]` and b[0]", r"see `a[0]` and b\[0\]"),
            ("https://example.test/<id>", r"https\://example.test/\<id\>"),
            (
                "`https://example.test`: where",
                "`https://example.test`: where",
            ),
            ("a lone ` before [x]", r"a lone \` before \[x\]"),
            (r"like ^\d+\.$ or `\w`", r"like ^\\d+\\.$ or `\w`"),
            ("```rust", "'''rust"),
            ("~~~", r"\~~~"),
            ("- a list", r"\- a list"),
            ("12. a list", "\u{200b}12. a list"),
        ];
        for (text, shown) in cases {
            assert_eq!(prose(text), shown);
        }
    }
}
