//! What does a route do when a candidate fails?
//!
//! Every candidate fails with every class, one at a time and for good, on the real ladder and in no time: who is asked
//! next, after which wait, and who serves in the end.

use std::fmt;
use std::time::Duration;

use rig_spec::{FailureClass, Route, Usd};
use serde_json::{Map, Value};

use super::block_on;
use super::mock::Mock;
use crate::attempt::name;
use crate::conform;
use crate::error::Error;
use crate::ladder::{self, Job};
use crate::quality::QualityGate;
use crate::render::Bound;
use crate::resolve::{Narrowing, resolve};
use crate::store::AttemptRow;

/// What a route does when a candidate fails. Its `Display` form is a table for people.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Drill {
    /// The route.
    pub route: &'static str,
    /// The route's version.
    pub version: u32,
    /// The most attempts, the longest time and the highest cost of any call, as compiled; `None` where they were not said.
    pub at_most: Option<(u32, Duration, Usd)>,
    /// A run for every candidate and class, in ladder order.
    pub runs: Vec<DrillRun>,
}

/// A run in which one candidate always fails with one class, and the candidates before it are out of the way.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct DrillRun {
    /// The candidate that fails, as `provider/model`.
    pub candidate: String,
    /// What it fails with.
    pub class: FailureClass,
    /// The attempts from that candidate on.
    pub attempts: Vec<DrillAttempt>,
    /// Who served, as `provider/model`, or the class that the call fails with.
    pub end: Result<String, FailureClass>,
}

/// An attempt of a drill.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct DrillAttempt {
    /// Who was asked, as `provider/model`; a search is `search` and its host.
    pub candidate: String,
    /// Whether it was asked to repair the answer before.
    pub is_repair: bool,
    /// How long the ladder waited before it.
    pub wait: Duration,
    /// How long it took: nothing, but for a timeout.
    pub took: Duration,
}

/// The classes that can be drilled: those that a provider or the caller can cause.
const CLASSES: [FailureClass; 7] = [
    FailureClass::ContentInvalid,
    FailureClass::Refusal,
    FailureClass::Timeout,
    FailureClass::QualityRejected,
    FailureClass::CapacityShed,
    FailureClass::Network,
    FailureClass::ConfigAuth,
];

/// Drills a route. The route's module has it ready: `summarize::drill()`.
#[must_use]
pub fn drill(route: &'static Route) -> Drill {
    let names: Vec<_> = route.plan.candidates.iter().map(name).collect();
    let runs = names.iter().enumerate().flat_map(|(at, candidate)| {
        let before = &names[..at];
        CLASSES.map(|class| run(route, before, candidate, class))
    });
    Drill {
        route: route.name,
        version: route.version,
        at_most: None,
        runs: runs.collect(),
    }
}

fn run(route: &'static Route, before: &[String], candidate: &str, class: FailureClass) -> DrillRun {
    let mut mock = Mock::new(route);
    for other in before {
        mock = mock.always_fails(other, FailureClass::ConfigAuth);
    }
    // Only the caller rejects what conforms; everything else is up to the candidate.
    let is_rejected = class == FailureClass::QualityRejected;
    let quality = is_rejected.then(|| {
        let asked = mock.asked();
        let candidate = candidate.to_owned();
        QualityGate::new(move |_: &Value| asked() != candidate)
    });
    if !is_rejected {
        mock = mock.always_fails(candidate, class);
    }
    let job = job(route, quality);
    let result = block_on(ladder::run(mock.parts(), &job));
    let rows = mock.rows();
    let first = rows.iter().position(|row| who(row) == candidate);
    let rows = rows.get(first.unwrap_or(rows.len())..).unwrap_or_default();
    DrillRun {
        candidate: candidate.to_owned(),
        class,
        attempts: attempts(rows),
        end: match result {
            Ok(served) => Ok(format!(
                "{}/{}",
                served.run.meta.provider, served.run.meta.model
            )),
            // What is no failure of the ladder is a fault of the drill.
            Err(Error::Config(_)) => Err(FailureClass::InvariantViolation),
            Err(Error::Failure(failure)) => Err(failure.class),
        },
    }
}

