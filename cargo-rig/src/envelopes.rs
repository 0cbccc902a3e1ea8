//! `cargo rig envelopes`: what envelopes hold, and what each run took from one.

use anstyle::Style;
use rig_runtime::Rig;
use rig_runtime::store::{ChargeRow, EnvelopeState};
use rig_spec::Usd;
use serde_json::{Value, json};

use crate::bakeoff::show::{counted, dollars};
use crate::output::{BAD, Exit, FAINT, Output, Result, Stop, paint};
use crate::place::{Place, block_on};
use crate::report::at_least;
use crate::table::{Cell, Table};

mod charges;

use charges::{RunCharges, by_run};

/// The arguments of `cargo rig envelopes`.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// An envelope, to list what each run took from it; or the beginning of some names.
    #[arg(default_value = "", hide_default_value = true)]
    name: String,
    /// Print one JSON document.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    place: Place,
}

/// Prints every envelope, or one with its charges.
pub(crate) fn run(arguments: &Arguments, output: &mut Output) -> Result {
    let rig = arguments.place.open()?;
    let all = block_on(rig.envelopes())?.map_err(|error| Stop::new(error.to_string()))?;
    if let Some(state) = all.iter().find(|one| one.name == arguments.name) {
        return one(&rig, state, arguments.json, output);
    }
    let kept: Vec<_> = all
        .iter()
        .filter(|one| one.name.starts_with(&arguments.name))
        .collect();
    if arguments.json {
        let kept: Vec<_> = kept.into_iter().map(document).collect();
        output.json(&json!({ "envelopes": kept }))?;
        return Ok(Exit::Good);
    }
    if kept.is_empty() {
        let none = match arguments.name.as_str() {
            "" => "no envelope was opened\n".to_owned(),
            name => format!("no envelope has a name that begins with `{name}`\n"),
        };
        output.print(&none)?;
        return Ok(Exit::Good);
    }
    let width = output.width();
    output.print(&table(kept).text(width))?;
    Ok(Exit::Good)
}

fn table<'a>(states: impl IntoIterator<Item = &'a EnvelopeState>) -> Table {
    let mut table = Table::new(&["envelope", ">cap", ">spent", ">reserved", ">left"]);
    for state in states {
        let is_spent = state.left().as_nanos() == 0;
        let style = if is_spent { BAD } else { Style::new() };
        table.row([
            state.name.as_str().into(),
            dollars(state.cap).into(),
            dollars(state.spent).into(),
            dollars(state.reserved).into(),
            Cell::new(style, dollars(state.left())),
        ]);
    }
    table
}

/// Prints an envelope and what each run took from it.
fn one(rig: &Rig, state: &EnvelopeState, is_json: bool, output: &mut Output) -> Result {
    let charges = block_on(rig.charges(&state.name))?;
    let charges = charges.map_err(|error| Stop::new(error.to_string()))?;
    let runs = by_run(&charges);
    if is_json {
        let mut whole = document(state);
        whole["runs"] = runs.iter().map(run_document).collect();
        output.json(&whole)?;
        return Ok(Exit::Good);
    }
    let width = output.width();
    output.print(&table([state]).text(width))?;
    if runs.is_empty() {
        return Ok(Exit::Good);
    }
    let mut table = Table::new(&["run", "route", ">requests", ">charged", ">cost"]);
    for run in &runs {
        table.row([
            run.run_id.to_owned(),
            run.route.to_owned(),
            run.charges.len().to_string(),
            dollars(run.charged()),
            at_least(run.cost(), run.is_unpriced(), run.is_usage_missing()),
        ]);
    }
    output.print(&format!("\n{}", table.text(width)))?;
    let charged: Usd = runs.iter().map(RunCharges::charged).sum();
    let cost: Usd = runs.iter().map(RunCharges::cost).sum();
    let (charged, cost) = (dollars(charged), dollars(cost));
    output.print(&format!("\ncharged {charged}, cost of the rows {cost}\n"))?;
    for (reason, differences) in charges::differences(&charges) {
        let requests = counted(differences.requests, "request");
        let (more, less) = (differences.more, differences.less);
        let line = match (more, less) {
            (more, Usd::ZERO) => format!("+{} {requests}: {reason}", dollars(more)),
            (_, less) => format!("-{} {requests}: {reason}", dollars(less)),
        };
        output.print(&format!("  {}\n", paint(FAINT, line)))?;
    }
    Ok(Exit::Good)
}

fn document(state: &EnvelopeState) -> Value {
    json!({
        "name": state.name,
        "cap_nanousd": state.cap.as_nanos(),
        "spent_nanousd": state.spent.as_nanos(),
        "reserved_nanousd": state.reserved.as_nanos(),
        "left_nanousd": state.left().as_nanos(),
    })
}

fn run_document(run: &RunCharges<'_>) -> Value {
    let charge = |charge: &&ChargeRow| {
        json!({
            "id": charge.id,
            "reserved_nanousd": charge.reserved.as_nanos(),
            "charged_nanousd": charge.charged.map(Usd::as_nanos),
            "cost_nanousd": charge.row.as_ref().map(|row| row.cost.as_nanos()),
            "difference": charges::reason(charge).map(|reason| reason.name()),
        })
    };
    json!({
        "run_id": run.run_id,
        "route": run.route,
        "charged_nanousd": run.charged().as_nanos(),
        "cost_nanousd": run.cost().as_nanos(),
        "charges": run.charges.iter().map(charge).collect::<Vec<_>>(),
    })
}
