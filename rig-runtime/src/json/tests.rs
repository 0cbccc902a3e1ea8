//! Is JSON read as `serde_json` reads it, but for repeated keys and digits that it would lose?

use proptest::prelude::*;
use serde_json::json;

use super::*;

fn value(text: &str) -> Result<Value, Fault> {
    let mut reader = Reader::new(text);
    let value = reader.value(false)?;
    reader.end()?;
    Ok(value)
}

/// Returns what `serde_json` reads, or `None`; a repeated key has its last value.
fn peer(text: &str) -> Option<Value> {
    serde_json::from_str(text).ok()
}

#[test]
fn values_are_read() {
    for (text, expected) in [
        (" null ", json!(null)),
        ("[]", json!([])),
        ("{}", json!({})),
        (
            r#"{"a":[1,-2,0.5,true,false],"":{}}"#,
            json!({"a": [1, -2, 0.5, true, false], "": {}}),
        ),
        (
            r#""\"\\\/\b\f\n\r\t\u00e9\ud83d\udca9é""#,
            json!("\"\\/\u{8}\u{c}\n\r\té💩é"),
        ),
        ("18446744073709551615", json!(u64::MAX)),
        ("-9223372036854775808", json!(i64::MIN)),
        ("18446744073709551616", json!(18_446_744_073_709_551_616.0)),
        ("1.0", json!(1.0)),
        ("1e2", json!(100.0)),
    ] {
        assert_eq!(value(text), Ok(expected), "{text}");
    }
    let whole = Reader::new("[1.0, -0.0, 1e2, 0.5]").value(true);
    assert_eq!(whole, Ok(json!([1, 0, 100, 0.5])));
}

#[test]
fn what_is_no_json_is_refused_with_its_place() {
    for (text, reason) in [
        ("", "EOF while parsing a value at line 1 column 1"),
        ("[1,\n2", "EOF while parsing a list at line 2 column 2"),
        (r#"{"a" 1}"#, "expected `:` at line 1 column 6"),
        (r#"{"a":1,}"#, "trailing comma at line 1 column 8"),
        ("[1,]", "trailing comma at line 1 column 4"),
        ("[1 2]", "expected `,` or `]` at line 1 column 4"),
        ("01", "invalid number at line 1 column 1"),
        ("-", "invalid number at line 1 column 2"),
        ("1.", "invalid number at line 1 column 3"),
        ("1e", "invalid number at line 1 column 3"),
        ("1e999", "number out of range at line 1 column 6"),
        ("nul", "expected value at line 1 column 1"),
        ("'a'", "expected value at line 1 column 1"),
        ("\"a", "EOF while parsing a string at line 1 column 3"),
        ("\"\n\"", "control character in a string at line 1 column 2"),
        (r#""\x""#, "invalid escape at line 1 column 3"),
        (r#""\ud800""#, "lone surrogate at line 1 column 8"),
        (
            "1 2",
            "something follows the first value at line 1 column 3",
        ),
    ] {
        let fault = value(text).expect_err(text);
        assert_eq!(fault.describe(text), reason, "{text}");
        assert_eq!(peer(text), None, "{text}");
    }
}

#[test]
fn nesting_ends_where_it_does_for_serde_json() {
    for depth in [100, 126, 127, 128, 129, 100_000] {
        let text = "[".repeat(depth) + &"]".repeat(depth);
        assert_eq!(value(&text).is_ok(), peer(&text).is_some(), "{depth}");
    }
}

#[test]
fn a_key_is_there_once() {
    let repeated = value(r#"[{"a":1,"b":{"c":1,"\u0063":2}}]"#);
    assert_eq!(repeated, Err(Fault::Repeated("c".to_owned())));
}

#[test]
fn what_is_skipped_is_one_value() {
    for (text, rest) in [
        (r#""a\"]", 1"#, ", 1"),
        (r#"{"a]":[1,"}"]} , 2"#, " , 2"),
        ("-1.5e3]", "]"),
        ("true}", "}"),
    ] {
        let mut reader = Reader::new(text);
        assert_eq!(reader.skip(), Some(()), "{text}");
        assert_eq!(&text[reader.at()..], rest);
        assert_eq!(Reader::new(&text[..2]).skip(), None, "{text}");
    }
}

proptest! {
    #[test]
    fn any_text_is_read_as_serde_json_reads_it(
        text in r#"([\[\]{},:"\\/ue0-9.+\-a-f \n]|null|true|"[a-z]":|"é"|1e3|\\u00|\\ud83d\\udca9){0,16}"#,
    ) {
        match value(&text) {
            // Whether the rest is JSON is not looked at.
            Err(Fault::Repeated(key)) => prop_assert!(text.matches(key.as_str()).count() > 1),
            read => prop_assert_eq!(read.ok(), peer(&text), "{}", text),
        }
    }

    #[test]
    fn what_serde_json_writes_is_read_back(
        texts in prop::collection::vec(any::<String>(), 0..6),
        integers in prop::collection::vec(any::<i64>(), 0..6),
        floats in prop::collection::vec(any::<f64>().prop_filter("JSON has no others", |f| f.is_finite()), 0..6),
    ) {
        let written = json!({"t": texts, "i": integers, "f": floats});
        for text in [written.to_string(), serde_json::to_string_pretty(&written).unwrap()] {
            prop_assert_eq!(value(&text), Ok(written.clone()));
        }
    }

    #[test]
    fn strings_are_scanned_to_their_end(text in "[a-zé\"\\\\\u{1}\u{7f}\u{80}💩]{0,40}") {
        let written = json!(text).to_string();
        prop_assert_eq!(value(&written), Ok(json!(text)));
        prop_assert_eq!(value(&format!("\"{text}\"")).ok(), peer(&format!("\"{text}\"")));
    }
}
