//! How is a model told in words what the schema would have enforced?
//!
//! A candidate that enforces schemas is coached only after it has answered with something else (L15).

use rig_spec::{Candidate, Enforcement, Schema, coaching};

/// The user turn of every task.
pub(crate) const ANSWER_NOW: &str = "Answer now, with the JSON value only.";

/// The user turn of a task whose route declares tools.
pub(crate) const ANSWER_OR_CALL: &str =
    "Answer now, with the JSON value only, unless you need a tool: then call it.";

/// Returns the system prompt for a candidate: the rendered template, and coaching where it is needed.
pub(crate) fn system(
    rendered: String,
    candidate: &Candidate,
    schema: Option<&Schema>,
    was_invalid: bool,
) -> String {
    let enforced = matches!(candidate.enforcement, Enforcement::Native(_)) && schema.is_some();
    if enforced && !was_invalid {
        return rendered;
    }
    // The rendered text stays as it is to the last byte: its end may be a value's.
    let gap = match rendered.as_str() {
        "" => "",
        text if text.ends_with("\n\n") => "",
        text if text.ends_with('\n') => "\n",
        _ => "\n\n",
    };
    format!("{rendered}{gap}{}", instructions(schema))
}

/// Returns what an answer has to look like.
pub(crate) fn instructions(schema: Option<&Schema>) -> String {
    coaching(schema.map(|schema| (schema.json, schema.skeleton)))
}

#[cfg(test)]
mod tests {
    use rig_spec::{Capabilities, Limits, Lowered, OPENAI};

    use super::*;

    const SCHEMA: Schema = Schema {
        name: "s",
        json: r#"{"type":"object"}"#,
        skeleton: r#"{"k":"…"}"#,
        gate: "",
        hash: 1,
    };

    fn coached(enforcement: Enforcement, schema: Option<&Schema>, was_invalid: bool) -> bool {
        let candidate = Candidate {
            provider: &OPENAI,
            model: "m",
            capabilities: Capabilities::default(),
            enforcement,
            price: None,
            limits: Limits::UNKNOWN,
        };
        let text = system("Prompt.\n".to_owned(), &candidate, schema, was_invalid);
        assert!(text.starts_with("Prompt."));
        let tells = text.contains("no code fence");
        assert_eq!(tells, text.contains(SCHEMA.json) || schema.is_none());
        assert_eq!(tells, text.ends_with(SCHEMA.skeleton) || schema.is_none());
        text.contains("no code fence")
    }

    // F1: a value's trailing space is data.
    #[test]
    fn coaching_stands_apart_and_takes_nothing_away() {
        let candidate = Candidate {
            provider: &OPENAI,
            model: "m",
            capabilities: Capabilities::default(),
            enforcement: Enforcement::Coached,
            price: None,
            limits: Limits::UNKNOWN,
        };
        for (rendered, before) in [
            ("", ""),
            ("A", "A\n\n"),
            ("A \t", "A \t\n\n"),
            ("A\n", "A\n\n"),
            ("A\n\n\n", "A\n\n\n"),
        ] {
            let text = system(rendered.to_owned(), &candidate, None, false);
            assert_eq!(text, format!("{before}{}", instructions(None)));
        }
    }

    // L15
    #[test]
    fn only_native_enforcement_goes_uncoached_until_it_fails() {
        assert!(!coached(
            Enforcement::Native(&Lowered::AS_WRITTEN),
            Some(&SCHEMA),
            false
        ));
        assert!(coached(
            Enforcement::Native(&Lowered::AS_WRITTEN),
            Some(&SCHEMA),
            true
        ));
        assert!(coached(
            Enforcement::Native(&Lowered::AS_WRITTEN),
            None,
            false
        ));
        assert!(coached(Enforcement::JsonMode, Some(&SCHEMA), false));
        assert!(coached(Enforcement::Coached, Some(&SCHEMA), false));
    }
}
