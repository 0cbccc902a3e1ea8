/// What the prompt of `smallest` needs.
#[derive(Clone, Debug, PartialEq)]
pub struct SmallestInput {}

__rig::input!(SmallestInput {});

/// The variants that a call of `smallest` can name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Variant {}

impl __rig::RouteVariant for Variant {
    fn index(self) -> usize {
        match self {}
    }
}

/// Route `smallest`, version 1.
pub static ROUTE: __rig::Route = __rig::Route {
    name: "smallest",
    version: 1,
    plan: __rig::Plan {
        candidates: &[
            __rig::Candidate {
                provider: &__rig::DEEPSEEK,
                model: "deepseek-v4-flash",
                capabilities: __rig::Capabilities::of(&[__rig::Capability::JsonMode]),
                enforcement: __rig::Enforcement::JsonMode,
                price: ::core::option::Option::Some(__rig::Price::flat(__rig::Rates::nanos(140_000_000, 280_000_000).cached(2_800_000))),
                limits: __rig::Limits::UNKNOWN.context(1_000_000).output(8_192),
            },
        ],
        prompt: __rig::Template {
            segments: &[
                __rig::Segment::Text("Say hello, in JSON.\n"),
            ],
        },
        repair: ::core::option::Option::None,
    },
    ..__rig::Route::BLANK
};

/// The most attempts that a call of `smallest` makes.
pub const MAX_ATTEMPTS: u32 = 1;

/// The longest that a call of `smallest` takes, attempts and waits together.
pub const MAX_WALL_CLOCK: ::core::time::Duration = ::core::time::Duration::from_mins(1);

/// The most that a call of `smallest` costs, with a prompt as long as the context window.
pub const MAX_COST: __rig::Usd = __rig::Usd::nanos(142_293_760);
