//! Tables of sizes, and hostile schemas.

use super::*;
use crate::diagnostic::Sink;
use crate::json::parse;
use crate::source::Sources;

/// Reads a schema, unless it repeats a key.
pub(super) fn read(schema: &str) -> Option<Node> {
    let mut sources = Sources::default();
    let source = sources.add("s.json".to_owned(), schema.to_owned());
    let mut sink = Sink::default();
    parse(&sources, source, &mut sink).filter(|_| !sink.has_errors())
}

fn size(schema: &str) -> AnswerSize {
    answer_size(&read(schema).expect("the schema is JSON"))
}

/// Compares the sizes of schemas, in bytes, with those expected. A `u64::MAX` stands for none.
fn check(cases: &[(&str, u64, u64)]) {
    for (schema, shortest, longest) in cases {
        let found = size(schema);
        let bytes = found.shortest.map_or(u64::MAX, |shortest| shortest.bytes);
        assert_eq!(bytes, *shortest, "shortest of {schema}");
        let bytes = found.longest.unwrap_or(u64::MAX);
        assert_eq!(bytes, *longest, "longest of {schema}");
    }
}

const NONE: u64 = u64::MAX;

#[test]
fn scalars_and_given_values() {
    check(&[
        ("true", 1, NONE),
        ("{}", 1, NONE),
        ("false", NONE, 0),
        (r#"{"type":"null"}"#, 4, 4),
        (r#"{"type":"boolean"}"#, 4, 5),
        (r#"{"type":["boolean","null"]}"#, 4, 5),
        (r#"{"type":"string"}"#, 2, NONE),
        (r#"{"type":"string","minLength":3,"maxLength":5.0}"#, 5, 22),
        (r#"{"type":["string","null"],"maxLength":1}"#, 2, 6),
        (r#"{"minLength":3}"#, 1, NONE),
        (r#"{"enum":["ab","c",null]}"#, 3, 4),
        (r#"{"type":"string","enum":["abcd",1]}"#, 6, 6),
        (r#"{"const":{"a":[true,"\n\u0001é"],"b":1}}"#, 31, 31),
        (r#"{"const":100000}"#, 3, 6),
        (r#"{"const":0.001}"#, 4, 5),
        (r#"{"const":-12.50}"#, 5, 6),
        (r#"{"enum":["a"],"type":"integer"}"#, NONE, 0),
    ]);
}

#[test]
fn numbers_within_bounds() {
    check(&[
        (r#"{"type":"number","minimum":0,"maximum":1}"#, 1, NONE),
        (r#"{"type":"integer"}"#, 1, NONE),
        (r#"{"type":"integer","minimum":1,"maximum":5}"#, 1, 1),
        (r#"{"type":"integer","minimum":-10,"maximum":5}"#, 1, 3),
        (r#"{"type":"integer","exclusiveMinimum":9}"#, 2, NONE),
        (r#"{"type":"integer","minimum":1000,"maximum":9999}"#, 3, 4),
        (r#"{"type":"integer","maximum":-10}"#, 3, NONE),
        (r#"{"type":"number","minimum":1e50}"#, 4, NONE),
        (r#"{"type":"number","minimum":1e200}"#, 5, NONE),
    ]);
}

#[test]
fn objects_and_lists() {
    let person = r#"{"type":"object","properties":{"name":{"type":"string","maxLength":10},"age":{"type":"integer",
        "minimum":0,"maximum":150}},"required":["name","age"],"additionalProperties":false}"#;
    check(&[
        (r#"{"type":"object"}"#, 2, NONE),
        (r#"{"type":"object","required":["a","bc"]}"#, 14, NONE),
        (person, 19, 61),
        (r#"{"type":"object","minProperties":2}"#, 12, NONE),
        (
            r#"{"type":"object","minProperties":1,"properties":{"abc":{"type":"null"},"b":{"type":"boolean"}},
            "additionalProperties":false}"#,
            10,
            22,
        ),
        (
            r#"{"type":"object","required":["a"],"additionalProperties":{"type":"boolean"}}"#,
            10,
            NONE,
        ),
        (
            r#"{"type":"object","required":["a"],"additionalProperties":false}"#,
            NONE,
            2,
        ),
        (
            r#"{"type":"object","properties":{"a":false},"additionalProperties":false}"#,
            2,
            2,
        ),
        (r#"{"type":"array"}"#, 2, NONE),
        (
            r#"{"type":"array","items":{"type":"null"},"minItems":2,"maxItems":3}"#,
            11,
            16,
        ),
        (
            r#"{"type":"array","prefixItems":[{"type":"null"}],"items":false}"#,
            2,
            6,
        ),
        (
            r#"{"type":"array","prefixItems":[{"const":"ab"},{"type":"null"}],"minItems":3,"maxItems":3,
            "items":{"type":"boolean"}}"#,
            16,
            17,
        ),
        (
            r#"{"$schema":"http://json-schema.org/draft-07/schema#","type":"array","items":[{"type":"null"}],
            "additionalItems":false,"minItems":1}"#,
            6,
            6,
        ),
        (
            r#"{"type":"array","items":[{"type":"null"}],"minItems":1}"#,
            3,
            NONE,
        ),
        (r#"{"type":"array","maxItems":0}"#, 2, 2),
        (
            r#"{"type":"string","minLength":18446744073709551615}"#,
            NONE,
            NONE,
        ),
    ]);
}

#[test]
fn choices_parts_and_references() {
    check(&[
        (
            r#"{"anyOf":[{"type":"string","maxLength":2},{"type":"null"}]}"#,
            2,
            10,
        ),
        (r#"{"oneOf":[{"const":"abc"},{"const":"a"}]}"#, 3, 5),
        (
            r#"{"type":"object","anyOf":[{"required":["a"]},{"required":["bc"]}]}"#,
            7,
            NONE,
        ),
        (
            r#"{"allOf":[{"type":"string","minLength":4},{"maxLength":9}]}"#,
            6,
            38,
        ),
        (
            r##"{"$ref":"#/$defs/a","$defs":{"a":{"const":"abc"}}}"##,
            5,
            5,
        ),
        (
            r##"{"$ref":"#/$defs/a","minLength":7,"$defs":{"a":{"type":"string"}}}"##,
            9,
            NONE,
        ),
        (
            r##"{"$schema":"http://json-schema.org/draft-07/schema#","$ref":"#/definitions/a","minLength":7,
            "definitions":{"a":{"type":"string"}}}"##,
            2,
            NONE,
        ),
        (r##"{"$ref":"#anchor"}"##, 1, NONE),
        (
            r#"{"minLength":3,"type":"string","items":{"$schema":"x"}}"#,
            1,
            NONE,
        ),
        (
            r##"{"$defs":{"e":{"$id":"http://x/e","$ref":"#/$defs/a"},"a":{"const":"abc"}},"$ref":"#/$defs/a"}"##,
            1,
            NONE,
        ),
    ]);
}

/// A recursion that can end is as short as where it ends; one that cannot has no answer.
#[test]
fn recursion() {
    check(&[
        (
            r##"{"type":"object","properties":{"v":{"type":"null"},"next":{"$ref":"#"}},"required":["v"],
            "additionalProperties":false}"##,
            10,
            NONE,
        ),
        (
            r##"{"type":"object","properties":{"next":{"$ref":"#"}},"required":["next"]}"##,
            NONE,
            NONE,
        ),
        (
            r##"{"type":"object","properties":{"of":{"type":"array","items":{"$ref":"#"}}},"required":["of"]}"##,
            9,
            NONE,
        ),
        (r##"{"anyOf":[{"$ref":"#"},{"type":"null"}]}"##, 4, NONE),
        // The shortest `b` goes through `a`, whichever of the two is asked first.
        (
            r##"{"$ref":"#/$defs/a","$defs":{
            "a":{"anyOf":[{"type":"object","required":["b"],"properties":{"b":{"$ref":"#/$defs/b"}}},{"const":"x"}]},
            "b":{"anyOf":[{"type":"object","required":["a"],"properties":{"a":{"$ref":"#/$defs/a"}}},
            {"const":"a very long text"}]}}}"##,
            3,
            NONE,
        ),
        (
            r##"{"type":"array","minItems":2,"prefixItems":[{"$ref":"#/$defs/a"},{"$ref":"#/$defs/b"}],"$defs":{
            "a":{"anyOf":[{"type":"object","required":["b"],"properties":{"b":{"$ref":"#/$defs/b"}}},{"const":"x"}]},
            "b":{"anyOf":[{"type":"object","required":["a"],"properties":{"a":{"$ref":"#/$defs/a"}}},
            {"const":"a very long text"}]}}}"##,
            15,
            NONE,
        ),
    ]);
}

#[test]
fn word_edges_are_places_between_words_and_marks() {
    let cases = [
        ("true", 0),
        (r#"{"type":"boolean"}"#, 1),
        (r#"{"const":"ab"}"#, 2),
        (r#"{"const":"?"}"#, 0),
        (r#"{"type":"object","required":["name","_"]}"#, 2),
        (
            r#"{"type":"object","required":["a","b"],"properties":{"a":{"enum":["low","high"]},"b":{"type":"number"}}}"#,
            7,
        ),
    ];
    for (schema, edges) in cases {
        let found = size(schema).shortest.map(|shortest| shortest.word_edges);
        assert_eq!(found, Some(edges), "{schema}");
    }
}

/// Schemas made to take forever, or the whole stack.
#[test]
fn hostile_schemas_are_read_quickly() {
    let doubling: Vec<_> = (0..100)
        .map(|n| {
            let next = n + 1;
            format!(
                r##""d{n}":{{"type":"array","minItems":2,"maxItems":2,"prefixItems":[{{"$ref":"#/$defs/d{next}"}},{{"$ref":"#/$defs/d{next}"}}]}}"##
            )
        })
        .collect();
    let doubling = format!(
        r##"{{"$ref":"#/$defs/d0","$defs":{{{},"d100":{{"type":"null"}}}}}}"##,
        doubling.join(",")
    );
    let chain = |backwards: fn(usize) -> usize| {
        let links = (0..3000).map(|n| {
            let (from, to) = (backwards(n), backwards(n + 1));
            format!(r##""c{from}":{{"$ref":"#/$defs/c{to}"}}"##)
        });
        let links: Vec<_> = links.collect();
        let (first, last) = (backwards(0), backwards(3000));
        format!(
            r##"{{"$ref":"#/$defs/c{first}","$defs":{{{},"c{last}":{{"const":"end"}}}}}}"##,
            links.join(",")
        )
    };
    assert_eq!(size(&doubling).shortest, None);
    for schema in [chain(|n| n), chain(|n| 3000 - n)] {
        assert_eq!(size(&schema).longest, Some(5));
    }
    let deep = format!("{}true{}", r#"{"not":"#.repeat(100), "}".repeat(100));
    size(&deep);
}
