//! `cargo rig explain` and `expand` tell what a call would do.

use serde_json::{Value, json};

use crate::{repository, rig, rig_with};

/// Explains a route of the behaviour tests, as a document.
fn document(arguments: &[&str], environment: &[(&str, &str)]) -> (i32, Value) {
    let routes = repository().join("tests/routes");
    let routes = routes.to_str().unwrap();
    let all = [&["explain"], arguments, &["--json", "--routes", routes]].concat();
    let ran = rig_with(repository(), &all, environment);
    let text = if ran.stdout.is_empty() {
        "null"
    } else {
        &ran.stdout
    };
    (ran.code, serde_json::from_str(text).unwrap())
}

fn keys(document: &Value) -> Vec<String> {
    let candidates = document["candidates"].as_array().unwrap().iter();
    candidates
        .map(|one| {
            format!(
                "{}/{}",
                one["provider"].as_str().unwrap(),
                one["model"].as_str().unwrap()
            )
        })
        .collect()
}

/// R5: keyless is who has no key in the environment of the command, or a blank one.
#[test]
fn keyless_is_who_has_no_key_here() {
    let lacking = |environment: &[(&str, &str)]| {
        let (code, told) = document(&["headline"], environment);
        assert_eq!(code, 0);
        let candidates = told["candidates"].as_array().unwrap().iter();
        candidates
            .map(|one| one["lacks_here"].clone())
            .collect::<Vec<_>>()
    };
    let (openai, anthropic) = (json!("OPENAI_API_KEY"), json!("ANTHROPIC_API_KEY"));
    assert_eq!(lacking(&[]), [openai.clone(), anthropic.clone()]);
    assert_eq!(
        lacking(&[("OPENAI_API_KEY", "sk-1")]),
        [Value::Null, anthropic.clone()]
    );
    assert_eq!(lacking(&[("OPENAI_API_KEY", " ")]), [openai, anthropic]);
}

/// No key is ever printed, and an address of the environment is.
#[test]
fn the_environment_is_told_without_its_keys() {
    let environment = [
        ("OPENAI_API_KEY", "sk-secret"),
        ("OPENAI_BASE_URL", "http://127.0.0.1:9/v1"),
        ("COLUMNS", "200"),
    ];
    let routes = repository().join("tests/routes");
    let ran = rig_with(
        &routes,
        &["explain", "headline", "--routes", "."],
        &environment,
    );
    assert!(
        ran.stdout.contains("has its key, at http://127.0.0.1:9/v1"),
        "{}",
        ran.stdout
    );
    assert!(!(ran.stdout + &ran.stderr).contains("sk-secret"));
}

/// R1, R3, R6: who is dropped, by which filter, in the order in which they act; trial candidates, a call's own filters.
#[test]
fn whoever_does_not_serve_is_named_with_the_filter() {
    let (_, told) = document(&["ladder"], &[]);
    assert_eq!(keys(&told), ["north/n1", "south/s1"]);
    assert_eq!(
        told["dropped"],
        json!([{ "candidate": "open/o1", "filter": "`trial: true`" }])
    );
    let (_, told) = document(&["ladder", "--variant", "south-only"], &[]);
    assert_eq!(keys(&told), ["south/s1"]);
    assert_eq!(
        told["dropped"][0],
        json!({ "candidate": "north/n1", "filter": "the variant does not name it" })
    );
    let (_, told) = document(&["ladder", "--only", "south"], &[]);
    let filter = "the call: is not one of `providers_only`";
    assert_eq!(
        told["dropped"][1],
        json!({ "candidate": "north/n1", "filter": filter })
    );
    let (_, told) = document(&["ladder", "--ignore", "south"], &[]);
    assert_eq!(keys(&told), ["north/n1"]);
    let (_, told) = document(&["grounded", "--zero-retention"], &[]);
    let filters: Vec<_> = told["dropped"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["filter"].as_str().unwrap())
        .collect();
    assert!(
        filters.contains(&"the call: needs a search, which is not designated `zero_retention`"),
        "{told}"
    );
    // R4: nobody is left, and such a call is an error.
    let (code, told) = document(&["headline", "--zero-retention"], &[]);
    assert_eq!(
        (code, told["worst_case"]["attempts"].as_u64()),
        (1, Some(0))
    );
}

