//! What does a model answer on a route that declares tools?
//!
//! Either the route's output, or calls of tools for the caller to run. A call is checked against what the route
//! declares, and nothing here runs one.

use std::borrow::Cow;
use std::fmt;

use rig_spec::{Enforcement, Schema, Tool};
use serde::Serialize;
use serde_json::Value;

use crate::conform::{self, Rejected};
use crate::provider::Called;

/// The answer of a route with tools.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Turn<T> {
    /// The output; it conforms to the route's schema.
    Output(T),
    /// The model asks for these tools to be run. Nothing was run, and nothing was validated but the calls themselves.
    ToolCalls(Vec<ToolCall>),
}

/// A call of a tool that the route declares. Its `Debug` form does not show the arguments, which the model wrote.
#[derive(Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ToolCall {
    /// The provider's id of the call; empty where it gave none.
    pub id: String,
    /// The tool's name.
    pub name: &'static str,
    /// The arguments; they conform to the tool's parameters.
    pub arguments: Value,
}

impl fmt::Debug for ToolCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolCall")
            .field("id", &self.id)
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

/// Why an answer's tool calls are none.
#[derive(Debug, PartialEq)]
pub(crate) enum Unusable {
    /// The answer is at fault; the message holds no word of it.
    Answer(String),
    /// The tool's parameters are no schema, for this reason.
    Schema(String),
}

/// Returns the calls of an answer, if the route declares every tool and the arguments conform to its parameters.
pub(crate) fn gate(called: &[Called], tools: &'static [Tool]) -> Result<Vec<ToolCall>, Unusable> {
    let one = |call: &Called| {
        let Some(tool) = tools.iter().find(|tool| tool.name == call.name) else {
            let message = "the answer calls a tool that the route does not declare";
            return Err(Unusable::Answer(message.to_owned()));
        };
        Ok(ToolCall {
            id: call.id.clone(),
            name: tool.name,
            arguments: arguments(&tool.parameters, tool.name, &call.arguments)?,
        })
    };
    called.iter().map(one).collect()
}

fn arguments(parameters: &'static Schema, name: &str, text: &str) -> Result<Value, Unusable> {
    let text = argument_text(text);
    let any = conform::hold::<Value>;
    match conform::gate(Some(parameters), Enforcement::Coached, any, &text) {
        Ok(held) => Ok(held.into().expect("it was read into any JSON value")),
        Err(Rejected::Answer(answer)) => Err(Unusable::Answer(format!(
            "in a call of the tool `{name}`, {}",
            answer.message
        ))),
        Err(Rejected::Schema(reason)) => Err(Unusable::Schema(reason)),
    }
}

/// Returns the JSON text of arguments. Some hosts write it as a JSON string once more, and none at all for a tool
/// without parameters.
pub(crate) fn argument_text(text: &str) -> Cow<'_, str> {
    let text = match serde_json::from_str(text) {
        Ok(inner) => Cow::Owned(inner),
        Err(_) => Cow::Borrowed(text),
    };
    if text.trim().is_empty() {
        "{}".into()
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::conform::tests::compiled;

    fn tools() -> &'static [Tool] {
        let tool = |name, schema| Tool {
            name,
            description: "Does something.",
            parameters: *compiled(schema),
        };
        let id = r#"{"type":"object","required":["id"],"properties":{"id":{"type":"integer"}}}"#;
        let tools = [tool("lookup", id), tool("now", r#"{"type":"object"}"#)];
        Box::leak(Box::new(tools))
    }

    fn of(name: &str, arguments: &str) -> Result<Value, Unusable> {
        let call = Called {
            id: "c1".to_owned(),
            name: name.to_owned(),
            arguments: arguments.to_owned(),
        };
        gate(&[call], tools()).map(|calls| calls[0].arguments.clone())
    }

    #[test]
    fn arguments_are_read_as_hosts_write_them() {
        for text in ["", " \n", "{}", r#""{}""#, r#""""#] {
            assert_eq!(of("now", text), Ok(json!({})), "{text}");
        }
        for text in [r#"{"id": 7}"#, r#""{\"id\": 7}""#, r#"{"id": 7.0}"#] {
            assert_eq!(of("lookup", text), Ok(json!({ "id": 7 })), "{text}");
        }
    }

    // L1, K5: what the route does not declare or allow is no call, and the message quotes nothing.
    #[test]
    fn calls_that_do_not_conform_are_named_without_a_word_of_them() {
        let faults = [
            of("walrus", "{}"),
            of("", "{}"),
            of("lookup", ""),
            of("lookup", r#"{"id": "walrus"}"#),
            of("lookup", r#"{"id": 7, "walr"#),
            of("lookup", "[1]"),
            of("now", "7"),
        ];
        for fault in faults {
            let Err(Unusable::Answer(message)) = fault else {
                panic!("{fault:?}")
            };
            assert!(!message.contains("walr"), "{message}");
        }
        assert_eq!(
            of("lookup", r#"{"id": "x"}"#),
            Err(Unusable::Answer(
                "in a call of the tool `lookup`, the answer misses the schema at `/id` (type)"
                    .to_owned()
            ))
        );
    }

    #[test]
    fn debug_shows_no_arguments() {
        let call = ToolCall {
            id: "c".to_owned(),
            name: "now",
            arguments: json!({ "walrus": 1 }),
        };
        assert!(!format!("{call:?}").contains("walrus"));
    }
}
