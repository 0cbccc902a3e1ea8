//! What is sent?

use rig::transport::Request;
use serde_json::{Value, json};
use tests::routes::{AnythingInput, ProfileInput, anything, ladder, messages, patient, profile};
use tests::{check, messages_reply};

use crate::{BAD, BOTH, GOOD, good, messages_input, patient_input, question};

/// The schema of every route here, compact, in the file's key order: models write in the schema's order.
const SCHEMA: &str = r#"{"$schema":"https://json-schema.org/draft/2020-12/schema","title":"Reply","description":"What the desk answers.","type":"object","properties":{"verdict":{"enum":["yes","no"],"description":"The answer in a word; it comes first."},"because":{"type":"string","description":"Why."},"also":{"type":["string","null"],"description":"What else there is to say."}},"required":["verdict","because","also"],"additionalProperties":false}"#;

/// An answer in its simplest form.
const SKELETON: &str = r#"{"verdict":"yes","because":"…","also":"…"}"#;

/// The schema as the dialects of the built-in providers have it.
const LOWERED: &str = r#"{"type":"object","title":"Reply","description":"What the desk answers.","properties":{"verdict":{"type":"string","description":"The answer in a word; it comes first.","enum":["yes","no"]},"because":{"type":"string","description":"Why."},"also":{"type":["string","null"],"description":"What else there is to say."}},"required":["verdict","because","also"],"additionalProperties":false}"#;

const SERVED: &str = r#"
    1 north/n1 conformant 100+20 $0.00014
    = {"verdict":"yes","because":"it is","also":null}
"#;

fn header<'a>(request: &'a Request, name: &str) -> Option<&'a str> {
    let found = request.headers.iter().find(|(known, _)| *known == name);
    found.map(|(_, value)| value.as_str())
}

/// The whole request of the chat dialect, byte for byte.
#[test]
fn a_native_candidate_gets_the_schema_as_it_is_written() {
    let seen = check(
        BOTH,
        [good()],
        |rig| ladder(question()).on(rig).run(),
        SERVED,
    );
    let expected = format!(
        r#"{{"model":"n1","messages":[{{"role":"system","content":"Decide this case.\n\nIs it so?\n"}},{{"role":"user","content":"Answer now, with the JSON value only."}}],"temperature":0.2,"top_p":0.9,"max_tokens":256,"response_format":{{"type":"json_schema","json_schema":{{"name":"Reply","schema":{SCHEMA}}}}}}}"#
    );
    assert_eq!(seen.text(1), expected);
    let request = seen.request(1);
    assert_eq!(request.url, "http://north.test/v1/chat/completions");
    assert_eq!(header(request, "content-type"), Some("application/json"));
    assert_eq!(
        header(request, "authorization"),
        Some("Bearer OPEN-SESAME-north")
    );
}

/// JSON mode enforces a form and no schema, so the prompt states it.
#[test]
fn a_json_mode_candidate_is_coached() {
    let seen = check(
        "south",
        [good()],
        |rig| ladder(question()).on(rig).run(),
        r#"
        1 south/s1 conformant 100+20 $0.000014
        = {"verdict":"yes","because":"it is","also":null}
        "#,
    );
    assert_eq!(
        seen.body(1)["response_format"],
        json!({ "type": "json_object" })
    );
    assert_eq!(
        seen.system(1),
        format!(
            "Decide this case.\n\nIs it so?\n\nAnswer with exactly one JSON value: no prose, no code fence.\nIt has to conform to this JSON Schema:\n{SCHEMA}\nIt looks like this, with your values in place of these:\n{SKELETON}"
        )
    );
}

/// A host that promises nothing is only told, and one without a key gets no header for it.
#[test]
fn a_host_without_capabilities_is_only_coached() {
    let input = AnythingInput {
        data: json!("text"),
        count: 1,
        note: Some("n".to_owned()),
    };
    let seen = check(
        BOTH,
        [rig::testing::Scripted::chat("7")],
        |rig| anything(input).on(rig).run(),
        "1 open/o1 conformant 100+20\n= 7",
    );
    assert_eq!(
        seen.body(1),
        json!({
            "model": "o1",
            "messages": [
                {
                    "role": "system",
                    "content": "text x 1; n; {\"braces\": {}}\n\nAnswer with exactly one JSON value: no prose, no code fence.",
                },
                { "role": "user", "content": "Answer now, with the JSON value only." },
            ],
        })
    );
    let request = seen.request(1);
    assert_eq!(request.url, "http://open.test/chat/completions");
    assert_eq!(header(request, "authorization"), None);
}

