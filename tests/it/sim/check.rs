//! Does the ladder do what the contract says? A case is run twice, and held against the model and the invariants.

use std::fmt::Write as _;

use rig::store::AttemptRow;
use rig::{Error, Usd};

use super::case::Case;
use super::draw::TIERS;
use super::invariants;
use super::model::{End, Expected, GRACE, Row, expect};
use super::reach::Reach;
use super::seen::{Seen, run};
use super::world::GOOD;

/// Holds a case against the model and the invariants.
///
/// # Errors
///
/// When something differs: what, and all that there is to know about the case.
pub(super) fn check(case: &Case, reach: &mut Reach) -> Result<(), String> {
    held(case, reach).map(drop)
}

/// Runs a case again as well, and holds the two runs against each other.
///
/// # Errors
///
/// As those of [`check`].
pub(super) fn check_twice(case: &Case, reach: &mut Reach) -> Result<(), String> {
    let (expected, seen) = held(case, reach)?;
    if case
        .route
        .policy
        .backoff
        .iter()
        .any(|(_, own)| own.jitter > 0.0)
    {
        // How far a wait is lengthened is chance.
        return Ok(());
    }
    same(&seen, &run(case)).map_err(|what| show(case, &expected, &seen, &what))
}

/// Shows a case and what comes of it.
pub(super) fn shown(case: &Case) -> String {
    let seen = run(case);
    show(
        case,
        &expect(case, &seen.observed()),
        &seen,
        "no difference",
    )
}

fn held(case: &Case, reach: &mut Reach) -> Result<(Expected, Seen), String> {
    let seen = run(case);
    let expected = expect(case, &seen.observed());
    reach.note(case, &expected, &seen);
    compared(case, &expected, &seen)?;
    let charges = expected.rows.iter().filter_map(|row| row.charge);
    equal("what is spent", charges.sum(), seen.envelope.0)
        .map_err(|what| show(case, &expected, &seen, &what))?;
    Ok((expected, seen))
}

/// Holds what has come of a run against the model and the invariants.
///
/// # Errors
///
/// As those of [`check`].
pub(super) fn compared(case: &Case, expected: &Expected, seen: &Seen) -> Result<(), String> {
    let held = compare(case, expected, seen).and_then(|()| invariants::hold(case, seen));
    held.map_err(|what| show(case, expected, seen, &what))
}

fn compare(case: &Case, expected: &Expected, seen: &Seen) -> Result<(), String> {
    let rows: Vec<_> = seen
        .rows
        .iter()
        .enumerate()
        .map(|(at, row)| plain(row, seen, at))
        .collect();
    let count = (expected.rows.len(), rows.len());
    for (at, (wanted, row)) in expected.rows.iter().zip(rows).enumerate() {
        // What the contract leaves open is as it is.
        let row = Row {
            coached: wanted.coached.and(row.coached),
            ..row
        };
        if *wanted != row {
            return Err(format!("row {}: {row:?}", at + 1));
        }
    }
    equal("rows", count.0, count.1)?;
    let mut waits = expected.waits.iter().zip(&seen.backoffs);
    let is_in_range = |((least, most), wait): (&(u64, u64), &u64)| (*least..=*most).contains(wait);
    equal("waits", true, waits.all(is_in_range))?;
    equal("number of waits", expected.waits.len(), seen.backoffs.len())?;
    let captured = case.route.capture && expected.end == (End::Served { tools: false });
    let captured = captured && !invariants::zero_retention(case);
    // L17
    let waited = seen.returned - seen.ended;
    let grace = case.store.flush.within(GRACE).0;
    let grace = seen.result.as_ref().map_or(waited, |_| grace);
    equal("how long the rows are waited for", grace, waited)?;
    equal("captures", usize::from(captured), seen.captures.len())?;
    end(&expected.end, seen)
}

fn end(expected: &End, seen: &Seen) -> Result<(), String> {
    match (expected, &seen.result) {
        (End::CallerLeft, None) => Ok(()),
        (
            End::NobodyEligible,
            Some(Err(Error::Config(rig::ConfigError::NothingEligible { .. }))),
        ) => Ok(()),
        (End::Served { tools }, Some(Ok((output, meta)))) => {
            let row = seen.rows.last().unwrap();
            equal("meta's row", &row.id, &meta.inference_id)?;
            equal("validated", !tools, meta.validated)?;
            equal("tool calls", usize::from(*tools), meta.tool_calls.len())?;
            equal("attempts", seen.rows.len(), meta.attempts.total() as usize)?;
            equal(
                "meta's cost",
                seen.rows.iter().map(|row| row.cost).sum::<Usd>(),
                meta.run_cost,
            )?;
            equal("meta's tier", &row.served_tier, &meta.served_tier)?;
            equal("output", !tools, output.contains(GOOD[seen.run]))
        }
        (End::Failed { class, place, says }, Some(Err(Error::Failure(failure)))) => {
            equal("class", *class, failure.class)?;
            equal("place", *place, (failure.provider, &*failure.model))?;
            equal(
                "what the message says",
                true,
                failure.message.contains(says),
            )?;
            // L9: every row is in the history, in order.
            let mut rest = failure.history.as_str();
            for row in &seen.rows {
                let Some(class) = row.failure else { continue };
                let Some((_, after)) = rest.split_once(class.name()) else {
                    return Err(format!("the history: {}", failure.history));
                };
                rest = after;
            }
            Ok(())
        }
        _ => Err("the end".to_owned()),
    }
}

