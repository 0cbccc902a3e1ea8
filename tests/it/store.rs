//! What does the telemetry database hold of a run?

use rig::Rig;
use rig::testing::{ManualClock, ScriptedTransport};
use tests::routes::ladder;

use crate::{bad, good, question, shed};

// T1, T5: every attempt has its row, in order, and closing the rig makes them durable.
#[test]
fn the_rows_of_a_closed_rig_are_in_the_file() {
    let folder = tempfile::tempdir().unwrap();
    // The folder of the database is created.
    let file = folder.path().join("new/telemetry.db");
    let open = |transport: ScriptedTransport, clock: ManualClock| {
        let builder = Rig::builder()
            .ignore_env()
            .key("north", "k")
            .key("south", "k");
        let builder = builder.transport(transport).clock(clock);
        builder.telemetry_db(&file).build().unwrap()
    };
    let clock = ManualClock::new();
    let transport = ScriptedTransport::new(&clock);
    for reply in [shed(), bad(), bad(), good()] {
        transport.push(reply);
    }
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    runtime.block_on(async {
        let rig = open(transport.clone(), clock.clone());
        let run = ladder(question()).tag("customer", "acme").on(&rig).run();
        let meta = run.await.unwrap().meta;
        let rows = rig.attempts(&meta.run_id).await.unwrap();
        let ends: Vec<_> = rows
            .iter()
            .map(|row| row.failure.map_or("NULL", |failure| failure.name()))
            .collect();
        let expected = [
            "capacity_shed",
            "content_invalid",
            "content_invalid",
            "NULL",
        ];
        assert_eq!(ends, expected);
        assert_eq!(rows[3].id, meta.inference_id);
        assert_eq!(rows[3].tags["customer"], "acme");
        // T6, and money by tag: only the served attempt is a latency, every one of them a cost.
        let observed = rig.observed_latency("ladder").await.unwrap();
        let [served] = observed.as_slice() else {
            panic!("{observed:?}")
        };
        assert_eq!(
            (served.attempts, served.p50_ms, served.model.as_str()),
            (1, rows[3].latency_ms, &*meta.model)
        );
        let spend = rig.spend(Some(("customer", "acme")), 0..i64::MAX).await;
        let spend = spend.unwrap();
        assert_eq!((spend.attempts, spend.cost), (4, meta.run_cost));
        rig.close().await.unwrap();

        let rig = open(transport, clock);
        assert_eq!(rig.attempts(&meta.run_id).await.unwrap(), rows);
    });
}

// T5: without the feature, the URL of a database is an error that shows no password, and not the path of a file.
#[cfg(not(feature = "postgres"))]
#[test]
fn a_url_is_no_path() {
    for scheme in ["postgres", "postgresql"] {
        let url = format!("{scheme}://somebody:s3cret@db.test/telemetry");
        let rig = Rig::builder().ignore_env().telemetry_db(url).build();
        let shown = format!("{:?}", rig.unwrap_err());
        assert!(shown.contains("the feature `postgres`"), "{shown}");
        assert!(!shown.contains("s3cret"), "{shown}");
        assert!(!std::path::Path::new(&format!("{scheme}:")).exists());
    }
}
