//! What may leave the machine, and who sends it next?
//!
//! An [`ExportRow`] is all that exporters are ever given. It is made of numbers, ids, closed enums and [`Name`]s: it has no
//! room for a prompt, an output or a capture, and none for tags, which are words of the caller's.

use rig_spec::{Tier, Usd};
use uuid::Uuid;

use super::envelope::check_name;
use super::{AttemptRow, RowFailure, StoreError};
use crate::trace::Traceparent;

/// What is exported of an attempt. See [`AttemptRow`] for what the fields are.
#[derive(Clone, Debug, PartialEq)]
pub struct ExportRow {
    /// The attempt's id.
    pub id: Uuid,
    /// When it was dispatched, in milliseconds since 1970 (UTC).
    pub ts_ms: i64,
    /// The run it belongs to.
    pub run_id: Uuid,
    /// The route; `None` in the raw lane.
    pub route: Option<Name>,
    /// The route's version; 0 in the raw lane.
    pub route_version: u32,
    /// The provider.
    pub provider: Name,
    /// The model that was asked for.
    pub model: Name,
    /// The tier that was asked for.
    pub requested_tier: Option<Tier>,
    /// The tier that served; `None` also for one that we do not know.
    pub served_tier: Option<Tier>,
    /// The whole input, in tokens.
    pub tokens_in: Option<u64>,
    /// The output, reasoning included, in tokens.
    pub tokens_out: Option<u64>,
    /// The part of `tokens_in` that was read from a cache.
    pub tokens_cached: Option<u64>,
    /// The part of `tokens_in` that was written to a cache.
    pub tokens_cache_write: Option<u64>,
    /// What the attempt cost.
    pub cost: Usd,
    /// Whether the cost leaves out the tokens, because the model has no known price.
    pub pricing_missing: bool,
    /// From dispatch to the last byte, in milliseconds.
    pub latency_ms: u64,
    /// From dispatch to the first content or the head, in milliseconds.
    pub ttfb_ms: Option<u64>,
    /// Why it failed; `None` for a conformant answer.
    pub failure: Option<RowFailure>,
    /// Its place in the run, from 1.
    pub attempt: u32,
    /// The variant that served; `None` for the route itself.
    pub served_variant: Option<Name>,
    /// `provider/model` that repaired, on rows of the repair rung.
    pub repaired_by: Option<Name>,
    /// Whether it came from the raw lane.
    pub is_raw: bool,
    /// Where in the caller's trace the run belongs.
    pub traceparent: Option<Traceparent>,
}

/// A name: letters, digits and `._:/@+-`, at most 128 of them. No sentence and no JSON is one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name(String);

/// An exporter's question for rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExportTurn {
    /// The exporter, which has one cursor in the store.
    pub exporter: String,
    /// Who asks; of all processes that share a store, one at a time exports.
    pub worker: String,
    /// The present, in milliseconds since 1970 (UTC).
    pub now_ms: i64,
    /// Until when nobody else is given rows, unless the worker says before that it is done.
    pub lapses_ms: i64,
    /// The most rows.
    pub most: u32,
}

/// What there is to export.
#[derive(Clone, Debug, PartialEq)]
pub enum ExportNext {
    /// Rows, in the order in which they were committed.
    Rows(ExportBatch),
    /// No row comes after the cursor.
    Nothing,
    /// It is another worker's turn.
    Taken,
}

/// Rows to be exported, and where the cursor is after them.
#[derive(Clone, Debug, PartialEq)]
pub struct ExportBatch {
    /// The rows.
    pub rows: Vec<ExportRow>,
    /// The rows among them that no exporter can send, which are passed over.
    pub passed_over: Vec<PassedOver>,
    /// The id of the last row, those passed over included.
    pub cursor: String,
}

/// A row that no exporter is given, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PassedOver {
    /// The row's id.
    pub id: String,
    /// Why, e.g. `its id is not a UUID`.
    pub reason: String,
}

