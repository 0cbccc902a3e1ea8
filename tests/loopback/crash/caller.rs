//! A process that makes calls, to be killed.

use std::collections::BTreeMap;
use std::env;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::Duration;

use rig::testing::chat_completion;

use super::{ACKNOWLEDGED, CHILD};
use crate::server::{Reply, Seen, Server, response};

/// What a parent hears.
pub(crate) enum Heard {
    /// The server has got a request.
    Request,
    /// The child has a run's rows acknowledged: its id, and how many rows there are.
    Acknowledged(String, u32),
    /// The child's output has ended.
    End,
}

/// A process that makes calls; it dies with this value.
pub(crate) struct Caller {
    child: Child,
    heard: Receiver<Heard>,
    acknowledged: BTreeMap<String, u32>,
    requests: usize,
    answered: Arc<AtomicU64>,
    pub(crate) has_ended: bool,
}

/// Answers so that a run takes as many attempts as its question says: `north` has no key for two, and answers
/// twice beside the schema for three. Returns what the answer costs too, in nano-dollars.
fn answer(seen: &Seen) -> (Reply, u64) {
    let of_north = seen.head.starts_with("post /north/");
    let answer = match seen.body.split_once("attempts=").unwrap().1.as_bytes()[0] {
        b'2' if of_north => return (response(401, "", "{}"), 0),
        b'3' if of_north => "{}",
        _ => r#"{"verdict": "yes", "because": "It is.", "also": null}"#,
    };
    // 10 tokens in and 5 out, at 1 and 2 USD per million, or a tenth of it.
    let cost = if of_north { 20_000 } else { 2_000 };
    let reply = response(200, "", &chat_completion(answer, "stop", 10, 5));
    (reply, cost)
}

/// Starts the server of a parent, which hears of every request.
fn serve(heard: Sender<Heard>, answered: Arc<AtomicU64>) -> Server {
    Server::start(move |seen| {
        let _ = heard.send(Heard::Request);
        let (reply, cost) = answer(seen);
        answered.fetch_add(cost, Ordering::SeqCst);
        reply
    })
}

impl Caller {
    /// Starts a process that makes this many calls per worker; its envelopes' names begin with this prefix.
    pub(crate) fn start(place: &super::Place, calls: u32, prefix: &str) -> Self {
        let (sender, heard) = channel();
        let answered = Arc::<AtomicU64>::default();
        let server = serve(sender.clone(), Arc::clone(&answered));
        let told = format!(
            "{}\n{}\n{calls}\n{prefix}",
            server.base_url("").trim_end_matches('/'),
            place.told()
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
            answered,
            has_ended: false,
        }
    }

    /// Listens until `enough` says so, or the process ends.
    pub(crate) fn listen(&mut self, mut enough: impl FnMut(&Heard) -> bool) {
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

    /// Returns what the answers cost that were sent so far, in nano-dollars.
    pub(crate) fn answered(&self) -> u64 {
        self.answered.load(Ordering::SeqCst)
    }

    /// Kills the process, takes in what it had said, and returns what was acknowledged.
    pub(crate) fn kill(mut self) -> Ended {
        self.child.kill().unwrap();
        self.listen(|_| false);
        self.ended()
    }

    /// Waits for the process to end well, and returns what was acknowledged.
    pub(crate) fn finish(mut self) -> Ended {
        self.listen(|_| false);
        assert!(self.child.wait().unwrap().success());
        self.ended()
    }

    fn ended(mut self) -> Ended {
        Ended {
            acknowledged: std::mem::take(&mut self.acknowledged),
            requests: self.requests,
            answered: self.answered(),
        }
    }
}

/// What a process has done, or several.
#[derive(Default)]
pub(crate) struct Ended {
    /// The acknowledged runs, and how many rows each has.
    pub(crate) acknowledged: BTreeMap<String, u32>,
    /// How many requests were sent.
    pub(crate) requests: usize,
    /// What the answers cost that were sent, in nano-dollars.
    pub(crate) answered: u64,
}

impl Ended {
    pub(crate) fn add(&mut self, other: Self) {
        self.acknowledged.extend(other.acknowledged);
        self.requests += other.requests;
        self.answered += other.answered;
    }
}

impl Drop for Caller {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
