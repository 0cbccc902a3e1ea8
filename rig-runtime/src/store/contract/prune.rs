//! What has every store to delete, and what not?

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use uuid::Uuid;

use super::super::memory::MemoryStore;
use super::super::sqlite::SqliteStore;
use super::super::{
    AttemptRow, ExportNext, ExportTurn, Exported, Grade, Graded, PassedOver, Prune, Pruned, Store,
    Verdict, VerdictsOf,
};
use super::{block_on, capture, row, wanted};

const NOW_MS: i64 = 100_000;

/// Returns a row of a route and a tag, that many milliseconds old.
fn aged(number: u128, run: u128, age_ms: i64, customer: &str) -> AttemptRow {
    AttemptRow {
        id: Uuid::from_u128(number).to_string(),
        run_id: Uuid::from_u128(run).to_string(),
        ts_ms: NOW_MS - age_ms,
        route: if number.is_multiple_of(2) {
            "even"
        } else {
            "odd"
        }
        .into(),
        tags: BTreeMap::from([("customer".to_owned(), customer.to_owned())]),
        ..row("p", 1)
    }
}

/// A store and what it is known to hold.
struct Kept<'a> {
    store: &'a dyn Store,
    runs: BTreeSet<String>,
}

impl Kept<'_> {
    fn record(&mut self, row: &AttemptRow) {
        self.store
            .record_captured(row.clone(), capture(row, row.ts_ms));
        self.runs.insert(row.run_id.clone());
    }

    fn grade(&self, id: u128, of: Graded) {
        let grade = Grade {
            id: Uuid::from_u128(id).to_string(),
            ts_ms: NOW_MS,
            of,
            verdict: Verdict::up(),
        };
        block_on(self.store.grade(grade)).unwrap();
    }

    /// Deletes, after a count that has to say the same.
    fn prune(&self, prune: Prune) -> (u64, u64, u64, u64) {
        let counts = |pruned: &Pruned| {
            let Pruned {
                rows,
                captures,
                verdicts,
                kept_unexported,
                ..
            } = *pruned;
            (rows, captures, verdicts, kept_unexported)
        };
        let counted = block_on(self.store.prune(prune.clone().dry_run(), NOW_MS)).unwrap();
        let pruned = block_on(self.store.prune(prune, NOW_MS)).unwrap();
        assert_eq!(counts(&counted), counts(&pruned));
        counts(&pruned)
    }

    /// Returns the last digits of what is left: rows, captures and verdicts.
    fn left(&self) -> (Vec<u128>, Vec<u128>, Vec<u128>) {
        let number = |id: &String| Uuid::parse_str(id).unwrap().as_u128();
        let (mut rows, mut captures, mut verdicts) = (Vec::new(), Vec::new(), Vec::new());
        for run in &self.runs {
            let found = block_on(self.store.attempts(run)).unwrap();
            rows.extend(found.iter().map(|row| number(&row.id)));
            let found = block_on(self.store.verdicts(VerdictsOf::Run(run.clone()))).unwrap();
            verdicts.extend(found.iter().map(|verdict| number(&verdict.id)));
        }
        for route in ["even", "odd"] {
            let found = block_on(self.store.captures(route)).unwrap();
            captures.extend(found.iter().map(|capture| number(&capture.id)));
        }
        for ids in [&mut rows, &mut captures, &mut verdicts] {
            ids.sort_unstable();
        }
        (rows, captures, verdicts)
    }

    fn next(&self, exporter: &str, most: u32) -> Option<(Vec<u128>, String)> {
        let turn = ExportTurn {
            exporter: exporter.to_owned(),
            worker: "w".to_owned(),
            now_ms: NOW_MS,
            lapses_ms: NOW_MS + 1,
            most,
        };
        match block_on(self.store.next_export(turn)).unwrap() {
            ExportNext::Rows(batch) => {
                let rows = batch.rows.iter().map(|row| row.id.as_u128());
                Some((rows.collect(), batch.cursor))
            }
            _ => None,
        }
    }

    fn done(&self, exporter: &str, cursor: Option<String>, aside: &[u128], fault: Option<&str>) {
        let aside = aside.iter().map(|id| PassedOver {
            id: Uuid::from_u128(*id).to_string(),
            reason: "status 400".to_owned(),
        });
        block_on(self.store.exported(Exported {
            exporter: exporter.to_owned(),
            worker: "w".to_owned(),
            cursor,
            set_aside: aside.collect(),
            fault: fault.map(str::to_owned),
            now_ms: NOW_MS,
        }))
        .unwrap();
    }
}

