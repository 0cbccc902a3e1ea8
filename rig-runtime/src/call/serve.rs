//! How does a call become a run, and what passed the gate an answer?

use rig_spec::FailureClass;

use super::Answer;
use crate::error::{ConfigError, Error, Failure, Result};
use crate::ladder::{self, Job, Served};
use crate::rig::{self, Rig};
use crate::run::Run;
use crate::turn::Turn;

/// Runs a job on a rig, or on the process default.
pub(super) async fn serve(rig: Option<Rig>, job: Result<Job, ConfigError>) -> Result<Served> {
    let mut job = job?;
    let rig = match rig {
        Some(rig) => rig,
        None => {
            let (rig, waited) = rig::process_default(job.time()).await?;
            job.waited = waited;
            rig
        }
    };
    ladder::run(rig.parts(), &job).await
}

/// Turns what passed the gate into the answer of the call.
pub(super) fn typed<T: Answer>(served: Served) -> Result<Run<T>> {
    let Run { output, meta } = served.run;
    let turn = match output {
        Turn::Output(held) => held.into().map(Turn::Output),
        Turn::ToolCalls(calls) => Some(Turn::ToolCalls(calls)),
    };
    match turn.and_then(T::of) {
        Some(output) => Ok(Run { output, meta }),
        None => Err(Error::Failure(Box::new(Failure {
            class: FailureClass::InvariantViolation,
            message: format!(
                "the output conforms to the schema, but is no `{}`",
                std::any::type_name::<T>()
            ),
            provider: meta.provider,
            model: meta.model,
            route: meta.route,
            run_id: meta.run_id,
            history: served.history,
            envelope: None,
        }))),
    }
}
