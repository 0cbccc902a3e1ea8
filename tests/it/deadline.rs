//! What does a run do as its deadline comes near?

use std::time::Duration;

use rig::testing::Scripted;
use tests::check;
use tests::routes::{HastyInput, hasty, ladder};

use crate::{BOTH, QUESTION, bad, fault, good, question, shed};

const MS: fn(u64) -> Duration = Duration::from_millis;

fn hasty_input() -> HastyInput {
    HastyInput {
        question: QUESTION.to_owned(),
    }
}

fn slow(ms: u64) -> Scripted {
    good().after(MS(ms))
}

// L16: an attempt that the deadline cuts has a row, and nothing is started after it.
#[test]
fn an_attempt_is_cut_short() {
    check(
        BOTH,
        [
            slow(10_001),
            slow(10_001),
            slow(10_001),
            slow(9_000).body_after(MS(1_001)),
        ],
        |rig| hasty(hasty_input()).on(rig).run(),
        r#"
        1 north/n1 timeout $0.00 -/10000 ms
        2 north/n1 timeout $0.00 -/10000 ms
        3 north/n1 timeout $0.00 -/10000 ms
        4 south/s1 timeout $0.00 9000/10000 ms
        waits 10s, 10s, 10s, 10s
        ! timeout south/s1: the run's deadline of 40000 ms ended it
        (north/n1 timeout, north/n1 timeout, north/n1 timeout, south/s1 timeout, out of time)
        "#,
    );
    // What is done in time is served, to the last millisecond.
    check(
        BOTH,
        [
            slow(10_001),
            slow(10_001),
            slow(10_001),
            slow(9_000).body_after(MS(1_000)),
        ],
        |rig| hasty(hasty_input()).on(rig).run(),
        r#"
        1 north/n1 timeout $0.00 -/10000 ms
        2 north/n1 timeout $0.00 -/10000 ms
        3 north/n1 timeout $0.00 -/10000 ms
        4 south/s1 conformant 100+20 $0.000014 9000/10000 ms
        waits 10s, 10s, 10s
        = {"verdict":"yes","because":"it is","also":null}
        "#,
    );
}

// L16: a wait that would not end in time is not begun, and the next candidate may be in time.
#[test]
fn a_wait_that_would_be_too_long_falls_through() {
    check(
        BOTH,
        [shed(), shed(), good()],
        |rig| hasty(hasty_input()).on(rig).run(),
        r#"
        1 north/n1 capacity_shed $0.00
        2 north/n1 capacity_shed $0.00
        3 south/s1 conformant 100+20 $0.000014
        waits 30s
        = {"verdict":"yes","because":"it is","also":null}
        "#,
    );
    let asks = || shed().header("retry-after", "40");
    check(
        BOTH,
        [asks(), asks()],
        |rig| hasty(hasty_input()).on(rig).run(),
        r#"
        1 north/n1 capacity_shed $0.00
        2 south/s1 capacity_shed $0.00
        ! timeout south/s1: the run's deadline of 40000 ms ended it
        (north/n1 capacity_shed, out of time, south/s1 capacity_shed, out of time)
        "#,
    );
}

// L9, L16: a run that fails before its deadline fails with what it failed with.
#[test]
fn a_deadline_that_is_not_reached_is_not_blamed() {
    let rejected = || fault(404, "model_not_found", "no such model");
    check(
        BOTH,
        [shed().header("retry-after", "41"), rejected()],
        |rig| hasty(hasty_input()).on(rig).run(),
        r#"
        1 north/n1 capacity_shed $0.00
        2 south/s1 network $0.00
        ! network south/s1: no such model
        (north/n1 capacity_shed, out of time, south/s1 network)
        "#,
    );
}

// L16: the repair rung is held to it too.
#[test]
fn a_repair_is_cut_short() {
    check(
        BOTH,
        [bad().after(MS(4_000)), slow(10_000)],
        |rig| hasty(hasty_input()).deadline(MS(5_000)).on(rig).run(),
        r#"
        1 north/n1 content_invalid 100+20 $0.00014 4000/4000 ms
        2 north/n1 timeout $0.00 -/1000 ms repaired by north/n1
        waits 1s
        ! timeout north/n1: the run's deadline of 5000 ms ended it
        (north/n1 content_invalid, north/n1 (repair) timeout, out of time)
        "#,
    );
}

// L16: the call's own deadline, on a route without one and below a route's; a longer one changes nothing.
#[test]
fn the_shorter_of_the_routes_and_the_calls_deadline_counts() {
    let cut = |message: &str| {
        format!(
            "1 north/n1 timeout $0.00 -/2500 ms\nwaits 2.5s\n! timeout north/n1: {message}\n(north/n1 timeout, out of time)"
        )
    };
    let message = "the run's deadline of 2500 ms ended it";
    check(
        BOTH,
        [slow(2_501)],
        |rig| ladder(question()).deadline(MS(2_500)).on(rig).run(),
        &cut(message),
    );
    check(
        BOTH,
        [slow(2_501)],
        |rig| hasty(hasty_input()).deadline(MS(2_500)).on(rig).run(),
        &cut(message),
    );
    let asks = || shed().header("retry-after", "40");
    check(
        "north",
        [asks()],
        |rig| hasty(hasty_input()).deadline(MS(90_000)).on(rig).run(),
        r#"
        1 north/n1 capacity_shed $0.00
        ! config_auth south/s1: no key for `south`: `SOUTH_API_KEY` is not set or empty
        (north/n1 capacity_shed, out of time, south/s1 has no key)
        "#,
    );
}

// L16, R4: without any time nothing is dispatched.
#[test]
fn a_run_without_time_dispatches_nothing() {
    check(
        BOTH,
        [],
        |rig| hasty(hasty_input()).deadline(Duration::ZERO).on(rig).run(),
        r#"
        ! timeout north/n1: the run's deadline of 0 ms ended it
        (out of time)
        "#,
    );
}
