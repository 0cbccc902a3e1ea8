//! What do bodies say?

use proptest::prelude::*;
use serde_json::json;

use super::*;

fn message(body: &str) -> Option<String> {
    let message = Fault::read(body.as_bytes()).message();
    Some(message).filter(|message| !message.is_empty())
}

fn failed(fault: &Fault, status: u16, headers: &Headers) -> Failed {
    fault.failed(status, headers, &Sent::default(), &[])
}

#[test]
fn every_known_shape_yields_its_message() {
    let cases = [
        (
            r#"{"error":{"message":"m","type":"t","code":null}}"#,
            Some("m"),
        ),
        (r#"[{"error":{"message":"m","code":429}}]"#, Some("m")),
        (r#"{"code":"invalid-argument","error":"m"}"#, Some("m")),
        (r#"{"error":"Too Many Requests","message":"m"}"#, Some("m")),
        (
            r#"{"object":"error","message":"m","code":"1300"}"#,
            Some("m"),
        ),
        (r#"{"detail":"m"}"#, Some("m")),
        (
            r#"{"detail":[{"loc":["body","x"],"msg":"m","input":"secret"}]}"#,
            Some("m"),
        ),
        ("data: {\"error\":{\"message\":\"m\"}}\n\n", Some("m")),
        (
            "event: error\r\ndata: {\"error\":{\"message\":\"m\"}}\r\n\r\n",
            Some("m"),
        ),
        ("\u{feff} {\"error\":\"m\"}", Some("m")),
        (
            r#"{"error":{"message":"up","metadata":{"raw":"m"}}}"#,
            Some("up: m"),
        ),
        (r#"{"error":{"code":"401"}}"#, None),
        ("<html>bad gateway</html>", None),
        ("upstream connect error", None),
        ("", None),
    ];
    for (body, expected) in cases {
        assert_eq!(message(body).as_deref(), expected, "{body}");
    }
}

#[test]
fn a_status_in_the_body_is_read_from_number_and_text() {
    for body in [
        r#"{"error":{"code":429}}"#,
        r#"{"error":{"code":"429"}}"#,
        r#"{"raw_status_code":429}"#,
    ] {
        assert_eq!(Fault::read(body.as_bytes()).effective(200), 429, "{body}");
    }
    assert_eq!(Fault::read(br#"{"code":"1500"}"#).effective(200), 200);
}

#[test]
fn a_body_without_a_message_is_named_by_its_status() {
    let failed = failed(&Fault::read(b"<html>"), 502, &Headers::default());
    assert_eq!(failed.message, "HTTP 502");
}

#[test]
fn wait_headers_count_on_failures_only() {
    let headers = Headers::new(vec![("Retry-After".into(), "7".into())]);
    let fault = Fault::read(br#"{"error":{"message":"busy","code":503}}"#);
    let asked = failed(&fault, 503, &headers).retry_after;
    assert_eq!(asked.map(|wait| wait.as_secs()), Some(7));
    assert_eq!(failed(&fault, 200, &headers).retry_after, None);
}

#[test]
fn a_host_that_says_not_to_retry_is_believed() {
    let headers = Headers::new(vec![("x-should-retry".into(), "false".into())]);
    assert!(failed(&Fault::default(), 500, &headers).rejected);
    assert!(!failed(&Fault::default(), 500, &Headers::default()).rejected);
}

#[test]
fn a_body_without_words_is_named_by_its_code() {
    let told = |body: &str| failed(&Fault::read(body.as_bytes()), 429, &Headers::default()).message;
    assert_eq!(
        told(r#"{"error":{"code":"insufficient_quota"}}"#),
        "HTTP 429 (insufficient_quota)"
    );
    assert_eq!(told(r#"{"error":{"code":"made_up"}}"#), "HTTP 429");
}

#[test]
fn what_we_say_ourselves_is_never_cut() {
    let texts = ["the stream ended without a finish reason, an event of the stream cannot be read"];
    let sent = Sent {
        texts: &texts,
        ..Sent::default()
    };
    for ours in [CUT, UNREADABLE] {
        let fault = Fault::of(&json!({ "error": { "message": ours } }));
        assert_eq!(
            fault.failed(200, &Headers::default(), &sent, &[]).message,
            ours
        );
    }
    let fault = Fault::default().or("an event of the stream");
    let failed = fault.failed(200, &Headers::default(), &sent, &[]);
    assert_eq!(failed.message, "an event of the stream");
}

#[test]
fn the_innermost_reason_is_in_the_message_however_long_the_outer_one_is() {
    let inner = json!({ "error": { "message": "no money", "code": "insufficient_quota" } });
    let outer = json!({ "error": {
        "message": format!("{}- {inner}", "gateway.Error: ".repeat(40)),
    } });
    let shown = failed(&Fault::of(&outer), 500, &Headers::default()).message;
    assert!(
        shown.ends_with("…: no money (insufficient_quota)"),
        "{shown}"
    );
    assert!(shown.chars().count() <= 300);
}

#[test]
fn what_a_request_is_quoted_with_is_no_error() {
    let quoted = json!({ "error": { "code": "insufficient_quota", "message": "x" } });
    let text = quoted.to_string();
    for body in [
        json!({ "detail": [{ "loc": ["body"], "msg": "m", "input": text }] }),
        json!({ "detail": [{ "loc": ["body"], "msg": "m", "input": quoted }] }),
        json!({ "error": { "message": "m", "param": text } }),
    ] {
        let failed = failed(&Fault::of(&body), 400, &Headers::default());
        assert_eq!(
            (failed.class, failed.rejected),
            (FailureClass::Network, true),
            "{body}"
        );
    }
}

/// Wraps an error as one of the gateways of public reports does.
fn wrapped(inner: &Value, way: usize) -> Value {
    let text = inner.to_string();
    match way % 9 {
        0 => {
            json!({ "error": { "message": "Provider returned error", "code": 400, "metadata": { "raw": text, "provider_name": "Up" } } })
        }
        1 => {
            json!({ "error": { "message": "Provider returned error", "metadata": { "raw": inner } } })
        }
        2 => {
            json!({ "error": { "message": format!("litellm.APIError: UpException - {text} Received Model Group=x"), "code": "500" } })
        }
        3 => {
            json!({ "error": { "message": format!("litellm.APIError: UpException - b'{}'", text.replace('\\', "\\\\").replace('\'', "\\'")) } })
        }
        4 => json!({ "error": { "message": format!("Error code: 418 - {}", python(inner)) } }),
        5 => json!({ "error": inner }),
        6 => json!({ "detail": inner }),
        7 => json!({ "message": text, "statusCode": 500 }),
        _ => json!({ "success": false, "errors": [{ "code": 1, "message": text }] }),
    }
}

/// Prints a value as Python does.
fn python(value: &Value) -> String {
    match value {
        Value::Null => "None".to_owned(),
        Value::Bool(true) => "True".to_owned(),
        Value::Bool(false) => "False".to_owned(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => format!("'{}'", text.replace('\\', "\\\\").replace('\'', "\\'")),
        Value::Array(items) => {
            let items = items.iter().map(python).collect::<Vec<_>>();
            format!("[{}]", items.join(", "))
        }
        Value::Object(members) => {
            let members = members
                .iter()
                .map(|(name, member)| format!("'{name}': {}", python(member)));
            format!("{{{}}}", members.collect::<Vec<_>>().join(", "))
        }
    }
}

proptest! {
    // K7: whatever it is wrapped in, up to three gateways deep, an error that says what it is keeps its class and its wait.
    #[test]
    fn an_error_keeps_its_class_through_any_gateway(
        kind in 0..6_usize,
        ways in prop::collection::vec(0..9_usize, 1..4),
        status in prop::sample::select(vec![200_u16, 400, 403, 429, 500, 502, 503]),
    ) {
        let said = "It's \"not\" so.";
        let (class, inner) = [
            (FailureClass::ConfigAuth, json!({ "message": said, "code": "insufficient_quota", "param": null })),
            (FailureClass::ConfigAuth, json!({ "message": said, "type": "authentication_error" })),
            (FailureClass::Refusal, json!({ "message": said, "code": "content_filter", "innererror": { "code": "x" } })),
            (FailureClass::CapacityShed, json!({ "message": said, "code": 503, "status": "UNAVAILABLE" })),
            (FailureClass::ConfigAuth, json!({ "message": "Your daily limit is used up.", "code": 429 })),
            (FailureClass::CapacityShed, json!({ "message": "try again in 7s", "type": "rate_limit_error" })),
        ][kind].clone();
        let has_wait = kind == 5;
        let inner = json!({ "error": inner });
        let body = ways.iter().fold(inner, |inner, way| wrapped(&inner, *way));
        let fault = Fault::read(body.to_string().as_bytes());
        let failed = failed(&fault, status, &Headers::default());
        prop_assert_eq!(failed.class, class, "{}", body);
        prop_assert!(!failed.rejected, "{}", body);
        prop_assert_eq!(failed.retry_after.is_some(), has_wait, "{}", body);
        prop_assert!(failed.message.chars().count() <= 300);
    }
}
