//! Where do rows go?
//!
//! [`sqlite`] keeps them in a file, `postgres` in a database of a fleet, [`memory`] for as long as the process lives. All
//! pass the same contract test.

use std::fmt;
use std::time::Duration;

use rig_spec::Usd;

use crate::transport::BoxFuture;

pub mod capture;
#[cfg(test)]
mod contract;
pub mod envelope;
pub mod export;
mod ledger;
pub mod location;
pub mod memory;
#[cfg(feature = "postgres")]
pub mod postgres;
#[doc(hidden)]
pub mod private;
pub mod prune;
mod queue;
pub mod reading;
pub mod row;
pub mod sqlite;
pub mod verdict;

pub use capture::Capture;
pub use envelope::{ChargeRow, Envelope, EnvelopeState, Reserve, Reserved};
pub use export::{
    ExportBatch, ExportNext, ExportRow, ExportState, ExportTurn, Exported, Name, PassedOver,
    SetAside,
};
pub use location::StoreLocation;
pub use prune::{Prune, Pruned};
pub use reading::{ObservedLatency, Page, Spend, Spending};
pub use row::{AttemptRow, RowFailure};
pub use verdict::{Grade, Graded, Verdict, VerdictRow, VerdictsOf};

pub use crate::trace::Traceparent;

/// How long a call waits, once it has its answer, for its rows to be stored (L17). Rows that take longer stay queued and are
/// counted. Before a dispatch, a full queue holds a call up for no longer than this either.
pub const GRACE: Duration = Duration::from_secs(2);

/// How long a store that is closed goes on writing what is queued.
pub const CLOSE: Duration = Duration::from_secs(5);

/// What became of the rows that were handed to a store since it was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct StoreCounts {
    /// Rows that wait to be stored.
    pub queued_rows: u64,
    /// Rows that were stored more than [`GRACE`] after they were handed over.
    pub late_rows: u64,
    /// Rows that could not be stored, and never will be.
    pub lost_rows: u64,
}

/// Keeps the rows of every attempt, and the envelopes that pay for them.
///
/// A row is *acknowledged* when a [`Store::flush`] that began after it was recorded has returned `Ok`. A call
/// flushes before it returns, for at most [`GRACE`], so that nothing is lost when a process ends with its last call.
pub trait Store: Send + Sync {
    /// Hands over a row. It never waits. A row that cannot be stored is counted and logged, and fails no call.
    fn record(&self, row: AttemptRow);

    /// Hands over a row and the capture that goes with it. Either both are stored or neither is.
    fn record_captured(&self, row: AttemptRow, capture: Capture);