/// C11: every flag with who says so.
#[test]
fn flags_have_their_source() {
    let (_, told) = document(&["headline"], &[]);
    let flag = |candidate: usize, name: &str| {
        let flags = told["candidates"][candidate]["flags"].as_array().unwrap();
        let flag = flags.iter().find(|flag| flag["flag"] == name).unwrap();
        (
            flag["holds"].as_bool().unwrap(),
            flag["source"].as_str().unwrap().to_owned(),
        )
    };
    assert_eq!(flag(0, "structured_native"), (true, "probed".to_owned()));
    assert_eq!(flag(0, "grounded_native"), (false, "declared".to_owned()));
    assert_eq!(flag(1, "json_mode"), (false, "provider".to_owned()));
}

/// Returns the milliseconds of `MAX_WALL_CLOCK`, of code without blanks and underscores.
fn wall_clock(code: &str) -> u64 {
    let (_, rest) = code
        .split_once("MAXWALLCLOCK:::core::time::Duration=::core::time::Duration::from")
        .unwrap();
    let (unit, rest) = rest.split_once('(').unwrap();
    let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
    let length = match unit {
        "hours" => 3_600_000,
        "mins" => 60_000,
        "secs" => 1_000,
        "millis" => 1,
        unit => panic!("{unit}"),
    };
    digits.parse::<u64>().unwrap() * length
}

/// C9, K0: the worst case is that of the generated constants, the waits are those of the table.
#[test]
fn the_worst_case_is_that_of_the_generated_constants() {
    for route in ["headline", "patient", "sealed", "sized"] {
        let (_, told) = document(&[route], &[]);
        let routes = repository().join("tests");
        let code = rig(&routes, &["expand", route]).stdout;
        let worst = &told["worst_case"];
        let attempts = format!("pub const MAX_ATTEMPTS: u32 = {};", worst["attempts"]);
        // However its lines are broken.
        let plain = |text: &str| text.replace(['_', ' ', '\n'], "");
        let code_plain = plain(&code);
        assert_eq!(
            wall_clock(&code_plain),
            worst["wall_clock_ms"].as_u64().unwrap(),
            "{route}"
        );
        for part in [attempts, format!("nanos({});", worst["cost_nanos"])] {
            assert!(code_plain.contains(&plain(&part)), "{route}: {part}");
        }
    }
    let (_, told) = document(&["ladder"], &[]);
    let budgets = told["budgets"].as_array().unwrap();
    let shed = budgets
        .iter()
        .find(|one| one["class"] == "capacity_shed")
        .unwrap();
    assert_eq!(
        (&shed["retries"], &shed["waits_ms"]),
        (&json!(2), &json!([30_000, 60_000]))
    );
}

#[test]
fn a_name_that_is_none_is_told_with_the_nearest() {
    let ran = rig(&repository().join("tests"), &["explain", "headlin"]);
    assert_eq!(ran.code, 2);
    assert_eq!(
        ran.stderr,
        "error: there is no route, check or failure class `headlin`\nhelp: did you mean `headline`?\n"
    );
    let ran = rig(
        &repository().join("tests"),
        &["explain", "ladder", "--variant", "x"],
    );
    assert!(
        ran.stderr.starts_with(
            "error: the route `ladder` has no variant `x`\nhelp: it has `south-only`, "
        ),
        "{}",
        ran.stderr
    );
}

/// The pages are in the program: it needs no routes, and no checkout.
#[test]
fn a_check_is_explained_anywhere() {
    let folder = tempfile::tempdir().unwrap();
    let ran = rig(folder.path(), &["explain", "no-candidates"]);
    assert_eq!(ran.code, 0);
    assert!(
        ran.stdout
            .contains("error[no-candidates]: the route has no candidates"),
        "{}",
        ran.stdout
    );
    let ran = rig(folder.path(), &["explain", "capacity_shed"]);
    assert!(ran.stdout.contains("over capacity"), "{}", ran.stdout);
}

/// What is printed is Rust, whole.
#[test]
fn what_is_expanded_is_rust() {
    let ran = rig(&repository().join("tests"), &["expand", "headline"]);
    assert!(syn::parse_file(&ran.stdout).is_ok());
    for part in [
        "pub struct HeadlineInput {",
        "pub struct Headline {",
        "pub static ROUTE: __rig::Route",
    ] {
        assert!(ran.stdout.contains(part), "{part}");
    }
    let ran = rig(&repository().join("tests"), &["expand", "nope"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""));
}
