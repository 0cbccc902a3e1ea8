//! Is what was acknowledged still there after `kill -9`?

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, park_timeout};
use std::time::Duration;

use rig::Rig;
use rig::testing::chat_completion;
use rusqlite::Connection;
use tests::routes::{self, LadderInput};

use crate::server::{Reply, Seen, Server, response};

/// Tells this binary that it is the process to be killed: the server's address, the file and the number of calls
/// that each worker makes, apart from each other by line breaks.
const CHILD: &str = "LOOPBACK_CRASH_CHILD";

/// What stands in front of an acknowledged run.
const ACKNOWLEDGED: &str = "acknowledged ";

const WORKERS: u32 = 3;

const FOR_EVER: u32 = u32::MAX;

/// What a parent hears.
enum Heard {
    /// The server has got a request.
    Request,
    /// The child has a run's rows acknowledged: its id, and how many rows there are.
    Acknowledged(String, u32),
    /// The child's output has ended.
    End,
}

/// A process that makes calls; it dies with this value.
struct Caller {
    child: Child,
    heard: Receiver<Heard>,
    acknowledged: BTreeMap<String, u32>,
    requests: usize,
    has_ended: bool,
}

/// A file, as it is found after a crash.
struct Found {
    /// The rows of each run: the attempt and its failure class, in the order of the attempts.
    runs: BTreeMap<String, Vec<(u32, Option<String>)>>,
    rows: usize,
}

/// Not a test: what [`Caller::start`] runs in a process of its own.
#[test]
fn child() {
    let Ok(told) = env::var(CHILD) else { return };
    let told: Vec<_> = told.lines().collect();
    let [url, file, calls] = told.as_slice() else {
        panic!("{told:?}")
    };
    let rig = Rig::builder()
        .ignore_env()
        .key("north", "key")
        .key("south", "key")
        .base_url("north", format!("{url}/north"))
        .base_url("south", format!("{url}/south"))
        .telemetry_db(file)
        .build()
        .unwrap();
    let calls: u32 = calls.parse().unwrap();
    thread::scope(|scope| {
        for _ in 0..WORKERS {
            scope.spawn(|| {
                let runtime = tokio::runtime::Builder::new_current_thread()
                    .enable_all()
                    .build();
                runtime.unwrap().block_on(work(&rig, calls));
            });
        }
    });
}

/// Calls, and says so once the rows are safe.
async fn work(rig: &Rig, calls: u32) {
    for number in 0..calls {
        // The server reads from the question how many attempts the run is to take.
        let input = LadderInput {
            question: format!("attempts={}.", number % 3 + 1),
        };
        let run = routes::ladder(input).on(rig).run().await.unwrap();
        rig.flush().await.unwrap();
        println!(
            "\n{ACKNOWLEDGED}{} {}",
            run.meta.run_id,
            run.meta.attempts.total()
        );
    }
}

/// Answers so that a run takes as many attempts as its question says: `north` has no key for two, and answers
/// twice beside the schema for three.
fn answer(seen: &Seen) -> Reply {
    let of_north = seen.head.starts_with("post /north/");
    let answer = match seen.body.split_once("attempts=").unwrap().1.as_bytes()[0] {
        b'2' if of_north => return response(401, "", "{}"),
        b'3' if of_north => "{}",
        _ => r#"{"verdict": "yes", "because": "It is.", "also": null}"#,
    };
    response(200, "", &chat_completion(answer, "stop", 10, 5))
}

/// Starts the server of a parent, which hears of every request.
fn serve(heard: Sender<Heard>) -> Server {
    Server::start(move |seen| {
        let _ = heard.send(Heard::Request);
        answer(seen)
    })
}

impl Caller {
    /// Starts a process that makes this many calls per worker.
    fn start(file: &Path, calls: u32) -> Self {
        let (sender, heard) = channel();
        let server = serve(sender.clone());
        let told = format!(
            "{}\n{}\n{calls}",
            server.base_url("").trim_end_matches('/'),
            file.display()
        );
        let mut child = Command::new(env::current_exe().unwrap())
            .args(["--exact", "crash::child", "--nocapture"])
            .env(CHILD, told)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                let run = line
                    .strip_prefix(ACKNOWLEDGED)
                    .and_then(|run| run.split_once(' '));
                if let Some((id, rows)) = run {
                    let rows = rows.parse().unwrap();
                    let _ = sender.send(Heard::Acknowledged(id.to_owned(), rows));
                }
            }
            let _ = sender.send(Heard::End);
        });
        Self {
            child,
            heard,
            acknowledged: BTreeMap::new(),
            requests: 0,
            has_ended: false,
        }
    }

    /// Listens until `enough` says so, or the process ends.
    fn listen(&mut self, mut enough: impl FnMut(&Heard) -> bool) {
        while !self.has_ended {
            let heard = self.heard.recv_timeout(Duration::from_secs(60)).unwrap();
            let is_enough = enough(&heard);
            match heard {
                Heard::Request => self.requests += 1,
                Heard::Acknowledged(id, rows) => {
                    self.acknowledged.insert(id, rows);
                }
                Heard::End => self.has_ended = true,
            }
            if is_enough {
                break;
            }
        }
    }

    /// Kills the process, takes in what it had said, and returns what was acknowledged, and how many requests the
    /// process had sent.
    fn kill(mut self) -> (BTreeMap<String, u32>, usize) {
        self.child.kill().unwrap();
        self.listen(|_| false);
        (std::mem::take(&mut self.acknowledged), self.requests)
    }

    /// Waits for the process to end well, and returns what was acknowledged.
    fn finish(mut self) -> BTreeMap<String, u32> {
        self.listen(|_| false);
        assert!(self.child.wait().unwrap().success());
        std::mem::take(&mut self.acknowledged)
    }
}

