//! The store that a command is about, and the time.
//!
//! The commands that read what happened open the same store as the calls do, by the same location.

use std::future::Future;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use clap::builder::{PathBufValueParser, TypedValueParser};
use rig_runtime::Rig;
use rig_runtime::store::{AttemptRow, Page, StoreLocation};

use crate::output::{Result, Stop};

/// Which telemetry database a command is about.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Place {
    /// The telemetry database: a file, or the URL of a PostgreSQL database.
    #[arg(
        long,
        value_name = "FILE|URL",
        env = "MODELRIG_TELEMETRY_DB",
        hide_env_values = true,
        default_value = ".modelrig/telemetry.db",
        value_parser = PathBufValueParser::new().map(StoreLocation::from)
    )]
    db: StoreLocation,
}

/// How many rows are read at once.
const PAGE: u32 = 2_000;

impl Place {
    /// Opens the store; keys and base URLs are the environment's. A file that is not there is not made.
    pub(crate) fn open(&self) -> Result<Rig> {
        if self.db.file().is_some_and(|file| !file.is_file()) {
            let shown = &self.db;
            return Err(
                Stop::new(format!("there is no telemetry database at `{shown}`")).help(
                    "go where your program runs, or name it with `--db` or `MODELRIG_TELEMETRY_DB`",
                ),
            );
        }
        let rig = Rig::builder().telemetry_db(self.db.clone()).build();
        rig.map_err(|error| Stop::new(error.to_string()))
    }

    /// Returns whether the database is a file, and not that of a server.
    pub(crate) fn is_file(&self) -> bool {
        self.db.file().is_some()
    }

    /// Returns a directory beside the database; beside that of a file here, if it is the database of a server.
    pub(crate) fn beside(&self, folder: &str) -> PathBuf {
        let above = match self.db.file() {
            Some(file) => file.parent().unwrap_or(Path::new("")),
            None => Path::new(".modelrig"),
        };
        above.join(folder)
    }
}

/// Runs a future to its end.
pub(crate) fn block_on<T>(future: impl Future<Output = T>) -> Result<T> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let runtime = runtime.map_err(|error| Stop::new(format!("no runtime: {error}")))?;
    Ok(runtime.block_on(future))
}

/// Hands every row since a time (milliseconds since 1970, UTC) to `each`.
pub(crate) fn each_row(rig: &Rig, since_ms: i64, mut each: impl FnMut(AttemptRow)) -> Result<()> {
    block_on(async {
        let mut next = Some(Page::first(since_ms..i64::MAX, PAGE));
        while let Some(page) = next {
            let rows = rig.page(page.clone()).await;
            let rows = rows.map_err(|error| Stop::new(error.to_string()))?;
            next = page.next(&rows);
            rows.into_iter().for_each(&mut each);
        }
        Ok(())
    })?
}

/// Returns the present, in milliseconds since 1970 (UTC).
#[expect(
    clippy::disallowed_methods,
    reason = "the commands tell the time here and nowhere else"
)]
pub(crate) fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| {
        i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
    })
}

/// Returns a time as people read it, in UTC.
pub(crate) fn shown(ms: i64) -> String {
    let since = Duration::from_millis(u64::try_from(ms).unwrap_or(0));
    let text = humantime::format_rfc3339_seconds(UNIX_EPOCH + since).to_string();
    text.replace('T', " ").trim_end_matches('Z').to_owned()
}

/// Reads e.g. `7d`, `90m` and returns when that was.
pub(crate) fn since(ago: Duration) -> i64 {
    now().saturating_sub(i64::try_from(ago.as_millis()).unwrap_or(i64::MAX))
}

/// Reads a length of time: `7d`, `24h`, `90m`.
pub(crate) fn ago(text: &str) -> std::result::Result<Duration, String> {
    humantime::parse_duration(text).map_err(|error| error.to_string())
}
