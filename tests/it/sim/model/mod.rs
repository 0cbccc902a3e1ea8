//! What has to come of a case? The contract's §L, written without a look at the ladder.

mod attempt;
mod eligible;
mod expected;
mod facts;
mod meet;
mod money;

use rig::__private::{Candidate, Search};
use rig::FailureClass::{self, ConfigAuth, ContentInvalid, QualityRejected};

use super::case::Case;
use eligible::{allows, eligible, has_key, plan, searcher};
use expected::place;
pub(super) use expected::{End, Expected, Observed, Place, Row};
use facts::Why;
pub(super) use meet::Silence;
pub(super) use money::GRACE;

struct Run<'a> {
    case: &'a Case,
    seen: &'a Observed,
    /// How many reservations were asked for.
    reservations: usize,
    now: u64,
    repaired: bool,
    searched: bool,
    /// Whether the present candidate has refused the caller's place in its cache.
    refuses_cache: bool,
    last: End,
    rows: Vec<Row>,
    waits: Vec<(u64, u64)>,
    silences: Vec<Silence>,
}

/// Returns what has to come of a case of whose run this is known.
pub(super) fn expect(case: &Case, seen: &Observed) -> Expected {
    let mut run = Run {
        case,
        seen,
        reservations: 0,
        now: 0,
        repaired: false,
        searched: false,
        refuses_cache: false,
        last: End::NobodyEligible, // R4
        rows: Vec::new(),
        waits: Vec::new(),
        silences: Vec::new(),
    };
    let end = eligible(case)
        .into_iter()
        .find_map(|candidate| run.candidate(candidate).err());
    Expected {
        end: end.unwrap_or(run.last),
        rows: run.rows,
        waits: run.waits,
        silences: run.silences,
    } // L9
}

impl Run<'_> {
    /// L3 to L6: all that is done with one candidate. An error is the run's end.
    fn candidate(&mut self, candidate: &'static Candidate) -> Result<(), End> {
        let mut spent = [0; FailureClass::ALL.len()];
        let mut row = Row::of(candidate, false);
        self.refuses_cache = false;
        loop {
            self.in_time(candidate)?;
            let search = searcher(self.case, candidate).filter(|_| !self.searched);
            let unlocked =
                |search: &Search| search.key_env.is_none() || self.case.keys.contains(&"search");
            if !has_key(self.case, candidate) || !search.is_none_or(unlocked) {
                self.fail(place(candidate), ConfigAuth, "no key"); // R5
                return Ok(());
            }
            let (mut class, why) = match search {
                Some(search) => match self.search(candidate, search)? {
                    Some(failed) => failed,
                    None => continue,
                },
                None => self.attempt(candidate, row.clone(), true)?,
            };
            if why == Why::SchemaInvalid {
                row.coached = Some(true); // L15
                class = self.repair(candidate)?.unwrap_or(class);
            } else if class == ContentInvalid && row.coached == Some(false) {
                row.coached = None;
            }
            let asks = if let Why::Asks(ms) = why { ms } else { 0 };
            let falls_through = matches!(why, Why::Cut | Why::Rejected) || asks > 240_000; // L14, K4, K2
            let retry = spent[class as usize];
            if class == ConfigAuth
                || falls_through
                || !self.may_retry(candidate, class, retry, asks)?
            {
                return Ok(());
            }
            spent[class as usize] += 1;
        }
    }

    /// K0, K2, L16: waits for a retry if there is one left, and time for it.
    fn may_retry(
        &mut self,
        candidate: &Candidate,
        class: FailureClass,
        retry: u32,
        asks: u64,
    ) -> Result<bool, End> {
        let policy = &self.case.route.policy;
        if !policy
            .retries
            .iter()
            .any(|(named, budget)| *named == class && retry < *budget)
        {
            return Ok(false);
        }
        let (first, factor, cap) = facts::default_backoff(class);
        let own = policy.backoff.iter().find(|(named, _)| *named == class);
        let (first, factor, cap, jitter) = own.map_or((first, factor, cap, 0.0), |(_, own)| {
            (own.first_ms, own.factor, own.cap_ms, own.jitter)
        });
        let own = (first as f64 * factor.powi(retry as i32)).min(cap as f64);
        let (least, most) = (
            asks.max(own as u64),
            asks.max((own * (1.0 + jitter)) as u64),
        );
        if self.deadline().is_some_and(|end| self.now + least >= end) {
            self.late(candidate);
            return Ok(false);
        }
        if most > 0 {
            if self.case.leaves_in_wait == Some(self.waits.len() + 1) {
                return Err(End::CallerLeft); // L11
            }
            let observed = self.seen.backoffs.get(self.waits.len());
            let wait = observed.copied().unwrap_or(least);
            self.now += wait.clamp(least, most);
            self.waits.push((least, most));
        }
        Ok(true)
    }

    /// L7, L8: what was repaired and is rejected by the caller is not repaired again.
    fn repair(&mut self, candidate: &'static Candidate) -> Result<Option<FailureClass>, End> {
        let rejected = |(class, _)| (class == QualityRejected).then_some(class);
        let Some(repair) = &plan(self.case).repair else {
            return Ok(None);
        };
        if std::mem::replace(&mut self.repaired, true) {
            return Ok(None);
        }
        let row = |candidate| Row {
            repair: true,
            coached: None,
            ..Row::of(candidate, true)
        };
        self.in_time(candidate)?;
        let first = rejected(self.attempt(candidate, row(candidate), true)?);
        if first.is_some() {
            return Ok(first);
        }
        let second = repair.model.filter(|_| repair.max_repairs == 2);
        if let Some(model) = second.filter(|model| allows(self.case, model)) {
            self.in_time(model)?;
            // A repair that nobody could be asked for does not hide why it was wanted.
            if has_key(self.case, model) {
                return Ok(rejected(self.attempt(model, row(model), false)?));
            }
        }
        Ok(None)
    }
}
