//! What keeps a stream alive, what ends it, and what it says of its usage meanwhile.

use super::*;

/// A stream of each dialect: its events, of which the last but so many come before the finish reason.
fn streams() -> [(&'static Provider, Vec<&'static str>, usize); 4] {
    [
        (
            &OPENAI,
            vec![
                r#"{"choices":[{"delta":{"role":"assistant","content":""}}],"usage":{"prompt_tokens":0,"completion_tokens":0,"total_tokens":0}}"#,
                r#"{"choices":[{"delta":{"content":"ok"}}]}"#,
                STOP,
                r#"{"choices":[],"usage":{"prompt_tokens":120,"completion_tokens":9,"total_tokens":129}}"#,
                r#"{"choices":[],"usage":{"prompt_tokens":0,"completion_tokens":9,"total_tokens":9}}"#,
            ],
            3,
        ),
        (
            &ANTHROPIC,
            vec![
                r#"{"type":"message_start","message":{"usage":{"input_tokens":100,"cache_read_input_tokens":20,"output_tokens":1}}}"#,
                r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#,
                r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"ok"}}"#,
                r#"{"type":"content_block_stop","index":0}"#,
                r#"{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"input_tokens":0,"output_tokens":9}}"#,
                r#"{"type":"message_delta","delta":{},"usage":{"input_tokens":0,"cache_read_input_tokens":0,"output_tokens":0}}"#,
            ],
            2,
        ),
        (
            &GEMINI,
            vec![
                r#"{"candidates":[{"content":{"parts":[{"text":"ok"}]}}],"usageMetadata":{"promptTokenCount":120,"candidatesTokenCount":9,"totalTokenCount":129}}"#,
                r#"{"candidates":[{"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":0,"candidatesTokenCount":0,"totalTokenCount":0}}"#,
            ],
            1,
        ),
        (
            &RESPONSES,
            vec![
                r#"{"type":"response.in_progress","response":{"usage":{"input_tokens":120,"output_tokens":9,"total_tokens":129}}}"#,
                r#"{"type":"response.output_text.delta","delta":"ok"}"#,
                r#"{"type":"response.output_item.done","item":{"type":"message","content":[{"type":"output_text","text":"ok"}]}}"#,
                r#"{"type":"response.completed","response":{"usage":{"input_tokens":0,"output_tokens":0,"total_tokens":0}}}"#,
            ],
            1,
        ),
    ]
}

