//! How is what a bake-off found shown? As a matrix for people, as one document for programs.

use anstyle::Style;
use rig_spec::Usd;
use serde_json::{Value, json};

use super::artifact::Log;
use super::measure::{Measured, Partial, Reason, Verdict};
use crate::output::{FAINT, GOOD, STRONG, WARN, paint};
use crate::stats::{Interval, Share};
use crate::table::{Cell, Table};

/// Returns the matrix: a column for each variant.
pub(crate) fn matrix(log: &Log, measured: &[Measured], width: usize) -> String {
    let header = &log.header;
    let mut heads = vec![""];
    heads.extend(measured.iter().map(|one| one.variant.as_str()));
    let mut table = Table::new(&heads);
    for (name, part) in ROWS {
        let parts: Vec<_> = measured.iter().map(part).collect();
        if parts.iter().any(|part| !part.is_empty()) {
            let is_whole = |one: &Measured| *name != RUNS || one.partial.is_none();
            let styled = measured.iter().zip(parts).map(|(one, part)| {
                Cell::new(if is_whole(one) { Style::new() } else { WARN }, part)
            });
            table.row(std::iter::once((*name).into()).chain(styled));
        }
    }
    let mut text = format!(
        "{} v{}: {} of {}, at most {} each\n\n",
        paint(STRONG, &header.route),
        header.route_version,
        counted(measured.len(), "variant"),
        counted(header.captures.len(), "capture"),
        dollars(Usd::nanos(header.cap_nanousd))
    );
    text += &table.text(width);
    text.push('\n');
    let mut verdicts = Table::new(&["variant", "verdict"]);
    for one in measured {
        for told in conclusion(&measured[0], one) {
            verdicts.row([one.variant.as_str().into(), told]);
        }
    }
    text += &verdicts.text(width);
    text.push('\n');
    text + &format!(
        "{}\n",
        paint(
            FAINT,
            "Nothing was changed: which candidates serve is decided in the route."
        )
    )
}

type Part = fn(&Measured) -> String;

/// The row that says how far a variant is.
const RUNS: &str = "runs";

/// The rows of the matrix; one that says nothing of any variant is left out.
const ROWS: &[(&str, Part)] = &[
    (RUNS, runs),
    ("conformant", |one| share(one.conformant)),
    ("conformant, 95 %", |one| interval(one.conformant.wilson())),
    ("$ per 1k conformant", effective),
    ("spent", |one| dollars(one.spent)),
    ("repaired", |one| share(one.repaired)),
    ("repairs cost", |one| match one.repaired.hits {
        0 => String::new(),
        _ => dollars(one.repair_cost),
    }),
    ("latency p50", |one| milliseconds(one.latency[0])),
    ("latency p90", |one| milliseconds(one.latency[1])),
    ("latency p99", |one| milliseconds(one.latency[2])),
    ("as expected", |one| counted_share(one.accuracy)),
    ("as expected, 95 %", |one| match one.accuracy.of {
        0 => String::new(),
        _ => interval(one.accuracy.wilson()),
    }),
    ("expected values", |one| counted_share(one.values)),
    ("failures", failures),
    ("tool calls", |one| number(one.tool_calls)),
    ("cannot be asked", |one| number(one.unasked)),
    ("interrupted", |one| number(one.interrupted)),
];

fn runs(one: &Measured) -> String {
    match one.partial {
        None => one.ended().to_string(),
        Some(_) => format!("{} of {}", one.ended(), one.planned),
    }
}

fn effective(one: &Measured) -> String {
    match one.effective.per_thousand() {
        _ if !one.priced => "unpriced".to_owned(),
        None => "–".to_owned(),
        Some(cost) => dollars(cost),
    }
}

fn failures(one: &Measured) -> String {
    let classes = one.failures.iter();
    let classes = classes.map(|(class, count)| format!("{count} {class}"));
    classes.collect::<Vec<_>>().join(", ")
}

fn number(count: u64) -> String {
    match count {
        0 => String::new(),
        count => count.to_string(),
    }
}

fn counted_share(of: Share) -> String {
    match of.of {
        0 => String::new(),
        _ => share(of),
    }
}

/// Returns e.g. `34 (85.0 %)`.
fn share(share: Share) -> String {
    match share.rate() {
        None => "–".to_owned(),
        Some(rate) => format!("{} ({:.1} %)", share.hits, rate * 100.0),
    }
}

fn interval(interval: Interval) -> String {
    format!("{:.1}–{:.1} %", interval.low * 100.0, interval.high * 100.0)
}

/// Returns e.g. `0.81 s`, `12 ms`.
pub(crate) fn milliseconds(time: Option<u64>) -> String {
    match time {
        None => "–".to_owned(),
        Some(ms) if ms < 1_000 => format!("{ms} ms"),
        Some(ms) => format!("{}.{:02} s", ms / 1_000, ms % 1_000 / 10),
    }
}

/// Returns an amount in at most four significant digits, but never fewer than cents; what is not nothing is never shown
/// as nothing.
pub(crate) fn dollars(amount: Usd) -> String {
    let nanos = amount.as_nanos();
    let digits = nanos.checked_ilog10().map_or(0, |log| log + 1);
    // Ten digits are whole dollars; a cent is the eighth.
    let unit = 10_u64.pow(digits.saturating_sub(4).min(7));
    let rounded = nanos / unit * unit + if nanos % unit * 2 >= unit { unit } else { 0 };
    Usd::nanos(rounded).to_string()
}

