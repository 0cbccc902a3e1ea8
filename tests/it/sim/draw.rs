//! Which case belongs to a number? Every part of it is drawn from the number alone.

use std::sync::Mutex;

use rig::__private::{
    ANTHROPIC, Backoff, Cache, Candidate, Capabilities, Capability, Enforcement, FailureClass,
    GEMINI, Grounding, Limits, Lowered, OPENAI, Plan, Policy, Price, Provider, Rates, Repair,
    Route, Sampling, Search, SearchFee, Segment, Template, Tier, Usd, Variant,
};
use tests::drawn::DRAWN;
use tests::routes::{fc_base, tooled};

use super::case::{Case, Options, Reply, What};
use super::dice::Dice;

/// How many cases in a row share a route, since a route is never freed.
const WORLDS_PER_ROUTE: u64 = 16;

/// One route in so many has been through the compiler, which leaves out what is on trial.
const COMPILED_ONE_IN: u64 = 4;

const fn host(name: &'static str, base_url: &'static str, of: &Provider) -> Provider {
    Provider {
        name,
        base_url,
        base_url_env: "",
        key_env: Some("KEY"),
        dialect: of.dialect,
        capabilities: of.capabilities,
        native_schema: of.native_schema,
        token_limit: of.token_limit,
        cached_prefix: of.cached_prefix,
        cache: of.cache,
        tiers: of.tiers,
        search_fees: const { &[SearchFee::per_request("", Usd::ZERO)] },
    }
}

/// Two hosts of the chat dialect, one of each other that stands alone, and one that needs no key.
pub(super) static HOSTS: [Provider; 5] = [
    host("alfa", "http://alfa.test/v1", &OPENAI),
    host("bravo", "http://bravo.test/v1", &OPENAI),
    host("charlie", "http://charlie.test/v1", &ANTHROPIC),
    Provider {
        key_env: None,
        ..host("delta", "http://delta.test/v1", &OPENAI)
    },
    host("echo", "http://echo.test/v1", &GEMINI),
];

const fn search(key_env: Option<&'static str>, zero_retention: bool) -> Search {
    Search {
        url: "http://search.test/v1",
        key_env,
        cost: Usd::nanos(5_000_000),
        zero_retention,
    }
}

static SEARCHES: [Search; 4] = [
    search(Some("KEY"), false),
    search(Some("KEY"), true),
    search(None, false),
    search(None, true),
];

const QUESTION: &[Segment] = &[Segment::Text("Decide. "), Segment::Variable("question")];

/// Returns the case of a number.
pub(super) fn case(seed: u64) -> Case {
    let dice = &mut Dice(seed.wrapping_mul(0x2545_f491_4f6c_dd1d));
    let number = seed / WORLDS_PER_ROUTE;
    let (route, trials) = match number % COMPILED_ONE_IN {
        0 => DRAWN[(number / COMPILED_ONE_IN) as usize % DRAWN.len()],
        _ => (route_of(number), &[][..]),
    };
    let hosts = HOSTS.iter().map(|host| host.name).chain(["search"]);
    let keys = hosts.filter(|_| !dice.one_in(12)).collect();
    let options = options(dice, route);
    let script = script(dice, route, options.streams);
    Case {
        seed,
        route,
        trials,
        keys,
        options,
        script,
        leaves_in_wait: dice.one_in(10).then(|| 1 + dice.below(4) as usize),
    }
}

/// Routes are drawn once, by whoever comes first.
fn route_of(number: u64) -> &'static Route {
    static LAST: Mutex<Vec<(u64, &'static Route)>> = Mutex::new(Vec::new());
    let mut last = LAST.lock().unwrap();
    if let Some((_, route)) = last.iter().find(|(known, _)| *known == number) {
        return route;
    }
    let drawn = Box::leak(Box::new(route(&mut Dice(
        number.wrapping_mul(0x9e6c_63d0_676a_9a99),
    ))));
    // As many as there are threads at most are in use.
    if last.len() == 16 {
        last.remove(0);
    }
    last.push((number, drawn));
    drawn
}

