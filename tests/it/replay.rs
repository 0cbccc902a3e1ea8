//! What is loaded at run time, and how is captured traffic asked again?

use std::fs;
use std::path::Path;

use rig::Usd;
use rig::store::Capture;
use rig_build::{LoadedRoute, load_dir};
use rig_runtime::replay::{DEFAULT, Replay};
use rig_spec::Route;
use serde_json::{Value, json};
use tests::{World, accept, block_on, routes};

use crate::{GOOD, bad, good};

fn loaded(dir: &Path) -> Vec<LoadedRoute> {
    let (compilation, loaded) = load_dir(dir, "routes");
    assert_eq!(loaded.len(), compilation.routes.len(), "{compilation:?}");
    loaded
}

fn accepted(case: &str) -> Vec<LoadedRoute> {
    loaded(&Path::new("../rig-build/tests/accept").join(case))
}

// W4: the very same ladder runs the very same data, whether rustc has read it or not.
#[test]
fn what_is_loaded_is_what_is_generated() {
    let generated: [(&str, &Route); 7] = [
        ("every-key", &accept::every_key::ROUTE),
        ("every-shape", &accept::every_shape::ROUTE),
        ("from-the-docs", &accept::from_the_docs::ROUTE),
        ("list-root", &accept::list_root::ROUTE),
        ("native-forms", &accept::native_forms::ROUTE),
        ("smallest", &accept::smallest::ROUTE),
        ("two-schema-files", &accept::two_schema_files::ROUTE),
    ];
    let cases = fs::read_dir("../rig-build/tests/accept").unwrap().count();
    assert_eq!(generated.len(), cases, "every accepted case is compared");
    for (case, route) in generated {
        let [loaded] = &accepted(case)[..] else {
            panic!("{case}: more than one route")
        };
        assert_eq!(loaded.route, route, "{case}");
    }
    let bound: [&Route; 8] = [
        &routes::ladder::ROUTE,
        &routes::mend::ROUTE,
        &routes::profile::ROUTE,
        &routes::grounded::ROUTE,
        &routes::tooled::ROUTE,
        &routes::anything::ROUTE,
        &routes::sized::ROUTE,
        &routes::cached::ROUTE,
    ];
    let all = loaded(Path::new("routes"));
    for route in bound {
        let found = all.iter().find(|loaded| loaded.route.name == route.name);
        assert_eq!(found.unwrap().route, route, "{}", route.name);
    }
}

/// A route with a trial candidate that a variant names, one that none names, and one that a filter removes.
const TRIAL: &str = r"
route: trial
version: 3
schema: ./verdict.schema.json
candidates:
  - { provider: north, model: n1 }
  - { provider: north, model: n2, trial: true }
  - { provider: south, model: s1, trial: true }
  - { provider: south, model: s2, trial: true }
prompt: { system: ./prompt.md, variables: [question] }
providers: { ignore: [] }
max_price_usd_per_mtok: 10
capture: true
variants:
  - { name: newer, candidates: [{ provider: north, model: n2 }, { provider: north, model: n1 }] }
  - { name: worded, prompt_append: ./more.md }
";

const HOSTS: &str = r"
providers:
  - { name: north, dialect: openai, base_url: 'http://north.test/v1', key_env: NORTH_API_KEY, capabilities: [json_mode],
      models: { n1: { in: 1, out: 2 }, n2: { in: 1, out: 1 } } }
  - { name: south, dialect: openai, base_url: 'http://south.test/v1', key_env: SOUTH_API_KEY, capabilities: [json_mode],
      models: { s1: { in: 1, out: 2 }, s2: { in: 100, out: 2 } } }
";

fn trial() -> LoadedRoute {
    let folder = tempfile::tempdir().unwrap();
    let schema = fs::read_to_string("routes/schemas/reply.schema.json").unwrap();
    for (name, text) in [
        ("trial.yaml", TRIAL),
        ("rig.yaml", HOSTS),
        ("prompt.md", "Decide: {{question}}\n"),
        ("more.md", "In one word.\n"),
        ("verdict.schema.json", &schema),
    ] {
        fs::write(folder.path().join(name), text).unwrap();
    }
    loaded(folder.path()).remove(0)
}

fn candidates(route: &Route, variant: Option<&str>) -> Vec<&'static str> {
    let plan = match variant {
        None => &route.plan,
        Some(name) => {
            let mut variants = route.variants.iter();
            &variants.find(|variant| variant.name == name).unwrap().plan
        }
    };
    plan.candidates
        .iter()
        .map(|candidate| candidate.model)
        .collect()
}

