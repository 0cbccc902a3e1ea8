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
    /// How the store answers.
    pub(super) store: Keeper,
}

/// How the store answers whoever waits for it.
#[derive(Clone, Debug, Default)]
pub(super) struct Keeper {
    /// Before a dispatch, as long as its queue is full.
    pub(super) room: Answers,
    /// Each reservation, in order; those beyond are answered at once.
    pub(super) reserves: Vec<Answers>,
    /// At the end of the run.
    pub(super) flush: Answers,
}

/// When the store answers.
#[derive(Clone, Copy, Debug)]
pub(super) enum Answers {
    /// After this many milliseconds.
    After(u64),
    /// With an error, after this many milliseconds.
    Fails(u64),
    Never,
}

impl Default for Answers {
    fn default() -> Self {
        Self::After(0)
    }
}

impl Answers {
    /// How long somebody waits who waits for this many milliseconds at most, and whether there is an answer by then.
    pub(super) fn within(self, limit: u64) -> (u64, bool) {
        match self {
            Self::After(ms) | Self::Fails(ms) => (ms.min(limit), ms <= limit),
            Self::Never => (limit, false),
        }
    }
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
    /// How long the caller's quality gate takes, in milliseconds; one that is there at once if nothing.
    pub(super) gate_ms: Option<u64>,
}

/// What one dispatch meets.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reply {
    pub(super) what: What,
    /// How long the transport holds the request back, in milliseconds; it says nothing of when it sends if 0. One whose caller
    /// goes away before the head is never sent then.
    pub(super) held_ms: u64,
    /// The time from there to the head, or to the fault, in milliseconds.
    pub(super) head_ms: u64,
    /// The time from the head to the last byte, or to the first content of a stream, in milliseconds.
    pub(super) body_ms: u64,
    /// The pieces that a streamed text comes in, at most 3.
    pub(super) parts: usize,
    /// The silences of a stream, in milliseconds: before its finish reason, its second and its third piece.
    pub(super) pauses: [u64; 3],
    /// The time from a stream's finish reason to its end mark, in milliseconds.
    pub(super) tail_ms: u64,
    /// Whether the connection breaks then, so that no end mark comes.
    pub(super) breaks: bool,
    /// Whether a keep-alive comes in the middle of each silence.
    pub(super) keeps_alive: bool,
    /// What the provider says of the tokens.
    pub(super) usage: Usage,
    /// How often it says that it has searched the web itself, at most 5; the chat dialect has no words for it.
    pub(super) searches: u64,
    /// The tier that it says has served.
    pub(super) tier: Option<&'static str>,
}

/// What a provider says of the tokens that an answer used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Usage {
    Untold,
    /// A few.
    Told,
    /// As many as its request can have used: one for each byte, and as many as it may answer with.
    Most,
    /// More than any request can have used.
    Absurd,
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
    /// No connection, so that nothing was sent.
    Unsent,
    /// The caller goes away this many milliseconds after the dispatch.
    LeavesBeforeHead { after: u64 },
    /// The caller goes away this many milliseconds after the head.
    LeavesBeforeEnd { after: u64 },
}

impl Usage {
    /// Input and output, of an answer to a request of so many bytes; the dispatch's number sets the input of a few apart.
    pub(super) fn tokens(self, dispatch: usize, bytes: u64, output: u64) -> Option<(u64, u64)> {
        match self {
            Self::Untold => None,
            Self::Told => Some((100 + dispatch as u64, 20)),
            Self::Most => Some((bytes, output)),
            Self::Absurd => Some((90_000_000, 90_000_000)),
        }
    }
}

/// The most output tokens of an answer on a route.
pub(super) fn output(route: &Route) -> u64 {
    // Without a limit in the route the drawn answers still have one.
    (route.policy.sampling.max_output_tokens).map_or(5_000, u64::from)
}

impl Reply {
    /// A reply that comes at once and whole, and says its usage.
    pub(super) const fn now(what: What) -> Self {
        Self {
            what,
            held_ms: 0,
            head_ms: 0,
            body_ms: 0,
            parts: 1,
            pauses: [0; 3],
            tail_ms: 0,
            breaks: false,
            keeps_alive: false,
            usage: Usage::Told,
            searches: 0,
            tier: None,
        }
    }

    /// The pieces of content that it comes in where it is streamed.
    pub(super) fn contents(self) -> usize {
        match self.what {
            What::Refusal => 0,
            What::Tool | What::BadTool => 1,
            _ => self.parts,
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

    /// Whether it is an answer with the status of a failure.
    pub(super) fn is_failure(self) -> bool {
        matches!(self, Self::Status { .. } | Self::Stale)
    }

    /// Whether it is an answer of a model.
    pub(super) fn is_answer(self) -> bool {
        !self.is_failure() && !matches!(self, Self::Fault | Self::Unsent)
    }
}
