//! What does a store hold, read past it with SQL?

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use rig::Usd;
use rig::store::sqlite::SqliteStore;
use rusqlite::Connection;

/// Where the rows are.
#[derive(Clone)]
pub(crate) enum Place {
    /// In a SQLite file.
    File(PathBuf),
    /// In a database, by its URL.
    #[cfg(feature = "postgres")]
    Server(String),
}

/// What was found there.
pub(crate) struct Found {
    /// The rows of each run: the attempt and its failure class, in the order of the attempts.
    runs: BTreeMap<String, Vec<(i64, Option<String>)>>,
    /// How many rows there are.
    pub(crate) rows: usize,
    /// What they cost, in nano-dollars.
    cost: i64,
    pub(crate) envelopes: Vec<Account>,
}

/// An envelope, and what its charges add up to; in nano-dollars.
#[derive(Clone, Debug)]
pub(crate) struct Account {
    name: String,
    cap: i64,
    spent: i64,
    reserved: i64,
    charged: i64,
    under_way: i64,
}

const ROWS: &str = "SELECT run_id, attempt, failure_class FROM inferences ORDER BY run_id, attempt";

const COST: &str = "SELECT CAST(coalesce(sum(cost_nanousd), 0) AS BIGINT) FROM inferences";

const ENVELOPES: &str = "
    SELECT name, cap_nanousd, spent_nanousd, envelopes.reserved_nanousd,
           CAST(coalesce(sum(charge_nanousd), 0) AS BIGINT),
           CAST(coalesce(sum(charges.reserved_nanousd) FILTER (WHERE charge_nanousd IS NULL), 0) AS BIGINT)
    FROM envelopes LEFT JOIN charges ON envelope = name
    GROUP BY 1, 2, 3, 4";

type Row = (String, i64, Option<String>);

impl Place {
    /// Returns what a rig is told of it.
    pub(crate) fn told(&self) -> String {
        match self {
            Self::File(path) => path.display().to_string(),
            #[cfg(feature = "postgres")]
            Self::Server(url) => url.clone(),
        }
    }

    /// Opens it as the next process would, makes sure that it is whole, and reads all of it.
    pub(crate) fn open(&self) -> Found {
        drop(self.store());
        if let Self::File(path) = self {
            let connection = Connection::open(path).unwrap();
            let check = connection.query_row("PRAGMA integrity_check", [], |row| row.get(0));
            assert_eq!(check, Ok("ok".to_owned()));
        }
        self.look()
    }

    /// Reads all of it at one moment, whoever writes meanwhile.
    pub(crate) fn look(&self) -> Found {
        match self {
            Self::File(path) => of_file(path),
            #[cfg(feature = "postgres")]
            Self::Server(url) => of_server(url),
        }
    }

    /// Has every reservation lapse, and looks again.
    pub(crate) fn lapse(&self, found: &Found) -> Found {
        let store = self.store();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap();
        for envelope in &found.envelopes {
            let state = store.envelope(&envelope.name, i64::MAX);
            runtime.block_on(state).unwrap();
        }
        self.look()
    }
}

impl Place {
    fn store(&self) -> Box<dyn rig::Store> {
        match self {
            Self::File(path) => Box::new(SqliteStore::open(path).unwrap()),
            #[cfg(feature = "postgres")]
            Self::Server(url) => Box::new(rig::store::postgres::PostgresStore::open(url).unwrap()),
        }
    }
}

#[cfg(feature = "postgres")]
fn of_server(url: &str) -> Found {
    let mut client = postgres::Client::connect(url, postgres::NoTls).unwrap();
    client.batch_execute("SET search_path = modelrig").unwrap();
    let moment = client.build_transaction();
    let moment = moment.isolation_level(postgres::IsolationLevel::RepeatableRead);
    let mut moment = moment.start().unwrap();
    let rows = moment.query(ROWS, &[]).unwrap();
    let rows = rows.iter().map(|row| (row.get(0), row.get(1), row.get(2)));
    let rows = rows.collect();
    let cost = moment.query_one(COST, &[]).unwrap().get(0);
    let envelopes = moment.query(ENVELOPES, &[]).unwrap();
    let account = |row: &postgres::Row| Account {
        name: row.get(0),
        cap: row.get(1),
        spent: row.get(2),
        reserved: row.get(3),
        charged: row.get(4),
        under_way: row.get(5),
    };
    Found::of(rows, cost, envelopes.iter().map(account).collect())
}

