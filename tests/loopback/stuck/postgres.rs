//! The same with a database whose server has stopped to answer: its processes are frozen by a signal.

use std::process::Command;

use postgres::{Client, NoTls};
use rig::{FailureClass, Usd};

use super::{COST, answering, call, ends, flush, rig_at};
use crate::crash::{Fresh, Place};

/// The server's processes for the connections of stores, frozen until this is dropped.
struct Frozen(Vec<String>);

impl Frozen {
    fn take(url: &str) -> Self {
        let mut client = Client::connect(url, NoTls).unwrap();
        let sessions = "SELECT pid FROM pg_stat_activity
                        WHERE datname = current_database() AND application_name = 'modelrig'";
        let sessions = client.query(sessions, &[]).unwrap();
        let sessions = sessions.iter().map(|row| row.get::<_, i32>(0).to_string());
        let frozen = Self(sessions.collect());
        assert!(!frozen.0.is_empty());
        frozen.signal("-STOP");
        frozen
    }

    fn signal(&self, signal: &str) {
        let status = Command::new("kill").arg(signal).args(&self.0).status();
        assert!(status.unwrap().success());
    }
}

impl Drop for Frozen {
    fn drop(&mut self) {
        self.signal("-CONT");
    }
}

/// Returns how many rows there are, and what envelopes have spent and reserved, in nano-dollars.
fn found(url: &str) -> (i64, i64, i64) {
    let mut client = Client::connect(url, NoTls).unwrap();
    let sums =
        "SELECT (SELECT count(*) FROM modelrig.inferences), coalesce(sum(spent_nanousd), 0)::int8,
                       coalesce(sum(reserved_nanousd), 0)::int8 FROM modelrig.envelopes";
    let row = client.query_one(sums, &[]).unwrap();
    (row.get(0), row.get(1), row.get(2))
}

// L17, T5, E2: calls return while the server is frozen, with their answer or for want of money; afterwards rows and money
// agree, and calls go on.
#[test]
fn a_frozen_server_keeps_no_answer_from_its_caller() {
    let Some(fresh) = Fresh::new() else { return };
    let Place::Server(url) = fresh.place() else {
        panic!("a server's place is a URL")
    };
    let server = answering();
    let rig = rig_at(&server, &url);
    let cost = i64::try_from(COST.as_nanos()).unwrap();
    call(&rig, Some("e"), None).unwrap();
    flush(&rig);
    assert_eq!(found(&url), (1, cost, 0));

    let frozen = Frozen::take(&url);
    call(&rig, None, None).unwrap();
    call(&rig, None, Some(1_000)).unwrap();
    let error = call(&rig, Some("e"), Some(1_000)).unwrap_err();
    assert_eq!(error.class(), Some(FailureClass::Timeout), "{error}");
    assert_eq!(server.requests().len(), 3);
    drop(frozen);

    flush(&rig);
    assert_eq!(found(&url), (3, cost, 0));
    assert_eq!(
        call(&rig, Some("e"), None).unwrap().meta.cost,
        Usd::nanos(140_000)
    );
    flush(&rig);
    assert_eq!(found(&url), (4, 2 * cost, 0));

    // Whoever drops a rig waits for its rows, and not for ever.
    let _frozen = Frozen::take(&url);
    call(&rig, None, None).unwrap();
    ends(move || drop(rig));
}
