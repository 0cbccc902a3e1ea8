//! What does a provider's native dialect make of a schema?
//!
//! A pure function from the file's schema to the one that is sent, with the way back and a receipt. A keyword that the
//! dialect cannot enforce leaves the request; where it can be said in a few words, those go into the `description` of
//! its place. The conformance gate holds the file's schema in any case, so a lowering may be wider than the file, and
//! where a dialect demands closed objects it is narrower. What neither form can say is an [`Obstacle`].
//!
//! **Invariant:** what conforms to the lowered schema, mapped back, conforms to the file's, or fails a keyword of the
//! receipt.

#[cfg(test)]
mod checker;
mod dialect;
mod flatten;
#[cfg(test)]
mod instances;
#[cfg(test)]
mod laws;
mod limits;
mod merge;
mod object;
mod place;
mod shapes;
mod skeleton;
#[cfg(test)]
mod tests;
mod tree;
mod values;
mod words;

use std::collections::{HashMap, HashSet};

use rig_spec::NativeSchema;

use crate::node::{Entry, Kind, Node};
use crate::source::Span;
use dialect::{Dialect, Recursion};
use flatten::Reader;
use tree::{Low, Value};

pub(crate) use shapes::{Shape, Step};
pub(crate) use skeleton::skeleton;

/// A schema in a provider's dialect.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lowered {
    /// What is sent, as compact JSON; `None` sends the file's schema as it is written.
    pub(crate) json: Option<String>,
    /// The property that holds the answer, where the dialect wants an object and the file says something else.
    pub(crate) wrapped_in: Option<String>,
    /// Where null stands for absent, by the shapes of an answer; the first is the whole answer's.
    pub(crate) shapes: Vec<Shape>,
    /// What the dialect does not hold as the file says it. What is not in here is enforced there.
    pub(crate) receipt: Vec<Note>,
}

/// A keyword that a dialect does not hold as the file says it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Note {
    /// The place of its schema, as a JSON pointer.
    pub(crate) pointer: String,
    pub(crate) keyword: String,
    pub(crate) span: Span,
    pub(crate) fate: Fate,
    /// Whether neither words of ours nor a description of the file tell the model of it.
    pub(crate) untold: bool,
}

/// What became of a keyword.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Fate {
    /// The model is told in words, and the gate holds it.
    Coached,
    /// Only the gate holds it.
    OnlyHere,
    /// The dialect allows less than the file.
    Narrower,
}

/// A schema in the dialects of a route's candidates.
#[derive(Clone, Debug, Default)]
pub(crate) struct Forms(Vec<(NativeSchema, Result<Lowered, Obstacle>)>);

impl Forms {
    /// Returns the schema in these dialects.
    pub(crate) fn of(kinds: impl Iterator<Item = NativeSchema>, root: &Node) -> Self {
        let mut forms: Vec<(NativeSchema, _)> = Vec::new();
        for kind in kinds {
            if forms.iter().all(|(known, _)| *known != kind) {
                forms.push((kind, lower(kind, root)));
            }
        }
        Self(forms)
    }

    /// Returns the schema in a dialect; `None` where no candidate speaks it.
    pub(crate) fn get(&self, kind: NativeSchema) -> Option<Result<&Lowered, &Obstacle>> {
        let found = self.0.iter().find(|(known, _)| *known == kind);
        found.map(|(_, form)| form.as_ref())
    }

    /// Returns the forms that there are.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (NativeSchema, &Lowered)> {
        let forms = self.0.iter();
        forms.filter_map(|(kind, form)| Some((*kind, form.as_ref().ok()?)))
    }
}

impl Lowered {
    /// Returns whether the same is sent, and the way back is the same.
    pub(crate) fn sends_as(&self, other: &Self) -> bool {
        (&self.json, &self.wrapped_in, &self.shapes)
            == (&other.json, &other.wrapped_in, &other.shapes)
    }

    /// Returns whether the file's schema is sent as it is written, and answers are what they look like.
    pub(crate) fn is_as_written(&self) -> bool {
        self.json.is_none()
    }
}

/// What keeps a provider from enforcing a schema.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Obstacle {
    pub(crate) span: Span,
    pub(crate) pointer: String,
    pub(crate) reason: String,
}

impl Obstacle {
    fn new(span: Span, at: &str, reason: impl Into<String>) -> Self {
        Self {
            span,
            pointer: shown(at),
            reason: reason.into(),
        }
    }
}

