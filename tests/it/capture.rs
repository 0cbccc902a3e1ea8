//! What is kept of an answer's content, and where not?

use rig::store::Capture;
use tests::routes::{KeptInput, SealedInput, kept, ladder, sealed};
use tests::{World, block_on};

use crate::{GOOD, bad, good, question, shed};

const SECRET: &str = "Where is the zebra crossing?";

fn kept_input() -> KeptInput {
    KeptInput {
        question: SECRET.to_owned(),
    }
}

fn captures(world: &World, route: &str) -> Vec<Capture> {
    block_on(world.rig.captures(route)).unwrap()
}

// T3, L2: of a run, the attempt that served: its variables and the text as the model wrote it.
#[test]
fn the_served_attempt_is_captured() {
    let world = World::with_keys("north vault");
    let fenced = format!("```json\n{GOOD}\n```");
    world.push([bad(), rig::testing::Scripted::chat(&fenced)]);
    let run = block_on(kept(kept_input()).on(&world.rig).run()).unwrap();
    let rows = world.store.rows();
    let captured = captures(&world, "kept");
    assert_eq!(rows.len(), 2);
    assert_eq!(captured.len(), 1);
    let capture = &captured[0];
    assert_eq!(
        (&capture.id, &capture.run_id, capture.ts_ms),
        (&run.meta.inference_id, &run.meta.run_id, rows[1].ts_ms)
    );
    assert_eq!((&*capture.route, capture.route_version), ("kept", 4));
    assert_eq!(capture.variables, format!(r#"{{"question":"{SECRET}"}}"#));
    assert_eq!(capture.output, fenced);
    // Nothing of it is anywhere else.
    let texts = format!("{rows:?} {captured:?} {:?}", run.meta);
    assert!(
        !texts.contains("zebra") && !texts.contains("verdict"),
        "{texts}"
    );
}

// T3: opt-in, and only of what conforms.
#[test]
fn what_is_not_asked_for_or_does_not_conform_is_not_captured() {
    let world = World::with_keys("north south vault");
    world.push([good(), bad(), bad(), bad(), shed()]);
    block_on(ladder(question()).on(&world.rig).run()).unwrap();
    let error = block_on(kept(kept_input()).on(&world.rig).run()).unwrap_err();
    assert!(!format!("{error} {error:?}").contains("zebra"));
    assert_eq!(world.store.rows().len(), 5);
    assert_eq!(captures(&world, "ladder"), []);
    assert_eq!(captures(&world, "kept"), []);
}

// R6: a route that demands zero retention captures nothing, and its rows say so.
#[test]
fn a_zero_retention_run_captures_nothing() {
    let world = World::with_keys("north vault");
    world.push([good()]);
    let input = SealedInput {
        question: SECRET.to_owned(),
    };
    let call = sealed(input).tag("zdr_enforced", "false");
    block_on(call.on(&world.rig).run()).unwrap();
    let row = &world.store.rows()[0];
    assert_eq!(
        (&*row.provider, &*row.tags["zdr_enforced"]),
        ("vault", "true")
    );
    assert_eq!(captures(&world, "sealed"), []);
}

// T1, T3: in the same file as the rows, for as long as the file.
#[test]
fn captures_are_in_the_telemetry_database() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::with_keys("north");
    let open = || {
        let builder = rig::Rig::builder().ignore_env().key("north", "k");
        let builder = builder
            .transport(world.transport.clone())
            .clock(world.clock.clone());
        let file = folder.path().join("telemetry.db");
        builder.telemetry_db(file).build().unwrap()
    };
    world.push([good()]);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    runtime.block_on(async {
        let rig = open();
        kept(kept_input()).on(&rig).await.unwrap();
        rig.close().await.unwrap();
        let captured = open().captures("kept").await.unwrap();
        assert_eq!(captured.len(), 1);
        assert_eq!(captured[0].output, GOOD);
    });
}

// T3: the builder turns captures off, whatever routes say; rows are as ever.
#[test]
fn captures_can_be_turned_off_when_a_program_runs() {
    for (is_on, expected) in [(true, 1), (false, 0)] {
        let world = World::with_keys("north");
        let store = rig::testing::MemoryStore::default();
        let rig = rig::Rig::builder()
            .ignore_env()
            .key("north", "k")
            .transport(world.transport.clone())
            .clock(world.clock.clone())
            .store(store.clone())
            .capture(is_on)
            .build()
            .unwrap();
        world.push([good()]);
        block_on(kept(kept_input()).on(&rig).run()).unwrap();
        assert_eq!(store.rows().len(), 1);
        assert_eq!(block_on(rig.captures("kept")).unwrap().len(), expected);
    }
}