    /// Waits until there is room for the rows of another dispatch. A run waits for it before it dispatches, for at most
    /// [`GRACE`] and within its own time.
    fn room(&self) -> BoxFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }

    /// Returns what became of the rows so far.
    fn counts(&self) -> StoreCounts {
        StoreCounts::default()
    }

    /// Waits until everything recorded so far is durable, for as long as that takes.
    ///
    /// # Errors
    ///
    /// Returns an error if any row that was handed over could not be stored, now or earlier.
    fn flush(&self) -> BoxFuture<'_, Result<(), StoreError>>;

    /// Returns the rows of a run, in the order of `attempt`; whatever was recorded before is among them.
    ///
    /// # Errors
    ///
    /// Returns an error if the store cannot be read.
    fn attempts(&self, run_id: &str) -> BoxFuture<'_, Result<Vec<AttemptRow>, StoreError>>;

    /// Returns the captures of a route, oldest first; whatever was recorded before is among them.
    ///
    /// # Errors
    ///
    /// Returns an error if the store cannot be read.
    fn captures(&self, route: &str) -> BoxFuture<'_, Result<Vec<Capture>, StoreError>>;

    /// Returns how long the served attempts of a route took, by provider and model (T6).
    ///
    /// # Errors
    ///
    /// Returns an error if the store cannot be read.
    fn observed_latency(
        &self,
        route: &str,
    ) -> BoxFuture<'_, Result<Vec<ObservedLatency>, StoreError>>;

    /// Adds up the rows of a window of time, of all tags or one; whatever was recorded before is among them.
    ///
    /// # Errors
    ///
    /// Returns an error if the store cannot be read.
    fn spend(&self, of: Spending) -> BoxFuture<'_, Result<Spend, StoreError>>;

    /// Returns the rows of a page, in the order of their ids; whatever was recorded before is among them. Ids of one
    /// process are in the order of dispatch, those of several nearly so.
    ///
    /// # Errors
    ///
    /// Returns an error if the store cannot be read.
    fn page(&self, of: Page) -> BoxFuture<'_, Result<Vec<AttemptRow>, StoreError>>;

    /// Opens an envelope, or returns the one of its name, whose cap stays what it was (E1). `now_ms` is the present, in
    /// milliseconds since 1970.
    ///
    /// # Errors
    ///
    /// [`StoreError::Name`] if the name is too long; else if the store cannot be written.
    fn open_envelope(
        &self,
        envelope: Envelope,
        now_ms: i64,
    ) -> BoxFuture<'_, Result<EnvelopeState, StoreError>>;

    /// Reserves an amount of an envelope, all of it or nothing, and atomically: however many reserve at once, in
    /// whatever processes share the store, spent and reserved together stay within the cap (E2). It is handed over
    /// at the call and not at the first poll; the answer comes when it is durable. The same id
    /// reserves once, and nobody uses it again once it is settled.
    ///
    /// Dropping the future before the answer gives the reservation up: it may or may not have been made, so the caller
    /// settles it with zero.
    ///
    /// # Errors
    ///
    /// [`StoreError::Name`] if the envelope's name is too long; else if the store cannot be written. Then nothing may be
    /// dispatched.
    fn reserve(&self, wanted: Reserve) -> BoxFuture<'_, Result<Reserved, StoreError>>;

    /// Turns a reservation into a charge; `None` charges what was reserved. It never waits, is never dropped for want of
    /// room, and comes after every call of [`Store::reserve`] that was made before it.
    ///
    /// What is not reserved or is settled already stays as it is. The charge of a lapsed reservation is replaced.
    /// One that cannot be stored leaves the reservation, which is spent once it lapses.
    fn settle(&self, id: &str, charge: Option<Usd>);

    /// Returns what an envelope holds, `None` if nobody has opened it; what has lapsed by `now_ms` is spent (E4).
    ///
    /// # Errors
    ///
    /// Returns an error if the store cannot be read, or cannot be written where something has lapsed.
    fn envelope(
        &self,
        name: &str,
        now_ms: i64,
    ) -> BoxFuture<'_, Result<Option<EnvelopeState>, StoreError>>;

    /// Returns what every envelope holds, in the order of their names; what has lapsed by `now_ms` is spent (E4).
    ///
    /// # Errors
    ///
    /// Returns an error if the store cannot be read, or cannot be written where something has lapsed.
    fn envelopes(&self, now_ms: i64) -> BoxFuture<'_, Result<Vec<EnvelopeState>, StoreError>>;

    /// Returns what was taken from an envelope, in the order of the ids, which is nearly that of dispatch; whatever was
    /// recorded before is among it. An envelope that nobody has opened has no charges.
    ///
    /// # Errors
    ///
    /// Returns an error if the store cannot be read.
    fn charges(&self, envelope: &str) -> BoxFuture<'_, Result<Vec<ChargeRow>, StoreError>>;

    /// Stores a verdict (W5), once however often its id comes; whatever was recorded before can be judged.
    ///
    /// # Errors
    ///
    /// [`StoreError::Unknown`] if nothing has the id that is judged, [`StoreError::Score`] if the score is no finite number;
    /// else if the store cannot be written.
    fn grade(&self, grade: Grade) -> BoxFuture<'_, Result<(), StoreError>>;

    /// Returns verdicts, oldest first.
    ///
    /// # Errors
    ///
    /// Returns an error if the store cannot be read.
    fn verdicts(&self, of: VerdictsOf) -> BoxFuture<'_, Result<Vec<VerdictRow>, StoreError>>;

    /// Gives an exporter the rows after its cursor (T4), in the order in which they were committed, and its worker the turn:
    /// others that ask before [`Store::exported`] or the end of the turn get [`ExportNext::Taken`]. Without a row there is
    /// no turn. A worker that asks again gets the same rows. An exporter that the store does not know begins with the
    /// oldest row, and one whose cursor was deleted does as well.
    ///
    /// # Errors
    ///
    /// [`StoreError::Name`] if a name is too long; else if the store cannot be read, or cannot be written where there are rows.
    fn next_export(&self, turn: ExportTurn) -> BoxFuture<'_, Result<ExportNext, StoreError>>;

    /// Ends a worker's turn, and moves the cursor to where it says, if that row is still there. What is set aside is kept,
    /// once for each row. Nothing happens if it is no longer its turn.
    ///
    /// # Errors
    ///
    /// Returns an error if the store cannot be written.
    fn exported(&self, done: Exported) -> BoxFuture<'_, Result<(), StoreError>>;

    /// Returns how far each exporter has come, in the order of their names.
    ///
    /// # Errors
    ///
    /// Returns an error if the store cannot be read.
    fn exports(&self) -> BoxFuture<'_, Result<Vec<ExportState>, StoreError>>;

    /// Deletes, or counts (T7). `now_ms` is the present, in milliseconds since 1970 (UTC). Whatever else is done meanwhile
    /// goes on. No cursor of an exporter moves over a row that stays, and no envelope changes. Dropping the future ends it
    /// early; what is deleted by then stays so.
    ///
    /// # Errors
    ///
    /// Returns an error if the store cannot be written. Part of it may be done then.
    fn prune(&self, prune: Prune, now_ms: i64) -> BoxFuture<'_, Result<Pruned, StoreError>>;
}

