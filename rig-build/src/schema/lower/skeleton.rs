//! What does an answer look like, in its simplest form?
//!
//! A value for the eye of a model: every property, the first value of an enum, the first branch of a choice. It
//! conforms to the schema as far as that can be had without solving patterns and conditions.

use super::flatten::Reader;
use super::values::number;
use super::words::about;
use crate::node::{Entry, Kind, Node};
use crate::source::Span;

/// How many levels deep a skeleton goes at most.
const DEEPEST: usize = 12;
/// The most items that an array shows.
const MOST_ITEMS: usize = 8;
/// The longest placeholder, in characters.
const LONGEST: usize = 120;
/// The most values of a whole skeleton.
const MOST_VALUES: usize = 400;
/// From how many values on only what is required is shown.
const MANY_VALUES: usize = 60;

/// Returns a conformant answer's skeleton, as compact JSON; empty where none was found.
pub(crate) fn skeleton(root: &Node) -> String {
    let mut sketch = Sketch {
        reader: Reader::new(root),
        span: root.span,
        open: vec![std::ptr::from_ref(root) as usize],
        values: 0,
    };
    let value = sketch.value(root, 0, 0);
    value.map_or_else(String::new, |value| value.to_json())
}

struct Sketch<'a> {
    reader: Reader<'a>,
    span: Span,
    /// What is being sketched, outermost first: a reference to any of it is a circle.
    open: Vec<usize>,
    values: usize,
}

impl Sketch<'_> {
    /// Returns a value of a place, the `nth` where they have to differ; `None` where none was found.
    fn value(&mut self, node: &Node, nth: usize, depth: usize) -> Option<Node> {
        self.values += 1;
        if depth > DEEPEST || self.values > MOST_VALUES {
            return None;
        }
        let flat = self.reader.flat(node, "").ok()??;
        if let Some(reference) = flat.get("$ref") {
            let target = self.reader.target(reference, "").ok()?;
            let address = std::ptr::from_ref(target) as usize;
            if self.open.contains(&address) {
                return None;
            }
            self.open.push(address);
            let value = self.value(target, nth, depth + 1);
            self.open.pop();
            return value;
        }
        if let Some(choice) = flat.get("anyOf").or(flat.get("oneOf")) {
            let branches = choice.items();
            let is_null = |node: &&Node| node.get("type").and_then(Node::as_str) == Some("null");
            let first = branches.iter().filter(|branch| !is_null(branch));
            let mut all = first.chain(branches.iter().filter(is_null));
            return all.find_map(|branch| self.value(branch, nth, depth + 1));
        }
        if let Some(only) = flat.get("const") {
            return Some(only.clone());
        }
        if let Some(listed) = flat.get("enum") {
            let items = listed.items();
            return items.get(nth.min(items.len().saturating_sub(1))).cloned();
        }
        let kind = match kind_of(&flat) {
            "object" => return self.object(&flat, depth),
            "array" => return self.array(&flat, depth),
            "number" | "integer" => Kind::Number(a_number(&flat, nth)?),
            "boolean" => Kind::Bool(nth.is_multiple_of(2)),
            "null" => Kind::Null,
            _ => Kind::String(a_string(&flat, nth)),
        };
        Some(self.node(kind))
    }

    fn node(&self, kind: Kind) -> Node {
        Node {
            span: self.span,
            kind,
        }
    }

    fn object(&mut self, flat: &Node, depth: usize) -> Option<Node> {
        let required = flat.get("required").map(Node::items).unwrap_or_default();
        let is_required = |key: &str| required.iter().any(|name| name.as_str() == Some(key));
        let most = flat.get("maxProperties").and_then(number);
        let mut entries: Vec<Entry> = Vec::new();
        let named = flat
            .get("properties")
            .map(Node::entries)
            .unwrap_or_default();
        let mut room = most.map_or(f64::MAX, |most| most - required.len() as f64);
        for property in named {
            let needed = is_required(&property.key);
            if !needed && (room < 1.0 || self.values > MANY_VALUES) {
                continue;
            }
            match self.value(&property.value, 0, depth + 1) {
                Some(value) => entries.push(Entry {
                    value,
                    ..property.clone()
                }),
                None if needed => return None,
                None => continue,
            }
            room -= f64::from(u8::from(!needed));
        }
        let others = flat.get("additionalProperties");
        let least = flat.get("minProperties").and_then(number).unwrap_or(0.0);
        let described = others.is_some_and(|others| !others.entries().is_empty());
        let wanted = required.iter().filter_map(Node::as_str).map(str::to_owned);
        let mut wanted: Vec<String> = wanted
            .filter(|name| named.iter().all(|property| property.key != *name))
            .collect();
        if wanted.is_empty() && described && room >= 1.0 {
            wanted.push("…".to_owned());
        }
        while ((entries.len() + wanted.len()) as f64) < least && wanted.len() < MOST_ITEMS {
            wanted.push(format!("…{}", wanted.len() + 1));
        }
        for (nth, key) in wanted.into_iter().enumerate() {
            let value = match others {
                Some(others) if described => self.value(others, nth, depth + 1),
                _ => Some(self.node(Kind::String("…".to_owned()))),
            };
            let (key_span, needed) = (self.span, is_required(&key));
            match value {
                Some(value) => entries.push(Entry {
                    key,
                    key_span,
                    value,
                }),
                None if needed => return None,
                None => {}
            }
        }
        Some(self.node(Kind::Map(entries)))
    }

    fn array(&mut self, flat: &Node, depth: usize) -> Option<Node> {
        let count = |key: &str| flat.get(key).and_then(number);
        let least = count("minItems").unwrap_or(0.0) as usize;
        let most = count("maxItems").map_or(usize::MAX, |most| most as usize);
        let list = |key: &str| {
            flat.get(key)
                .filter(|node| matches!(node.kind, Kind::List(_)))
        };
        let places = list("prefixItems").or(list("items"));
        let places = places.map(Node::items).unwrap_or_default();
        let rest = match list("items") {
            Some(_) => flat.get("additionalItems"),
            None => flat.get("items"),
        };
        let mut items = Vec::new();
        for (nth, place) in places.iter().enumerate().take(most) {
            match self.value(place, nth, depth + 1) {
                Some(value) => items.push(value),
                None => break,
            }
        }
        if let Some(contained) = flat.get("contains")
            && let Some(value) = self.value(contained, 0, depth + 1)
        {
            items.push(value);
        }
        let wanted = least
            .max(usize::from(items.is_empty()))
            .min(most)
            .min(MOST_ITEMS);
        while items.len() < wanted {
            let nth = items.len();
            let value = match rest {
                Some(rest) => self.value(rest, nth, depth + 1),
                None => Some(self.node(Kind::String(a_string(flat, nth)))),
            };
            match value {
                Some(value) => items.push(value),
                None => break,
            }
        }
        (items.len() >= least.min(MOST_ITEMS)).then(|| self.node(Kind::List(items)))
    }
}

