//! Where do rows go?
//!
//! [`sqlite`] keeps them in a file, [`memory`] for as long as the process lives. Both pass the same contract
//! test.

use std::fmt;

use crate::transport::BoxFuture;

pub mod capture;
#[cfg(test)]
mod contract;
pub mod memory;
pub mod row;
pub mod sqlite;

pub use capture::Capture;
pub use row::{AttemptRow, RowFailure};

/// Keeps the rows of every attempt.
///
/// A row is *acknowledged* when a [`Store::flush`] that began after it was recorded has returned `Ok`. A call
/// flushes before it returns, so that nothing is lost when a process ends with its last call.
pub trait Store: Send + Sync {
    /// Hands over a row. It does not wait for the disk unless the store's queue is full, and then it waits
    /// rather than drops. A row that cannot be stored is counted and logged, and fails no call.
    fn record(&self, row: AttemptRow);

    /// Hands over a row and the capture that goes with it. Either both are stored or neither is.
    fn record_captured(&self, row: AttemptRow, capture: Capture);

    /// Waits until everything recorded so far is durable.
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
            Self::Failed { reason } => write!(f, "the telemetry store failed: {reason}"),
        }
    }
}

impl std::error::Error for StoreError {}
