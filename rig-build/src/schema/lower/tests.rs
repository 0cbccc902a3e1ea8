//! What single keywords become.

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

/// Lowers a schema, and returns what is sent and what the receipt says: `keyword at pointer: fate`.
fn lowered(kind: NativeSchema, schema: &str) -> (String, Vec<String>) {
    let root = read(schema).expect("the schema is JSON");
    let lowered = lower(kind, &root).expect("the dialect has a form for it");
    let notes = lowered.receipt.iter();
    let notes = notes.map(|note| format!("{} at {}: {:?}", note.keyword, note.pointer, note.fate));
    (
        lowered.json.unwrap_or_else(|| schema.to_owned()),
        notes.collect(),
    )
}

/// Compares what OpenAI is sent for one property `p`, which is required.
fn property(cases: &[(&str, &str)]) {
    for (property, expected) in cases {
        let within = |property: &str| {
            format!(
                r#"{{"type":"object","properties":{{"p":{property}}},"required":["p"],"additionalProperties":false}}"#
            )
        };
        let (sent, _) = lowered(NativeSchema::OpenAiStrict, &within(property));
        assert_eq!(sent, within(expected));
    }
}

#[test]
fn what_cannot_be_enforced_is_said_in_the_description() {
    property(&[
        (
            r#"{"type":"string","description":"A title","maxLength":80}"#,
            r#"{"type":"string","description":"A title. At most 80 characters."}"#,
        ),
        (
            r#"{"type":"string","minLength":1,"format":"uri"}"#,
            r#"{"type":"string","description":"At least 1 character; format uri."}"#,
        ),
        (
            r#"{"type":"string","pattern":"^(?!x)"}"#,
            r#"{"type":"string","description":"Matches ^(?!x)."}"#,
        ),
        (
            r#"{"type":"array","items":{"type":"integer"},"uniqueItems":true,"maxItems":3}"#,
            r#"{"type":"array","description":"No item twice.","maxItems":3,"items":{"type":"integer"}}"#,
        ),
    ]);
}

