//! How are the runs of a bake-off done?
//!
//! So many at once, capture by capture, each on the ladder. What is under way is on disk before it is paid for, and what
//! came of it before anything else is asked. This is the edge: what a result means is decided in `measure`.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use rig_runtime::replay::{REPLAY_OF, Replay};
use rig_runtime::store::{AttemptRow, Capture, RowFailure};
use rig_runtime::{ConfigError, Error, Rig, Run, Turn};
use rig_spec::{FailureClass, TrialRoute, Usd};
use serde_json::Value;
use tokio::task::JoinSet;

use super::artifact::{Artifact, Attempt, Ended, Line, Pair, Sample};
use super::progress::Progress;
use crate::output::{Result, Stop};
use crate::place::now;

/// What every run of a bake-off needs.
#[derive(Clone)]
pub(crate) struct Bench {
    pub(crate) rig: Rig,
    pub(crate) route: &'static TrialRoute,
    /// What it is; envelopes are named after it.
    pub(crate) kind: &'static str,
    pub(crate) id: String,
    pub(crate) cap: Usd,
}

/// What came of asking.
#[derive(Debug)]
pub(crate) enum Asked {
    /// The run has ended.
    Sample(Sample),
    /// The envelope does not cover the first dispatch: nothing was asked.
    Refused(Pair, String),
    /// Nothing can be asked at all.
    Impossible(Stop),
}

/// How many runs of a variant are under way, and whether they have to be one at a time.
#[derive(Debug, Default)]
struct Lane {
    under_way: usize,
    /// Since what others hold in reserve may be all that is missing.
    one_by_one: bool,
    /// Whether the run that began last has been alone from its beginning to its end.
    is_alone: bool,
}

/// What is left to be asked, and who may be asked next.
struct Queue {
    left: VecDeque<Pair>,
    lanes: BTreeMap<String, Lane>,
}

impl Queue {
    fn new(left: Vec<Pair>) -> Self {
        Self {
            left: left.into(),
            lanes: BTreeMap::new(),
        }
    }

    /// Takes the first run that may begin.
    fn take(&mut self) -> Option<Pair> {
        let may_begin = |pair: &Pair| {
            let lane = self.lanes.get(&pair.variant);
            lane.is_none_or(|lane| !lane.one_by_one || lane.under_way == 0)
        };
        let at = self.left.iter().position(may_begin)?;
        let pair = self.left.remove(at)?;
        let lane = self.lane(&pair.variant);
        lane.under_way += 1;
        lane.is_alone = lane.one_by_one;
        Some(pair)
    }

    /// Notes that a run has ended.
    fn end(&mut self, variant: &str) {
        self.lane(variant).under_way -= 1;
    }

    /// Puts a run back for which there was no money; returns whether it can still become enough: unless it was alone,
    /// others of the variant held something in reserve, which they give back when they end. They may have ended by now.
    fn put_back(&mut self, pair: Pair) -> bool {
        let lane = self.lane(&pair.variant);
        lane.one_by_one = true;
        let can_wait = !lane.is_alone;
        if can_wait {
            self.left.push_front(pair);
        } else {
            self.left.retain(|other| other.variant != pair.variant);
        }
        can_wait
    }

    fn lane(&mut self, variant: &str) -> &mut Lane {
        self.lanes.entry(variant.to_owned()).or_default()
    }
}

/// Does what is left to be done. An interrupt from the terminal lets what is under way end, and begins nothing more.
///
/// # Errors
///
/// Where the artifact cannot be written, or nothing can be asked at all.
pub(crate) async fn work(
    bench: &Bench,
    captures: &BTreeMap<String, Arc<Capture>>,
    artifact: &mut Artifact,
    at_once: usize,
    progress: &Progress,
) -> Result<()> {
    let mut queue = Queue::new(artifact.log.left());
    let mut under_way = JoinSet::new();
    let mut is_over = false;
    loop {
        while !is_over && under_way.len() < at_once {
            let Some(pair) = queue.take() else { break };
            let Some(capture) = captures.get(&pair.capture) else {
                return Err(gone(&pair.capture));
            };
            artifact.add(Line::Started(pair.clone()))?;
            let (bench, capture) = (bench.clone(), Arc::clone(capture));
            under_way.spawn(async move { ask(&bench, pair, &capture).await });
        }
        let ended = tokio::select! {
            ended = under_way.join_next() => ended,
            // Where interrupts cannot be listened for, they end the process, and `--resume` goes on.
            Ok(()) = tokio::signal::ctrl_c() => {
                if is_over {
                    return Err(Stop::new("interrupted").help("`--resume` goes on"));
                }
                is_over = true;
                progress.say("interrupted: what is under way ends, nothing more begins");
                continue;
            }
        };
        let Some(ended) = ended else { return Ok(()) };
        match ended.map_err(|error| Stop::new(format!("a run has ended the wrong way: {error}")))? {
            Asked::Sample(sample) => {
                queue.end(&sample.pair.variant);
                progress.add(&sample);
                artifact.add(Line::Sample(sample))?;
            }
            Asked::Refused(pair, message) => {
                queue.end(&pair.variant);
                let variant = pair.variant.clone();
                artifact.add(Line::Refused(pair.clone()))?;
                if !queue.put_back(pair) {
                    artifact.add(Line::Stopped { variant, message })?;
                }
            }
            Asked::Impossible(stop) => return Err(stop),
        }
    }
}

