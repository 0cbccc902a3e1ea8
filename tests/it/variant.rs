//! What does a variant change?

use tests::check;
use tests::routes::ladder;
use tests::routes::ladder::Variant;

use crate::{BOTH, bad, good, question};

// R1: a variant narrows; rows and meta say that it served.
#[test]
fn a_variant_narrows_the_candidates() {
    let seen = check(
        BOTH,
        [bad(), bad()],
        |rig| ladder(question()).variant(Variant::SouthOnly).on(rig).run(),
        r#"
        1 south/s1 content_invalid 100+20 $0.000014 variant south-only
        2 south/s1 content_invalid 100+20 $0.000014 variant south-only
        ! content_invalid south/s1: the answer misses the schema at `/verdict` (enum)
        (south/s1 content_invalid, south/s1 content_invalid)
        "#,
    );
    assert_eq!(seen.request(1).url, "http://south.test/v1/chat/completions");
    let seen = check(
        BOTH,
        [good()],
        |rig| ladder(question()).variant(Variant::SouthOnly).on(rig).run(),
        r#"
        1 south/s1 conformant 100+20 $0.000014 variant south-only
        = {"verdict":"yes","because":"it is","also":null}
        "#,
    );
    assert_eq!(seen.run().meta.served_variant, Some("south-only"));
}

/// The system prompt and the response format of a call under a variant.
fn first_request(variant: Option<Variant>) -> (String, String) {
    let shown = variant.map_or("", |variant| match variant {
        Variant::SouthOnly => " variant south-only",
        Variant::InWords => " variant in-words",
        Variant::Brief => " variant brief",
        Variant::Kind => " variant kind",
        Variant::Mended => " variant mended",
    });
    let seen = check(
        BOTH,
        [good()],
        |rig| {
            let call = ladder(question()).on(rig);
            match variant {
                Some(variant) => call.variant(variant).run(),
                None => call.run(),
            }
        },
        &format!(
            "1 north/n1 conformant 100+20 $0.00014{shown}\n= {}",
            crate::GOOD
        ),
    );
    let format = seen.body(1)["response_format"]["type"].clone();
    (seen.system(1), format.as_str().unwrap().to_owned())
}

#[test]
fn a_variant_changes_the_prompt_or_how_json_is_asked_for() {
    let plain = "Decide this case.\n\nIs it so?\n";
    let native = |variant| {
        let (system, format) = first_request(variant);
        assert_eq!(format, "json_schema");
        system
    };
    assert_eq!(native(None), plain);
    assert_eq!(native(Some(Variant::Mended)), plain);
    assert_eq!(
        native(Some(Variant::Brief)),
        "Decide in one word: Is it so?\n"
    );
    let kind = native(Some(Variant::Kind));
    assert!(
        kind.starts_with(plain) && kind.ends_with("Be kind about it.\n"),
        "{kind}"
    );
    let (system, format) = first_request(Some(Variant::InWords));
    assert_eq!(format, "json_object");
    assert!(
        system.starts_with(plain) && system.contains("JSON Schema"),
        "{system}"
    );
}
