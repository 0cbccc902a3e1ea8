//! Do all ways to judge an answer agree?

use jsonschema::{Draft, Validator};
use rig_spec::Schema;
use serde_json::Value;

/// A schema and those who judge by it.
pub struct Judges {
    schema: &'static Schema,
    peer: Validator,
    /// Whether the type of the schema takes an answer.
    typed: fn(&'static Schema, &str) -> bool,
}

/// The schemas, and an answer that conforms to each.
pub const CASES: [(&str, &str); 4] = [
    (
        include_str!("answers/ticket.schema.json"),
        r#"{"title":"ab","priority":"low","count":10.0,"ratio":0.5,"parent":null,"tags":["a"],"events":[{"kind":"open","at":1},{"why":null,"kind":"drop"}]}"#,
    ),
    (
        include_str!("answers/pairs.schema.json"),
        r#"{"a":"xyz","b":1,"x1":null}"#,
    ),
    (
        include_str!("answers/tree.schema.json"),
        r#"{"v":1,"kids":[{"v":"a","kids":[]}]}"#,
    ),
    (
        include_str!("answers/links.schema.json"),
        r#"{"next":{"next":[1,{"next":2,"v":"a"}],"v":3},"v":"b"}"#,
    ),
];

/// What the route compiler generates of them.
#[allow(dead_code)]
mod generated {
    pub mod ticket {
        use rig::__private as __rig;

        include!(concat!(env!("OUT_DIR"), "/ticket.rs"));
    }
    pub mod pairs {
        use rig::__private as __rig;

        include!(concat!(env!("OUT_DIR"), "/pairs.rs"));
    }
    pub mod tree {
        use rig::__private as __rig;

        include!(concat!(env!("OUT_DIR"), "/tree.rs"));
    }
    pub mod links {
        use rig::__private as __rig;

        include!(concat!(env!("OUT_DIR"), "/links.rs"));
    }
}

use generated::{links::Links, pairs::Pairs, ticket::Ticket, tree::Tree};

impl Judges {
    /// Returns those of every schema.
    ///
    /// # Panics
    ///
    /// If one of the schemas is none.
    #[must_use]
    pub fn all() -> Vec<Self> {
        let typed: [fn(&'static Schema, &str) -> bool; 4] = [
            |schema, text| rig_runtime::read_checked::<Ticket>(schema, text).is_some(),
            |schema, text| rig_runtime::read_checked::<Pairs>(schema, text).is_some(),
            |schema, text| rig_runtime::read_checked::<Tree>(schema, text).is_some(),
            |schema, text| rig_runtime::read_checked::<Links>(schema, text).is_some(),
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
        // `serde_json` would read such keys as its own.
        if text.contains("serde_json") {
            return;
        }
        let typed = (self.typed)(self.schema, text);
        let passing = rig_runtime::read_checked::<Value>(self.schema, text).is_some();
        // Integers beyond 64 bits are in no type, and in no JSON value.
        let may_be_large = text.contains(['e', 'E']) || has_long_number(text);
        assert!(
            typed == passing || (passing && may_be_large),
            "the type and any value: {text}"
        );
        let Some(problems) = rig_runtime::judge_whole(self.schema, text) else {
            assert!(!passing, "what is no JSON passed: {text}");
            return;
        };
        assert!(
            passing == problems.is_empty() || (!passing && may_be_large),
            "{problems:?}: {text}"
        );
        let value: Value = serde_json::from_str(text).expect("what is JSON to one is to the other");
        assert_eq!(
            problems.is_empty(),
            self.peer.is_valid(&value),
            "{problems:?}: {text}"
        );
    }
}

/// Returns whether a text has a number of nineteen digits or more.
fn has_long_number(text: &str) -> bool {
    let mut digits = text.split(|letter: char| !letter.is_ascii_digit());
    digits.any(|digits| digits.len() >= 19)
}
