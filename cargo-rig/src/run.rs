//! `cargo rig run <id>`: what did the ladder do in one run?
//!
//! A waterfall: every attempt in its place in time, with what it ended with. No prompt and no output is in a row, so none
//! is shown.

use rig_runtime::Rig;
use rig_runtime::store::{AttemptRow, VerdictRow, VerdictsOf};
use serde_json::{Value, json};

use crate::bakeoff::show::{counted, dollars, milliseconds};
use crate::output::{BAD, Exit, FAINT, GOOD, Output, Result, STRONG, Stop, WARN, paint};
use crate::place::{Place, block_on, each_row, shown};
use crate::runs::{RunOf, is_search};

/// What `cargo rig run` is told.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The run's id; `last` is the newest run.
    id: String,
    /// Print one JSON document.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    place: Place,
}

/// Prints one run.
pub(crate) fn run(arguments: &Arguments, output: &mut Output) -> Result {
    let rig = arguments.place.open()?;
    let id = match arguments.id.as_str() {
        "last" => newest(&rig)?,
        id => id.to_owned(),
    };
    let (rows, verdicts) = block_on(async {
        let rows = rig.attempts(&id).await?;
        Ok((rows, rig.verdicts(VerdictsOf::Run(id.clone())).await?))
    })?
    .map_err(|error: rig_runtime::store::StoreError| Stop::new(error.to_string()))?;
    let Some(first) = rows.first() else {
        return Err(
            Stop::new(format!("there is no run `{id}`")).help("`cargo rig runs` lists them")
        );
    };
    let mut of = RunOf::of(first);
    rows.iter().for_each(|row| of.add(row));
    if arguments.json {
        output.json(&document(&id, &rows, &verdicts))?;
    } else {
        let width = output.width();
        output.print(&waterfall(&of, &rows, &verdicts, width))?;
    }
    Ok(Exit::Good)
}

fn newest(rig: &Rig) -> Result<String> {
    let mut newest = None;
    each_row(rig, 0, |row| {
        if newest.as_ref().is_none_or(|(ts_ms, _)| row.ts_ms >= *ts_ms) {
            newest = Some((row.ts_ms, row.run_id));
        }
    })?;
    let newest = newest.map(|(_, run_id)| run_id);
    newest.ok_or_else(|| Stop::new("there is no run yet"))
}

/// A line of the waterfall, but for its bar.
struct Step {
    number: String,
    who: String,
    ended: String,
    cost: String,
    latency: String,
    is_good: bool,
}

/// The narrowest bar worth drawing.
const BAR: usize = 12;

/// Returns the picture of a run.
pub(crate) fn waterfall(
    run: &RunOf,
    rows: &[AttemptRow],
    verdicts: &[VerdictRow],
    width: usize,
) -> String {
    let mut text = format!("{} {}\n", paint(STRONG, "run"), run.run_id);
    let first = &rows[0];
    let variant = run.variant.as_ref().map(|name| format!(", variant {name}"));
    let version = match run.route.as_str() {
        "" => String::new(),
        _ => format!(" v{}", first.route_version),
    };
    text += &format!(
        "{}{version}{}, began {} UTC\n",
        run.route_shown(),
        variant.unwrap_or_default(),
        shown(run.began_ms)
    );
    let tags = run.tags.iter().map(|(key, value)| format!("{key}={value}"));
    let tags = tags.collect::<Vec<_>>().join(" ");
    if !tags.is_empty() {
        text += &format!("tags {tags}\n");
    }
    text.push('\n');
    let steps: Vec<_> = rows.iter().map(step).collect();
    let widest = |part: fn(&Step) -> &str| {
        steps
            .iter()
            .map(|step| part(step).chars().count())
            .max()
            .unwrap_or(0)
    };
    let columns = [
        widest(|step| &step.number),
        widest(|step| &step.who),
        widest(|step| &step.ended),
        widest(|step| &step.cost),
        widest(|step| &step.latency),
    ];
    let taken = columns.iter().sum::<usize>() + 2 * columns.len();
    // Where a line has no room for its bar the bar has a line of its own.
    let (indent, room) = match width.checked_sub(taken).filter(|room| *room >= BAR) {
        Some(room) => (None, room),
        None => (
            Some(columns[0] + 2),
            width.saturating_sub(columns[0] + 2).max(BAR),
        ),
    };
    for (step, row) in steps.iter().zip(rows) {
        let bar = bar(run, row, room);
        let style = if step.is_good { GOOD } else { BAD };
        let pad = |text: &str, to: usize| " ".repeat(to.saturating_sub(text.chars().count()));
        let line = format!(
            "{}{}  {}{}  {}{}  {}{}  {}{}",
            pad(&step.number, columns[0]),
            step.number,
            step.who,
            pad(&step.who, columns[1]),
            paint(style, &step.ended),
            pad(&step.ended, columns[2]),
            pad(&step.cost, columns[3]),
            step.cost,
            pad(&step.latency, columns[4]),
            step.latency,
        );
        let bar = paint(style, bar);
        match indent {
            None => text += &format!("{line}  {bar}\n"),
            Some(indent) => text += &format!("{line}\n{}{bar}\n", " ".repeat(indent)),
        }
    }
    text.push('\n');
    text += &total(run);
    for verdict in verdicts {
        text += &judged(verdict, rows);
    }
    text
}

