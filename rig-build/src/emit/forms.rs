//! The schema in the dialects of the candidates: its statics, and the receipt in the documentation.

use std::collections::BTreeMap;

use rig_spec::NativeSchema;

use super::put;
use super::values::optional;
use crate::check::{Checked, Enforcement, PlannedCandidate};
use crate::schema::lower::{Fate, Forms, Lowered, Note, Shape, Step};

/// The most places of a keyword that a receipt names.
const MOST_PLACES: usize = 12;

/// Writes the forms that candidates are sent, each text once.
pub(super) fn write(out: &mut String, route: &Checked) {
    let plans = std::iter::once(&route.plan).chain(route.variants.iter().map(|(_, plan)| plan));
    let candidates = plans.flat_map(|plan| {
        let repair = plan
            .repair
            .iter()
            .filter_map(|repair| repair.model.as_ref());
        plan.candidates.iter().chain(repair)
    });
    let sent: Vec<_> = candidates
        .filter_map(|candidate| match candidate.enforcement {
            Enforcement::Native(kind) => expression(&route.forms, kind),
            Enforcement::JsonMode | Enforcement::Coached => None,
        })
        .collect();
    for (kind, lowered) in route.forms.iter() {
        let name = static_name(kind);
        if !sent.contains(&format!("&{name}")) {
            continue;
        }
        put(
            out,
            format_args!("\nstatic {name}: __rig::Lowered = __rig::Lowered {{\n"),
        );
        let text = |text: &Option<String>| optional(text.as_ref().map(|text| format!("{text:?}")));
        put(out, format_args!("    json: {},\n", text(&lowered.json)));
        put(
            out,
            format_args!("    wrapped_in: {},\n", text(&lowered.wrapped_in)),
        );
        if lowered.shapes.is_empty() {
            out.push_str("    shapes: &[],\n};\n");
            continue;
        }
        out.push_str("    shapes: &[\n");
        for one in &lowered.shapes {
            put(out, format_args!("        {},\n", shape(one)));
        }
        out.push_str("    ],\n};\n");
    }
}

fn shape(shape: &Shape) -> String {
    let within = shape.within.iter().map(|(step, next)| match step {
        Step::Property(name) => format!("(__rig::Step::Property({name:?}), {next})"),
        Step::Items => format!("(__rig::Step::Items, {next})"),
    });
    format!(
        "__rig::Shape {{ absent: &{:?}, within: &[{}] }}",
        shape.absent,
        within.collect::<Vec<_>>().join(", ")
    )
}

/// Returns how a candidate of a dialect names the form it is sent; `None` where there is none.
pub(super) fn expression(forms: &Forms, kind: NativeSchema) -> Option<String> {
    let Ok(lowered) = forms.get(kind)? else {
        return None;
    };
    if lowered.is_as_written() {
        return Some("&__rig::Lowered::AS_WRITTEN".to_owned());
    }
    let mut all = forms.iter();
    let (first, _) = all.find(|(_, other)| other.sends_as(lowered))?;
    Some(format!("&{}", static_name(first)))
}

fn static_name(kind: NativeSchema) -> &'static str {
    match kind {
        NativeSchema::OpenAiStrict => "SCHEMA_FOR_OPENAI",
        NativeSchema::Anthropic => "SCHEMA_FOR_ANTHROPIC",
        NativeSchema::Gemini => "SCHEMA_FOR_GEMINI",
        NativeSchema::Xai => "SCHEMA_FOR_GROK",
        NativeSchema::Fireworks => "SCHEMA_FOR_FIREWORKS",
        NativeSchema::DeepInfra => "SCHEMA_FOR_DEEPINFRA",
        NativeSchema::Any => "SCHEMA_AS_WRITTEN",
    }
}

