//! Is a lowered schema within what its dialect takes at most?

use std::collections::{HashMap, HashSet};

use super::Obstacle;
use super::dialect::Limits;
use super::tree::{Low, Value};
use super::values::required;
use crate::node::{Kind, Node};
use crate::source::Span;

/// Reports the first limit that a schema is beyond.
pub(super) fn check(
    limits: &Limits,
    root: &Low,
    definitions: &[(String, Low)],
    written: &Node,
) -> Result<(), Obstacle> {
    let mut count = Count::default();
    count.walk(root, 0);
    for (name, low) in definitions {
        count.characters += name.chars().count();
        count.walk(low, 0);
    }
    let found = [
        (count.depth, limits.depth, "levels of objects and arrays"),
        (count.properties, limits.properties, "properties"),
        (count.enum_values, limits.enum_values, "values of enums"),
        (
            count.characters,
            limits.characters,
            "characters of names and values",
        ),
        (
            count.optional,
            limits.optional,
            "properties that are not required",
        ),
        (count.unions, limits.unions, "places of several types"),
    ];
    match found.iter().find(|(found, most, _)| found > most) {
        None => Ok(()),
        Some((found, most, what)) => {
            let reason = format!("it takes at most {most} {what}, and these are {found}");
            Err(Obstacle::new(written.span, "", reason))
        }
    }
}

#[derive(Default)]
struct Count {
    depth: usize,
    properties: usize,
    enum_values: usize,
    characters: usize,
    optional: usize,
    unions: usize,
}

impl Count {
    fn walk(&mut self, low: &Low, above: usize) {
        let types = low.types();
        let nests = types.contains(&"object") || types.contains(&"array");
        let depth = above + usize::from(nests);
        self.depth = self.depth.max(depth);
        self.unions += usize::from(types.len() > 1 || low.branches().len() > 1);
        let required = required(low);
        for (name, _) in low.properties() {
            self.properties += 1;
            self.characters += name.chars().count();
            self.optional += usize::from(!required.contains(name.as_str()));
        }
        if let Some(Value::Data(Kind::List(values))) = low.get("enum") {
            self.enum_values += values.len();
            let texts = values.iter().filter_map(Node::as_str);
            self.characters += texts.map(|text| text.chars().count()).sum::<usize>();
        }
        for child in low.children() {
            self.walk(child, depth);
        }
    }
}

/// Returns a place from which references lead back to it.
pub(super) fn circle(
    root: &Low,
    definitions: &[(String, Low)],
    skips_optional: bool,
) -> Option<(String, Span)> {
    let edges = |low: &Low| {
        let mut out = Vec::new();
        references(low, skips_optional, &mut out);
        out
    };
    let known: HashMap<&str, (Vec<String>, Span)> = definitions
        .iter()
        .map(|(name, low)| (name.as_str(), (edges(low), low.span)))
        .collect();
    let mut done: HashSet<&str> = HashSet::new();
    let mut open: HashSet<&str> = HashSet::new();
    let from_root = edges(root);
    let all = definitions.iter().map(|(name, _)| name.as_str());
    for start in from_root.iter().map(String::as_str).chain(all) {
        let mut next = vec![(start, false)];
        while let Some((name, is_left)) = next.pop() {
            if is_left {
                open.remove(name);
                done.insert(name);
                continue;
            }
            if done.contains(name) {
                continue;
            }
            let Some((key, (targets, span))) = known.get_key_value(name) else {
                continue;
            };
            if !open.insert(key) {
                return Some((name.to_owned(), *span));
            }
            next.push((key, true));
            for target in targets {
                let name = target.as_str();
                if open.contains(name) {
                    return Some((name.to_owned(), *span));
                }
                next.push((name, false));
            }
        }
    }
    None
}

/// Returns the names of the definitions that a schema refers to, through others too.
pub(super) fn reached(root: &Low, definitions: &[(String, Low)]) -> HashSet<String> {
    let known: HashMap<&str, &Low> = definitions
        .iter()
        .map(|(name, low)| (name.as_str(), low))
        .collect();
    let mut reached = HashSet::new();
    let mut next = Vec::new();
    references(root, false, &mut next);
    while let Some(name) = next.pop() {
        if let Some(low) = known
            .get(name.as_str())
            .filter(|_| !reached.contains(&name))
        {
            references(low, false, &mut next);
            reached.insert(name);
        }
    }
    reached
}

/// Collects the names of the definitions that a schema refers to.
fn references(low: &Low, skips_optional: bool, out: &mut Vec<String>) {
    if let Some(name) = low
        .text("$ref")
        .and_then(|text| text.strip_prefix("#/$defs/"))
    {
        out.push(name.to_owned());
    }
    for (keyword, value) in &low.keywords {
        match value {
            Value::Map(properties) if keyword == "properties" && skips_optional => {
                let required = required(low);
                for (name, property) in properties {
                    if required.contains(name.as_str()) {
                        references(property, skips_optional, out);
                    }
                }
            }
            Value::Map(map) => map
                .iter()
                .for_each(|(_, low)| references(low, skips_optional, out)),
            Value::One(low) => references(low, skips_optional, out),
            Value::List(list) => list
                .iter()
                .for_each(|low| references(low, skips_optional, out)),
            Value::Data(_) => {}
        }
    }
}