fn begun(provider: &'static Provider, events: &[&str]) -> Reading<'static> {
    let mut reading = Reading::new(provider, 200, Headers::default());
    for event in events {
        reading.push(format!("data: {event}\n\n").as_bytes());
    }
    reading
}

/// A text, and the tokens that it used.
type Text = (String, [Option<u64>; 2]);

/// The outcome of a stream: its text and its usage, or its failure's class and message.
fn outcome(reading: Reading) -> Result<Text, (FailureClass, String)> {
    let reply = reading.finish(true);
    let reply = reply.map_err(|failed| (failed.class, failed.message))?;
    Ok((reply.text, [reply.usage.tokens_in, reply.usage.tokens_out]))
}

const KEEP_ALIVES: [&str; 14] = [
    ": comment\n\n",
    "\n\n",
    "event: ping\n\n",
    "event: ping\ndata: ping 2026-01-01\n\n",
    "event: ping\ndata: {\"type\": \"ping\"}\n\n",
    "data:\n\n",
    "data: : keepalive\n\n",
    "data: : OPENROUTER PROCESSING\n\n",
    "data: ping\n\n",
    "data: null\n\n",
    "data: \"\"\n\n",
    "data: {}\n\n",
    "data: {\"type\":\"keepalive\",\"message\":\"still here\"}\n\n",
    "data: [HEARTBEAT]\n\n",
];

// K9, FC-73: in every dialect, at every place, in every form; F: none of them is content.
#[test]
fn keep_alives_change_nothing() {
    for (provider, events, _) in streams() {
        let plain = outcome(begun(provider, &events));
        // T1, FC-75: a zero, or a part that is missing, takes no count back.
        assert_eq!(
            plain,
            Ok(("ok".to_owned(), [Some(120), Some(9)])),
            "{}",
            provider.name
        );
        for alive in KEEP_ALIVES {
            let mut reading = Reading::new(provider, 200, Headers::default());
            for event in &events {
                assert_eq!(
                    reading.push(alive.as_bytes()),
                    Heard::default(),
                    "{alive:?}"
                );
                reading.push(format!("data: {event}\n\n").as_bytes());
            }
            reading.push(alive.as_bytes());
            assert_eq!(outcome(reading), plain, "{} {alive:?}", provider.name);
        }
    }
}

// K9: what should have been content is not passed over, in any dialect; L18: after the finish reason no event should be.
#[test]
fn a_broken_event_is_network_until_the_finish_reason() {
    for (provider, events, after) in streams() {
        let plain = outcome(begun(provider, &events));
        for at in 0..=events.len() {
            let mut broken = events.clone();
            broken.insert(at, r#"{"choices":[{"delta":"#);
            let expected = if at + after > events.len() {
                plain.clone()
            } else {
                Err((FailureClass::Network, UNREADABLE.to_owned()))
            };
            let found = outcome(begun(provider, &broken));
            assert_eq!(found, expected, "{} at {at}", provider.name);
        }
    }
}

// L18: a stream is settled by its finish reason, and over with its end mark. What broke it says nothing then.
#[test]
fn a_finish_reason_settles_a_stream() {
    let broken = || Some(Failed::new(FailureClass::Timeout, "reset"));
    for (provider, events, after) in streams() {
        for length in 0..=events.len() {
            let reading = begun(provider, &events[..length]);
            let is_settled = length + after > events.len();
            assert_eq!(
                reading.is_settled(),
                is_settled,
                "{} {length}",
                provider.name
            );
            // This dialect's last event is its end mark as well.
            let is_over = is_settled && provider.name == RESPONSES.name;
            assert_eq!(reading.is_over(), is_over, "{} {length}", provider.name);
            match reading.end(broken(), true) {
                Ok(reply) => assert!(is_settled && reply.text == "ok"),
                Err(failed) => assert!(!is_settled && Some(failed) == broken()),
            }
        }
    }
    // The last event lacks the end of its line.
    for (provider, events, after) in streams() {
        let (last, first) = events[..=events.len() - after].split_last().unwrap();
        let mut reading = begun(provider, first);
        reading.push(format!("data: {last}").as_bytes());
        assert!(reading.end(broken(), true).is_ok(), "{}", provider.name);
    }
}

// K2, K4: so does the status of a failure. A body is whole once its JSON has closed.
#[test]
fn a_failure_is_settled_and_a_closed_json_is_complete() {
    let broken = || Some(Failed::new(FailureClass::Timeout, "reset"));
    let read = |status, body: &str| {
        let mut reading = Reading::new(&OPENAI, status, Headers::default());
        reading.push(body.as_bytes());
        assert_eq!(reading.is_settled(), status != 200);
        reading.end(broken(), false).map_err(|failed| failed.class)
    };
    let whole = r#"{"choices":[{"message":{"content":"ok"}}]}"#;
    let text = |body: &str| read(200, body).map(|reply| reply.text);
    assert_eq!(text(whole), Ok("ok".to_owned()));
    assert_eq!(text(&format!("{whole}\n\n")), Ok("ok".to_owned()));
    assert_eq!(text(&whole[..whole.len() - 1]), Err(FailureClass::Timeout));
    assert_eq!(text(""), Err(FailureClass::Timeout));
    assert_eq!(
        text(r#"{"error":{"code":503}}"#),
        Err(FailureClass::CapacityShed)
    );
    assert_eq!(read(429, "").err(), Some(FailureClass::CapacityShed));
    assert_eq!(read(301, "").err(), Some(FailureClass::Network));
    let quota = r#"{"error":{"code":"insufficient_quota"}}"#;
    assert_eq!(read(429, quota).err(), Some(FailureClass::ConfigAuth));
}

// L18: an error after the finish reason says how the connection ended, unless it takes the answer back.
#[test]
fn an_error_after_the_finish_reason_takes_nothing_back_but_by_a_filter() {
    let late = [
        r#"{"error":{"message":"upstream closed","code":502}}"#,
        r#"{"type":"error","error":{"type":"overloaded_error","message":"m"}}"#,
        r#"{"error":"rate limit"}"#,
    ];
    let filter = r#"{"error":{"code":"content_filter","message":"filtered"}}"#;
    for (provider, events, after) in streams() {
        if provider.name == RESPONSES.name {
            continue;
        }
        let plain = outcome(begun(provider, &events));
        for error in late {
            let mut events = events.clone();
            events.push(error);
            assert_eq!(
                outcome(begun(provider, &events)),
                plain,
                "{}",
                provider.name
            );
            let start = [&events[..events.len() - 1 - after], &[error]].concat();
            assert!(
                outcome(begun(provider, &start)).is_err(),
                "{}",
                provider.name
            );
        }
        let events = [&events[..], &[filter]].concat();
        let class = outcome(begun(provider, &events)).map_err(|(class, _)| class);
        assert_eq!(class, Err(FailureClass::Refusal), "{}", provider.name);
        // What is appended as plain JSON is an error like others.
        let mut reading = begun(provider, &events[..events.len() - 1]);
        reading.push(b"\n{\"error\":{\"code\":503}}");
        assert_eq!(outcome(reading), plain, "{}", provider.name);
    }
    // An error that comes with its reason, or after one that is a failure itself, is told.
    let text = r#"{"choices":[{"delta":{"content":"a"}}]}"#;
    let error = r#"{"error":{"code":503},"choices":[{"delta":{},"finish_reason":"error"}]}"#;
    let stop = r#"{"error":{"code":503},"choices":[{"delta":{},"finish_reason":"stop"}]}"#;
    let reason = r#"{"choices":[{"delta":{},"finish_reason":"error"}]}"#;
    for events in [
        vec![text, error],
        vec![text, stop],
        vec![text, reason, error],
    ] {
        let class = outcome(begun(&OPENAI, &events)).map_err(|(class, _)| class);
        assert_eq!(class, Err(FailureClass::CapacityShed), "{events:?}");
    }
    // A router's own words at the end do not make a good answer a broken one.
    let class = outcome(begun(&OPENAI, &[text, STOP, error]));
    assert!(class.is_ok(), "{class:?}");
}

// K4: an event that is named as an error is one, whatever it holds.
#[test]
fn a_named_error_is_an_error_in_every_dialect() {
    for provider in [&OPENAI, &ANTHROPIC, &GEMINI, &RESPONSES] {
        for (data, class, message) in [
            (
                "busy: overloaded",
                FailureClass::CapacityShed,
                "busy: overloaded",
            ),
            (
                r#"{"message":"m","code":503}"#,
                FailureClass::CapacityShed,
                "m",
            ),
            (
                r#"{"error":{"message":"m","code":503}}"#,
                FailureClass::CapacityShed,
                "m",
            ),
            (
                "{}",
                FailureClass::Network,
                "the provider sent an error without a message",
            ),
        ] {
            let mut reading = Reading::new(provider, 200, Headers::default());
            reading.push(format!("event: error\ndata: {data}\n\n").as_bytes());
            assert!(reading.is_over(), "{} {data}", provider.name);
            let expected = Err((class, message.to_owned()));
            assert_eq!(outcome(reading), expected, "{} {data}", provider.name);
        }
    }
}

// K5, L14: a finish reason that is repeated, or that a router appends, hides none that means something.
#[test]
fn of_several_finish_reasons_the_one_counts_that_means_something() {
    use FailureClass::{ContentInvalid, Network, Refusal};
    let chunk = |reason: &str| {
        format!(r#"{{"choices":[{{"delta":{{"content":"a"}},"finish_reason":{reason}}}]}}"#)
    };
    let read_all = |reasons: &[&str]| {
        let events: Vec<_> = reasons.iter().map(|reason| chunk(reason)).collect();
        let events: Vec<_> = events.iter().map(String::as_str).collect();
        let reply = read(&OPENAI, &events);
        reply
            .map(|reply| reply.truncated)
            .map_err(|failed| failed.class)
    };
    for (reasons, expected) in [
        (&["\"stop\"", "\"stop\""][..], Ok(false)),
        (&["\"tool_calls\"", "\"stop\""], Ok(false)),
        (&["\"length\"", "\"stop\""], Ok(true)),
        (&["\"stop\"", "\"length\""], Ok(true)),
        (&["\"stop\"", "null", "\"\""], Ok(false)),
        (&["\"stop\"", "\"content_filter\""], Err(Refusal)),
        (&["\"content_filter\"", "\"stop\""], Err(Refusal)),
        (
            &["\"malformed_function_call\"", "\"stop\""],
            Err(ContentInvalid),
        ),
        // Names of no reason.
        (&["null", "\"\"", "\"null\""], Err(Network)),
        (&["\"FINISH_REASON_UNSPECIFIED\""], Err(Network)),
    ] {
        assert_eq!(read_all(reasons), expected, "{reasons:?}");
    }
}

// T1: where tokens move from one part of the input to another, they are not counted twice.
#[test]
fn parts_of_an_input_may_move_between_reports() {
    let start =
        |usage: &str| format!(r#"{{"type":"message_start","message":{{"usage":{usage}}}}}"#);
    let delta = |usage: &str| {
        format!(
            r#"{{"type":"message_delta","delta":{{"stop_reason":"end_turn"}},"usage":{usage}}}"#
        )
    };
    for (first, second, expected) in [
        (
            r#"{"input_tokens":100}"#,
            r#"{"input_tokens":70,"cache_read_input_tokens":30,"output_tokens":9}"#,
            (100, Some(30)),
        ),
        (
            r#"{"input_tokens":100,"cache_read_input_tokens":900}"#,
            r#"{"output_tokens":9}"#,
            (1_000, Some(900)),
        ),
        (
            r#"{"input_tokens":100,"cache_read_input_tokens":900}"#,
            r#"{"input_tokens":0,"output_tokens":9}"#,
            (1_000, Some(900)),
        ),
        (
            r#"{"input_tokens":0}"#,
            r#"{"input_tokens":120,"cache_read_input_tokens":7,"output_tokens":9}"#,
            (127, Some(7)),
        ),
    ] {
        let (first, second) = (start(first), delta(second));
        let (usage, _) = begun(&ANTHROPIC, &[&first, &second]).used();
        let found = (usage.tokens_in, usage.tokens_cached, usage.tokens_out);
        assert_eq!(
            found,
            (Some(expected.0), expected.1, Some(9)),
            "{first} {second}"
        );
    }
}

// T1: a count of nothing that was made before the text was written says nothing of it.
#[test]
fn an_output_that_was_counted_too_early_is_unknown() {
    let early = r#"{"candidates":[{"content":{"parts":[{"text":"ok"}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":120,"totalTokenCount":120}}"#;
    let outcome = outcome(begun(&GEMINI, &[early]));
    assert_eq!(outcome, Ok(("ok".to_owned(), [Some(120), None])));
    let (usage, _) = begun(&GEMINI, &[early]).used();
    assert!(!usage.is_known());
}
