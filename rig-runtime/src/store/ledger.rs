//! What becomes of envelopes, whatever keeps them?
//!
//! The state of some envelopes and the reservations that matter to them, and what opening, reserving, settling and lapsing
//! make of both. It decides, and stores nothing: [`super::memory`] keeps one for all envelopes, and the store in
//! PostgreSQL reads one for each transaction and writes back what has changed. SQLite does the same in SQL, where a
//! statement costs next to nothing; one contract test holds all of them together.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use rig_spec::Usd;

use super::{Envelope, EnvelopeState, Reserve, Reserved};

/// Envelopes and their charges.
#[derive(Clone, Debug, Default)]
pub(super) struct Ledger {
    accounts: BTreeMap<String, Account>,
    /// By reservation.
    charges: HashMap<String, Charge>,
}

#[derive(Clone, Debug)]
struct Account {
    state: EnvelopeState,
    /// Its reservations under way, by when they lapse.
    under_way: BTreeSet<(i64, String)>,
}

/// What became of a reservation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Charge {
    pub(super) envelope: String,
    pub(super) reserved: Usd,
    pub(super) lapses_ms: i64,
    pub(super) stage: Stage,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    UnderWay,
    /// Nobody settled it in time, so that what was reserved is charged.
    Lapsed,
    Settled(Usd),
}

impl Ledger {
    /// Returns what an envelope holds, in which whatever has lapsed by now is spent.
    pub(super) fn state(&mut self, name: &str, now_ms: i64) -> Option<&EnvelopeState> {
        let account = self.accounts.get_mut(name)?;
        while let Some((lapses_ms, id)) = account.under_way.first().cloned()
            && lapses_ms <= now_ms
        {
            account.under_way.pop_first();
            if let Some(charge) = self.charges.get_mut(&id) {
                charge.stage = Stage::Lapsed;
                account.state.settle(charge.reserved, charge.reserved);
            }
        }
        Some(&account.state)
    }

    /// Returns the names of all envelopes, in order.
    pub(super) fn names(&self) -> Vec<String> {
        self.accounts.keys().cloned().collect()
    }

    /// Opens an envelope, or returns the one that is there.
    pub(super) fn open(&mut self, envelope: &Envelope, now_ms: i64) -> EnvelopeState {
        if let Some(state) = self.state(&envelope.name, now_ms) {
            return state.clone();
        }
        let state = EnvelopeState::new(envelope.clone());
        self.hold(state.clone());
        state
    }

    /// Reserves an amount, or says why not. The same reservation is made once.
    pub(super) fn reserve(&mut self, wanted: &Reserve) -> Reserved {
        let Reserve { id, amount, .. } = wanted;
        let state = self.open(&wanted.envelope, wanted.now_ms);
        if self.charges.contains_key(id) {
            return Reserved::Granted;
        }
        let Some(account) = self.accounts.get_mut(&state.name) else {
            return Reserved::Exhausted(state);
        };
        if !account.state.reserve(*amount) {
            return Reserved::Exhausted(state);
        }
        let charge = Charge {
            envelope: state.name,
            reserved: *amount,
            lapses_ms: wanted.lapses_ms,
            stage: Stage::UnderWay,
        };
        self.charge(id.clone(), charge);
        Reserved::Granted
    }

    /// Turns a reservation into a charge; `None` charges what was reserved. What is settled already stays as it is.
    pub(super) fn settle(&mut self, id: &str, charge: Option<Usd>) {
        let Some(found) = self.charges.get_mut(id) else {
            return;
        };
        let Some(account) = self.accounts.get_mut(&found.envelope) else {
            return;
        };
        let charge = charge.unwrap_or(found.reserved);
        match found.stage {
            Stage::UnderWay => account.state.settle(found.reserved, charge),
            Stage::Lapsed => account.state.correct(found.reserved, charge),
            Stage::Settled(_) => return,
        }
        account.under_way.remove(&(found.lapses_ms, id.to_owned()));
        found.stage = Stage::Settled(charge);
    }

    /// Returns the reservations of an envelope, settled ones included, in the order of their ids.
    pub(super) fn charges(&self, envelope: &str) -> Vec<(&String, &Charge)> {
        let of = |(_, charge): &(&String, &Charge)| charge.envelope == envelope;
        let mut charges: Vec<_> = self.charges.iter().filter(of).collect();
        charges.sort_unstable_by_key(|(id, _)| *id);
        charges
    }

    /// Takes in an envelope.
    pub(super) fn hold(&mut self, state: EnvelopeState) {
        let account = Account {
            state,
            under_way: BTreeSet::new(),
        };
        self.accounts.insert(account.state.name.clone(), account);
    }

    /// Takes in a reservation, whose envelope was taken in before.
    pub(super) fn charge(&mut self, id: String, charge: Charge) {
        if charge.stage == Stage::UnderWay
            && let Some(account) = self.accounts.get_mut(&charge.envelope)
        {
            account.under_way.insert((charge.lapses_ms, id.clone()));
        }
        self.charges.insert(id, charge);
    }
}

impl Charge {
    /// Returns what is charged; `None` while the dispatch is under way.
    pub(super) fn charged(&self) -> Option<Usd> {
        match self.stage {
            Stage::UnderWay => None,
            Stage::Lapsed => Some(self.reserved),
            Stage::Settled(cost) => Some(cost),
        }
    }
}

/// What a store that keeps envelopes elsewhere writes back.
#[cfg(feature = "postgres")]
impl Ledger {
    /// Returns the envelopes that are not as they were.
    pub(super) fn changed_envelopes(&self, before: &Self) -> Vec<&EnvelopeState> {
        let was = |name: &String| before.accounts.get(name).map(|account| &account.state);
        let accounts = self.accounts.iter();
        let changed = accounts.filter(|(name, account)| was(name) != Some(&account.state));
        changed.map(|(_, account)| &account.state).collect()
    }

    /// Returns the reservations that are not as they were, with their ids.
    pub(super) fn changed_charges(&self, before: &Self) -> Vec<(&String, &Charge)> {
        let charges = self.charges.iter();
        charges
            .filter(|(id, charge)| before.charges.get(*id) != Some(*charge))
            .collect()
    }
}