/// Says how a candidate is held to the schema.
pub(crate) fn held(route: &Checked, candidate: &PlannedCandidate) -> String {
    let told = match candidate.enforcement {
        Enforcement::Native(_) if route.schema.is_some() => {
            return "enforces the schema".to_owned();
        }
        Enforcement::Native(_) | Enforcement::Coached => "told the schema",
        Enforcement::JsonMode => "JSON mode, told the schema",
    };
    match route.forms.get(candidate.provider.native_schema()) {
        Some(Err(found)) if route.wants_native(candidate) => format!(
            "{told}, since it cannot enforce it: {} (at `{}`)",
            found.reason,
            quoted(&found.pointer)
        ),
        _ => told.to_owned(),
    }
}

/// Returns what a candidate's dialect does not hold as the file says it, as lines of a list.
pub(crate) fn receipt(forms: &Forms, candidate: &PlannedCandidate) -> Vec<String> {
    let Enforcement::Native(kind) = candidate.enforcement else {
        return Vec::new();
    };
    match forms.get(kind) {
        Some(Ok(lowered)) => lines(lowered),
        Some(Err(_)) | None => Vec::new(),
    }
}

fn lines(lowered: &Lowered) -> Vec<String> {
    let mut groups: BTreeMap<Fate, Vec<(&str, Vec<&Note>)>> = BTreeMap::new();
    for note in &lowered.receipt {
        let group = groups.entry(note.fate).or_default();
        match group
            .iter_mut()
            .find(|(keyword, _)| *keyword == note.keyword)
        {
            Some((_, notes)) => notes.push(note),
            None => group.push((&note.keyword, vec![note])),
        }
    }
    let line = |(fate, group): (Fate, Vec<(&str, Vec<&Note>)>)| {
        let head = match fate {
            Fate::Coached => "coached, and held here",
            Fate::OnlyHere => "held only here",
            Fate::Narrower => "narrower there",
        };
        let keywords = group.iter().map(|(keyword, notes)| {
            let places = notes.iter().take(MOST_PLACES);
            let places = places.map(|note| format!("`{}`", quoted(&note.pointer)));
            let mut places = places.collect::<Vec<_>>().join(", ");
            if notes.len() > MOST_PLACES {
                places += &format!(" and {} more", notes.len() - MOST_PLACES);
            }
            format!("`{}` at {places}", quoted(keyword))
        });
        format!("{head}: {}", keywords.collect::<Vec<_>>().join("; "))
    };
    groups.into_iter().map(line).collect()
}

/// Returns text that can stand between backticks.
fn quoted(text: &str) -> String {
    text.replace('`', "'")
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use crate::compile::compile_dir;

    /// C8: the receipt says of each candidate what is enforced there, what it is told, what is held only here.
    #[test]
    fn the_documentation_has_a_receipt_for_each_candidate() {
        let case = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/accept/native-forms");
        let compilation = compile_dir(&case, "routes");
        let docs = &compilation.routes[0].docs;
        let list = docs.split_once("\n\nAt most").map(|(list, _)| list);
        let expected = [
            "Candidates, in this order:",
            "",
            "1. `openai/gpt-5.4-mini`: $0.75 in and $4.50 out per million tokens; enforces the schema",
            "   - coached, and held here: `maxLength` at `/$defs/section/properties/heading`",
            "   - narrower there: `additionalProperties` at `/$defs/section`",
            "2. `fireworks/accounts/fireworks/routers/glm-5p1-fast`: $2.80 in and $8.80 out per million tokens; enforces the schema",
            "   - coached, and held here: `minItems` at `/`; `maxLength` at `/$defs/section/properties/heading`",
            "   - narrower there: `additionalProperties` at `/$defs/section`",
            "3. `anthropic/claude-haiku-4-5`: $1.00 in and $5.00 out per million tokens; told the schema, since it cannot enforce it: it may not be recursive (at `/$defs/section`)",
            "4. `deepseek/deepseek-v4-flash`: $0.14 in and $0.28 out per million tokens; JSON mode, told the schema",
        ];
        assert_eq!(list, Some(expected.join("\n").as_str()), "{docs}");
    }
}