/// A worker that is done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exported {
    /// The exporter.
    pub exporter: String,
    /// Who was given the rows.
    pub worker: String,
    /// Where the cursor is now; `None` leaves it, and the rows are given out again.
    pub cursor: Option<String>,
    /// The rows behind the cursor that have not arrived and never will (T9).
    pub set_aside: Vec<PassedOver>,
    /// Why nothing has arrived. `None` leaves what the store says of it, until the cursor moves.
    pub fault: Option<String>,
    /// The present, in milliseconds since 1970 (UTC).
    pub now_ms: i64,
}

/// How far an exporter has come.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ExportState {
    /// The exporter: `ingest` or `otlp`.
    pub exporter: String,
    /// How many rows come after its cursor.
    pub waiting: u64,
    /// How many rows were set aside, and have not been pruned since.
    pub set_aside: u64,
    /// The newest of them, at most 20, the newest first.
    pub newest_set_aside: Vec<SetAside>,
    /// Why nothing was sent the last time; `None` where nothing is wrong.
    pub fault: Option<String>,
    /// Since when that is so, in milliseconds since 1970 (UTC).
    pub fault_since_ms: Option<i64>,
}

/// A row that an exporter has set aside. It stays in the store.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SetAside {
    /// The row's id.
    pub id: String,
    /// When it was set aside, in milliseconds since 1970 (UTC).
    pub ts_ms: i64,
    /// Why, e.g. `status 400`.
    pub reason: String,
}

/// How many of the rows that were set aside are listed.
pub(super) const LISTED: u32 = 20;

/// Whose turn it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Holder {
    pub(super) worker: String,
    pub(super) taken_ms: i64,
    pub(super) lapses_ms: i64,
}

impl Holder {
    /// Returns whether somebody else has to wait. A turn that begins in the future is one of before the clock was set
    /// back, and binds nobody.
    pub(super) fn keeps_out(&self, turn: &ExportTurn) -> bool {
        let is_under_way = (self.taken_ms..self.lapses_ms).contains(&turn.now_ms);
        is_under_way && self.worker != turn.worker
    }
}

impl ExportTurn {
    /// Returns an error if a name is too long for some store.
    pub(super) fn check(&self) -> Result<(), StoreError> {
        check_name("exporter", &self.exporter)?;
        check_name("worker", &self.worker)
    }

    /// Returns who has the turn if this is granted.
    pub(super) fn holder(&self) -> Holder {
        Holder {
            worker: self.worker.clone(),
            taken_ms: self.now_ms,
            lapses_ms: self.lapses_ms,
        }
    }
}

impl ExportNext {
    /// Returns what comes of rows with these ids; `None` is one that this build cannot read.
    pub(super) fn of<'a>(
        rows: impl IntoIterator<Item = (&'a str, Option<&'a AttemptRow>)>,
    ) -> Self {
        let (mut given, mut passed_over) = (Vec::new(), Vec::new());
        let mut cursor = None;
        for (id, row) in rows {
            cursor = Some(id);
            match row.map(|row| ExportRow::of(row).ok_or(NO_UUID)) {
                Some(Ok(row)) => given.push(row),
                other => passed_over.push(PassedOver {
                    id: id.to_owned(),
                    reason: other.map_or(NEWER, |_| NO_UUID).to_owned(),
                }),
            }
        }
        cursor.map_or(Self::Nothing, |cursor| {
            Self::Rows(ExportBatch {
                rows: given,
                passed_over,
                cursor: cursor.to_owned(),
            })
        })
    }
}

/// Why a row is passed over: one of another version, and one that no rig has recorded.
const NEWER: &str = "this version cannot read it";
const NO_UUID: &str = "its id or its run's is not a UUID";