fn step(row: &AttemptRow) -> Step {
    let failure = row.failure.map(|failure| failure.name());
    let ended = match (failure, &row.repaired_by) {
        (None, _) if is_search(row) => "searched".to_owned(),
        (None, None) => "served".to_owned(),
        (None, Some(_)) => "served (repair)".to_owned(),
        (Some(class), None) => class.to_owned(),
        (Some(class), Some(_)) => format!("{class} (repair)"),
    };
    Step {
        number: row.attempt.to_string(),
        who: format!("{}/{}", row.provider, row.model)
            .trim_end_matches('/')
            .to_owned(),
        ended,
        cost: if row.pricing_missing {
            "unpriced".to_owned()
        } else {
            dollars(row.cost)
        },
        latency: milliseconds(Some(row.latency_ms)),
        is_good: failure.is_none(),
    }
}

/// Draws an attempt's part of the run's time.
fn bar(run: &RunOf, row: &AttemptRow, room: usize) -> String {
    let whole = run.latency_ms().max(1);
    let scale = |ms: u64| {
        let at = u128::from(ms) * room as u128 / u128::from(whole);
        usize::try_from(at).unwrap_or(room).min(room)
    };
    let from = u64::try_from(row.ts_ms - run.began_ms).unwrap_or(0);
    let start = scale(from).min(room - 1);
    let end = scale(from.saturating_add(row.latency_ms)).max(start + 1);
    format!("{}{}", "·".repeat(start), "█".repeat(end - start))
}

fn total(run: &RunOf) -> String {
    let ended = match run.failure() {
        None => format!("{} by {}", paint(GOOD, "served"), run.who()),
        Some(class) => format!("{} at {}", paint(BAD, class), run.who()),
    };
    let attempts = counted(
        usize::try_from(run.attempts).unwrap_or(usize::MAX),
        "attempt",
    );
    let unpriced = if run.unpriced {
        ", and what has no price"
    } else {
        ""
    };
    format!(
        "{ended}: {attempts}, {}{unpriced}, {}\n",
        dollars(run.cost),
        milliseconds(Some(run.latency_ms()))
    )
}

fn judged(row: &VerdictRow, rows: &[AttemptRow]) -> String {
    let verdict = &row.verdict;
    let style = if verdict.is_up { GOOD } else { WARN };
    let mut attempts = rows.iter();
    let of = match &row.inference_id {
        None => "the run".to_owned(),
        Some(id) => match attempts.find(|attempt| attempt.id == *id) {
            Some(attempt) => format!("attempt {}", attempt.attempt),
            None => "an attempt".to_owned(),
        },
    };
    let mut text = format!("graded {} for {of}", paint(style, verdict.name()));
    if let Some(score) = verdict.score {
        text += &format!(", score {score}");
    }
    if let Some(source) = &verdict.source {
        text += &format!(", by {source}");
    }
    if let Some(note) = &verdict.note {
        text += &format!(": {}", paint(FAINT, note.escape_debug()));
    }
    text + "\n"
}

fn document(id: &str, rows: &[AttemptRow], verdicts: &[VerdictRow]) -> Value {
    let attempt = |row: &AttemptRow| {
        json!({
            "id": row.id,
            "attempt": row.attempt,
            "ts_ms": row.ts_ms,
            "route": row.route,
            "route_version": row.route_version,
            "provider": row.provider,
            "model": row.model,
            "served_tier": row.served_tier,
            "tokens_in": row.tokens_in,
            "tokens_out": row.tokens_out,
            "tokens_cached": row.tokens_cached,
            "cost_nanousd": row.cost.as_nanos(),
            "pricing_missing": row.pricing_missing,
            "latency_ms": row.latency_ms,
            "ttfb_ms": row.ttfb_ms,
            "failure_class": row.failure.map(|failure| failure.name()),
            "tags": row.tags,
            "served_variant": row.served_variant,
            "repaired_by": row.repaired_by,
            "lane": row.lane,
        })
    };
    let verdict = |row: &VerdictRow| {
        json!({
            "id": row.id,
            "ts_ms": row.ts_ms,
            "inference_id": row.inference_id,
            "verdict": row.verdict.name(),
            "score": row.verdict.score,
            "note": row.verdict.note,
            "source": row.verdict.source,
        })
    };
    json!({
        "run_id": id,
        "attempts": rows.iter().map(attempt).collect::<Vec<_>>(),
        "verdicts": verdicts.iter().map(verdict).collect::<Vec<_>>(),
    })
}
