//! What is wrong with an answer, and how is it said?

/// Something wrong with an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Problem {
    /// Where, as a JSON pointer; made of the answer's words.
    pub(crate) pointer: String,
    /// By which keyword of the schema.
    pub(crate) keyword: &'static str,
    /// What was expected and what was found; quotes the answer.
    pub(crate) what: String,
}

/// A place in an answer.
pub(super) enum Place<'p> {
    /// The answer itself.
    Top,
    /// The value of a key.
    Key(&'p Place<'p>, &'p str),
    /// An item of a list.
    Item(&'p Place<'p>, usize),
}

impl Place<'_> {
    /// Returns the JSON pointer.
    pub(super) fn pointer(&self) -> String {
        match self {
            Self::Top => String::new(),
            Self::Key(above, key) => {
                let key = key.replace('~', "~0").replace('/', "~1");
                format!("{}/{key}", above.pointer())
            }
            Self::Item(above, at) => format!("{}/{at}", above.pointer()),
        }
    }
}

/// Returns `a`, `a or b`, `a, b or c`.
pub(super) fn or(list: &[String]) -> String {
    match list {
        [] => String::new(),
        [one] => one.clone(),
        [others @ .., last] => format!("{} or {last}", others.join(", ")),
    }
}

/// Says that an object has keys that it may not have.
pub(super) fn unexpected(which: &str, keys: &[&str]) -> String {
    let verb = if keys.len() == 1 { "was" } else { "were" };
    let quoted: Vec<_> = keys.iter().map(|key| format!("'{key}'")).collect();
    format!(
        "{which} properties are not allowed ({} {verb} unexpected)",
        quoted.join(", ")
    )
}
