//! What does a dispatch cost, and what is its envelope charged? The contract's E2, E3 and E5, K6, and L17 as far as a reservation
//! is waited for.

use rig::__private::{Candidate, Dialect, Rates, Tier};
use rig::FailureClass::BudgetExhausted;

use super::expected::place;
use super::facts::CONSERVATIVE;
use super::meet::{Heard, Met};
use super::{End, Run};
use crate::sim::case::{Answers, Reply, Usage, output};
use crate::sim::draw::SEARCH_FEE;

/// How long a full queue, or the rows at a run's end, are waited for, in milliseconds.
pub(in crate::sim) const GRACE: u64 = 2_000;

/// E5: what tokens cost at the tier that served. One that is not told, or not known, has the price of the one that was asked for.
fn rates(candidate: &Candidate, served: Option<&str>) -> Option<Rates> {
    let asked = candidate.price?;
    let served = match served {
        Some("default" | "standard" | "on_demand") => Tier::Standard,
        Some("flex") => Tier::Flex,
        Some("priority") => Tier::Priority,
        _ => return Some(asked.rates),
    };
    let own = candidate.limits.tiers[served as usize];
    Some(own.unwrap_or(asked).rates)
}

fn cost(rates: Rates, input: u64, output: u64) -> u64 {
    let nanos = |tokens: u64, rate: u64| u128::from(tokens) * u128::from(rate);
    let all = nanos(input, rates.input.as_nanos()) + nanos(output, rates.output.as_nanos());
    u64::try_from(all / 1_000_000).unwrap()
}

impl Run<'_> {
    /// E2, L5, L17: waits for room and for the reservation, and returns what is reserved. What cannot be reserved ends the run.
    pub(super) fn reserve(&mut self, candidate: &Candidate) -> Result<Option<u64>, End> {
        let store = &self.case.store;
        self.now += store.room.within(GRACE).0;
        let Some(cap) = self.case.options.cap else {
            return Ok(None);
        };
        let number = self.reservations;
        self.reservations += 1;
        let amount = self.seen.amounts.get(number).copied().unwrap_or(0);
        let is_granted = match &self.seen.grants {
            Some(grants) => grants.get(number).copied().unwrap_or(false),
            None => self.spent() + amount <= cap,
        };
        let answers = store.reserves.get(number).copied().unwrap_or_default();
        let timeout = self.case.route.policy.timeout_ms;
        let left = self.deadline().map_or(u64::MAX, |end| end - self.now);
        let (waited, is_answered) = answers.within(left.min(timeout));
        self.now += waited;
        let fails = matches!(answers, Answers::Fails(_));
        if is_answered && (fails || !is_granted) || !is_answered && timeout < left {
            self.fail(place(candidate), BudgetExhausted, "envelope");
            return Err(self.last.clone());
        }
        // L16
        if !is_answered || waited == left {
            self.late(candidate);
            return Err(self.last.clone());
        }
        Ok(Some(amount))
    }

    /// What the envelope has been charged so far.
    pub(super) fn spent(&self) -> u64 {
        self.rows.iter().filter_map(|row| row.charge).sum()
    }

    /// E2: what cannot have been billed is charged nothing.
    pub(super) fn charge_nothing(&mut self) {
        self.charge(0);
    }

    /// T1: settles the last row; its usage is not missing then.
    pub(super) fn charge(&mut self, charge: u64) {
        let row = self.rows.last_mut().unwrap();
        row.missing = false;
        row.charge = row.charge.map(|_| charge);
    }

    /// K3, E3, E5: settles the last row with what a whole answer used, where its provider says so.
    pub(super) fn settle(&mut self, candidate: &Candidate, reply: Reply, searches: bool) {
        self.rows.last_mut().unwrap().tier = reply.tier;
        let Some((input, output)) = self.tokens(reply) else {
            return;
        };
        let rates = rates(candidate, reply.tier);
        let row = self.rows.last_mut().unwrap();
        row.tokens = (Some(input), Some(output));
        // The chat dialect counts none, and charges once.
        let counts = candidate.provider.dialect != Dialect::OpenAiChat;
        row.searches = searches.then_some(if counts { reply.searches } else { 1 });
        let fees = SEARCH_FEE * row.searches.unwrap_or(0);
        row.cost = fees + rates.map_or(0, |rates| cost(rates, input, output));
        let charge = fees + cost(rates.unwrap_or(CONSERVATIVE), input, output);
        // No request can have used that: it is charged what was reserved.
        let reserved = row.charge.filter(|_| reply.usage == Usage::Absurd);
        self.charge(reserved.unwrap_or(charge));
    }

    /// K6: what was heard of a stream that broke off is on its row, and settles nothing.
    pub(super) fn heard(&mut self, candidate: &Candidate, reply: Reply, met: &Met, searches: bool) {
        let told = self.tokens(reply);
        let tokens = match candidate.provider.dialect {
            Dialect::AnthropicMessages if met.heard >= Heard::Begun => {
                told.map(|(input, _)| (Some(input), None))
            }
            Dialect::Gemini if met.heard == Heard::Content => {
                told.map(|(input, _)| (Some(input), Some(1)))
            }
            _ => return,
        };
        let row = self.rows.last_mut().unwrap();
        row.tier = reply.tier;
        row.tokens = tokens.unwrap_or_default();
        // Searches are told with the finish reason.
        row.searches = (searches && tokens.is_some()).then_some(0);
        let (input, output) = row.tokens;
        row.cost = rates(candidate, reply.tier).map_or(0, |rates| {
            cost(rates, input.unwrap_or(0), output.unwrap_or(0))
        });
    }

    /// The tokens that are told of the last row's answer.
    fn tokens(&self, reply: Reply) -> Option<(u64, u64)> {
        let number = self.rows.len() - 1;
        let bytes = self.seen.bytes.get(number).copied().unwrap_or(0);
        reply.usage.tokens(number, bytes, output(self.case.route))
    }
}
