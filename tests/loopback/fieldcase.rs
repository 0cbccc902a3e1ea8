//! FC-44, FC-50, FC-51: many runs, many processes, and a file that is none. Beside them, what the environment says.

use std::env;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::channel;
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::Duration;

use rig::testing::{ManualClock, MemoryStore, Scripted, ScriptedTransport, chat_completion};
use rig::{ConfigError, Error, FailureClass, Rig, Usd};
use rusqlite::Connection;
use tests::routes::{self, LadderInput, ladder};

use crate::export::Receiver;
use crate::server::{Server, response};

const ANSWER: &str = r#"{"verdict": "yes", "because": "It is.", "also": null}"#;

/// What a call costs: 400 tokens in at 1 USD per million, 200 out at 2.
const COST: Usd = Usd::nanos(800_000);

fn reply() -> String {
    chat_completion(ANSWER, "stop", 400, 200)
}

fn ask() -> rig::Call<routes::Reply, ladder::Variant> {
    ladder(LadderInput {
        question: "Is it so?".to_owned(),
    })
}

fn open(url: &str, file: &Path) -> Rig {
    let builder = Rig::builder().ignore_env().key("north", "key");
    let builder = builder.base_url("north", format!("{url}/north"));
    builder.telemetry_db(file).build().unwrap()
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap()
}

/// Keeps every answer back until it is opened.
#[derive(Clone, Default)]
struct Gate(Arc<(Mutex<bool>, Condvar)>);

impl Gate {
    fn wait(&self) {
        let (is_open, changed) = &*self.0;
        let closed = is_open.lock().unwrap();
        drop(changed.wait_while(closed, |is_open| !*is_open).unwrap());
    }

    fn set(&self, is_open: bool) {
        *self.0.0.lock().unwrap() = is_open;
        self.0.1.notify_all();
    }
}

/// What a call costs that reserves more: 100 tokens in, 20 out.
const LIGHT: Usd = Usd::nanos(140_000);

fn gated() -> (Gate, Server) {
    let gate = Gate::default();
    let held = gate.clone();
    let server = Server::start(move |_| {
        held.wait();
        response(200, "", &chat_completion(ANSWER, "stop", 100, 20))
    });
    (gate, server)
}

// E1, E2: of eight runs that three can be paid for, three are dispatched, whoever opens the envelope again with a larger cap;
// on one connection to the file, and on two.
#[test]
fn fc_44_many_runs_at_once_under_one_envelope() {
    let folder = tempfile::tempdir().unwrap();
    for connections in [1, 2] {
        let file = folder.path().join(format!("{connections}.db"));
        let (gate, server) = gated();
        let url = server.base_url("");
        let url = url.trim_end_matches('/');
        let rigs: Vec<_> = (0..connections).map(|_| open(url, &file)).collect();
        runtime().block_on(async {
            // What one call reserves is what the case calls 0.30.
            let probe = tokio::spawn(
                ask()
                    .envelope("probe", Usd::dollars(100))
                    .on(&rigs[0])
                    .run(),
            );
            while server.requests().is_empty() {
                tokio::task::yield_now().await;
            }
            let bound = rigs[0].envelope("probe").await.unwrap().unwrap().reserved;
            gate.set(true);
            probe.await.unwrap().unwrap();
            gate.set(false);

            let cap = Usd::nanos(bound.as_nanos() * 10 / 3);
            rigs[0].open_envelope("e3", cap).await.unwrap();
            let runs = (0..8).map(|run| {
                let call = ask().envelope("e3", Usd::dollars(100));
                tokio::spawn(call.on(&rigs[run % connections]).run())
            });
            let mut runs: Vec<_> = runs.collect();
            // Five fail without waiting for the three whose answers are kept back.
            let mut refused = 0;
            while refused < 5 {
                tokio::task::yield_now().await;
                let (over, under_way): (Vec<_>, Vec<_>) =
                    runs.into_iter().partition(|run| run.is_finished());
                runs = under_way;
                for run in over {
                    let error = run.await.unwrap().unwrap_err();
                    assert_eq!(error.class(), Some(FailureClass::BudgetExhausted));
                    refused += 1;
                }
            }
            assert_eq!(runs.len(), 3);
            gate.set(true);
            for run in runs {
                run.await.unwrap().unwrap();
            }
            let state = rigs[connections - 1].envelope("e3").await.unwrap().unwrap();
            assert_eq!((state.cap, state.reserved), (cap, Usd::ZERO));
            assert_eq!(state.spent, Usd::nanos(3 * LIGHT.as_nanos()));
            // The probe's request has been heard of.
            assert_eq!(server.requests().len(), 3);
            // What was given back can be spent.
            ask().envelope("e3", None).on(&rigs[0]).run().await.unwrap();
        });
    }
}

