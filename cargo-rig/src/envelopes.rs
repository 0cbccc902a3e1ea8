//! `cargo rig envelopes`: what is spent, and what is left?

use anstyle::Style;
use serde_json::json;

use crate::bakeoff::show::dollars;
use crate::output::{BAD, Exit, Output, Result, Stop};
use crate::place::{Place, block_on};
use crate::table::{Cell, Table};

/// What `cargo rig envelopes` is told.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Only those whose name begins so.
    #[arg(default_value = "")]
    prefix: String,
    /// Print one JSON document.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    place: Place,
}

/// Prints every envelope.
pub(crate) fn run(arguments: &Arguments, output: &mut Output) -> Result {
    let rig = arguments.place.open()?;
    let all = block_on(rig.envelopes())?.map_err(|error| Stop::new(error.to_string()))?;
    let kept: Vec<_> = all
        .iter()
        .filter(|one| one.name.starts_with(&arguments.prefix))
        .collect();
    if arguments.json {
        let one = |state: &&rig_runtime::store::EnvelopeState| {
            json!({
                "name": state.name,
                "cap_nanousd": state.cap.as_nanos(),
                "spent_nanousd": state.spent.as_nanos(),
                "reserved_nanousd": state.reserved.as_nanos(),
                "left_nanousd": state.left().as_nanos(),
            })
        };
        output.json(&json!({ "envelopes": kept.iter().map(one).collect::<Vec<_>>() }))?;
        return Ok(Exit::Good);
    }
    if kept.is_empty() {
        output.print("no envelope was opened\n")?;
        return Ok(Exit::Good);
    }
    let mut table = Table::new(&["envelope", ">cap", ">spent", ">reserved", ">left"]);
    for state in kept {
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
    let width = output.width();
    output.print(&table.text(width))?;
    Ok(Exit::Good)
}
