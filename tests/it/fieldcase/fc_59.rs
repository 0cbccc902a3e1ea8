//! FC-59: a variable that is not there.

use rig::testing::Scripted;
use tests::check;
use tests::routes::{FcAskInput, ask};

use super::{Case, assert_error};

// C5: the error names the prompt file, the line, and the thing at fault.
#[test]
fn fc_59_a_hole_in_a_prompt_does_not_compile() {
    let Some(case) = Case::open("FC-59") else {
        return;
    };
    let cases: &[(&str, &str, &str, &[&str])] = &[
        ("if_variable.md", "unknown-capability", "1:1", &["`q`"]),
        (
            "nested.md",
            "template-block",
            "1:29",
            &["{{#unless capability.structured_native}}"],
        ),
        ("ok.md", "", "", &[]),
        ("stray_close.md", "template-block", "1:1", &["`{{/if}}`"]),
        ("unclosed_block.md", "template-block", "1:1", &["`{{/if}}`"]),
        (
            "unclosed_tag.md",
            "template-tag",
            "1:8",
            &["the tag `{{q` is not closed"],
        ),
        (
            "undeclared.md",
            "undeclared-variable",
            "1:18",
            &["`{{custmer}}`", "for {{custmer}}."],
        ),
        (
            "unknown_flag.md",
            "unknown-capability",
            "1:1",
            &["structured_nativ", "`structured_native`"],
        ),
    ];
    let named = case.expected("compile");
    assert!(
        named
            .iter()
            .map(|(file, _)| file)
            .eq(cases.iter().map(|(file, ..)| file))
    );
    let base = Case(case.0.with_file_name("_base")).read("route.yaml");
    for (file, code, place, words) in cases {
        let route = base.replace("./prompt.md", &format!("./{file}"));
        let route = case.compile("route.yaml", &route, &[file]);
        if code.is_empty() {
            assert_eq!(route.findings, [], "{file}");
        } else {
            assert_error(file, &route, code, &format!("routes/{file}:{place}"), words);
        }
    }
}

// With typed inputs a missing or misspelt one does not compile (`ui/`); an empty one is a value.
#[test]
fn fc_59_an_empty_value_is_not_a_missing_one() {
    let seen = check(
        "deepseek",
        [Scripted::chat(r#"{"answer":"a"}"#)],
        |rig| ask(FcAskInput { q: String::new() }).on(rig).run(),
        "1 deepseek/deepseek-v4-flash conformant 100+20 $0.0000196\n= {\"answer\":\"a\"}",
    );
    assert!(seen.system(1).starts_with("Answer .\n"));
}