/// T7: by age, route, tag and id; rows with what hangs on them, or captures alone. Of a store that is empty.
pub(in crate::store) fn check_prune(store: &Arc<dyn Store>) {
    let mut kept = Kept {
        store: &**store,
        runs: BTreeSet::new(),
    };
    let ms = Duration::from_millis;
    // Two runs of two attempts and one of one; the numbers are not in the order of their ages.
    for (number, run, age_ms, customer) in [
        (1, 91, 50, "acme"),
        (2, 91, 40, "acme"),
        (5, 92, 30, "o'hare"),
        (4, 92, 20, "acme"),
        (3, 93, 10, "o'hare"),
    ] {
        kept.record(&aged(number, run, age_ms, customer));
    }
    let run = |run: u128| Graded::Run(Uuid::from_u128(run).to_string());
    let attempt = |id: u128| Graded::Attempt(Uuid::from_u128(id).to_string());
    for (id, of) in [
        (11, attempt(1)),
        (12, run(91)),
        (13, attempt(5)),
        (14, run(92)),
        (15, run(93)),
    ] {
        kept.grade(id, of);
    }
    block_on(store.reserve(wanted("e", 100, &Uuid::from_u128(1).to_string(), 60))).unwrap();
    store.settle(&Uuid::from_u128(1).to_string(), None);
    let spent = block_on(store.envelope("e", 1_000)).unwrap();
    let charged = || {
        let charges = block_on(store.charges("e")).unwrap().into_iter();
        let charges = charges.map(|charge| (charge.id, charge.charged));
        charges.collect::<Vec<_>>()
    };
    let before = charged();
    assert_eq!(before.len(), 1);

    // Captures alone: rows and verdicts stay.
    assert_eq!(
        kept.prune(Prune::captures().tag("customer", "o'hare").route("even")),
        (0, 0, 0, 0)
    );
    assert_eq!(
        kept.prune(
            Prune::captures()
                .tag("customer", "o'hare")
                .older_than(ms(20))
        ),
        (0, 1, 0, 0)
    );
    assert_eq!(
        kept.prune(Prune::captures().id(Uuid::from_u128(2).to_string())),
        (0, 1, 0, 0)
    );
    assert_eq!(kept.prune(Prune::captures().route("nothing")), (0, 0, 0, 0));
    assert_eq!(
        kept.prune(Prune::captures().tag("client", "acme")),
        (0, 0, 0, 0)
    );
    let all = vec![11, 12, 13, 14, 15];
    assert_eq!(kept.left(), (vec![1, 2, 3, 4, 5], vec![1, 3, 4], all));

    // What an exporter has not sent stays. Each exporter counts, and one whose cursor goes steps back.
    assert_eq!(
        kept.next("e", 3),
        Some((vec![1, 2, 5], Uuid::from_u128(5).to_string()))
    );
    kept.done("e", Some(Uuid::from_u128(5).to_string()), &[2], None);
    assert_eq!(
        kept.next("f", 1),
        Some((vec![1], Uuid::from_u128(1).to_string()))
    );
    kept.done(
        "f",
        Some(Uuid::from_u128(1).to_string()),
        &[],
        Some("status 401"),
    );
    let states = block_on(store.exports()).unwrap();
    let shown: Vec<_> = states
        .iter()
        .map(|state| {
            (
                state.exporter.as_str(),
                state.waiting,
                state.set_aside,
                state.fault.clone(),
            )
        })
        .collect();
    assert_eq!(
        shown,
        [
            ("e", 2, 1, None),
            ("f", 4, 0, Some("status 401".to_owned()))
        ]
    );
    assert_eq!(states[0].newest_set_aside[0].reason, "status 400");
    assert_eq!(states[1].fault_since_ms, Some(NOW_MS));

    // Older than 20 are 1, 2 and 5; only 1 has been sent by both. The verdict of its run stays, since the run does.
    assert_eq!(kept.prune(Prune::rows().older_than(ms(20))), (1, 1, 1, 2));
    assert_eq!(
        kept.left(),
        (vec![2, 3, 4, 5], vec![3, 4], vec![12, 13, 14, 15])
    );
    // Nobody is given again what has arrived, nor passed over.
    assert_eq!(kept.next("f", 9).unwrap().0, [2, 5, 4, 3]);
    kept.done("f", None, &[], None);
    assert_eq!(kept.next("e", 9).unwrap().0, [4, 3]);
    // Whoever was given a row that has gone since moves nothing.
    assert_eq!(
        kept.prune(Prune::rows().older_than(ms(20)).unexported()),
        (2, 0, 2, 0)
    );
    kept.done("e", Some(Uuid::from_u128(5).to_string()), &[], None);
    assert_eq!(kept.left(), (vec![3, 4], vec![3, 4], vec![14, 15]));
    assert_eq!(kept.next("e", 9).unwrap().0, [4, 3]);
    kept.done("e", None, &[], None);
    assert_eq!(block_on(store.exports()).unwrap()[0].set_aside, 0);
    assert_eq!(kept.next("f", 9).unwrap().0, [4, 3]);
    kept.done("f", Some(Uuid::from_u128(3).to_string()), &[], None);
    assert_eq!(block_on(store.exports()).unwrap()[1].fault, None);

    // By run; the last row of a run takes the verdicts of the run with it. What is recorded next comes after both cursors.
    let of_run = Prune::rows()
        .id(Uuid::from_u128(92).to_string())
        .unexported();
    assert_eq!(kept.prune(of_run), (1, 1, 1, 0));
    assert_eq!(kept.prune(Prune::rows().unexported()), (1, 1, 1, 0));
    assert_eq!(kept.left(), (vec![], vec![], vec![]));
    kept.record(&aged(6, 94, 0, "acme"));
    for exporter in ["e", "f"] {
        assert_eq!(kept.next(exporter, 9).unwrap().0, [6]);
        kept.done(exporter, Some(Uuid::from_u128(6).to_string()), &[], None);
    }
    assert_eq!(
        kept.prune(Prune::rows().older_than(Duration::ZERO)),
        (0, 0, 0, 0)
    );

    // More than a batch, and money is never less spent than before.
    for number in 1_000..1_900 {
        kept.record(&aged(number, 95, 30, "acme"));
    }
    assert_eq!(kept.prune(Prune::rows().older_than(ms(20))), (0, 0, 0, 900));
    assert_eq!(
        kept.prune(Prune::captures().older_than(ms(20)).route("odd")),
        (0, 450, 0, 0)
    );
    assert_eq!(
        kept.prune(Prune::rows().older_than(ms(20)).unexported()),
        (900, 450, 0, 0)
    );
    assert_eq!(kept.prune(Prune::rows().unexported()), (1, 1, 0, 0));
    assert_eq!(block_on(store.envelope("e", 1_000)).unwrap(), spent);
    assert_eq!(charged(), before);
}

#[test]
fn the_memory_store_deletes_what_it_is_asked_to() {
    check_prune(&(Arc::new(MemoryStore::default()) as Arc<dyn Store>));
}

#[test]
fn the_sqlite_store_deletes_what_it_is_asked_to() {
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(&folder.path().join("t.db")).unwrap();
    check_prune(&(Arc::new(store) as Arc<dyn Store>));
}