/// Returns a row as the model writes it.
fn plain(row: &AttemptRow, seen: &Seen, at: usize) -> Row {
    let place = |name: &str| match name {
        "alfa" => "alfa",
        "bravo" => "bravo",
        "charlie" => "charlie",
        "delta" => "delta",
        "echo" => "echo",
        "m1" => "m1",
        "m2" => "m2",
        "search" => "search",
        "search.test" => "search.test",
        _ => "unknown",
    };
    let asked = seen.asked.get(at);
    let tier = |served: &str| *TIERS.iter().find(|tier| **tier == served).unwrap_or(&"?");
    let charge = seen.charges.get(&row.id);
    Row {
        place: (place(&row.provider), place(&row.model)),
        at: asked.map_or(u64::MAX, |asked| asked.at),
        end: row.failure.map(rig::store::RowFailure::name),
        repair: row.repaired_by.is_some(),
        tokens: (row.tokens_in, row.tokens_out),
        searches: row.searches,
        tier: row.served_tier.as_deref().map(tier),
        cost: row.cost.as_nanos(),
        unpriced: row.pricing_missing,
        missing: row.usage_missing,
        charge: charge.map(|charge| charge.unwrap_or(u64::MAX)),
        head: row.ttfb_ms,
        took: row.latency_ms,
        coached: asked.map(|asked| asked.coached),
    }
}

/// Returns a row but for its ids.
pub(super) fn without_ids(row: &AttemptRow) -> AttemptRow {
    AttemptRow {
        id: String::new(),
        run_id: String::new(),
        ..row.clone()
    }
}

/// Two runs of a case are the same, but for the ids.
fn same(one: &Seen, other: &Seen) -> Result<(), String> {
    let rows = |seen: &Seen| -> Vec<_> { seen.rows.iter().map(without_ids).collect() };
    equal("rows of a second run", rows(one), rows(other))?;
    equal("requests of a second run", &one.asked, &other.asked)?;
    equal("waits of a second run", &one.backoffs, &other.backoffs)?;
    equal("what is told of a second run", &one.told, &other.told)?;
    let amounts = |seen: &Seen| seen.observed().amounts;
    equal("amounts of a second run", amounts(one), amounts(other))?;
    equal("times of a second run", one.returned, other.returned)?;
    let end = |seen: &Seen| match &seen.result {
        Some(Ok((output, _))) => output.clone(),
        Some(Err(error)) => {
            let run = error
                .failure()
                .map_or("-", |failure| failure.run_id.as_str());
            error.to_string().replace(run, "")
        }
        None => String::new(),
    };
    equal("end of a second run", end(one), end(other))
}

pub(super) fn equal<T: PartialEq + std::fmt::Debug>(
    what: &str,
    wanted: T,
    found: T,
) -> Result<(), String> {
    if wanted == found {
        return Ok(());
    }
    Err(format!("{what}: {found:?} instead of {wanted:?}"))
}

/// All that there is to know about a case that differs.
pub(super) fn show(case: &Case, expected: &Expected, seen: &Seen, what: &str) -> String {
    let mut text = format!("{what}\n\nSIM_SEED={}\n", case.seed);
    let mut put = |line: String| writeln!(text, "{line}").unwrap();
    let route = case.route;
    let plan = if case.options.variant {
        &route.variants[0].plan
    } else {
        &route.plan
    };
    for one in plan.candidates {
        put(format!("candidate {}", candidate(one)));
    }
    match &plan.repair {
        Some(repair) => put(format!(
            "repair {} {:?}",
            repair.max_repairs,
            repair.model.map(candidate)
        )),
        None => put("no repair".to_owned()),
    }
    put(format!("policy {:?}", route.policy));
    put(format!(
        "zero retention {}, capture {}, tools {}, grounding {:?}",
        route.zero_retention,
        route.capture,
        !route.tools.is_empty(),
        route.grounding.as_ref().map(|grounding| grounding.search)
    ));
    put(format!("keys {:?}, {:?}", case.keys, case.options));
    put(format!("leaves in wait {:?}", case.leaves_in_wait));
    put(format!("store {:?}", case.store));
    put(format!("reserved {:?}", seen.observed().amounts));
    for reply in case.script.iter().take(seen.asked.len() + 1) {
        put(format!("reply {reply:?}"));
    }
    for (at, row) in expected.rows.iter().enumerate() {
        put(format!("expected {} {row:?}", at + 1));
    }
    for (at, row) in seen.rows.iter().enumerate() {
        put(format!("seen     {} {:?}", at + 1, plain(row, seen, at)));
    }
    put(format!(
        "expected waits {:?}\nseen     waits {:?}",
        expected.waits, seen.backoffs
    ));
    put(format!("expected {:?}", expected.end));
    let end = seen
        .result
        .as_ref()
        .map(|result| result.as_ref().map(|(output, _)| output));
    put(format!("seen     {end:?}"));
    text
}

fn candidate(candidate: &rig::__private::Candidate) -> String {
    format!(
        "{}/{} {:?} {:?} {:?} {:?}",
        candidate.provider.name,
        candidate.model,
        candidate.capabilities,
        candidate.enforcement,
        candidate.price,
        candidate.limits.tiers
    )
}
