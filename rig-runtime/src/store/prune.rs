//! What is deleted of a store (T7).
//!
//! A [`Prune`] says which rows or captures go. The charges of pruned rows stay, so that no envelope ever has spent less than
//! before.

use std::time::Duration;

use super::AttemptRow;

/// A request to delete what a store keeps. Nothing else is ever deleted.
///
/// All of its conditions hold together; without any, everything is meant.
///
/// ```
/// # use std::time::Duration;
/// # use rig_runtime::{Rig, store::{Prune, StoreError}};
/// # async fn prune(rig: Rig) -> Result<(), StoreError> {
/// const DAY: Duration = Duration::from_secs(86_400);
/// rig.prune(Prune::rows().older_than(90 * DAY)).await?;
/// rig.prune(Prune::captures().older_than(7 * DAY)).await?;
/// let forgotten = rig.prune(Prune::captures().tag("customer", "acme")).await?;
/// println!("{} captures are gone", forgotten.captures);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use = "nothing is deleted until a rig is asked to"]
pub struct Prune {
    /// Whether rows go as well, and with them their captures and verdicts.
    pub(super) takes_rows: bool,
    pub(super) older_than: Option<Duration>,
    pub(super) route: Option<String>,
    pub(super) tag: Option<(String, String)>,
    pub(super) id: Option<String>,
    /// Whether rows go that an exporter has not sent yet.
    pub(super) takes_unexported: bool,
    /// Whether it only counts.
    pub(super) is_dry: bool,
}

/// What has been deleted, or would be.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Pruned {
    /// Rows of the table `inferences`.
    pub rows: u64,
    /// Captures.
    pub captures: u64,
    /// Verdicts of the rows, and those of runs that have no row any more.
    pub verdicts: u64,
    /// Rows that stay, since an exporter has not sent them yet.
    pub kept_unexported: u64,
    /// Whether the deleted text may still be read in the files of the store: in those of SQLite if another process kept
    /// its log in use, in those of PostgreSQL until it vacuums.
    pub leaves_traces: bool,
}

impl Prune {
    /// Deletes rows, with their captures and verdicts.
    pub fn rows() -> Self {
        Self {
            takes_rows: true,
            ..Self::captures()
        }
    }

    /// Deletes captures; their rows stay.
    pub fn captures() -> Self {
        Self {
            takes_rows: false,
            older_than: None,
            route: None,
            tag: None,
            id: None,
            takes_unexported: false,
            is_dry: false,
        }
    }

    /// Only what was dispatched longer ago than this.
    pub fn older_than(mut self, age: Duration) -> Self {
        self.older_than = Some(age);
        self
    }

    /// Only what is of this route; that of the raw lane is empty.
    pub fn route(mut self, route: impl Into<String>) -> Self {
        self.route = Some(route.into());
        self
    }

    /// Only what has this tag.
    pub fn tag(mut self, key: impl Into<String>, value: impl Into<String>) -> Self {
        self.tag = Some((key.into(), value.into()));
        self
    }

    /// Only what has this id: that of an attempt, or of a run.
    pub fn id(mut self, id: impl Into<String>) -> Self {
        self.id = Some(id.into());
        self
    }

    /// Also rows that an exporter has not sent yet. They never arrive then.
    pub fn unexported(mut self) -> Self {
        self.takes_unexported = true;
        self
    }

    /// Deletes nothing, and counts what would be deleted.
    pub fn dry_run(mut self) -> Self {
        self.is_dry = true;
        self
    }

    /// Returns before when it takes what was dispatched, in milliseconds since 1970 (UTC).
    pub(super) fn before_ms(&self, now_ms: i64) -> Option<i64> {
        let age = i64::try_from(self.older_than?.as_millis()).unwrap_or(i64::MAX);
        Some(now_ms.saturating_sub(age))
    }

    /// Returns whether a row meets the conditions.
    pub(super) fn takes(&self, row: &AttemptRow, now_ms: i64) -> bool {
        let is_of = |wanted: &Option<String>, is: &[&str]| {
            let wanted = wanted.as_deref();
            wanted.is_none_or(|wanted| is.contains(&wanted))
        };
        let has = |tag: &Option<(String, String)>| {
            let tag = tag.as_ref();
            tag.is_none_or(|(key, value)| row.tags.get(key) == Some(value))
        };
        let before_ms = self.before_ms(now_ms);
        before_ms.is_none_or(|before_ms| row.ts_ms < before_ms)
            && is_of(&self.route, &[&row.route])
            && is_of(&self.id, &[&row.id, &row.run_id])
            && has(&self.tag)
    }
}

impl Pruned {
    /// Adds what another part of the same request came to.
    pub(super) fn add(&mut self, other: &Self) {
        self.rows += other.rows;
        self.captures += other.captures;
        self.verdicts += other.verdicts;
        self.kept_unexported += other.kept_unexported;
        self.leaves_traces |= other.leaves_traces;
    }
}
