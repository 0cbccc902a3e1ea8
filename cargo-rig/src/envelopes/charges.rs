//! Why what an envelope was charged is not what the rows cost. Pure.

use std::collections::BTreeMap;
use std::fmt;

use rig_runtime::store::ChargeRow;
use rig_spec::Usd;

/// What one run took from an envelope.
#[derive(Debug)]
pub(crate) struct RunCharges<'a> {
    /// The run's id; `–` for dispatches that have no row.
    pub(crate) run_id: &'a str,
    /// The route.
    pub(crate) route: &'a str,
    /// Its charges, nearly in the order of dispatch.
    pub(crate) charges: Vec<&'a ChargeRow>,
}

/// Why a charge is not the cost of its row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Reason {
    /// The dispatch is under way, and nothing is charged yet.
    UnderWay,
    /// The reservation expired before it was settled.
    Expired,
    /// The provider did not report what the request used.
    UsageMissing,
    /// The model has no price.
    Unpriced,
    /// The provider reported more than the request can have used.
    BeyondReservation,
    /// The attempt's row was lost or deleted.
    NoRow,
}

/// The charges that differ for one reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Differences {
    /// How many requests there are.
    pub(crate) requests: usize,
    /// How much more is charged than the rows cost.
    pub(crate) more: Usd,
    /// How much less.
    pub(crate) less: Usd,
}

/// Returns the charges by run, in the order of the first.
pub(crate) fn by_run(charges: &[ChargeRow]) -> Vec<RunCharges<'_>> {
    let mut runs: Vec<RunCharges<'_>> = Vec::new();
    let mut places = BTreeMap::new();
    for charge in charges {
        let row = charge.row.as_ref();
        let run_id = row.map_or("–", |row| &row.run_id);
        let place = *places.entry(run_id).or_insert(runs.len());
        if place == runs.len() {
            runs.push(RunCharges {
                run_id,
                route: row.map_or("–", |row| &row.route),
                charges: Vec::new(),
            });
        }
        runs[place].charges.push(charge);
    }
    runs
}

/// Returns why a charge is not the cost of its row; `None` where it is.
pub(crate) fn reason(charge: &ChargeRow) -> Option<Reason> {
    let cost = charge.row.as_ref().map(|row| row.cost);
    let (Some(charged), Some(row)) = (charge.charged, &charge.row) else {
        let is_under_way = charge.charged.is_none();
        return Some(if is_under_way {
            Reason::UnderWay
        } else {
            Reason::NoRow
        });
    };
    if Some(charged) == cost {
        return None;
    }
    Some(if charge.is_expired {
        Reason::Expired
    } else if row.pricing_missing {
        Reason::Unpriced
    } else if row.usage_missing {
        Reason::UsageMissing
    } else {
        Reason::BeyondReservation
    })
}

/// Returns what differs, by reason. Together with the cost of the rows it is what was charged.
pub(crate) fn differences(charges: &[ChargeRow]) -> BTreeMap<Reason, Differences> {
    let mut all: BTreeMap<Reason, Differences> = BTreeMap::new();
    for charge in charges {
        let Some(reason) = reason(charge) else {
            continue;
        };
        let of = all.entry(reason).or_default();
        let charged = charge.charged.unwrap_or_default().as_nanos();
        let cost = charge.row.as_ref().map_or(0, |row| row.cost.as_nanos());
        of.requests += 1;
        of.more = of.more + Usd::nanos(charged.saturating_sub(cost));
        of.less = of.less + Usd::nanos(cost.saturating_sub(charged));
    }
    all
}

impl RunCharges<'_> {
    /// Returns what the run was charged so far.
    pub(crate) fn charged(&self) -> Usd {
        let charged = self.charges.iter().filter_map(|charge| charge.charged);
        charged.sum()
    }

    /// Returns what its rows cost.
    pub(crate) fn cost(&self) -> Usd {
        let rows = self.charges.iter().filter_map(|charge| charge.row.as_ref());
        rows.map(|row| row.cost).sum()
    }

    /// Returns whether some price is unknown.
    pub(crate) fn is_unpriced(&self) -> bool {
        let mut rows = self.charges.iter().filter_map(|charge| charge.row.as_ref());
        rows.any(|row| row.pricing_missing)
    }

    /// Returns whether some usage is unknown.
    pub(crate) fn is_usage_missing(&self) -> bool {
        let mut rows = self.charges.iter().filter_map(|charge| charge.row.as_ref());
        rows.any(|row| row.usage_missing)
    }
}

impl Reason {
    /// Returns the name for machines.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::UnderWay => "under_way",
            Self::Expired => "expired",
            Self::UsageMissing => "usage_missing",
            Self::Unpriced => "unpriced",
            Self::BeyondReservation => "beyond_reservation",
            Self::NoRow => "no_row",
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::UnderWay => "under way, charged when it ends",
            Self::Expired => "nobody settled it, so its reservation is charged",
            Self::UsageMissing => "usage not reported, so its reservation is charged",
            Self::Unpriced => "no price known, charged at the conservative rate",
            Self::BeyondReservation => {
                "more usage reported than the request allows, charged at its reservation"
            }
            Self::NoRow => "its row was lost or deleted",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pictures::attempt_row;

    fn charge(id: &str, charged: Option<u64>, cost: Option<u64>) -> ChargeRow {
        let row = cost.map(|cost| {
            let mut row = attempt_row(id, "run");
            row.cost = Usd::nanos(cost);
            row
        });
        ChargeRow {
            id: id.to_owned(),
            reserved: Usd::nanos(100),
            charged: charged.map(Usd::nanos),
            is_expired: false,
            row,
        }
    }

    // E2: what was charged is what the rows cost and the differences, each with its reason.
    #[test]
    fn every_difference_has_its_reason_and_they_add_up() {
        let mut expired = charge("b", Some(100), Some(40));
        expired.is_expired = true;
        let mut quiet = charge("c", Some(100), Some(0));
        quiet.row.as_mut().expect("it has a row").usage_missing = true;
        let mut unpriced = charge("d", Some(70), Some(0));
        unpriced.row.as_mut().expect("it has a row").pricing_missing = true;
        let charges = [
            charge("a", Some(30), Some(30)),
            expired,
            quiet,
            unpriced,
            charge("e", Some(100), Some(170)),
            charge("f", None, None),
            charge("g", Some(5), None),
        ];
        let reasons: Vec<_> = charges.iter().map(reason).collect();
        let expected = [
            None,
            Some(Reason::Expired),
            Some(Reason::UsageMissing),
            Some(Reason::Unpriced),
            Some(Reason::BeyondReservation),
            Some(Reason::UnderWay),
            Some(Reason::NoRow),
        ];
        assert_eq!(reasons, expected);
        let runs = by_run(&charges);
        let ids: Vec<_> = runs.iter().map(|run| run.run_id).collect();
        assert_eq!(ids, ["run", "–"]);
        let charged: Usd = runs.iter().map(RunCharges::charged).sum();
        let cost: Usd = runs.iter().map(RunCharges::cost).sum();
        let differences = differences(&charges);
        let more: Usd = differences.values().map(|one| one.more).sum();
        let less: Usd = differences.values().map(|one| one.less).sum();
        let explained = cost.as_nanos() + more.as_nanos() - less.as_nanos();
        assert_eq!(charged.as_nanos(), explained);
    }
}
