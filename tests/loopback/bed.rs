//! What does a call over a real connection stand on?

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use rig::testing::MemoryStore;
use rig::transport::BoxFuture;
use rig::{Clock, Failure, Rig};
use tests::routes::{self, FcBaseInput, LadderInput, PatientInput};

use crate::server::{Reply, Seen, Server};

/// What every test calls with; it must show up nowhere but in one header.
pub(crate) const KEY: &str = "k-4f1e9b7c2d5a";

/// A rig over a real connection to a server that answers from a script.
pub(crate) struct Bed {
    pub(crate) server: Server,
    pub(crate) rows: MemoryStore,
    pub(crate) rig: Rig,
    pub(crate) runtime: tokio::runtime::Runtime,
}

/// A clock that runs faster than the machine's, so that nobody waits for a timeout of ten seconds.
struct Fast {
    origin: Instant,
    factor: u32,
}

impl Clock for Fast {
    fn wall(&self) -> Duration {
        SystemTime::now().duration_since(UNIX_EPOCH).unwrap()
    }

    fn monotonic(&self) -> Duration {
        self.origin.elapsed() * self.factor
    }

    fn sleep(&self, duration: Duration) -> BoxFuture<'_, ()> {
        Box::pin(tokio::time::sleep(duration / self.factor))
    }
}

/// Returns a bed whose waits are as long as the routes say.
pub(crate) fn bed(replies: impl IntoIterator<Item = Reply>) -> Bed {
    fast_bed(1, replies)
}

/// Returns a bed whose waits are shorter by a factor.
pub(crate) fn fast_bed(factor: u32, replies: impl IntoIterator<Item = Reply>) -> Bed {
    let server = Server::scripted(replies);
    bed_at(factor, server, None)
}

/// Returns a bed whose providers are at this address, and not where its server is.
pub(crate) fn bed_at(factor: u32, server: Server, address: Option<&str>) -> Bed {
    let rows = MemoryStore::default();
    let mut builder = Rig::builder().ignore_env().store(rows.clone()).clock(Fast {
        origin: Instant::now(),
        factor,
    });
    for provider in [
        "north",
        "south",
        "deepseek",
        "fireworks",
        "openai",
        "anthropic",
        "gemini",
        "relay",
    ] {
        let address = address.map_or_else(|| server.base_url(provider), str::to_owned);
        builder = builder.key(provider, KEY).base_url(provider, address);
    }
    let rig = builder.build().unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    Bed {
        server,
        rows,
        rig,
        runtime,
    }
}

impl Bed {
    pub(crate) fn ladder(&self) -> rig::Result<rig::Run<routes::Reply>> {
        let input = LadderInput {
            question: "Is it?".to_owned(),
        };
        self.runtime
            .block_on(routes::ladder(input).on(&self.rig).run())
    }

    pub(crate) fn patient(&self) -> rig::Result<rig::Run<routes::Reply>> {
        let input = PatientInput {
            question: "Is it?".to_owned(),
        };
        self.runtime
            .block_on(routes::patient(input).on(&self.rig).run())
    }

    /// Calls a route that retries nothing, and returns its failure.
    pub(crate) fn fails(&self) -> Failure {
        let call = routes::fc_base(FcBaseInput { q: "x".to_owned() }).on(&self.rig);
        let error = self.runtime.block_on(call.run()).unwrap_err();
        error.failure().unwrap().clone()
    }

    /// Returns every row in short, e.g. `north/n1 timeout`.
    pub(crate) fn rows(&self) -> Vec<String> {
        let rows = self.rows.rows();
        let short = rows.iter().map(|row| {
            let ended = row.failure.map_or("conformant", |failure| failure.name());
            format!("{}/{} {ended}", row.provider, row.model)
        });
        short.collect()
    }

    /// Asserts that the rows are these, and that as many requests have arrived, each at its row's provider.
    #[track_caller]
    pub(crate) fn has(&self, rows: &[&str]) -> Vec<Seen> {
        assert_eq!(self.rows(), rows);
        let requests = self.server.requests();
        let asked: Vec<_> = requests
            .iter()
            .map(|seen| seen.head.split('/').nth(1).unwrap())
            .collect();
        let recorded: Vec<_> = rows
            .iter()
            .map(|row| row.split('/').next().unwrap())
            .collect();
        assert_eq!(asked, recorded);
        requests
    }
}
