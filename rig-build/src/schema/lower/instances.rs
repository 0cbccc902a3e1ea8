//! Values and schemas for the laws: made by chance, mapped there and back.

use serde_json::{Map, Value, json};

use super::{Fate, Lowered, Note, Step};

pub(super) fn validator(schema: &Value) -> Option<jsonschema::Validator> {
    let draft = match schema["$schema"].as_str() {
        Some(draft) if draft.contains("draft-07") => jsonschema::Draft::Draft7,
        _ => jsonschema::Draft::Draft202012,
    };
    let options = jsonschema::options();
    let options = options.with_draft(draft).should_validate_formats(false);
    options.offline().build(schema).ok()
}

/// The way back, written a second time: the runtime has its own.
pub(super) fn back(lowered: &Lowered, value: Value) -> Value {
    fn undo(lowered: &Lowered, at: usize, value: &mut Value) {
        let Some(shape) = lowered.shapes.get(at) else {
            return;
        };
        for name in &shape.absent {
            if value.get(name) == Some(&Value::Null) {
                value.as_object_mut().unwrap().remove(name);
            }
        }
        for (step, next) in &shape.within {
            match (step, &mut *value) {
                (Step::Property(name), Value::Object(members)) => {
                    if let Some(member) = members.get_mut(name) {
                        undo(lowered, *next, member);
                    }
                }
                (Step::Items, Value::Array(items)) => {
                    items.iter_mut().for_each(|item| undo(lowered, *next, item));
                }
                _ => {}
            }
        }
    }
    let mut value = match &lowered.wrapped_in {
        Some(name) => value[name].clone(),
        None => value,
    };
    undo(lowered, 0, &mut value);
    value
}

/// The way there: a property that has to be there and is not becomes null.
pub(super) fn forth(
    whole: &Value,
    schema: &Value,
    value: &Value,
    fuel: usize,
    fills: bool,
) -> Value {
    if fuel == 0 {
        return value.clone();
    }
    if let Some(reference) = schema["$ref"].as_str() {
        let target = whole.pointer(reference.trim_start_matches('#'));
        return target.map_or_else(
            || value.clone(),
            |target| forth(whole, target, value, fuel - 1, fills),
        );
    }
    if let Some(branches) = schema["anyOf"].as_array() {
        let mapped = branches
            .iter()
            .map(|branch| (branch, forth(whole, branch, value, fuel - 1, fills)));
        let mut fitting = mapped.filter(|(branch, mapped)| {
            // Alone, a branch is the root that references mean.
            let mut alone = (*branch).clone();
            let mut definitions = whole["$defs"].as_object().cloned().unwrap_or_default();
            definitions.insert("whole".to_owned(), whole.clone());
            if let Some(alone) = alone.as_object_mut() {
                alone.insert("$defs".to_owned(), Value::Object(definitions));
            }
            let text = alone.to_string();
            let text = text.replace("\"$ref\":\"#\"", "\"$ref\":\"#/$defs/whole\"");
            let alone = serde_json::from_str(&text).unwrap_or_default();
            validator(&alone).is_some_and(|validator| validator.is_valid(mapped))
        });
        return fitting
            .next()
            .map_or_else(|| value.clone(), |(_, mapped)| mapped);
    }
    match value {
        Value::Object(members) => {
            let mut out = Map::new();
            for (name, member) in members {
                let part = schema["properties"].get(name);
                let part = part.or(schema.get("additionalProperties"));
                let mapped = part.map(|part| forth(whole, part, member, fuel - 1, fills));
                out.insert(name.clone(), mapped.unwrap_or_else(|| member.clone()));
            }
            for name in schema["required"]
                .as_array()
                .filter(|_| fills)
                .into_iter()
                .flatten()
            {
                let name = name.as_str().unwrap();
                out.entry(name).or_insert(Value::Null);
            }
            Value::Object(out)
        }
        Value::Array(items) => {
            let places = schema["prefixItems"].as_array().map_or(0, Vec::len);
            let mapped = items
                .iter()
                .enumerate()
                .map(|(index, item)| match index < places {
                    true => forth(whole, &schema["prefixItems"][index], item, fuel - 1, fills),
                    false => forth(whole, &schema["items"], item, fuel - 1, fills),
                });
            mapped.collect()
        }
        other => other.clone(),
    }
}

