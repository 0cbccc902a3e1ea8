//! When is the same candidate asked again, after which wait, and when the next?

use std::time::Duration;

use rig::testing::{Scripted, chat_completion};
use tests::check;
use tests::routes::{ladder, patient};

use crate::{BOTH, GOOD, bad, fault, good, patient_input, question, shed};

// L3, L4, K0: the ladder in one view. Nobody waits after the last retry.
#[test]
fn the_first_sheds_and_the_second_answers_badly_then_well() {
    check(
        BOTH,
        [shed(), shed(), shed(), bad(), good()],
        |rig| ladder(question()).on(rig).run(),
        r#"
        1 north/n1 capacity_shed $0.00
        2 north/n1 capacity_shed $0.00
        3 north/n1 capacity_shed $0.00
        4 south/s1 content_invalid 100+20 $0.000014
        5 south/s1 conformant 100+20 $0.000014
        waits 30s, 60s
        = {"verdict":"yes","because":"it is","also":null}
        "#,
    );
}

// L3, L6, L9: the budget of a class is each candidate's own.
#[test]
fn schema_invalid_output_is_retried_on_each_candidate_anew() {
    check(
        BOTH,
        [bad(), bad(), bad(), Scripted::chat("no JSON at all")],
        |rig| ladder(question()).on(rig).run(),
        r#"
        1 north/n1 content_invalid 100+20 $0.00014
        2 north/n1 content_invalid 100+20 $0.00014
        3 south/s1 content_invalid 100+20 $0.000014
        4 south/s1 content_invalid 100+20 $0.000014
        ! content_invalid south/s1: the answer is not one JSON value: it does not begin like one
        (north/n1 content_invalid, north/n1 content_invalid, south/s1 content_invalid, south/s1 content_invalid)
        "#,
    );
}

// L6: budgets are per class, and no class may use another's.
#[test]
fn each_class_uses_up_its_own_budget() {
    let refused = || Scripted::status(200, chat_completion("", "content_filter", 100, 0));
    check(
        BOTH,
        [
            shed(),
            bad(),
            Scripted::fault("connection reset"),
            refused(),
            shed(),
            refused(),
            good(),
        ],
        |rig| ladder(question()).on(rig).run(),
        r#"
        1 north/n1 capacity_shed $0.00
        2 north/n1 content_invalid 100+20 $0.00014
        3 north/n1 network $0.00
        4 north/n1 refusal 100+0 $0.0001
        5 north/n1 capacity_shed $0.00
        6 north/n1 refusal 100+0 $0.0001
        7 south/s1 conformant 100+20 $0.000014
        waits 30s, 1s, 60s
        = {"verdict":"yes","because":"it is","also":null}
        "#,
    );
}

// K0: the route's backoffs; `cap: 0s` retries at once. L4: what is not budgeted falls through.
#[test]
fn a_route_sets_its_own_backoffs() {
    let down = || fault(500, "server_error", "it broke");
    check(
        "openai anthropic",
        [
            shed(),
            down(),
            shed(),
            down(),
            shed(),
            shed(),
            fault(404, "not_found_error", "no such model"),
        ],
        |rig| patient(patient_input()).on(rig).run(),
        r#"
        1 openai/gpt-5.4-mini capacity_shed $0.00 flex>-
        2 openai/gpt-5.4-mini network $0.00 flex>-
        3 openai/gpt-5.4-mini capacity_shed $0.00 flex>-
        4 openai/gpt-5.4-mini network $0.00 flex>-
        5 openai/gpt-5.4-mini capacity_shed $0.00 flex>-
        6 openai/gpt-5.4-mini capacity_shed $0.00 flex>-
        7 anthropic/claude-haiku-4-5 network $0.00 flex>-
        waits 500ms, 1.5s, 2s
        ! network anthropic/claude-haiku-4-5: no such model
        (openai/gpt-5.4-mini capacity_shed, openai/gpt-5.4-mini network, openai/gpt-5.4-mini capacity_shed, openai/gpt-5.4-mini network, openai/gpt-5.4-mini capacity_shed, openai/gpt-5.4-mini capacity_shed, anthropic/claude-haiku-4-5 network)
        "#,
    );
}

