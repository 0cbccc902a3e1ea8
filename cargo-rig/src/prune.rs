//! `cargo rig prune`: deletes old rows and captures.

use std::time::Duration;

use rig_runtime::store::{Prune, Pruned};
use serde_json::json;

use crate::bakeoff::show::counted;
use crate::output::{Exit, Output, Result, Stop, WARN, paint};
use crate::place::{Place, ago, block_on};

/// The arguments of `cargo rig prune`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Without `--captures`, rows go with their captures and verdicts. All conditions hold together."
)]
pub(crate) struct Arguments {
    /// Only what was dispatched longer ago than this: `12h`, `30d`.
    #[arg(long, value_name = "TIME", value_parser = ago)]
    older_than: Option<Duration>,
    /// Only what is of this route.
    #[arg(long, value_name = "NAME")]
    route: Option<String>,
    /// Only what has this tag.
    #[arg(long, value_name = "KEY=VALUE", value_parser = tag)]
    tag: Option<(String, String)>,
    /// Only what has this id: that of an attempt, or of a run.
    #[arg(long, value_name = "ID")]
    id: Option<String>,
    /// Everything, without any other condition.
    #[arg(long, conflicts_with_all = ["older_than", "route", "tag", "id"])]
    all: bool,
    /// Delete captures only: prompts and outputs. Rows and verdicts stay.
    #[arg(long)]
    captures: bool,
    /// Delete also rows that an exporter has not sent yet. They never arrive then.
    #[arg(long, conflicts_with = "captures")]
    unexported: bool,
    /// Delete nothing, and count what would be deleted.
    #[arg(long)]
    dry_run: bool,
    /// Print one JSON document.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    place: Place,
}

fn tag(text: &str) -> std::result::Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key.to_owned(), value.to_owned())),
        _ => Err("a key, `=`, and a value".to_owned()),
    }
}

/// Deletes, and prints how much.
pub(crate) fn run(arguments: &Arguments, output: &mut Output) -> Result {
    let prune = wanted(arguments)?;
    let rig = arguments.place.open()?;
    let pruned = block_on(rig.prune(prune))?.map_err(|error| Stop::new(error.to_string()))?;
    if arguments.json {
        output.json(&json!({
            "dry_run": arguments.dry_run,
            "rows": pruned.rows,
            "captures": pruned.captures,
            "verdicts": pruned.verdicts,
            "kept_unexported": pruned.kept_unexported,
            "leaves_traces": pruned.leaves_traces,
        }))?;
    } else {
        output.print(&text(arguments, &pruned))?;
    }
    Ok(Exit::Good)
}

/// Returns what is to be deleted.
fn wanted(arguments: &Arguments) -> Result<Prune> {
    let Arguments {
        older_than,
        route,
        tag,
        id,
        ..
    } = arguments;
    let is_bound = older_than.is_some() || route.is_some() || tag.is_some() || id.is_some();
    if !is_bound && !arguments.all {
        let message = "nothing says what is to be deleted";
        return Err(Stop::new(message).help(
            "`--older-than 30d`, `--route`, `--tag` or `--id`; `--all` deletes everything; `--dry-run` only counts",
        ));
    }
    let mut prune = if arguments.captures {
        Prune::captures()
    } else {
        Prune::rows()
    };
    if let Some(age) = older_than {
        prune = prune.older_than(*age);
    }
    if let Some(route) = route {
        prune = prune.route(route);
    }
    if let Some((key, value)) = tag {
        prune = prune.tag(key, value);
    }
    if let Some(id) = id {
        prune = prune.id(id);
    }
    if arguments.unexported {
        prune = prune.unexported();
    }
    if arguments.dry_run {
        prune = prune.dry_run();
    }
    Ok(prune)
}

fn text(arguments: &Arguments, pruned: &Pruned) -> String {
    let of = |count: u64, noun: &str| counted(usize::try_from(count).unwrap_or(usize::MAX), noun);
    let captures = of(pruned.captures, "capture");
    let what = match arguments.captures {
        true => captures,
        false => {
            let (rows, verdicts) = (of(pruned.rows, "row"), of(pruned.verdicts, "verdict"));
            format!("{rows}, {captures} and {verdicts}")
        }
    };
    let done = if arguments.dry_run {
        "would delete"
    } else {
        "deleted"
    };
    let mut text = format!("{done} {what}\n");
    if pruned.kept_unexported > 0 {
        let rows = of(pruned.kept_unexported, "row");
        let kept =
            format!("kept {rows} that an exporter has not sent yet; `--unexported` deletes them");
        text += &format!("{}\n", paint(WARN, kept));
    }
    if pruned.leaves_traces {
        let traces = match arguments.place.is_file() {
            true => {
                "a reader keeps the log in use: what was deleted is in the file `…-wal` until you prune again"
            }
            false => {
                "what was deleted is out of every query's reach; the server overwrites it when it vacuums"
            }
        };
        text += &format!("{}\n", paint(WARN, traces));
    }
    text
}