/// Returns the type of a place's value: its first but for null, or what its keywords are about.
fn kind_of(flat: &Node) -> &str {
    if let Some(kind) = flat.get("type") {
        let names = || kind.items().iter().chain([kind]).filter_map(Node::as_str);
        let other = names().find(|name| *name != "null");
        return other.or(names().next()).unwrap_or("string");
    }
    let mut abouts = flat.entries().iter().filter_map(|entry| about(&entry.key));
    abouts.next().unwrap_or("string")
}

fn a_string(flat: &Node, nth: usize) -> String {
    let count = |key: &str| flat.get(key).and_then(number).map(|count| count as usize);
    let format = flat.get("format").and_then(Node::as_str);
    let shown = match format {
        Some("date") => "2025-01-31",
        Some("date-time") => "2025-01-31T12:00:00Z",
        Some("time") => "12:00:00Z",
        Some("email") => "name@example.com",
        Some("uri") => "https://example.com",
        Some("uuid") => "123e4567-e89b-12d3-a456-426614174000",
        _ => "…",
    };
    let (least, most) = (
        count("minLength").unwrap_or(0).min(LONGEST),
        count("maxLength").unwrap_or(usize::MAX),
    );
    let fits = (least..=most).contains(&shown.chars().count());
    let mut text = if fits { shown } else { "…" }.to_owned();
    if nth > 0 {
        text += &nth.to_string();
    }
    while text.chars().count() < least {
        text.push('…');
    }
    text.chars().take(most).collect()
}

fn a_number(flat: &Node, nth: usize) -> Option<String> {
    let bound = |key: &str| flat.get(key).and_then(number);
    let whole = kind_of(flat) == "integer";
    let step = bound("multipleOf").filter(|step| *step > 0.0);
    let (low, high) = (bound("minimum"), bound("maximum"));
    let (above, below) = (bound("exclusiveMinimum"), bound("exclusiveMaximum"));
    let fits = |value: f64| {
        low.is_none_or(|low| value >= low)
            && high.is_none_or(|high| value <= high)
            && above.is_none_or(|above| value > above)
            && below.is_none_or(|below| value < below)
            && (!whole || value.fract() == 0.0)
    };
    let unit = step.unwrap_or(1.0);
    let floor = low.or(above);
    let ceiling = high.or(below);
    let middle = floor
        .zip(ceiling)
        .map(|(floor, ceiling)| f64::midpoint(floor, ceiling));
    let mut starts = vec![0.0];
    starts.extend(floor.map(|floor| (floor / unit).ceil() * unit));
    starts.extend(floor.map(|floor| ((floor / unit).floor() + 1.0) * unit));
    starts.extend(ceiling.map(|ceiling| (ceiling / unit).floor() * unit));
    starts.extend(ceiling.map(|ceiling| ((ceiling / unit).ceil() - 1.0) * unit));
    starts.extend(middle);
    let first = starts.into_iter().find(|value| fits(*value))?;
    let moved = first + unit * nth as f64;
    let value = if fits(moved) { moved } else { first };
    Some(format!("{value}"))
}