fn of_file(path: &Path) -> Found {
    let mut connection = Connection::open(path).unwrap();
    let moment = connection.transaction().unwrap();
    let rows = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?));
    let rows: Vec<Row> = all(&moment, ROWS, rows);
    let cost = moment.query_row(COST, [], |row| row.get(0)).unwrap();
    let envelopes = all(&moment, ENVELOPES, |row| {
        Ok(Account {
            name: row.get(0)?,
            cap: row.get(1)?,
            spent: row.get(2)?,
            reserved: row.get(3)?,
            charged: row.get(4)?,
            under_way: row.get(5)?,
        })
    });
    Found::of(rows, cost, envelopes)
}

fn all<T>(
    connection: &Connection,
    select: &str,
    read: impl FnMut(&rusqlite::Row<'_>) -> rusqlite::Result<T>,
) -> Vec<T> {
    let mut select = connection.prepare(select).unwrap();
    let rows = select.query_map([], read).unwrap();
    rows.map(Result::unwrap).collect()
}

impl Found {
    fn of(rows: Vec<Row>, cost: i64, envelopes: Vec<Account>) -> Self {
        let mut found = Self {
            runs: BTreeMap::new(),
            rows: rows.len(),
            cost,
            envelopes,
        };
        for (run, attempt, class) in rows {
            found.runs.entry(run).or_default().push((attempt, class));
        }
        found
    }

    /// Asserts that every acknowledged run is there whole, and that of the others no row is there twice or
    /// without those before it.
    pub(crate) fn keeps(&self, acknowledged: &BTreeMap<String, u32>) {
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
            let expected: Vec<_> = (1..=i64::try_from(found.len()).unwrap()).collect();
            assert_eq!(attempts, expected, "{run}");
            let failed = &found[..found.len() - 1];
            assert!(
                failed.iter().all(|(_, class)| class.is_some()),
                "{run}: {found:?}"
            );
        }
    }

    /// Asserts that every envelope is what its charges add up to and within its cap, and that together they cover what
    /// the rows say and what servers had answered before, in nano-dollars (E2).
    pub(crate) fn covers(&self, answered: u64, cap: Usd) {
        let mut taken = 0;
        for held in &self.envelopes {
            assert_eq!(
                (held.spent, held.reserved),
                (held.charged, held.under_way),
                "{held:?}"
            );
            assert!(held.spent + held.reserved <= held.cap, "{held:?}");
            assert_eq!(held.cap, i64::try_from(cap.as_nanos()).unwrap(), "{held:?}");
            taken += held.spent + held.reserved;
        }
        let answered = i64::try_from(answered).unwrap();
        assert!(taken >= answered, "{taken} taken, {answered} answered");
        assert!(taken >= self.cost, "{taken} taken, rows of {}", self.cost);
    }

    /// Returns what is spent, and what is reserved, in nano-dollars.
    pub(crate) fn sums(&self) -> (i64, i64) {
        let held = self.envelopes.iter();
        held.fold((0, 0), |(spent, reserved), held| {
            (spent + held.spent, reserved + held.reserved)
        })
    }

    /// Returns how many envelopes hold too little for one more call.
    pub(crate) fn full(&self, call: i64) -> usize {
        let left = |held: &&Account| held.cap - held.spent - held.reserved < call;
        self.envelopes.iter().filter(left).count()
    }

    /// Returns the runs of which there are rows.
    pub(crate) fn run_ids(&self) -> BTreeSet<&String> {
        self.runs.keys().collect()
    }
}
