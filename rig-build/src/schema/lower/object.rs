//! What do objects and arrays become?

use std::collections::HashSet;

use super::dialect::Others;
use super::tree::{Low, Value};
use super::values::{number, takes_null};
use super::words::phrase;
use super::{Fate, Lowering, Obstacle};
use crate::node::{Entry, Kind, Node};
use crate::schema::pointer_part;

/// Keywords that make further properties matter.
const BY_OTHERS: [&str; 5] = [
    "then",
    "else",
    "dependentSchemas",
    "dependentRequired",
    "dependencies",
];

impl Lowering<'_> {
    /// Adds what a place says about objects; false where no object conforms.
    pub(super) fn object(
        &mut self,
        flat: &Node,
        at: &str,
        low: &mut Low,
        phrases: &mut Vec<String>,
    ) -> Result<bool, Obstacle> {
        let required = flat.get("required").map(Node::items).unwrap_or_default();
        let required: HashSet<_> = required.iter().filter_map(Node::as_str).collect();
        let mut properties = Vec::new();
        let named = flat
            .get("properties")
            .map(Node::entries)
            .unwrap_or_default();
        for property in named {
            let pointer = format!("{at}/properties/{}", pointer_part(&property.key));
            let Some(lowered) = self.place(&property.value, &pointer)? else {
                if required.contains(property.key.as_str()) {
                    return Ok(false);
                }
                if self.dialect.others == Others::AsWritten {
                    self.note_at(&pointer, "properties", property.key_span, Fate::OnlyHere);
                }
                continue;
            };
            let is_optional = !required.contains(property.key.as_str());
            let lowered = if is_optional && self.dialect.all_required {
                let list = match self.reader.takes_null(&property.value) {
                    true => &mut low.nullable,
                    false => &mut low.absent,
                };
                list.push(property.key.clone());
                self.or_null(lowered)
            } else {
                // It may also be null where the lowered schema alone lets it.
                if takes_null(&lowered) || self.reader.takes_null(&property.value) {
                    low.nullable.push(property.key.clone());
                }
                lowered
            };
            properties.push((property.key.clone(), lowered));
        }
        let others = self.others(flat, at, properties.is_empty(), phrases)?;
        let is_closed = matches!(&others, Some(Value::Data(Kind::Bool(false))));
        if is_closed {
            self.reachable(flat, at, &properties)?;
        }
        let names = match self.dialect.all_required {
            true => properties.iter().map(|(name, _)| name.clone()).collect(),
            false => {
                let listed = flat.get("required").map(Node::items).unwrap_or_default();
                let listed = listed.iter().filter_map(Node::as_str);
                listed.map(str::to_owned).collect::<Vec<_>>()
            }
        };
        let span = flat.span;
        let names = names.into_iter().map(|name| Node {
            span,
            kind: Kind::String(name),
        });
        let names: Vec<_> = names.collect();
        if !properties.is_empty() || self.dialect.typed {
            low.put("properties", Value::Map(properties));
        }
        if !names.is_empty() || self.dialect.all_required {
            low.put("required", Value::Data(Kind::List(names)));
        }
        if let Some(others) = others {
            low.put("additionalProperties", others);
        }
        Ok(true)
    }

    /// Returns what is said about properties that have no name in the schema.
    fn others(
        &mut self,
        flat: &Node,
        at: &str,
        names_none: bool,
        phrases: &mut Vec<String>,
    ) -> Result<Option<Value>, Obstacle> {
        let patterns = flat
            .entry("patternProperties")
            .filter(|entry| !entry.value.entries().is_empty());
        let written = flat.entry("additionalProperties");
        let unevaluated = flat
            .entry("unevaluatedProperties")
            .filter(|entry| entry.value.kind != Kind::Bool(true));
        let described = written.filter(|entry| !entry.value.entries().is_empty());
        let is_false = |entry: Option<&Entry>| {
            entry.is_some_and(|entry| entry.value.kind == Kind::Bool(false))
        };
        let closed = Some(Value::Data(Kind::Bool(false)));
        let open = Some(Value::Data(Kind::Bool(true)));
        if self.dialect.others == Others::Never {
            let what = "an object has to name all its properties there";
            if let Some(entry) = patterns.or(described) {
                let reason = format!("{what}, and `{}` has no form", entry.key);
                return Err(Obstacle::new(entry.key_span, at, reason));
            }
            let is_closed = is_false(written) || (written.is_none() && is_false(unevaluated));
            if !is_closed && names_none {
                return Err(Obstacle::new(
                    flat.span,
                    at,
                    format!("{what}, this one names none"),
                ));
            }
            if !is_closed {
                let span = written.map_or(flat.span, |entry| entry.key_span);
                self.note_at(at, "additionalProperties", span, Fate::Narrower);
            }
            return Ok(closed);
        }
        if let Some(entry) = patterns {
            self.left_out(flat, entry, at, phrases);
            if let Some(entry) = written.filter(|entry| entry.value.kind != Kind::Bool(true)) {
                self.note(at, entry, Fate::OnlyHere);
            }
            return Ok(open);
        }
        if let Some(entry) = unevaluated {
            self.note(at, entry, Fate::OnlyHere);
        }
        if is_false(written) {
            return Ok(closed);
        }
        match (self.dialect.others, described, written) {
            (Others::IfSaid, Some(entry), _) => {
                self.left_out(flat, entry, at, phrases);
                Ok(open)
            }
            (_, Some(entry), _) => {
                let pointer = format!("{at}/additionalProperties");
                let value = self.place(&entry.value, &pointer)?;
                Ok(Some(value.map_or(Value::Data(Kind::Bool(false)), |low| {
                    Value::One(Box::new(low))
                })))
            }
            (_, None, Some(_)) => Ok(open),
            (Others::AsWritten, None, None) => Ok(None),
            (_, None, None) if names_none => Ok(open),
            (_, None, None) => {
                self.note_at(at, "additionalProperties", flat.span, Fate::Narrower);
                Ok(closed)
            }
        }
    }

    /// Reports an object that is closed and that the file's schema wants to have a property which it does not name.
    fn reachable(
        &self,
        flat: &Node,
        at: &str,
        properties: &[(String, Low)],
    ) -> Result<(), Obstacle> {
        let known: HashSet<&str> = properties.iter().map(|(name, _)| name.as_str()).collect();
        let is_named = |name: &str| known.contains(name);
        let missing = |node: &Node| {
            let required = node.get("required").map(Node::items).unwrap_or_default();
            let names = required.iter().filter_map(Node::as_str);
            let named = node
                .get("properties")
                .map(Node::entries)
                .unwrap_or_default();
            let all = names.chain(named.iter().map(|entry| entry.key.as_str()));
            all.into_iter()
                .find(|name| !is_named(name))
                .map(str::to_owned)
        };
        let report = |span, keyword: &str, name: &str| {
            let reason = format!(
                "an object has to name all its properties there, and `{keyword}` is about `{name}`, which is none of them"
            );
            Err(Obstacle::new(span, at, reason))
        };
        if let Some(entry) = flat.entry("required")
            && let Some(name) = entry
                .value
                .items()
                .iter()
                .filter_map(Node::as_str)
                .find(|name| !is_named(name))
        {
            return report(entry.key_span, "required", name);
        }
        for entry in flat.entries() {
            let key = entry.key.as_str();
            if !BY_OTHERS.contains(&key) {
                continue;
            }
            let within: Vec<&Node> = match key {
                "then" | "else" => vec![&entry.value],
                _ => entry
                    .value
                    .entries()
                    .iter()
                    .map(|entry| &entry.value)
                    .collect(),
            };
            let listed = within
                .iter()
                .flat_map(|node| node.items())
                .filter_map(Node::as_str)
                .find(|name| !is_named(name))
                .map(str::to_owned);
            let found = listed.or_else(|| within.iter().find_map(|node| missing(node)));
            if let Some(name) = found {
                return report(entry.key_span, key, &name);
            }
        }
        Ok(())
    }

    /// Adds what a place says about arrays.
    pub(super) fn array(
        &mut self,
        flat: &Node,
        at: &str,
        low: &mut Low,
        phrases: &mut Vec<String>,
    ) -> Result<(), Obstacle> {
        let list = |key: &str| {
            flat.entry(key)
                .filter(|entry| matches!(entry.value.kind, Kind::List(_)))
        };
        let schema = |key: &str| {
            flat.entry(key)
                .filter(|entry| !matches!(entry.value.kind, Kind::List(_)))
        };
        // Draft-07 writes the two with other names.
        let places = list("prefixItems").or(list("items").filter(|_| self.reader.old_draft));
        let rest = match places {
            Some(entry) if entry.key == "items" => schema("additionalItems"),
            _ => schema("items"),
        };
        if let Some(entry) = list("items").filter(|_| !self.reader.old_draft) {
            let reason = "a list of `items` means nothing in this draft";
            return Err(Obstacle::new(entry.key_span, at, reason));
        }
        let says = rest.filter(|entry| entry.value.kind != Kind::Bool(true));
        let lowered_rest = match says {
            None => None,
            Some(entry) => self.place(&entry.value, &format!("{at}/{}", entry.key))?,
        };
        // What nothing conforms to is nowhere.
        let no_rest = says.filter(|_| lowered_rest.is_none());
        let Some(places) = places else {
            match (lowered_rest, no_rest) {
                (Some(rest), _) => low.put("items", Value::One(Box::new(rest))),
                (None, Some(entry)) => self.empty(low, at, entry),
                (None, None) if self.dialect.typed => {
                    let reason = "an array has to say its items there";
                    return Err(Obstacle::new(flat.span, at, reason));
                }
                (None, None) => {}
            }
            return Ok(());
        };
        let mut kinds = Vec::new();
        for (index, place) in places.value.items().iter().enumerate() {
            let pointer = format!("{at}/{}/{index}", places.key);
            let Some(lowered) = self.place(place, &pointer)? else {
                let reason = "no item may stand in one of its places";
                return Err(Obstacle::new(place.span, &pointer, reason));
            };
            kinds.push(lowered);
        }
        if self.dialect.tuples {
            low.put("prefixItems", Value::List(kinds));
            if let Some(rest) = lowered_rest {
                low.put("items", Value::One(Box::new(rest)));
            } else if no_rest.is_some() {
                low.put("items", Value::Data(Kind::Bool(false)));
            }
            return Ok(());
        }
        let most = flat.get("maxItems").and_then(number);
        let is_open = says.is_none() && most.is_none_or(|most| most > kinds.len() as f64);
        if is_open {
            self.note(at, places, Fate::Narrower);
        }
        if let Some(entry) = no_rest {
            self.note(at, entry, Fate::OnlyHere);
        }
        kinds.extend(lowered_rest);
        let mut seen = HashSet::new();
        kinds.retain(|kind| seen.insert(kind.to_node().to_json()));
        let said = phrase(places);
        let fate = match said {
            Some(_) => Fate::Coached,
            None => Fate::OnlyHere,
        };
        phrases.extend(said);
        self.note(at, places, fate);
        let items = match kinds.len() {
            1 => kinds.remove(0),
            _ => {
                let mut choice = Low::new(flat.span);
                choice.put("anyOf", Value::List(kinds));
                choice
            }
        };
        low.put("items", Value::One(Box::new(items)));
        Ok(())
    }

    /// An array that has to be empty. What its items would be is never asked.
    fn empty(&mut self, low: &mut Low, at: &str, rest: &Entry) {
        if self.dialect.takes("maxItems", None) {
            let none = Value::Data(Kind::Number("0".to_owned()));
            match low.get_mut("maxItems") {
                Some(most) => *most = none,
                None => low.put("maxItems", none),
            }
        } else {
            self.note(at, rest, Fate::OnlyHere);
        }
        let any = Low::of_type(low.span, "string");
        low.put("items", Value::One(Box::new(any)));
    }
}
