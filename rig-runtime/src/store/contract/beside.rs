//! What has every store to do beside rows and money? Verdicts, and the cursors of exporters.

use std::sync::Arc;

use rig_spec::Usd;
use uuid::Uuid;

use super::super::{
    AttemptRow, Envelope, ExportBatch, ExportNext, ExportRow, ExportTurn, Exported, Grade, Graded,
    Reserved, Store, StoreError, Verdict, VerdictRow, VerdictsOf,
};
use super::{block_on, row, wanted};

/// W5: beside the rows, of whatever has rows, every one of them and each once.
pub(super) fn check_verdicts(store: &dyn Store) {
    let grade = |id: &str, ts_ms, of: Graded, verdict: Verdict| {
        block_on(store.grade(Grade {
            id: id.to_owned(),
            ts_ms,
            of,
            verdict,
        }))
    };
    let attempt = |id: &str| Graded::Attempt(id.to_owned());
    let run = |id: &str| Graded::Run(id.to_owned());
    let of = |of: VerdictsOf| block_on(store.verdicts(of)).unwrap();
    let of_run = |id: &str| of(VerdictsOf::Run(id.to_owned()));
    for (run_id, attempt, route) in [
        ("v", 1, "judged"),
        ("v", 2, "judged"),
        ("w", 1, "judged"),
        ("x", 1, "other"),
    ] {
        let route = route.into();
        store.record(AttemptRow {
            route,
            ..row(run_id, attempt)
        });
    }

    let full = || {
        Verdict::up()
            .score(-0.25)
            .note("it's \"fine\" ✓")
            .source("support")
    };
    assert_eq!(grade("1", 30, attempt("v-2"), full()), Ok(()));
    assert_eq!(grade("2", 10, run("v"), Verdict::down()), Ok(()));
    assert_eq!(grade("3", 20, attempt("w-1"), Verdict::down()), Ok(()));
    assert_eq!(grade("4", 20, attempt("x-1"), Verdict::up()), Ok(()));
    // The same id is stored once, and a changed mind is another verdict.
    assert_eq!(grade("1", 31, attempt("v-2"), Verdict::down()), Ok(()));
    assert_eq!(grade("5", 40, attempt("v-2"), Verdict::down()), Ok(()));
    // What is not there cannot be judged, nor with what is no number.
    for nobody in [attempt("v"), run("v-2"), attempt("")] {
        let id = nobody.id().to_owned();
        let judged = grade("6", 1, nobody, Verdict::up());
        assert_eq!(judged, Err(StoreError::Unknown { id }));
    }
    for score in [f64::NAN, f64::INFINITY] {
        let judged = grade("7", 1, run("v"), Verdict::up().score(score));
        assert_eq!(judged, Err(StoreError::Score));
    }

    let stored = |id: &str, ts_ms, run_id: &str, inference_id: Option<&str>, verdict| VerdictRow {
        id: id.to_owned(),
        ts_ms,
        run_id: run_id.to_owned(),
        inference_id: inference_id.map(str::to_owned),
        verdict,
    };
    let of_v = [
        stored("2", 10, "v", None, Verdict::down()),
        stored("1", 30, "v", Some("v-2"), full()),
        stored("5", 40, "v", Some("v-2"), Verdict::down()),
    ];
    assert_eq!(of_run("v"), of_v);
    assert_eq!(of_run("nobody"), []);
    let ids: Vec<_> = of(VerdictsOf::Route("judged".to_owned()))
        .into_iter()
        .map(|verdict| verdict.id)
        .collect();
    assert_eq!(ids, ["2", "3", "1", "5"]);
}

// E6: a name that some store cannot hold is an error of every store, for whoever gives it and nobody else. The longest is held,
// whatever its characters are.
pub(super) fn check_names(store: &dyn Store) {
    let limit = Envelope::LONGEST_NAME;
    for character in ["n", "é", "\0"] {
        let name = character.repeat(limit / character.len());
        let id = format!("long {character:?}");
        let reserved = block_on(store.reserve(wanted(&name, 10, &id, 4)));
        assert_eq!(reserved, Ok(Reserved::Granted));
        let state = block_on(store.envelope(&name, 1_000)).unwrap();
        assert_eq!(state.map(|state| state.reserved), Some(Usd::nanos(4)));
        store.settle(&id, Some(Usd::ZERO));
    }
    let name = "n".repeat(limit + 1);
    let refused = |of| StoreError::Name {
        of,
        limit,
        length: limit + 1,
    };
    let waits = store.reserve(wanted("short", 10, "short", 10));
    let reserved = block_on(store.reserve(wanted(&name, 10, "longer", 4)));
    assert_eq!(reserved, Err(refused("envelope")));
    let envelope = wanted(&name, 10, "longer", 4).envelope;
    let opened = block_on(store.open_envelope(envelope, 0));
    assert_eq!(opened, Err(refused("envelope")));
    assert_eq!(block_on(store.envelope(&name, 0)), Ok(None));
    let next = block_on(store.next_export(turn(&name, "a", 0, 1)));
    assert_eq!(next, Err(refused("exporter")));
    let next = block_on(store.next_export(turn("named", &name, 0, 1)));
    assert_eq!(next, Err(refused("worker")));
    assert_eq!(block_on(waits), Ok(Reserved::Granted));
}

