//! Which case belongs to a number? Every part of it is drawn from the number alone.

mod script;

use std::sync::Mutex;

use rig::__private::{
    ANTHROPIC, Backoff, Cache, Candidate, Capabilities, Capability, Enforcement, FailureClass,
    GEMINI, Grounding, Limits, Lowered, OPENAI, Plan, Policy, Price, Provider, Rates, Repair,
    Route, Sampling, Search, SearchFee, Segment, Template, Tier, Usd, Variant,
};
use tests::drawn::DRAWN;
use tests::routes::{fc_base, tooled};

use super::case::{Case, Options};
use super::dice::Dice;

/// How many cases in a row share a route, since a route is never freed.
const WORLDS_PER_ROUTE: u64 = 16;

/// One route in so many has been through the compiler, which leaves out what is on trial.
const COMPILED_ONE_IN: u64 = 4;

const fn host(
    name: &'static str,
    base_url: &'static str,
    of: &Provider,
    search_fees: &'static [SearchFee],
) -> Provider {
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
        search_fees,
    }
}

/// What a host charges for the searches that it runs itself: in the chat dialect, which does not count them, once a request.
static ONCE: [SearchFee; 1] = [SearchFee::per_request("", Usd::nanos(SEARCH_FEE))];

static EACH: [SearchFee; 1] = [SearchFee::per_search("", Usd::nanos(SEARCH_FEE))];

/// That fee, in nano-dollars.
pub(super) const SEARCH_FEE: u64 = 11_000_000;

/// Two hosts of the chat dialect, one of each other that stands alone, and one that needs no key.
pub(super) static HOSTS: [Provider; 5] = [
    host("alfa", "http://alfa.test/v1", &OPENAI, &ONCE),
    host("bravo", "http://bravo.test/v1", &OPENAI, &ONCE),
    host("charlie", "http://charlie.test/v1", &ANTHROPIC, &EACH),
    Provider {
        key_env: None,
        ..host("delta", "http://delta.test/v1", &OPENAI, &ONCE)
    },
    host("echo", "http://echo.test/v1", &GEMINI, &EACH),
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

/// The names of tiers that providers report. The last one is unknown to the runtime.
pub(super) const TIERS: [&str; 6] = [
    "default",
    "standard",
    "on_demand",
    "flex",
    "priority",
    "a word",
];

/// The caps of envelopes, in nano-dollars. A dispatch of a route without `max_output_tokens` reserves hundreds of dollars.
const CAPS: [u64; 7] = [
    0,
    4_000_000,
    20_000_000,
    25_000_000_000,
    900_000_000_000,
    AMPLE,
    AMPLE,
];

/// A cap that nothing exceeds.
pub(super) const AMPLE: u64 = 1_000_000_000_000_000;

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
    Case {
        seed,
        route,
        trials,
        keys,
        script: script::script(dice, route, &options),
        leaves_in_wait: dice.one_in(10).then(|| 1 + dice.below(4) as usize),
        store: script::keeper(dice, route, &options),
        options,
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
    // One that is declared may be left out by the route's filters; it does not repair either (R7).
    let candidates = if declared.len() > 1 && dice.one_in(5) {
        &declared[1..]
    } else {
        declared
    };
    let kept = candidates;
    let plan = |dice: &mut Dice, candidates| Plan {
        candidates,
        prompt: Template { segments: QUESTION },
        repair: repair(dice, kept),
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
        // No two of these times, and of those in a script, add up to a timeout: either may be over first then.
        first_token_ms: dice.one_in(3).then(|| *dice.of(&[900, 3_100])),
        idle_ms: dice.one_in(3).then(|| *dice.of(&[350, 2_030])),
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
    let price = |rate| Price::flat(Rates::nanos(rate, 3 * rate));
    let is_priced = !dice.one_in(5);
    let mut limits = Limits::UNKNOWN;
    if is_priced && !dice.one_in(3) {
        for tier in Tier::ALL {
            let own = *dice.of(&[0, 0, 0, rate / 2, 2 * rate, 4 * rate]);
            if own > 0 {
                limits = limits.tier(tier, price(own));
            }
        }
    }
    Candidate {
        provider,
        model: dice.of::<&str>(&["m1", "m2"]),
        capabilities: Capabilities::of(&flags),
        enforcement,
        price: is_priced.then(|| price(rate)),
        limits,
    }
}

fn repair(dice: &mut Dice, kept: &'static [Candidate]) -> Option<Repair> {
    let max_repairs = dice.below(3) as u8;
    let model = Some(dice.of(kept)).filter(|_| max_repairs == 2 || dice.one_in(8));
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
        cap: dice.one_in(3).then(|| *dice.of(&CAPS)),
        // Some outlive the reservation of their attempt.
        gate_ms: dice
            .one_in(6)
            .then(|| *dice.of(&[5, 870, 130_000, 400_000])),
    }
}
