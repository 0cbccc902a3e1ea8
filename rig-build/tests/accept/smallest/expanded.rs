/// What the prompt of `smallest` needs.
#[derive(Clone, Debug, PartialEq, __rig::Serialize)]
#[serde(crate = "__rig::serde")]
pub struct SmallestInput {}

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
    schema: ::core::option::Option::None,
    plan: __rig::Plan {
        candidates: &[
            __rig::Candidate {
                provider: &__rig::DEEPSEEK,
                model: "deepseek-v4-flash",
                capabilities: __rig::Capabilities::of(&[__rig::Capability::JsonMode]),
                enforcement: __rig::Enforcement::JsonMode,
                price: ::core::option::Option::None,
            },
        ],
        prompt: __rig::Template {
            segments: &[
                __rig::Segment::Text("Say hello, in JSON.\n"),
            ],
        },
        repair: ::core::option::Option::None,
    },
    variants: &[],
    policy: __rig::Policy {
        retries: &[],
        backoff: &[],
        timeout_ms: 60_000,
        tier: ::core::option::Option::None,
        sampling: __rig::Sampling {
            temperature: ::core::option::Option::None,
            top_p: ::core::option::Option::None,
            max_output_tokens: ::core::option::Option::None,
        },
    },
};