#[test]
fn what_means_the_same_is_said_as_the_dialect_has_it() {
    property(&[
        (r#"{"const":"a"}"#, r#"{"type":"string","enum":["a"]}"#),
        (
            r#"{"type":"string","enum":["a",null,"a"]}"#,
            r#"{"type":"string","enum":["a"]}"#,
        ),
        (
            r#"{"oneOf":[{"type":"string"},{"type":"null"}]}"#,
            r#"{"anyOf":[{"type":"string"},{"type":"null"}]}"#,
        ),
        (
            r#"{"allOf":[{"type":["integer","null"],"minimum":1},{"type":"number","minimum":3}]}"#,
            r#"{"type":"integer","minimum":3}"#,
        ),
        (
            r#"{"type":"integer","anyOf":[{"minimum":5},{"maximum":1}]}"#,
            r#"{"anyOf":[{"type":"integer","minimum":5},{"type":"integer","maximum":1}]}"#,
        ),
        (
            r#"{"type":"array","prefixItems":[{"type":"string"},{"type":"string"}],"items":false}"#,
            r#"{"type":"array","description":"In this order: {\"type\":\"string\"}, {\"type\":\"string\"}.","items":{"type":"string"}}"#,
        ),
    ]);
}

/// Properties keep their order, since models write in it.
#[test]
fn an_optional_property_becomes_nullable_and_comes_back_absent() {
    let schema = r##"{"type":"object","properties":{"z":{"type":"string"},"a":{"enum":["x"]},"n":{"type":["string","null"]},"r":{"$ref":"#"}},"required":["a"]}"##;
    let root = read(schema).unwrap();
    let found = lower(NativeSchema::OpenAiStrict, &root).unwrap();
    let sent = found.json.unwrap();
    let order = ["\"z\":", "\"a\":", "\"n\":", "\"r\":"].map(|key| sent.find(key).unwrap());
    assert!(order.is_sorted(), "{sent}");
    assert!(sent.contains(r#""required":["z","a","n","r"]"#), "{sent}");
    // What may be null by itself stays null: the file takes it, and cannot tell it from absent.
    assert_eq!(found.shapes[0].absent, ["z", "r"]);
    assert_eq!(found.shapes.len(), 1);
    assert_eq!(
        found.shapes[0].within,
        [(Step::Property("r".to_owned()), 0)]
    );
}

#[test]
fn a_root_that_is_no_object_is_wrapped() {
    let root = read(r#"{"type":"array","items":{"type":"string"}}"#).unwrap();
    let wrapped_in = |kind| lower(kind, &root).unwrap().wrapped_in;
    let answer = Some("answer".to_owned());
    assert_eq!(wrapped_in(NativeSchema::OpenAiStrict), answer);
    assert_eq!(wrapped_in(NativeSchema::Anthropic), answer);
    assert_eq!(wrapped_in(NativeSchema::Gemini), None);
}

#[test]
fn a_schema_that_is_in_the_dialect_already_is_sent_as_it_is_written() {
    let schema = r#"{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false}"#;
    for kind in super::laws::KINDS {
        let found = lower(kind, &read(schema).unwrap()).unwrap();
        assert!(
            found.is_as_written() && found.receipt.is_empty(),
            "{kind:?}"
        );
    }
}

#[test]
fn what_has_no_form_is_an_obstacle_with_its_place() {
    use NativeSchema::{Anthropic, Fireworks, Gemini, OpenAiStrict};
    let object = |property: &str| format!(r#"{{"type":"object","properties":{{"p":{property}}}}}"#);
    let deep = (0..11).fold(r#"{"type":"string"}"#.to_owned(), |inner, _| object(&inner));
    let many = vec![r#"{"type":["string","null"]}"#; 17].join(",");
    let cases = [
        (
            OpenAiStrict,
            object(r#"{"type":"object","additionalProperties":{"type":"string"}}"#),
            "/properties/p",
        ),
        (
            OpenAiStrict,
            object(r#"{"type":"object"}"#),
            "/properties/p",
        ),
        (OpenAiStrict, object("{}"), "/properties/p"),
        (
            OpenAiStrict,
            r#"{"type":"object","properties":{"a":{}},"required":["b"]}"#
                .replace("{}", r#"{"type":"null"}"#),
            "/",
        ),
        (OpenAiStrict, deep, "/"),
        (Anthropic, object(r##"{"$ref":"#"}"##), "/"),
        (Anthropic, format!(r#"{{"anyOf":[{many}]}}"#), "/"),
        (
            Gemini,
            r##"{"type":"object","properties":{"p":{"$ref":"#"}},"required":["p"]}"##.to_owned(),
            "/",
        ),
        (
            Fireworks,
            r#"{"allOf":[{"type":"string","pattern":"a"},{"pattern":"b"}]}"#.to_owned(),
            "/",
        ),
    ];
    for (kind, schema, pointer) in cases {
        let found = lower(kind, &read(&schema).unwrap());
        let found = found
            .err()
            .unwrap_or_else(|| panic!("{kind:?} takes {schema}"));
        assert_eq!(found.pointer, pointer, "{schema}: {}", found.reason);
    }
}

#[test]
fn the_receipt_says_what_became_of_each_keyword() {
    let schema = r#"{"type":"object","properties":{"a":{"type":"integer","minimum":1},"b":{"oneOf":[{"type":"string"},{"type":"string","maxLength":3}]}},"required":["a","b"],"if":{},"then":{"required":["a"]}}"#;
    let (_, notes) = lowered(NativeSchema::Anthropic, schema);
    assert_eq!(
        notes,
        [
            "if at /: OnlyHere",
            "minimum at /properties/a: Coached",
            "maxLength at /properties/b/oneOf/1: Coached",
            "oneOf at /properties/b: OnlyHere",
            "additionalProperties at /: Narrower",
        ]
    );
}
