//! `cargo rig replay`: what would this route answer today to what it was asked then?

use std::path::PathBuf;

use rig_runtime::replay::DEFAULT;
use rig_runtime::store::Capture;
use rig_spec::Usd;
use serde_json::{Value, json};

use crate::bakeoff::artifact::{Ended, Pair, Sample};
use crate::bakeoff::show::milliseconds;
use crate::bakeoff::work::{Asked, Bench, ask, gone, is_as_captured};
use crate::bakeoff::{dollars, fresh_id, known, load, newest, show};
use crate::output::{BAD, Exit, GOOD, Output, Result, Stop};
use crate::place::{Place, block_on, shown};
use crate::table::{Cell, Table};

/// What `cargo rig replay` is told.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The route whose captures are replayed.
    route: String,
    /// The variant: `default` is the route itself, `provider/model` one declared candidate alone.
    #[arg(long, value_name = "NAME", default_value = DEFAULT)]
    variant: String,
    /// How many captures, the newest.
    #[arg(long, value_name = "COUNT", default_value_t = 1)]
    last: usize,
    /// This capture; can be given more than once.
    #[arg(long = "capture", value_name = "ID", conflicts_with = "last")]
    captures: Vec<String>,
    /// The most that all of it may cost.
    #[arg(long, value_name = "USD", value_parser = dollars, default_value = "1")]
    budget_usd: Usd,
    /// Print the outputs too.
    #[arg(long)]
    outputs: bool,
    /// The folder of the routes [default: `routes` here or in the nearest folder above].
    #[arg(long, value_name = "PATH")]
    routes: Option<PathBuf>,
    /// Print one JSON document.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    place: Place,
}

/// A capture and what came of asking it again; the second is why nothing was asked.
type Replayed = (Capture, std::result::Result<Sample, String>);

/// Replays one after the other, and prints; what is not conformant is an exit code of 1.
pub(crate) fn run(arguments: &Arguments, output: &mut Output) -> Result {
    let route = load(arguments.routes.as_deref(), &arguments.route)?;
    known(route, std::slice::from_ref(&arguments.variant))?;
    let bench = Bench {
        rig: arguments.place.open()?,
        route,
        kind: "replay",
        id: fresh_id(),
        cap: arguments.budget_usd,
    };
    let replayed = block_on(replay(arguments, &bench))??;
    if arguments.json {
        output.json(&document(arguments, &bench, &replayed))?;
    } else {
        let width = output.width();
        output.print(&table(&replayed).text(width))?;
        if arguments.outputs {
            for (capture, result) in &replayed {
                let text = result
                    .as_ref()
                    .ok()
                    .and_then(|sample| sample.output.as_ref());
                let text = text.map_or_else(|| "no output".to_owned(), |text| format!("{text:#}"));
                output.print(&format!("\n{}\n{text}\n", capture.id))?;
            }
        }
    }
    let is_good = |result: &std::result::Result<Sample, String>| {
        let sample = result.as_ref();
        sample.is_ok_and(|sample| matches!(sample.ended, Ended::Output | Ended::ToolCalls))
    };
    let all_good = replayed.iter().all(|(_, result)| is_good(result));
    Ok(if all_good { Exit::Good } else { Exit::Found })
}

async fn replay(arguments: &Arguments, bench: &Bench) -> Result<Vec<Replayed>> {
    let all = bench.rig.captures(bench.route.name()).await;
    let all = all.map_err(|error| Stop::new(error.to_string()))?;
    let chosen = if arguments.captures.is_empty() {
        newest(bench.route.name(), &all, arguments.last)?.to_vec()
    } else {
        let find = |id: &String| all.iter().find(|capture| capture.id == *id).cloned();
        let chosen = arguments
            .captures
            .iter()
            .map(|id| find(id).ok_or_else(|| gone(id)));
        chosen.collect::<Result<_>>()?
    };
    let mut replayed = Vec::new();
    for capture in chosen {
        let pair = Pair {
            variant: arguments.variant.clone(),
            capture: capture.id.clone(),
        };
        let result = match ask(bench, pair, &capture).await {
            Asked::Sample(sample) => Ok(sample),
            Asked::Refused(_, message) => Err(message),
            Asked::Impossible(stop) => return Err(stop),
        };
        replayed.push((capture, result));
    }
    Ok(replayed)
}

fn table(replayed: &[Replayed]) -> Table {
    let mut table = Table::new(&["capture", "of", "ended", "as captured", ">cost", ">latency"]);
    for (capture, result) in replayed {
        let (id, of) = (capture.id.as_str().into(), shown(capture.ts_ms).into());
        let (ended, same, cost, latency) = match result {
            Ok(sample) => (
                ended(sample),
                same(capture, sample),
                show::dollars(sample.cost()),
                milliseconds(Some(sample.latency_ms)),
            ),
            Err(message) => (Cell::new(BAD, message), "", String::new(), String::new()),
        };
        table.row([id, of, ended, same.into(), cost.into(), latency.into()]);
    }
    table
}

fn same(capture: &Capture, sample: &Sample) -> &'static str {
    let output = sample.output.as_ref();
    match output.map(|output| is_as_captured(capture, output)) {
        None => "",
        Some(None) => "–",
        Some(Some(true)) => "yes",
        Some(Some(false)) => "no",
    }
}

fn ended(sample: &Sample) -> Cell {
    let message = sample.message.as_deref().unwrap_or_default();
    match &sample.ended {
        Ended::Output => Cell::new(GOOD, "conformant"),
        Ended::ToolCalls => "calls tools".into(),
        Ended::Failed(class) => Cell::new(BAD, format!("{class}: {message}")),
        Ended::OutOfMoney | Ended::Unasked => Cell::new(BAD, message),
    }
}

fn document(arguments: &Arguments, bench: &Bench, replayed: &[Replayed]) -> Value {
    let one = |(capture, result): &Replayed| match result {
        Ok(sample) => json!({
            "sample": sample,
            "as_captured": sample.output.as_ref().and_then(|output| is_as_captured(capture, output)),
        }),
        Err(message) => json!({ "capture": capture.id, "refused": message }),
    };
    json!({
        "id": bench.id,
        "route": bench.route.name(),
        "route_version": bench.route.version(),
        "variant": arguments.variant,
        "replays": replayed.iter().map(one).collect::<Vec<_>>(),
    })
}