impl Drop for Caller {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Found {
    /// Opens the file as the next process would, and reads all of it.
    fn open(file: &Path) -> Self {
        drop(rig::store::sqlite::SqliteStore::open(file).unwrap());
        let connection = Connection::open(file).unwrap();
        let check =
            connection.query_row("PRAGMA integrity_check", [], |row| row.get::<_, String>(0));
        assert_eq!(check.unwrap(), "ok");
        let mut select = connection
            .prepare(
                "SELECT run_id, attempt, failure_class FROM inferences ORDER BY run_id, attempt",
            )
            .unwrap();
        let rows = select
            .query_map([], |row| Ok((row.get(0)?, (row.get(1)?, row.get(2)?))))
            .unwrap();
        let mut found = Self {
            runs: BTreeMap::new(),
            rows: 0,
        };
        for row in rows {
            let (run, attempt) = row.unwrap();
            found.runs.entry(run).or_default().push(attempt);
            found.rows += 1;
        }
        found
    }

    /// Asserts that every acknowledged run is there whole, and that of the others no row is there twice or
    /// without those before it.
    fn keeps(&self, acknowledged: &BTreeMap<String, u32>) {
        for (run, rows) in acknowledged {
            let found = self
                .runs
                .get(run)
                .unwrap_or_else(|| panic!("{run} is lost"));
            assert_eq!(found.len(), *rows as usize, "{run}: {found:?}");
            assert_eq!(found.last().unwrap().1, None, "{run}: {found:?}");
        }
        for (run, found) in &self.runs {
            let attempts: Vec<_> = found.iter().map(|(attempt, _)| *attempt).collect();
            let expected: Vec<_> = (1..=u32::try_from(found.len()).unwrap()).collect();
            assert_eq!(attempts, expected, "{run}");
            let failed = &found[..found.len() - 1];
            assert!(
                failed.iter().all(|(_, class)| class.is_some()),
                "{run}: {found:?}"
            );
        }
    }
}

/// A small generator of numbers (SplitMix64); the seed alone decides them.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % limit
    }
}

/// T5. The rounds share a file, so that each also opens what the crash before it left behind.
#[test]
fn every_acknowledged_row_survives_kill_9() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("telemetry.db");
    let mut acknowledged = BTreeMap::new();
    let mut requests = 0;
    for seed in 1..=10 {
        let mut random = Random(seed);
        let (counts_requests, moment) = (random.below(2) == 0, random.below(60) + 1);
        let pause = Duration::from_micros(random.below(2_000));
        let mut caller = Caller::start(&file, FOR_EVER);
        let mut seen = 0;
        caller.listen(|heard| {
            seen += u64::from(matches!(heard, Heard::Request) == counts_requests);
            seen == moment
        });
        assert!(!caller.has_ended, "the process ended by itself");
        // The moment alone would always lie just behind an event.
        park_timeout(pause);
        let (of_this, sent) = caller.kill();
        let found = Found::open(&file);
        println!(
            "seed {seed}: {} runs acknowledged, {sent} requests, {} rows so far",
            of_this.len(),
            found.rows
        );
        acknowledged.extend(of_this);
        requests += sent;
        found.keeps(&acknowledged);
        assert!(
            found.rows <= requests,
            "{} rows of {requests} requests",
            found.rows
        );
    }
    assert!(!acknowledged.is_empty());
}

/// T5: two processes write to one file; one is killed, and the other loses nothing.
#[test]
fn two_processes_share_a_file_and_the_death_of_one_leaves_the_other_its_rows() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("telemetry.db");
    let survivor = Caller::start(&file, 40);
    let mut victim = Caller::start(&file, FOR_EVER);
    let mut said = 0;
    victim.listen(|heard| {
        said += u32::from(matches!(heard, Heard::Acknowledged(..)));
        said == 30
    });
    let (of_victim, _) = victim.kill();
    let of_survivor = survivor.finish();
    assert!(of_victim.len() >= 30, "{}", of_victim.len());
    assert_eq!(of_survivor.len(), 40 * WORKERS as usize);
    let found = Found::open(&file);
    found.keeps(&of_victim);
    found.keeps(&of_survivor);
    let both: BTreeSet<_> = of_victim.keys().chain(of_survivor.keys()).collect();
    assert_eq!(both.len(), of_victim.len() + of_survivor.len());
}