/// Returns a pointer as it is shown.
fn shown(at: &str) -> String {
    if at.is_empty() { "/" } else { at }.to_owned()
}

/// Returns what is sent in a provider's dialect.
///
/// # Errors
///
/// Returns the first thing in the schema that the dialect has no form for.
pub(crate) fn lower(kind: NativeSchema, root: &Node) -> Result<Lowered, Obstacle> {
    let Some(dialect) = Dialect::of(kind) else {
        return Ok(Lowered::default());
    };
    let lowering = Lowering {
        dialect,
        root,
        reader: Reader::new(root),
        definitions: Vec::new(),
        known: HashMap::new(),
        names: HashSet::new(),
        receipt: Vec::new(),
    };
    lowering.whole()
}

/// A lowering under way.
struct Lowering<'a> {
    dialect: &'static Dialect,
    root: &'a Node,
    reader: Reader<'a>,
    /// What references point at, in the order in which they were met.
    definitions: Vec<Definition<'a>>,
    /// How targets are referred to, by their addresses.
    known: HashMap<usize, String>,
    names: HashSet<String>,
    receipt: Vec<Note>,
}

/// What a reference points at.
struct Definition<'a> {
    name: String,
    pointer: String,
    target: &'a Node,
    low: Option<Low>,
}

impl<'a> Lowering<'a> {
    fn whole(mut self) -> Result<Lowered, Obstacle> {
        let (root, pointer) = self.followed()?;
        let wraps = self.dialect.object_root && !self.is_object(root)?;
        // What refers to the root can say so, where that is no circle too many.
        if !wraps && self.dialect.recursion == Recursion::Anywhere {
            let address = std::ptr::from_ref(root) as usize;
            self.known.insert(address, "#".to_owned());
        }
        let low = self.place(root, &pointer)?;
        let Some(mut low) = low else {
            return Err(Obstacle::new(root.span, &pointer, "nothing conforms to it"));
        };
        // A definition may name further ones.
        let mut next = 0;
        while next < self.definitions.len() {
            let Definition {
                target, pointer, ..
            } = &self.definitions[next];
            let (target, pointer) = (*target, pointer.clone());
            let Some(lowered) = self.place(target, &pointer)? else {
                return Err(Obstacle::new(
                    target.span,
                    &pointer,
                    "nothing conforms to it",
                ));
            };
            self.definitions[next].low = Some(lowered);
            next += 1;
        }
        let wrapped_in = wraps.then(|| wrapper(&low));
        if let Some(name) = &wrapped_in {
            let mut outer = Low::of_type(low.span, "object");
            outer.put("properties", Value::Map(vec![(name.clone(), low)]));
            let only = Node {
                span: outer.span,
                kind: Kind::String(name.clone()),
            };
            outer.put("required", Value::Data(Kind::List(vec![only])));
            outer.put("additionalProperties", Value::Data(Kind::Bool(false)));
            low = outer;
        }
        let definitions = std::mem::take(&mut self.definitions);
        let pointers: HashMap<_, _> = definitions
            .iter()
            .map(|definition| (definition.name.clone(), definition.pointer.clone()))
            .collect();
        let mut definitions: Vec<_> = definitions
            .into_iter()
            .filter_map(|definition| Some((definition.name, definition.low?)))
            .collect();
        // What only a place referred to that nothing conforms to is not sent.
        let reached = limits::reached(&low, &definitions);
        definitions.retain(|(name, _)| reached.contains(name));
        self.recursion(&low, &definitions, &pointers)?;
        limits::check(&self.dialect.limits, &low, &definitions, root)?;
        let inner = match &wrapped_in {
            Some(_) => &low.properties()[0].1,
            None => &low,
        };
        // Only where absence is said as null is there something to tell apart.
        let shapes = match self.dialect.all_required {
            true => shapes::shapes(inner, &low, &definitions),
            false => Ok(Vec::new()),
        };
        let shapes = shapes.map_err(|found| Obstacle::new(found.span, &pointer, found.reason))?;
        if !definitions.is_empty() {
            low.put("$defs", Value::Map(definitions));
        }
        let mut seen = HashSet::new();
        let fresh =
            |note: &Note| seen.insert((note.pointer.clone(), note.keyword.clone(), note.fate));
        self.receipt.retain(fresh);
        let json = low.to_node().to_json();
        Ok(Lowered {
            json: (json != self.root.to_json()).then_some(json),
            wrapped_in,
            shapes,
            receipt: self.receipt,
        })
    }

