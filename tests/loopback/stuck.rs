//! What does a call do while its store answers nobody?
//!
//! The beds are real: another connection holds the lock of the file for as long as the calls take, so that a call which waited
//! for it would not return at all.

use std::path::Path;
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use rig::testing::chat_completion;
use rig::{Error, FailureClass, Rig, Run, Usd};
use rusqlite::Connection;
use tests::routes::{self, FcBaseInput, LadderInput, fc_base, ladder};

use crate::server::{Server, response};

mod first;
mod full;
#[cfg(feature = "postgres")]
mod postgres;
mod rows;

const ANSWER: &str = r#"{"verdict": "yes", "because": "It is.", "also": null}"#;

/// What an answer costs: 100 tokens in at 1 USD per million, 20 out at 2.
pub(crate) const COST: Usd = Usd::nanos(140_000);

/// Longer than anything here may take; whoever waits this long has found a call that does not return.
const FOR_EVER: Duration = Duration::from_secs(90);

/// Returns a server that answers every request.
pub(crate) fn answering() -> Server {
    Server::start(|_| response(200, "", &chat_completion(ANSWER, "stop", 100, 20)))
}

/// Returns a rig whose rows are at a place.
pub(crate) fn rig_at(server: &Server, place: &str) -> Rig {
    let mut builder = Rig::builder().ignore_env().telemetry_db(place);
    for provider in ["north", "south", "deepseek", "fireworks"] {
        let address = server.base_url(provider);
        builder = builder.key(provider, "key").base_url(provider, address);
    }
    builder.build().unwrap()
}

pub(crate) fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap()
}

/// Runs something on a thread of its own, and panics if it does not end.
#[track_caller]
pub(crate) fn ends<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    let (done, ended) = channel();
    thread::spawn(move || done.send(work()));
    ended.recv_timeout(FOR_EVER).expect("it does not return")
}

pub(crate) fn asked() -> rig::Call<routes::Reply, ladder::Variant> {
    ladder(LadderInput {
        question: "Is it?".to_owned(),
    })
}

/// Makes a call that has one to pay for it, or not, and one second, or not.
pub(crate) fn call(
    rig: &Rig,
    envelope: Option<&str>,
    deadline_ms: Option<u64>,
) -> Result<Run<routes::Reply>, Error> {
    let rig = rig.clone();
    let envelope = envelope.map(str::to_owned);
    ends(move || {
        let mut call = asked();
        if let Some(envelope) = envelope {
            call = call.envelope(envelope, Usd::dollars(1));
        }
        if let Some(deadline_ms) = deadline_ms {
            call = call.deadline(Duration::from_millis(deadline_ms));
        }
        runtime().block_on(call.on(&rig).run())
    })
}

/// Holds the lock of a file until it is dropped.
pub(crate) struct Lock(Connection);

impl Lock {
    pub(crate) fn take(file: &Path) -> Self {
        let connection = Connection::open(file).unwrap();
        connection.busy_timeout(Duration::from_secs(10)).unwrap();
        connection.execute_batch("BEGIN IMMEDIATE").unwrap();
        Self(connection)
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        self.0.execute_batch("ROLLBACK").unwrap();
    }
}

/// Returns how many rows a file has, and what its envelopes have spent and reserved, in nano-dollars.
pub(crate) fn found(file: &Path) -> (i64, i64, i64) {
    let connection = Connection::open(file).unwrap();
    let sums = "SELECT (SELECT count(*) FROM inferences), coalesce(sum(spent_nanousd), 0),
                       coalesce(sum(reserved_nanousd), 0) FROM envelopes";
    let found = connection.query_row(sums, [], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)));
    found.unwrap()
}

fn flush(rig: &Rig) {
    let rig = rig.clone();
    ends(move || runtime().block_on(rig.flush())).unwrap();
}

