//! Do all ways to judge an answer agree?

use jsonschema::{Draft, Validator};
use rig_spec::Schema;
use serde::Deserialize;
use serde_json::Value;

/// A schema and those who judge by it.
pub struct Judges {
    schema: &'static Schema,
    peer: Validator,
    /// Whether the type of the schema takes an answer.
    typed: fn(&'static Schema, &str) -> bool,
}

/// The schemas, and an answer that conforms to each.
pub const CASES: [(&str, &str); 3] = [
    (
        r##"{"type":"object","required":["title","priority","count","parent","tags","events"],"additionalProperties":false,"properties":{"title":{"type":"string","minLength":1,"maxLength":20,"pattern":"^(?!x)[^\\d]+$"},"priority":{"enum":["low","high"]},"count":{"type":"integer","minimum":-5,"maximum":1000,"multipleOf":5},"ratio":{"type":"number","exclusiveMinimum":0,"exclusiveMaximum":1},"parent":{"anyOf":[{"type":"string"},{"type":"null"}]},"tags":{"type":"array","items":{"type":"string"},"minItems":1,"maxItems":3,"uniqueItems":true},"events":{"type":"array","items":{"anyOf":[{"type":"object","required":["kind","at"],"additionalProperties":false,"properties":{"kind":{"const":"open"},"at":{"type":"integer","minimum":0,"maximum":9}}},{"type":"object","required":["kind"],"additionalProperties":false,"properties":{"kind":{"enum":["close","drop"]},"why":{"type":["string","null"]}}}]}}}}"##,
        r#"{"title":"ab","priority":"low","count":10.0,"ratio":0.5,"parent":null,"tags":["a"],"events":[{"kind":"open","at":1},{"why":null,"kind":"drop"}]}"#,
    ),
    (
        r##"{"$schema":"http://json-schema.org/draft-07/schema#","definitions":{"n":{"type":"integer"}},"type":["object","array"],"items":[{"$ref":"#/definitions/n","minimum":9},{"const":{"a":[1,null]}}],"additionalItems":{"type":"boolean"},"contains":{"type":"integer"},"properties":{"a":{"type":"string"},"b":{"$ref":"#/definitions/n"}},"patternProperties":{"^a":{"maxLength":3},"\\d$":{"type":"null"}},"dependencies":{"a":["b"],"c":{"required":["d"]}},"propertyNames":{"maxLength":4},"if":{"required":["e"]},"then":{"minProperties":3},"else":{"maxProperties":4}}"##,
        r#"{"a":"xyz","b":1,"x1":null}"#,
    ),
    (
        r##"{"$defs":{"tree":{"type":"object","required":["v"],"properties":{"v":{"type":["integer","string"]},"kids":{"type":"array","items":{"$ref":"#/$defs/tree"}}},"unevaluatedProperties":false}},"oneOf":[{"$ref":"#/$defs/tree"},{"type":"array","prefixItems":[{"type":"string"},{"not":{"type":"string"}}],"contains":{"type":"integer"},"minContains":1,"maxContains":2,"unevaluatedItems":{"type":"null"}},{"type":"object","required":["w"],"properties":{"w":{"enum":[1,"1",true,null,[1,2],{"a":1}]}},"dependentRequired":{"x":["y"]},"dependentSchemas":{"z":{"properties":{"q":{"type":"string"}}}},"allOf":[{"properties":{"r":{"type":"boolean"}}},{"minProperties":2}]}]}"##,
        r#"{"v":1,"kids":[{"v":"a","kids":[]}]}"#,
    ),
];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "it is only read")]
struct Ticket {
    title: String,
    priority: Priority,
    count: i64,
    ratio: Option<f64>,
    parent: Option<String>,
    tags: Vec<String>,
    events: Vec<Event>,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Priority {
    Low,
    High,
}

#[derive(Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
#[expect(dead_code, reason = "it is only read")]
enum Event {
    Open {
        at: u64,
    },
    Close {
        #[serde(default)]
        why: Option<String>,
    },
    Drop {
        #[serde(default)]
        why: Option<String>,
    },
}

impl Judges {
    /// Returns those of every schema.
    ///
    /// # Panics
    ///
    /// If one of the schemas is none.
    #[must_use]
    pub fn all() -> Vec<Self> {
        let typed: [fn(&'static Schema, &str) -> bool; 3] = [
            |schema, text| rig_runtime::read_checked::<Ticket>(schema, text).is_some(),
            |schema, text| rig_runtime::read_checked::<Value>(schema, text).is_some(),
            |schema, text| rig_runtime::read_checked::<Value>(schema, text).is_some(),
        ];
        let cases = CASES.iter().zip(typed);
        cases
            .map(|((json, _), typed)| {
                let gate = rig_build::compile_schema(json, &[]).expect("a schema");
                let schema: Value = serde_json::from_str(json).expect("JSON");
                let draft = match schema.get("$schema") {
                    Some(_) => Draft::Draft7,
                    None => Draft::Draft202012,
                };
                let options = jsonschema::options().with_draft(draft);
                let options = options.should_validate_formats(false).offline();
                Self {
                    schema: Box::leak(Box::new(Schema {
                        name: "fuzz",
                        json,
                        skeleton: "",
                        gate: gate.leak(),
                        hash: 0,
                    })),
                    peer: options.build(&schema).expect("a schema"),
                    typed,
                }
            })
            .collect()
    }

    /// Checks that all agree on an answer.
    ///
    /// # Panics
    ///
    /// If they do not.
    pub fn agree(&self, text: &str) {
        // Such keys are refused, since `serde_json` would read them as its own.
        if text.contains("serde_json") {
            return;
        }
        let typed = (self.typed)(self.schema, text);
        let passing = rig_runtime::read_checked::<Value>(self.schema, text).is_some();
        assert_eq!(typed, passing, "the type and any value: {text}");
        let Some(problems) = rig_runtime::judge_whole(self.schema, text) else {
            assert!(!passing, "what is no JSON passed: {text}");
            return;
        };
        assert_eq!(passing, problems.is_empty(), "{problems:?}: {text}");
        let value: Value = serde_json::from_str(text).expect("what is JSON to one is to the other");
        assert_eq!(passing, self.peer.is_valid(&value), "{problems:?}: {text}");
    }
}
