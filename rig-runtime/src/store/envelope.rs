//! How much of an envelope is left?
//!
//! The arithmetic that every store does on what it keeps. It decides, and stores nothing.

use rig_spec::Usd;

use super::{AttemptRow, StoreError};

/// A named spending cap. Whoever opens it first sets the cap, and nothing resizes it (E1).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Envelope {
    /// Its name.
    pub name: String,
    /// The most that may be spent from it.
    pub cap: Usd,
}

impl Envelope {
    /// The most bytes that an envelope's name may have. Every store can look names of this length up.
    pub const LONGEST_NAME: usize = 512;
}

/// Returns an error for a name that is too long for some store.
pub(crate) fn check_name(of: &'static str, name: &str) -> Result<(), StoreError> {
    let (limit, length) = (Envelope::LONGEST_NAME, name.len());
    match length <= limit {
        true => Ok(()),
        false => Err(StoreError::Name { of, limit, length }),
    }
}

/// What an envelope holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EnvelopeState {
    /// Its name.
    pub name: String,
    /// The most that may be spent from it: that of its first opener.
    pub cap: Usd,
    /// The charges of all dispatches that are over.
    pub spent: Usd,
    /// What is reserved for dispatches under way.
    pub reserved: Usd,
}

/// What a dispatch needs from an envelope.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reserve {
    /// The envelope; it is opened if there is none of its name.
    pub envelope: Envelope,
    /// The reservation's id; that of the attempt's row.
    pub id: String,
    /// The most that the dispatch can cost.
    pub amount: Usd,
    /// The present, in milliseconds since 1970 (UTC).
    pub now_ms: i64,
    /// When the reservation lapses, in milliseconds since 1970 (UTC): if nobody has settled it by then, it is spent.
    pub lapses_ms: i64,
}

/// What came of a [`Reserve`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reserved {
    /// The amount is reserved.
    Granted,
    /// The amount is more than the envelope has left; nothing has changed.
    Exhausted(EnvelopeState),
}

/// What one dispatch took from an envelope, beside what its row says that it cost.
#[derive(Clone, Debug, PartialEq)]
pub struct ChargeRow {
    /// The reservation's id; that of the attempt's row.
    pub id: String,
    /// What was reserved.
    pub reserved: Usd,
    /// What was charged; `None` while the dispatch is under way.
    pub charged: Option<Usd>,
    /// Whether nobody settled the reservation in time, so that all of it is charged.
    pub is_expired: bool,
    /// The attempt's row; `None` for a dispatch that has none (yet).
    pub row: Option<AttemptRow>,
}

impl EnvelopeState {
    /// Returns the state of an envelope from which nothing was spent.
    pub(super) fn new(envelope: Envelope) -> Self {
        Self {
            name: envelope.name,
            cap: envelope.cap,
            spent: Usd::ZERO,
            reserved: Usd::ZERO,
        }
    }

    /// Returns what is neither spent nor reserved.
    #[must_use]
    pub fn left(&self) -> Usd {
        minus(self.cap, self.spent + self.reserved)
    }

    /// Reserves an amount if it is left, and returns whether it was.
    pub(super) fn reserve(&mut self, amount: Usd) -> bool {
        let fits = amount <= self.left();
        if fits {
            self.reserved = self.reserved + amount;
        }
        fits
    }

    /// Turns a reservation into a charge.
    pub(super) fn settle(&mut self, reserved: Usd, charge: Usd) {
        self.reserved = minus(self.reserved, reserved);
        self.spent = self.spent + charge;
    }

    /// Replaces what was charged for a lapsed reservation.
    pub(super) fn correct(&mut self, charged: Usd, charge: Usd) {
        self.spent = minus(self.spent, charged) + charge;
    }
}

fn minus(amount: Usd, less: Usd) -> Usd {
    Usd::nanos(amount.as_nanos().saturating_sub(less.as_nanos()))
}
