//! Does a database keep what it was given, whoever shares it and however often it hangs up?
//!
//! `MODELRIG_TEST_POSTGRES` is the URL of a server on which databases may be created and dropped; `.ci/postgres` starts one.

use std::path::Path;
use std::sync::{Arc, Barrier};

use postgres::{Client, NoTls};
use uuid::Uuid;

use super::super::contract::{self, block_on, capture, holds, row, wanted};
use super::super::{Graded, Verdict};
use super::*;

mod shared;

const SERVER: &str = "MODELRIG_TEST_POSTGRES";

/// A database of a test's own, which goes with this value.
pub(super) struct Fresh {
    name: String,
    server: String,
}

impl Fresh {
    /// Returns a new database; `None` where there is no server, and then the test is skipped.
    #[expect(clippy::disallowed_methods, reason = "a test asks where its server is")]
    #[expect(clippy::print_stderr, reason = "a skipped test has to say so")]
    pub(super) fn new() -> Option<Self> {
        let Ok(server) = std::env::var(SERVER) else {
            eprintln!("skipped: {SERVER} names no server");
            return None;
        };
        let name = format!("modelrig_test_{}", Uuid::now_v7().simple());
        let fresh = Self { name, server };
        fresh.at_server(&format!("CREATE DATABASE {}", fresh.name));
        Some(fresh)
    }

    pub(super) fn url(&self) -> String {
        let (server, _) = self.server.rsplit_once('/').unwrap();
        format!("{server}/{}", self.name)
    }

    pub(super) fn open(&self) -> PostgresStore {
        PostgresStore::open(&self.url()).unwrap()
    }

    /// Opens a connection beside the store's.
    pub(super) fn client(&self) -> Client {
        let mut config: postgres::Config = self.url().parse().unwrap();
        config.application_name("beside").connect(NoTls).unwrap()
    }

    fn at_server(&self, statement: &str) {
        let mut client = Client::connect(&self.server, NoTls).unwrap();
        client.batch_execute(statement).unwrap();
    }

    /// Cuts the connections of every store.
    pub(super) fn cut(&self) {
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

fn attempts(store: &PostgresStore, run_id: &str) -> Vec<AttemptRow> {
    block_on(store.attempts(run_id)).unwrap()
}

#[test]
fn the_postgres_store_keeps_the_contract() {
    let Some(fresh) = Fresh::new() else { return };
    contract::check(Arc::new(fresh.open()));
}

#[test]
fn the_postgres_store_deletes_what_it_is_asked_to() {
    let Some(fresh) = Fresh::new() else { return };
    contract::prune::check_prune(&(Arc::new(fresh.open()) as Arc<dyn Store>));
}

#[test]
fn reopening_reads_the_rows_back() {
    let Some(fresh) = Fresh::new() else { return };
    let store = fresh.open();
    store.record(row("a", 1));
    // Without a flush: dropping the store writes what is queued.
    drop(store);
    assert_eq!(attempts(&fresh.open(), "a"), [row("a", 1)]);
}

/// Migrations take turns.
#[test]
fn eight_opens_at_once_share_one_new_database() {
    let Some(fresh) = Fresh::new() else { return };
    let start = Barrier::new(8);
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let (fresh, start) = (&fresh, &start);
            scope.spawn(move || {
                start.wait();
                let store = fresh.open();
                store.record(row(&format!("t{thread}"), 1));
                block_on(store.flush()).unwrap();
            });
        }
    });
    let store = fresh.open();
    for thread in 0..8 {
        assert_eq!(attempts(&store, &format!("t{thread}")).len(), 1);
    }
}

/// T5.
#[test]
fn a_newer_database_is_refused_and_left_untouched() {
    let Some(fresh) = Fresh::new() else { return };
    drop(fresh.open());
    let mut client = fresh.client();
    let newer = "INSERT INTO modelrig.version VALUES (99)";
    client.batch_execute(newer).unwrap();
    let error = PostgresStore::open(&fresh.url()).unwrap_err();
    assert!(
        matches!(
            error,
            StoreError::Newer {
                found: 99,
                known: schema::KNOWN,
                ..
            }
        ),
        "{error}"
    );
}

fn reason(url: &str) -> String {
    match PostgresStore::open(url) {
        Err(StoreError::Unavailable { reason, location }) => {
            assert!(location.starts_with("postgres://"), "{location}");
            assert!(!location.contains('@'), "{location}");
            reason
        }
        other => format!("{other:?}"),
    }
}

/// T5.
#[test]
fn what_is_not_ours_or_not_writable_is_refused() {
    let Some(fresh) = Fresh::new() else { return };
    let mut client = fresh.client();
    let other = "CREATE SCHEMA modelrig CREATE TABLE customers (name TEXT)";
    client.batch_execute(other).unwrap();
    let theirs = "its schema `modelrig` is another program's";
    assert_eq!(reason(&fresh.url()), theirs);
    let read_only = format!(
        "DROP SCHEMA modelrig CASCADE; ALTER DATABASE {} SET default_transaction_read_only = on",
        fresh.name
    );
    client.batch_execute(&read_only).unwrap();
    let refused = reason(&fresh.url());
    assert!(refused.contains("does not allow writes"), "{refused}");
    let latin = Fresh::new().unwrap();
    latin.at_server(&format!("DROP DATABASE {}", latin.name));
    latin.at_server(&format!(
        "CREATE DATABASE {} ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0",
        latin.name
    ));
    assert_eq!(
        reason(&latin.url()),
        "its encoding is LATIN1, and has to be UTF8"
    );
}

