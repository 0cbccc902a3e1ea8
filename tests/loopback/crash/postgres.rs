//! The same in a database: when processes are killed, and when their connections are cut.
//!
//! `MODELRIG_TEST_POSTGRES` is the URL of a server on which databases may be created and dropped; `.ci/postgres` starts one.

use std::ops::RangeInclusive;
use std::time::{SystemTime, UNIX_EPOCH};

use postgres::{Client, NoTls};

use super::{
    CAP, Caller, Ended, FOR_EVER, Place, Random, check, chunks, kill_one, kills, settle, wait,
};

const SERVER: &str = "MODELRIG_TEST_POSTGRES";

/// A database of a test's own, which goes with this value.
pub(crate) struct Fresh {
    name: String,
    server: String,
}

impl Fresh {
    /// Returns a new database; `None` where there is no server, and then the test is skipped.
    pub(crate) fn new() -> Option<Self> {
        let Ok(server) = std::env::var(SERVER) else {
            eprintln!("skipped: {SERVER} names no server");
            return None;
        };
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        let name = format!("modelrig_crash_{}", now.as_nanos());
        let fresh = Self { name, server };
        fresh.at_server(&format!("CREATE DATABASE {}", fresh.name));
        Some(fresh)
    }

    pub(crate) fn place(&self) -> Place {
        let (server, _) = self.server.rsplit_once('/').unwrap();
        Place::Server(format!("{server}/{}", self.name))
    }

    fn at_server(&self, statement: &str) {
        let mut client = Client::connect(&self.server, NoTls).unwrap();
        client.batch_execute(statement).unwrap();
    }

    /// Cuts the connections of every process.
    fn cut(&self) {
        self.at_server(&format!(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
             WHERE application_name = 'modelrig' AND datname = '{}'",
            self.name
        ));
    }
}

impl Drop for Fresh {
    fn drop(&mut self) {
        self.at_server(&format!("DROP DATABASE {} WITH (FORCE)", self.name));
    }
}

/// T5, E2: no call of two processes fails while their connections are cut, and nothing is lost, doubled or unpaid.
#[test]
fn cut_connections_fail_no_call_and_lose_no_row() {
    for seeds in chunks(kills()) {
        let Some(fresh) = Fresh::new() else { return };
        cut_two(&fresh, seeds);
    }
}

fn cut_two(fresh: &Fresh, seeds: RangeInclusive<u64>) {
    let place = fresh.place();
    let mut callers = [0, 1].map(|_| Caller::start(&place, FOR_EVER, "shared"));
    for seed in seeds {
        let mut random = Random(seed);
        for caller in &mut callers {
            wait(caller, &mut random);
        }
        let answered = callers.iter().map(Caller::answered).sum();
        place.look().covers(answered, CAP);
        fresh.cut();
    }
    // Both are still there, and go on after the last cut.
    let mut ended = Ended::default();
    for mut caller in callers {
        wait(&mut caller, &mut Random(0));
        ended.add(caller.kill());
    }
    check(&place.open(), &ended);
    settle(&place, &ended);
}

/// T5, E2.
#[test]
fn what_a_database_acknowledged_survives_kill_9() {
    for seeds in chunks(kills()) {
        let Some(fresh) = Fresh::new() else { return };
        kill_one(&fresh.place(), seeds);
    }
}
