//! Do processes that share a file ever spend past the cap of an envelope together?

use std::env;
use std::path::Path;
use std::process::{Child, Command, Stdio};
#[cfg(feature = "postgres")]
use std::sync::Arc;
#[cfg(feature = "postgres")]
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::channel;
use std::time::Duration;

use rig::store::sqlite::SqliteStore;
use rig::store::{EnvelopeState, Store as _};
use rig::testing::chat_completion;
use rig::{FailureClass, Rig, Usd};
use rusqlite::Connection;
use tests::routes::{self, LadderInput};

#[cfg(feature = "postgres")]
use crate::crash::Fresh;
use crate::crash::Place;
use crate::server::{Reply, Server, response};

/// Tells this binary that it is a process which spends: the server's address and the file, apart by a line break.
const CHILD: &str = "LOOPBACK_ENVELOPE_CHILD";

const PROCESSES: usize = 4;

const TASKS: usize = 64;

const ANSWER: &str = r#"{"verdict": "yes", "because": "It is.", "also": null}"#;

/// What a call costs: 400 tokens in at 1 USD per million, 200 out at 2.
const COST: Usd = Usd::nanos(800_000);

const CAP: Usd = Usd::dollars(1);

/// Not a test: what [`start`] runs in a process of its own.
#[test]
fn child() {
    let Ok(told) = env::var(CHILD) else { return };
    let (url, file) = told.split_once('\n').unwrap();
    let rig = Rig::builder()
        .ignore_env()
        .key("north", "key")
        .base_url("north", format!("{url}/north"))
        .telemetry_db(file)
        .build()
        .unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let tasks: Vec<_> = (0..TASKS)
            .map(|_| tokio::spawn(spend(rig.clone())))
            .collect();
        for task in tasks {
            task.await.unwrap();
        }
        rig.close().await.unwrap();
    });
}

/// Calls until the envelope is exhausted for good: while others have something reserved, some of it may come back.
async fn spend(rig: Rig) {
    loop {
        let input = LadderInput {
            question: "Is it so?".to_owned(),
        };
        let run = routes::ladder(input).envelope("shared", CAP).on(&rig).run();
        let Err(error) = run.await else { continue };
        assert_eq!(
            error.class(),
            Some(FailureClass::BudgetExhausted),
            "{error}"
        );
        let state = error.failure().unwrap().envelope.clone().unwrap();
        if state.reserved == Usd::ZERO {
            return;
        }
    }
}

/// A process that spends; it dies with this value.
struct Spender(Child);

impl Drop for Spender {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn start(server: &Server, file: &Path) -> Spender {
    start_at(server, &Place::File(file.to_owned()))
}

fn start_at(server: &Server, place: &Place) -> Spender {
    let url = server.base_url("");
    let told = format!("{}\n{}", url.trim_end_matches('/'), place.told());
    let child = Command::new(env::current_exe().unwrap())
        .args(["--exact", "envelope::child", "--nocapture"])
        .env(CHILD, told)
        .stdout(Stdio::null())
        .spawn();
    Spender(child.unwrap())
}

/// Looks at one moment of the file, and returns what is spent and reserved, and what the rows cost, in nano-dollars.
fn look(connection: &mut Connection) -> Option<(u64, u64, u64)> {
    let moment = connection.transaction().unwrap();
    let sums = moment.query_row(
        "SELECT spent_nanousd, reserved_nanousd,
                (SELECT coalesce(sum(charge_nanousd), 0) FROM charges),
                (SELECT coalesce(sum(reserved_nanousd), 0) FROM charges WHERE charge_nanousd IS NULL),
                (SELECT coalesce(sum(cost_nanousd), 0) FROM inferences)
         FROM envelopes",
        [],
        |row| {
            let sum = |at| row.get::<_, i64>(at).map(|sum| u64::try_from(sum).unwrap());
            Ok((sum(0)?, sum(1)?, sum(2)?, sum(3)?, sum(4)?))
        },
    );
    let (spent, reserved, charged, under_way, cost) = sums.ok()?;
    assert_eq!((spent, reserved), (charged, under_way));
    assert!(cost <= spent + reserved, "{cost} of {spent} + {reserved}");
    assert!(spent + reserved <= CAP.as_nanos(), "{spent} + {reserved}");
    Some((spent, reserved, cost))
}

fn state(file: &Path, now_ms: i64) -> EnvelopeState {
    let store = SqliteStore::open(file).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    let state = runtime.unwrap().block_on(store.envelope("shared", now_ms));
    state.unwrap().unwrap()
}

// E2: 64 tasks in each of 4 processes; at every moment that anybody looks the cap holds and covers what the rows cost, and in
// the end all of it is spent that a call fits into.
#[test]
fn four_processes_never_spend_past_the_cap_together() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("telemetry.db");
    let server = Server::start(|_| response(200, "", &chat_completion(ANSWER, "stop", 400, 200)));
    let mut spenders: Vec<_> = (0..PROCESSES).map(|_| start(&server, &file)).collect();
    // All of them start on a file that is not there yet, and so does this one.
    drop(SqliteStore::open(&file).unwrap());
    let mut connection = Connection::open(&file).unwrap();
    connection.busy_timeout(Duration::from_secs(10)).unwrap();
    let mut looks = 0;
    for spender in &mut spenders {
        let status = loop {
            looks += u32::from(look(&mut connection).is_some());
            if let Some(status) = spender.0.try_wait().unwrap() {
                break status;
            }
        };
        assert!(status.success());
    }
    let (spent, reserved, cost) = look(&mut connection).unwrap();
    let (calls, charges): (u32, u32) = connection
        .query_row(
            "SELECT (SELECT count(*) FROM inferences), count(*)
             FROM charges JOIN inferences USING (id)",
            [],
            |row| Ok((row.get(0)?, row.get(1)?)),
        )
        .unwrap();
    println!(
        "{calls} calls, {looks} looks, {spent} of {} spent",
        CAP.as_nanos()
    );
    assert_eq!((reserved, cost, charges), (0, spent, calls));
    assert_eq!(spent, u64::from(calls) * COST.as_nanos());
    assert!(
        CAP.as_nanos() - spent < bound(&server),
        "one more would have fitted"
    );
}