// K2: a wish lengthens a wait, never shortens it; junk is no wish. More than 240 s is not waited for.
#[test]
fn retry_after_lengthens_a_wait() {
    let date = "Thu, 01 Jan 2026 00:02:00 GMT";
    for (value, wait) in [
        ("90", "90s"),
        ("5", "30s"),
        ("240", "240s"),
        (date, "120s"),
        ("soon", "30s"),
        ("-7", "30s"),
        ("", "30s"),
    ] {
        let asks = shed()
            .header("Retry-After", value)
            .header("Date", "Thu, 01 Jan 2026 00:00:00 GMT");
        check(
            BOTH,
            [asks, good()],
            |rig| ladder(question()).on(rig).run(),
            &format!(
                r#"
                1 north/n1 capacity_shed $0.00
                2 north/n1 conformant 100+20 $0.00014
                waits {wait}
                = {GOOD}
                "#
            ),
        );
    }
    let asks = || shed().header("retry-after", "241");
    check(
        BOTH,
        [asks(), asks()],
        |rig| ladder(question()).on(rig).run(),
        r#"
        1 north/n1 capacity_shed $0.00
        2 south/s1 capacity_shed $0.00
        ! capacity_shed south/s1: slow down; it asks to wait 241 s, and more than 240 s is not waited for
        (north/n1 capacity_shed, south/s1 capacity_shed)
        "#,
    );
}

// L12: headers and body; every attempt has the whole of it.
#[test]
fn an_attempt_is_bounded_from_dispatch_to_the_last_byte() {
    let ms = Duration::from_millis;
    check(
        BOTH,
        [
            good().after(ms(10_001)),
            good().after(ms(6_000)).body_after(ms(4_001)),
            good().after(ms(6_000)).body_after(ms(3_999)),
        ],
        |rig| ladder(question()).on(rig).run(),
        r#"
        1 north/n1 timeout $0.00 -/10000 ms
        2 north/n1 timeout $0.00 6000/10000 ms
        3 south/s1 conformant 100+20 $0.000014 6000/9999 ms
        waits 10s, 10s
        = {"verdict":"yes","because":"it is","also":null}
        "#,
    );
}

// L14, K3: neither repaired nor retried, and paid for; the cut text is in no later request.
#[test]
fn an_answer_cut_at_the_token_limit_falls_through() {
    // A skeleton of an answer, which begins with `yes`, is in every prompt.
    let cut = || {
        Scripted::status(
            200,
            chat_completion(r#"{"verdict":"no","bec"#, "length", 100, 256),
        )
    };
    // Even if it parses (K5).
    let whole = || Scripted::status(200, chat_completion(GOOD, "length", 100, 256));
    let seen = check(
        BOTH,
        [cut(), whole()],
        |rig| {
            let call = ladder(question()).variant(ladder::Variant::Mended);
            call.on(rig).run()
        },
        r#"
        1 north/n1 content_invalid 100+256 $0.000612 variant mended
        2 south/s1 content_invalid 100+256 $0.0000612 variant mended
        ! content_invalid south/s1: the answer was cut at `max_output_tokens` (256)
        (north/n1 content_invalid, south/s1 content_invalid)
        "#,
    );
    assert!(!seen.text(2).contains(r#"\"verdict\":\"no"#));
}

// L15, L3: a host that ignores the schema it accepted is told in words the next time.
#[test]
fn a_native_candidate_is_coached_after_an_invalid_answer() {
    let seen = check(
        BOTH,
        [bad(), good()],
        |rig| ladder(question()).on(rig).run(),
        r#"
        1 north/n1 content_invalid 100+20 $0.00014
        2 north/n1 conformant 100+20 $0.00014
        = {"verdict":"yes","because":"it is","also":null}
        "#,
    );
    let format = |attempt| seen.body(attempt)["response_format"]["type"].clone();
    assert_eq!(
        (format(1), format(2)),
        ("json_schema".into(), "json_schema".into())
    );
    assert!(!seen.system(1).contains("JSON Schema"));
    assert!(
        seen.system(2)
            .starts_with("Decide this case.\n\nIs it so?\n\n")
    );
    assert!(seen.system(2).contains(r#""enum":["yes","no"]"#));
    assert!(
        !seen.text(2).contains("maybe"),
        "the invalid answer itself is not repeated"
    );
}
