//! In which form is a provider sent a route's schema, and how is a model told of it?
//!
//! The compiler decides both. What it decided is data: the text that is sent, and what has to be undone in the answer.

/// A route's schema in the native dialect of a provider, and the way back.
#[derive(Debug, PartialEq, Eq)]
pub struct Lowered {
    /// What is sent, as compact JSON; `None` sends the route's schema as it is written.
    pub json: Option<&'static str>,
    /// The property that holds the answer, where the dialect takes only objects and the schema is about something
    /// else.
    pub wrapped_in: Option<&'static str>,
    /// What is to be undone in an answer, by the shapes of its parts; the first is the whole answer's.
    pub shapes: &'static [Shape],
}

/// What is to be undone in one part of an answer.
#[derive(Debug, PartialEq, Eq)]
pub struct Shape {
    /// The properties whose null stands for absent.
    pub absent: &'static [&'static str],
    /// The parts in which there is more to undo, each with the place of its shape among the schema's.
    pub within: &'static [(Step, usize)],
}

/// A way into a part of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Into a property.
    Property(&'static str),
    /// Into each item.
    Items,
}

impl Lowered {
    /// The route's schema as it is written, with nothing to undo.
    pub const AS_WRITTEN: Self = Self {
        json: None,
        wrapped_in: None,
        shapes: &[],
    };

    /// Returns whether there is anything to undo in an answer.
    #[must_use]
    pub const fn changes_answers(&self) -> bool {
        self.wrapped_in.is_some() || !self.shapes.is_empty()
    }
}

/// Returns what a model is told about the form of its answer: the schema, then an answer's skeleton where there is
/// one. Without a schema any JSON value will do.
#[must_use]
pub fn coaching(schema: Option<(&str, &str)>) -> String {
    const FORM: &str = "Answer with exactly one JSON value: no prose, no code fence.";
    match schema {
        Some((json, "")) => format!("{FORM}\nIt has to conform to this JSON Schema:\n{json}"),
        Some((json, skeleton)) => format!(
            "{FORM}\nIt has to conform to this JSON Schema:\n{json}\nIt looks like this, with your values in place of these:\n{skeleton}"
        ),
        None => FORM.to_owned(),
    }
}
