//! What do odd streams say?

use proptest::prelude::*;
use rig_spec::{ANTHROPIC, Dialect, FailureClass, GEMINI, OPENAI, Provider};

use super::*;
use crate::provider::Called;
use crate::provider::fault::UNREADABLE;
use crate::provider::recordings::RESPONSES;

mod ends;

/// Reads the events of these data, and then the end of the body.
fn read(provider: &'static Provider, events: &[&str]) -> Result<Reply, Box<Failed>> {
    let mut reading = Reading::new(provider, 200, Headers::default());
    for event in events {
        reading.push(format!("data: {event}\n\n").as_bytes());
    }
    reading.finish(true).map_err(Box::new)
}

const STOP: &str = r#"{"choices":[{"delta":{},"finish_reason":"stop"}]}"#;

fn calls(pieces: &[&str]) -> Vec<Called> {
    let chunk = |piece: &&str| {
        format!(r#"{{"choices":[{{"index":0,"delta":{{"tool_calls":[{piece}]}}}}]}}"#)
    };
    let chunks: Vec<_> = pieces.iter().map(chunk).collect();
    let mut events: Vec<_> = chunks.iter().map(String::as_str).collect();
    events.push(STOP);
    read(&OPENAI, &events).unwrap().tool_calls
}

fn call(id: &str, name: &str, arguments: &str) -> Called {
    Called {
        id: id.to_owned(),
        name: name.to_owned(),
        arguments: arguments.to_owned(),
    }
}

#[test]
fn tool_calls_are_told_apart_however_a_host_numbers_them() {
    let both = [call("1", "a", r#"{"x":1}"#), call("2", "b", "{}")];
    let ways: [&[&str]; 5] = [
        &[
            r#"{"index":0,"id":"1","function":{"name":"a","arguments":""}}"#,
            r#"{"index":1,"id":"2","function":{"name":"b","arguments":"{"}}"#,
            r#"{"index":0,"function":{"arguments":"{\"x\""}}"#,
            r#"{"index":0,"id":null,"function":{"name":null,"arguments":":1}"}}"#,
            r#"{"index":1,"id":"","function":{"arguments":"}"}}"#,
        ],
        // At once, without an index.
        &[
            r#"{"id":"1","function":{"name":"a","arguments":"{\"x\":1}"}},{"id":"2","function":{"name":"b","arguments":"{}"}}"#,
        ],
        // In pieces, without an index.
        &[
            r#"{"id":"1","function":{"name":"a","arguments":"{\"x\""}}"#,
            r#"{"function":{"arguments":":1}"}}"#,
            r#"{"id":"2","function":{"name":"b","arguments":"{"}}"#,
            r#"{"function":{"arguments":"}"}}"#,
        ],
        // All at the same place, with the id in each piece.
        &[
            r#"{"index":0,"id":"1","function":{"name":"a","arguments":"{\"x\""}}"#,
            r#"{"index":0,"id":"1","function":{"name":"a","arguments":":1}"}}"#,
            r#"{"index":0,"id":"2","function":{"name":"b","arguments":"{}"}}"#,
        ],
        // Arguments as an object.
        &[
            r#"{"index":0,"id":"1","function":{"name":"a","arguments":{"x":1}}}"#,
            r#"{"index":1,"id":"2","function":{"name":"b","arguments":{}}}"#,
        ],
    ];
    for pieces in ways {
        assert_eq!(calls(pieces), both, "{pieces:?}");
    }
}

// K4, K5
#[test]
fn what_is_no_answer_has_its_class() {
    use FailureClass::{CapacityShed, ConfigAuth, Network};
    let text = r#"{"choices":[{"delta":{"content":"{}"}}]}"#;
    let empty = r#"{"choices":[{"delta":{"content":"{}"},"finish_reason":""}]}"#;
    let cases: [(&'static Provider, &[&str], FailureClass, &str); 14] = [
        (&OPENAI, &[text], Network, CUT),
        (&OPENAI, &[empty, "[DONE]"], Network, CUT),
        (&OPENAI, &[text, "{\"choices\":[{"], Network, UNREADABLE),
        (&OPENAI, &[text, "wo}rd", STOP], Network, UNREADABLE),
        (&OPENAI, &[], Network, NO_ANSWER),
        (&OPENAI, &["[DONE]"], Network, NO_ANSWER),
        (
            &OPENAI,
            &[r#"{"choices":[]}"#, "[1]", "[DONE]"],
            Network,
            NO_ANSWER,
        ),
        (
            &OPENAI,
            &[text, r#"{"error":"busy: overloaded"}"#],
            CapacityShed,
            "busy: overloaded",
        ),
        (
            &OPENAI,
            &[text, r#"{"object":"error","message":"slow","code":429}"#],
            CapacityShed,
            "slow",
        ),
        (
            &OPENAI,
            &[r#"{"choices":[{"error":{"code":401,"message":"who?"}}]}"#],
            ConfigAuth,
            "who?",
        ),
        (&OPENAI, &[r#"{"detail":"broken"}"#], Network, "broken"),
        (&ANTHROPIC, &[r#"{"type":"message_start"}"#], Network, CUT),
        (&ANTHROPIC, &[r#"{"type":"ping"}"#], Network, NO_ANSWER),
        (
            &ANTHROPIC,
            &[r#"{"error":{"type":"overloaded_error","message":"m"}}"#],
            CapacityShed,
            "m",
        ),
    ];
    for (provider, events, class, message) in cases {
        let failed = read(provider, events).unwrap_err();
        assert_eq!(
            (failed.class, failed.message.as_str()),
            (class, message),
            "{events:?}"
        );
    }
}

#[test]
fn nothing_counts_after_the_end() {
    let text = r#"{"choices":[{"delta":{"content":"a"}}],"usage":{"prompt_tokens":1,"completion_tokens":1}}"#;
    let after = r#"{"choices":[{"delta":{"content":"b"}}],"error":"late"}"#;
    let reply = read(&OPENAI, &[text, STOP, "[DONE]", after, "word"]).unwrap();
    assert_eq!((reply.text.as_str(), reply.usage.tokens_in), ("a", Some(1)));
    let mut reading = Reading::new(&OPENAI, 200, Headers::default());
    reading.push(format!("data: {STOP}\n\n").as_bytes());
    assert!(!reading.is_over());
    reading.push(b"data: [DONE]\n\n");
    assert!(reading.is_over());
}

// A host that has told of an error may keep the connection open, and the next candidate need not wait for it.
#[test]
fn an_error_is_the_end() {
    for (provider, error) in [
        (&OPENAI, r#"{"error":{"message":"m"}}"#),
        (&ANTHROPIC, r#"{"type":"error","error":{"message":"m"}}"#),
        (&OPENAI, "wo}rd"),
    ] {
        let mut reading = Reading::new(provider, 200, Headers::default());
        reading.push(format!("data: {error}\n\n").as_bytes());
        assert!(reading.is_over(), "{error}");
        assert!(reading.finish(false).is_err());
    }
}

#[test]
fn the_last_event_needs_no_empty_line_behind_it() {
    let text = r#"data: {"choices":[{"delta":{"content":"a"}}]}"#;
    for end in ["", "\n", "\r\n", "\n\n"] {
        let mut reading = Reading::new(&OPENAI, 200, Headers::default());
        reading.push(format!("{text}\n\ndata: {STOP}{end}").as_bytes());
        assert_eq!(
            reading.finish(false).map(|reply| reply.text),
            Ok("a".to_owned())
        );
    }
}

#[test]
fn usage_comes_wherever_a_host_puts_it() {
    let usage = |last: &str| {
        let early = r#"{"choices":[{"delta":{"content":"a"}}],"usage":{"prompt_tokens":9,"completion_tokens":1}}"#;
        let usage = read(&OPENAI, &[early, STOP, last, "[DONE]"]).unwrap().usage;
        (usage.tokens_in, usage.tokens_out)
    };
    let counts = r#"{"prompt_tokens":9,"completion_tokens":5}"#;
    for last in [
        format!(r#"{{"choices":[],"usage":{counts}}}"#),
        format!(r#"{{"choices":[{{"delta":null}}],"usage":{counts}}}"#),
        format!(r#"{{"choices":[],"usage":null,"x_groq":{{"usage":{counts}}}}}"#),
    ] {
        assert_eq!(usage(&last), (Some(9), Some(5)), "{last}");
    }
    assert_eq!(usage(r#"{"choices":[],"usage":null}"#), (Some(9), Some(1)));
}

// K4: a list of errors, as hosts send it to those who ask for no events, may come as an event all the same.
#[test]
fn an_event_may_be_a_list() {
    let error = r#"[{"error":{"code":503,"message":"overloaded","status":"UNAVAILABLE"}}]"#;
    let failed = read(&GEMINI, &[error]).unwrap_err();
    assert_eq!(failed.class, FailureClass::CapacityShed);
}

// What the bytes are decides: neither the content type nor what was asked for.
#[test]
fn a_whole_response_is_read_as_one() {
    let answer = br#"{"choices":[{"message":{"content":"a"}}]}"#;
    for start in [&b""[..], b"\n \r\n", b"\xef\xbb\xbf"] {
        let body = [start, answer].concat();
        let mut reading = Reading::new(&OPENAI, 200, Headers::default());
        for byte in &body {
            assert_eq!(reading.push(&[*byte]).text, "");
        }
        assert!(!reading.is_stream());
        // A mark of the byte order is no JSON, as ever.
        let is_read = !start.starts_with(b"\xef");
        assert_eq!(reading.finish(false).is_ok(), is_read);
    }
    let mut reading = Reading::new(&OPENAI, 429, Headers::default());
    reading.push(b"data: {\"error\":{\"message\":\"m\"}}\n\n");
    assert!(!reading.is_stream());
    assert_eq!(
        reading.finish(false).unwrap_err().class,
        FailureClass::CapacityShed
    );
}

/// Parts of streams, and of what is none.
fn part() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "data: ",
        "data:",
        "event: error\n",
        ": \u{1f980}\n",
        "\n",
        "\r\n",
        "\n\n",
        "\u{feff}",
        "[DONE]",
        r#"{"choices":[{"delta":{"content":"ä"}}]}"#,
        r#"{"choices":[{"delta":{"content":["#,
        r#"{"choices":[{"delta":{"content":[{"type":"text","text":"b"}],"tool_calls":[{"index":7}]}}]}"#,
        r#"{"choices":[{"delta":7,"finish_reason":"stop"}],"usage":7}"#,
        r#"{"choices":7,"error":null}"#,
        r#"{"type":"message_start","message":{"usage":{"input_tokens":3}}}"#,
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"c"}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"d"}}"#,
        r#"{"type":"content_block_delta","index":9,"delta":{"type":"citations_delta"}}"#,
        r#"{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":4}}"#,
        r#"{"type":"message_stop"}"#,
        r#"{"candidates":[{"content":{"parts":[{"text":"e"},{"text":"f","thought":true}]}}]}"#,
        r#"[{"candidates":["g",{"content":"h"}]},{"candidates":[{"content":"h","finishReason":"STOP"}]}]"#,
        r#"{"type":"response.output_text.delta","delta":"i"}"#,
        r#"{"type":"response.output_item.done","item":{"type":"message","content":[{"type":"output_text","text":"i"}]}}"#,
        r#"{"type":"response.completed","response":{"output":7}}"#,
        r#"{"type":"response.incomplete","response":"j"}"#,
        "null",
        "[[1]]",
        "7",
        "\"x\"",
        "{",
        "ping",
        "event: ping\n",
        ": alive",
    ])
}

proptest! {
    // K5: any bytes are read, and the same way however they are cut.
    #[test]
    fn any_body_is_read_the_same_however_it_is_cut(
        parts in prop::collection::vec(part(), 0..24),
        junk in prop::collection::vec(any::<u8>(), 0..4),
        cuts in prop::collection::vec(1..9_usize, 1..5),
    ) {
        let body = [parts.concat().as_bytes(), &junk].concat();
        for provider in [&OPENAI, &ANTHROPIC, &GEMINI, &RESPONSES] {
            let read = |sizes: &[usize]| {
                let mut reading = Reading::new(provider, 200, Headers::default());
                let (mut text, mut rest, mut sizes) = (String::new(), &body[..], sizes.iter().cycle());
                while !rest.is_empty() {
                    let size = sizes.next().unwrap();
                    let (piece, more) = rest.split_at((*size).min(rest.len()));
                    text.push_str(&reading.push(piece).text);
                    rest = more;
                }
                (text, reading.used(), reading.finish(true))
            };
            let whole = read(&[body.len().max(1)]);
            prop_assert_eq!(&read(&cuts), &whole);
            // The last event of the responses dialect has the text once more, and counts.
            let is_told_twice = provider.dialect == Dialect::OpenAiResponses;
            if let (text, _, Ok(reply)) = whole && !text.is_empty() && !is_told_twice {
                prop_assert_eq!(text, reply.text);
            }
        }
    }
}
