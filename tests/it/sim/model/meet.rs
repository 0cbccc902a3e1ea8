//! What does a dispatch look like from outside? The contract's L12 and L18, and the silences of a stream.

use crate::sim::case::{Reply, What};

/// How long the body of a failure, or the end of an answer that has said how it ended, is waited for, in milliseconds, as
/// `docs/streaming.md` says.
const LINGER: u64 = 1_500;

/// How long a dispatch may take, in milliseconds.
#[derive(Clone, Copy)]
pub(super) struct Limit {
    /// The attempt's timeout, or what the run has left.
    pub(super) time: u64,
    /// Whether it is a search, of whose failure nothing but the head is read.
    pub(super) is_search: bool,
    /// Whether the answer is heard while it arrives.
    pub(super) streams: bool,
    /// From the dispatch to the first content.
    pub(super) first: Option<u64>,
    /// From content to content, and to the end.
    pub(super) idle: Option<u64>,
}

impl Limit {
    /// The longest silence once it is known what an answer is.
    fn linger(self) -> u64 {
        self.idle.map_or(LINGER, |idle| idle.min(LINGER))
    }
}

/// What a dispatch under such a limit looks like.
#[derive(Default)]
pub(super) struct Met {
    pub(super) head: Option<u64>,
    pub(super) took: u64,
    pub(super) in_time: bool,
    pub(super) caller_left: bool,
    /// Whether the request may have been sent.
    pub(super) was_sent: bool,
    /// How far a stream was heard.
    pub(super) heard: Heard,
    /// Whether the end mark of an answer came.
    pub(super) has_mark: bool,
    /// The silence that was too long, where that ended it.
    pub(super) silence: Option<Silence>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub(super) enum Heard {
    #[default]
    Nothing,
    /// Its begin, which is no content.
    Begun,
    Content,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::sim) enum Silence {
    First,
    Idle,
    /// After the finish reason, or after the head of a failure.
    Settled,
}

/// Something that happens in a dispatch.
#[derive(Clone, Copy, PartialEq)]
enum Mark {
    Sent,
    Head,
    Begins,
    Content,
    /// A finish reason, or the head of a failure: it is known what the answer is.
    Settles,
    Ends,
    /// The caller goes away this many milliseconds later.
    Leaves(u64),
}

/// What happens, with the milliseconds from the dispatch.
fn marks(reply: Reply, limit: Limit) -> Vec<(u64, Mark)> {
    use Mark::{Begins, Content, Ends, Head, Leaves, Sent, Settles};
    let sent = (reply.held_ms, Sent);
    let head = reply.held_ms + reply.head_ms;
    let body = head + reply.body_ms;
    match reply.what {
        What::LeavesBeforeHead { after } if reply.held_ms > 0 => vec![(0, Leaves(after))],
        What::LeavesBeforeHead { after } => vec![(0, Sent), (0, Leaves(after))],
        What::LeavesBeforeEnd { after } => vec![sent, (head, Head), (head, Leaves(after))],
        // Of a transport that does not say that it holds it back it may have been sent until it says that it was not.
        What::Unsent if reply.held_ms > 0 => vec![(head, Ends)],
        What::Unsent => vec![sent, (head, Ends)],
        What::Fault => vec![sent, (head, Ends)],
        what if what.is_failure() && limit.is_search => vec![sent, (head, Head), (head, Ends)],
        what if what.is_failure() => {
            vec![sent, (head, Head), (head, Settles), (body, Ends)]
        }
        _ if !limit.streams => vec![sent, (head, Head), (body, Ends)],
        _ => {
            let begins = if reply.keeps_alive {
                head + reply.body_ms / 2
            } else {
                body
            };
            let mut marks = vec![sent, (head, Head), (begins, Begins)];
            let mut at = body;
            for part in 0..reply.contents() {
                at += if part > 0 { reply.pauses[part] } else { 0 };
                marks.push((at, Content));
            }
            let last = reply.pauses[0];
            at += if reply.contents() > 0 { last } else { 0 };
            marks.extend([(at, Settles), (at + reply.tail_ms, Ends)]);
            marks
        }
    }
}

/// L12: what is done at the last moment is in time. Who listens counts to the first content.
pub(super) fn meet(reply: Reply, limit: Limit) -> Met {
    let mut met = Met::default();
    let mut since = 0;
    let mut longest = limit.first.map(|ms| (ms, Silence::First));
    for (at, mark) in marks(reply, limit) {
        let silence = longest.map(|(ms, silence)| (since + ms, silence));
        let (due, silence) = match silence {
            Some((due, silence)) if due < limit.time => (due, Some(silence)),
            _ => (limit.time, None),
        };
        if at > due {
            met.took = due;
            met.silence = silence;
            return met;
        }
        met.took = at;
        let is_heard = limit.streams && reply.what.is_answer();
        match mark {
            Mark::Sent => met.was_sent = true,
            Mark::Head if !is_heard => met.head = Some(at),
            Mark::Head => {}
            Mark::Begins => met.heard = Heard::Begun,
            Mark::Content => {
                met.heard = Heard::Content;
                met.head.get_or_insert(at);
                since = at;
                longest = limit.idle.map(|ms| (ms, Silence::Idle));
            }
            // L18: from here on nothing that happens to the connection matters.
            Mark::Settles => {
                met.in_time = true;
                since = at;
                longest = Some((limit.linger(), Silence::Settled));
            }
            Mark::Ends => {
                met.in_time = true;
                met.has_mark = !reply.breaks;
            }
            // It is of no matter whether that is later than a timeout.
            Mark::Leaves(after) => {
                met.took = at + after;
                met.caller_left = true;
            }
        }
    }
    met
}

/// K4: what a reply is known to be within this time. Of a failure whose body does not come the status decides.
pub(super) fn known(reply: Reply, limit: Limit) -> Reply {
    let whole = reply.held_ms + reply.head_ms + reply.body_ms;
    let is_there = reply.body_ms <= limit.linger() && whole <= limit.time;
    let bare = |status, asks| What::Status {
        status,
        code: "",
        asks,
    };
    let what = match reply.what {
        What::Status { status, asks, .. } if !is_there => bare(status, asks),
        What::Stale if !is_there => bare(403, None),
        what => what,
    };
    Reply { what, ..reply }
}
