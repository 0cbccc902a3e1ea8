//! Can the envelope of a call pay for the next dispatch?
//!
//! Before each dispatch the most that it can cost is reserved, and afterwards it is settled with what it cost (E2).
//! Whatever ends a dispatch, dropping its [`Reservation`] settles: nothing was dispatched, nothing is charged; it was,
//! and nobody knows what it used, then what was reserved is the charge (K6, T1).
//!
//! **Invariant:** money fails closed (T5): what could not be reserved is not dispatched.

use std::time::Duration;

use rig_spec::{CacheDirective, Price, Usd};

use crate::attempt::{Ask, Limit, Outcome, millis};
use crate::clock::answer_within;
use crate::deadline::Left;
use crate::id;
use crate::ladder::Job;
use crate::provider::Usage;
use crate::rig::{Parts, no_answer};
use crate::store::{Envelope, EnvelopeState, Reserve, Reserved, Store, StoreError};

/// What the envelope of a call is capped at if neither call nor rig say.
pub(crate) const DEFAULT_CAP: Usd = Usd::dollars(25);

/// How long after the end of its attempt's time a reservation lapses, i.e. is spent if nobody has settled it.
const LEASE_MARGIN: Duration = Duration::from_secs(60);

/// What providers may add to a request on their own, as the words in which some of them tell a model of its tools; in
/// tokens.
const ADDED: u64 = 1_024;

/// The envelope that a call names.
pub(crate) struct Named {
    pub(crate) name: String,
    /// Its cap if the call is the first to open it; `None` leaves it to the rig.
    pub(crate) cap: Option<Usd>,
}

/// What is reserved for one dispatch. Dropping it settles.
pub(crate) struct Reservation<'a> {
    store: &'a dyn Store,
    id: String,
    /// What is reserved.
    amount: Usd,
    /// `None` charges what was reserved.
    charge: Option<Usd>,
}

/// Why a dispatch is not paid for.
#[derive(Debug)]
pub(crate) enum Unfunded {
    /// The envelope has too little left.
    Exhausted {
        /// What it holds.
        state: EnvelopeState,
        /// The most that the dispatch can cost.
        amount: Usd,
    },
    /// The store could not reserve.
    Unavailable {
        /// The envelope.
        name: String,
        /// What the store said.
        error: StoreError,
    },
}

/// Reserves the most that a dispatch can cost, of calls with an envelope; returns the time that the run has left then. It waits
/// for no longer than the dispatch itself might: the route's timeout, and what the run has left (L17).
pub(crate) async fn reserve<'a>(
    parts: &'a Parts,
    job: &Job,
    amount: impl FnOnce() -> Usd,
    left: Option<Left>,
) -> Result<(Option<Reservation<'a>>, Option<Left>), Box<Outcome>> {
    let Some(named) = &job.envelope else {
        return Ok((None, left));
    };
    let started = parts.clock.monotonic();
    let amount = amount();
    let now_ms = signed(parts.clock.wall());
    let lease = Duration::from_millis(job.route.policy.timeout_ms).saturating_add(LEASE_MARGIN);
    // Made before it is asked for, so that a caller who goes away meanwhile leaves nothing reserved.
    let reservation = Reservation {
        store: &*parts.store,
        id: id::fresh(&*parts.clock).to_string(),
        amount,
        charge: Some(Usd::ZERO),
    };
    let reserved = parts.store.reserve(Reserve {
        envelope: Envelope {
            name: named.name.clone(),
            cap: named.cap.unwrap_or(parts.envelope_cap),
        },
        id: reservation.id.clone(),
        amount,
        now_ms,
        lapses_ms: now_ms.saturating_add(signed(lease)),
    });
    let limit = Limit::of(job, left);
    let reserved = answer_within(&*parts.clock, limit.time, reserved).await;
    let reserved = match (reserved, limit.cut) {
        (Some(reserved), _) => reserved,
        (None, Some(cut)) => return Err(Box::new(Outcome::Late(cut.after(limit.time)))),
        (None, None) => Err(no_answer(limit.time)),
    };
    let unfunded = match reserved {
        Ok(Reserved::Granted) => {
            let waited = parts.clock.monotonic().saturating_sub(started);
            let left = left.map(|left| left.after(waited));
            return match left.filter(|left| left.time.is_zero()) {
                Some(late) => Err(Box::new(Outcome::Late(late))),
                None => Ok((Some(reservation), left)),
            };
        }
        Ok(Reserved::Exhausted(state)) => Unfunded::Exhausted { state, amount },
        Err(error) => Unfunded::Unavailable {
            name: named.name.clone(),
            error,
        },
    };
    Err(Box::new(Outcome::Unfunded(unfunded)))
}