    /// Returns the root, or what it points at and nothing else.
    fn followed(&self) -> Result<(&'a Node, String), Obstacle> {
        let (mut node, mut pointer) = (self.root, String::new());
        // No chain is longer than this without being a circle.
        for _ in 0..64 {
            let Some(reference) = node.get("$ref") else {
                return Ok((node, pointer));
            };
            let says = |entry: &Entry| entry.key != "$ref" && !merge::is_annotation(&entry.key);
            if node.entries().iter().any(says) && !self.reader.old_draft {
                return Ok((node, pointer));
            }
            let target = self.reader.target(reference, &pointer)?;
            pointer = pointer_of(reference);
            node = target;
        }
        Err(Obstacle::new(
            node.span,
            &pointer,
            "its root refers to itself",
        ))
    }

    /// Returns whether a place is of type `object` and no choice.
    fn is_object(&mut self, node: &Node) -> Result<bool, Obstacle> {
        let flat = self.reader.flat(node, "")?;
        Ok(flat.is_some_and(|flat| {
            let kind = flat.get("type");
            let is_choice = flat.get("anyOf").or(flat.get("oneOf")).is_some();
            let only = |kind: &Node| match kind.items() {
                [only] => only.as_str() == Some("object"),
                _ => kind.as_str() == Some("object"),
            };
            let inferred = || flat.get("properties").is_some() && flat.get("enum").is_none();
            !is_choice && kind.map_or_else(inferred, only)
        }))
    }

    /// Returns the reference by which a target is met in the lowered schema.
    fn reference(&mut self, reference: &Node, at: &str) -> Result<String, Obstacle> {
        let target = self.reader.target(reference, at)?;
        let address = std::ptr::from_ref(target) as usize;
        if let Some(known) = self.known.get(&address) {
            return Ok(known.clone());
        }
        let pointer = pointer_of(reference);
        let last = pointer.rsplit('/').next().filter(|last| !last.is_empty());
        let plain = |c: char| match c {
            c if c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.') => c,
            _ => '_',
        };
        let mut name: String = last.unwrap_or("root").chars().map(plain).collect();
        while !self.names.insert(name.clone()) {
            name.push('_');
        }
        let out = format!("#/$defs/{name}");
        self.known.insert(address, out.clone());
        self.definitions.push(Definition {
            name,
            pointer,
            target,
            low: None,
        });
        Ok(out)
    }

    fn note(&mut self, at: &str, entry: &Entry, fate: Fate) {
        self.note_at(at, &entry.key, entry.key_span, fate);
    }

    fn note_at(&mut self, at: &str, keyword: &str, span: Span, fate: Fate) {
        self.receipt.push(Note {
            pointer: shown(at),
            keyword: keyword.to_owned(),
            span,
            fate,
            untold: false,
        });
    }

    /// Reports a circle of references that the dialect does not take.
    fn recursion(
        &self,
        root: &Low,
        definitions: &[(String, Low)],
        pointers: &HashMap<String, String>,
    ) -> Result<(), Obstacle> {
        let reason = match self.dialect.recursion {
            Recursion::Anywhere => return Ok(()),
            Recursion::Optional => {
                "it may be recursive only within a property that is not required"
            }
            Recursion::Nowhere => "it may not be recursive",
        };
        let skips_optional = self.dialect.recursion == Recursion::Optional;
        match limits::circle(root, definitions, skips_optional) {
            Some((name, span)) => {
                let pointer = pointers.get(&name).map_or("", String::as_str);
                Err(Obstacle::new(span, pointer, reason))
            }
            None => Ok(()),
        }
    }
}

/// Returns a name for the property that holds the answer.
fn wrapper(low: &Low) -> String {
    let mut name = "answer".to_owned();
    let taken = |name: &String| {
        let branches = low.branches().iter().chain([low]);
        let mut keys = branches.flat_map(Low::properties).map(|(key, _)| key);
        keys.any(|key| key == name)
    };
    while taken(&name) {
        name.push('_');
    }
    name
}

/// Returns the pointer that a reference names.
fn pointer_of(reference: &Node) -> String {
    let text = reference.as_str().unwrap_or("");
    text.trim_start_matches('#').to_owned()
}
