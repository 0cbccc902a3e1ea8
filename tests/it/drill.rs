//! What does a route do when a candidate fails?

use rig::FailureClass;
use tests::expect_file;
use tests::routes::{grounded, ladder, mend, messages, tooled};

// L3 to L8, K0: the whole decision table of a route.
#[test]
fn a_drill_is_a_table_of_what_the_ladder_does() {
    let table = [ladder::drill(), mend::drill()].map(|drill| drill.to_string());
    expect_file("it/drill.txt", &table.join("\n"));
}

#[test]
fn every_candidate_and_class_is_drilled_within_the_bounds() {
    for drill in [
        ladder::drill(),
        mend::drill(),
        messages::drill(),
        grounded::drill(),
        tooled::drill(),
    ] {
        let (attempts, time, _) = drill.at_most.unwrap();
        assert_eq!(drill.runs.len() % 7, 0);
        for run in &drill.runs {
            // C9
            assert!(
                run.attempts.len() <= attempts as usize && run.elapsed() <= time,
                "{run}"
            );
            assert!(!run.attempts.is_empty(), "{run}");
            // L9: only the last candidate has nobody after it.
            let is_last = run.candidate == drill.runs.last().unwrap().candidate;
            match run.end {
                Ok(_) => assert!(
                    !is_last || run.class == FailureClass::ContentInvalid,
                    "{run}"
                ),
                Err(class) => assert!(is_last && class == run.class, "{run}"),
            }
        }
    }
}
