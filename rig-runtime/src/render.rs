//! What does a prompt template say for this input and this candidate?
//!
//! Templates are compiled, so a value is never read as template: its braces are data.

use std::borrow::Cow;

use rig_spec::{Capabilities, Segment, Template};
use serde_json::{Map, Value};

/// A rendered prompt.
pub(crate) struct Rendered {
    /// The text.
    pub(crate) text: String,
    /// How many bytes stand in front of the first variable: what every call shares with the next. `None` is all.
    pub(crate) shared: Option<usize>,
}

/// A variable that is longer than its route allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TooLong {
    /// The variable.
    pub(crate) variable: &'static str,
    /// The most characters that the route allows.
    pub(crate) limit: u64,
    /// The characters that it has.
    pub(crate) length: u64,
}

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
    pub(crate) fn render(&self, capabilities: Capabilities) -> Rendered {
        let mut rendered = Rendered {
            text: String::new(),
            shared: None,
        };
        self.write(self.template.segments, capabilities, &mut rendered);
        rendered
    }

    fn write(&self, segments: &[Segment], capabilities: Capabilities, to: &mut Rendered) {
        for segment in segments {
            match segment {
                Segment::Text(literal) => to.text.push_str(literal),
                Segment::Variable(name) => {
                    to.shared.get_or_insert(to.text.len());
                    if let Some(value) = self.input.get(*name) {
                        to.text.push_str(&written(value));
                    }
                }
                Segment::When {
                    capability,
                    present,
                    body,
                } if capabilities.has(*capability) == *present => {
                    self.write(body, capabilities, to);
                }
                Segment::When { .. } => {}
            }
        }
    }
}

/// Returns the first variable that is longer, as it is rendered, than its route allows.
pub(crate) fn too_long(
    limits: &'static [(&'static str, u64)],
    input: &Map<String, Value>,
) -> Option<TooLong> {
    limits.iter().find_map(|(variable, limit)| {
        let length = written(input.get(*variable)?).chars().count() as u64;
        (length > *limit).then_some(TooLong {
            variable,
            limit: *limit,
            length,
        })
    })
}

/// Returns a value as it is rendered: a string as it is, everything else as compact JSON.
pub(crate) fn written(value: &Value) -> Cow<'_, str> {
    match value {
        Value::String(text) => text.into(),
        other => other.to_string().into(),
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
        Bound::new(TEMPLATE, &input).map(|bound| bound.render(capabilities).text)
    }

    // W3: what no call can change, for this candidate.
    #[test]
    fn calls_share_what_stands_before_the_first_variable() {
        const WHEN: Segment = Segment::When {
            capability: Capability::JsonMode,
            present: true,
            body: &[Segment::Text("json "), Segment::Variable("a")],
        };
        let input = Map::from_iter([("a".to_owned(), json!("äö"))]);
        let shared = |segments, capabilities| {
            let bound = Bound::new(Template { segments }, &input).unwrap();
            bound.render(capabilities).shared
        };
        let plain = Capabilities::default();
        assert_eq!(shared(&[Segment::Text("ab")], plain), None);
        assert_eq!(shared(&[Segment::Variable("a")], plain), Some(0));
        let late = &[Segment::Text("ab"), WHEN, Segment::Variable("a")];
        assert_eq!(
            (shared(late, plain), shared(late, JSON)),
            (Some(2), Some(7))
        );
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

    // F: characters and not bytes, of what is written and not of what it says.
    #[test]
    fn a_value_is_as_long_as_it_is_rendered() {
        const LIMITS: &[(&str, u64)] = &[("a", 5), ("b", 5)];
        let too_long = |input: Value| match input {
            Value::Object(input) => too_long(LIMITS, &input),
            _ => panic!("the input is an object"),
        };
        let found = |variable, length| {
            Some(TooLong {
                variable,
                limit: 5,
                length,
            })
        };
        assert_eq!(too_long(json!({ "a": "äöüß🏗", "b": [1, 2] })), None);
        assert_eq!(too_long(json!({ "a": "\"\"\"\"\"", "b": null })), None);
        assert_eq!(too_long(json!({})), None);
        assert_eq!(too_long(json!({ "a": "123456" })), found("a", 6));
        assert_eq!(too_long(json!({ "a": "", "b": [1, 23] })), found("b", 6));
        assert_eq!(too_long(json!({ "b": false, "a": 123_456 })), found("a", 6));
    }

    #[test]
    fn a_missing_variable_is_named_even_in_a_branch_that_is_not_taken() {
        let input = json!({ "a": 1, "b": 2 });
        assert_eq!(rendered(input, Capabilities::default()), Err("c"));
    }
}
