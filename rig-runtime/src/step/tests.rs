//! Does each outcome lead to the step that the contract names?

use proptest::prelude::*;
use rig_spec::Backoff;

use super::*;

const POLICY: Policy = Policy {
    retries: &[
        (FailureClass::ContentInvalid, 1),
        (FailureClass::Network, 3),
        (FailureClass::CapacityShed, 2),
        (FailureClass::Timeout, 1),
    ],
    ..Policy::BLANK
};

fn failed(class: FailureClass) -> Failed {
    Failed::new(class, String::new())
}

fn class(class: FailureClass) -> Outcome {
    Outcome::Failed(failed(class))
}

fn asks(class: FailureClass, seconds: u64) -> Outcome {
    let retry_after = Some(Duration::from_secs(seconds));
    Outcome::Failed(Failed {
        retry_after,
        ..failed(class)
    })
}

fn answer() -> Nonconformant {
    Nonconformant {
        text: String::new(),
        problems: String::new(),
        message: String::new(),
    }
}

fn invalid() -> Outcome {
    Outcome::Nonconformant(answer())
}

fn repair(by: Repairer) -> Step {
    Step::Repair(by, answer())
}

fn wait(seconds: u64) -> Step {
    Step::Retry(Duration::from_secs(seconds))
}

fn check(max_repairs: u8, script: impl IntoIterator<Item = (Outcome, Step)>) {
    let mut state = LadderState::new(&POLICY, max_repairs);
    for (index, (outcome, expected)) in script.into_iter().enumerate() {
        let text = format!("step {index}: {outcome:?}");
        assert_eq!(step(&mut state, outcome, 0.0, None), expected, "{text}");
    }
}

// L4, K0: own budget per class, its backoff before each retry, none after the last.
#[test]
fn infrastructure_failures_are_retried_within_their_own_budget() {
    check(
        0,
        [
            (class(FailureClass::CapacityShed), wait(30)),
            (class(FailureClass::Network), wait(1)),
            (class(FailureClass::CapacityShed), wait(60)),
            (class(FailureClass::Network), wait(2)),
            (class(FailureClass::Timeout), wait(0)),
            (class(FailureClass::CapacityShed), Step::FallThrough),
        ],
    );
}

// L6
#[test]
fn budgets_are_armed_anew_for_each_candidate() {
    check(
        0,
        [
            (class(FailureClass::Timeout), wait(0)),
            (class(FailureClass::Timeout), Step::FallThrough),
            (class(FailureClass::Timeout), wait(0)),
            (class(FailureClass::Timeout), Step::FallThrough),
        ],
    );
}

// L5
#[test]
fn config_auth_falls_through_and_terminal_classes_abort() {
    check(0, [(class(FailureClass::ConfigAuth), Step::FallThrough)]);
    check(0, [(class(FailureClass::BudgetExhausted), Step::Abort)]);
    check(0, [(class(FailureClass::InvariantViolation), Step::Abort)]);
    check(
        0,
        [(
            Outcome::Keyless {
                message: String::new(),
            },
            Step::FallThrough,
        )],
    );
}

// L3, L7: the rung runs once, at the first schema-invalid output, before the retries.
#[test]
fn the_repair_rung_comes_before_the_retries_and_never_re_arms() {
    check(
        2,
        [
            (invalid(), repair(Repairer::SameModel)),
            (invalid(), repair(Repairer::RepairModel)),
            (invalid(), wait(0)),
            (invalid(), Step::FallThrough),
            (invalid(), wait(0)),
            (invalid(), Step::FallThrough),
        ],
    );
}

// L7
#[test]
fn a_repair_uses_its_unit_however_it_fails() {
    for outcome in [
        class(FailureClass::CapacityShed),
        class(FailureClass::ConfigAuth),
        Outcome::Truncated { limit: None },
        Outcome::Keyless {
            message: String::new(),
        },
    ] {
        let mut state = LadderState::new(&POLICY, 1);
        assert_eq!(
            step(&mut state, invalid(), 0.0, None),
            repair(Repairer::SameModel)
        );
        assert_eq!(step(&mut state, outcome, 0.0, None), wait(0));
        assert_eq!(step(&mut state, invalid(), 0.0, None), Step::FallThrough);
    }
    check(
        1,
        [
            (invalid(), repair(Repairer::SameModel)),
            (class(FailureClass::InvariantViolation), Step::Abort),
        ],
    );
}