/// Tells this binary that it is one of the processes of FC-50: the server's address and the file, apart by a line break.
const CHILD: &str = "LOOPBACK_FC_50_CHILD";

const PROCESSES: usize = 4;

const RUNS: usize = 250;

const AT_ONCE: usize = 16;

/// Not a test: what FC-50 runs in a process of its own.
#[test]
fn child() {
    let Ok(told) = env::var(CHILD) else { return };
    let (url, file) = told.split_once('\n').unwrap();
    let rig = open(url, Path::new(file));
    runtime().block_on(async {
        let tasks: Vec<_> = (0..AT_ONCE)
            .map(|task| {
                let rig = rig.clone();
                tokio::spawn(async move {
                    for _ in (task..RUNS).step_by(AT_ONCE) {
                        let call = ask().envelope("e5", Usd::dollars(1_000));
                        call.on(&rig).run().await.unwrap();
                    }
                })
            })
            .collect();
        for task in tasks {
            task.await.unwrap();
        }
        rig.close().await.unwrap();
    });
}

/// Takes the lock of a file now and then, as long as somebody listens.
fn hold_now_and_then(file: &Path) -> (std::sync::mpsc::Sender<()>, thread::JoinHandle<()>) {
    let connection = Connection::open(file).unwrap();
    connection.busy_timeout(Duration::from_secs(60)).unwrap();
    let (stop, stopped) = channel::<()>();
    let holder = thread::spawn(move || {
        let over = |pause| stopped.recv_timeout(Duration::from_millis(pause)).is_ok();
        loop {
            connection.execute_batch("BEGIN IMMEDIATE").unwrap();
            let is_over = over(300);
            connection.execute_batch("COMMIT").unwrap();
            if is_over || over(100) {
                return;
            }
        }
    });
    (stop, holder)
}

/// Processes of this binary; they die with this value.
struct Children(Vec<Child>);

impl Drop for Children {
    fn drop(&mut self) {
        for child in &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

fn spawn(test: &str) -> Command {
    let mut command = Command::new(env::current_exe().unwrap());
    command.args(["--exact", test, "--nocapture"]);
    command.stdout(Stdio::null());
    command
}

// T5, E2: four processes, 250 runs each, while a fifth party takes the lock again and again.
#[test]
fn fc_50_many_writers_on_one_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("t.db");
    let server = Server::start(|_| response(200, "", &reply()));
    let url = server.base_url("");
    let url = url.trim_end_matches('/');
    let rig = open(url, &file);
    let (stop, holder) = hold_now_and_then(&file);
    let told = format!("{url}\n{}", file.display());
    let children =
        (0..PROCESSES).map(|_| spawn("fieldcase::child").env(CHILD, &told).spawn().unwrap());
    let mut children = Children(children.collect());
    for child in &mut children.0 {
        assert!(child.wait().unwrap().success());
    }
    stop.send(()).unwrap();
    holder.join().unwrap();
    let state = runtime().block_on(rig.envelope("e5")).unwrap().unwrap();
    let runs = PROCESSES * RUNS;
    assert_eq!(state.spent, Usd::nanos(COST.as_nanos() * runs as u64));
    assert_eq!(state.reserved, Usd::ZERO);
    let connection = Connection::open(&file).unwrap();
    let ask =
        |select: &str| -> String { connection.query_row(select, [], |row| row.get(0)).unwrap() };
    assert_eq!(
        ask("SELECT count(*) || ' ' || count(DISTINCT id) FROM inferences"),
        format!("{runs} {runs}")
    );
    assert_eq!(ask("PRAGMA integrity_check"), "ok");
}

// FC-50, 3: who waits for the file holds up nobody else on the runtime's one thread, or this test would wait for itself.
#[test]
fn fc_50_a_locked_file_does_not_hold_the_runtimes_thread() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("t.db");
    let server = Server::start(|_| response(200, "", &reply()));
    let rig = open(server.base_url("").trim_end_matches('/'), &file);
    let lock = Connection::open(&file).unwrap();
    lock.execute_batch("BEGIN IMMEDIATE").unwrap();
    runtime().block_on(async {
        let run = tokio::spawn(ask().envelope("e5", Usd::dollars(1)).on(&rig).run());
        for _ in 0..1_000 {
            tokio::task::yield_now().await;
        }
        assert!(!run.is_finished());
        assert_eq!(server.requests().len(), 0);
        lock.execute_batch("COMMIT").unwrap();
        run.await.unwrap().unwrap();
    });
}

