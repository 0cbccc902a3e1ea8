//! Whether a request has been sent.
//!
//! A request that was never sent cannot have been billed (E2). A transport that knows the moment marks it here; of one
//! that marks nothing, every request counts as sent.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

/// Whether a request has been sent. Clones share one state.
#[derive(Clone, Debug, Default)]
pub struct Departure(Arc<AtomicU8>);

/// Nobody has said anything, so that the request counts as sent.
const UNKNOWN: u8 = 0;
/// The transport has the request and has sent nothing of it.
const HELD: u8 = 1;
/// The transport has begun to send.
const SENT: u8 = 2;
/// The caller gave up before the transport began to send.
const STOPPED: u8 = 3;

impl Departure {
    /// Marks the request as not sent until [`Departure::leave`] is called. A transport calls it first.
    pub fn hold(&self) {
        self.change(UNKNOWN, HELD);
    }

    /// Marks the request as sent. A transport that has called [`Departure::hold`] calls it before it writes the first byte,
    /// and writes none if this returns `false`: the caller has given up and is charged nothing.
    #[must_use = "nothing may be sent for a caller who has given up"]
    pub fn leave(&self) -> bool {
        self.change(UNKNOWN, SENT);
        self.change(HELD, SENT) != STOPPED
    }

    /// Marks a request as not sent that was: its host says that it has not processed it.
    pub(crate) fn recall(&self) {
        self.change(SENT, HELD);
    }

    /// Gives up on the request and returns whether it may have been sent. If not, it never will be.
    pub(crate) fn stop(&self) -> bool {
        !matches!(self.change(HELD, STOPPED), HELD | STOPPED)
    }

    /// Replaces one state by another and returns the state before.
    fn change(&self, from: u8, to: u8) -> u8 {
        let changed = self
            .0
            .compare_exchange(from, to, Ordering::SeqCst, Ordering::SeqCst);
        changed.unwrap_or_else(|found| found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // E2: either the request is sent or its caller is told that it never was, whichever comes first.
    #[test]
    fn a_request_is_sent_or_stopped_and_never_both() {
        let unmarked = Departure::default();
        assert!(unmarked.stop());

        let held = Departure::default();
        held.hold();
        assert!(!held.stop());
        assert!(!held.leave());
        assert!(!held.stop());

        let sent = Departure::default();
        sent.hold();
        assert!(sent.leave());
        assert!(sent.stop());
        assert!(sent.leave());

        let refused = Departure::default();
        refused.hold();
        assert!(refused.leave());
        refused.recall();
        assert!(!refused.stop());
        assert!(!refused.leave());
    }
}
