//! How far does the simulation reach? What never happens in it proves nothing.

mod money;

use std::collections::BTreeMap;

use super::case::{Case, What};
use super::model::{End, Expected};
use super::seen::{Seen, Told};

/// How often what happened.
#[derive(Default)]
pub(super) struct Reach {
    pub(super) runs: usize,
    happened: BTreeMap<&'static str, usize>,
}

/// What has to happen more than once in a while.
const WHOLE: [&str; 84] = [
    "served",
    "tools called",
    "nobody eligible",
    "caller left",
    "caller left in a wait",
    "failed with content_invalid",
    "failed with refusal",
    "failed with quality_rejected",
    "failed with timeout",
    "failed with capacity_shed",
    "failed with network",
    "failed with config_auth",
    "content_invalid",
    "refusal",
    "quality_rejected",
    "timeout",
    "capacity_shed",
    "network",
    "config_auth",
    "cancelled",
    "cancelled in a body",
    "search",
    "search failed",
    "search cut by the deadline",
    "repair",
    "repair served",
    "repair by the repair model",
    "repair that fails otherwise",
    "repair that is rejected",
    "repair with tools",
    "wait",
    "jittered wait",
    "wait longer than the backoff",
    "wait too long",
    "cut at the token limit",
    "ended by the deadline",
    "captured",
    "zero retention",
    "variant",
    "failed with cache_invalid",
    "failed with budget_exhausted",
    "cache_invalid",
    "handle told",
    "handle dropped",
    "nothing fits into the envelope",
    "envelope exhausted later",
    "envelope that pays",
    "stream served",
    "stream with a failure",
    "trial declared and others asked",
    "trial named by a variant",
    "served by a tier of its own price",
    "as much used as can be, at the dearest price",
    "more used than can be",
    "usage not told",
    "searched itself, and charged",
    "connection refused",
    "held back until it is late",
    "given up while held back",
    "first content too late",
    "silence too long",
    "silence too long to wait for the end",
    "served, and the connection broke",
    "served without the usage that came later",
    "served with the usage that came later",
    "served after a silence",
    "heard in part, with usage",
    "heard in part, with input",
    "reservation waited for",
    "reservation cut by the deadline",
    "reservation not waited for any longer",
    "reservation that fails",
    "room waited for",
    "no room",
    "rows waited for",
    "rows not waited for any longer",
    "rows that fail",
    "gate waited for",
    "gate cut by the deadline",
    "gate cut by the deadline, and paid",
    "search unsent",
    "search held back until it is late",
    "stream cut by the deadline",
    "stream in pieces served",
];

