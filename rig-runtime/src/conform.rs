//! Does an answer conform to the route's schema?
//!
//! The conformance gate: text in, the one conformant answer out in the type of the call, or what is wrong with it.
//! `read` judges while the type is built, and is all that a good answer meets. Only for a refused one is there a
//! second look: `judge` collects all that is wrong with the whole value, for the repair prompt. Both go by one
//! compiled form, which the route compiler made; `format` is an annotation in it.

mod judge;
mod problem;
mod read;
mod ready;
mod rules;
mod sample;

use std::any::Any;
use std::borrow::Cow;
use std::fmt::{self, Write as _};
use std::sync::{PoisonError, RwLock};

use rig_spec::{Enforcement, Lowered, Schema};
use serde_json::Value;

use self::problem::{Place as At, Problem};
pub(crate) use self::read::read;
pub use self::read::{
    Entry, Fields, ItemShape, List, Object, Place, ReadJson, Shape, ShapeOf, Union, read_union,
    shape_of_branch, shape_of_field, shape_of_items, shape_of_optional, shape_of_values,
};
pub(crate) use self::ready::Ready;
use crate::answer::{self, Unreadable};
use crate::json::{Fault, Reader};
use crate::undo::undo;

/// A conformant answer, in the output type of the call.
pub(crate) struct Held(Box<dyn Any + Send>);

/// Reads an answer into the output type of the call, which is the only thing about it that the ladder knows, and judges
/// it unless it was judged before.
pub(crate) type Hold = fn(Option<&Ready>, bool, &str) -> Result<Held, Fault>;

/// An answer that the gate did not let through.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Nonconformant {
    /// The answer. It may only go into a repair prompt.
    pub(crate) text: String,
    /// What is wrong with it, for the model. It may quote the answer, so it may only go into a repair prompt.
    pub(crate) problems: String,
    /// What is wrong with it, for errors: places and keywords, no word of the answer.
    pub(crate) message: String,
}

/// Why the gate did not let an answer through.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Rejected {
    /// The answer is at fault.
    Answer(Nonconformant),
    /// The route's schema is not one, for this reason.
    Schema(String),
}

/// Returns the answer that conforms to the schema, in the route's output type.
///
/// The answer is in the form that its candidate was asked for, and is judged in the route's own.
pub(crate) fn gate(
    schema: Option<&'static Schema>,
    asked: Enforcement,
    hold: Hold,
    text: &str,
) -> Result<Held, Rejected> {
    let ready = schema.map(ready).transpose().map_err(Rejected::Schema)?;
    let lowered = match asked {
        Enforcement::Native(lowered) if lowered.changes_answers() => Some(lowered),
        Enforcement::Native(_) | Enforcement::JsonMode | Enforcement::Coached => None,
    };
    // Nearly every answer is the JSON value and nothing else: it is read once.
    if lowered.is_none()
        && let Ok(held) = hold(ready, false, text)
    {
        return Ok(held);
    }
    let value_of = |json: &str| Reader::new(json).value(ready.is_some());
    let conforms = ready.map(|ready| {
        move |json: &str| {
            let value = meant(lowered, json).and_then(|json| value_of(&json));
            value.is_ok_and(|value| judge::is_good(ready, &value))
        }
    });
    let conforms = conforms
        .as_ref()
        .map(|conforms| conforms as &dyn Fn(&str) -> bool);
    let found = answer::read(text).and_then(|found| found.the_one(conforms));
    let found = found.map_err(|fault| unreadable(text, &fault))?;
    let no_json = |fault: Fault| unreadable(text, &Unreadable::NoJson(fault.describe(found)));
    let json = meant(lowered, found).map_err(no_json)?;
    let is_other = lowered.is_some() || found.len() < text.trim_ascii().len();
    if is_other && let Ok(held) = hold(ready, false, &json) {
        return Ok(held);
    }
    let value = value_of(&json).map_err(no_json)?;
    if let (Some(schema), Some(ready)) = (schema, ready) {
        let problems = judge::problems(ready, &value, MOST_ERRORS + 1);
        if !problems.is_empty() {
            return Err(misses(schema, text, &problems));
        }
    }
    // What conforms was refused because its type cannot hold it. Should the two ways to judge ever disagree, the
    // one that looks at the whole value is right.
    hold(ready, true, &json).map_err(|_| cannot_hold(text, &value))
}

