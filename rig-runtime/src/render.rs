//! What does a prompt template say for this input and this candidate?
//!
//! Templates are compiled, so a value is never read as template: its braces are data.

use rig_spec::{Capabilities, Segment, Template};
use serde_json::{Map, Value};

/// A template whose variables all have a value.
#[derive(Clone, Copy)]
pub(crate) struct Bound<'a> {
    template: Template,
    input: &'a Map<String, Value>,
}

impl<'a> Bound<'a> {
    /// Binds the template to its input.
    ///
    /// # Errors
    ///
    /// Names the first variable that the input does not have, whichever candidate would need it.
    pub(crate) fn new(
        template: Template,
        input: &'a Map<String, Value>,
    ) -> Result<Self, &'static str> {
        match missing(template.segments, input) {
            Some(variable) => Err(variable),
            None => Ok(Self { template, input }),
        }
    }

    /// Returns the text for a candidate that can do this.
    pub(crate) fn render(&self, capabilities: Capabilities) -> String {
        let mut text = String::new();
        self.write(self.template.segments, capabilities, &mut text);
        text
    }

    fn write(&self, segments: &[Segment], capabilities: Capabilities, text: &mut String) {
        for segment in segments {
            match segment {
                Segment::Text(literal) => text.push_str(literal),
                Segment::Variable(name) => match self.input.get(*name) {
                    Some(Value::String(value)) => text.push_str(value),
                    Some(value) => text.push_str(&value.to_string()),
                    None => {}
                },
                Segment::When {
                    capability,
                    present,
                    body,
                } if capabilities.has(*capability) == *present => {
                    self.write(body, capabilities, text);
                }
                Segment::When { .. } => {}
            }
        }
    }
}

fn missing(segments: &[Segment], input: &Map<String, Value>) -> Option<&'static str> {
    segments.iter().find_map(|segment| match segment {
        Segment::Text(_) => None,
        Segment::Variable(name) => (!input.contains_key(*name)).then_some(*name),
        Segment::When { body, .. } => missing(body, input),
    })
}

#[cfg(test)]
mod tests {
    use rig_spec::Capability;
    use serde_json::json;

    use super::*;

    const TEMPLATE: Template = Template {
        segments: &[
            Segment::Text("A={"),
            Segment::Variable("a"),
            Segment::Text("};B="),
            Segment::Variable("b"),
            Segment::When {
                capability: Capability::JsonMode,
                present: true,
                body: &[Segment::Text(";json "), Segment::Variable("c")],
            },
            Segment::When {
                capability: Capability::JsonMode,
                present: false,
                body: &[Segment::Text(";plain")],
            },
        ],
    };
    const JSON: Capabilities = Capabilities::of(&[Capability::JsonMode]);

    fn rendered(input: Value, capabilities: Capabilities) -> Result<String, &'static str> {
        let Value::Object(input) = input else {
            panic!("the input is an object")
        };
        Bound::new(TEMPLATE, &input).map(|bound| bound.render(capabilities))
    }

    // F1
    #[test]
    fn strings_are_verbatim_and_everything_else_is_compact_json() {
        let input =
            json!({ "a": "{{b}} \"x\" {{/if}} $1", "b": { "k": ["{{a}}", 1, null] }, "c": null });
        assert_eq!(
            rendered(input, JSON).unwrap(),
            r#"A={{{b}} "x" {{/if}} $1};B={"k":["{{a}}",1,null]};json null"#
        );
    }

    // F1
    #[test]
    fn conditionals_follow_the_candidates_capabilities() {
        let input = json!({ "a": 1, "b": true, "c": 1.5 });
        assert_eq!(
            rendered(input.clone(), JSON).unwrap(),
            "A={1};B=true;json 1.5"
        );
        assert_eq!(
            rendered(input, Capabilities::default()).unwrap(),
            "A={1};B=true;plain"
        );
    }

    #[test]
    fn a_missing_variable_is_named_even_in_a_branch_that_is_not_taken() {
        let input = json!({ "a": 1, "b": 2 });
        assert_eq!(rendered(input, Capabilities::default()), Err("c"));
    }
}
