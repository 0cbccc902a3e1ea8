//! What happens to a variable that is longer than its route allows?

use rig::{ConfigError, Error};
use serde_json::{Value, json};
use tests::check;
use tests::routes::{SizedInput, sized};

use crate::{BOTH, good};

fn input(question: &str, data: Value) -> SizedInput {
    let question = question.to_owned();
    SizedInput { question, data }
}

// F, R4: nothing is dispatched, and the message has no word of the value.
#[test]
fn a_variable_beyond_max_chars_is_no_call() {
    let seen = check(
        BOTH,
        [],
        |rig| sized(input("walrus walrus", json!(null))).on(rig).run(),
        "! `question` has 13 characters, and route `sized` allows 10 (`max_chars`)",
    );
    let expected = ConfigError::TooLong {
        route: "sized",
        variable: "question",
        limit: 10,
        length: 13,
    };
    assert_eq!(seen.error(), &Error::Config(expected));
    check(
        BOTH,
        [],
        |rig| sized(input("", json!({ "a": "walrus" }))).on(rig).run(),
        "! `data` has 14 characters, and route `sized` allows 12 (`max_chars`)",
    );
}

// F: characters of the rendered form, and not bytes.
#[test]
fn a_variable_at_max_chars_is_rendered_whole() {
    let seen = check(
        BOTH,
        [good()],
        |rig| {
            sized(input("äöüß🏗äöüß🏗", json!([1, 2, 3, "x"])))
                .on(rig)
                .run()
        },
        r#"
        1 north/n1 conformant 100+20 $0.00014
        = {"verdict":"yes","because":"it is","also":null}
        "#,
    );
    assert!(seen.system(1).contains(r#"äöüß🏗äöüß🏗 [1,2,3,"x"]"#));
}
