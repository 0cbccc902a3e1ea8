//! FC-02: scalars that old YAML would turn into booleans, octals or floats.

use super::{Case, assert_error};

// F3
#[test]
fn fc_02_a_scalar_of_another_type_is_an_error_and_never_converted() {
    let Some(case) = Case::open("FC-02") else {
        return;
    };
    let cases: &[(&str, &str, &str, &[&str])] = &[
        (
            "capture_no.yaml",
            "wrong-type",
            "16:10",
            &["`capture`", "`no`", "capture: no"],
        ),
        (
            "model_float.yaml",
            "wrong-type",
            "6:12",
            &["`model`", "\"1.10\""],
        ),
        (
            "model_null.yaml",
            "wrong-type",
            "6:12",
            &["`model`", "null"],
        ),
        (
            "timeout_underscore.yaml",
            "wrong-type",
            "13:15",
            &["`timeout_ms`", "60_000"],
        ),
    ];
    let mut named: Vec<_> = case
        .expected("compile")
        .into_iter()
        .map(|(file, _)| file)
        .collect();
    named.retain(|file| file != "ok_words.yaml" && file != "version_leading_zero.yaml");
    assert!(named.iter().eq(cases.iter().map(|(file, ..)| file)));
    for (file, code, place, words) in cases {
        let route = case.compile(file, &case.read(file), &[]);
        let place = format!("routes/{file}:{place}\n");
        assert_error(file, &route, code, &place, words);
    }
}

// F3: YAML 1.2 knows no octals of that form.
#[test]
fn fc_02_a_leading_zero_is_decimal() {
    let Some(case) = Case::open("FC-02") else {
        return;
    };
    let file = "version_leading_zero.yaml";
    let route = case.compile(file, &case.read(file), &[]);
    assert_eq!(route.findings, []);
    assert!(route.module.unwrap().contains("\n    version: 10,\n"));
}

// F3: `no`, `on`, `y` and `off` are strings.
#[test]
fn fc_02_words_that_were_booleans_once_are_names() {
    let Some(case) = Case::open("FC-02") else {
        return;
    };
    let file = "ok_words.yaml";
    let text = case.read(file).replace("./prompt.md", "./ok_prompt.md");
    let route = case.compile(file, &text, &["ok_prompt.md"]);
    assert_eq!(route.findings, []);
    let module = route.module.unwrap();
    for name in ["q", "no", "on", "y"] {
        assert!(
            module.contains(&format!("    pub {name}: ::std::string::String,\n")),
            "{module}"
        );
        assert!(
            module.contains(&format!("Segment::Variable(\"{name}\")")),
            "{module}"
        );
    }
    assert!(
        module.contains("    name: \"off\",\n") && module.contains("    Off,\n"),
        "{module}"
    );
}