/// Asks once.
pub(crate) async fn ask(bench: &Bench, pair: Pair, capture: &Capture) -> Asked {
    let began = now();
    let envelope = format!("{}:{}:{}", bench.kind, bench.id, pair.variant);
    let replay = Replay {
        route: bench.route,
        variant: &pair.variant,
        capture,
        id: &bench.id,
        envelope: &envelope,
        cap: bench.cap,
    };
    let result = replay.run(&bench.rig).await;
    let latency_ms = now().saturating_sub(began);
    let run_id = match &result {
        Ok(run) => Some(run.meta.run_id.clone()),
        Err(Error::Failure(failure)) => Some(failure.run_id.clone()),
        Err(_) => None,
    };
    let rows = match &run_id {
        Some(run_id) => bench.rig.attempts(run_id).await,
        None => Ok(Vec::new()),
    };
    let rows = match rows {
        Ok(rows) => rows,
        Err(error) => return Asked::Impossible(Stop::new(error.to_string())),
    };
    let of = |ended, message, output| {
        Asked::Sample(Sample {
            pair: pair.clone(),
            ended,
            run_id: run_id.clone(),
            message,
            latency_ms: u64::try_from(latency_ms).unwrap_or(0),
            attempts: rows.iter().map(attempt).collect(),
            output,
        })
    };
    match result {
        Ok(Run {
            output: Turn::Output(output),
            ..
        }) => of(Ended::Output, None, Some(output)),
        Ok(Run {
            output: Turn::ToolCalls(_),
            ..
        }) => of(Ended::ToolCalls, None, None),
        Err(Error::Failure(failure)) => match failure.class {
            FailureClass::BudgetExhausted if rows.is_empty() => {
                Asked::Refused(pair, failure.message)
            }
            FailureClass::BudgetExhausted => of(Ended::OutOfMoney, Some(failure.message), None),
            // Whoever has no key at all says nothing of its variant.
            FailureClass::ConfigAuth if rows.is_empty() => Asked::Impossible(
                Stop::new(format!("variant `{}`: {}", pair.variant, failure.message))
                    .help(failure.fix_hint()),
            ),
            class => of(
                Ended::Failed(class.name().to_owned()),
                Some(failure.message),
                None,
            ),
        },
        Err(Error::Config(error)) if is_of_the_capture(&error) => {
            of(Ended::Unasked, Some(error.to_string()), None)
        }
        Err(error) => Asked::Impossible(Stop::new(error.to_string())),
    }
}

/// Returns the error for a capture that the store has no more.
pub(crate) fn gone(id: &str) -> Stop {
    Stop::new(format!("the store has no capture `{id}` any more")).help(format!(
        "its rows have the tag `{REPLAY_OF}`; begin a new bake-off"
    ))
}

/// Returns whether another capture could be asked.
fn is_of_the_capture(error: &ConfigError) -> bool {
    matches!(
        error,
        ConfigError::MissingVariable { .. }
            | ConfigError::TooLong { .. }
            | ConfigError::Input { .. }
    )
}

fn attempt(row: &AttemptRow) -> Attempt {
    Attempt {
        id: row.id.clone(),
        provider: row.provider.to_string(),
        model: row.model.to_string(),
        failure_class: row.failure.map(RowFailure::name).map(str::to_owned),
        cost_nanousd: row.cost.as_nanos(),
        pricing_missing: row.pricing_missing,
        latency_ms: row.latency_ms,
        tokens_in: row.tokens_in,
        tokens_out: row.tokens_out,
        repaired_by: row.repaired_by.clone(),
    }
}

/// Returns whether an output is what was captured, as JSON values; `None` where the model wrote more than JSON then.
pub(crate) fn is_as_captured(capture: &Capture, output: &Value) -> Option<bool> {
    let captured: Option<Value> = serde_json::from_str(&capture.output).ok();
    captured.map(|captured| captured == *output)
}

#[cfg(test)]
mod tests {
    use super::super::artifact::tests::pair;
    use super::*;

    #[test]
    fn a_variant_without_money_waits_for_its_own_and_holds_up_nobody() {
        let left = (0..3).flat_map(|capture| [pair("a", capture), pair("b", capture)]);
        let mut queue = Queue::new(left.collect());
        let first: Vec<_> = std::iter::from_fn(|| queue.take()).take(4).collect();
        assert_eq!(
            first,
            [pair("a", 0), pair("b", 0), pair("a", 1), pair("b", 1)]
        );
        // `a` is refused while another of it is under way: it goes back in front, and is asked alone from then on.
        queue.end("a");
        assert!(queue.put_back(pair("a", 1)));
        assert_eq!(queue.take(), Some(pair("b", 2)));
        assert_eq!(queue.take(), None);
        queue.end("a");
        assert_eq!(queue.take(), Some(pair("a", 1)));
        assert_eq!(queue.take(), None, "one at a time");
        // Refused alone: nothing more of it is asked.
        queue.end("a");
        assert!(!queue.put_back(pair("a", 1)));
        assert_eq!(queue.take(), None);
    }

    #[test]
    fn who_held_the_money_may_have_ended_before_the_refusal_is_heard() {
        let mut queue = Queue::new((0..3).map(|capture| pair("a", capture)).collect());
        assert_eq!(queue.take(), Some(pair("a", 0)));
        assert_eq!(queue.take(), Some(pair("a", 1)));
        queue.end("a");
        queue.end("a");
        assert!(queue.put_back(pair("a", 1)));
        assert_eq!(queue.take(), Some(pair("a", 1)));
        assert_eq!(queue.take(), None);
        queue.end("a");
        assert_eq!(queue.take(), Some(pair("a", 2)));
    }
}