/// Returns the most that a call can cost, in nano-dollars.
fn bound(server: &Server) -> u64 {
    let bytes = server.requests()[0].body.len() as u64;
    (bytes + 1_024) * 1_000 + 256 * 2_000
}

// E2, of a fleet: the same with a database.
#[cfg(feature = "postgres")]
#[test]
fn four_processes_with_a_postgres_database_never_spend_past_the_cap_together() {
    let Some(fresh) = Fresh::new() else { return };
    let place = fresh.place();
    drop(place.open());
    let answered = Arc::<AtomicU64>::default();
    let answers = Arc::clone(&answered);
    let server = Server::start(move |_| {
        answers.fetch_add(COST.as_nanos(), Ordering::SeqCst);
        response(200, "", &chat_completion(ANSWER, "stop", 400, 200))
    });
    let mut spenders: Vec<_> = (0..PROCESSES).map(|_| start_at(&server, &place)).collect();
    let mut looks = 0;
    for spender in &mut spenders {
        let status = loop {
            let before = answered.load(Ordering::SeqCst);
            place.look().covers(before, CAP);
            looks += 1;
            if let Some(status) = spender.0.try_wait().unwrap() {
                break status;
            }
        };
        assert!(status.success());
    }
    let found = place.look();
    let calls = found.rows as u64;
    println!(
        "{calls} calls, {looks} looks, {:?} of {} spent",
        found.sums(),
        CAP.as_nanos()
    );
    let spent = calls * COST.as_nanos();
    assert_eq!(answered.load(Ordering::SeqCst), spent);
    assert_eq!(found.sums(), (spent.cast_signed(), 0));
    assert!(
        CAP.as_nanos() - spent < bound(&server),
        "one more would have fitted"
    );
}

// E4: what a killed process had reserved is reserved until its lease is over, and spent from then on.
#[test]
fn what_a_killed_process_had_reserved_is_spent_after_its_lease() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("telemetry.db");
    let (sender, requests) = channel();
    let server = Server::start(move |_| {
        let _ = sender.send(());
        Reply::Stall(String::new())
    });
    let spender = start(&server, &file);
    for _ in 0..TASKS {
        requests.recv_timeout(Duration::from_secs(60)).unwrap();
    }
    drop(spender);
    let mut connection = Connection::open(&file).unwrap();
    let (spent, reserved, cost) = look(&mut connection).unwrap();
    assert_eq!((spent, cost), (0, 0));
    let lapses: Vec<i64> = connection
        .prepare("SELECT lapses FROM charges ORDER BY lapses")
        .unwrap()
        .query_map([], |row| row.get(0))
        .unwrap()
        .collect::<Result<_, _>>()
        .unwrap();
    assert_eq!(lapses.len(), TASKS);
    let before = state(&file, lapses[0] - 1);
    assert_eq!(
        (before.spent, before.reserved),
        (Usd::ZERO, Usd::nanos(reserved))
    );
    let after = state(&file, lapses[TASKS - 1]);
    assert_eq!(
        (after.spent, after.reserved),
        (Usd::nanos(reserved), Usd::ZERO)
    );
    // It stays so, also for who looks at the tables, and whatever the clock says later.
    assert_eq!(look(&mut connection), Some((reserved, 0, 0)));
    assert_eq!(state(&file, 0), after);
}

// E4, T5: whenever a process is killed, the file is whole, the cap holds, and what is charged or reserved covers what the
// rows cost. The rounds share a file; none fills the envelope.
#[test]
fn the_sums_hold_after_every_kill_9() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("telemetry.db");
    let (sender, requests) = channel();
    let server = Server::start(move |_| {
        let _ = sender.send(());
        response(200, "", &chat_completion(ANSWER, "stop", 400, 200))
    });
    let mut cost = 0;
    for round in 1..=5 {
        let spender = start(&server, &file);
        for _ in 0..round * 5 {
            requests.recv_timeout(Duration::from_secs(60)).unwrap();
        }
        drop(spender);
        let mut connection = Connection::open(&file).unwrap();
        let check =
            connection.query_row("PRAGMA integrity_check", [], |row| row.get::<_, String>(0));
        assert_eq!(check.unwrap(), "ok");
        (_, _, cost) = look(&mut connection).unwrap();
        while requests.try_recv().is_ok() {}
    }
    let after = state(&file, i64::MAX);
    assert_eq!(after.reserved, Usd::ZERO);
    assert!(Usd::nanos(cost) <= after.spent && after.spent <= CAP);
}