pub(crate) fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

fn conclusion(incumbent: &Measured, one: &Measured) -> Vec<Cell> {
    let (interval, other) = (one.conformant.wilson(), incumbent.conformant.wilson());
    let verdict = match &one.verdict {
        Verdict::Incumbent => "incumbent".into(),
        Verdict::Proposed => {
            let told = format!(
                "proposed: its interval begins at {:.1} %, the incumbent's at {:.1} %; a thousand conformant outputs cost {} instead of {}",
                interval.low * 100.0,
                other.low * 100.0,
                effective(one),
                effective(incumbent),
            );
            Cell::new(GOOD, told)
        }
        Verdict::Kept(reasons) => {
            let reasons = reasons.iter().map(|reason| reason.told(incumbent, one));
            format!("not proposed: {}", reasons.collect::<Vec<_>>().join("; ")).into()
        }
    };
    let partial = one.partial.as_ref().map(|partial| {
        let why = match partial {
            Partial::OutOfMoney(message) => message,
            Partial::Unfinished => "not finished; `--resume` goes on",
            Partial::Interrupted => {
                "runs were cut off, and may have been paid for; `--resume --ask-again` asks them again"
            }
        };
        Cell::new(WARN, format!("partial: {why}"))
    });
    std::iter::once(verdict).chain(partial).collect()
}

impl Reason {
    const fn name(self) -> &'static str {
        match self {
            Self::ConformsLess => "conforms_less",
            Self::CostsNoLess => "costs_no_less",
            Self::Unpriced => "unpriced",
        }
    }

    fn told(self, incumbent: &Measured, one: &Measured) -> String {
        match self {
            Self::ConformsLess => format!(
                "its interval begins at {:.1} %, below the incumbent's {:.1} %",
                one.conformant.wilson().low * 100.0,
                incumbent.conformant.wilson().low * 100.0
            ),
            Self::CostsNoLess if one.effective.good == 0 => {
                "it has no conformant output".to_owned()
            }
            Self::CostsNoLess => {
                "a conformant output costs no less than the incumbent's".to_owned()
            }
            Self::Unpriced => "what it or the incumbent costs is not known".to_owned(),
        }
    }
}

/// Returns the document of a bake-off.
pub(crate) fn document(log: &Log, measured: &[Measured], artifact: &str) -> Value {
    let header = &log.header;
    json!({
        "id": header.id,
        "route": header.route,
        "route_version": header.route_version,
        "captures": header.captures.len(),
        "cap_nanousd": header.cap_nanousd,
        "artifact": artifact,
        "is_partial": measured.iter().any(|one| one.partial.is_some()),
        "variants": measured.iter().map(variant).collect::<Vec<_>>(),
    })
}

fn variant(one: &Measured) -> Value {
    let of = |share: Share| {
        let Interval { low, high } = share.wilson();
        json!({ "hits": share.hits, "of": share.of, "rate": share.rate(), "wilson95": [low, high] })
    };
    let asked = |share: Share| (share.of > 0).then(|| of(share));
    let effective = one.effective.per_thousand().filter(|_| one.priced);
    let (verdict, reasons) = match &one.verdict {
        Verdict::Incumbent => ("incumbent", Vec::new()),
        Verdict::Proposed => ("proposed", Vec::new()),
        Verdict::Kept(reasons) => ("kept", reasons.iter().map(|reason| reason.name()).collect()),
    };
    let partial = one.partial.as_ref().map(|partial| match partial {
        Partial::OutOfMoney(message) => json!({ "reason": "budget_exhausted", "message": message }),
        Partial::Unfinished => json!({ "reason": "unfinished" }),
        Partial::Interrupted => json!({ "reason": "interrupted" }),
    });
    json!({
        "variant": one.variant,
        "planned": one.planned,
        "ended": one.ended(),
        "partial": partial,
        "conformant": of(one.conformant),
        "effective_nanousd_per_1k": effective.map(Usd::as_nanos),
        "priced": one.priced,
        "spent_nanousd": one.spent.as_nanos(),
        "repaired": of(one.repaired),
        "repair_cost_nanousd": one.repair_cost.as_nanos(),
        "latency_ms": { "p50": one.latency[0], "p90": one.latency[1], "p99": one.latency[2] },
        "as_expected": asked(one.accuracy),
        "values_as_expected": asked(one.values),
        "failures": one.failures,
        "tool_calls": one.tool_calls,
        "unasked": one.unasked,
        "interrupted": one.interrupted,
        "verdict": verdict,
        "reasons": reasons,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn money_is_short_and_never_rounded_to_nothing() {
        let cases = [
            (0, "$0.00"),
            (1, "$0.000000001"),
            (12_345, "$0.00001235"),
            (123_456_789, "$0.1235"),
            (999_960_000, "$1.00"),
            (1_234_567_890, "$1.235"),
            (123_456_789_012, "$123.46"),
            (98_765_432_109_876, "$98765.43"),
        ];
        for (nanos, shown) in cases {
            assert_eq!(dollars(Usd::nanos(nanos)), shown, "{nanos}");
        }
    }

    #[test]
    fn times_are_short() {
        let shown = [None, Some(0), Some(999), Some(1_000), Some(61_239)].map(milliseconds);
        assert_eq!(shown, ["–", "0 ms", "999 ms", "1.00 s", "61.23 s"]);
    }
}
