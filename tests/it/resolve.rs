//! Who may serve a call that narrows its route?

use std::fs;

use rig::{ConfigError, Error, UsdPerMtok};
use rig_build::compile_dir;
use tests::routes::{KeptInput, kept, ladder};
use tests::{World, block_on, check};

use crate::{BOTH, QUESTION, bad, good, question};

const SOUTH: &str = r#"
    1 south/s1 conformant 100+20 $0.000014
    = {"verdict":"yes","because":"it is","also":null}
"#;

fn kept_input() -> KeptInput {
    KeptInput {
        question: QUESTION.to_owned(),
    }
}

// R1
#[test]
fn a_call_names_the_providers_that_may_serve() {
    let only = |rig: &rig::Rig| ladder(question()).providers_only(["south"]).on(rig).run();
    check(BOTH, [good()], only, SOUTH);
    let ignore = |rig: &rig::Rig| ladder(question()).providers_ignore(["north"]).on(rig).run();
    check(BOTH, [good()], ignore, SOUTH);
}

// R1: the blended price, in and out.
#[test]
fn a_call_sets_a_price_ceiling() {
    let below = UsdPerMtok::from_decimal("2.99").unwrap();
    let call = |rig: &rig::Rig| ladder(question()).max_price(below).on(rig).run();
    check(BOTH, [good()], call, SOUTH);
    let at = UsdPerMtok::from_decimal("3").unwrap();
    check(
        BOTH,
        [good()],
        |rig| ladder(question()).max_price(at).on(rig).run(),
        r#"
        1 north/n1 conformant 100+20 $0.00014
        = {"verdict":"yes","because":"it is","also":null}
        "#,
    );
}

// R4: nothing is dispatched, and every candidate has the option that removed it.
#[test]
fn a_call_that_nobody_may_serve_is_a_config_error() {
    let seen = check(
        BOTH,
        [],
        |rig| {
            let call = ladder(question()).providers_ignore(["north"]);
            call.zero_retention().on(rig).run()
        },
        "! route `ladder` has no eligible candidate: `north/n1` is one of `providers_ignore`, `south/s1` is not designated `zero_retention`",
    );
    assert!(matches!(
        seen.error(),
        Error::Config(ConfigError::NothingEligible { .. })
    ));
    check(
        BOTH,
        [],
        |rig| {
            let call = ladder(question()).variant(ladder::Variant::SouthOnly);
            call.providers_only(["north"]).on(rig).run()
        },
        "! variant `south-only` of route `ladder` has no eligible candidate: `south/s1` is not one of `providers_only`",
    );
}

// R2, R6: a call may opt in; its rows say so, and nothing of it is captured.
#[test]
fn a_call_may_opt_in_to_zero_retention() {
    let world = World::with_keys("north vault");
    world.push([good()]);
    let call = kept(kept_input()).zero_retention();
    let run = block_on(call.on(&world.rig).run()).unwrap();
    assert_eq!(run.meta.provider, "vault");
    assert_eq!(world.store.rows()[0].tags["zdr_enforced"], "true");
    assert_eq!(block_on(world.rig.captures("kept")).unwrap(), []);
}

// L7, R6: a repair model that the call excludes is not asked; the model that answered still is.
#[test]
fn an_excluded_repair_model_is_not_asked() {
    check(
        "north vault",
        [bad(), bad()],
        |rig| kept(kept_input()).providers_ignore(["vault"]).on(rig).run(),
        r#"
        1 north/n1 content_invalid 100+20 $0.00014
        2 north/n1 content_invalid 100+20 $0.00014 repaired by north/n1
        ! content_invalid north/n1: the answer misses the schema at `/verdict` (enum)
        (north/n1 content_invalid, north/n1 (repair) content_invalid)
        "#,
    );
}

/// Compiles a route of four candidates with this `prefer`, and returns them in ladder order.
fn ladder_order(prefer: &str) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    write(
        "rig.yaml",
        "providers:
  - name: host
    dialect: openai
    base_url: http://host.test/v1
    capabilities: [structured_native]
    models: { unknown: {}, dear: { in: 2, out: 9 }, cheap: { in: 3, out: 1 }, alike: { in: 1, out: 3 } }
",
    );
    let candidates = ["unknown", "dear", "cheap", "alike"]
        .map(|model| format!("  - {{ provider: host, model: {model} }}\n"))
        .concat();
    write(
        "sorted.yaml",
        &format!(
            "route: sorted\nversion: 1\nschema: null\ncandidates:\n{candidates}prefer: {prefer}\nprompt: {{ system: ./p.md, variables: [] }}\n"
        ),
    );
    write("p.md", "Answer.");
    let compilation = compile_dir(folder.path(), "routes");
    let expanded = compilation.routes[0].expanded().unwrap();
    let models = expanded.split("model: \"").skip(1);
    models
        .map(|rest| rest.split('"').next().unwrap().to_owned())
        .collect()
}

// R3: by the price in and out together, unknown last, and those alike as they are declared.
#[test]
fn candidates_are_asked_in_the_order_that_the_route_prefers() {
    let declared = ["unknown", "dear", "cheap", "alike"];
    assert_eq!(ladder_order("[]"), declared);
    assert_eq!(ladder_order("[latency]"), declared);
    let by_cost = ["cheap", "alike", "dear", "unknown"];
    assert_eq!(ladder_order("[cost]"), by_cost);
    assert_eq!(ladder_order("[latency, cost]"), by_cost);
}
