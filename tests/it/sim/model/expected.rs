//! What is compared with what has come of a case?

use rig::__private::{Candidate, Capability, Dialect, Enforcement};
use rig::FailureClass;

use super::meet::Silence;

/// A provider and a model.
pub(in crate::sim) type Place = (&'static str, &'static str);

/// What has to come of a case.
#[derive(Debug)]
pub(in crate::sim) struct Expected {
    pub(in crate::sim) rows: Vec<Row>,
    /// The waits before retries, in milliseconds: at least and at most.
    pub(in crate::sim) waits: Vec<(u64, u64)>,
    pub(in crate::sim) end: End,
    /// What ended streams before their time.
    pub(in crate::sim) silences: Vec<Silence>,
}

/// The facts of a run that the model takes from the run itself: the contract leaves them open, or they are chance.
#[derive(Default)]
pub(in crate::sim) struct Observed {
    /// The waits before retries as they were, since how far jitter lengthens one is chance.
    pub(in crate::sim) backoffs: Vec<u64>,
    /// What was to be reserved for the dispatches, since the contract does not say how much that is.
    pub(in crate::sim) amounts: Vec<u64>,
    /// Which of them the store has made, where other runs spend from the envelope as well.
    pub(in crate::sim) grants: Option<Vec<bool>>,
    /// The length of each request.
    pub(in crate::sim) bytes: Vec<u64>,
}

/// A row, and of its request whether it states the schema.
#[derive(Clone, Debug, Default, PartialEq)]
pub(in crate::sim) struct Row {
    pub(in crate::sim) place: Place,
    /// Milliseconds from the run's start to the dispatch.
    pub(in crate::sim) at: u64,
    /// The class, `cancelled`, or nothing for what serves.
    pub(in crate::sim) end: Option<&'static str>,
    pub(in crate::sim) repair: bool,
    /// Input and output.
    pub(in crate::sim) tokens: (Option<u64>, Option<u64>),
    /// How often the provider has searched the web itself, where it was asked to.
    pub(in crate::sim) searches: Option<u64>,
    /// The name of the tier that served, as the provider reports it.
    pub(in crate::sim) tier: Option<&'static str>,
    /// In nano-dollars.
    pub(in crate::sim) cost: u64,
    pub(in crate::sim) unpriced: bool,
    /// Whether the provider may have billed an unknown usage.
    pub(in crate::sim) missing: bool,
    /// What its envelope is charged, in nano-dollars.
    pub(in crate::sim) charge: Option<u64>,
    pub(in crate::sim) head: Option<u64>,
    pub(in crate::sim) took: u64,
    /// Whether the prompt states the schema; nothing where the contract leaves it open.
    pub(in crate::sim) coached: Option<bool>,
}

/// How a run ends.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::sim) enum End {
    Served {
        tools: bool,
    },
    Failed {
        class: FailureClass,
        place: Place,
        /// Words of the message.
        says: &'static str,
    },
    NobodyEligible,
    CallerLeft,
}

impl Row {
    /// The row of an attempt that is about to be dispatched.
    pub(super) fn of(candidate: &Candidate, was_invalid: bool) -> Self {
        let is_native = matches!(candidate.enforcement, Enforcement::Native(_));
        let cites = candidate.provider.dialect == Dialect::AnthropicMessages
            && candidate.capabilities.has(Capability::GroundedNative);
        Self {
            place: place(candidate),
            unpriced: candidate.price.is_none(),
            // L15. The messages dialect takes no schema beside citations.
            coached: (!is_native || was_invalid || !cites).then_some(!is_native || was_invalid),
            ..Self::default()
        }
    }
}

/// Where a candidate's attempts go.
pub(super) fn place(candidate: &Candidate) -> Place {
    (candidate.provider.name, candidate.model)
}
