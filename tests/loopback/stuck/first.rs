//! What does the first call of a process do while the file is locked?

use std::env;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;

use rusqlite::Connection;

use super::{FOR_EVER, Lock, answering, asked, runtime};
use crate::server::Server;

/// Tells this binary that it is a process which calls on its default rig, and how many calls it makes at once.
const CHILD: &str = "LOOPBACK_FIRST_CHILD";

/// Not a test: calls at once, says when all have returned, and goes on when it is told to.
#[test]
fn child() {
    let Ok(calls) = env::var(CHILD) else { return };
    runtime().block_on(async {
        let calls = 0..calls.parse::<usize>().unwrap();
        let runs: Vec<_> = calls.map(|_| tokio::spawn(asked().run())).collect();
        for run in runs {
            run.await.unwrap().unwrap();
        }
    });
    println!("\nreturned");
    // Its rows are written meanwhile; it ends when the pipe does.
    let _ = std::io::stdin().read(&mut [0]);
}

/// Tells this binary that it is a process whose store never answers.
#[cfg(feature = "postgres")]
const SILENT: &str = "LOOPBACK_SILENT_CHILD";

/// Not a test: calls, with a second of time.
#[cfg(feature = "postgres")]
#[test]
fn silent_child() {
    let Ok(_) = env::var(SILENT) else { return };
    let call = asked().deadline(std::time::Duration::from_secs(1));
    let error = runtime().block_on(call.run()).unwrap_err();
    let expected = rig::store::StoreError::NoAnswer { after_ms: 1_000 };
    let expected = rig::ConfigError::Store(expected);
    assert_eq!(error, rig::Error::Config(expected));
}

// L17: the first call of a process waits for its rig within its own time, also where the server of the store says nothing.
#[cfg(feature = "postgres")]
#[test]
fn a_first_call_with_a_deadline_waits_no_longer_for_its_rig() {
    // Whoever connects gets no answer.
    let silent = std::net::TcpListener::bind((std::net::Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = silent.local_addr().unwrap().port();
    let mut child = Command::new(env::current_exe().unwrap());
    let child = child
        .args(["--exact", "stuck::first::silent_child", "--nocapture"])
        .env(SILENT, "")
        .env(
            "MODELRIG_TELEMETRY_DB",
            format!("postgres://u:p@127.0.0.1:{port}/d"),
        )
        .env("NORTH_API_KEY", "key")
        .stdout(Stdio::null());
    assert!(child.status().unwrap().success());
}

/// A process whose first calls these are; it dies with this value.
struct First {
    child: Child,
    _stdin: ChildStdin,
    said: Receiver<String>,
}

impl First {
    fn start(server: &Server, file: &Path, calls: usize) -> Self {
        let mut child = Command::new(env::current_exe().unwrap())
            .args(["--exact", "stuck::first::child", "--nocapture"])
            .env(CHILD, calls.to_string())
            .env("MODELRIG_TELEMETRY_DB", file)
            .env("NORTH_API_KEY", "key")
            .env("NORTH_BASE_URL", server.base_url("north"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let (say, said) = channel();
        thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                let _ = say.send(line);
            }
        });
        let mut stdin = child.stdin.take().unwrap();
        stdin.flush().unwrap();
        Self {
            child,
            _stdin: stdin,
            said,
        }
    }

    /// Waits until all of its calls have returned.
    #[track_caller]
    fn returns(&self) {
        while self.said.recv_timeout(FOR_EVER).expect("no call returns") != "returned" {}
    }
}

impl Drop for First {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Waits until a file has so many rows.
fn has_rows(file: &Path, rows: i64) {
    let connection = Connection::open(file).unwrap();
    let count = "SELECT count(*) FROM inferences";
    for _ in 0..900 {
        let found = connection.query_row(count, [], |row| row.get::<_, i64>(0));
        if found.is_ok_and(|found| found == rows) {
            return;
        }
        thread::park_timeout(std::time::Duration::from_millis(100));
    }
    panic!("the rows never come");
}

// L17, T5: four first calls at once return while another process holds the lock, of a file that is up to date and of one whose
// tables are not there yet; their rows follow.
#[test]
fn the_first_calls_of_a_process_wait_for_no_lock() {
    for is_new in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("t.db");
        let server = answering();
        if !is_new {
            drop(super::rig_at(&server, file.to_str().unwrap()));
        }
        let lock = Lock::take(&file);
        let first = First::start(&server, &file, 4);
        first.returns();
        assert_eq!(server.requests().len(), 4);
        drop(lock);
        has_rows(&file, 4);
    }
}
