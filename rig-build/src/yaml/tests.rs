//! Is a file read as YAML 1.2, with every place where it belongs?

use super::*;

fn read(text: &str) -> (Option<Node>, Vec<&'static str>) {
    let mut sources = Sources::default();
    let source = sources.add("t.yaml".to_owned(), text.to_owned());
    let mut sink = Sink::default();
    let node = parse(&sources, source, &mut sink);
    (
        node,
        sink.into_findings()
            .iter()
            .map(|finding| finding.code)
            .collect(),
    )
}

fn json(text: &str) -> String {
    let (node, codes) = read(text);
    assert_eq!(codes, Vec::<&str>::new(), "{text}");
    node.expect("it was read").to_json()
}

/// F3: YAML 1.2, not 1.1.
#[test]
fn plain_scalars_follow_the_core_schema() {
    assert_eq!(
        json(
            "[no, on, y, off, 0755, 1.10, 60_000, null, ~, true, 0x1F, 0o7, 1e3, 12:30:45, '1', .5, 1.]"
        ),
        r#"["no","on","y","off",0755,1.10,"60_000",null,null,true,0x1F,0o7,1e3,"12:30:45","1",.5,1.]"#
    );
}

#[test]
fn what_is_not_plain_data_is_refused() {
    let cases = [
        ("a: &x 1\nb: *x\n", vec!["yaml-alias", "yaml-alias"]),
        ("a: !!str 1\n", vec!["yaml-tag"]),
        ("<<: {a: 1}\n", vec!["yaml-merge-key"]),
        ("a: 1\n---\nb: 2\n", vec!["yaml-document"]),
        ("a: 1\n'a': 2\n", vec!["duplicate-key"]),
        ("a: {{x}}\n", vec!["yaml-key"]),
        ("a:\n\tb: 1\n", vec!["yaml-syntax"]),
        ("a: [1\n", vec!["yaml-syntax"]),
    ];
    for (text, codes) in cases {
        assert_eq!(read(text).1, codes, "{text:?}");
    }
}

#[test]
fn deep_nesting_and_alias_bombs_end_in_a_finding() {
    assert!(!read(&"[".repeat(5_000)).1.is_empty());
    assert!(!read(&"- ".repeat(5_000)).1.is_empty());
    let bomb: String = (0..9)
        .map(|n| format!("a{}: &a{} [*a{n}, *a{n}, *a{n}]\n", n + 1, n + 1))
        .collect();
    assert!(read(&bomb).1.iter().all(|code| *code == "yaml-alias"));
}

#[test]
fn places_are_those_of_the_text() {
    let text = "a: 1\nlist:\n  - {x: 日, y: \"z\"}\n";
    let (node, _) = read(text);
    let node = node.expect("it was read");
    let entry = node.entry("list").expect("it is there");
    assert_eq!(&text[entry.key_span.start..entry.key_span.end], "list");
    let item = &entry.value.items()[0];
    assert_eq!(&text[item.span.start..item.span.end], "{x: 日, y: \"z\"}");
    let y = item.get("y").expect("it is there");
    assert_eq!(&text[y.span.start..y.span.end], "\"z\"");
}

/// The tree holds what serde_yaml reads, where both accept the text.
#[test]
fn reads_what_serde_yaml_reads() {
    let texts = [
        "a: 1\nb: [x, 'y', \"z\\n\"]\nc: {d: null, e: true}\n",
        "a: |\n  two\n  lines\nb: >-\n  folded\n  text\n",
        "- a\n- b: 1\n  c: 2\n-\n  - d\n",
        "# only a comment\n",
        "a: 'it''s'\nb: \"\\u00e9\"\nc: plain text # comment\n",
    ];
    for text in texts {
        let theirs: serde_json::Value = serde_yaml::from_str(text).expect("serde_yaml reads it");
        let ours: serde_json::Value = serde_json::from_str(&json(text)).expect("it is JSON");
        assert_eq!(ours, theirs, "{text}");
    }
}