impl Reach {
    /// Notes what happened in a run.
    pub(super) fn note(&mut self, case: &Case, expected: &Expected, seen: &Seen) {
        self.runs += 1;
        let mut note =
            |what, happened| *self.happened.entry(what).or_default() += usize::from(happened);
        match &expected.end {
            End::Served { tools: false } => note("served", true),
            End::Served { tools: true } => note("tools called", true),
            End::NobodyEligible => note("nobody eligible", true),
            End::CallerLeft => {
                note("caller left", true);
                note(
                    "caller left in a wait",
                    seen.backoffs_begun > seen.backoffs.len(),
                );
            }
            End::Failed { class, says, .. } => {
                let fails = WHOLE
                    .iter()
                    .find(|what| what.strip_prefix("failed with ") == Some(class.name()));
                note(fails.unwrap_or(&"?"), true);
                note("cut at the token limit", *says == "max_output_tokens");
                note("wait too long", *says == "not waited for");
                note("ended by the deadline", *says == "deadline");
            }
        }
        for (at, row) in expected.rows.iter().enumerate() {
            let is_search = row.place.0 == "search";
            let serves = row.end.is_none();
            row.end.iter().for_each(|end| note(end, true));
            note(
                "cancelled in a body",
                row.end == Some("cancelled") && row.head.is_some(),
            );
            note("search", is_search && serves);
            note("search failed", is_search && row.end == Some("network"));
            note(
                "search cut by the deadline",
                is_search && row.end == Some("timeout"),
            );
            note("repair", row.repair);
            note("repair served", row.repair && serves);
            note(
                "repair with tools",
                row.repair
                    && case
                        .script
                        .get(at)
                        .is_some_and(|reply| reply.what == What::Tool),
            );
            let follows = row.repair && expected.rows[at - 1].repair;
            note("repair by the repair model", follows);
            note(
                "repair that fails otherwise",
                row.repair && !matches!(row.end, None | Some("content_invalid")),
            );
            note(
                "repair that is rejected",
                row.repair && row.end == Some("quality_rejected"),
            );
        }
        note("wait", !seen.backoffs.is_empty());
        note(
            "jittered wait",
            expected.waits.iter().any(|(least, most)| least < most),
        );
        note(
            "wait longer than the backoff",
            seen.backoffs.contains(&7_000),
        );
        note("captured", !seen.captures.is_empty());
        let (told, dropped) = handles(seen);
        note("handle told", told);
        note("handle dropped", dropped);
        let is_served = matches!(expected.end, End::Served { .. });
        let is_over = seen.reserves.len() > seen.rows.len();
        note(
            "nothing fits into the envelope",
            is_over && seen.rows.is_empty(),
        );
        note("envelope exhausted later", is_over && !seen.rows.is_empty());
        note("envelope that pays", is_served && !seen.reserves.is_empty());
        let heard = |what: fn(&Told) -> bool| seen.told.iter().any(what);
        note(
            "stream served",
            is_served && heard(|told| matches!(told, Told::Delta(..))),
        );
        note(
            "stream with a failure",
            heard(|told| matches!(told, Told::Discarded(..))),
        );
        let has_trials = !case.trials.is_empty() && !seen.rows.is_empty();
        note("trial declared and others asked", has_trials);
        note(
            "trial named by a variant",
            has_trials && case.options.variant,
        );
        note(
            "zero retention",
            seen.rows
                .iter()
                .any(|row| row.tags.contains_key("zdr_enforced")),
        );
        note(
            "variant",
            seen.rows.iter().any(|row| row.served_variant.is_some()),
        );
        money::note(&mut note, case, expected, seen);
    }

    pub(super) fn add(&mut self, other: &Self) {
        self.runs += other.runs;
        for (what, count) in &other.happened {
            *self.happened.entry(what).or_default() += count;
        }
    }

    /// Notes something that is no part of every run.
    pub(super) fn tick(&mut self, what: &'static str) {
        *self.happened.entry(what).or_default() += 1;
    }

    /// Everything has happened, and often.
    pub(super) fn assert_whole(&self) {
        self.assert_often(&WHOLE, 100);
    }

    /// All of these have happened so often.
    pub(super) fn assert_often(&self, all: &[&str], times: usize) {
        let seldom = |what: &&&str| self.happened.get(**what).is_none_or(|count| *count < times);
        let seldom: Vec<_> = all.iter().filter(seldom).collect();
        assert!(seldom.is_empty(), "{seldom:?} of {:#?}", self.happened);
    }
}

/// Whether a place in a cache was told, and whether a candidate that was told it was asked again without.
fn handles(seen: &Seen) -> (bool, bool) {
    let told: Vec<_> = seen.asked.iter().filter(|asked| asked.has_handle).collect();
    let is_dropped = |asked: &&super::asked::Asked| {
        let same = |before: &&&super::asked::Asked| {
            before.at <= asked.at && (&before.host, &before.model) == (&asked.host, &asked.model)
        };
        asked.has_task && !asked.has_handle && told.iter().any(|before| same(&before))
    };
    (
        !told.is_empty(),
        seen.asked.iter().any(|asked| is_dropped(&asked)),
    )
}
