//! `cargo rig report`: what did it cost, how often did it conform, and what failed?

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use rig_runtime::replay::REPLAY;
use rig_runtime::store::AttemptRow;
use rig_spec::Usd;
use serde_json::{Value, json};

use crate::bakeoff::show::{counted, dollars, milliseconds};
use crate::output::{Exit, FAINT, Output, Result, paint};
use crate::place::{Place, ago, each_row, since};
use crate::runs::{RunOf, is_search};
use crate::stats::{Share, percentile};
use crate::table::Table;

/// What `cargo rig report` is told.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// How far back to look: `90m`, `24h`, `7d`.
    #[arg(long, value_name = "TIME", value_parser = ago, default_value = "7d")]
    since: Duration,
    /// What is told apart: `route`, `model`, or the values of a tag, e.g. `tag:customer`.
    #[arg(long, value_name = "WHAT", value_parser = by, default_value = "route")]
    by: By,
    /// Count replays and bake-offs too.
    #[arg(long)]
    replays: bool,
    /// Print one JSON document.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    place: Place,
}

/// What is told apart.
#[derive(Clone, Debug, PartialEq, Eq)]
enum By {
    /// Runs, by their route.
    Route,
    /// Attempts, by who was asked.
    Model,
    /// Runs, by the value of this tag.
    Tag(String),
}

fn by(text: &str) -> std::result::Result<By, String> {
    match text.split_once(':') {
        Some(("tag", key)) if !key.is_empty() => Ok(By::Tag(key.to_owned())),
        None if text == "route" => Ok(By::Route),
        None if text == "model" => Ok(By::Model),
        _ => Err("`route`, `model`, or `tag:` and a key".to_owned()),
    }
}

/// What the rows of a group add up to.
#[derive(Debug, Default)]
struct Group {
    /// The runs; by model those that asked it.
    runs: BTreeSet<String>,
    attempts: u64,
    /// Of the runs, or by model of the attempts, those that were served.
    served: Share,
    /// Of the same, those with a repair.
    repaired: Share,
    cost: Usd,
    unpriced: u64,
    /// Attempts that may have cost more, since their providers did not report all that they used.
    usage_missing: u64,
    latencies: Vec<u64>,
    failures: BTreeMap<&'static str, u64>,
}

/// The groups, and what is left out.
#[derive(Debug, Default)]
struct Report {
    groups: BTreeMap<String, Group>,
    runs: BTreeMap<String, (String, RunOf)>,
    replayed: u64,
    replays_cost: Usd,
}

impl Report {
    fn add(&mut self, by: &By, with_replays: bool, row: &AttemptRow) {
        if !with_replays && row.tags.contains_key(REPLAY) {
            self.replayed += 1;
            self.replays_cost = self.replays_cost + row.cost;
            return;
        }
        let name = name(by, row);
        let group = self.groups.entry(name.clone()).or_default();
        group.runs.insert(row.run_id.clone());
        group.cost = group.cost + row.cost;
        group.unpriced += u64::from(row.pricing_missing);
        group.usage_missing += u64::from(row.usage_missing);
        if !is_search(row) {
            group.attempts += 1;
            if let Some(failure) = row.failure {
                *group.failures.entry(failure.name()).or_default() += 1;
            }
        }
        if *by == By::Model {
            group.served.count(row.failure.is_none());
            group.repaired.count(row.repaired_by.is_some());
            group.latencies.push(row.latency_ms);
        } else {
            let run = self.runs.entry(row.run_id.clone());
            let (_, run) = run.or_insert_with(|| (name, RunOf::of(row)));
            run.add(row);
        }
    }

    /// Adds up the runs, now that all of their rows are known.
    fn end(&mut self) {
        for (name, run) in std::mem::take(&mut self.runs).into_values() {
            let group = self.groups.entry(name).or_default();
            group.served.count(run.failure().is_none());
            group.repaired.count(run.repaired);
            group.latencies.push(run.latency_ms());
        }
    }
}

