//! How is a schema-invalid output repaired?

use rig::testing::Scripted;
use serde_json::Value;
use tests::check;
use tests::routes::{ladder, mend};

use crate::{BAD, BOTH, QUESTION, bad, fault, good, mend_input, question, shed};

// L7: the first repair re-asks the model that answered, with the error summary.
#[test]
fn the_same_model_repairs_first() {
    let seen = check(
        BOTH,
        [bad(), good()],
        |rig| mend(mend_input()).tag("customer", "acme").on(rig).run(),
        r#"
        1 north/n1 content_invalid 100+20 $0.00014 customer=acme
        2 north/n1 conformant 100+20 $0.00014 repaired by north/n1 customer=acme
        = {"verdict":"yes","because":"it is","also":null}
        "#,
    );
    assert!(seen.system(2).contains(QUESTION));
    assert_eq!(
        seen.user(2),
        "Your last answer was not accepted:\n- /verdict: \"maybe\" is not one of \"yes\" or \"no\"\nAnswer again, with the corrected JSON value only."
    );
    assert_eq!(seen.run().meta.repaired_by.as_deref(), Some("north/n1"));
}

// L7: the second gives the repair model the output, its errors and the schema, and never the task.
#[test]
fn the_repair_model_repairs_second_and_never_sees_the_task() {
    let worse = r#"{"verdict":"perhaps","because":"it is"}"#;
    let seen = check(
        BOTH,
        [bad(), Scripted::chat(worse), good()],
        |rig| mend(mend_input()).on(rig).run(),
        r#"
        1 north/n1 content_invalid 100+20 $0.00014
        2 north/n1 content_invalid 100+20 $0.00014 repaired by north/n1
        3 south/s1 conformant 100+20 $0.000014 repaired by south/s1
        = {"verdict":"yes","because":"it is","also":null}
        "#,
    );
    let request = seen.text(3);
    assert!(!request.contains(QUESTION) && !request.contains("Decide this case"));
    let turn: Value = serde_json::from_str(&seen.user(3)).unwrap();
    assert_eq!(turn["invalid_output"], worse);
    assert!(turn["errors"].as_str().unwrap().contains("/verdict"));
    assert_eq!(turn["schema"]["title"], "Reply");
    assert_eq!(seen.run().meta.repaired_by.as_deref(), Some("south/s1"));
}

// L3, L7: repairs come before retries, run once per run, and are not armed again for the next candidate.
#[test]
fn the_rung_runs_once_and_never_re_arms() {
    check(
        BOTH,
        [bad(), bad(), bad(), bad(), bad(), bad()],
        |rig| mend(mend_input()).on(rig).run(),
        r#"
        1 north/n1 content_invalid 100+20 $0.00014
        2 north/n1 content_invalid 100+20 $0.00014 repaired by north/n1
        3 south/s1 content_invalid 100+20 $0.000014 repaired by south/s1
        4 north/n1 content_invalid 100+20 $0.00014
        5 south/s1 content_invalid 100+20 $0.000014
        6 south/s1 content_invalid 100+20 $0.000014
        ! content_invalid south/s1: the answer misses the schema at `/verdict` (enum)
        (north/n1 content_invalid, north/n1 (repair) content_invalid, south/s1 (repair) content_invalid, north/n1 content_invalid, south/s1 content_invalid, south/s1 content_invalid)
        "#,
    );
}

// L7: the rung is where the first schema-invalid output is, also on a later candidate.
#[test]
fn the_rung_waits_for_the_first_schema_invalid_output() {
    check(
        BOTH,
        [fault(401, "", "no"), bad(), good()],
        |rig| mend(mend_input()).on(rig).run(),
        r#"
        1 north/n1 config_auth $0.00
        2 south/s1 content_invalid 100+20 $0.000014
        3 south/s1 conformant 100+20 $0.000014 repaired by south/s1
        = {"verdict":"yes","because":"it is","also":null}
        "#,
    );
}

// L7: a repair that fails for another reason has used its unit, without a wait; the output to repair stays.
#[test]
fn a_failed_repair_has_used_its_unit() {
    let seen = check(
        BOTH,
        [bad(), shed(), fault(500, "", "down"), good()],
        |rig| mend(mend_input()).on(rig).run(),
        r#"
        1 north/n1 content_invalid 100+20 $0.00014
        2 north/n1 capacity_shed $0.00 repaired by north/n1
        3 south/s1 network $0.00 repaired by south/s1
        4 north/n1 conformant 100+20 $0.00014
        = {"verdict":"yes","because":"it is","also":null}
        "#,
    );
    let turn: Value = serde_json::from_str(&seen.user(3)).unwrap();
    assert_eq!(turn["invalid_output"], BAD);
}

// L7: the effective policy is the variant's; the route itself has none here.
#[test]
fn a_variant_brings_its_own_rung() {
    check(
        BOTH,
        [bad(), bad(), good()],
        |rig| {
            let call = ladder(question()).variant(ladder::Variant::Mended);
            call.on(rig).run()
        },
        r#"
        1 north/n1 content_invalid 100+20 $0.00014 variant mended
        2 north/n1 content_invalid 100+20 $0.00014 repaired by north/n1 variant mended
        3 north/n1 conformant 100+20 $0.00014 variant mended
        = {"verdict":"yes","because":"it is","also":null}
        "#,
    );
}
