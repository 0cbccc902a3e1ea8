//! `cargo rig runs`: which calls were made, and how did they end?

use std::collections::BTreeMap;
use std::time::Duration;

use rig_runtime::store::AttemptRow;
use rig_spec::Usd;
use serde_json::{Value, json};

use crate::bakeoff::show::{dollars, milliseconds};
use crate::output::{BAD, Exit, GOOD, Output, Result};
use crate::place::{Place, ago, each_row, shown, since};
use crate::table::{Cell, Table};

/// What `cargo rig runs` is told.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Only runs of this route.
    route: Option<String>,
    /// How far back to look: `90m`, `24h`, `7d`.
    #[arg(long, value_name = "TIME", value_parser = ago, default_value = "7d")]
    since: Duration,
    /// How many runs, the newest.
    #[arg(long, value_name = "COUNT", default_value_t = 20)]
    last: usize,
    /// Only runs that ended without an answer.
    #[arg(long)]
    failed: bool,
    /// Print one JSON document.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    place: Place,
}

/// What the rows of a run say together.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RunOf {
    pub(crate) run_id: String,
    pub(crate) route: String,
    pub(crate) lane: String,
    pub(crate) variant: Option<String>,
    pub(crate) tags: BTreeMap<String, String>,
    /// When the first attempt was dispatched, in milliseconds since 1970 (UTC).
    pub(crate) began_ms: i64,
    /// When the last attempt ended.
    pub(crate) ended_ms: i64,
    /// Without searches.
    pub(crate) attempts: u64,
    pub(crate) cost: Usd,
    pub(crate) unpriced: bool,
    /// Whether the repair rung was taken.
    pub(crate) repaired: bool,
    /// The attempt's place in the run, who was asked, and what it ended with; `None` served.
    last: (u32, String, Option<&'static str>),
}

impl RunOf {
    /// Returns the run of a row.
    pub(crate) fn of(row: &AttemptRow) -> Self {
        Self {
            run_id: row.run_id.clone(),
            route: row.route.to_string(),
            lane: row.lane.to_string(),
            variant: row.served_variant.as_deref().map(str::to_owned),
            tags: row.tags.clone(),
            began_ms: row.ts_ms,
            ended_ms: row.ts_ms,
            attempts: 0,
            cost: Usd::ZERO,
            unpriced: false,
            repaired: false,
            last: (0, String::new(), Some("search")),
        }
    }

    /// Adds a row.
    pub(crate) fn add(&mut self, row: &AttemptRow) {
        let latency = i64::try_from(row.latency_ms).unwrap_or(i64::MAX);
        self.began_ms = self.began_ms.min(row.ts_ms);
        self.ended_ms = self.ended_ms.max(row.ts_ms.saturating_add(latency));
        self.cost = self.cost + row.cost;
        self.unpriced |= row.pricing_missing;
        self.repaired |= row.repaired_by.is_some();
        if is_search(row) {
            return;
        }
        self.attempts += 1;
        if row.attempt >= self.last.0 {
            let who = format!("{}/{}", row.provider, row.model);
            self.last = (row.attempt, who, row.failure.map(|failure| failure.name()));
        }
    }

    /// Returns who was asked last.
    pub(crate) fn who(&self) -> &str {
        &self.last.1
    }

    /// Returns why there is no answer; `None` where there is one.
    pub(crate) fn failure(&self) -> Option<&'static str> {
        self.last.2
    }

    /// Returns how long it took, waits included, in milliseconds.
    pub(crate) fn latency_ms(&self) -> u64 {
        u64::try_from(self.ended_ms - self.began_ms).unwrap_or(0)
    }

    /// Returns the route as it is shown; the raw lane has none.
    pub(crate) fn route_shown(&self) -> &str {
        if self.route.is_empty() {
            "(raw)"
        } else {
            &self.route
        }
    }

    fn document(&self) -> Value {
        json!({
            "run_id": self.run_id,
            "route": self.route,
            "lane": self.lane,
            "variant": self.variant,
            "tags": self.tags,
            "began_ms": self.began_ms,
            "latency_ms": self.latency_ms(),
            "attempts": self.attempts,
            "last": self.who(),
            "failure_class": self.failure(),
            "repaired": self.repaired,
            "cost_nanousd": self.cost.as_nanos(),
            "pricing_missing": self.unpriced,
        })
    }
}

/// Returns whether a row is that of a grounding search, which answers nothing.
pub(crate) fn is_search(row: &AttemptRow) -> bool {
    row.provider == "search"
}

/// Prints the newest runs, the newest first.
pub(crate) fn run(arguments: &Arguments, output: &mut Output) -> Result {
    let rig = arguments.place.open()?;
    let mut runs: BTreeMap<String, RunOf> = BTreeMap::new();
    each_row(&rig, since(arguments.since), |row| {
        let run = runs
            .entry(row.run_id.clone())
            .or_insert_with(|| RunOf::of(&row));
        run.add(&row);
    })?;
    let mut runs: Vec<_> = runs.into_values().collect();
    runs.retain(|run| {
        let is_wanted = arguments
            .route
            .as_ref()
            .is_none_or(|route| *route == run.route);
        is_wanted && (!arguments.failed || run.failure().is_some())
    });
    runs.sort_by(|a, b| (b.began_ms, &b.run_id).cmp(&(a.began_ms, &a.run_id)));
    runs.truncate(arguments.last);
    if arguments.json {
        let runs: Vec<_> = runs.iter().map(RunOf::document).collect();
        output.json(&json!({ "runs": runs }))?;
    } else if runs.is_empty() {
        output.print("no run\n")?;
    } else {
        let width = output.width();
        output.print(&table(&runs).text(width))?;
    }
    Ok(Exit::Good)
}

fn table(runs: &[RunOf]) -> Table {
    let heads = [
        "run",
        "began (UTC)",
        "route",
        "ended",
        ">attempts",
        ">cost",
        ">latency",
    ];
    let mut table = Table::new(&heads);
    for run in runs {
        let variant = run.variant.as_ref().map(|name| format!(" ({name})"));
        let ended = match run.failure() {
            None => Cell::new(GOOD, format!("served {}", run.who())),
            Some(class) => Cell::new(BAD, format!("{class} {}", run.who())),
        };
        table.row([
            run.run_id.as_str().into(),
            shown(run.began_ms).into(),
            format!("{}{}", run.route_shown(), variant.unwrap_or_default()).into(),
            ended,
            run.attempts.to_string().into(),
            dollars(run.cost).into(),
            milliseconds(Some(run.latency_ms())).into(),
        ]);
    }
    table
}