fn route(dice: &mut Dice) -> Route {
    let zero_retention = dice.one_in(8);
    let is_grounded = dice.one_in(4);
    let mut declared: Vec<Candidate> = Vec::new();
    for _ in 0..=dice.below(4) {
        let candidate = candidate(dice, zero_retention, is_grounded);
        let place = |one: &Candidate| (one.provider.name, one.model);
        if declared.iter().all(|one| place(one) != place(&candidate)) {
            declared.push(candidate);
        }
    }
    let declared: &'static [Candidate] = declared.leak();
    // One that is declared may be left out by the route's filters, and still repair.
    let candidates = if declared.len() > 1 && dice.one_in(5) {
        &declared[1..]
    } else {
        declared
    };
    let plan = |dice: &mut Dice, candidates| Plan {
        candidates,
        prompt: Template { segments: QUESTION },
        repair: repair(dice, declared),
    };
    let search = (dice.below(4) as usize) | usize::from(zero_retention);
    let all_search = declared
        .iter()
        .all(|one| one.capabilities.has(Capability::GroundedNative));
    let has_jitter = dice.one_in(5);
    let policy = Policy {
        retries: classes(dice, |dice, _| dice.below(4) as u32),
        backoff: classes(dice, |dice, _| backoff(dice, has_jitter)),
        timeout_ms: *dice.of(&[5_000, 10_000, 60_000]),
        // Whether a wait that jitter lengthens fits in front of a deadline is chance.
        deadline_ms: deadline(dice).filter(|_| !has_jitter),
        tier: [
            None,
            Some(Tier::Standard),
            Some(Tier::Flex),
            Some(Tier::Priority),
        ][dice.below(4) as usize],
        sampling: Sampling {
            max_output_tokens: dice.one_in(2).then_some(256),
            ..Sampling::BLANK
        },
        ..Policy::BLANK
    };
    Route {
        name: "drawn",
        version: 3,
        schema: fc_base::ROUTE.schema,
        plan: plan(dice, candidates),
        variants: match dice.below(3) {
            0 => vec![Variant {
                name: "narrow",
                plan: plan(dice, &candidates[candidates.len() / 2..]),
            }]
            .leak(),
            _ => &[],
        },
        policy,
        zero_retention,
        capture: dice.one_in(2),
        cache: *dice.of(&[Cache::Off, Cache::Auto]),
        grounding: is_grounded.then_some(Grounding {
            query: Template { segments: QUESTION },
            search: if all_search {
                None
            } else {
                Some(&SEARCHES[search])
            },
        }),
        tools: if dice.one_in(4) {
            tooled::ROUTE.tools
        } else {
            &[]
        },
        ..Route::BLANK
    }
}

fn candidate(dice: &mut Dice, zero_retention: bool, is_grounded: bool) -> Candidate {
    let provider = dice.of(&HOSTS);
    let native = dice.one_in(2);
    let mut flags = Vec::new();
    if native {
        flags.push(Capability::StructuredNative);
    }
    if is_grounded && dice.one_in(2) {
        flags.push(Capability::GroundedNative);
    }
    if zero_retention || dice.one_in(2) {
        flags.push(Capability::ZeroRetention);
    }
    let enforcement = match dice.below(4) {
        0 => Enforcement::Coached,
        _ if native => Enforcement::Native(&Lowered::AS_WRITTEN),
        _ => Enforcement::JsonMode,
    };
    let rate = 100_000_000 * (1 + dice.below(30));
    Candidate {
        provider,
        model: dice.of::<&str>(&["m1", "m2"]),
        capabilities: Capabilities::of(&flags),
        enforcement,
        price: (!dice.one_in(5)).then(|| Price::flat(Rates::nanos(rate, 3 * rate))),
        limits: Limits::UNKNOWN,
    }
}

fn repair(dice: &mut Dice, declared: &'static [Candidate]) -> Option<Repair> {
    let max_repairs = dice.below(3) as u8;
    let model = Some(dice.of(declared)).filter(|_| max_repairs == 2 || dice.one_in(8));
    (max_repairs > 0).then_some(Repair { max_repairs, model })
}