fn job(route: &'static Route, quality: Option<QualityGate>) -> Job {
    let narrowing = Narrowing {
        zero_retention: route.zero_retention,
        ..Narrowing::default()
    };
    let mut input = Map::new();
    let query = route.grounding.as_ref().map(|grounding| grounding.query);
    for template in [route.plan.prompt].into_iter().chain(query) {
        while let Err(variable) = Bound::new(template, &input) {
            input.insert(variable.to_owned(), Value::from("…"));
        }
    }
    let dimensions = route.project.dimensions.iter();
    Job {
        waited: Duration::ZERO,
        route,
        variant: None,
        input,
        eligible: resolve(route, &route.plan, &narrowing),
        zero_retention: route.zero_retention,
        tags: dimensions
            .map(|dimension| (dimension.key.to_owned(), "drill".to_owned()))
            .collect(),
        traceparent: None,
        deadline: None,
        hold: conform::hold::<Value>,
        listener: None,
        caches: Vec::new(),
        quality,
        envelope: None,
    }
}

fn who(row: &AttemptRow) -> String {
    format!("{}/{}", row.provider, row.model)
}

fn attempts(rows: &[AttemptRow]) -> Vec<DrillAttempt> {
    let mut end = None;
    let attempt = |row: &AttemptRow| {
        let wait = row.ts_ms - end.unwrap_or(row.ts_ms);
        end = Some(row.ts_ms + i64::try_from(row.latency_ms).unwrap_or(0));
        DrillAttempt {
            candidate: who(row),
            is_repair: row.repaired_by.is_some(),
            wait: Duration::from_millis(u64::try_from(wait).unwrap_or(0)),
            took: Duration::from_millis(row.latency_ms),
        }
    };
    rows.iter().map(attempt).collect()
}

impl Drill {
    /// Adds the bounds that the compiler found.
    #[must_use]
    pub fn at_most(mut self, attempts: u32, time: Duration, cost: Usd) -> Self {
        self.at_most = Some((attempts, time, cost));
        self
    }
}

impl DrillRun {
    /// Returns how long the run took from the failing candidate on, waits included. One that answers does so at once.
    #[must_use]
    pub fn elapsed(&self) -> Duration {
        let each = self
            .attempts
            .iter()
            .map(|attempt| attempt.wait + attempt.took);
        each.sum()
    }
}

impl fmt::Display for Drill {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "route {}, version {}", self.route, self.version)?;
        if let Some((attempts, time, cost)) = self.at_most {
            writeln!(f, "at most {attempts} attempts, {time:?} and {cost}")?;
        }
        let mut shown = None;
        for run in &self.runs {
            if shown != Some(&run.candidate) {
                shown = Some(&run.candidate);
                writeln!(f, "\n{} always fails with", run.candidate)?;
            }
            writeln!(f, "  {run}")?;
        }
        Ok(())
    }
}

impl fmt::Display for DrillRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:<17}", self.class.name())?;
        let same = |one: &DrillAttempt, other: &DrillAttempt| {
            one.candidate == other.candidate && one.is_repair == other.is_repair
        };
        for (at, group) in self.attempts.chunk_by(same).enumerate() {
            f.write_str(if at == 0 { " " } else { ", then " })?;
            let Some(first) = group.first() else { continue };
            if first.is_repair {
                f.write_str("repair by ")?;
            }
            f.write_str(&first.candidate)?;
            if group.len() > 1 {
                write!(f, " {} times", group.len())?;
            }
            let waits = group.iter().filter(|attempt| !attempt.wait.is_zero());
            let waits: Vec<_> = waits.map(|attempt| format!("{:?}", attempt.wait)).collect();
            if !waits.is_empty() {
                write!(f, " (after {})", waits.join(", "))?;
            }
        }
        match &self.end {
            Ok(_) => f.write_str(", which serves")?,
            Err(class) => write!(f, ", and the call fails with {class}")?,
        }
        match self.elapsed() {
            Duration::ZERO => Ok(()),
            elapsed => write!(f, " after {elapsed:?}"),
        }
    }
}