/// Why a store cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StoreError {
    /// It could not be opened, or is not writable.
    Unavailable {
        /// Where it is.
        location: String,
        /// What the system said.
        reason: String,
    },
    /// It was written by a newer version of modelrig; it was left untouched.
    Newer {
        /// Where it is.
        location: String,
        /// The schema version found.
        found: u32,
        /// The newest version this build knows.
        known: u32,
    },
    /// Nothing that is stored has the id of what is judged.
    Unknown {
        /// The id.
        id: String,
    },
    /// A score is no finite number.
    Score,
    /// A name is longer than every store can hold.
    Name {
        /// Whose name it is: `envelope`, `exporter` or `worker`.
        of: &'static str,
        /// The most bytes that a name may have.
        limit: usize,
        /// The bytes that it has.
        length: usize,
    },
    /// The store did not answer in time. What was asked may be done later all the same.
    NoAnswer {
        /// How long it was waited for, in milliseconds.
        after_ms: u64,
    },
    /// A write or read failed.
    Failed {
        /// What the system said.
        reason: String,
    },
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unavailable { location, reason } => {
                write!(
                    f,
                    "the telemetry store at `{location}` cannot be used: {reason}"
                )
            }
            Self::Newer {
                location,
                found,
                known,
            } => write!(
                f,
                "the telemetry store at `{location}` has schema version {found}, this build of modelrig knows up to {known}"
            ),
            Self::Unknown { id } => write!(f, "no attempt or run with the id `{id}` is stored"),
            Self::Score => f.write_str("a score is a finite number"),
            Self::Name { of, limit, length } => write!(
                f,
                "the name of this {of} has {length} bytes, and {limit} are the most"
            ),
            Self::NoAnswer { after_ms } => {
                write!(f, "the telemetry store did not answer within {after_ms} ms")
            }
            Self::Failed { reason } => write!(f, "the telemetry store failed: {reason}"),
        }
    }
}

impl std::error::Error for StoreError {}