/// The file's schema without what the receipt says that the dialect does not hold.
pub(super) fn relaxed(schema: &Value, receipt: &[Note]) -> Value {
    let mut schema = schema.clone();
    for note in receipt.iter().filter(|note| note.fate != Fate::Narrower) {
        let pointer = if note.pointer == "/" {
            ""
        } else {
            &note.pointer
        };
        if note.keyword == "properties" {
            // A property that nothing conforms to.
            if let Some(there) = schema.pointer_mut(pointer) {
                *there = json!(true);
            }
            continue;
        }
        let there = schema.pointer_mut(pointer).and_then(Value::as_object_mut);
        let found = there.is_some_and(|there| drop_keyword(there, &note.keyword));
        if !found {
            everywhere(&mut schema, &note.keyword);
        }
    }
    schema
}

fn drop_keyword(schema: &mut Map<String, Value>, keyword: &str) -> bool {
    let Some(value) = schema.remove(keyword) else {
        return false;
    };
    match keyword {
        "oneOf" => drop(schema.insert("anyOf".to_owned(), value)),
        "prefixItems" => {
            let items = schema.remove("items");
            let items = items.filter(Value::is_object);
            let mut kinds = value.as_array().cloned().unwrap_or_default();
            kinds.extend(items);
            schema.insert("items".to_owned(), json!({ "anyOf": kinds }));
        }
        "if" => {
            schema.remove("then");
            schema.remove("else");
        }
        "patternProperties" => drop(schema.remove("additionalProperties")),
        _ => {}
    }
    true
}

fn everywhere(schema: &mut Value, keyword: &str) {
    match schema {
        Value::Array(items) => items.iter_mut().for_each(|item| everywhere(item, keyword)),
        Value::Object(members) => {
            drop_keyword(members, keyword);
            members
                .values_mut()
                .for_each(|member| everywhere(member, keyword));
        }
        _ => {}
    }
}

/// A source of choices that is the same in every run.
pub(super) struct Dice(pub(super) u64);

impl Dice {
    pub(super) fn roll(&mut self, sides: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % sides.max(1)
    }
}