/// No error and no `Debug` form shows a password, nor whose it is.
#[test]
fn nothing_shows_a_password() {
    let secret = "s3cret-p4ssword";
    let urls = [
        format!("postgres://somebody:{secret}@127.0.0.1:1/rows"),
        format!("postgres://somebody:{secret}@127.0.0.1:port/rows"),
        format!("postgres://somebody:{secret}@127.0.0.1:1/rows?sslmode={secret}"),
        format!("postgresql://127.0.0.1:1/rows?user=somebody&password={secret}"),
    ];
    for url in urls {
        let error = PostgresStore::open(&url).unwrap_err();
        for shown in [format!("{error}"), format!("{error:?}")] {
            assert!(!shown.contains(secret), "{shown}");
            assert!(!shown.contains("somebody"), "{shown}");
        }
    }
    let Some(fresh) = Fresh::new() else { return };
    let store = fresh.open();
    let shown = format!("{store:?}");
    assert!(
        shown.contains(&fresh.name) && !shown.contains('@'),
        "{shown}"
    );
    let (user, host) = fresh.server.split_once('@').unwrap();
    let user = user.rsplit_once(':').unwrap().0;
    let wrong = PostgresStore::open(&format!("{user}:{secret}@{host}")).unwrap_err();
    assert!(!format!("{wrong} {wrong:?}").contains(secret), "{wrong}");
    assert!(wrong.to_string().contains("refuses"), "{wrong}");
}

/// The columns of `docs/telemetry.md`, in its order, and the one that only exporters need.
#[test]
fn tables_and_views_have_the_documented_columns() {
    let Some(fresh) = Fresh::new() else { return };
    drop(fresh.open());
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/telemetry.md");
    let page = std::fs::read_to_string(page).unwrap();
    let mut client = fresh.client();
    let columns = "
        SELECT table_name::text, string_agg(column_name, ' ' ORDER BY ordinal_position)
        FROM information_schema.columns
        WHERE table_schema = 'modelrig' AND table_name <> 'version' AND column_name <> 'place'
        GROUP BY 1";
    let tables = client.query(columns, &[]).unwrap();
    assert_eq!(tables.len(), 10);
    for table in tables {
        let (name, columns): (String, String) = (table.get(0), table.get(1));
        let section = page.split(&format!("\n### {name}\n")).nth(1).unwrap();
        let section = section.split("\n### ").next().unwrap();
        let cells = section.lines().filter_map(|line| line.strip_prefix("| `"));
        let names = cells.flat_map(|cells| cells.split(" |").next().unwrap().split(", "));
        let documented: Vec<_> = names.map(|name| name.trim_matches('`')).collect();
        assert_eq!(documented.join(" "), columns, "{name}");
    }
}

/// The views say in USD what the tables hold.
#[test]
fn the_views_show_days_tags_and_envelopes() {
    let Some(fresh) = Fresh::new() else { return };
    let store = fresh.open();
    store.record(row("a", 1));
    block_on(store.reserve(wanted("e", 5_000_000_000, "r1", 2_000_000_000))).unwrap();
    block_on(store.reserve(wanted("e", 0, "r2", 500_000_000))).unwrap();
    store.settle("r1", Some(Usd::nanos(1_250_000_000)));
    block_on(store.flush()).unwrap();
    let mut client = fresh.client();
    let mut line = |select: &str| -> String { client.query_one(select, &[]).unwrap().get(0) };
    assert_eq!(
        line(
            "SELECT concat_ws(' ', day, tag, value, attempts, cost_usd, unpriced) FROM modelrig.spend_by_tag"
        ),
        "2026-09-21 customer ac\"me ✓ 1 0.123456789 0"
    );
    assert_eq!(
        line(
            "SELECT concat_ws(' ', name, cap_usd, spent_usd, reserved_usd, left_usd) FROM modelrig.envelope_state"
        ),
        "e 5 1.25 0.5 3.25"
    );
    assert_eq!(
        line("SELECT concat_ws(' ', cost_usd, tags ->> 'customer') FROM modelrig.inferences"),
        "0.123456789 ac\"me ✓"
    );
}

/// PostgreSQL has no place for U+0000 in a text; what it is part of is kept all the same, and so is what came with it.
#[test]
fn a_character_that_no_text_holds_is_replaced() {
    let Some(fresh) = Fresh::new() else { return };
    let store = fresh.open();
    let odd = AttemptRow {
        served_tier: Some("fl\0ex".to_owned()),
        tags: [("a\0".to_owned(), "\0b".to_owned())].into(),
        ..row("a", 1)
    };
    let captured = Capture {
        output: "x\0".to_owned(),
        ..capture(&odd, 1)
    };
    store.record_captured(odd, captured);
    store.record(row("b", 1));
    let reserved = block_on(store.reserve(wanted("e\0", 10, "r", 7)));
    assert_eq!(reserved, Ok(Reserved::Granted));
    store.settle("r", None);
    block_on(store.grade(super::super::Grade {
        id: "g".to_owned(),
        ts_ms: 1,
        of: Graded::Attempt("a-1".to_owned()),
        verdict: Verdict::up().note("\0"),
    }))
    .unwrap();
    assert_eq!(block_on(store.flush()), Ok(()));
    let rows = attempts(&store, "a");
    assert_eq!(rows[0].served_tier.as_deref(), Some("fl\u{fffd}ex"));
    assert_eq!(rows[0].tags["a\u{fffd}"], "\u{fffd}b");
    assert_eq!(attempts(&store, "b"), [row("b", 1)]);
    let captures = block_on(store.captures("summarize")).unwrap();
    assert_eq!(captures[0].output, "x\u{fffd}");
    let state = block_on(store.envelope("e\0", 1_000)).unwrap();
    assert_eq!(state, Some(holds("e\u{fffd}", 10, 7, 0)));
}