/// The tier is asked for where the provider has it by name; the row says what was asked and what served.
#[test]
fn a_tier_is_asked_for_where_there_is_one() {
    let served = |tier: &str| {
        let mut body: Value =
            serde_json::from_str(&rig::testing::chat_completion(GOOD, "stop", 100, 20)).unwrap();
        body["service_tier"] = tier.into();
        rig::testing::Scripted::status(200, body.to_string())
    };
    let seen = check(
        "openai anthropic",
        [served("flex")],
        |rig| patient(patient_input()).on(rig).run(),
        r#"
        1 openai/gpt-5.4-mini conformant 100+20 $0.0000825 flex>flex
        = {"verdict":"yes","because":"it is","also":null}
        "#,
    );
    assert_eq!(seen.body(1)["service_tier"], "flex");
    let format = &seen.body(1)["response_format"]["json_schema"];
    assert_eq!(
        (&format["strict"], &format["name"]),
        (&json!(true), &json!("Reply"))
    );
    assert!(seen.text(1).contains(LOWERED));
    assert_eq!(
        seen.request(1).url,
        "https://api.openai.com/v1/chat/completions"
    );

    let seen = check(
        "anthropic",
        [messages_reply(GOOD)],
        |rig| patient(patient_input()).on(rig).run(),
        r#"
        1 anthropic/claude-haiku-4-5 conformant 130+20 cached 30 $0.000203 flex>standard
        = {"verdict":"yes","because":"it is","also":null}
        "#,
    );
    assert!(
        seen.body(1).get("service_tier").is_none(),
        "it has no flex tier"
    );
}

/// The messages dialect through a whole ladder: an invalid answer, its coached retry, the next candidate.
#[test]
fn the_messages_dialect_goes_down_a_ladder() {
    let seen = check(
        "openai anthropic",
        [messages_reply(BAD), messages_reply("Yes."), good()],
        |rig| messages(messages_input()).on(rig).run(),
        r#"
        1 anthropic/claude-haiku-4-5 content_invalid 130+20 cached 30 $0.000203 priority>standard
        2 anthropic/claude-haiku-4-5 content_invalid 130+20 cached 30 $0.000203 priority>standard
        3 openai/gpt-5.4-mini conformant 100+20 $0.00033 priority>-
        = {"verdict":"yes","because":"it is","also":null}
        "#,
    );
    let request = seen.request(1);
    assert_eq!(request.url, "https://api.anthropic.com/v1/messages");
    assert_eq!(header(request, "x-api-key"), Some("OPEN-SESAME-anthropic"));
    assert_eq!(header(request, "anthropic-version"), Some("2023-06-01"));
    assert_eq!(header(request, "authorization"), None);
    let schema: Value = serde_json::from_str(LOWERED).unwrap();
    assert_eq!(
        seen.body(1),
        json!({
            "model": "claude-haiku-4-5",
            "max_tokens": 300,
            "system": "Decide this case.\n\nIs it so?\n",
            "messages": [{ "role": "user", "content": "Answer now, with the JSON value only." }],
            // The dialect ends at 1.
            "temperature": 1.0,
            "output_config": { "format": { "type": "json_schema", "schema": schema } },
            "service_tier": "auto",
        })
    );
    assert!(seen.text(1).contains(LOWERED));
    // L15
    assert!(seen.system(2).contains(SCHEMA));
    assert_eq!(seen.body(3)["max_completion_tokens"], 300);
    assert_eq!(seen.body(3)["temperature"], 1.5);
}

fn profile_input() -> ProfileInput {
    ProfileInput {
        text: "Ada".to_owned(),
    }
}

/// C8: a dialect without optional properties and lists is asked in its own form, and read back in the route's.
#[test]
fn a_lowered_schema_is_undone_before_the_gate() {
    let answer =
        r#"{"answer":[{"name":"Ada","nick":null,"born":null},{"name":"Bo","nick":"B","born":1}]}"#;
    let seen = check(
        "openai",
        [rig::testing::Scripted::chat(answer)],
        |rig| profile(profile_input()).on(rig).run(),
        r#"
        1 openai/gpt-5.4-mini conformant 100+20 $0.000165
        = [{"name":"Ada","born":null},{"name":"Bo","nick":"B","born":1}]
        "#,
    );
    let sent = r#""strict":true,"schema":{"type":"object","properties":{"answer":{"type":"array","title":"Profiles","items":{"type":"object","title":"Profile","properties":{"name":{"type":"string","description":"At most 40 characters."},"nick":{"type":["string","null"]},"born":{"type":["integer","null"]}},"required":["name","nick","born"],"additionalProperties":false}}},"required":["answer"],"additionalProperties":false}"#;
    assert!(seen.text(1).contains(sent), "{}", seen.text(1));
}

/// What a dialect does not enforce is held here all the same, and a host that ignores the schema is read as before.
#[test]
fn the_gate_holds_the_files_schema_whatever_was_sent() {
    let long = format!(r#"{{"answer":[{{"name":"{}"}}]}}"#, "a".repeat(41));
    check(
        "anthropic",
        [messages_reply(&long)],
        |rig| profile(profile_input()).on(rig).run(),
        r#"
        1 anthropic/claude-haiku-4-5 content_invalid 130+20 cached 30 $0.000203 ->standard
        ! content_invalid anthropic/claude-haiku-4-5: the answer misses the schema at `/0/name` (maxLength)
        (openai/gpt-5.4-mini has no key, anthropic/claude-haiku-4-5 content_invalid)
        "#,
    );
    check(
        "anthropic",
        [messages_reply(r#"[{"name":"Ada"}]"#)],
        |rig| profile(profile_input()).on(rig).run(),
        r#"
        1 anthropic/claude-haiku-4-5 conformant 130+20 cached 30 $0.000203 ->standard
        = [{"name":"Ada"}]
        "#,
    );
}
