//! What does one dispatch leave behind? The contract's rows, T1, L11, L12, L16, K3 and K6.

use rig::__private::{Candidate, Dialect, Search};
use rig::FailureClass::{self, CacheInvalid, ConfigAuth, Network, Timeout};

use super::eligible::searches_itself;
use super::expected::place;
use super::facts::{self, Why};
use super::meet::{Limit, known, meet};
use super::{End, Place, Row, Run};
use crate::sim::case::{Reply, Usage, What};

impl Run<'_> {
    /// One dispatch to a model, which may or may not call a tool.
    pub(super) fn attempt(
        &mut self,
        candidate: &Candidate,
        row: Row,
        tools: bool,
    ) -> Result<(FailureClass, Why), End> {
        let searches = searches_itself(self.case, candidate) && tools;
        let Some(reply) = self.dispatch(candidate, row, searches)? else {
            return self.failed(place(candidate), Timeout, Why::Plain);
        };
        if reply.what.is_answer() {
            self.settle(candidate, reply, searches);
        } else if facts::is_free(reply.what) {
            self.charge_nothing();
        }
        if reply.what == What::Tool && tools && !self.case.route.tools.is_empty() {
            return Err(End::Served { tools: true }); // L1
        }
        if matches!(reply.what, What::Good | What::Unliked) && !self.judged() {
            return self.failed(place(candidate), Timeout, Why::Plain); // L16
        }
        // L10: a place in the cache of `echo` is named until it is refused, and never to the repair model.
        let names_cache = self.case.options.handle && candidate.provider.name == "echo";
        let names_cache = names_cache && !self.refuses_cache && tools;
        let failed = facts::failure(reply.what, names_cache);
        let (class, why) = failed.ok_or(End::Served { tools: false })?; // L2
        self.refuses_cache |= class == CacheInvalid;
        self.failed(place(candidate), class, why)
    }

    /// Waits for the caller's judgement, and returns whether it comes in time.
    fn judged(&mut self) -> bool {
        let gate = self.case.options.gate_ms.unwrap_or(0);
        let left = self.deadline().map_or(u64::MAX, |end| end - self.now);
        self.now += gate.min(left);
        gate <= left
    }

    /// One search: nothing if it found something, else the candidate's failure.
    pub(super) fn search(
        &mut self,
        candidate: &Candidate,
        search: &Search,
    ) -> Result<Option<(FailureClass, Why)>, End> {
        let row = Row {
            place: ("search", "search.test"),
            ..Row::default()
        };
        let reply = self.dispatch(candidate, row, false)?;
        let is_over = self.deadline() == Some(self.now);
        if reply.is_some_and(|reply| facts::is_free(reply.what)) {
            self.charge_nothing();
        }
        let (class, why) = match reply.map(|reply| reply.what) {
            Some(What::Fault | What::Unsent) => (Network, Why::Plain),
            Some(What::Stale) => (Network, Why::Rejected),
            Some(What::Status { status, .. }) if (400..500).contains(&status) && status != 429 => {
                (Network, Why::Rejected)
            }
            Some(What::Status { .. }) => (Network, Why::Plain),
            None if is_over => (Timeout, Why::Plain),
            None => (Network, Why::Plain),
            Some(_) => {
                self.searched = true;
                self.charge(search.cost.as_nanos());
                self.rows.last_mut().unwrap().cost = search.cost.as_nanos();
                return Ok(None);
            }
        };
        self.failed(place(candidate), class, why).map(Some)
    }

    /// L11, L12, K6: the row of a dispatch, and the reply if it comes in time. Without a reply left the caller leaves. The
    /// reservation is the charge until the usage is known.
    fn dispatch(
        &mut self,
        candidate: &Candidate,
        row: Row,
        searches: bool,
    ) -> Result<Option<Reply>, End> {
        let charge = self.reserve(candidate)?;
        let leaves = Reply::now(What::LeavesBeforeHead { after: 0 });
        let script = &self.case.script;
        let reply = script.get(self.rows.len()).copied().unwrap_or(leaves);
        let policy = &self.case.route.policy;
        let left = self.deadline().map_or(u64::MAX, |end| end - self.now);
        let is_search = row.place.0 == "search";
        let streams = self.case.options.streams && !is_search;
        let limit = Limit {
            time: left.min(policy.timeout_ms),
            is_search,
            streams,
            first: policy.first_token_ms.filter(|_| streams),
            idle: policy.idle_ms.filter(|_| streams),
        };
        let met = meet(reply, limit);
        let mut reply = known(reply, limit);
        let is_chat = candidate.provider.dialect == Dialect::OpenAiChat;
        if streams && is_chat && !met.has_mark {
            // This dialect tells it after the finish reason.
            reply.usage = Usage::Untold;
        }
        self.rows.push(Row {
            at: self.now,
            // A search does not tell when it began to answer.
            head: met.head.filter(|_| !is_search),
            took: met.took,
            end: met.caller_left.then_some("cancelled"),
            missing: true,
            charge,
            ..row
        });
        self.now += met.took;
        self.silences.extend(met.silence);
        if !met.in_time && !met.was_sent {
            self.charge_nothing(); // E2
        }
        if met.caller_left {
            return Err(End::CallerLeft);
        }
        if !met.in_time && streams {
            self.heard(candidate, reply, &met, searches);
        }
        Ok(met.in_time.then_some(reply))
    }

    fn failed(
        &mut self,
        place: Place,
        class: FailureClass,
        why: Why,
    ) -> Result<(FailureClass, Why), End> {
        self.rows.last_mut().unwrap().end = Some(class.name());
        let says = match why {
            Why::Cut => "max_output_tokens",
            Why::Asks(ms) if ms > 240_000 && class != ConfigAuth => "not waited for",
            _ => "",
        };
        self.fail(place, class, says);
        Ok((class, why))
    }

    pub(super) fn fail(&mut self, place: Place, class: FailureClass, says: &'static str) {
        self.last = End::Failed { class, place, says };
    }

    /// L16: nothing is started when the time is over. The error names who was asked last.
    pub(super) fn in_time(&mut self, candidate: &Candidate) -> Result<(), End> {
        if self.deadline().is_none_or(|end| self.now < end) {
            return Ok(());
        }
        self.late(candidate);
        Err(self.last.clone())
    }

    pub(super) fn late(&mut self, candidate: &Candidate) {
        let asked = match self.last {
            End::Failed { place, .. } => place,
            _ => place(candidate),
        };
        self.fail(asked, Timeout, "deadline");
    }

    pub(super) fn deadline(&self) -> Option<u64> {
        let (route, call) = (
            self.case.route.policy.deadline_ms,
            self.case.options.deadline_ms,
        );
        route.into_iter().chain(call).min()
    }
}