fn name(by: &By, row: &AttemptRow) -> String {
    match by {
        By::Route if row.route.is_empty() => "(raw)".to_owned(),
        By::Route => row.route.to_string(),
        By::Model if is_search(row) => "search".to_owned(),
        By::Model => format!("{}/{}", row.provider, row.model),
        By::Tag(key) => row
            .tags
            .get(key)
            .cloned()
            .unwrap_or_else(|| "(none)".to_owned()),
    }
}

/// Prints what the rows since then add up to.
pub(crate) fn run(arguments: &Arguments, output: &mut Output) -> Result {
    let rig = arguments.place.open()?;
    let mut report = Report::default();
    each_row(&rig, since(arguments.since), |row| {
        report.add(&arguments.by, arguments.replays, &row);
    })?;
    report.end();
    if arguments.json {
        output.json(&document(&report))?;
        return Ok(Exit::Good);
    }
    if report.groups.is_empty() {
        output.print("no attempt\n")?;
    } else {
        let width = output.width();
        output.print(&table(&arguments.by, &report).text(width))?;
    }
    if report.replayed > 0 {
        let attempts = counted(
            usize::try_from(report.replayed).unwrap_or(usize::MAX),
            "attempt",
        );
        let cost = dollars(report.replays_cost);
        let left_out = format!("without {attempts} of replays ({cost}); `--replays` counts them");
        output.print(&format!("{}\n", paint(FAINT, left_out)))?;
    }
    Ok(Exit::Good)
}

fn table(by: &By, report: &Report) -> Table {
    let first = match by {
        By::Route => "route",
        By::Model => "model",
        By::Tag(key) => key,
    };
    let heads = [
        first,
        ">runs",
        ">attempts",
        ">served",
        ">repaired",
        ">cost",
        ">p50",
        ">p90",
        ">p99",
        "failures",
    ];
    let mut table = Table::new(&heads);
    for (name, group) in &report.groups {
        let failures = group.failures.iter();
        let failures: Vec<_> = failures
            .map(|(class, count)| format!("{count} {class}"))
            .collect();
        let percent = |share: Share| match share.rate() {
            None => "–".to_owned(),
            Some(rate) => format!("{:.1} %", rate * 100.0),
        };
        let latency = |percent| milliseconds(percentile(&group.latencies, percent));
        table.row([
            name.clone(),
            group.runs.len().to_string(),
            group.attempts.to_string(),
            percent(group.served),
            percent(group.repaired),
            at_least(group.cost, group.unpriced > 0, group.usage_missing > 0),
            latency(50),
            latency(90),
            latency(99),
            failures.join(", "),
        ]);
    }
    table
}

/// Shows a cost. `≥` marks one of which some usage is unknown, `+?` one of which some price is.
pub(crate) fn at_least(cost: Usd, is_unpriced: bool, is_usage_missing: bool) -> String {
    let before = if is_usage_missing { "≥ " } else { "" };
    let after = if is_unpriced { "+?" } else { "" };
    format!("{before}{}{after}", dollars(cost))
}

fn document(report: &Report) -> Value {
    let group = |(name, group): (&String, &Group)| {
        let of = |share: Share| json!({ "hits": share.hits, "of": share.of });
        let latency = |percent| percentile(&group.latencies, percent);
        json!({
            "name": name,
            "runs": group.runs.len(),
            "attempts": group.attempts,
            "served": of(group.served),
            "repaired": of(group.repaired),
            "cost_nanousd": group.cost.as_nanos(),
            "unpriced_attempts": group.unpriced,
            "usage_missing_attempts": group.usage_missing,
            "latency_ms": { "p50": latency(50), "p90": latency(90), "p99": latency(99) },
            "failures": group.failures,
        })
    };
    json!({
        "groups": report.groups.iter().map(group).collect::<Vec<_>>(),
        "replays": { "attempts": report.replayed, "cost_nanousd": report.replays_cost.as_nanos() },
    })
}