// L8: a budget of its own, which is none here, and no repair.
#[test]
fn a_rejected_output_falls_through_and_is_never_repaired() {
    check(2, [(Outcome::QualityRejected, Step::FallThrough)]);
    // Not even where it is the repaired one; and the rung, which has run, is not armed again (L7).
    check(
        2,
        [
            (invalid(), repair(Repairer::SameModel)),
            (Outcome::QualityRejected, Step::FallThrough),
            (invalid(), wait(0)),
        ],
    );
}

// L8, L6
#[test]
fn a_rejected_output_is_asked_for_anew_within_its_own_budget() {
    const CHOOSY: Policy = Policy {
        retries: &[
            (FailureClass::QualityRejected, 1),
            (FailureClass::ContentInvalid, 1),
        ],
        ..Policy::BLANK
    };
    let mut state = LadderState::new(&CHOOSY, 1);
    for (outcome, expected) in [
        (Outcome::QualityRejected, wait(0)),
        (invalid(), repair(Repairer::SameModel)),
        (Outcome::QualityRejected, Step::FallThrough),
        (Outcome::QualityRejected, wait(0)),
        (invalid(), wait(0)),
        (invalid(), Step::FallThrough),
    ] {
        assert_eq!(step(&mut state, outcome, 0.0, None), expected);
    }
}

// L10
#[test]
fn a_refused_cache_handle_is_dropped_for_this_candidate_only() {
    const CACHED: Policy = Policy {
        retries: &[(FailureClass::CacheInvalid, 1), (FailureClass::Timeout, 1)],
        ..Policy::BLANK
    };
    let mut state = LadderState::new(&CACHED, 1);
    for (failed, dropped) in [
        (FailureClass::Timeout, false),
        (FailureClass::CacheInvalid, true),
        (FailureClass::Timeout, false),
    ] {
        step(&mut state, class(failed), 0.0, None);
        assert_eq!(state.drops_handle(), dropped);
    }
    step(&mut state, invalid(), 0.0, None);
    step(&mut state, class(FailureClass::CacheInvalid), 0.0, None);
    assert!(
        !state.drops_handle(),
        "the repair was the last attempt here"
    );
}

// L14
#[test]
fn a_truncated_answer_falls_through_without_repair_or_retry() {
    check(
        2,
        [(Outcome::Truncated { limit: Some(8) }, Step::FallThrough)],
    );
}

// L15
#[test]
fn a_schema_invalid_answer_is_remembered_for_this_candidate_only() {
    let mut state = LadderState::new(&POLICY, 0);
    step(&mut state, invalid(), 0.0, None);
    assert!(state.was_invalid());
    step(&mut state, invalid(), 0.0, None);
    assert!(!state.was_invalid());
}

// K2: `Retry-After` lengthens, never shortens, and more than 240 s is not waited for.
#[test]
fn retry_after_lengthens_a_wait_up_to_four_minutes() {
    check(
        0,
        [
            (asks(FailureClass::CapacityShed, 5), wait(30)),
            (asks(FailureClass::CapacityShed, 240), wait(240)),
            (asks(FailureClass::CapacityShed, 5), Step::FallThrough),
            (asks(FailureClass::CapacityShed, 241), Step::FallThrough),
            // A class without a backoff has none to lengthen, and the worst case of a route counts on it.
            (asks(FailureClass::Timeout, 7), wait(0)),
        ],
    );
}

// K4: no budget is spent on a wall.
#[test]
fn a_rejected_request_falls_through() {
    let rejected = Failed {
        rejected: true,
        ..failed(FailureClass::Network)
    };
    check(0, [(Outcome::Failed(rejected), Step::FallThrough)]);
}

