/// `Summary`, as the schema describes it.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// One line.
    pub text: ::std::string::String,
    /// The property `urgent`.
    pub urgent: bool,
}

__rig::object!(Summary {
    text: required "text",
    urgent: required "urgent",
});

impl __rig::Output for Summary {
    const SCHEMA: u64 = 0x67da_c1c6_7cc3_d0a2;
}

/// What the prompt of `summarize` needs.
#[derive(Clone, Debug, PartialEq)]
pub struct SummarizeInput {
    /// The variable `ticket`.
    pub ticket: ::std::string::String,
    /// The variable `product`.
    pub product: ::std::string::String,
}

__rig::input!(SummarizeInput {
    ticket: "ticket",
    product: "product",
});

/// The variants that a call of `summarize` can name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Variant {
    /// The variant `cheap`.
    Cheap,
    /// The variant `reworded`.
    Reworded,
}

impl __rig::RouteVariant for Variant {
    fn index(self) -> usize {
        self as usize
    }
}

/// Route `summarize`, version 1.
pub static ROUTE: __rig::Route = __rig::Route {
    name: "summarize",
    version: 1,
    schema: ::core::option::Option::Some(__rig::Schema {
        name: "Summary",
        json: "{\"type\":\"object\",\"properties\":{\"text\":{\"type\":\"string\",\"description\":\"One line.\"},\"urgent\":{\"type\":\"boolean\"}},\"required\":[\"text\",\"urgent\"],\"additionalProperties\":false}",
        skeleton: "{\"text\":\"…\",\"urgent\":true}",
        gate: "4 64 16 --2 4:text1 1 6:urgent2 1 0 3 -0 0 -16 0 2 0 0 0 ",
        hash: 0x67da_c1c6_7cc3_d0a2,
    }),
    plan: __rig::Plan {
        candidates: &[
            __rig::Candidate {
                provider: &__rig::OPENAI,
                model: "gpt-5.4-nano",
                capabilities: __rig::Capabilities::of(&[__rig::Capability::StructuredNative, __rig::Capability::JsonMode]),
                enforcement: __rig::Enforcement::Native(&__rig::Lowered::AS_WRITTEN),
                price: ::core::option::Option::Some(__rig::Price::flat(__rig::Rates::nanos(100_000_000, 625_000_000).cached(10_000_000))),
                limits: __rig::Limits::UNKNOWN.context(272_000).output(128_000).tier(__rig::Tier::Standard, __rig::Price::flat(__rig::Rates::nanos(200_000_000, 1_250_000_000).cached(20_000_000))),
            },
            __rig::Candidate {
                provider: &__rig::OPENAI,
                model: "gpt-5.4-mini",
                capabilities: __rig::Capabilities::of(&[__rig::Capability::StructuredNative, __rig::Capability::JsonMode]),
                enforcement: __rig::Enforcement::Native(&__rig::Lowered::AS_WRITTEN),
                price: ::core::option::Option::Some(__rig::Price::flat(__rig::Rates::nanos(375_000_000, 2_250_000_000).cached(37_500_000))),
                limits: __rig::Limits::UNKNOWN.context(272_000).output(128_000).tier(__rig::Tier::Standard, __rig::Price::flat(__rig::Rates::nanos(750_000_000, 4_500_000_000).cached(75_000_000))),
            },
        ],
        prompt: __rig::Template {
            segments: &[
                __rig::Segment::Text("Summarize the ticket about "),
                __rig::Segment::Variable("product"),
                __rig::Segment::Text(" for a busy reader.\n\n"),
                __rig::Segment::Variable("ticket"),
                __rig::Segment::Text("\n"),
            ],
        },
        repair: ::core::option::Option::Some(__rig::Repair {
            max_repairs: 2,
            model: ::core::option::Option::Some(&__rig::Candidate {
                provider: &__rig::OPENAI,
                model: "gpt-5.4-mini",
                capabilities: __rig::Capabilities::of(&[__rig::Capability::StructuredNative, __rig::Capability::JsonMode]),
                enforcement: __rig::Enforcement::Native(&__rig::Lowered::AS_WRITTEN),
                price: ::core::option::Option::Some(__rig::Price::flat(__rig::Rates::nanos(375_000_000, 2_250_000_000).cached(37_500_000))),
                limits: __rig::Limits::UNKNOWN.context(272_000).output(128_000).tier(__rig::Tier::Standard, __rig::Price::flat(__rig::Rates::nanos(750_000_000, 4_500_000_000).cached(75_000_000))),
            }),
        }),
    },
    variants: &[
        __rig::Variant {
            name: "cheap",
            plan: __rig::Plan {
                candidates: &[
                    __rig::Candidate {
                        provider: &__rig::OPENAI,
                        model: "gpt-5.4-mini",
                        capabilities: __rig::Capabilities::of(&[__rig::Capability::StructuredNative, __rig::Capability::JsonMode]),
                        enforcement: __rig::Enforcement::JsonMode,
                        price: ::core::option::Option::Some(__rig::Price::flat(__rig::Rates::nanos(375_000_000, 2_250_000_000).cached(37_500_000))),
                        limits: __rig::Limits::UNKNOWN.context(272_000).output(128_000).tier(__rig::Tier::Standard, __rig::Price::flat(__rig::Rates::nanos(750_000_000, 4_500_000_000).cached(75_000_000))),
                    },
                ],
                prompt: __rig::Template {
                    segments: &[
                        __rig::Segment::Text("Summarize the ticket about "),
                        __rig::Segment::Variable("product"),
                        __rig::Segment::Text(" for a busy reader.\n\n"),
                        __rig::Segment::Variable("ticket"),
                        __rig::Segment::Text("\n"),
                    ],
                },
                repair: ::core::option::Option::Some(__rig::Repair {
                    max_repairs: 2,
                    model: ::core::option::Option::Some(&__rig::Candidate {
                        provider: &__rig::OPENAI,
                        model: "gpt-5.4-mini",
                        capabilities: __rig::Capabilities::of(&[__rig::Capability::StructuredNative, __rig::Capability::JsonMode]),
                        enforcement: __rig::Enforcement::JsonMode,
                        price: ::core::option::Option::Some(__rig::Price::flat(__rig::Rates::nanos(375_000_000, 2_250_000_000).cached(37_500_000))),
                        limits: __rig::Limits::UNKNOWN.context(272_000).output(128_000).tier(__rig::Tier::Standard, __rig::Price::flat(__rig::Rates::nanos(750_000_000, 4_500_000_000).cached(75_000_000))),
                    }),
                }),
            },
        },
        __rig::Variant {
            name: "reworded",
            plan: __rig::Plan {
                candidates: &[
                    __rig::Candidate {
                        provider: &__rig::OPENAI,
                        model: "gpt-5.4-nano",
                        capabilities: __rig::Capabilities::of(&[__rig::Capability::StructuredNative, __rig::Capability::JsonMode]),
                        enforcement: __rig::Enforcement::Native(&__rig::Lowered::AS_WRITTEN),
                        price: ::core::option::Option::Some(__rig::Price::flat(__rig::Rates::nanos(100_000_000, 625_000_000).cached(10_000_000))),
                        limits: __rig::Limits::UNKNOWN.context(272_000).output(128_000).tier(__rig::Tier::Standard, __rig::Price::flat(__rig::Rates::nanos(200_000_000, 1_250_000_000).cached(20_000_000))),
                    },
                    __rig::Candidate {
                        provider: &__rig::OPENAI,
                        model: "gpt-5.4-mini",
                        capabilities: __rig::Capabilities::of(&[__rig::Capability::StructuredNative, __rig::Capability::JsonMode]),
                        enforcement: __rig::Enforcement::Native(&__rig::Lowered::AS_WRITTEN),
                        price: ::core::option::Option::Some(__rig::Price::flat(__rig::Rates::nanos(375_000_000, 2_250_000_000).cached(37_500_000))),
                        limits: __rig::Limits::UNKNOWN.context(272_000).output(128_000).tier(__rig::Tier::Standard, __rig::Price::flat(__rig::Rates::nanos(750_000_000, 4_500_000_000).cached(75_000_000))),
                    },
                ],
                prompt: __rig::Template {
                    segments: &[
                        __rig::Segment::Text("Say in one line what is wrong with "),
                        __rig::Segment::Variable("product"),
                        __rig::Segment::Text(".\n\n"),
                        __rig::Segment::Variable("ticket"),
                        __rig::Segment::Text("\n"),
                    ],
                },
                repair: ::core::option::Option::Some(__rig::Repair {
                    max_repairs: 2,
                    model: ::core::option::Option::Some(&__rig::Candidate {
                        provider: &__rig::OPENAI,
                        model: "gpt-5.4-mini",
                        capabilities: __rig::Capabilities::of(&[__rig::Capability::StructuredNative, __rig::Capability::JsonMode]),
                        enforcement: __rig::Enforcement::Native(&__rig::Lowered::AS_WRITTEN),
                        price: ::core::option::Option::Some(__rig::Price::flat(__rig::Rates::nanos(375_000_000, 2_250_000_000).cached(37_500_000))),
                        limits: __rig::Limits::UNKNOWN.context(272_000).output(128_000).tier(__rig::Tier::Standard, __rig::Price::flat(__rig::Rates::nanos(750_000_000, 4_500_000_000).cached(75_000_000))),
                    }),
                }),
            },
        },
    ],
    policy: __rig::Policy {
        retries: &[(__rig::FailureClass::ContentInvalid, 2), (__rig::FailureClass::Network, 4), (__rig::FailureClass::CapacityShed, 3)],
        backoff: &[(__rig::FailureClass::CapacityShed, __rig::Backoff { first_ms: 1_000, factor: 2.0, cap_ms: 8_000, jitter: 0.0 })],
        first_token_ms: ::core::option::Option::Some(15_000),
        idle_ms: ::core::option::Option::Some(20_000),
        deadline_ms: ::core::option::Option::Some(900_000),
        tier: ::core::option::Option::Some(__rig::Tier::Flex),
        sampling: __rig::Sampling {
            temperature: ::core::option::Option::Some(0.1),
            top_p: ::core::option::Option::Some(0.9),
            max_output_tokens: ::core::option::Option::Some(8_192),
        },
        ..__rig::Policy::BLANK
    },
    capture: true,
    cache: __rig::Cache::Auto,
    grounding: ::core::option::Option::Some(__rig::Grounding {
        query: __rig::Template {
            segments: &[
                __rig::Segment::Variable("product"),
                __rig::Segment::Text(" outage"),
            ],
        },
        search: ::core::option::Option::Some(&__rig::Search { url: "https://search.example/v1", key_env: ::core::option::Option::Some("SEARCH_API_KEY"), cost: __rig::Usd::nanos(5_000_000), zero_retention: false }),
    }),
    tools: &[__rig::Tool {
        name: "lookup",
        description: "Looks a customer up.",
        parameters: __rig::Schema {
            name: "Lookup",
            json: "{\"type\":\"object\",\"properties\":{\"id\":{\"type\":\"string\",\"description\":\"The customer's id.\"}},\"required\":[\"id\"],\"additionalProperties\":false}",
            skeleton: "{\"id\":\"…\"}",
            gate: "3 64 16 --1 2:id1 1 0 2 -0 0 -16 0 0 0 ",
            hash: 0xbd7c_cb49_34a2_a55e,
        },
    }],
    project: &__rig::Project {
        name: ::core::option::Option::Some("support-desk"),
        dimensions: &[__rig::Dimension { key: "customer", required: true }],
    },
    ..__rig::Route::BLANK
};

/// The most attempts that a call of `summarize` makes.
pub const MAX_ATTEMPTS: u32 = 23;

/// The longest that a call of `summarize` takes, attempts and waits together.
pub const MAX_WALL_CLOCK: ::core::time::Duration = ::core::time::Duration::from_mins(15);

/// The most that a call of `summarize` costs, with a prompt as long as the context window.
pub const MAX_COST: __rig::Usd = __rig::Usd::nanos(3_541_768_000);
