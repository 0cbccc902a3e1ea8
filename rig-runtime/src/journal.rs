//! What has happened in this run so far?

use rig_spec::{Candidate, FailureClass, Usd};

use crate::attempt::{self, Ask, Outcome};
use crate::deadline::Left;
use crate::error::{Error, Failure};
use crate::run::AttemptCounts;
use crate::store::EnvelopeState;

/// The record of one run: what its result, or its failure, tells of it.
pub(crate) struct Journal {
    run_id: String,
    attempts: AttemptCounts,
    cost: Usd,
    history: Vec<String>,
    last: Option<Last>,
}

/// The failure that the run fails with if nothing else follows.
struct Last {
    class: FailureClass,
    message: String,
    candidate: &'static Candidate,
    envelope: Option<EnvelopeState>,
}

impl Journal {
    /// Returns the empty record of a run.
    pub(crate) fn new(run_id: String) -> Self {
        Self {
            run_id,
            attempts: AttemptCounts::default(),
            cost: Usd::ZERO,
            history: Vec::new(),
            last: None,
        }
    }

    /// Returns the run's id.
    pub(crate) fn run_id(&self) -> &str {
        &self.run_id
    }

    /// Returns how many attempts ended with what.
    pub(crate) fn attempts(&self) -> AttemptCounts {
        self.attempts
    }

    /// Returns what all attempts cost so far.
    pub(crate) fn cost(&self) -> Usd {
        self.cost
    }

    /// Returns what happened, in one line.
    pub(crate) fn history(&self) -> String {
        self.history.join(", ")
    }

    /// Counts a dispatch and returns its number, from 1.
    pub(crate) fn dispatch(&mut self) -> u32 {
        self.attempts.dispatch()
    }

    /// Adds the cost of an attempt.
    pub(crate) fn spend(&mut self, cost: Usd) {
        self.cost = self.cost + cost;
    }

    /// Notes what asking a candidate ended with.
    pub(crate) fn note(&mut self, ask: &Ask, outcome: &Outcome) {
        let candidate = ask.candidate;
        if let Outcome::Late(left) = outcome {
            return self.late(candidate, *left);
        }
        let who = attempt::name(candidate);
        let role = if ask.is_repair { " (repair)" } else { "" };
        let Some((class, message)) = outcome.failure() else {
            let end = match outcome {
                Outcome::ToolCalls(_) => "calls tools",
                Outcome::Found(_) => "searched for",
                _ => "conformant",
            };
            self.history.push(format!("{who}{role} {end}"));
            return;
        };
        if let Outcome::Keyless { .. } = outcome {
            self.history.push(format!("{who}{role} has no key"));
            // A repair that could not be asked for does not hide why it was wanted.
            if ask.is_repair {
                return;
            }
        } else if let Outcome::Unfunded(_) = outcome {
            self.history.push(format!("{who}{role} {class}"));
        } else {
            self.history.push(format!("{who}{role} {class}"));
            self.attempts.fail(class);
        }
        let message = message.into_owned();
        self.last = Some(Last {
            class,
            message,
            candidate,
            envelope: match outcome {
                Outcome::Unfunded(unfunded) => unfunded.state().cloned(),
                _ => None,
            },
        });
    }

    /// Notes that the run's deadline did not let `candidate` be asked, or be asked again.
    pub(crate) fn late(&mut self, candidate: &'static Candidate, left: Left) {
        const OUT_OF_TIME: &str = "out of time";
        if self.history.last().is_none_or(|last| last != OUT_OF_TIME) {
            self.history.push(OUT_OF_TIME.to_owned());
        }
        let asked = self.last.as_ref().map(|last| last.candidate);
        self.last = Some(Last {
            class: FailureClass::Timeout,
            message: left.message(),
            candidate: asked.unwrap_or(candidate),
            envelope: None,
        });
    }

    /// Returns the run's last failure as its error.
    pub(crate) fn into_error(self, route: &'static str, first: &'static Candidate) -> Error {
        let history = self.history();
        let last = self.last.unwrap_or_else(|| Last {
            class: FailureClass::InvariantViolation,
            message: "all candidates exhausted, and nothing recorded".to_owned(),
            candidate: first,
            envelope: None,
        });
        Error::Failure(Box::new(Failure {
            class: last.class,
            message: last.message,
            provider: last.candidate.provider.name,
            model: last.candidate.model.into(),
            route,
            run_id: self.run_id,
            history,
            envelope: last.envelope,
        }))
    }
}