// K0
#[test]
fn the_routes_backoff_and_its_jitter_replace_the_tables() {
    const CUSTOM: Policy = Policy {
        backoff: &[(
            FailureClass::Network,
            Backoff {
                first_ms: 2_000,
                factor: 3.0,
                cap_ms: 5_000,
                jitter: 0.5,
            },
        )],
        ..POLICY
    };
    let mut state = LadderState::new(&CUSTOM, 0);
    let mut next = |chance| step(&mut state, class(FailureClass::Network), chance, None);
    assert_eq!(next(0.0), Step::Retry(Duration::from_millis(2_000)));
    assert_eq!(next(1.0), Step::Retry(Duration::from_millis(7_500)));
}

// L16: a wait that would end at or after the deadline is not begun, and the next candidate has its budgets whole.
#[test]
fn a_wait_has_to_end_before_the_deadline() {
    let mut state = LadderState::new(&POLICY, 0);
    let mut shed = |left| {
        let left = Some(Duration::from_millis(left));
        step(&mut state, class(FailureClass::CapacityShed), 0.0, left)
    };
    assert_eq!(shed(30_001), wait(30));
    assert_eq!(shed(60_000), Step::TooLate);
    assert_eq!(shed(30_000), Step::TooLate);
    assert_eq!(shed(30_001), wait(30));
    // A retry without a wait is begun as long as there is any time.
    let mut state = LadderState::new(&POLICY, 0);
    let mut timeout = |left| {
        let left = Some(Duration::from_millis(left));
        step(&mut state, class(FailureClass::Timeout), 0.0, left)
    };
    assert_eq!(timeout(1), wait(0));
    assert_eq!(timeout(1), Step::FallThrough);
    assert_eq!(timeout(0), Step::TooLate);
}

// L16: a run whose time is over ends, whatever is under repair.
#[test]
fn a_run_without_time_ends() {
    let late = || {
        Outcome::Late(crate::deadline::Left {
            time: Duration::ZERO,
            of: Duration::from_secs(1),
        })
    };
    check(0, [(late(), Step::Abort)]);
    check(
        2,
        [
            (invalid(), repair(Repairer::SameModel)),
            (late(), Step::Abort),
        ],
    );
}

fn any_outcome() -> impl Strategy<Value = Outcome> {
    let failure = (
        0..FailureClass::ALL.len(),
        prop::option::of(0_u64..300),
        any::<bool>(),
    );
    prop_oneof![
        Just(()).prop_map(|()| invalid()),
        Just(()).prop_map(|()| Outcome::Truncated { limit: None }),
        Just(()).prop_map(|()| Outcome::QualityRejected),
        failure.prop_map(|(index, seconds, rejected)| Outcome::Failed(Failed {
            retry_after: seconds.map(Duration::from_secs),
            rejected,
            ..failed(FailureClass::ALL[index])
        })),
    ]
}

proptest! {
    // L6: retries of a class never exceed its budget, candidate by candidate; L7: the rung runs once.
    #[test]
    fn budgets_hold_for_any_sequence(
        outcomes in prop::collection::vec(any_outcome(), 0..60),
        max_repairs in 0_u8..3,
        chance in 0.0..1.0_f64,
        left in prop::option::of((0_u64..400).prop_map(Duration::from_secs)),
    ) {
        let mut state = LadderState::new(&POLICY, max_repairs);
        let mut retries = [0_u32; FailureClass::ALL.len()];
        let mut repairs = 0;
        let mut repairing = false;
        for outcome in outcomes {
            let class = match &outcome {
                Outcome::QualityRejected => FailureClass::QualityRejected,
                Outcome::Failed(failed) if !repairing => failed.class,
                _ => FailureClass::ContentInvalid,
            };
            let step = step(&mut state, outcome, chance, left);
            repairing = matches!(step, Step::Repair(..));
            match step {
                Step::Retry(wait) => {
                    retries[class as usize] += 1;
                    prop_assert!(retries[class as usize] <= POLICY.retry_budget(class));
                    prop_assert!(wait <= LONGEST_WAIT);
                    // L16
                    prop_assert!(left.is_none_or(|left| wait < left));
                    prop_assert!(wait >= POLICY.backoff(class).wait(retries[class as usize] - 1, 0.0));
                }
                Step::FallThrough | Step::TooLate => retries = Default::default(),
                Step::Repair(..) => repairs += 1,
                Step::Serve(_) | Step::Abort | Step::Ground(_) => break,
            }
        }
        prop_assert!(repairs <= max_repairs);
    }
}
