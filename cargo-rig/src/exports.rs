//! `cargo rig exports`: what has not been sent yet, and what never will be.

use rig_runtime::store::{ExportState, SetAside};
use serde_json::{Value, json};

use crate::bakeoff::show::counted;
use crate::output::{BAD, Exit, FAINT, GOOD, Output, Result, Stop, WARN, paint};
use crate::place::{Place, block_on, shown};
use crate::table::{Cell, Table};

/// The arguments of `cargo rig exports`.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Print one JSON document.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    place: Place,
}

/// Prints every exporter that has used the store; one that is stopped or has set rows aside is an exit code of 1.
pub(crate) fn run(arguments: &Arguments, output: &mut Output) -> Result {
    let rig = arguments.place.open()?;
    let states = block_on(rig.exports())?.map_err(|error| Stop::new(error.to_string()))?;
    if arguments.json {
        let exporters: Vec<_> = states.iter().map(document).collect();
        output.json(&json!({ "exporters": exporters }))?;
    } else if states.is_empty() {
        output.print("nothing was ever exported\n")?;
    } else {
        let width = output.width();
        output.print(&table(&states).text(width))?;
        for state in &states {
            output.print(&set_aside(state))?;
        }
    }
    let is_well = |state: &ExportState| state.fault.is_none() && state.set_aside == 0;
    let all_well = states.iter().all(is_well);
    Ok(if all_well { Exit::Good } else { Exit::Found })
}

fn table(states: &[ExportState]) -> Table {
    let mut table = Table::new(&["exporter", ">waiting", ">set aside", "last request"]);
    for state in states {
        let last = match (&state.fault, state.fault_since_ms) {
            (Some(fault), Some(since)) => {
                Cell::new(BAD, format!("{fault}, since {} UTC", shown(since)))
            }
            (Some(fault), None) => Cell::new(BAD, fault),
            (None, _) => Cell::new(GOOD, "taken"),
        };
        let aside = state.set_aside.to_string();
        let aside = match state.set_aside {
            0 => aside.into(),
            _ => Cell::new(WARN, aside),
        };
        table.row([
            state.exporter.as_str().into(),
            state.waiting.to_string().into(),
            aside,
            last,
        ]);
    }
    table
}

/// Returns the rows that an exporter has set aside, the newest first.
fn set_aside(state: &ExportState) -> String {
    if state.set_aside == 0 {
        return String::new();
    }
    let rows = counted(
        usize::try_from(state.set_aside).unwrap_or(usize::MAX),
        "row",
    );
    let mut text = format!(
        "\n{rows} set aside by {}, which stay in the database\n",
        state.exporter
    );
    for row in &state.newest_set_aside {
        text += &format!("{}  {}  {}\n", row.id, shown(row.ts_ms), row.reason);
    }
    if state.set_aside > state.newest_set_aside.len() as u64 {
        text += &format!(
            "{}\n",
            paint(FAINT, "older ones are in the table `export_set_aside`")
        );
    }
    text
}

fn document(state: &ExportState) -> Value {
    let row = |row: &SetAside| json!({ "id": row.id, "ts": row.ts_ms, "reason": row.reason });
    json!({
        "exporter": state.exporter,
        "waiting": state.waiting,
        "set_aside": state.set_aside,
        "newest_set_aside": state.newest_set_aside.iter().map(row).collect::<Vec<_>>(),
        "fault": state.fault,
        "fault_since_ms": state.fault_since_ms,
    })
}
