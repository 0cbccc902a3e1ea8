//! Which class does a failure have, and what does the caller hear of it?

use rig::FailureClass;
use rig::testing::{Scripted, chat_completion};
use tests::check;
use tests::routes::{ladder, messages};

use crate::{BOTH, GOOD, bad, fault, good, messages_input, question};

/// The first candidate fails once with `reply`; the class, and whether it is asked again.
fn check_class(reply: Scripted, class: FailureClass, is_retried: bool, wait: &str) {
    let next = if is_retried {
        "north/n1 conformant 100+20 $0.00014"
    } else {
        "south/s1 conformant 100+20 $0.000014"
    };
    let waits = if wait.is_empty() {
        String::new()
    } else {
        format!("waits {wait}\n")
    };
    check(
        BOTH,
        [reply, good()],
        |rig| ladder(question()).on(rig).run(),
        &format!("1 north/n1 {class} $0.00\n2 {next}\n{waits}= {GOOD}"),
    );
}

// K4, L4
#[test]
fn shed_load_and_breakdowns_are_retried() {
    use FailureClass::{CapacityShed, Network};
    for status in [429, 503, 529] {
        check_class(Scripted::status(status, ""), CapacityShed, true, "30s");
    }
    for status in [500, 502, 504, 520] {
        check_class(Scripted::status(status, "<html>"), Network, true, "1s");
    }
    check_class(Scripted::status(200, "<html>"), Network, true, "1s");
    check_class(Scripted::fault("connection refused"), Network, true, "1s");
}

// K4, L5: no wait and no retry: neither a key nor an account gets better by waiting.
#[test]
fn config_auth_falls_through_without_retry() {
    let auth = |reply| check_class(reply, FailureClass::ConfigAuth, false, "");
    auth(fault(401, "", "who are you"));
    auth(fault(403, "permission_denied", "not you"));
    auth(fault(400, "invalid_api_key", "Incorrect API key provided"));
    auth(fault(429, "insufficient_quota", "check your plan"));
    auth(fault(402, "", "Insufficient Balance"));
}

// K4: the budget of `network` is not spent on a wall.
#[test]
fn a_rejected_request_falls_through_with_the_providers_message() {
    let seen = check(
        BOTH,
        [
            fault(400, "", "unknown parameter: top_p"),
            fault(404, "model_not_found", "no such model"),
        ],
        |rig| ladder(question()).on(rig).run(),
        r#"
        1 north/n1 network $0.00
        2 south/s1 network $0.00
        ! network south/s1: no such model
        (north/n1 network, south/s1 network)
        "#,
    );
    assert_eq!(seen.error().class(), Some(FailureClass::Network));
}

// K3, K4: a refusal was paid for; a filter that speaks through an error is one too.
#[test]
fn a_refusal_is_accounted_for() {
    let refused = Scripted::status(200, chat_completion("I cannot.", "content_filter", 100, 5));
    check(
        BOTH,
        [refused, fault(400, "content_filter", "filtered"), good()],
        |rig| ladder(question()).on(rig).run(),
        r#"
        1 north/n1 refusal 100+5 $0.00011
        2 north/n1 refusal $0.00
        3 south/s1 conformant 100+20 $0.000014
        = {"verdict":"yes","because":"it is","also":null}
        "#,
    );
}

// K4: the messages dialect has its own words for the same classes.
#[test]
fn the_messages_dialect_fails_in_the_same_classes() {
    let fails = |status, kind: &str| {
        let error =
            serde_json::json!({ "type": "error", "error": { "type": kind, "message": "no" } });
        Scripted::status(status, error.to_string())
    };
    check(
        "anthropic openai",
        [
            fails(529, "overloaded_error"),
            fails(401, "authentication_error"),
            good(),
        ],
        |rig| messages(messages_input()).on(rig).run(),
        r#"
        1 anthropic/claude-haiku-4-5 capacity_shed $0.00 priority>-
        2 anthropic/claude-haiku-4-5 config_auth $0.00 priority>-
        3 openai/gpt-5.4-mini conformant 100+20 $0.00033 priority>-
        waits 1s
        = {"verdict":"yes","because":"it is","also":null}
        "#,
    );
}

// L9: the last failure, its place, the run and its history; K1: a hint and an address.
#[test]
fn an_exhausted_ladder_tells_its_last_failure() {
    let seen = check(
        BOTH,
        [
            bad(),
            fault(401, "", "who are you"),
            fault(403, "", "not you"),
        ],
        |rig| ladder(question()).on(rig).run(),
        r#"
        1 north/n1 content_invalid 100+20 $0.00014
        2 north/n1 config_auth $0.00
        3 south/s1 config_auth $0.00
        ! config_auth south/s1: not you
        (north/n1 content_invalid, north/n1 config_auth, south/s1 config_auth)
        "#,
    );
    let failure = seen.error().failure().unwrap();
    assert_eq!(failure.route, "ladder");
    assert!(failure.fix_hint().contains("API key"));
    assert!(
        failure
            .docs_url()
            .ends_with("/failures/index.html#config_auth")
    );
}