/// Returns what an answer means in the route's own schema.
fn meant<'t>(lowered: Option<&Lowered>, json: &'t str) -> Result<Cow<'t, str>, Fault> {
    match lowered {
        Some(lowered) => undo(lowered, json),
        None => Ok(Cow::Borrowed(json)),
    }
}

/// Reads an answer into a type.
pub(crate) fn hold<T: ReadJson + Send + 'static>(
    ready: Option<&Ready>,
    is_judged: bool,
    text: &str,
) -> Result<Held, Fault> {
    read::<T>(ready, is_judged, text).map(|output| Held(Box::new(output)))
}

impl Held {
    /// Holds an answer that no gate has judged.
    pub(crate) fn unjudged<T: Send + 'static>(answer: T) -> Self {
        Self(Box::new(answer))
    }

    /// Returns the answer as it is held, if it is of this type.
    pub(crate) fn get<T: 'static>(&self) -> Option<&T> {
        self.0.downcast_ref()
    }

    /// Returns the answer, if it is of this type.
    pub(crate) fn into<T: 'static>(self) -> Option<T> {
        self.0.downcast().ok().map(|output| *output)
    }
}

impl fmt::Debug for Held {
    /// Outputs are in no debug form.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Held")
    }
}

/// Returns an answer that conforms to a schema, another one for another seed; `None` if none was found. Its texts are the
/// skeleton's where that knows better than the schema's rules.
pub(crate) fn sample(schema: &'static Schema, seed: u32) -> Option<Value> {
    let ready = ready(schema).ok()?;
    let hint = serde_json::from_str(schema.skeleton).unwrap_or_default();
    (0..8).find_map(|again| {
        sample::Sampler::new(ready, u64::from(seed) + (again << 32)).answer(&hint)
    })
}

/// Reads a JSON value into a type and judges it on the way, as the gate does with an answer; `None` if it is refused.
#[doc(hidden)]
#[must_use]
pub fn read_checked<T: ReadJson>(schema: &'static Schema, json: &str) -> Option<T> {
    read(Some(ready(schema).ok()?), false, json).ok()
}

/// Judges a JSON value as a whole, as the gate does with an answer that was refused; returns what is wrong with it,
/// or `None` if it is no JSON.
#[doc(hidden)]
#[must_use]
pub fn judge_whole(schema: &'static Schema, json: &str) -> Option<Vec<String>> {
    let mut reader = Reader::new(json);
    let value = reader.value(true).ok()?;
    reader.end().ok()?;
    let problems = judge::problems(ready(schema).ok()?, &value, MOST_ERRORS);
    Some(problems.into_iter().map(|problem| problem.what).collect())
}

/// What a schema lets through and its type does not: as a rule an integer without bounds beyond 64 bits.
fn cannot_hold(text: &str, value: &Value) -> Rejected {
    let (problem, message) = match large_integer(value, &At::Top) {
        Some(pointer) => (
            format!("{pointer}: the integer does not fit into 64 bits"),
            "the answer holds an integer beyond 64 bits",
        ),
        None => {
            let message = "the answer holds a value that the route's output type does not";
            (message.to_owned(), message)
        }
    };
    Rejected::Answer(Nonconformant {
        text: text.to_owned(),
        problems: format!("- {}", shortened(&problem, LONGEST_LINE)),
        message: message.to_owned(),
    })
}

/// Returns where an integer is that 64 bits do not hold.
fn large_integer(value: &Value, place: &At<'_>) -> Option<String> {
    const TWO_TO_63: f64 = 9_223_372_036_854_775_808.0;
    match value {
        Value::Number(number) => {
            let whole = number.as_f64().filter(|float| float.fract() == 0.0);
            let is_large = whole.is_some_and(|float| float.abs() >= TWO_TO_63);
            (is_large && number.as_i64().is_none()).then(|| shown(&place.pointer()).to_owned())
        }
        Value::Array(items) => {
            let mut items = items.iter().enumerate();
            items.find_map(|(at, item)| large_integer(item, &At::Item(place, at)))
        }
        Value::Object(entries) => {
            let mut entries = entries.iter();
            entries.find_map(|(key, value)| large_integer(value, &At::Key(place, key)))
        }
        Value::Null | Value::Bool(_) | Value::String(_) => None,
    }
}

