//! How far does it reach into what the contract says of time and money?

use crate::sim::case::{Answers, Case, Reply, Usage, What};
use crate::sim::model::{End, Expected, GRACE, Row, Silence};
use crate::sim::seen::{Seen, Told};

pub(super) fn note(
    note: &mut impl FnMut(&'static str, bool),
    case: &Case,
    expected: &Expected,
    seen: &Seen,
) {
    for (at, row) in expected.rows.iter().enumerate() {
        if let Some(reply) = case.script.get(at) {
            dispatch(note, case, row, *reply, seen.observed().amounts.get(at));
        }
    }
    for silence in &expected.silences {
        note("first content too late", *silence == Silence::First);
        note("silence too long", *silence == Silence::Idle);
        note(
            "silence too long to wait for the end",
            *silence == Silence::Settled,
        );
    }
    let served = matches!(expected.end, End::Served { .. });
    let deltas = seen.told.iter();
    let deltas = deltas
        .filter(|told| matches!(told, Told::Delta(..)))
        .count();
    note("stream in pieces served", served && deltas > 2);
    store(note, case, expected, seen);
}

fn dispatch(
    note: &mut impl FnMut(&'static str, bool),
    case: &Case,
    row: &Row,
    reply: Reply,
    reserved: Option<&u64>,
) {
    let is_search = row.place.0 == "search";
    let is_known = row.charge.is_some() && !row.missing && reply.what.is_answer() && !is_search;
    let is_cancelled = row.end == Some("cancelled");
    let is_unsent = !row.missing && row.charge == Some(0) && !is_search;
    let late = row.end == Some("timeout");
    note(
        "served by a tier of its own price",
        is_known && row.end.is_none() && has_own_price(case, row),
    );
    note(
        "as much used as can be, at the dearest price",
        is_known && reply.usage == Usage::Most && has_own_price(case, row),
    );
    note(
        "more used than can be",
        is_known && reply.usage == Usage::Absurd && row.charge == reserved.copied(),
    );
    note(
        "searched itself, and charged",
        row.searches > Some(1) && row.charge > Some(0) && is_known,
    );
    note("usage not told", row.missing && row.end.is_none());
    note(
        "connection refused",
        is_unsent && reply.what == What::Unsent,
    );
    note("search unsent", is_search && reply.what == What::Unsent);
    note("held back until it is late", is_unsent && late);
    note(
        "search held back until it is late",
        is_search && !row.missing && reply.held_ms > case.route.policy.timeout_ms,
    );
    note("given up while held back", is_unsent && is_cancelled);
    note(
        "served after a silence",
        case.options.streams && row.end.is_none() && row.head.is_some_and(|at| at < row.took),
    );
    let ends = case.options.streams && reply.what.is_answer() && row.end.is_none();
    note("served, and the connection broke", ends && reply.breaks);
    note(
        "served without the usage that came later",
        ends && row.missing && reply.usage != Usage::Untold,
    );
    note(
        "served with the usage that came later",
        ends && !row.missing && reply.tail_ms > 1_000,
    );
    note(
        "heard in part, with usage",
        late && row.missing && row.tokens.1.is_some(),
    );
    note(
        "heard in part, with input",
        late && row.missing && row.tokens.0.is_some() && row.tokens.1.is_none(),
    );
    let judged = matches!(reply.what, What::Good | What::Unliked) && case.options.gate_ms.is_some();
    note("gate waited for", judged && row.end.is_none());
    note(
        "gate cut by the deadline",
        judged && late && !row.missing && row.tokens.0.is_some(),
    );
    note(
        "gate cut by the deadline, and paid",
        judged && late && row.tokens.0.is_some() && row.charge > Some(0),
    );
}

/// Whether the tier that served has a price of its own.
fn has_own_price(case: &Case, row: &Row) -> bool {
    let plans = case.route.variants.iter().map(|variant| &variant.plan);
    let mut all = plans
        .chain([&case.route.plan])
        .flat_map(|plan| plan.candidates);
    let candidate = all.find(|one| (one.provider.name, one.model) == row.place);
    let tiers = candidate.map(|candidate| candidate.limits.tiers);
    let is_own = |tier: usize| tiers.is_some_and(|tiers| tiers[tier].is_some());
    match row.tier {
        Some("flex") => is_own(rig::__private::Tier::Flex as usize),
        Some("priority") => is_own(rig::__private::Tier::Priority as usize),
        Some("a word") | None => false,
        Some(_) => is_own(rig::__private::Tier::Standard as usize),
    }
}

fn store(note: &mut impl FnMut(&'static str, bool), case: &Case, expected: &Expected, seen: &Seen) {
    let count = seen.reserves.len();
    let answers = |at: usize| case.store.reserves.get(at).copied().unwrap_or_default();
    let waits = |answers| matches!(answers, Answers::After(1..));
    let last = count.checked_sub(1).filter(|_| count > seen.rows.len());
    note(
        "reservation waited for",
        (0..seen.rows.len().min(count)).any(|at| waits(answers(at))),
    );
    if let Some(last) = last.map(answers) {
        let is_open = !matches!(last, Answers::Fails(_));
        let ends = |class: &str, says: &str| match &expected.end {
            End::Failed {
                class: of,
                says: words,
                ..
            } => of.name() == class && *words == says,
            _ => false,
        };
        note(
            "reservation cut by the deadline",
            is_open && ends("timeout", "deadline"),
        );
        note(
            "reservation not waited for any longer",
            matches!(last, Answers::Never) && ends("budget_exhausted", "envelope"),
        );
        note(
            "reservation that fails",
            !is_open && ends("budget_exhausted", "envelope"),
        );
    }
    let asks = !seen.rows.is_empty();
    note("room waited for", asks && waits(case.store.room));
    note("no room", asks && matches!(case.store.room, Answers::Never));
    let served = matches!(expected.end, End::Served { .. });
    let flush = case.store.flush;
    note("rows waited for", served && waits(flush));
    note(
        "rows not waited for any longer",
        served && flush.within(GRACE).1.eq(&false),
    );
    note(
        "rows that fail",
        served && matches!(flush, Answers::Fails(_)),
    );
    let policy = &case.route.policy;
    let silent = case.options.streams && policy.idle_ms.or(policy.first_token_ms).is_some();
    let is_late = matches!(
        expected.end,
        End::Failed {
            says: "deadline",
            ..
        }
    );
    note("stream cut by the deadline", silent && is_late);
}
