//! What does one place of a schema become?

use super::dialect::Values;
use super::tree::{Low, Value};
use super::values::{allowed, are_apart, is_of, named, number, says_nothing, takes_null, types};
use super::words::{about, described, phrase};
use super::{Fate, Lowering, Obstacle};
use crate::node::{Entry, Kind, Node};

impl Lowering<'_> {
    /// Returns the lowered schema of a place; `None` where nothing conforms.
    pub(super) fn place(&mut self, node: &Node, at: &str) -> Result<Option<Low>, Obstacle> {
        let Some(flat) = self.reader.flat(node, at)? else {
            return Ok(None);
        };
        if let Some(reference) = flat.get("$ref") {
            return self.referring(&flat, reference, at).map(Some);
        }
        if let Some(choice) = flat.entry("anyOf").or(flat.entry("oneOf")) {
            return self.choosing(&flat, choice, at);
        }
        self.plain(&flat, at)
    }

    /// A dialect takes nothing beside a reference, so a description goes around it.
    fn referring(&mut self, flat: &Node, reference: &Node, at: &str) -> Result<Low, Obstacle> {
        let mut inner = Low::new(flat.span);
        let text = self.reference(reference, at)?;
        inner.put("$ref", Value::Data(Kind::String(text)));
        let mut outer = Low::new(flat.span);
        let phrases = annotations(flat, &mut outer);
        describe(&mut outer, &phrases);
        if outer.get("description").is_none() {
            return Ok(inner);
        }
        outer.put("anyOf", Value::List(vec![inner]));
        Ok(outer)
    }

    fn choosing(&mut self, flat: &Node, choice: &Entry, at: &str) -> Result<Option<Low>, Obstacle> {
        let mut low = Low::new(flat.span);
        let phrases = annotations(flat, &mut low);
        let mut branches = Vec::new();
        for (index, branch) in choice.value.items().iter().enumerate() {
            let pointer = format!("{at}/{}/{index}", choice.key);
            branches.extend(self.place(branch, &pointer)?);
        }
        if branches.is_empty() {
            return Ok(None);
        }
        if choice.key == "oneOf" && !are_apart(&branches) {
            self.note(at, choice, Fate::OnlyHere);
        }
        describe(&mut low, &phrases);
        low.put("anyOf", Value::List(branches));
        Ok(Some(low))
    }

    fn plain(&mut self, flat: &Node, at: &str) -> Result<Option<Low>, Obstacle> {
        let mut low = Low::new(flat.span);
        let mut phrases = annotations(flat, &mut low);
        let types = match types(flat) {
            Some(types) if types.is_empty() => return Ok(None),
            types => types,
        };
        let Some(types) = types.or_else(|| self.guessed(flat, at)) else {
            if self.dialect.typed {
                let reason = "a place that takes any value has no form there; give it a `type`";
                return Err(Obstacle::new(flat.span, at, reason));
            }
            return self.untyped(flat, low, phrases, at).map(Some);
        };
        let mut values = allowed(flat, &types);
        if values.as_ref().is_some_and(Vec::is_empty) {
            return Ok(None);
        }
        let mut types = types;
        if let Some(values) = &values {
            types.retain(|name| values.iter().any(|value| is_of(value, name)));
        }
        let mut with_null = false;
        if let Some(listed) = &mut values {
            let plain_only = self.dialect.values == Values::StringsAndNumbers;
            let of_values = |value: &Node| match value.kind {
                Kind::List(_) | Kind::Map(_) => false,
                Kind::Bool(_) => !plain_only,
                Kind::Null | Kind::Number(_) | Kind::String(_) => true,
            };
            let all_bools = types.contains(&"boolean") && listed.len() == 2 && types.len() == 1;
            if !listed.iter().all(of_values) && !all_bools {
                self.unlisted(flat, at, &mut phrases);
                values = None;
            } else if plain_only {
                let before = listed.len();
                listed.retain(|value| value.kind != Kind::Null);
                with_null = listed.len() < before && !listed.is_empty();
                if listed.is_empty() || all_bools {
                    values = None;
                }
            }
        }
        if with_null {
            types.retain(|name| *name != "null");
        }
        low.keywords
            .insert(0, ("type".to_owned(), Value::Data(named(flat, &types))));
        for entry in flat.entries() {
            match entry.key.as_str() {
                "enum" | "const" => {
                    if let Some(listed) = values.take() {
                        low.put("enum", Value::Data(Kind::List(listed)));
                    }
                }
                _ => {}
            }
            self.keyword(flat, entry, at, &types, &mut low, &mut phrases)?;
        }
        if types.contains(&"object") && !self.object(flat, at, &mut low, &mut phrases)? {
            return Ok(None);
        }
        if types.contains(&"array") {
            self.array(flat, at, &mut low, &mut phrases)?;
        }
        describe(&mut low, &phrases);
        if with_null {
            let mut outer = Low::new(flat.span);
            for annotation in ["title", "description"] {
                if let Some(at) = low.keywords.iter().position(|(name, _)| name == annotation) {
                    outer.keywords.push(low.keywords.remove(at));
                }
            }
            let null = Low::of_type(flat.span, "null");
            outer.put("anyOf", Value::List(vec![low, null]));
            low = outer;
        }
        Ok(Some(low))
    }

    /// A keyword that is neither the type nor has subschemas that are sent.
    fn keyword(
        &mut self,
        flat: &Node,
        entry: &Entry,
        at: &str,
        types: &[&str],
        low: &mut Low,
        phrases: &mut Vec<String>,
    ) -> Result<(), Obstacle> {
        let key = entry.key.as_str();
        let handled = matches!(
            key,
            "type" | "enum" | "const" | "properties" | "required" | "items" | "prefixItems"
        ) || matches!(
            key,
            "additionalProperties"
                | "patternProperties"
                | "unevaluatedProperties"
                | "additionalItems"
        );
        if handled || super::merge::is_annotation(key) {
            return Ok(());
        }
        let concerns = about(key).is_none_or(|about| {
            types.contains(&about) || (about == "number" && types.contains(&"integer"))
        });
        if !concerns || says_nothing(flat, entry) {
            return Ok(());
        }
        if matches!(key, "$dynamicRef" | "$recursiveRef") {
            let reason = format!("`{key}` has no form there");
            return Err(Obstacle::new(entry.key_span, at, reason));
        }
        if self.dialect.takes(key, entry.value.as_str()) {
            let most = self.dialect.min_items;
            let count = number(&entry.value);
            if key == "minItems" && count.is_some_and(|count| count > most as f64) {
                low.put(key, Value::Data(Kind::Number(most.to_string())));
            } else {
                low.put(key, Value::Data(entry.value.kind.clone()));
                return Ok(());
            }
        }
        self.left_out(flat, entry, at, phrases);
        Ok(())
    }

    /// Takes a keyword out of the request and into words, where there are any.
    pub(super) fn left_out(
        &mut self,
        flat: &Node,
        entry: &Entry,
        at: &str,
        phrases: &mut Vec<String>,
    ) {
        let said = phrase(entry);
        let fate = match said {
            Some(_) => Fate::Coached,
            None => Fate::OnlyHere,
        };
        self.note(at, entry, fate);
        if let Some(note) = self.receipt.last_mut() {
            note.untold = said.is_none() && flat.get("description").is_none();
        }
        phrases.extend(said);
    }

    fn unlisted(&mut self, flat: &Node, at: &str, phrases: &mut Vec<String>) {
        let listing = flat.entry("const").or(flat.entry("enum"));
        if let Some(entry) = listing {
            self.left_out(flat, entry, at, phrases);
        }
    }

    /// A place of any type, in a dialect that has one. What is said about single types is left out.
    fn untyped(
        &mut self,
        flat: &Node,
        mut low: Low,
        mut phrases: Vec<String>,
        at: &str,
    ) -> Result<Low, Obstacle> {
        for entry in flat.entries() {
            if !super::merge::is_annotation(&entry.key) && !says_nothing(flat, entry) {
                self.left_out(flat, entry, at, &mut phrases);
            }
        }
        describe(&mut low, &phrases);
        Ok(low)
    }

    /// Returns the type that a place without one is about; narrower than JSON Schema has it.
    fn guessed(&mut self, flat: &Node, at: &str) -> Option<Vec<&'static str>> {
        let mut found: Option<(&'static str, &Entry)> = None;
        for entry in flat.entries() {
            match (about(&entry.key), found) {
                (None, _) => {}
                (Some(kind), None) => found = Some((kind, entry)),
                (Some(kind), Some((known, _))) if kind == known => {}
                (Some(_), Some(_)) => return None,
            }
        }
        let (kind, entry) = found?;
        self.note_at(at, "type", entry.key_span, Fate::Narrower);
        Some(vec![kind])
    }

    /// Returns a schema that takes null too.
    pub(super) fn or_null(&self, low: Low) -> Low {
        let span = low.span;
        if takes_null(&low) {
            return low;
        }
        let mut low = low;
        let null = Node {
            span,
            kind: Kind::Null,
        };
        if let Some(Value::List(branches)) = low.get_mut("anyOf") {
            branches.push(Low::of_type(span, "null"));
            return low;
        }
        if let Some(Value::Data(kind)) = low.get_mut("type") {
            let name = Node {
                span,
                kind: Kind::String("null".to_owned()),
            };
            let mut names = match std::mem::replace(kind, Kind::Null) {
                Kind::List(names) => names,
                single => vec![Node { span, kind: single }],
            };
            names.push(name);
            *kind = Kind::List(names);
            if let Some(Value::Data(Kind::List(values))) = low.get_mut("enum") {
                values.push(null);
            }
            return low;
        }
        let mut outer = Low::new(span);
        outer.put("anyOf", Value::List(vec![low, Low::of_type(span, "null")]));
        outer
    }
}

/// Moves title and description over, and returns what else is worth saying.
fn annotations(flat: &Node, low: &mut Low) -> Vec<String> {
    let mut phrases = Vec::new();
    for entry in flat.entries() {
        match (entry.key.as_str(), &entry.value.kind) {
            ("title" | "description", Kind::String(text)) => {
                low.put(&entry.key, Value::Data(Kind::String(text.clone())));
            }
            ("default", kind) if *kind != Kind::Null => phrases.extend(phrase(entry)),
            ("examples", Kind::List(_)) => phrases.extend(phrase(entry)),
            _ => {}
        }
    }
    phrases
}

/// Adds phrases to the description.
fn describe(low: &mut Low, phrases: &[String]) {
    if phrases.is_empty() {
        return;
    }
    let text = described(low.text("description").unwrap_or(""), phrases);
    match low.get_mut("description") {
        Some(value) => *value = Value::Data(Kind::String(text)),
        None => {
            let is_before = |(name, _): &(String, Value)| name == "type" || name == "title";
            let at = low.keywords.iter().position(|pair| !is_before(pair));
            let at = at.unwrap_or(low.keywords.len());
            let value = Value::Data(Kind::String(text));
            low.keywords.insert(at, ("description".to_owned(), value));
        }
    }
}
