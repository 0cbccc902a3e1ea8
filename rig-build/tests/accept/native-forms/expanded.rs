/// `Outline`, as the schema describes it.
#[derive(Clone, Debug, PartialEq)]
pub struct Outline(
    /// The value.
    pub ::std::vec::Vec<Section>,
);

__rig::newtype!(Outline);

/// `SectionKind`, as the schema describes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SectionKind {
    /// The value "section".
    Section,
}

__rig::scalars!(SectionKind {
    Section = String("section"),
});

/// `Section`, as the schema describes it.
#[derive(Clone, Debug, PartialEq)]
pub struct Section {
    /// A few words.
    pub heading: ::std::string::String,
    /// The property `kind`.
    pub kind: SectionKind,
    /// The property `summary`.
    pub summary: ::core::option::Option<::std::string::String>,
    /// The property `author`.
    pub author: ::core::option::Option<::core::option::Option<::std::string::String>>,
    /// The property `sections`.
    pub sections: ::core::option::Option<::std::vec::Vec<Section>>,
    /// The properties that the schema does not list.
    pub additional_properties: ::std::collections::BTreeMap<::std::string::String, __rig::Value>,
}

__rig::object!(Section {
    heading: required "heading",
    kind: required "kind",
    summary: optional "summary",
    author: optional "author",
    sections: optional "sections",
    ..additional_properties
});

impl __rig::Output for Outline {
    const SCHEMA: u64 = 0x9577_0142_da49_f88d;
}

/// What the prompt of `outline` needs.
#[derive(Clone, Debug, PartialEq)]
pub struct OutlineInput {
    /// The variable `text`.
    pub text: ::std::string::String,
}

__rig::input!(OutlineInput {
    text: "text",
});

/// The variants that a call of `outline` can name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Variant {
    /// The variant `cheap`.
    Cheap,
}

impl __rig::RouteVariant for Variant {
    fn index(self) -> usize {
        self as usize
    }
}

static SCHEMA_FOR_OPENAI: __rig::Lowered = __rig::Lowered {
    json: ::core::option::Option::Some("{\"type\":\"object\",\"properties\":{\"answer\":{\"type\":\"array\",\"title\":\"Outline\",\"minItems\":1,\"items\":{\"$ref\":\"#/$defs/section\"}}},\"required\":[\"answer\"],\"additionalProperties\":false,\"$defs\":{\"section\":{\"type\":\"object\",\"properties\":{\"heading\":{\"type\":\"string\",\"description\":\"A few words. At most 80 characters.\"},\"kind\":{\"type\":\"string\",\"enum\":[\"section\"]},\"summary\":{\"type\":[\"string\",\"null\"]},\"author\":{\"type\":[\"string\",\"null\"]},\"sections\":{\"type\":[\"array\",\"null\"],\"items\":{\"$ref\":\"#/$defs/section\"}}},\"required\":[\"heading\",\"kind\",\"summary\",\"author\",\"sections\"],\"additionalProperties\":false}}}"),
    wrapped_in: ::core::option::Option::Some("answer"),
    shapes: &[
        __rig::Shape { absent: &[], within: &[(__rig::Step::Items, 1)] },
        __rig::Shape { absent: &["summary", "sections"], within: &[(__rig::Step::Property("sections"), 2)] },
        __rig::Shape { absent: &[], within: &[(__rig::Step::Items, 1)] },
    ],
};

static SCHEMA_FOR_FIREWORKS: __rig::Lowered = __rig::Lowered {
    json: ::core::option::Option::Some("{\"type\":\"array\",\"title\":\"Outline\",\"description\":\"At least 1 item.\",\"items\":{\"$ref\":\"#/$defs/section\"},\"$defs\":{\"section\":{\"type\":\"object\",\"properties\":{\"heading\":{\"type\":\"string\",\"description\":\"A few words. At most 80 characters.\"},\"kind\":{\"type\":\"string\",\"enum\":[\"section\"]},\"summary\":{\"type\":\"string\"},\"author\":{\"type\":[\"string\",\"null\"]},\"sections\":{\"type\":\"array\",\"items\":{\"$ref\":\"#/$defs/section\"}}},\"required\":[\"heading\",\"kind\"],\"additionalProperties\":false}}}"),
    wrapped_in: ::core::option::Option::None,
    shapes: &[],
};

