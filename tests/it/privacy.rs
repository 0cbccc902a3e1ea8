//! What never enters a message or a row?

use rig::testing::Scripted;
use tests::routes::{LadderInput, MendInput, ladder, mend};
use tests::{KEY_MARKER, check};

use crate::{BOTH, fault};

const PROMPT_MARKER: &str = "zebra crossing";
const OUTPUT_MARKER: &str = "walrus";

fn secret() -> String {
    format!("The {PROMPT_MARKER} is where nobody looks for it, under the old bridge of the town.")
}

/// Neither the error's two texts nor those of the rows hold a marker.
fn assert_silent<T>(seen: &tests::Seen<T>) {
    let error = seen.error();
    let texts = format!("{error}\n{error:?}\n{:?}", seen.rows);
    for marker in [PROMPT_MARKER, OUTPUT_MARKER, KEY_MARKER] {
        assert!(!texts.contains(marker), "`{marker}` is in: {texts}");
    }
}

// L9, K5: places and kinds are told, values and made-up names are not.
#[test]
fn no_output_is_quoted() {
    let answers = [
        format!(r#"{{"verdict":"{OUTPUT_MARKER}","because":1,"also":"{OUTPUT_MARKER}"}}"#),
        format!(r#"{{"{OUTPUT_MARKER}":"{OUTPUT_MARKER}"}}"#),
        format!("I would say {OUTPUT_MARKER}."),
        format!(r#"{{"{OUTPUT_MARKER}":1,"{OUTPUT_MARKER}":2}}"#),
    ];
    let script: Vec<_> = answers.iter().map(|text| Scripted::chat(text)).collect();
    let input = LadderInput { question: secret() };
    let seen = check(
        BOTH,
        script,
        |rig| ladder(input).on(rig).run(),
        r#"
        1 north/n1 content_invalid 100+20 $0.00014
        2 north/n1 content_invalid 100+20 $0.00014
        3 south/s1 content_invalid 100+20 $0.000014
        4 south/s1 content_invalid 100+20 $0.000014
        ! content_invalid south/s1: the answer repeats a key within one object
        (north/n1 content_invalid, north/n1 content_invalid, south/s1 content_invalid, south/s1 content_invalid)
        "#,
    );
    assert_silent(&seen);
}

// L9: also not out of the repair rung, whose prompts do hold them.
#[test]
fn no_output_is_quoted_after_a_repair() {
    let answer =
        format!(r#"{{"verdict":"{OUTPUT_MARKER}","because":"b","also":"{OUTPUT_MARKER}"}}"#);
    let script = (0..6).map(|_| Scripted::chat(&answer));
    let input = MendInput { question: secret() };
    let seen = check(
        BOTH,
        script,
        |rig| mend(input).on(rig).run(),
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
    assert!(seen.text(3).contains(OUTPUT_MARKER) && !seen.text(3).contains(PROMPT_MARKER));
    assert_silent(&seen);
}

// L9: a provider that echoes the key or quotes the prompt is not repeated.
#[test]
fn what_a_provider_echoes_is_not_repeated() {
    let key = fault(401, "", &format!("key {KEY_MARKER}-north is not known"));
    let prompt = fault(400, "", &format!("cannot read '{}' at 7", secret()));
    let input = LadderInput { question: secret() };
    let seen = check(
        BOTH,
        [key, prompt],
        |rig| ladder(input).on(rig).run(),
        r#"
        1 north/n1 config_auth $0.00
        2 south/s1 network $0.00
        ! network south/s1: cannot read '…' at 7
        (north/n1 config_auth, south/s1 network)
        "#,
    );
    assert_silent(&seen);
    let key = fault(401, "", &format!("key {KEY_MARKER}-south is not known"));
    let seen = check(
        "south",
        [key],
        |rig| ladder(LadderInput { question: secret() }).on(rig).run(),
        r#"
        1 south/s1 config_auth $0.00
        ! config_auth south/s1: key [redacted] is not known
        (north/n1 has no key, south/s1 config_auth)
        "#,
    );
    assert_silent(&seen);
}
