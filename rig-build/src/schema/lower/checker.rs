//! Does a provider take a schema? Its own rules, written down a second time and from the providers' side.
//!
//! Nothing here reads the table of dialects: where the two disagree, a test fails.

use rig_spec::NativeSchema;
use serde_json::Value;

/// Returns the rule of the provider that a schema breaks, with its place.
pub(super) fn refusal(kind: NativeSchema, schema: &Value) -> Option<String> {
    if kind == NativeSchema::Any {
        return None;
    }
    let mut provider = Provider {
        kind,
        whole: schema,
        properties: 0,
        optional: 0,
        enum_values: 0,
        unions: 0,
    };
    let found = provider.root(schema).err();
    found.or_else(|| provider.totals().err())
}

struct Provider<'a> {
    kind: NativeSchema,
    whole: &'a Value,
    properties: usize,
    optional: usize,
    enum_values: usize,
    unions: usize,
}

type Verdict = Result<(), String>;

fn require(holds: bool, at: &str, rule: &str) -> Verdict {
    match holds {
        true => Ok(()),
        false => Err(format!("{rule} at {at}")),
    }
}

impl Provider<'_> {
    fn is(&self, kinds: &[NativeSchema]) -> bool {
        kinds.contains(&self.kind)
    }

    fn root(&mut self, schema: &Value) -> Verdict {
        use NativeSchema::{Anthropic, Gemini, OpenAiStrict, Xai};
        if self.is(&[OpenAiStrict, Anthropic, Xai]) {
            let object = schema["type"] == "object";
            require(object, "#", "the root is an object")?;
            let choice = schema.get("anyOf").or(schema.get("oneOf")).is_some();
            require(!choice, "#", "the root is no choice")?;
        }
        self.place(schema, "#", 0)?;
        let definitions = schema["$defs"].as_object();
        for (name, definition) in definitions.into_iter().flatten() {
            self.place(definition, &format!("#/$defs/{name}"), 0)?;
        }
        if self.is(&[Anthropic, Xai]) {
            let circle = self.circle("#", schema, &mut Vec::new(), false);
            require(!circle, "#", "no circular references")?;
        }
        if self.is(&[Gemini]) {
            let circle = self.circle("#", schema, &mut Vec::new(), true);
            require(!circle, "#", "circular references only where optional")?;
        }
        Ok(())
    }

    fn totals(&self) -> Verdict {
        if self.kind == NativeSchema::OpenAiStrict {
            require(self.properties <= 5000, "#", "at most 5000 properties")?;
            require(self.enum_values <= 1000, "#", "at most 1000 enum values")?;
        }
        if self.kind == NativeSchema::Anthropic {
            require(self.optional <= 24, "#", "at most 24 optional properties")?;
            require(self.unions <= 16, "#", "at most 16 unions")?;
        }
        Ok(())
    }

    fn place(&mut self, schema: &Value, at: &str, depth: usize) -> Verdict {
        use NativeSchema::{Anthropic, DeepInfra, Fireworks, Gemini, OpenAiStrict, Xai};
        let Some(keywords) = schema.as_object() else {
            let closes = at.ends_with("/additionalProperties");
            let ends = at.ends_with("/items") && self.is(&[Gemini, DeepInfra]);
            return require(closes || ends, at, "a schema is an object");
        };
        for (keyword, value) in keywords {
            let everywhere = [
                "type",
                "title",
                "description",
                "enum",
                "properties",
                "required",
                "items",
                "additionalProperties",
                "anyOf",
                "$ref",
                "$defs",
            ];
            let own: &[&str] = match self.kind {
                OpenAiStrict => &[
                    "pattern",
                    "format",
                    "multipleOf",
                    "minimum",
                    "maximum",
                    "exclusiveMinimum",
                    "exclusiveMaximum",
                    "minItems",
                    "maxItems",
                ],
                Anthropic => &["pattern", "format", "minItems"],
                Gemini => &[
                    "format",
                    "minimum",
                    "maximum",
                    "minItems",
                    "maxItems",
                    "prefixItems",
                ],
                Xai => &["format"],
                Fireworks => &[],
                DeepInfra => &[
                    "pattern",
                    "minLength",
                    "maxLength",
                    "minItems",
                    "maxItems",
                    "minimum",
                    "maximum",
                    "exclusiveMinimum",
                    "exclusiveMaximum",
                    "prefixItems",
                ],
                NativeSchema::Any => &[],
            };
            let taken = everywhere.contains(&keyword.as_str()) || own.contains(&keyword.as_str());
            require(taken, at, &format!("no `{keyword}`"))?;
            if keyword == "minItems" && self.kind == Anthropic {
                require(value.as_u64() <= Some(1), at, "minItems is 0 or 1")?;
            }
            if keyword == "pattern" {
                let text = value.as_str().unwrap_or("");
                let looks = ["(?=", "(?!", "(?<", "\\b", "\\1"];
                let plain = looks.iter().all(|look| !text.contains(look));
                require(plain, at, "a regular pattern")?;
            }
        }
        if keywords.contains_key("$ref") {
            require(keywords.len() == 1, at, "nothing beside $ref")?;
            let target = self.target(&schema["$ref"]);
            return require(target.is_some(), at, "a reference within");
        }
        let types: Vec<&str> = match &schema["type"] {
            Value::String(name) => vec![name],
            Value::Array(names) => names.iter().filter_map(Value::as_str).collect(),
            _ => Vec::new(),
        };
        let choice = schema["anyOf"].as_array();
        if self.is(&[OpenAiStrict, Anthropic, Xai, Fireworks]) {
            let says = !types.is_empty() || choice.is_some();
            require(says, at, "a type or a choice")?;
        }
        self.unions += usize::from(types.len() > 1 || choice.is_some_and(|all| all.len() > 1));
        let nested = types.contains(&"object") || types.contains(&"array");
        let depth = depth + usize::from(nested);
        if self.kind == OpenAiStrict {
            require(depth <= 10, at, "at most 10 levels")?;
        }
        if let Some(values) = schema["enum"].as_array() {
            self.enum_values += values.len();
            let scalar = |value: &Value| !value.is_array() && !value.is_object();
            let plain = |value: &Value| value.is_string() || value.is_number();
            let fits = match self.kind {
                Gemini => values.iter().all(plain),
                _ => values.iter().all(scalar),
            };
            require(fits && !values.is_empty(), at, "plain enum values")?;
        }
        if types.contains(&"object") {
            self.object(schema, at)?;
        }
        if types.contains(&"array") && self.is(&[OpenAiStrict, Anthropic, Xai, Fireworks]) {
            require(schema["items"].is_object(), at, "an array says its items")?;
        }
        for keyword in ["items", "additionalProperties"] {
            if let Some(value) = schema.get(keyword).filter(|value| !value.is_boolean()) {
                self.place(value, &format!("{at}/{keyword}"), depth)?;
            }
        }
        for (name, value) in schema["properties"].as_object().into_iter().flatten() {
            self.place(value, &format!("{at}/properties/{name}"), depth)?;
        }
        for keyword in ["anyOf", "prefixItems"] {
            for (index, value) in schema[keyword].as_array().into_iter().flatten().enumerate() {
                self.place(value, &format!("{at}/{keyword}/{index}"), depth)?;
            }
        }
        Ok(())
    }

    fn object(&mut self, schema: &Value, at: &str) -> Verdict {
        use NativeSchema::{Anthropic, OpenAiStrict, Xai};
        let empty = serde_json::Map::new();
        let properties = schema["properties"].as_object().unwrap_or(&empty);
        let required: Vec<&str> = match schema["required"].as_array() {
            Some(names) => names.iter().filter_map(Value::as_str).collect(),
            None => Vec::new(),
        };
        self.properties += properties.len();
        let optional = properties
            .keys()
            .filter(|name| !required.contains(&name.as_str()));
        let optional = optional.count();
        self.optional += optional;
        let others = &schema["additionalProperties"];
        if self.is(&[OpenAiStrict, Anthropic]) {
            require(*others == false, at, "additionalProperties is false")?;
            let known = required.iter().all(|name| properties.contains_key(*name));
            require(known, at, "required names properties")?;
        }
        if self.kind == Xai {
            require(others.is_boolean(), at, "additionalProperties is said")?;
        }
        if self.kind == OpenAiStrict {
            require(optional == 0, at, "every property is required")?;
        }
        Ok(())
    }

    fn target(&self, reference: &Value) -> Option<&Value> {
        let text = reference.as_str()?.strip_prefix('#')?;
        self.whole.pointer(text)
    }

    /// Returns whether a place leads back to itself.
    fn circle<'s>(
        &'s self,
        name: &'s str,
        schema: &'s Value,
        open: &mut Vec<&'s str>,
        skips_optional: bool,
    ) -> bool {
        open.push(name);
        let mut references = Vec::new();
        collect(schema, skips_optional, &mut references);
        let found = references.into_iter().any(|reference| {
            let text = reference.as_str().unwrap_or("");
            let target = self.target(reference);
            open.contains(&text)
                || target.is_some_and(|target| self.circle(text, target, open, skips_optional))
        });
        open.pop();
        found
    }
}

fn collect<'s>(schema: &'s Value, skips_optional: bool, out: &mut Vec<&'s Value>) {
    match schema {
        Value::Array(items) => items
            .iter()
            .for_each(|item| collect(item, skips_optional, out)),
        Value::Object(keywords) => {
            for (keyword, value) in keywords {
                let required = schema["required"].as_array();
                match keyword.as_str() {
                    "$ref" => out.push(value),
                    "$defs" | "enum" => {}
                    "properties" => {
                        for (name, property) in value.as_object().into_iter().flatten() {
                            let named = |item: &Value| item.as_str() == Some(name);
                            let needed = required.is_some_and(|names| names.iter().any(named));
                            if needed || !skips_optional {
                                collect(property, skips_optional, out);
                            }
                        }
                    }
                    _ => collect(value, skips_optional, out),
                }
            }
        }
        _ => {}
    }
}
