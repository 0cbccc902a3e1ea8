//! FC-65: small schemas that grow when they are expanded.

use rig::Rig;
use rig::testing::{Mock, Scripted, block_on};
use rig_build::{Severity, compile_dir};
use serde::Serialize;
use serde_json::{Value, json};
use tests::World;
use tests::routes::{
    FcGrowAllOfInput, FcGrowDiamondInput, FcGrowVariantsInput, grow_all_of, grow_diamond,
    grow_variants,
};

use super::Case;

/// The hosts that a schema is compiled for: three with dialects of their own, and a plain one.
const HOSTS: [&str; 4] = [
    "openai, model: gpt-5.4-mini",
    "anthropic, model: claude-haiku-4-5",
    "gemini, model: gemini-3.1-flash-lite",
    "local, model: m",
];

const PROJECT: &str = "project: p
providers: [{ name: local, dialect: openai, base_url: \"http://127.0.0.1:8080/v1\", models: { m: { in: 1, out: 1 } } }]
";

/// The most bytes of a module; the files have 9,000.
const LARGEST: usize = 200_000;

// C5, C8
#[test]
fn every_host_is_compiled_for_in_a_small_module() {
    let Some(case) = Case::open("FC-65") else {
        return;
    };
    for (file, outcome) in case.expected("compile") {
        for host in HOSTS {
            let folder = tempfile::tempdir().unwrap();
            let write = |name: &str, text: &str| {
                std::fs::write(folder.path().join(name), text).unwrap();
            };
            write("s.json", &case.read(&file));
            write("p.md", "Answer.\n");
            write("rig.yaml", PROJECT);
            write(
                "r.yaml",
                &format!(
                    "route: r\nversion: 1\nschema: ./s.json\ncandidates: [{{ provider: {host} }}]\nprompt: {{ system: ./p.md }}\n"
                ),
            );
            let compilation = compile_dir(folder.path(), "routes");
            let route = &compilation.routes[0];
            let findings = route.findings.iter();
            let codes: Vec<_> = findings
                .filter(|finding| finding.severity == Severity::Error)
                .map(|finding| finding.code)
                .collect();
            let expected: &[&str] = match outcome.as_str() {
                "ok" => &[],
                "ok or does-not-fit" if codes.is_empty() => &[],
                "ok or does-not-fit" => &["does-not-fit"],
                _ => &["bad-schema"],
            };
            assert_eq!(codes, expected, "{file} for {host}");
            if let Some(module) = route.expanded() {
                assert!(
                    module.len() <= LARGEST,
                    "{file} for {host}: {}",
                    module.len()
                );
            }
        }
    }
}

/// Thirty samples are answers, and so is a short one, by a request that is coached.
fn check<T: Serialize>(
    mock: impl Fn(u32) -> Mock,
    short: &Value,
    call: impl AsyncFn(&Rig) -> rig::Result<T>,
) {
    for seed in 0..30 {
        let answer = block_on(call(&mock(seed).rig()));
        assert!(answer.is_ok(), "seed {seed}");
    }
    let world = World::with_keys("deepseek");
    world.push([Scripted::chat(&short.to_string())]);
    let output = block_on(call(&world.rig)).unwrap();
    assert_eq!(serde_json::to_value(output).unwrap(), *short);
    let requests = world.transport.requests();
    let body = String::from_utf8_lossy(&requests[0].body);
    assert!(
        body.contains("Answer with exactly one JSON value"),
        "{body}"
    );
}

fn q() -> String {
    "x".to_owned()
}

// L2
#[test]
fn definitions_that_are_referred_to_twice_each_have_short_answers() {
    check(
        |seed| grow_diamond::mock().seed(seed),
        &json!({"top": {"a": {"b": {}}, "b": {}}}),
        async |rig| grow_diamond(FcGrowDiamondInput { q: q() }).on(rig).await,
    );
}

// L2
#[test]
fn choices_under_all_of_have_short_answers() {
    let mut short: Value = (0..12).map(|n| (format!("k{n}"), json!(n % 4))).collect();
    short["more"] = json!(true);
    check(
        |seed| grow_all_of::mock().seed(seed),
        &short,
        async |rig| grow_all_of(FcGrowAllOfInput { q: q() }).on(rig).await,
    );
}

// L2
#[test]
fn variants_of_one_base_have_short_answers() {
    check(
        |seed| grow_variants::mock().seed(seed),
        &json!({"kind": "v3", "id": "a", "f3": 3}),
        async |rig| grow_variants(FcGrowVariantsInput { q: q() }).on(rig).await,
    );
}