impl ExportRow {
    /// Returns what may be exported of a row; `None` if its ids are no UUIDs.
    #[must_use]
    pub fn of(row: &AttemptRow) -> Option<Self> {
        Some(Self {
            id: Uuid::parse_str(&row.id).ok()?,
            ts_ms: row.ts_ms,
            run_id: Uuid::parse_str(&row.run_id).ok()?,
            route: (!row.route.is_empty()).then(|| Name::of(&row.route)),
            route_version: row.route_version,
            provider: Name::of(&row.provider),
            model: Name::of(&row.model),
            requested_tier: row.requested_tier,
            served_tier: row.served_tier.as_deref().and_then(Tier::served),
            tokens_in: row.tokens_in,
            tokens_out: row.tokens_out,
            tokens_cached: row.tokens_cached,
            tokens_cache_write: row.tokens_cache_write,
            cost: row.cost,
            pricing_missing: row.pricing_missing,
            latency_ms: row.latency_ms,
            ttfb_ms: row.ttfb_ms,
            failure: row.failure,
            attempt: row.attempt,
            served_variant: row.served_variant.as_deref().map(Name::of),
            repaired_by: row.repaired_by.as_deref().map(Name::of),
            is_raw: row.lane == "raw",
            traceparent: row.traceparent,
        })
    }

    /// Returns the class of a failure; `_OTHER` for one that this version does not know, whose text may be anything.
    #[must_use]
    pub const fn failure_name(&self) -> Option<&'static str> {
        match self.failure {
            None => None,
            Some(RowFailure::Unknown(_)) => Some(Name::OTHER),
            Some(known) => Some(known.name()),
        }
    }

    /// Returns the lane, as it stands in the column: `ladder` or `raw`.
    #[must_use]
    pub const fn lane(&self) -> &'static str {
        if self.is_raw { "raw" } else { "ladder" }
    }
}

impl Name {
    const LONGEST: usize = 128;

    /// What stands for a text that is no name.
    const OTHER: &str = "_OTHER";

    /// Returns the name; `_OTHER` for a text that is none.
    #[must_use]
    pub fn of(text: &str) -> Self {
        let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || b"._:/@+-".contains(&byte);
        let is_name = (1..=Self::LONGEST).contains(&text.len()) && text.bytes().all(is_letter);
        Self(if is_name { text } else { Self::OTHER }.to_owned())
    }

    /// Returns the text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // T4: what reads like text is no name.
    #[test]
    fn a_name_is_a_name() {
        for name in [
            "gpt-5.4-mini",
            "accounts/fireworks/models/x:y",
            "a",
            &"m".repeat(128),
        ] {
            assert_eq!(Name::of(name).as_str(), name);
        }
        for text in ["", "two words", "{\"a\":1}", "é", "a\nb", &"m".repeat(129)] {
            assert_eq!(Name::of(text).as_str(), "_OTHER", "{text}");
        }
    }

    #[test]
    fn served_tiers_are_ours() {
        for (name, expected) in [
            ("default", Some(Tier::Standard)),
            ("on_demand", Some(Tier::Standard)),
            ("FLEX", Some(Tier::Flex)),
            ("priority", Some(Tier::Priority)),
            ("the words of an answer", None),
        ] {
            assert_eq!(Tier::served(name), expected, "{name}");
        }
    }

    #[test]
    fn a_turn_binds_others_while_it_lasts() {
        let turn = |worker: &str, now_ms| ExportTurn {
            exporter: "e".to_owned(),
            worker: worker.to_owned(),
            now_ms,
            lapses_ms: now_ms + 10,
            most: 1,
        };
        let held = turn("a", 100).holder();
        assert!(held.keeps_out(&turn("b", 100)) && held.keeps_out(&turn("b", 109)));
        assert!(!held.keeps_out(&turn("b", 110)));
        assert!(!held.keeps_out(&turn("a", 105)));
        // The clock was set back.
        assert!(!held.keeps_out(&turn("b", 99)));
    }
}