// T5: a file that is no database is an error that says where and why, before anything is dispatched, and stays as it was.
#[test]
fn fc_51_a_file_that_is_no_database_is_an_error_at_the_start() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("notes.db");
    let bytes: Vec<u8> = (0..=255).cycle().take(8_192).collect();
    std::fs::write(&file, &bytes).unwrap();
    let error = Rig::builder()
        .ignore_env()
        .telemetry_db(&file)
        .build()
        .unwrap_err();
    assert!(
        matches!(error, Error::Config(ConfigError::Store(_))),
        "{error}"
    );
    let text = error.to_string();
    assert!(
        text.contains("notes.db") && text.contains("not a database"),
        "{text}"
    );
    assert_eq!(std::fs::read(&file).unwrap(), bytes);
}

/// Tells this binary that it is a process whose environment is looked at, and what it should come to.
const ENVIRONMENT: &str = "LOOPBACK_ENVIRONMENT_CHILD";

/// Not a test: builds a rig from the environment, asks something, and says which cap it was given.
#[test]
fn environment_child() {
    let Ok(expected) = env::var(ENVIRONMENT) else {
        return;
    };
    let clock = ManualClock::new();
    let transport = ScriptedTransport::new(&clock);
    transport.push(Scripted::status(200, reply()));
    let builder = Rig::builder()
        .key("north", "k")
        .transport(transport)
        .clock(clock);
    let built = builder.store(MemoryStore::default()).build();
    let rig = match built {
        Ok(rig) => rig,
        Err(error) => return assert_eq!(error.to_string(), expected),
    };
    runtime().block_on(async {
        let state = rig.open_envelope("e", None).await.unwrap();
        assert_eq!(state.cap.to_string(), expected);
        ask().on(&rig).run().await.unwrap();
        rig.close().await.unwrap();
    });
}

// E1: the cap of an envelope that nobody gives one is the environment's.
#[test]
fn the_environment_sets_the_cap_of_envelopes() {
    let unreadable = "`MODELRIG_ENVELOPE_BUDGET_USD` is no amount of dollars like `25` or `0.5`";
    for (told, expected) in [
        (None, Usd::dollars(25).to_string()),
        (Some(" 0.5 "), Usd::nanos(500_000_000).to_string()),
        (Some("lots"), unreadable.to_owned()),
        (Some("-1"), unreadable.to_owned()),
    ] {
        let mut child = spawn("fieldcase::environment_child");
        child.env(ENVIRONMENT, expected);
        child.env_remove("MODELRIG_ENVELOPE_BUDGET_USD");
        if let Some(told) = told {
            child.env("MODELRIG_ENVELOPE_BUDGET_USD", told);
        }
        assert!(child.status().unwrap().success(), "{told:?}");
    }
}

// T4: the environment turns both exporters on.
#[test]
fn the_environment_turns_exporters_on() {
    let receiver = Receiver::start();
    let status = spawn("fieldcase::environment_child")
        .env(ENVIRONMENT, Usd::dollars(25).to_string())
        .env("MODELRIG_API_KEY", "ingest-key")
        .env("MODELRIG_INGEST_URL", format!("{}/rows", receiver.url))
        .env("MODELRIG_OTLP_ENDPOINT", &receiver.url)
        .env(
            "MODELRIG_OTLP_HEADERS",
            "x-team=one%20two,authorization=Basic%20b3RscA==",
        )
        .env("OTEL_EXPORTER_OTLP_COMPRESSION", "gzip")
        .env("OTEL_SERVICE_NAME", "desk")
        .status();
    assert!(status.unwrap().success());
    let got = receiver.got();
    let to = |path: &str| got.iter().find(|(head, _)| head.starts_with(path)).unwrap();
    assert!(
        to("post /rows ")
            .0
            .contains("authorization: bearer ingest-key")
    );
    let (head, body) = to("post /v1/traces ");
    for part in [
        "x-team: one two",
        "authorization: basic b3rsca==",
        "content-encoding: gzip",
        "application/x-protobuf",
    ] {
        assert!(head.contains(part), "{head}");
    }
    for part in ["desk", "gen_ai.request.model", "chat n1"] {
        assert!(
            body.windows(part.len())
                .any(|bytes| bytes == part.as_bytes()),
            "{part}"
        );
    }
}