/// The classes that may be retried and can occur, each with something drawn for it, or not.
fn classes<T>(
    dice: &mut Dice,
    mut draw: impl FnMut(&mut Dice, FailureClass) -> T,
) -> &'static [(FailureClass, T)] {
    let may_occur = [
        FailureClass::CacheInvalid,
        FailureClass::ContentInvalid,
        FailureClass::Refusal,
        FailureClass::Timeout,
        FailureClass::QualityRejected,
        FailureClass::CapacityShed,
        FailureClass::Network,
    ];
    let mut drawn = Vec::new();
    for class in may_occur {
        if dice.one_in(2) {
            drawn.push((class, draw(dice, class)));
        }
    }
    drawn.leak()
}

fn backoff(dice: &mut Dice, has_jitter: bool) -> Backoff {
    Backoff {
        first_ms: *dice.of(&[0, 400, 1_000, 20_000]),
        factor: *dice.of(&[1.0, 1.5, 2.0]),
        cap_ms: *dice.of(&[0, 1_500, 30_000, 240_000]),
        jitter: if has_jitter {
            *dice.of(&[0.2, 1.0])
        } else {
            0.0
        },
    }
}

fn deadline(dice: &mut Dice) -> Option<u64> {
    let ms = *dice.of(&[5_000, 20_000, 45_000, 120_000, 300_000]);
    dice.one_in(4).then_some(ms)
}

fn options(dice: &mut Dice, route: &Route) -> Options {
    let has_jitter = route
        .policy
        .backoff
        .iter()
        .any(|(_, backoff)| backoff.jitter > 0.0);
    // A handle that no candidate of the route can be told is an error of the caller's.
    let plans = route.variants.iter().map(|variant| &variant.plan);
    let mut plans = plans.chain([&route.plan]).flat_map(|plan| plan.candidates);
    let knows_echo = plans.any(|candidate| candidate.provider.name == "echo");
    let mut hosts = |one_in| {
        let hosts = HOSTS.iter().map(|host| host.name);
        hosts.filter(|_| dice.one_in(one_in)).collect::<Vec<_>>()
    };
    let (only, ignore) = (hosts(2), hosts(4));
    Options {
        variant: !route.variants.is_empty() && dice.one_in(2),
        zero_retention: dice.one_in(8),
        only: dice.one_in(10).then_some(only),
        ignore: if dice.one_in(8) { ignore } else { Vec::new() },
        max_price: dice.one_in(10).then(|| 400_000_000 * (1 + dice.below(30))),
        deadline_ms: deadline(dice)
            .filter(|_| !has_jitter)
            .map(|ms| if dice.one_in(10) { 0 } else { ms }),
        handle: knows_echo && dice.one_in(2),
        streams: dice.one_in(3),
        cap: dice
            .one_in(3)
            .then(|| *dice.of(&[0, 1_000_000, 4_000_000, 20_000_000, 25_000_000_000])),
    }
}

fn script(dice: &mut Dice, route: &Route, streams: bool) -> Vec<Reply> {
    // Some worlds are kind, and in others hardly anything works.
    let one_good_in = *dice.of(&[2, 5, 40]);
    let times = [
        0,
        0,
        0,
        10,
        700,
        route.policy.timeout_ms - 1,
        // A piece that is heard at the last moment leaves no time to read on, or does: it could be told either way.
        route.policy.timeout_ms - u64::from(streams),
        route.policy.timeout_ms + 1,
    ];
    let length = *dice.of(&[3, 12, 60]);
    let mut script = Vec::new();
    for _ in 0..length {
        let longest = 5 + dice.below(4) as usize;
        let what = if dice.one_in(one_good_in) {
            What::Good
        } else {
            what(dice)
        };
        // A caller does not go away just when the time is over, which could be told either way.
        let times = if what.leaves() { &[0, 13] } else { &times[..] };
        script.push(Reply {
            what,
            head_ms: *dice.of(times),
            body_ms: *dice.of(&times[..times.len().min(longest)]),
            usage: !dice.one_in(8),
        });
    }
    script
}

fn what(dice: &mut Dice) -> What {
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
    match dice.below(46) {
        43..46 => What::Stale,
        40..43 => What::Unliked,
        0..8 => What::Bad,
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
        34..38 => What::Fault,
        38 => What::LeavesBeforeHead {
            after: dice.below(900),
        },
        _ => What::LeavesBeforeEnd {
            after: dice.below(900),
        },
    }
}