/// Makes a value that mostly conforms to a lowered schema.
pub(super) fn made(whole: &Value, schema: &Value, dice: &mut Dice, fuel: usize) -> Value {
    if let Some(reference) = schema["$ref"].as_str() {
        let target = whole.pointer(reference.trim_start_matches('#'));
        // A circle may never end.
        let Some(target) = target.filter(|_| fuel > 0) else {
            return Value::Null;
        };
        return made(whole, target, dice, fuel.saturating_sub(1));
    }
    if let Some(branches) = schema["anyOf"].as_array().filter(|list| !list.is_empty()) {
        let simple = branches.iter().find(|branch| branch["type"] == "null");
        let branch = match (fuel, simple) {
            (0, Some(simple)) => simple,
            _ => &branches[dice.roll(branches.len())],
        };
        return made(whole, branch, dice, fuel.saturating_sub(1));
    }
    if let Some(values) = schema["enum"].as_array().filter(|list| !list.is_empty()) {
        return values[dice.roll(values.len())].clone();
    }
    let types: Vec<&str> = match &schema["type"] {
        Value::String(name) => vec![name],
        Value::Array(names) => names.iter().filter_map(Value::as_str).collect(),
        _ => vec!["string", "null", "object"],
    };
    let has_null = types.contains(&"null");
    if types.is_empty() {
        return Value::Null;
    }
    let kind = if fuel == 0 && has_null {
        "null"
    } else {
        types[dice.roll(types.len())]
    };
    match kind {
        "null" => Value::Null,
        "boolean" => json!(dice.roll(2) == 0),
        "integer" | "number" => {
            let least = schema["minimum"].as_f64().unwrap_or(-3.0);
            let value = least.ceil() + dice.roll(9) as f64;
            if kind == "number" && dice.roll(3) == 0 {
                json!(value + 0.5)
            } else {
                json!(value as i64)
            }
        }
        "string" => {
            json!(["", "a", "abc", "2024-01-01", "a longer text of some words"][dice.roll(5)])
        }
        "array" => {
            let least = schema["minItems"].as_u64().unwrap_or(0) as usize;
            let count = if fuel == 0 {
                least
            } else {
                least + dice.roll(3)
            };
            let item = |index: usize| schema["prefixItems"].get(index).unwrap_or(&schema["items"]);
            (0..count)
                .map(|index| made(whole, item(index), dice, fuel.saturating_sub(1)))
                .collect()
        }
        _ => {
            let mut out = Map::new();
            let required = schema["required"].as_array();
            for (name, property) in schema["properties"].as_object().into_iter().flatten() {
                let needed =
                    required.is_some_and(|names| names.iter().any(|item| item == name.as_str()));
                if needed || (fuel > 0 && dice.roll(2) == 0) {
                    out.insert(
                        name.clone(),
                        made(whole, property, dice, fuel.saturating_sub(1)),
                    );
                }
            }
            Value::Object(out)
        }
    }
}

/// Makes a schema of what people write, and of what they do not.
fn any_schema(dice: &mut Dice, fuel: usize) -> Value {
    let sides = if fuel == 0 { 8 } else { 16 };
    match dice.roll(sides) {
        0 => json!({"type": "string", "maxLength": 9, "description": "A text."}),
        1 => json!({"type": "integer", "minimum": 0, "maximum": 5}),
        2 => json!({"type": ["string", "null"]}),
        3 => json!({"enum": ["a", "b", null]}),
        4 => json!({"const": "a"}),
        5 => json!({"type": "boolean"}),
        6 => json!({"$ref": format!("#/$defs/d{}", dice.roll(3)), "description": "Elsewhere."}),
        7 => json!({"$ref": format!("#/$defs/d{}", dice.roll(3))}),
        8 => {
            json!({"type": "array", "items": any_schema(dice, fuel - 1), "minItems": dice.roll(3)})
        }
        9 => json!({"anyOf": [any_schema(dice, fuel - 1), any_schema(dice, fuel - 1)]}),
        10 => json!({"oneOf": [any_schema(dice, fuel - 1), {"type": "null"}]}),
        11 => json!({"allOf": [any_schema(dice, fuel - 1), any_schema(dice, 0)]}),
        12 => {
            let mut schema = any_object(dice, fuel - 1);
            schema["anyOf"] = json!([{"required": ["p"]}, {"required": ["q"]}]);
            schema
        }
        13 => json!({"type": "array", "items": false, "minItems": 2,
            "prefixItems": [any_schema(dice, fuel - 1), any_schema(dice, fuel - 1)]}),
        _ => any_object(dice, fuel - 1),
    }
}

pub(super) fn any_object(dice: &mut Dice, fuel: usize) -> Value {
    let mut properties = Map::new();
    for name in ["p", "q", "r"] {
        properties.insert(name.to_owned(), any_schema(dice, fuel));
    }
    let required: Vec<_> = ["p", "q", "r"]
        .into_iter()
        .filter(|_| dice.roll(2) == 0)
        .collect();
    let mut schema = json!({"type": "object", "properties": properties, "required": required});
    match dice.roll(3) {
        0 => schema["additionalProperties"] = json!(false),
        1 => schema["minProperties"] = json!(1),
        _ => {}
    }
    schema
}