// R1, W4: trial candidates serve where a replay names them, and every other filter holds for them too.
#[test]
fn trial_candidates_are_in_replays_and_only_there() {
    let trial = trial();
    let live = trial.route;
    assert_eq!(candidates(live, None), ["n1"]);
    assert_eq!(candidates(live, Some("newer")), ["n1"]);
    let replayed = trial.trial.open_for_replay();
    let names: Vec<_> = trial.trial.variants().collect();
    assert_eq!(
        names,
        ["newer", "worded", "north/n1", "north/n2", "south/s1"]
    );
    assert_eq!(
        candidates(replayed, None),
        ["n1"],
        "the incumbent is what serves"
    );
    assert_eq!(candidates(replayed, Some("newer")), ["n2", "n1"]);
    assert_eq!(candidates(replayed, Some("worded")), ["n1"]);
    assert_eq!(candidates(replayed, Some("south/s1")), ["s1"]);
    assert!(live.capture && !replayed.capture);
}

fn capture(variables: &str) -> Capture {
    Capture {
        id: "c-1".to_owned(),
        ts_ms: 1,
        run_id: "r-1".to_owned(),
        route: "trial".into(),
        route_version: 2,
        variables: variables.to_owned(),
        output: GOOD.to_owned(),
    }
}

fn replay(world: &World, variant: &str, variables: &str) -> rig::Result<Value> {
    let (route, capture) = (trial().trial, capture(variables));
    let replay = Replay {
        route,
        variant,
        capture: &capture,
        id: "b-7",
        envelope: "bake",
        cap: Usd::dollars(5),
    };
    let run = block_on(replay.run(&world.rig))?;
    assert!(run.meta.validated);
    Ok(serde_json::to_value(&run.output).unwrap())
}

const QUESTION: &str = r#"{"question":"Is {{this}} so?"}"#;

// W4: what was captured is rendered anew; the rows say what they are, an envelope pays, and nothing is captured.
#[test]
fn a_replay_goes_down_the_ladder_with_what_was_captured() {
    let world = World::with_keys("north south");
    world.push([bad(), good()]);
    let output = replay(&world, "newer", QUESTION).unwrap();
    let captured: Value = serde_json::from_str(GOOD).unwrap();
    assert_eq!(output, json!({ "output": captured }));
    let rows = world.store.rows();
    let told: Vec<_> = rows
        .iter()
        .map(|row| {
            (
                &*row.model,
                row.failure.map_or("served", |failure| failure.name()),
            )
        })
        .collect();
    assert_eq!(told, [("n2", "content_invalid"), ("n1", "served")]);
    for row in &rows {
        assert_eq!(
            (row.tags["replay"].as_str(), row.tags["replay_of"].as_str()),
            ("b-7", "c-1")
        );
        assert_eq!(
            (row.route_version, row.served_variant.as_deref()),
            (3, Some("newer"))
        );
    }
    let request: Value = serde_json::from_slice(&world.transport.requests()[0].body).unwrap();
    let system = request["messages"][0]["content"].as_str().unwrap();
    assert!(system.starts_with("Decide: Is {{this}} so?\n"), "{system}");
    assert_eq!(block_on(world.rig.captures("trial")).unwrap(), []);
    let envelope = block_on(world.rig.envelope("bake")).unwrap().unwrap();
    let cost: Usd = rows.iter().map(|row| row.cost).sum();
    assert_eq!((envelope.spent, envelope.reserved), (cost, Usd::ZERO));
}

// W4, E2: what the envelope does not cover is not asked.
#[test]
fn a_replay_is_held_to_its_envelope() {
    let world = World::with_keys("north south");
    block_on(world.rig.open_envelope("bake", Usd::nanos(1))).unwrap();
    let error = replay(&world, DEFAULT, QUESTION).unwrap_err();
    assert_eq!(error.class().unwrap().name(), "budget_exhausted");
    assert_eq!(world.store.rows(), []);
}

#[test]
fn what_cannot_be_rendered_or_is_no_variant_is_said_before_anything_is_asked() {
    let world = World::with_keys("north south");
    let cases = [
        (
            DEFAULT,
            r#"{"other":1}"#,
            "the prompt of route `trial` uses `question`, which the input does not have",
        ),
        (
            DEFAULT,
            "[]",
            "the input of route `trial` cannot be written as a JSON object of variables",
        ),
        ("south/s2", QUESTION, "the variant is none of route `trial`"),
    ];
    for (variant, variables, message) in cases {
        let error = replay(&world, variant, variables).unwrap_err();
        assert_eq!(error.to_string(), message);
    }
    assert_eq!(world.store.rows(), []);
}
