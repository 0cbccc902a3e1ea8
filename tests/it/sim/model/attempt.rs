//! What does one dispatch leave behind? The contract's rows, T1, L11, L12, L16, K3 and K6.

use rig::__private::{Candidate, Rates, Search};
use rig::FailureClass::{self, BudgetExhausted, CacheInvalid, ConfigAuth, Network, Timeout};

use super::expected::place;
use super::facts::{self, Why};
use super::{End, Place, Row, Run};
use crate::sim::case::{Reply, What, tokens};

impl Run<'_> {
    /// One dispatch to a model, which may or may not call a tool.
    pub(super) fn attempt(
        &mut self,
        candidate: &Candidate,
        row: Row,
        tools: bool,
    ) -> Result<(FailureClass, Why), End> {
        let number = self.rows.len();
        let before = self.spent;
        let Some(reply) = self.dispatch(place(candidate), row)? else {
            return self.failed(place(candidate), Timeout, Why::Plain);
        };
        let is_answer = !matches!(reply.what, What::Status { .. } | What::Stale | What::Fault);
        if facts::is_free(reply.what) {
            self.spent = before; // E2
        }
        if reply.usage && is_answer {
            let (input, output) = tokens(number); // K3
            let cost = |rates: Rates| {
                let nanos = input * rates.input.as_nanos() + output * rates.output.as_nanos();
                nanos / 1_000_000
            };
            self.rows[number].tokens = Some((input, output));
            self.rows[number].cost = candidate.price.map_or(0, |price| cost(price.rates));
            let rates = candidate
                .price
                .map_or(facts::CONSERVATIVE, |price| price.rates); // E3
            self.spent = before + cost(rates);
        }
        if reply.what == What::Tool && tools && !self.case.route.tools.is_empty() {
            return Err(End::Served { tools: true }); // L1
        }
        // L10: a place in the cache of `echo` is named until it is refused, and never to the repair model.
        let names_cache = self.case.options.handle && candidate.provider.name == "echo";
        let names_cache = names_cache && !self.refuses_cache && tools;
        let failed = facts::failure(reply.what, names_cache);
        let (class, why) = failed.ok_or(End::Served { tools: false })?; // L2
        self.refuses_cache |= class == CacheInvalid;
        self.failed(place(candidate), class, why)
    }

    /// One search: nothing if it found something, else the candidate's failure.
    pub(super) fn search(
        &mut self,
        candidate: &Candidate,
        search: &Search,
    ) -> Result<Option<(FailureClass, Why)>, End> {
        let before = self.spent;
        let row = Row {
            place: ("search", "search.test"),
            ..Row::default()
        };
        let reply = self.dispatch(place(candidate), row)?;
        let is_over = self.deadline() == Some(self.now);
        if reply.is_some_and(|reply| facts::is_free(reply.what)) {
            self.spent = before; // E2
        }
        let (class, why) = match reply.map(|reply| reply.what) {
            Some(What::Fault) => (Network, Why::Plain),
            Some(What::Stale) => (Network, Why::Rejected),
            Some(What::Status { status, .. }) if (400..500).contains(&status) && status != 429 => {
                (Network, Why::Rejected)
            }
            Some(What::Status { .. }) => (Network, Why::Plain),
            None if is_over => (Timeout, Why::Plain),
            None => (Network, Why::Plain),
            Some(_) => {
                self.searched = true;
                self.rows.last_mut().unwrap().cost = search.cost.as_nanos();
                self.spent = before + search.cost.as_nanos();
                return Ok(None);
            }
        };
        self.failed(place(candidate), class, why).map(Some)
    }

    /// L11, L12, K6: the row of a dispatch, and the reply if it comes in time. Without a reply left the caller leaves.
    fn dispatch(&mut self, asked: Place, row: Row) -> Result<Option<Reply>, End> {
        self.reserve(asked)?;
        let leaves = Reply::now(What::LeavesBeforeHead { after: 0 });
        let reply = self
            .case
            .script
            .get(self.rows.len())
            .copied()
            .unwrap_or(leaves);
        let left = self.deadline().map_or(u64::MAX, |end| end - self.now);
        let limit = left.min(self.case.route.policy.timeout_ms);
        let is_search = row.place.0 == "search";
        let met = facts::meet(reply, limit, self.case.options.streams, is_search);
        let reply = facts::known(reply, limit);
        // A search does not tell when it began to answer.
        let head = met.head.filter(|_| !is_search);
        let end = met.caller_left.then_some("cancelled");
        self.rows.push(Row {
            at: self.now,
            head,
            took: met.took,
            end,
            ..row
        });
        self.now += met.took;
        if met.caller_left {
            return Err(End::CallerLeft);
        }
        Ok(met.in_time.then_some(reply))
    }

    /// E2, L5: as long as nobody knows better, what was reserved is spent. What cannot be reserved ends the run.
    fn reserve(&mut self, asked: Place) -> Result<(), End> {
        let Some(cap) = self.case.options.cap else {
            return Ok(());
        };
        let with_it = self.spent + self.amounts.next().copied().unwrap_or(0);
        if with_it > cap {
            self.fail(asked, BudgetExhausted, "envelope");
            return Err(self.last.clone());
        }
        self.spent = with_it;
        Ok(())
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
