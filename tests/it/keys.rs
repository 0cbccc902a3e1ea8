//! What happens without a key?

use std::env;
use std::process::Command;

use rig::raw::Provider;
use rig::testing::{ManualClock, MemoryStore, ScriptedTransport};
use rig::{FailureClass, Rig};
use tests::routes::{ladder, mend};
use tests::{block_on, check};

use crate::{bad, good, mend_input, question};

// R5
#[test]
fn a_keyless_candidate_is_skipped_without_a_row() {
    check(
        "south",
        [good()],
        |rig| ladder(question()).on(rig).run(),
        r#"
        1 south/s1 conformant 100+20 $0.000014
        = {"verdict":"yes","because":"it is","also":null}
        "#,
    );
}

// R5: no dispatch, no row, no spend, and the variable to set is named.
#[test]
fn a_ladder_of_keyless_candidates_fails_with_config_auth() {
    let seen = check(
        "",
        [],
        |rig| ladder(question()).on(rig).run(),
        r#"
        ! config_auth south/s1: no key for `south`: `SOUTH_API_KEY` is not set or empty
        (north/n1 has no key, south/s1 has no key)
        "#,
    );
    assert_eq!(seen.error().class(), Some(FailureClass::ConfigAuth));
}

// R5, L9: a missing key of a later candidate is the last failure, and the history has the first.
#[test]
fn a_keyless_last_candidate_is_the_last_failure() {
    check(
        "north",
        [bad(), bad()],
        |rig| ladder(question()).on(rig).run(),
        r#"
        1 north/n1 content_invalid 100+20 $0.00014
        2 north/n1 content_invalid 100+20 $0.00014
        ! config_auth south/s1: no key for `south`: `SOUTH_API_KEY` is not set or empty
        (north/n1 content_invalid, north/n1 content_invalid, south/s1 has no key)
        "#,
    );
}

// L7, R5: a repair model without a key uses its unit, and writes no row.
#[test]
fn a_keyless_repair_model_uses_its_unit() {
    check(
        "north",
        [bad(), bad(), good()],
        |rig| mend(mend_input()).on(rig).run(),
        r#"
        1 north/n1 content_invalid 100+20 $0.00014
        2 north/n1 content_invalid 100+20 $0.00014 repaired by north/n1
        3 north/n1 conformant 100+20 $0.00014
        = {"verdict":"yes","because":"it is","also":null}
        "#,
    );
}

// A key is each provider's own, and goes to nobody else.
#[test]
fn each_provider_gets_its_own_key() {
    let seen = check(
        "north south",
        [bad(), bad(), good()],
        |rig| ladder(question()).on(rig).run(),
        r#"
        1 north/n1 content_invalid 100+20 $0.00014
        2 north/n1 content_invalid 100+20 $0.00014
        3 south/s1 conformant 100+20 $0.000014
        = {"verdict":"yes","because":"it is","also":null}
        "#,
    );
    for (attempt, provider) in [(1, "north"), (3, "south")] {
        let request = seen.request(attempt);
        assert_eq!(
            request.url,
            format!("http://{provider}.test/v1/chat/completions")
        );
        let key = format!("Bearer {}-{provider}", tests::KEY_MARKER);
        let sent = request
            .headers
            .iter()
            .find(|(name, _)| *name == "authorization");
        assert_eq!(sent.unwrap().1, key);
    }
}

/// Set where this program runs again, with a key of the environment that no header can carry.
const AGAIN: &str = "RIG_TEST_OF_A_KEY";

// R5: a key of the environment is trimmed, and one with a control character is `config_auth` that names the variable.
#[test]
#[expect(
    clippy::disallowed_methods,
    reason = "a process cannot set its own environment safely, so that it starts itself again"
)]
fn a_key_of_the_environment_is_usable_or_its_variable_is_named() {
    if let Some(expected) = env::var_os(AGAIN) {
        return asks_with_the_environment(expected.to_str().unwrap());
    }
    let refused = "`OPENAI_API_KEY` holds characters that no HTTP header can carry";
    let missing = "no key for `openai`: `OPENAI_API_KEY` is not set or empty";
    for (key, expected) in [
        (" sk-walrus\r\n", "Bearer sk-walrus"),
        ("sk-\u{7}walrus", refused),
        ("sk-wal\nrus", refused),
        (" \n", missing),
    ] {
        let end = Command::new(env::current_exe().unwrap())
            .args([
                "--exact",
                "keys::a_key_of_the_environment_is_usable_or_its_variable_is_named",
            ])
            .env("OPENAI_API_KEY", key)
            .env(AGAIN, expected)
            .output()
            .unwrap();
        let told = String::from_utf8_lossy(&end.stdout);
        assert!(
            end.status.success() && told.contains("1 passed"),
            "{key:?}: {told}"
        );
    }
}

fn asks_with_the_environment(expected: &str) {
    let clock = ManualClock::new();
    let transport = ScriptedTransport::new(&clock);
    transport.push(good());
    let store = MemoryStore::default();
    let rig = Rig::builder()
        .transport(transport.clone())
        .store(store.clone())
        .clock(clock)
        .build()
        .unwrap();
    let end = block_on(rig.raw(Provider::OPENAI, "m").user("go").run());
    match (end, transport.requests().as_slice()) {
        (Ok(_), [request]) => {
            let sent = request
                .headers
                .iter()
                .find(|(name, _)| *name == "authorization");
            assert_eq!(sent.unwrap().1, expected);
        }
        (Err(error), []) => {
            let failure = error.failure().unwrap();
            assert_eq!(
                (failure.class, &*failure.message),
                (FailureClass::ConfigAuth, expected)
            );
            assert!(!format!("{error}{error:?}").contains("walrus") && store.rows().is_empty());
        }
        (end, requests) => panic!("{end:?} after {} requests", requests.len()),
    }
}