// L17: an answer is its caller's while the file is locked; its rows stay queued, and are there once the lock is gone.
#[test]
fn a_locked_file_keeps_no_answer_from_its_caller_and_loses_no_row() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("t.db");
    let server = answering();
    let rig = rig_at(&server, file.to_str().unwrap());
    let lock = Lock::take(&file);
    for deadline_ms in [None, Some(1_000)] {
        call(&rig, None, deadline_ms).unwrap();
    }
    assert_eq!(server.requests().len(), 2);
    assert_eq!(found(&file).0, 0);
    assert_eq!(rig.store_counts().queued_rows, 2);
    drop(lock);
    flush(&rig);
    assert_eq!(found(&file), (2, 0, 0));
    // Each call had waited for the grace by then.
    let counts = rig.store_counts();
    assert_eq!(
        (counts.queued_rows, counts.late_rows, counts.lost_rows),
        (0, 2, 0)
    );
}

// L17, T5: a rig that is dropped while the file is locked does not wait for ever.
#[test]
fn a_rig_is_dropped_while_its_file_is_locked() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("t.db");
    let server = answering();
    let rig = rig_at(&server, file.to_str().unwrap());
    let _lock = Lock::take(&file);
    call(&rig, None, None).unwrap();
    ends(move || drop(rig));
}

// L17, L16: the reservation is inside the run's time. Nothing was sent, so that nothing is charged when the file is back.
#[test]
fn a_reservation_in_a_locked_file_ends_with_the_runs_deadline() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("t.db");
    let server = answering();
    let rig = rig_at(&server, file.to_str().unwrap());
    let lock = Lock::take(&file);
    let error = call(&rig, Some("e"), Some(1_000)).unwrap_err();
    assert_eq!(error.class(), Some(FailureClass::Timeout), "{error}");
    assert!(error.to_string().contains("deadline of 1000 ms"), "{error}");
    assert_eq!(server.requests().len(), 0);
    drop(lock);
    flush(&rig);
    assert_eq!(found(&file), (0, 0, 0));
    call(&rig, Some("e"), Some(5_000)).unwrap();
    let spent = i64::try_from(COST.as_nanos()).unwrap();
    assert_eq!(found(&file), (1, spent, 0));
}

// L17, T5: without a deadline it ends with the attempt's time, and money fails closed.
#[test]
fn a_reservation_in_a_locked_file_ends_with_the_attempts_time() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("t.db");
    let server = answering();
    let rig = rig_at(&server, file.to_str().unwrap());
    let _lock = Lock::take(&file);
    let error = ends(move || {
        let call = fc_base(FcBaseInput { q: "x".to_owned() });
        let call = call.envelope("e", Usd::dollars(1));
        runtime().block_on(call.on(&rig).run()).unwrap_err()
    });
    assert_eq!(
        error.class(),
        Some(FailureClass::BudgetExhausted),
        "{error}"
    );
    let failure = error.failure().unwrap();
    assert_eq!(failure.envelope, None);
    assert_eq!(
        failure.message,
        "nothing could be reserved in the envelope `e`: the telemetry store did not answer within 2000 ms"
    );
    assert_eq!(server.requests().len(), 0);
}

// L17: whoever gave up waiting takes nothing from those who still wait, though it asked first.
#[test]
fn a_reservation_that_nobody_waits_for_refuses_nobody() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("t.db");
    let server = answering();
    let rig = rig_at(&server, file.to_str().unwrap());
    // Room for one call.
    let cap = Usd::nanos(4_000_000);
    runtime().block_on(rig.open_envelope("e", cap)).unwrap();
    let lock = Lock::take(&file);
    let error = call(&rig, Some("e"), Some(300)).unwrap_err();
    assert_eq!(error.class(), Some(FailureClass::Timeout), "{error}");
    let waits = {
        let rig = rig.clone();
        thread::spawn(move || {
            let runs = async {
                let run = tokio::spawn(asked().envelope("e", None).on(&rig).run());
                for _ in 0..1_000 {
                    tokio::task::yield_now().await;
                }
                drop(lock);
                run.await.unwrap()
            };
            runtime().block_on(runs)
        })
    };
    ends(move || waits.join().unwrap()).unwrap();
    flush(&rig);
    let spent = i64::try_from(COST.as_nanos()).unwrap();
    assert_eq!(found(&file), (1, spent, 0));
}