/// Returns a JSON pointer as it is shown.
fn shown(pointer: &str) -> &str {
    match pointer {
        "" => "the value",
        pointer => pointer,
    }
}

/// How many errors a summary lists.
const MOST_ERRORS: usize = 8;
/// The longest line of a summary, in characters.
const LONGEST_LINE: usize = 240;

fn unreadable(text: &str, fault: &Unreadable) -> Rejected {
    let problems = match fault {
        Unreadable::RepeatedKey(which) => which.clone(),
        Unreadable::NoJson(_) | Unreadable::Several | Unreadable::UnclosedReasoning => {
            fault.to_string()
        }
    };
    Rejected::Answer(Nonconformant {
        text: text.to_owned(),
        problems: format!("- {}", shortened(&problems, LONGEST_LINE)),
        message: fault.to_string(),
    })
}

fn misses(schema: &Schema, text: &str, found: &[Problem]) -> Rejected {
    let mut problems = String::new();
    let mut places: Vec<String> = Vec::new();
    for problem in found.iter().take(MOST_ERRORS) {
        let line = format!("{}: {}", shown(&problem.pointer), problem.what);
        // Writing to a `String` cannot fail.
        let _ = writeln!(problems, "- {}", shortened(&line, LONGEST_LINE));
        let place = place(schema, problem);
        if !places.contains(&place) {
            places.push(place);
        }
    }
    let more = if found.len() > MOST_ERRORS {
        ", and more"
    } else {
        ""
    };
    Rejected::Answer(Nonconformant {
        text: text.to_owned(),
        problems: problems.trim_end().to_owned(),
        message: format!(
            "the answer misses the schema at {}{more}",
            places.join(", ")
        ),
    })
}

/// Says where an answer is wrong without a word of it: names that the schema does not know become `*`.
fn place(schema: &Schema, problem: &Problem) -> String {
    let keyword = problem.keyword;
    let known = |segment: &str| {
        segment.bytes().all(|byte| byte.is_ascii_digit())
            || schema.json.contains(&format!(
                "{:?}",
                segment.replace("~1", "/").replace("~0", "~")
            ))
    };
    if problem.pointer.is_empty() {
        return format!("the top level ({keyword})");
    }
    let segments = problem.pointer.split('/').skip(1);
    let shown: String = segments
        .map(|segment| format!("/{}", if known(segment) { segment } else { "*" }))
        .collect();
    format!("`{shown}` ({keyword})")
}

fn shortened(text: &str, longest: usize) -> String {
    match text.char_indices().nth(longest) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// The schemas that were used so far, in the order of where their text lies in memory. They live as long as it does: as
/// long as the process.
static READY: RwLock<Vec<(Address, &'static Ready)>> = RwLock::new(Vec::new());

/// Where a text begins, and its length.
type Address = (usize, usize);

fn ready(schema: &'static Schema) -> Result<&'static Ready, String> {
    let address = (schema.gate.as_ptr() as usize, schema.gate.len());
    let find = |all: &[(Address, &'static Ready)]| all.binary_search_by_key(&address, |at| at.0);
    let known = READY.read().unwrap_or_else(PoisonError::into_inner);
    if let Ok(at) = find(&known) {
        return Ok(known[at].1);
    }
    drop(known);
    let fresh = Ready::new(schema.gate)?;
    let mut all = READY.write().unwrap_or_else(PoisonError::into_inner);
    let at = match find(&all) {
        Ok(at) => at,
        Err(at) => {
            all.insert(at, (address, Box::leak(Box::new(fresh))));
            at
        }
    };
    Ok(all[at].1)
}

#[cfg(test)]
pub(crate) mod tests;