fn turn(exporter: &str, worker: &str, now_ms: i64, most: u32) -> ExportTurn {
    ExportTurn {
        exporter: exporter.to_owned(),
        worker: worker.to_owned(),
        now_ms,
        lapses_ms: now_ms + 10,
        most,
    }
}

/// Returns a row as a rig records it: with UUIDs.
fn of_a_rig(number: u128) -> AttemptRow {
    AttemptRow {
        id: Uuid::from_u128(number).to_string(),
        run_id: Uuid::from_u128(7).to_string(),
        ..row("z", 1)
    }
}

/// T4: every row once in the order of commits, from a cursor that stays, to one worker at a time.
pub(super) fn check_exports(store: &Arc<dyn Store>) {
    let next = |turn| block_on(store.next_export(turn)).unwrap();
    let done = |exporter: &str, worker: &str, cursor: Option<&str>| {
        block_on(store.exported(Exported {
            exporter: exporter.to_owned(),
            worker: worker.to_owned(),
            cursor: cursor.map(str::to_owned),
            set_aside: Vec::new(),
            fault: None,
            now_ms: 0,
        }))
        .unwrap();
    };
    // What was recorded under other ids than a rig's is passed over, and passed.
    let mut rounds = 0;
    while let ExportNext::Rows(batch) = next(turn("e", "a", 0, 5_000)) {
        assert_eq!(batch.rows, []);
        assert!(!batch.passed_over.is_empty() && batch.passed_over[0].reason.contains("UUID"));
        done("e", "a", Some(&batch.cursor));
        rounds += 1;
    }
    assert!(rounds > 1);
    assert_eq!(next(turn("e", "a", 0, 1)), ExportNext::Nothing);

    // In the order of recording, whatever their ids and times are; a batch is bounded.
    let rows: Vec<_> = [9, 3, 5].map(of_a_rig).into();
    for row in &rows {
        store.record(row.clone());
    }
    let batch = |from: usize, to: usize| {
        ExportNext::Rows(ExportBatch {
            rows: rows[from..to].iter().filter_map(ExportRow::of).collect(),
            passed_over: Vec::new(),
            cursor: rows[to - 1].id.clone(),
        })
    };
    assert_eq!(next(turn("e", "a", 0, 2)), batch(0, 2));
    // It is a's turn until it is over or has lapsed; a itself is given the same again, and as much as it asks for.
    assert_eq!(next(turn("e", "b", 9, 2)), ExportNext::Taken);
    assert_eq!(next(turn("e", "a", 9, 3)), batch(0, 3));
    assert_eq!(next(turn("e", "b", 18, 2)), ExportNext::Taken);
    assert_eq!(next(turn("e", "b", 19, 2)), batch(0, 2));
    // Whoever lost the turn moves nothing; whoever failed neither, and gives the turn back.
    done("e", "a", Some(&rows[2].id));
    assert_eq!(next(turn("e", "b", 20, 2)), batch(0, 2));
    done("e", "b", None);
    assert_eq!(next(turn("e", "a", 20, 1)), batch(0, 1));
    done("e", "a", Some(&rows[0].id));
    assert_eq!(next(turn("e", "b", 20, 9)), batch(1, 3));
    done("e", "b", Some(&rows[2].id));
    assert_eq!(next(turn("e", "b", 20, 9)), ExportNext::Nothing);
    // Nothing to do is nobody's turn.
    store.record(of_a_rig(1));
    let last = ExportBatch {
        rows: vec![ExportRow::of(&of_a_rig(1)).unwrap()],
        passed_over: Vec::new(),
        cursor: of_a_rig(1).id,
    };
    assert_eq!(next(turn("e", "a", 20, 9)), ExportNext::Rows(last));
    // A clock that was set back keeps nobody out.
    assert!(matches!(next(turn("e", "b", 5, 9)), ExportNext::Rows(_)));

    // Each exporter has its own cursor, and begins with the oldest row.
    let ExportNext::Rows(first) = next(turn("f", "a", 0, 1)) else {
        panic!("a new exporter is given rows")
    };
    assert_eq!(first.rows, []);
    done("f", "nobody", Some(&rows[2].id));
    done("g", "a", Some(&rows[2].id));
    assert!(matches!(next(turn("g", "a", 0, 1)), ExportNext::Rows(_)));
    // A cursor that points at nothing starts anew: rather once more than not at all.
    done("f", "a", Some("deleted"));
    assert_eq!(next(turn("f", "a", 0, 1)), ExportNext::Rows(first));
}