/// Route `outline`, version 2.
pub static ROUTE: __rig::Route = __rig::Route {
    name: "outline",
    version: 2,
    schema: ::core::option::Option::Some(__rig::Schema {
        name: "Outline",
        json: "{\"title\":\"Outline\",\"type\":\"array\",\"minItems\":1,\"items\":{\"$ref\":\"#/$defs/section\"},\"$defs\":{\"section\":{\"type\":\"object\",\"properties\":{\"heading\":{\"type\":\"string\",\"description\":\"A few words.\",\"maxLength\":80},\"kind\":{\"const\":\"section\"},\"summary\":{\"type\":\"string\"},\"author\":{\"type\":[\"string\",\"null\"]},\"sections\":{\"type\":\"array\",\"items\":{\"$ref\":\"#/$defs/section\"}}},\"required\":[\"heading\",\"kind\"]}}}",
        skeleton: "[{\"heading\":\"…\",\"kind\":\"section\",\"summary\":\"…\",\"author\":\"…\",\"sections\":[]}]",
        gate: "7 32 8 1 -0 0 1 --64 16 --5 7:heading2 1 4:kind3 1 7:summary4 0 6:author5 0 8:sections6 0 0 --0 0 -16 4 -80 -127 1 1 1 4 7:section16 0 17 0 32 8 --0 0 1 --",
        hash: 0x9577_0142_da49_f88d,
    }),
    plan: __rig::Plan {
        candidates: &[
            __rig::Candidate {
                provider: &__rig::OPENAI,
                model: "gpt-5.4-mini",
                capabilities: __rig::Capabilities::of(&[__rig::Capability::StructuredNative, __rig::Capability::JsonMode]),
                enforcement: __rig::Enforcement::Native(&SCHEMA_FOR_OPENAI),
                price: ::core::option::Option::Some(__rig::Price::flat(__rig::Rates::nanos(750_000_000, 4_500_000_000).cached(75_000_000))),
                limits: __rig::Limits::UNKNOWN.context(272_000).output(128_000).tier(__rig::Tier::Flex, __rig::Price::flat(__rig::Rates::nanos(375_000_000, 2_250_000_000).cached(37_500_000))).tier(__rig::Tier::Priority, __rig::Price::flat(__rig::Rates::nanos(1_500_000_000, 9_000_000_000).cached(150_000_000))),
            },
            __rig::Candidate {
                provider: &__rig::FIREWORKS,
                model: "accounts/fireworks/routers/glm-5p1-fast",
                capabilities: __rig::Capabilities::of(&[__rig::Capability::StructuredNative, __rig::Capability::JsonMode]),
                enforcement: __rig::Enforcement::Native(&SCHEMA_FOR_FIREWORKS),
                price: ::core::option::Option::Some(__rig::Price::flat(__rig::Rates::nanos(2_800_000_000, 8_800_000_000).cached(520_000_000))),
                limits: __rig::Limits::UNKNOWN.context(202_800).output(131_072),
            },
            __rig::Candidate {
                provider: &__rig::ANTHROPIC,
                model: "claude-haiku-4-5",
                capabilities: __rig::Capabilities::of(&[__rig::Capability::StructuredNative]),
                enforcement: __rig::Enforcement::Coached,
                price: ::core::option::Option::Some(__rig::Price::flat(__rig::Rates::nanos(1_000_000_000, 5_000_000_000).cached(100_000_000).written(1_250_000_000))),
                limits: __rig::Limits::UNKNOWN.context(200_000).output(64_000),
            },
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
                __rig::Segment::Text("Outline "),
                __rig::Segment::Variable("text"),
                __rig::Segment::Text(".\n"),
            ],
        },
        repair: ::core::option::Option::None,
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
                        enforcement: __rig::Enforcement::Native(&SCHEMA_FOR_OPENAI),
                        price: ::core::option::Option::Some(__rig::Price::flat(__rig::Rates::nanos(750_000_000, 4_500_000_000).cached(75_000_000))),
                        limits: __rig::Limits::UNKNOWN.context(272_000).output(128_000).tier(__rig::Tier::Flex, __rig::Price::flat(__rig::Rates::nanos(375_000_000, 2_250_000_000).cached(37_500_000))).tier(__rig::Tier::Priority, __rig::Price::flat(__rig::Rates::nanos(1_500_000_000, 9_000_000_000).cached(150_000_000))),
                    },
                ],
                prompt: __rig::Template {
                    segments: &[
                        __rig::Segment::Text("Outline "),
                        __rig::Segment::Variable("text"),
                        __rig::Segment::Text(".\n"),
                    ],
                },
                repair: ::core::option::Option::None,
            },
        },
    ],
    ..__rig::Route::BLANK
};

/// The most attempts that a call of `outline` makes.
pub const MAX_ATTEMPTS: u32 = 4;

/// The longest that a call of `outline` takes, attempts and waits together.
pub const MAX_WALL_CLOCK: ::core::time::Duration = ::core::time::Duration::from_mins(4);

/// The most that a call of `outline` costs, with a prompt as long as the context window.
pub const MAX_COST: __rig::Usd = __rig::Usd::nanos(3_993_567_360);
