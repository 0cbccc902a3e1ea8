//! What becomes of a prompt that is hostile or huge?

use super::{Ends, MEGABYTE, check_prompt, series};

#[test]
fn ten_thousand_variables() {
    let names = series(10_000, ", ", |n| format!("v{n}"));
    let uses = series(10_000, "\n", |n| format!("{{{{v{n}}}}}"));
    check_prompt(&uses, &names, Ends::Module(4 * MEGABYTE));
    check_prompt("Hello.", &names, Ends::Findings("unused-variable", 10_000));
    check_prompt(
        &uses,
        &format!("{names}, {names}"),
        Ends::Findings("duplicate-variable", 10_000),
    );
    let others = series(10_000, "\n", |n| format!("{{{{variable{n}}}}}"));
    check_prompt(
        &others,
        &names,
        Ends::Findings("undeclared-variable", 10_000),
    );
}

#[test]
fn a_prompt_of_ten_megabytes() {
    check_prompt(
        &"Lorem ipsum. ".repeat(10 * MEGABYTE / 13),
        "",
        Ends::Module(11 * MEGABYTE),
    );
    check_prompt(&"{".repeat(10 * MEGABYTE), "", Ends::Module(11 * MEGABYTE));
}

#[test]
fn a_prompt_of_half_tags_in_one_line() {
    check_prompt(
        &"{{ some prose ".repeat(MEGABYTE / 14),
        "",
        Ends::Module(2 * MEGABYTE),
    );
    check_prompt(
        &(" {{a b".repeat(100_000) + &" ".repeat(MEGABYTE)),
        "",
        Ends::Module(4 * MEGABYTE),
    );
    check_prompt(
        &"{{#if}}".repeat(10_000),
        "",
        Ends::Findings("template-block", 9_999),
    );
    check_prompt(
        &("{{#".to_owned() + &"x".repeat(MEGABYTE)),
        "",
        Ends::Findings("template-tag", 1),
    );
}

#[test]
fn ten_thousand_undeclared_variables_in_one_line() {
    let uses = series(10_000, " and what comes between them ", |n| {
        format!("{{{{v{n}}}}}")
    });
    check_prompt(&uses, "", Ends::Findings("undeclared-variable", 10_000));
}
