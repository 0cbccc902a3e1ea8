//! What becomes of a directory that is hostile, broken or simply huge?
//!
//! It ends in findings or in a module: never in a panic, and never in more text than a terminal can hold. Times
//! are printed (`--nocapture`), not asserted: a quadratic step shows as minutes.

#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    clippy::disallowed_methods,
    reason = "a test, which shows how long each case takes"
)]

#[path = "robust/aliases.rs"]
mod aliases;
#[path = "robust/prompts.rs"]
mod prompts;
#[path = "robust/schemas.rs"]
mod schemas;

use std::fmt::Write as _;
use std::fs;
use std::time::Instant;

use rig_build::{Compilation, Severity, compile_to};

/// What all findings of a directory may take together: two hundred a file, most of them of a line or two.
const MOST_TEXT: usize = 2 << 20;

/// So many findings of one file are shown.
const MOST_SHOWN: usize = 200;

/// What one finding may take.
const MOST_FINDING: usize = 16 << 10;

const MEGABYTE: usize = 1 << 20;

/// How a case ends.
enum Ends {
    /// In a module of at most this many bytes.
    Module(usize),
    /// In at least this many findings with this code.
    Findings(&'static str, usize),
}

/// Compiles these files, and checks that it ends as it should.
#[track_caller]
fn check(files: &[(&str, &str)], ends: Ends) {
    let (folder, out) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    for (path, text) in files {
        fs::write(folder.path().join(path), text).unwrap();
    }
    let start = Instant::now();
    let compilation = compile_to(folder.path(), "routes", out.path()).unwrap();
    let time = start.elapsed();
    let findings = findings(&compilation);
    let text: usize = findings.iter().map(|(_, text)| text.len()).sum();
    let count = findings.len();
    let name = std::thread::current().name().unwrap().to_owned();
    eprintln!("\n{time:>12.3?}  {name}: {count} findings, {text} bytes");
    for (code, text) in &findings {
        assert!(text.len() <= MOST_FINDING, "{code}: {} bytes", text.len());
    }
    assert!(text <= MOST_TEXT, "{text} bytes of findings");
    for route in &compilation.routes {
        let broken = route.findings.iter().any(|f| f.severity == Severity::Error);
        assert_eq!(broken, route.module.is_none(), "errors, or a module");
    }
    match ends {
        Ends::Module(most) => {
            let module = compilation.routes[0].expanded();
            let length = module.map(|text| text.len()).unwrap_or_else(|| {
                let shown: Vec<_> = findings.iter().take(3).map(|(_, text)| text).collect();
                panic!("{shown:?}")
            });
            assert!(length <= most, "a module of {length} bytes");
        }
        Ends::Findings(code, least) => {
            let found = findings.iter().filter(|(found, _)| *found == code).count();
            let codes: Vec<_> = findings.iter().take(9).map(|(code, _)| code).collect();
            // Others may stand between them.
            let least_shown = least.min(MOST_SHOWN / 3);
            assert!(found >= least_shown, "{found} of {code}, and {codes:?}");
            if least > MOST_SHOWN {
                let cut = findings
                    .iter()
                    .any(|(_, text)| text.contains("more findings\n"));
                assert!(cut, "the last finding says how many more there are");
            }
        }
    }
}

fn findings(compilation: &Compilation) -> Vec<(&'static str, &str)> {
    let routes = compilation.routes.iter().flat_map(|route| &route.findings);
    let all = compilation.directory.iter().chain(routes);
    all.map(|finding| (finding.code, finding.text.as_str()))
        .collect()
}

/// A route that is good, but for what `more` adds and for the lines that it replaces.
fn route(more: &str) -> String {
    let mut text = String::new();
    let defaults = [
        ("route", "r"),
        ("version", "1"),
        ("schema", "null"),
        ("candidates", "[{ provider: deepseek, model: m }]"),
        ("prompt", "{ system: ./p.md }"),
    ];
    for (key, value) in defaults {
        let replaced = more
            .lines()
            .any(|line| line.starts_with(&format!("{key}:")));
        if !replaced {
            writeln!(text, "{key}: {value}").unwrap();
        }
    }
    text + more
}

/// Checks a route beside a short prompt.
#[track_caller]
fn check_route(more: &str, ends: Ends) {
    check(&[("r.yaml", &route(more)), ("p.md", "Hello.")], ends);
}

/// Checks a schema under a route that is good.
#[track_caller]
fn check_schema(schema: &str, ends: Ends) {
    let route = route("schema: ./s.json\n");
    check(
        &[("r.yaml", &route), ("p.md", "Hello."), ("s.json", schema)],
        ends,
    );
}

/// Checks a prompt under a route that is good and declares these variables.
#[track_caller]
fn check_prompt(prompt: &str, variables: &str, ends: Ends) {
    let route = route(&format!(
        "prompt: {{ system: ./p.md, variables: [{variables}] }}\n"
    ));
    check(&[("r.yaml", &route), ("p.md", prompt)], ends);
}

/// Joins what `item` says for the first `count` numbers.
fn series(count: usize, separator: &str, item: impl Fn(usize) -> String) -> String {
    let items: Vec<_> = (0..count).map(item).collect();
    items.join(separator)
}

#[test]
fn a_name_that_no_file_can_have() {
    let long = "r".repeat(300);
    let names = [
        &long,
        "\"a\\0b\"",
        "\"a\\tb\\n\"",
        "a/b",
        "\"..\"",
        "\"a:b\"",
        "con?",
    ];
    for name in names {
        check_route(&format!("route: {name}\n"), Ends::Findings("route-name", 1));
    }
    check_route(
        &format!("route: {long}\n\tx: ["),
        Ends::Findings("yaml-syntax", 1),
    );
}

#[test]
fn a_route_of_ten_megabytes_of_comments() {
    let comments = "# nothing to see\n".repeat(10 * MEGABYTE / 17);
    check_route(&comments, Ends::Module(4_096));
}

#[test]
fn a_route_with_a_model_name_of_ten_megabytes() {
    let model = "m".repeat(10 * MEGABYTE);
    let more = format!("candidates: [{{ provider: deepseek, model: {model} }}]\n");
    check_route(&more, Ends::Module(40 * MEGABYTE));
}

#[test]
fn a_provider_of_a_megabyte() {
    let name = "p".repeat(MEGABYTE);
    check_route(
        &format!("candidates: [{{ provider: {name}, model: m }}]\n"),
        Ends::Findings("unknown-provider", 1),
    );
}

#[test]
fn ten_thousand_unknown_keys_in_one_line() {
    let keys = series(10_000, ", ", |n| format!("{}{n}: 1", "x".repeat(100)));
    check_route(
        &format!("policy: {{ {keys} }}\n"),
        Ends::Findings("unknown-key", 10_000),
    );
}

#[test]
fn nesting_in_yaml() {
    for (open, close) in [("[", "]"), ("{a: ", "}"), ("[{a: [", "]}]")] {
        let value = open.repeat(5_000) + &close.repeat(5_000);
        check_route(
            &format!("policy: {value}\n"),
            Ends::Findings("yaml-syntax", 1),
        );
        let open = format!("policy: {}\n", open.repeat(5_000));
        check_route(&open, Ends::Findings("yaml-syntax", 1));
    }
    let dashes = format!("policy:\n  {}x\n", "- ".repeat(5_000));
    check_route(&dashes, Ends::Findings("yaml-syntax", 1));
    let steps = series(5_000, "\n", |n| format!("{}k:", " ".repeat(n)));
    check_route(
        &format!("policy:\n{steps}\n"),
        Ends::Findings("yaml-syntax", 1),
    );
}

#[test]
fn ten_thousand_candidates() {
    let list = series(10_000, "", |n| {
        format!("  - {{ provider: deepseek, model: m{n} }}\n")
    });
    check_route(&format!("candidates:\n{list}"), Ends::Module(8 * MEGABYTE));
    check_route(
        &format!("candidates:\n{list}{list}"),
        Ends::Findings("duplicate-candidate", 10_000),
    );
}

#[test]
fn ten_thousand_candidates_that_a_filter_removes() {
    let list = series(10_000, "", |n| {
        format!("  - {{ provider: deepseek, model: m{n} }}\n")
    });
    check_route(
        &format!("candidates:\n{list}providers: {{ only: [openai] }}\n"),
        Ends::Findings("no-serveable-candidates", 1),
    );
}

#[test]
fn numbers_beyond_every_range() {
    let most = u64::MAX;
    for number in [
        format!("{most}"),
        format!("{most}0"),
        "1e308".to_owned(),
        ".inf".to_owned(),
    ] {
        let more = format!(
            "policy:\n  retries: {{ network: {number} }}\n  timeout_ms: {number}\n  backoff: {{ network: {{ first: {number}h, factor: {number}, cap: {number}ms }} }}\n"
        );
        check_route(&more, Ends::Findings("wrong-type", 0));
    }
    let first = format!(
        "policy:\n  retries: {{ network: 1000, timeout: {most} }}\n  backoff: {{ network: {{ first: {most}ms, factor: 100, cap: {most}ms }}, timeout: {{ first: 0ms }} }}\n"
    );
    check_route(&first, Ends::Findings("range", 3));
}

#[test]
fn ten_thousand_candidates_of_unknown_providers() {
    let list = series(10_000, "", |n| {
        format!("  - {{ provider: host-{n}, model: m{n} }}\n")
    });
    check_route(
        &format!("candidates:\n{list}"),
        Ends::Findings("unknown-provider", 10_000),
    );
}

#[test]
fn ten_thousand_candidates_of_a_variant() {
    let list = |name: &str| {
        series(10_000, "", |n| {
            format!("    - {{ provider: deepseek, model: {name}{n} }}\n")
        })
    };
    let variant = |name: &str| {
        format!(
            "candidates:\n{}variants:\n  - name: narrow\n    candidates:\n{}",
            list("m"),
            list(name)
        )
    };
    check_route(&variant("m"), Ends::Module(16 * MEGABYTE));
    check_route(
        &variant("other"),
        Ends::Findings("variant-candidate", 10_000),
    );
}

#[test]
fn ten_thousand_variants() {
    let list = series(10_000, "", |n| format!("  - name: v{n}\n"));
    check_route(&format!("variants:\n{list}"), Ends::Module(32 * MEGABYTE));
    check_route(
        &format!("variants:\n{list}{list}"),
        Ends::Findings("variant-name", 10_000),
    );
}

#[test]
fn a_thousand_hosts() {
    let hosts = series(1_000, "", |n| {
        format!("  - {{ name: host-{n}, dialect: openai, base_url: http://127.0.0.1 }}\n")
    });
    let candidates = series(1_000, "", |n| {
        format!("  - {{ provider: host-{n}, model: m }}\n")
    });
    let route = route(&format!("candidates:\n{candidates}"));
    check(
        &[
            ("r.yaml", &route),
            ("p.md", "Hello."),
            ("rig.yaml", &format!("providers:\n{hosts}")),
        ],
        Ends::Module(16 * MEGABYTE),
    );
}

#[test]
fn one_line_of_a_megabyte() {
    let line = "x".repeat(MEGABYTE);
    check_route(&line, Ends::Findings("yaml-syntax", 0));
    check_schema(&line, Ends::Findings("json-syntax", 1));
    check_schema(
        &format!("{{\"a\": [{}1 2]}}", "1, ".repeat(MEGABYTE / 3)),
        Ends::Findings("json-syntax", 1),
    );
    check_route(
        &format!("version: [{}1]\n", "1, ".repeat(MEGABYTE / 3)),
        Ends::Findings("wrong-type", 1),
    );
    let tabs = format!("\t{}\tx: [\n", "\t".repeat(MEGABYTE));
    check_route(&tabs, Ends::Findings("yaml-syntax", 1));
}

#[test]
fn files_that_are_no_text() {
    let bytes = [
        "\u{0}".repeat(MEGABYTE),
        "\u{feff}".repeat(10_000),
        "\u{85}\u{2028}".repeat(10_000),
    ];
    for text in &bytes {
        check(
            &[("r.yaml", text), ("p.md", text)],
            Ends::Findings("missing-key", 0),
        );
        check_schema(text, Ends::Findings("json-syntax", 1));
        check_prompt(text, "", Ends::Module(16 * MEGABYTE));
    }
}

/// What a route names need not be a file that ends.
#[test]
#[cfg(unix)]
fn a_prompt_that_is_no_file() {
    check(
        &[("r.yaml", &route("prompt: { system: /dev/zero }\n"))],
        Ends::Findings("missing-file", 1),
    );
}

#[test]
fn a_thousand_broken_routes() {
    let names: Vec<_> = (0..1_000).map(|n| format!("r{n}.yaml")).collect();
    let text = route("route: same\npolicy: { timeout_ms: 0 }\n");
    let files: Vec<_> = names
        .iter()
        .map(|name| (name.as_str(), text.as_str()))
        .chain([("p.md", "Hello.")])
        .collect();
    check(&files, Ends::Findings("duplicate-route", 999));
}
