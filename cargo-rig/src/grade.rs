//! `cargo rig grade`: say what an answer was worth.

use rig_runtime::store::{Graded, StoreError, Verdict};

use crate::output::{Exit, Output, Result, Stop};
use crate::place::{Place, block_on};

/// What `cargo rig grade` is told.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The id of a run, or of an attempt (`meta.inference_id`).
    id: String,
    /// The verdict.
    #[arg(value_enum)]
    verdict: UpOrDown,
    /// How good it is, on a scale of your own.
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    score: Option<f64>,
    /// Why. It stays in the database.
    #[arg(long, value_name = "TEXT")]
    note: Option<String>,
    /// Who judges.
    #[arg(long, value_name = "NAME")]
    source: Option<String>,
    #[command(flatten)]
    place: Place,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum UpOrDown {
    /// It is good.
    Up,
    /// It is not.
    Down,
}

/// Stores the verdict.
pub(crate) fn run(arguments: &Arguments, output: &mut Output) -> Result {
    let rig = arguments.place.open()?;
    let verdict = Verdict {
        is_up: matches!(arguments.verdict, UpOrDown::Up),
        score: arguments.score,
        note: arguments.note.clone(),
        source: arguments.source.clone(),
    };
    let id = &arguments.id;
    let of = block_on(async {
        // An id is that of a run or of an attempt, and never of both.
        let run = rig.grade(Graded::Run(id.clone()), verdict.clone()).await;
        match run {
            Ok(()) => Ok("run"),
            Err(StoreError::Unknown { .. }) => {
                let attempt = rig
                    .grade(Graded::Attempt(id.clone()), verdict.clone())
                    .await;
                attempt.map(|()| "attempt")
            }
            Err(error) => Err(error),
        }
    })?;
    let of = of.map_err(|error| {
        Stop::new(error.to_string())
            .help("`cargo rig runs` lists runs, `cargo rig run <id> --json` their attempts")
    })?;
    output.print(&format!("graded {} the {of} {id}\n", verdict.name()))?;
    Ok(Exit::Good)
}
