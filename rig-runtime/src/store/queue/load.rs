//! How much waits in a queue, and what became of its rows.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::sync::Notify;

use super::super::{AttemptRow, Capture, GRACE, StoreCounts, StoreError};
use super::Record;
use crate::clock::{Seldom, Stopwatch};

/// Runs wait for room, before they dispatch, while this many commands wait for the writer.
const ROOM: u64 = 4_096;

/// The bytes that rows and captures in a queue may take, roughly. A row that would exceed it is lost.
const MOST_BYTES: u64 = 64 << 20;

/// Runs wait for room as well while this much of it is taken.
const ROOM_BYTES: u64 = MOST_BYTES / 2;

/// What the threads of a queue and its users know of each other.
pub(super) struct Load {
    opened: Stopwatch,
    /// Commands that are not done yet, those that the writer has taken included.
    commands: AtomicU64,
    rows: AtomicU64,
    bytes: AtomicU64,
    late: AtomicU64,
    lost: AtomicU64,
    /// Notified when there is room again.
    room: Notify,
    /// When the writer has to be done; set when the queue is dropped.
    closes: OnceLock<Duration>,
    troubles: Seldom,
    losses: Seldom,
    refusals: Seldom,
}

/// What a command adds to the load.
#[derive(Clone, Copy, Default)]
pub(super) struct Weight {
    commands: u64,
    rows: u64,
    bytes: u64,
}

impl Weight {
    /// The weight of a command that is not a row.
    pub(super) const WRITE: Self = Self {
        commands: 1,
        rows: 0,
        bytes: 512,
    };

    pub(super) fn of(record: &Record) -> Self {
        Self {
            commands: 1,
            rows: 1,
            bytes: bytes(&record.row, record.capture.as_ref()),
        }
    }

    pub(super) fn add(&mut self, other: Self) {
        self.commands += other.commands;
        self.rows += other.rows;
        self.bytes += other.bytes;
    }
}

impl Load {
    pub(super) fn new() -> Self {
        Self {
            opened: Stopwatch::start(),
            commands: AtomicU64::new(0),
            rows: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
            late: AtomicU64::new(0),
            lost: AtomicU64::new(0),
            room: Notify::new(),
            closes: OnceLock::new(),
            troubles: Seldom::default(),
            losses: Seldom::default(),
            refusals: Seldom::default(),
        }
    }

    /// Returns how long the queue has been there, in the machine's time.
    pub(super) fn now(&self) -> Duration {
        self.opened.elapsed()
    }

    pub(super) fn counts(&self) -> StoreCounts {
        StoreCounts {
            queued_rows: self.rows.load(Ordering::SeqCst),
            late_rows: self.late.load(Ordering::SeqCst),
            lost_rows: self.lost.load(Ordering::SeqCst),
        }
    }

    pub(super) fn take(&self, weight: Weight) {
        self.commands.fetch_add(weight.commands, Ordering::SeqCst);
        self.rows.fetch_add(weight.rows, Ordering::SeqCst);
        self.bytes.fetch_add(weight.bytes, Ordering::SeqCst);
    }

    pub(super) fn give_back(&self, weight: Weight) {
        self.commands.fetch_sub(weight.commands, Ordering::SeqCst);
        self.rows.fetch_sub(weight.rows, Ordering::SeqCst);
        self.bytes.fetch_sub(weight.bytes, Ordering::SeqCst);
        if self.has_room() {
            self.room.notify_waiters();
        }
    }

    /// Returns whether everything that was handed over is done.
    pub(super) fn is_idle(&self) -> bool {
        self.commands.load(Ordering::SeqCst) == 0
    }

    /// Returns whether a command fits that may be refused.
    pub(super) fn fits(&self, weight: Weight) -> bool {
        self.bytes.load(Ordering::SeqCst) + weight.bytes <= MOST_BYTES
    }

    fn has_room(&self) -> bool {
        self.commands.load(Ordering::SeqCst) < ROOM
            && self.bytes.load(Ordering::SeqCst) < ROOM_BYTES
    }

    /// Waits until there is room.
    pub(super) async fn room(&self) {
        while !self.has_room() {
            let mut notified = std::pin::pin!(self.room.notified());
            // From here on no notification is missed.
            notified.as_mut().enable();
            if !self.has_room() {
                notified.await;
            }
        }
    }

    /// Says when the writer has to be done.
    pub(super) fn close(&self, within: Duration) {
        let _ = self.closes.set(self.now() + within);
    }

    /// Returns whether the writer's time is over.
    pub(super) fn is_over(&self) -> bool {
        self.closes
            .get()
            .is_some_and(|closes| self.now() >= *closes)
    }

    /// Counts the rows that were stored later than the grace after they were handed over.
    pub(super) fn stored<'a>(&self, records: impl Iterator<Item = &'a Record>) {
        let now = self.now();
        let is_late = |record: &&Record| now.saturating_sub(record.since) > GRACE;
        let late = records.filter(is_late).count() as u64;
        if late > 0 {
            self.late.fetch_add(late, Ordering::SeqCst);
        }
    }

    /// Counts rows that are lost, and says so now and then.
    pub(super) fn lose(&self, rows: u64, reason: &str) {
        let lost_rows = self.lost.fetch_add(rows, Ordering::SeqCst) + rows;
        if self.losses.is_due(self.now()) {
            tracing::warn!(lost_rows, reason, "telemetry rows could not be stored");
        }
    }

    /// Says now and then that an envelope, a verdict or a cursor could not be written.
    pub(super) fn refuse(&self, error: &StoreError) {
        if self.refusals.is_due(self.now()) {
            let reason = reason(error);
            tracing::warn!(
                reason,
                "envelopes, verdicts or cursors could not be written"
            );
        }
    }

    /// Says now and then that the writer has to wait.
    pub(super) fn wait_for(&self, error: &StoreError) {
        if self.troubles.is_due(self.now()) {
            let queued_rows = self.counts().queued_rows;
            let reason = reason(error);
            tracing::warn!(
                queued_rows,
                reason,
                "the telemetry store is locked or away; what is queued is stored when it is back"
            );
        }
    }
}

/// Returns what went wrong, without saying where it did.
pub(super) fn reason(error: &StoreError) -> String {
    match error {
        StoreError::Failed { reason } | StoreError::Unavailable { reason, .. } => reason.clone(),
        other => other.to_string(),
    }
}

/// Returns what a row takes of the memory, roughly.
fn bytes(row: &AttemptRow, capture: Option<&Capture>) -> u64 {
    let length = |text: &Option<String>| text.as_ref().map_or(0, String::len);
    let tags = row.tags.iter();
    let tags: usize = tags.map(|(key, value)| key.len() + value.len() + 64).sum();
    let texts = row.id.len()
        + row.run_id.len()
        + row.model.len()
        + length(&row.served_tier)
        + length(&row.repaired_by)
        + length(&row.cache_key)
        + length(&row.prefix_fingerprint);
    let captured = capture.map_or(0, |capture| {
        size_of::<Capture>() + capture.variables.len() + capture.output.len()
    });
    (size_of::<Record>() + tags + texts + captured) as u64
}