/// Returns the most that asking a candidate can cost, with a request body of so many bytes.
///
/// No tokenizer makes more tokens of a text than it has bytes. What a candidate finds on the web, or what a caller has
/// cached at the provider, is input as well and not among them, so that the context window bounds it then.
pub(crate) fn most(job: &Job, ask: &Ask, bytes: usize) -> Usd {
    let candidate = ask.candidate;
    let is_cached =
        candidate.provider.cache == CacheDirective::CachedContent && ask.handle.is_some();
    let tokens_in = if ask.searches || is_cached {
        u64::MAX
    } else {
        (bytes as u64).saturating_add(ADDED)
    };
    let output = job.route.policy.sampling.max_output_tokens.map(u64::from);
    let search = candidate.prices(ask.searches).search;
    let limits = &candidate.limits;
    limits.most(candidate.price, tokens_in, output, search)
}

/// Returns what an attempt is charged (E2). Without a usage that is nothing if it cannot have been billed, else `None`: what was
/// reserved. Without a price it is what its tokens cost at the conservative rate (E3). `searches` is what the provider's own
/// searches cost (E5).
pub(crate) fn charge(
    usage: Usage,
    is_unbilled: bool,
    price: Option<Price>,
    searches: Usd,
) -> Option<Usd> {
    if is_unbilled && !usage.is_told() {
        return Some(Usd::ZERO);
    }
    let price = price.unwrap_or(Price::CONSERVATIVE);
    let tokens = price.cost(
        usage.tokens_in?,
        usage.tokens_cached.unwrap_or(0),
        usage.tokens_cache_write.unwrap_or(0),
        usage.tokens_out?,
    );
    Some(tokens + searches)
}

impl Reservation<'_> {
    /// Returns its id.
    pub(crate) fn id(&self) -> &str {
        &self.id
    }

    /// Sets what is charged; `None` is what was reserved. No charge is more than that: a usage that costs more is one that the
    /// request cannot have had.
    pub(crate) fn charge(&mut self, charge: Option<Usd>) {
        let reserved = self.amount;
        let beyond = charge.filter(|cost| *cost > reserved);
        if let Some(cost) = beyond {
            tracing::warn!(
                attempt = self.id,
                %cost,
                %reserved,
                "a provider reports more usage than its request allows; the envelope is charged what was reserved"
            );
        }
        self.charge = charge.filter(|_| beyond.is_none());
    }
}

impl Drop for Reservation<'_> {
    fn drop(&mut self) {
        self.store.settle(&self.id, self.charge);
    }
}

impl Unfunded {
    /// Returns what the envelope holds, where the store could tell.
    pub(crate) fn state(&self) -> Option<&EnvelopeState> {
        match self {
            Self::Exhausted { state, .. } => Some(state),
            Self::Unavailable { .. } => None,
        }
    }

    /// Returns what there is to say of it.
    pub(crate) fn message(&self) -> String {
        match self {
            Self::Exhausted { state, amount } => format!(
                "the envelope `{}` cannot cover the next dispatch, which may cost {amount}: of {}, {} are spent and {} reserved",
                state.name, state.cap, state.spent, state.reserved
            ),
            Self::Unavailable { name, error } => {
                format!("nothing could be reserved in the envelope `{name}`: {error}")
            }
        }
    }
}

fn signed(duration: Duration) -> i64 {
    i64::try_from(millis(duration)).unwrap_or(i64::MAX)
}
