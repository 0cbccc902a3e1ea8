//! Does the work stay in proportion, whatever the schema refers to how often?

use rig_spec::Enforcement;
use serde_json::{Value, json};

use super::*;
use crate::conform::sample::Sampler;
use crate::steps;

/// Schemas by which a part of an answer could be judged anew at every level, and the levels.
const CHAINS: [(&str, &str, &str); 9] = [
    (
        r##"{"$ref":"#/$defs/n","$defs":{"n":{"anyOf":[{"type":"object","required":["next","v"],"properties":{"next":{"$ref":"#/$defs/n"},"v":{"type":"integer"}}},{"type":"object","required":["next","v"],"properties":{"next":{"$ref":"#/$defs/n"},"v":{"type":"string"}}},{"type":"integer"}]}}}"##,
        r#"{"next":"#,
        r#","v":"a"}"#,
    ),
    (
        r##"{"oneOf":[{"type":"object","required":["v"],"properties":{"next":{"$ref":"#"},"v":{"type":"integer"}}},{"type":"object","required":["v"],"properties":{"next":{"$ref":"#"},"v":{"type":"string"}}},{"type":"integer"}]}"##,
        r#"{"next":"#,
        r#","v":"a"}"#,
    ),
    (
        r##"{"properties":{"next":{"$ref":"#"}},"patternProperties":{"^n":{"$ref":"#"},"t$":{"$ref":"#"}}}"##,
        r#"{"next":"#,
        "}",
    ),
    (
        r##"{"items":{"$ref":"#"},"contains":{"$ref":"#"}}"##,
        "[",
        "]",
    ),
    (
        r##"{"properties":{"next":{"$ref":"#"}},"dependentSchemas":{"next":{"properties":{"next":{"$ref":"#"}}}}}"##,
        r#"{"next":"#,
        "}",
    ),
    (
        r##"{"if":{"properties":{"next":{"$ref":"#"}}},"then":{"properties":{"next":{"$ref":"#"}}}}"##,
        r#"{"next":"#,
        "}",
    ),
    (
        r##"{"allOf":[{"properties":{"next":{"$ref":"#"}}},{"properties":{"next":{"$ref":"#"}}}],"not":{"not":{"properties":{"next":{"$ref":"#"}}}}}"##,
        r#"{"next":"#,
        "}",
    ),
    (
        r##"{"anyOf":[{"properties":{"next":{"$ref":"#"}}},{"properties":{"next":{"$ref":"#"},"v":{}}}],"unevaluatedProperties":{"$ref":"#"}}"##,
        r#"{"more":1,"next":"#,
        "}",
    ),
    (
        r##"{"properties":{"next":{"$ref":"#"},"v":{"type":"string","pattern":"^(a+)+$"}},"patternProperties":{"^n":{"$ref":"#"}}}"##,
        r#"{"next":"#,
        r#","v":"a"}"#,
    ),
];

/// Sends an answer through the gate, and checks the steps.
fn judged(schema: &'static Schema, answer: &str) -> bool {
    let (passed, steps) =
        steps::of(|| gate(Some(schema), Enforcement::Coached, hold::<Value>, answer).is_ok());
    let nodes = ready(schema).unwrap().nodes.len();
    let most = 4 * nodes * answer.len() + 1_000;
    assert!(
        steps <= most,
        "{steps} steps, not {most}, by {}",
        schema.json
    );
    passed
}

#[test]
fn no_part_of_an_answer_is_judged_anew_at_every_level() {
    for (schema, open, close) in CHAINS {
        let schema = compiled(schema);
        for depth in [20, 120] {
            let chain = |leaf: &str| open.repeat(depth) + leaf + &close.repeat(depth);
            assert!(judged(schema, &chain("1")), "{}", schema.json);
            // Some are wrong by these and some are not; no pattern is searched for ever.
            let long = format!(r#"{{"next":1,"v":"{}!"}}"#, "a".repeat(4_000));
            for leaf in ["true", "[]", r#"{"v":true}"#, &long] {
                judged(schema, &chain(leaf));
            }
        }
    }
}

/// Each definition refers to the next one twice.
fn diamond(levels: usize, keyword: &str, more: &str) -> String {
    let level = |n: usize| match keyword {
        "properties" => format!(
            r##""L{n}":{{"type":"object"{more},"additionalProperties":false,"properties":{{"a":{{"$ref":"#/$defs/L{0}"}},"b":{{"$ref":"#/$defs/L{0}"}}}}}}"##,
            n + 1
        ),
        _ => format!(
            r##""L{n}":{{"{keyword}":[{{"$ref":"#/$defs/L{0}"}},{{"$ref":"#/$defs/L{0}"}}]{more}}}"##,
            n + 1
        ),
    };
    let levels_json: Vec<_> = (0..levels).map(level).collect();
    format!(
        r##"{{"$ref":"#/$defs/L0","$defs":{{{},"L{levels}":{{"type":["string","object"],"enum":["x","y",{{}}]}}}}}}"##,
        levels_json.join(",")
    )
}

// One value goes through at most so many conditions; more are an error of the schema.
#[test]
fn conditions_that_refer_to_the_same_twice_are_judged_once() {
    for keyword in ["allOf", "anyOf"] {
        for more in ["", r#","unevaluatedProperties":false"#, r#","minLength":1"#] {
            let schema = compiled(&diamond(14, keyword, more));
            assert!(judged(schema, "\"x\""), "{keyword}{more}");
            assert!(judged(schema, "{}"), "{keyword}{more}");
            assert!(!judged(schema, "\"z\""), "{keyword}{more}");
            assert!(!judged(schema, "[]"), "{keyword}{more}");
        }
    }
    assert!(rig_build::compile_schema(&diamond(30, "allOf", ""), &[]).is_err());
}

// FC-65
#[test]
fn samples_of_schemas_that_grow_are_drawn_in_few_steps() {
    let choices = |n: usize| {
        let branches = [0, 1, 2, 3].map(|value| {
            format!(r#"{{"properties":{{"k{n}":{{"const":{value}}}}},"required":["k{n}"]}}"#)
        });
        format!(r#"{{"anyOf":[{}]}}"#, branches.join(","))
    };
    let all_of: Vec<_> = (0..12).map(choices).collect();
    let all_of = format!(r#"{{"type":"object","allOf":[{}]}}"#, all_of.join(","));
    let required = r#","required":["a","b"]"#;
    for (schema, has_samples, most) in [
        (diamond(30, "properties", ""), true, 200_000),
        (all_of, true, 200_000),
        // The shortest answer has 2^30 leaves.
        (diamond(30, "properties", required), false, 200_000),
    ] {
        let schema = compiled(&schema);
        for seed in 0..30 {
            let (drawn, steps) =
                steps::of(|| Sampler::new(ready(schema).unwrap(), seed).answer(&json!({})));
            assert_eq!(drawn.is_some(), has_samples, "{seed}");
            assert!(
                steps <= most,
                "{steps} steps for seed {seed} of {:.80}",
                schema.json
            );
            if let Some(drawn) = drawn {
                assert!(judged(schema, &drawn.to_string()));
            }
        }
    }
}
