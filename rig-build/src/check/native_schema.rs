//! C8: a schema that a provider cannot enforce is a warning that says what is done instead.
//!
//! So is a keyword of which the model is told nothing in any form. What is told in words is none: the receipt in the
//! function's documentation names it, and the gate holds it as before. Nor is there an error: whoever cannot enforce a
//! schema is coached, so no ladder is left without a candidate (`checked::Enforcement`). Providers that say the same
//! share a warning.

use crate::ast::Json;
use crate::diagnostic::{Diagnostic, Sink};
use crate::ir::{Candidate, Route};
use crate::schema::lower::{Note, Obstacle};

/// The most places that a warning points at.
const MOST_PLACES: usize = 4;

pub(super) fn check(route: &Route, sink: &mut Sink) {
    let json = route.policy.json.as_ref();
    if json.is_some_and(|json| json.value == Json::JsonMode) {
        return;
    }
    let Some(candidates) = route.candidates.as_ref().map(|list| &list.value) else {
        return;
    };
    // What there is to say, and whom it is about: the first candidate of each provider.
    let mut said: Vec<(Loss<'_>, Vec<(&str, &Candidate)>)> = Vec::new();
    for candidate in candidates {
        let (Some(provider), Some(dialect)) = (&candidate.provider, candidate.native_dialect())
        else {
            continue;
        };
        let loss = match route.forms.get(dialect) {
            Some(Err(obstacle)) => Loss::All(obstacle),
            Some(Ok(lowered)) => {
                let untold: Vec<_> = lowered.receipt.iter().filter(|note| note.untold).collect();
                match untold.is_empty() {
                    true => continue,
                    false => Loss::Some(untold),
                }
            }
            None => continue,
        };
        let whom = (provider.name(), candidate);
        match said.iter_mut().find(|(other, _)| *other == loss) {
            None => said.push((loss, vec![whom])),
            Some((_, known)) if known.iter().all(|(name, _)| *name != whom.0) => known.push(whom),
            Some(_) => {}
        }
    }
    for (loss, whom) in said {
        sink.push(loss.warning(&whom));
    }
}

/// What a provider does not enforce.
#[derive(PartialEq)]
enum Loss<'a> {
    All(&'a Obstacle),
    Some(Vec<&'a Note>),
}

impl Loss<'_> {
    fn warning(&self, whom: &[(&str, &Candidate)]) -> Diagnostic {
        let names = listed(whom.iter().map(|(name, _)| *name));
        let of_candidates = |mut finding: Diagnostic, text: &str| {
            for (_, candidate) in whom {
                finding = finding.also(candidate.span, text);
            }
            finding
        };
        match self {
            Self::All(found) => {
                let message = format!(
                    "{names} cannot enforce this schema: {} (at `{}`)",
                    found.reason, found.pointer
                );
                let finding = Diagnostic::warning("native-schema", message).at(found.span);
                of_candidates(
                    finding,
                    "this candidate is told the schema in its prompt instead",
                )
                .help("change the schema, or write `json: json_mode` to say that this is meant")
            }
            Self::Some(notes) => {
                let mut keywords: Vec<&str> = Vec::new();
                for note in notes {
                    if !keywords.contains(&note.keyword.as_str()) {
                        keywords.push(&note.keyword);
                    }
                }
                let places = match notes.as_slice() {
                    [] => String::new(),
                    [only] => format!("at `{}`", only.pointer),
                    [first, more @ ..] => format!("at `{}` and {} more", first.pointer, more.len()),
                };
                let message = format!(
                    "{names} cannot enforce {}, and no words tell the model of it ({places})",
                    listed(keywords.into_iter())
                );
                let mut finding = Diagnostic::warning("native-schema", message);
                for (index, note) in notes.iter().take(MOST_PLACES).enumerate() {
                    finding = match index {
                        0 => finding.at_label(note.span, "only held here"),
                        _ => finding.also(note.span, "so is this"),
                    };
                }
                of_candidates(finding, "this candidate is sent the rest of the schema")
                    .help("say in a `description` beside it what it asks for")
            }
        }
    }
}

/// Returns names as a list in prose.
fn listed<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let names: Vec<_> = names.map(|name| format!("`{name}`")).collect();
    match names.as_slice() {
        [most @ .., last] if !most.is_empty() => format!("{} and {last}", most.join(", ")),
        _ => names.concat(),
    }
}
