//! Are patterns read and searched for as ECMA-262 has them?

use super::*;

fn check(pattern: &str, matches: &[&str], others: &[&str]) {
    let compiled = Pattern::new(pattern).unwrap_or_else(|fault| panic!("{pattern}: {fault:?}"));
    for text in matches {
        assert_eq!(compiled.is_match(text), Some(true), "{pattern} in {text:?}");
    }
    for text in others {
        assert_eq!(
            compiled.is_match(text),
            Some(false),
            "{pattern} in {text:?}"
        );
    }
}

#[test]
fn patterns_are_searched_for_anywhere() {
    check("", &["", "x"], &[]);
    check("b+c", &["abbc", "bc"], &["ac", "b"]);
    check("^a*$", &["", "aaa"], &["b", "ab"]);
    check("^(ab|cd){2}$", &["abcd", "cdcd"], &["ab", "ababab"]);
    check("^x{2,3}$", &["xx", "xxx"], &["x", "xxxx"]);
    check("^x{2,}?y??$", &["xx", "xxxy"], &["x", "xxyy"]);
    check("^(?:a|)(?<name>b)$", &["b", "ab"], &["a"]);
    check("^.$", &["é", "💩"], &["\n", "\u{2028}", "ab"]);
    check("a|^b", &["xa", "bx"], &["xb"]);
    check(r"^\p{Letter}+$", &["é", "Ωß"], &["1", "_"]);
    check(r"^\p{Lu}\P{Lu}\p{gc=Nd}$", &["Ab1", "É!٣"], &["ab1"]);
}

#[test]
fn sets_and_escapes_mean_what_they_do_with_the_u_flag() {
    check(r"^\d\w\s$", &["1_\u{a0}", "0a\u{feff}"], &["٣a ", "1é "]);
    check(r"^\D\W\S$", &["é-x"], &["1-x", "éax"]);
    check(r"^[a-c\d.-]+$", &["ab3.-"], &["d", "e"]);
    check(r"^[^a-c]$", &["d", "💩"], &["b"]);
    check(r"^[]$", &[], &["", "a"]);
    check(r"^[^]$", &["\n", "a"], &[""]);
    check(r"^[\]\\\b-]+$", &["]\\\u{8}-"], &["b"]);
    check(r"^\x41\u0042\u{43}\cJ\0$", &["ABC\n\0"], &["abc"]);
    check(r"^\ud83d\udca9[\ud83d\udca9]$", &["💩💩"], &["💩"]);
    check(r"^a\-\@\_\/\.{x}]$", &["a-@_/.{x}]"], &["a-@_/x"]);
    check(r"\bword\b", &["a word."], &["swords", "keyword"]);
    check(r"^a\Bb", &["ab"], &["a b"]);
}

#[test]
fn looking_ahead_and_behind_takes_nothing() {
    check(
        "^(?=.*[A-Z])(?=.*[0-9]).{4,}$",
        &["abC1", "1Cxx"],
        &["abc1", "C1"],
    );
    check("^(?!foo)", &["fo", "bar"], &["foo", "foobar"]);
    check("(?<=\\$)\\d", &["x$1"], &["x1", "$"]);
    check("(?<!-)\\b\\d+$", &["a 12"], &["-12"]);
    check("^(?=(?!b)[a-c]+$)", &["ac"], &["bc", "ad"]);
    check("(?<=^ab*)c", &["abbbc", "ac"], &["xabc", "bc"]);
    check("(?<=(?=b).)c", &["bc"], &["ac"]);
}

#[test]
fn what_is_no_pattern_is_refused_where_it_is_wrong() {
    for (pattern, at) in [
        ("a(b", 3),
        ("a)b", 1),
        ("*a", 0),
        ("a**", 2),
        ("[a", 2),
        ("[z-a]", 4),
        ("a\\", 2),
        (r"\z", 1),
        (r"(a)\1", 4),
        (r"\p{Nope}", 2),
        (r"\u{110000}", 9),
        ("x{3,2}", 6),
        ("(?i)a", 2),
        ("(?<>a)", 3),
    ] {
        let fault = Pattern::new(pattern).expect_err(pattern);
        assert_eq!(fault.at, at, "{pattern}: {fault:?}");
    }
    assert!(Pattern::new(&"(".repeat(100_000)).is_err());
    assert!(Pattern::new("((a{1000}){1000}){1000}").is_err());
}

#[test]
fn no_pattern_runs_away() {
    let text = format!("{}!", "a".repeat(20_000));
    for pattern in [
        "^(a+)+$",
        "^(a|aa)+$",
        "^(a*)*b$",
        "(x+x+)+y",
        "^(?=(a+)+$)",
    ] {
        assert_eq!(
            Pattern::new(pattern).unwrap().is_match(&text),
            Some(false),
            "{pattern}"
        );
    }
    // Looking ahead from everywhere takes a square of the text: the budget ends it.
    let far = Pattern::new("(?=a*b)c").unwrap();
    assert_eq!(far.is_match(&text), None);
}
