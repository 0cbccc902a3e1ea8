//! Which replies and which store does a case meet?

use rig::__private::Route;

use super::TIERS;
use crate::sim::case::{Answers, Keeper, Options, Reply, Usage, What};
use crate::sim::dice::Dice;

/// What each dispatch of a case meets.
pub(super) fn script(dice: &mut Dice, route: &Route, options: &Options) -> Vec<Reply> {
    // Some worlds are kind, and in others hardly anything works.
    let one_good_in = *dice.of(&[2, 3, 5, 40]);
    let usages = [
        Usage::Untold,
        Usage::Told,
        Usage::Told,
        Usage::Told,
        Usage::Told,
        Usage::Most,
        Usage::Most,
        Usage::Absurd,
    ];
    let first = route.policy.first_token_ms.unwrap_or(0);
    let idle = route.policy.idle_ms.unwrap_or(120);
    let pauses = [0, 0, 0, 0, 0, 43, idle - 1, idle, idle + 1];
    let tails = [
        0,
        0,
        0,
        0,
        47,
        idle - 1,
        idle,
        idle + 1,
        1_499,
        1_500,
        1_501,
        8_009,
    ];
    let times = [
        0,
        0,
        0,
        10,
        700,
        first.saturating_sub(1),
        first,
        first + u64::from(first > 0),
        route.policy.timeout_ms - 1,
        // In a stream no piece comes at the limit itself: the contract does not say whether it is read.
        route.policy.timeout_ms - u64::from(options.streams),
        route.policy.timeout_ms + 1,
    ];
    // Half of the worlds lose no time.
    let times = if dice.one_in(2) {
        &times[..5]
    } else {
        &times[..]
    };
    let length = *dice.of(&[3, 12, 60]);
    let mut script = Vec::new();
    for _ in 0..length {
        let longest = 8 + dice.below(4) as usize;
        let what = if dice.one_in(one_good_in) {
            What::Good
        } else {
            what(dice, options.handle)
        };
        // A caller does not go away just when the time is over, which could be told either way.
        let times = if what.leaves() { &[0, 13] } else { times };
        script.push(Reply {
            what,
            held_ms: if dice.one_in(if what.leaves() { 2 } else { 8 }) {
                *dice.of(&[19, 730, route.policy.timeout_ms + 1])
            } else {
                0
            },
            head_ms: *dice.of(times),
            body_ms: *dice.of(&times[..times.len().min(longest)]),
            parts: 1 + dice.below(3) as usize,
            pauses: [(); 3].map(|()| *dice.of(&pauses)),
            tail_ms: *dice.of(&tails),
            breaks: dice.one_in(8),
            keeps_alive: dice.one_in(2),
            usage: *dice.of(&usages),
            searches: *dice.of(&[0, 1, 2, 5]),
            tier: dice.one_in(2).then(|| *dice.of(&TIERS)),
        });
    }
    script
}

fn what(dice: &mut Dice, has_handle: bool) -> What {
    let asks = [
        None,
        None,
        None,
        Some(0),
        Some(7),
        Some(40),
        Some(240),
        Some(241),
        Some(9_999),
    ];
    let status = |dice: &mut Dice, status, code| What::Status {
        status,
        code,
        asks: *dice.of(&asks),
    };
    match dice.below(52) {
        49 => What::Stale,
        44..49 if has_handle => What::Stale,
        41..44 => What::Unliked,
        0..8 | 44..49 => What::Bad,
        8..10 => What::Prose,
        10 => What::Cut { whole: false },
        11 => What::Cut { whole: true },
        12..15 => What::Refusal,
        15 => What::Tool,
        16..18 => What::BadTool,
        18..22 => status(dice, 429, "rate_limit_exceeded"),
        22 => status(dice, 503, ""),
        23 => status(dice, 529, "overloaded_error"),
        24 => status(dice, 429, "insufficient_quota"),
        25 => status(dice, 401, ""),
        26 => status(dice, 403, ""),
        27 => status(dice, 400, "invalid_api_key"),
        28 => status(dice, 400, "invalid_request_error"),
        29 => status(dice, 404, "model_not_found"),
        30..32 => status(dice, 500, "server_error"),
        32 => status(dice, 502, ""),
        33 => status(dice, 504, ""),
        34..36 => What::Fault,
        36..38 => What::Unsent,
        38 | 39 => What::LeavesBeforeHead {
            after: dice.below(900),
        },
        _ => What::LeavesBeforeEnd {
            after: dice.below(900),
        },
    }
}

/// How the store of a case answers.
pub(super) fn keeper(dice: &mut Dice, route: &Route, options: &Options) -> Keeper {
    if !dice.one_in(4) {
        return Keeper::default();
    }
    let reserves = [
        Answers::After(0),
        Answers::After(0),
        Answers::After(0),
        Answers::After(0),
        Answers::After(7),
        Answers::After(1_310),
        Answers::After(20_003),
        Answers::Fails(0),
        Answers::Fails(17),
        Answers::Never,
    ];
    let flushes = [
        Answers::After(0),
        Answers::After(7),
        Answers::After(5_000),
        Answers::Fails(0),
        Answers::Fails(23),
        Answers::Never,
    ];
    let rooms = [
        Answers::After(0),
        Answers::After(0),
        Answers::After(7),
        Answers::After(5_000),
        Answers::Never,
    ];
    // In a run with a deadline the wait for room is a fraction of the time left, which may not be whole milliseconds.
    let has_deadline = route.policy.deadline_ms.or(options.deadline_ms).is_some();
    Keeper {
        room: if has_deadline {
            Answers::After(0)
        } else {
            *dice.of(&rooms)
        },
        reserves: (0..6).map(|_| *dice.of(&reserves)).collect(),
        flush: *dice.of(&flushes),
    }
}
