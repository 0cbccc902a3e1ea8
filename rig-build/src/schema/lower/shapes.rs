//! Where in an answer does null stand for absent?
//!
//! An answer's shape at a place is the set of lowered schemas that may describe it there: through references and
//! choices there may be several. Sets that were met before are met again, so recursion ends and is walked as often as
//! an answer has levels.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::tree::{Low, Value};
use crate::source::Span;

/// What is to be undone in an answer at one place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Shape {
    /// The properties whose null stands for absent.
    pub(crate) absent: Vec<String>,
    /// Where there is more to undo: the way there, and the shape of what is there.
    pub(crate) within: Vec<(Step, usize)>,
}

/// A way into an answer.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Step {
    /// Into a property.
    Property(String),
    /// Into each item.
    Items,
}

/// A null that cannot be read.
#[derive(Debug)]
pub(super) struct Unclear {
    pub(super) span: Span,
    pub(super) reason: String,
}

/// How many members all sets have together at most.
const MOST_MEMBERS: usize = 1 << 20;

/// Returns the shapes of an answer in which there is something to undo, the whole answer's first; none where there is
/// nothing.
pub(super) fn shapes(
    inner: &Low,
    root: &Low,
    definitions: &[(String, Low)],
) -> Result<Vec<Shape>, Unclear> {
    let mut finder = Finder {
        definitions: definitions
            .iter()
            .map(|(name, low)| (name.as_str(), low))
            .collect(),
        root,
        known: HashMap::new(),
        sets: Vec::new(),
        members: 0,
    };
    let first = finder.closed(&[inner]);
    finder.id(first);
    let mut shapes = Vec::new();
    while let Some(set) = finder.sets.get(shapes.len()).cloned() {
        if finder.members > MOST_MEMBERS {
            let reason = "its choices overlap in more ways than can be told apart".to_owned();
            return Err(Unclear {
                span: root.span,
                reason,
            });
        }
        shapes.push(finder.shape(&set)?);
    }
    Ok(useful(shapes))
}

struct Finder<'a> {
    definitions: HashMap<&'a str, &'a Low>,
    root: &'a Low,
    /// The sets by the addresses of their members.
    known: HashMap<BTreeSet<usize>, usize>,
    sets: Vec<Vec<&'a Low>>,
    members: usize,
}

impl<'a> Finder<'a> {
    /// Returns the schemas that describe a value which these do, references and choices followed.
    fn closed(&self, from: &[&'a Low]) -> Vec<&'a Low> {
        let mut out: Vec<&'a Low> = Vec::new();
        let mut next: Vec<&'a Low> = from.to_vec();
        let mut seen = BTreeSet::new();
        while let Some(low) = next.pop() {
            if !seen.insert(address(low)) {
                continue;
            }
            match low.text("$ref") {
                Some("#") => next.push(self.root),
                Some(text) => {
                    let name = text.strip_prefix("#/$defs/").unwrap_or(text);
                    next.extend(self.definitions.get(name).copied());
                }
                // Whatever has no parts has nothing to undo in them.
                None if low.get("properties").or(low.get("items")).is_some() => out.push(low),
                None => {}
            }
            next.extend(low.branches());
        }
        out
    }

    fn id(&mut self, set: Vec<&'a Low>) -> usize {
        let key = set.iter().map(|low| address(low)).collect();
        let fresh = self.sets.len();
        let id = *self.known.entry(key).or_insert(fresh);
        if id == fresh {
            self.members += set.len();
            self.sets.push(set);
        }
        id
    }

    fn shape(&mut self, set: &[&'a Low]) -> Result<Shape, Unclear> {
        let mut shape = Shape::default();
        let mut properties: Vec<(&'a str, Vec<&'a Low>)> = Vec::new();
        let mut places: HashMap<&'a str, usize> = HashMap::new();
        let mut items = Vec::new();
        for low in set {
            for (name, property) in low.properties() {
                let at = *places.entry(name).or_insert_with(|| {
                    properties.push((name, Vec::new()));
                    properties.len() - 1
                });
                properties[at].1.push(property);
            }
            if let Some(Value::One(item)) = low.get("items") {
                items.push(&**item);
            }
        }
        let absent: HashMap<&str, Span> = set
            .iter()
            .flat_map(|low| low.absent.iter().map(|name| (name.as_str(), low.span)))
            .collect();
        let nullable: HashSet<&str> = set
            .iter()
            .flat_map(|low| low.nullable.iter().map(String::as_str))
            .collect();
        for (name, lows) in properties {
            if let Some(span) = absent.get(name) {
                if nullable.contains(name) {
                    return Err(Unclear {
                        span: *span,
                        reason: format!(
                            "`{name}` may be null in one branch and be absent in another, and a required null could be either"
                        ),
                    });
                }
                shape.absent.push(name.to_owned());
            }
            let next = self.closed(&lows);
            let next = self.id(next);
            shape.within.push((Step::Property(name.to_owned()), next));
        }
        if !items.is_empty() {
            let next = self.closed(&items);
            let next = self.id(next);
            shape.within.push((Step::Items, next));
        }
        Ok(shape)
    }
}

fn address(low: &Low) -> usize {
    std::ptr::from_ref(low) as usize
}

/// Keeps the shapes from which something to undo can be reached.
fn useful(shapes: Vec<Shape>) -> Vec<Shape> {
    let mut is_useful: Vec<bool> = shapes
        .iter()
        .map(|shape| !shape.absent.is_empty())
        .collect();
    let mut came_from = vec![Vec::new(); shapes.len()];
    for (from, shape) in shapes.iter().enumerate() {
        for (_, to) in &shape.within {
            came_from[*to].push(from);
        }
    }
    let mut next: Vec<usize> = (0..shapes.len()).filter(|id| is_useful[*id]).collect();
    while let Some(id) = next.pop() {
        for from in &came_from[id] {
            if !std::mem::replace(&mut is_useful[*from], true) {
                next.push(*from);
            }
        }
    }
    if !is_useful.first().copied().unwrap_or(false) {
        return Vec::new();
    }
    let mut fresh = vec![0; shapes.len()];
    let mut count = 0;
    for (id, useful) in is_useful.iter().enumerate() {
        fresh[id] = count;
        count += usize::from(*useful);
    }
    let kept = shapes
        .into_iter()
        .zip(&is_useful)
        .filter(|(_, useful)| **useful);
    kept.map(|(shape, _)| Shape {
        absent: shape.absent,
        within: shape
            .within
            .into_iter()
            .filter(|(_, to)| is_useful[*to])
            .map(|(step, to)| (step, fresh[to]))
            .collect(),
    })
    .collect()
}
