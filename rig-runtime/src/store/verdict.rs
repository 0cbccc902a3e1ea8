//! What do people, or other programs, make of an answer?
//!
//! A verdict is kept beside the rows, and goes nowhere else. What was judged once may be judged again: every verdict stays.

use std::fmt;

use super::AttemptRow;
use crate::run::RunMeta;

/// A judgement of an answer: up or down, and whatever else there is to say.
#[derive(Clone, PartialEq)]
pub struct Verdict {
    /// Whether the answer is good.
    pub is_up: bool,
    /// How good it is, on a scale of the judge's own; finite.
    pub score: Option<f64>,
    /// Why.
    pub note: Option<String>,
    /// Who judges, e.g. `support` or the name of a test.
    pub source: Option<String>,
}

/// What is judged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Graded {
    /// An attempt, by its id.
    Attempt(String),
    /// A run, by its id.
    Run(String),
}

/// A verdict to be stored.
#[derive(Clone, Debug, PartialEq)]
pub struct Grade {
    /// The verdict's id (UUID v7). The same id is stored once.
    pub id: String,
    /// The present, in milliseconds since 1970 (UTC).
    pub ts_ms: i64,
    /// What is judged.
    pub of: Graded,
    /// The verdict.
    pub verdict: Verdict,
}

/// A verdict as it is stored.
#[derive(Clone, Debug, PartialEq)]
pub struct VerdictRow {
    /// The verdict's id (UUID v7).
    pub id: String,
    /// When it was given, in milliseconds since 1970 (UTC).
    pub ts_ms: i64,
    /// The run that it is about.
    pub run_id: String,
    /// The attempt that it is about; `None` where it is about the run.
    pub inference_id: Option<String>,
    /// The verdict.
    pub verdict: Verdict,
}

/// Whose verdicts are read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VerdictsOf {
    /// Those of a run and its attempts, by the run's id.
    Run(String),
    /// Those of a route; that of the raw lane is empty.
    Route(String),
}

impl Verdict {
    /// Returns the verdict that an answer is good.
    #[must_use]
    pub const fn up() -> Self {
        Self {
            is_up: true,
            score: None,
            note: None,
            source: None,
        }
    }

    /// Returns the verdict that an answer is not good.
    #[must_use]
    pub fn down() -> Self {
        Self {
            is_up: false,
            ..Self::up()
        }
    }

    /// Says how good it is, on a scale of the judge's own.
    #[must_use]
    pub fn score(mut self, score: f64) -> Self {
        self.score = Some(score);
        self
    }

    /// Says why.
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.note = Some(note.into());
        self
    }

    /// Says who judges.
    #[must_use]
    pub fn source(mut self, source: impl Into<String>) -> Self {
        self.source = Some(source.into());
        self
    }

    /// Returns `up` or `down`, as it stands in the column `verdict`.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        if self.is_up { "up" } else { "down" }
    }

    /// Returns whether the score, if there is one, is a number.
    pub(super) fn is_finite(&self) -> bool {
        self.score.is_none_or(f64::is_finite)
    }
}

impl Graded {
    /// Returns the id.
    #[must_use]
    pub fn id(&self) -> &str {
        match self {
            Self::Attempt(id) | Self::Run(id) => id,
        }
    }

    /// Returns whether a row is, or is one of, what is judged.
    pub(super) fn takes(&self, row: &AttemptRow) -> bool {
        match self {
            Self::Attempt(id) => row.id == *id,
            Self::Run(id) => row.run_id == *id,
        }
    }

    /// Returns the attempt's id; `None` for a run.
    pub(super) fn into_attempt(self) -> Option<String> {
        match self {
            Self::Attempt(id) => Some(id),
            Self::Run(_) => None,
        }
    }
}

/// The attempt that served.
impl From<&RunMeta> for Graded {
    fn from(meta: &RunMeta) -> Self {
        Self::Attempt(meta.inference_id.clone())
    }
}

impl fmt::Debug for Verdict {
    /// Shows no note, which may quote the answer.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Verdict")
            .field("verdict", &self.name())
            .field("score", &self.score)
            .field("source", &self.source)
            .finish_non_exhaustive()
    }
}
