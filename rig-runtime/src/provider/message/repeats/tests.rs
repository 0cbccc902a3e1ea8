//! Does anything get through?

use proptest::prelude::*;
use serde_json::json;

use super::*;

fn cut_of(message: &str, texts: &[&str]) -> String {
    let texts: Vec<_> = texts.iter().map(|text| Cow::from(*text)).collect();
    without_repeats(message, &texts)
}

#[test]
fn runs_of_eight_characters_are_cut_and_shorter_ones_kept() {
    let text = "The quick brown fox";
    let cases = [
        ("I saw a quick cat", "I saw a quick cat"),
        ("I saw the quick cat", "I saw … cat"),
        ("QUICK\n BROWN!", "…!"),
        ("the quic and k brown f", "… and …"),
        ("", ""),
    ];
    for (message, expected) in cases {
        assert_eq!(cut_of(message, &[text]), expected);
    }
    assert_eq!(cut_of("as it was", &["as it was not"]), "…");
    assert_eq!(cut_of("nothing is lost", &[]), "nothing is lost");
}

#[test]
fn escapes_and_case_hide_nothing() {
    let text = "ä\"b\"\nc\\d/e𝄞 Straße";
    let json = json!(text).to_string();
    let twice = json!(json).to_string();
    let ways = [
        text.to_owned(),
        json.clone(),
        twice,
        text.to_uppercase(),
        "\\u00e4\\\"b\\\"\\nc\\\\d\\/e\\ud834\\udd1e Stra\\u00dfe".to_owned(),
        "\\xe4\\x22b\\x22\\nc\\\\d/e\\U0001d11e stra\\xdfe".to_owned(),
    ];
    for way in ways {
        let shown = cut_of(&format!("no: {way}, sorry"), &[text]);
        assert!(
            shown.starts_with("no: ") && shown.ends_with(", sorry"),
            "{shown}"
        );
        assert!(
            shown.chars().count() <= "no: \"\"…\"\", sorry".len(),
            "{shown}"
        );
    }
    // A value that is rendered as JSON may be shown as the text that it holds.
    assert_eq!(
        cut_of("no: say \"hello\" now", &[r#"{"a":"say \"hello\" now"}"#]),
        "no: …"
    );
}

#[test]
fn a_short_text_is_cut_as_a_word() {
    let cases = [
        ("Anna", "user anna.", "user …."),
        ("Anna", "user annabel, Hanna", "user annabel, Hanna"),
        (" Anna\n", "(ANNA)", "(…)"),
        ("A-7", "case a-7 of a-77", "case … of a-77"),
        ("Bo", "user Bo", "user Bo"),
        ("東京都", "在東京都找到", "在…找到"),
        ("token", "no token", "no token"),
        ("", "no token", "no token"),
    ];
    for (text, message, expected) in cases {
        assert_eq!(cut_of(message, &[text]), expected, "{text}");
    }
    // What stands alone only once its neighbour is gone is found as well.
    assert_eq!(cut_of("x Anna12345678", &["Anna", "12345678"]), "x …");
}

#[test]
fn what_is_cut_joins_to_nothing_new() {
    let shown = cut_of("abcdXXXXXXXXefgh", &["XXXXXXXX", "abcd…efgh"]);
    assert_eq!(shown, "…");
}

#[test]
fn a_long_text_is_searched_to_its_end() {
    let mut text = "a long story ".repeat(100_000);
    text.push_str("and the walrus sang");
    assert_eq!(cut_of("no: the walrus sang", &[&text]), "no: …");
}

/// The text as it is compared.
fn form(text: &str) -> Vec<char> {
    Folded::of(text.trim().chars()).collect()
}

fn holds_a_run(shown: &str, text: &str) -> bool {
    let shown = form(shown);
    let text = form(text);
    let mut runs = text.windows(RUN);
    runs.any(|run| shown.windows(RUN).any(|part| part == run))
}

/// Texts of few characters, so that they meet by chance, and of many.
fn text() -> impl Strategy<Value = String> {
    prop_oneof!["[abAB \n\"\\\\…ßé]{0,40}", "(?s).{0,60}", "[a-z]{1,9}"]
}

/// Writes a piece of a text as somebody might.
fn written(text: &str, from: usize, length: usize, way: u8) -> String {
    let piece: String = text.chars().skip(from).take(length).collect();
    match way % 5 {
        0 => piece,
        1 => json!(piece).to_string(),
        2 => json!(json!(piece).to_string()).to_string(),
        3 => piece.to_uppercase(),
        _ => piece.split_whitespace().collect::<Vec<_>>().join("  "),
    }
}

proptest! {
    // L9: of any text, in any message that is put together from pieces of it, no eight characters are left.
    #[test]
    fn no_run_of_a_text_is_left(
        texts in prop::collection::vec(text(), 1..4),
        pieces in prop::collection::vec((0..4_usize, 0..40_usize, 0..40_usize, any::<u8>(), "[a-c\"' ]{0,3}"), 0..8),
    ) {
        let said = pieces.iter().map(|(of, from, length, way, between)| {
            let text = &texts[of % texts.len()];
            written(text, *from, *length, *way) + between
        });
        let message: String = said.collect();
        let borrowed: Vec<_> = texts.iter().map(String::as_str).collect();
        let shown = cut_of(&message, &borrowed);
        for text in &borrowed {
            prop_assert!(!holds_a_run(&shown, text), "{shown:?} of {message:?}");
            let mut plain = shown.clone();
            for _ in 0..MOST_ESCAPES {
                let Some(next) = unescaped_text(&plain) else { break };
                prop_assert!(!holds_a_run(&next, text), "{next:?} of {message:?}");
                plain = next;
            }
        }
        prop_assert_eq!(&cut_of(&shown, &borrowed), &shown);
        prop_assert!(shown.chars().count() <= super::super::one_line(&message).chars().count());
    }

    // What shares nothing with the texts stays as it is.
    #[test]
    fn what_is_not_repeated_is_kept(message in "[a-m]{1,7}( [a-m]{1,7}){0,9}", text in "[n-z]{0,90}") {
        prop_assert_eq!(cut_of(&message, &[&text]), message);
    }
}
