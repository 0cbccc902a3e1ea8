//! What is one case of the simulation? A route, a call of it, and a world that answers.

use rig::__private::Route;

/// A call of a route in a scripted world.
pub(super) struct Case {
    /// The number that it was made from; 0 where it was made from none.
    pub(super) seed: u64,
    /// The compiled route.
    pub(super) route: &'static Route,
    /// What its file declares on trial: providers and models.
    pub(super) trials: &'static [(&'static str, &'static str)],
    /// The providers whose keys are set; `search` for that of the search.
    pub(super) keys: Vec<&'static str>,
    /// What the caller asks for.
    pub(super) options: Options,
    /// What each dispatch meets, in order. The caller goes away at the one after the last.
    pub(super) script: Vec<Reply>,
    /// The wait before a retry, from 1, in which the caller goes away.
    pub(super) leaves_in_wait: Option<usize>,
}

/// The options of a call.
#[derive(Clone, Debug, Default)]
pub(super) struct Options {
    /// Whether the call is made under the route's first variant.
    pub(super) variant: bool,
    pub(super) zero_retention: bool,
    pub(super) only: Option<Vec<&'static str>>,
    pub(super) ignore: Vec<&'static str>,
    /// The price ceiling, in nano-dollars per million tokens.
    pub(super) max_price: Option<u64>,
    pub(super) deadline_ms: Option<u64>,
    /// Whether the caller names a place in the cache of `echo`.
    pub(super) handle: bool,
    /// Whether the caller listens while the run goes on.
    pub(super) streams: bool,
    /// The cap of the envelope that pays, in nano-dollars.
    pub(super) cap: Option<u64>,
}

/// What one dispatch meets.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reply {
    pub(super) what: What,
    /// The time to the head, or to the fault, in milliseconds.
    pub(super) head_ms: u64,
    /// The time from the head to the last byte, in milliseconds.
    pub(super) body_ms: u64,
    /// Whether the provider says how many tokens an answer used.
    pub(super) usage: bool,
}

/// The kinds of replies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    /// A conformant answer.
    Good,
    /// A conformant answer that the caller's quality gate rejects.
    Unliked,
    /// JSON that misses the schema.
    Bad,
    /// Words without JSON.
    Prose,
    /// An answer cut at the token limit; it parses all the same if `whole`.
    Cut { whole: bool },
    /// The provider's filter, or the model, declines.
    Refusal,
    /// A call of a tool that routes with tools declare.
    Tool,
    /// A call of that tool with arguments that it does not take.
    BadTool,
    /// An HTTP error.
    Status {
        status: u16,
        code: &'static str,
        /// `Retry-After`, in seconds.
        asks: Option<u64>,
    },
    /// The place in the cache that the caller named is no more; told whether one was named or not.
    Stale,
    /// No response at all.
    Fault,
    /// The caller goes away this many milliseconds after the dispatch.
    LeavesBeforeHead { after: u64 },
    /// The caller goes away this many milliseconds after the head.
    LeavesBeforeEnd { after: u64 },
}

/// What the searches and answers of every case say of the tokens: the dispatch's number sets the input apart.
pub(super) fn tokens(dispatch: usize) -> (u64, u64) {
    (100 + dispatch as u64, 20)
}

impl Reply {
    /// A reply that comes at once and says its usage.
    pub(super) const fn now(what: What) -> Self {
        Self {
            what,
            head_ms: 0,
            body_ms: 0,
            usage: true,
        }
    }
}

impl What {
    /// Whether the caller goes away.
    pub(super) fn leaves(self) -> bool {
        matches!(
            self,
            Self::LeavesBeforeHead { .. } | Self::LeavesBeforeEnd { .. }
        )
    }
}
