/// What the desk has to know.
#[derive(Clone, Debug, PartialEq)]
pub struct Ticket {
    /// One line, e.g. `[urgent] printer <b>on fire</b>`.
    pub title: ::std::string::String,
    /// The property `priority`.
    pub priority: TicketPriority,
    /// The property `type`.
    pub r#type: TicketType,
    /// The property `tags`.
    pub tags: ::std::vec::Vec<::std::string::String>,
    /// The property `people`.
    pub people: ::core::option::Option<::std::vec::Vec<Person>>,
    /// The property `parent`.
    pub parent: ::core::option::Option<::core::option::Option<::std::boxed::Box<Ticket>>>,
    /// The property `score`.
    pub score: ::core::option::Option<f64>,
    /// The property `count`.
    pub count: ::core::option::Option<i64>,
    /// The property `meta`.
    pub meta: ::core::option::Option<::std::collections::BTreeMap<::std::string::String, i64>>,
    /// The property `open`.
    pub open: ::core::option::Option<TicketOpen>,
    /// The property `either`.
    pub either: ::core::option::Option<TicketEither>,
    /// The property `anything`.
    pub anything: ::core::option::Option<__rig::Value>,
}

__rig::object!(Ticket {
    title: required "title",
    priority: required "priority",
    r#type: required "type",
    tags: required "tags",
    people: optional "people",
    parent: optional "parent",
    score: required "score",
    count: optional "count",
    meta: optional "meta",
    open: optional "open",
    either: optional "either",
    anything: optional "anything",
});

/// `TicketPriority`, as the schema describes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TicketPriority {
    /// The value "low".
    Low,
    /// The value "high".
    High,
    /// The value "p0".
    P0,
}

__rig::scalars!(TicketPriority {
    Low = String("low"),
    High = String("high"),
    P0 = String("p0"),
});

/// `TicketType`, as the schema describes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TicketType {
    /// The value "ticket".
    Ticket,
}

__rig::scalars!(TicketType {
    Ticket = String("ticket"),
});

/// `Person`, as the schema describes it.
#[derive(Clone, Debug, PartialEq)]
pub struct Person {
    /// The property `full name`.
    pub full_name: ::std::string::String,
    /// The property `boss`.
    pub boss: ::core::option::Option<::std::boxed::Box<Person>>,
}

__rig::object!(Person {
    full_name: required "full name",
    boss: optional "boss",
});

/// `TicketOpen`, as the schema describes it.
#[derive(Clone, Debug, PartialEq)]
pub struct TicketOpen {
    /// The property `since`.
    pub since: ::core::option::Option<::std::string::String>,
    /// The properties that the schema does not list.
    pub additional_properties: ::std::collections::BTreeMap<::std::string::String, __rig::Value>,
}

__rig::object!(TicketOpen {
    since: optional "since",
    ..additional_properties
});

/// `TicketEither`, as the schema describes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TicketEither {
    /// The value `1`.
    N1,
    /// The value "1".
    N1_2,
    /// The value `true`.
    True,
    /// The value `null`.
    Null,
}

__rig::scalars!(TicketEither {
    N1 = Integer(1),
    N1_2 = String("1"),
    True = Boolean(true),
    Null = Null,
});

impl __rig::Output for Ticket {
    const SCHEMA: u64 = 0x67b8_129e_ae59_436d;
}

/// What the prompt of `triage.ticket` needs.
#[derive(Clone, Debug, PartialEq)]
pub struct TriageTicketInput {
    /// The variable `ticket`.
    pub ticket: ::std::string::String,
    /// The variable `history`.
    pub history: __rig::Value,
    /// The variable `count`.
    pub count: i64,
    /// The variable `ratio`.
    pub ratio: f64,
    /// The variable `urgent`.
    pub urgent: bool,
    /// The variable `note`.
    pub note: ::core::option::Option<::std::string::String>,
}

__rig::input!(TriageTicketInput {
    ticket: "ticket",
    history: "history",
    count: "count",
    ratio: "ratio",
    urgent: "urgent",
    note: "note",
});

/// The variants that a call of `triage.ticket` can name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Variant {
    /// The variant `cheap`.
    Cheap,
    /// The variant `reworded`.
    Reworded,
    /// The variant `longer`.
    Longer,
    /// The variant `framed`.
    Framed,
}

impl __rig::RouteVariant for Variant {
    fn index(self) -> usize {
        self as usize
    }
}

static HOST_LOCAL: __rig::Provider = __rig::Provider {
    name: "local",
    dialect: __rig::Dialect::OpenAiChat,
    base_url: "http://127.0.0.1:8080/v1",
    base_url_env: "LOCAL_BASE_URL",
    key_env: ::core::option::Option::Some("LOCAL_API_KEY"),
    capabilities: __rig::Capabilities::of(&[__rig::Capability::StructuredNative, __rig::Capability::JsonMode]),
    ..__rig::Provider::BLANK
};

/// Route `triage.ticket`, version 3.
pub static ROUTE: __rig::Route = __rig::Route {
    name: "triage.ticket",
    version: 3,
    schema: ::core::option::Option::Some(__rig::Schema {
        name: "Ticket",
        json: "{\"$schema\":\"https://json-schema.org/draft/2020-12/schema\",\"title\":\"Ticket\",\"description\":\"What the desk has to know.\",\"type\":\"object\",\"properties\":{\"title\":{\"type\":\"string\",\"description\":\"One line, e.g. `[urgent] printer <b>on fire</b>`.\"},\"priority\":{\"enum\":[\"low\",\"high\",\"p0\"]},\"type\":{\"type\":\"string\",\"const\":\"ticket\"},\"tags\":{\"type\":\"array\",\"items\":{\"type\":\"string\"}},\"people\":{\"type\":\"array\",\"items\":{\"$ref\":\"#/$defs/person\"}},\"parent\":{\"anyOf\":[{\"$ref\":\"#\"},{\"type\":\"null\"}]},\"score\":{\"type\":[\"number\",\"null\"]},\"count\":{\"type\":\"integer\"},\"meta\":{\"type\":\"object\",\"additionalProperties\":{\"type\":\"integer\"}},\"open\":{\"type\":\"object\",\"properties\":{\"since\":{\"type\":\"string\"}}},\"either\":{\"enum\":[1,\"1\",true,null]},\"anything\":{}},\"required\":[\"title\",\"priority\",\"type\",\"tags\",\"score\"],\"additionalProperties\":false,\"$defs\":{\"person\":{\"type\":\"object\",\"properties\":{\"full name\":{\"type\":\"string\"},\"boss\":{\"$ref\":\"#/$defs/person\"}},\"required\":[\"full name\"],\"additionalProperties\":false}}}",
        skeleton: "{\"title\":\"…\",\"priority\":\"low\",\"type\":\"ticket\",\"tags\":[\"…\"],\"people\":[{\"full name\":\"…\"}],\"parent\":null,\"score\":0,\"count\":0,\"meta\":{\"…\":0},\"open\":{\"since\":\"…\"},\"either\":1,\"anything\":\"…\"}",
        gate: "21 64 16 --12 5:title1 1 8:priority2 1 4:type3 1 4:tags4 1 6:people5 0 6:parent6 0 5:score7 1 5:count8 0 4:meta9 0 4:open10 0 6:either11 0 8:anything12 0 0 13 -0 0 -16 0 127 1 0 3 4 3:low4 4:high4 2:p016 1 1 1 4 6:ticket32 8 --0 0 14 --32 8 --0 0 15 --127 32 1 1 2 0 16 13 0 4 0 64 16 --0 0 17 -0 0 -64 16 --1 5:since18 0 0 --0 0 -127 1 0 4 3 1:14 1:12 0 127 0 0 0 16 0 64 16 --2 9:full name19 1 4:boss15 0 0 20 -0 0 -1 0 4 0 16 0 16 0 0 0 ",
        hash: 0x67b8_129e_ae59_436d,
    }),
    plan: __rig::Plan {
        candidates: &[
            __rig::Candidate {
                provider: &HOST_LOCAL,
                model: "small",
                capabilities: __rig::Capabilities::of(&[__rig::Capability::StructuredNative, __rig::Capability::JsonMode]),
                enforcement: __rig::Enforcement::Native(&__rig::Lowered::AS_WRITTEN),
                price: ::core::option::Option::Some(__rig::Price::flat(__rig::Rates::nanos(100_000_000, 400_000_000).cached(50_000_000))),
                limits: __rig::Limits::UNKNOWN.context(32_768).output(8_192),
            },
        ],
        prompt: __rig::Template {
            segments: &[
                __rig::Segment::Text("Triage "),
                __rig::Segment::Variable("ticket"),
                __rig::Segment::Text(".\n"),
                __rig::Segment::When {
                    capability: __rig::Capability::JsonMode,
                    present: true,
                    body: &[
                        __rig::Segment::Text("JSON, "),
                        __rig::Segment::Variable("count"),
                        __rig::Segment::Text("."),
                    ],
                },
                __rig::Segment::When {
                    capability: __rig::Capability::StructuredNative,
                    present: false,
                    body: &[
                        __rig::Segment::Text("Keep to the schema."),
                    ],
                },
                __rig::Segment::Text("\nHistory: "),
                __rig::Segment::Variable("history"),
                __rig::Segment::Text(" "),
                __rig::Segment::Variable("ratio"),
                __rig::Segment::Text(" "),
                __rig::Segment::Variable("urgent"),
                __rig::Segment::Text(" "),
                __rig::Segment::Variable("note"),
                __rig::Segment::Text("\n"),
            ],
        },
        repair: ::core::option::Option::Some(__rig::Repair {
            max_repairs: 2,
            model: ::core::option::Option::Some(&__rig::Candidate {
                provider: &HOST_LOCAL,
                model: "small",
                capabilities: __rig::Capabilities::of(&[__rig::Capability::StructuredNative, __rig::Capability::JsonMode]),
                enforcement: __rig::Enforcement::Native(&__rig::Lowered::AS_WRITTEN),
                price: ::core::option::Option::Some(__rig::Price::flat(__rig::Rates::nanos(100_000_000, 400_000_000).cached(50_000_000))),
                limits: __rig::Limits::UNKNOWN.context(32_768).output(8_192),
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
                        capabilities: __rig::Capabilities::of(&[__rig::Capability::JsonMode]),
                        enforcement: __rig::Enforcement::JsonMode,
                        price: ::core::option::Option::Some(__rig::Price::flat(__rig::Rates::nanos(375_000_000, 2_250_000_000).cached(37_500_000))),
                        limits: __rig::Limits::UNKNOWN.context(272_000).output(128_000).tier(__rig::Tier::Standard, __rig::Price::flat(__rig::Rates::nanos(750_000_000, 4_500_000_000).cached(75_000_000))),
                    },
                ],
                prompt: __rig::Template {
                    segments: &[
                        __rig::Segment::Text("Triage "),
                        __rig::Segment::Variable("ticket"),
                        __rig::Segment::Text(".\n"),
                        __rig::Segment::When {
                            capability: __rig::Capability::JsonMode,
                            present: true,
                            body: &[
                                __rig::Segment::Text("JSON, "),
                                __rig::Segment::Variable("count"),
                                __rig::Segment::Text("."),
                            ],
                        },
                        __rig::Segment::When {
                            capability: __rig::Capability::StructuredNative,
                            present: false,
                            body: &[
                                __rig::Segment::Text("Keep to the schema."),
                            ],
                        },
                        __rig::Segment::Text("\nHistory: "),
                        __rig::Segment::Variable("history"),
                        __rig::Segment::Text(" "),
                        __rig::Segment::Variable("ratio"),
                        __rig::Segment::Text(" "),
                        __rig::Segment::Variable("urgent"),
                        __rig::Segment::Text(" "),
                        __rig::Segment::Variable("note"),
                        __rig::Segment::Text("\n"),
                    ],
                },
                repair: ::core::option::Option::Some(__rig::Repair {
                    max_repairs: 2,
                    model: ::core::option::Option::Some(&__rig::Candidate {
                        provider: &HOST_LOCAL,
                        model: "small",
                        capabilities: __rig::Capabilities::of(&[__rig::Capability::StructuredNative, __rig::Capability::JsonMode]),
                        enforcement: __rig::Enforcement::JsonMode,
                        price: ::core::option::Option::Some(__rig::Price::flat(__rig::Rates::nanos(100_000_000, 400_000_000).cached(50_000_000))),
                        limits: __rig::Limits::UNKNOWN.context(32_768).output(8_192),
                    }),
                }),
            },
        },
        __rig::Variant {
            name: "reworded",
            plan: __rig::Plan {
                candidates: &[
                    __rig::Candidate {
                        provider: &HOST_LOCAL,
                        model: "small",
                        capabilities: __rig::Capabilities::of(&[__rig::Capability::StructuredNative, __rig::Capability::JsonMode]),
                        enforcement: __rig::Enforcement::Native(&__rig::Lowered::AS_WRITTEN),
                        price: ::core::option::Option::Some(__rig::Price::flat(__rig::Rates::nanos(100_000_000, 400_000_000).cached(50_000_000))),
                        limits: __rig::Limits::UNKNOWN.context(32_768).output(8_192),
                    },
                ],
                prompt: __rig::Template {
                    segments: &[
                        __rig::Segment::Variable("ticket"),
                        __rig::Segment::Text(" "),
                        __rig::Segment::Variable("history"),
                        __rig::Segment::Text(" "),
                        __rig::Segment::Variable("count"),
                        __rig::Segment::Text("\n"),
                    ],
                },
                repair: ::core::option::Option::Some(__rig::Repair {
                    max_repairs: 1,
                    model: ::core::option::Option::None,
                }),
            },
        },
        __rig::Variant {
            name: "longer",
            plan: __rig::Plan {
                candidates: &[
                    __rig::Candidate {
                        provider: &HOST_LOCAL,
                        model: "small",
                        capabilities: __rig::Capabilities::of(&[__rig::Capability::StructuredNative, __rig::Capability::JsonMode]),
                        enforcement: __rig::Enforcement::Native(&__rig::Lowered::AS_WRITTEN),
                        price: ::core::option::Option::Some(__rig::Price::flat(__rig::Rates::nanos(100_000_000, 400_000_000).cached(50_000_000))),
                        limits: __rig::Limits::UNKNOWN.context(32_768).output(8_192),
                    },
                ],
                prompt: __rig::Template {
                    segments: &[
                        __rig::Segment::Text("Triage "),
                        __rig::Segment::Variable("ticket"),
                        __rig::Segment::Text(".\n"),
                        __rig::Segment::When {
                            capability: __rig::Capability::JsonMode,
                            present: true,
                            body: &[
                                __rig::Segment::Text("JSON, "),
                                __rig::Segment::Variable("count"),
                                __rig::Segment::Text("."),
                            ],
                        },
                        __rig::Segment::When {
                            capability: __rig::Capability::StructuredNative,
                            present: false,
                            body: &[
                                __rig::Segment::Text("Keep to the schema."),
                            ],
                        },
                        __rig::Segment::Text("\nHistory: "),
                        __rig::Segment::Variable("history"),
                        __rig::Segment::Text(" "),
                        __rig::Segment::Variable("ratio"),
                        __rig::Segment::Text(" "),
                        __rig::Segment::Variable("urgent"),
                        __rig::Segment::Text(" "),
                        __rig::Segment::Variable("note"),
                        __rig::Segment::Text("\n"),
                        __rig::Segment::Text("\n\n"),
                        __rig::Segment::Text("And "),
                        __rig::Segment::Variable("note"),
                        __rig::Segment::Text(".\n"),
                    ],
                },
                repair: ::core::option::Option::Some(__rig::Repair {
                    max_repairs: 2,
                    model: ::core::option::Option::Some(&__rig::Candidate {
                        provider: &HOST_LOCAL,
                        model: "small",
                        capabilities: __rig::Capabilities::of(&[__rig::Capability::StructuredNative, __rig::Capability::JsonMode]),
                        enforcement: __rig::Enforcement::Native(&__rig::Lowered::AS_WRITTEN),
                        price: ::core::option::Option::Some(__rig::Price::flat(__rig::Rates::nanos(100_000_000, 400_000_000).cached(50_000_000))),
                        limits: __rig::Limits::UNKNOWN.context(32_768).output(8_192),
                    }),
                }),
            },
        },
        __rig::Variant {
            name: "framed",
            plan: __rig::Plan {
                candidates: &[
                    __rig::Candidate {
                        provider: &HOST_LOCAL,
                        model: "small",
                        capabilities: __rig::Capabilities::of(&[__rig::Capability::StructuredNative, __rig::Capability::JsonMode]),
                        enforcement: __rig::Enforcement::Native(&__rig::Lowered::AS_WRITTEN),
                        price: ::core::option::Option::Some(__rig::Price::flat(__rig::Rates::nanos(100_000_000, 400_000_000).cached(50_000_000))),
                        limits: __rig::Limits::UNKNOWN.context(32_768).output(8_192),
                    },
                ],
                prompt: __rig::Template {
                    segments: &[
                        __rig::Segment::Text("Read twice.\n\n"),
                        __rig::Segment::Text("Triage "),
                        __rig::Segment::Variable("ticket"),
                        __rig::Segment::Text(".\n"),
                        __rig::Segment::When {
                            capability: __rig::Capability::JsonMode,
                            present: true,
                            body: &[
                                __rig::Segment::Text("JSON, "),
                                __rig::Segment::Variable("count"),
                                __rig::Segment::Text("."),
                            ],
                        },
                        __rig::Segment::When {
                            capability: __rig::Capability::StructuredNative,
                            present: false,
                            body: &[
                                __rig::Segment::Text("Keep to the schema."),
                            ],
                        },
                        __rig::Segment::Text("\nHistory: "),
                        __rig::Segment::Variable("history"),
                        __rig::Segment::Text(" "),
                        __rig::Segment::Variable("ratio"),
                        __rig::Segment::Text(" "),
                        __rig::Segment::Variable("urgent"),
                        __rig::Segment::Text(" "),
                        __rig::Segment::Variable("note"),
                        __rig::Segment::Text("\n"),
                        __rig::Segment::Text("\n\nOf "),
                        __rig::Segment::Variable("count"),
                        __rig::Segment::Text(".\n"),
                    ],
                },
                repair: ::core::option::Option::Some(__rig::Repair {
                    max_repairs: 2,
                    model: ::core::option::Option::Some(&__rig::Candidate {
                        provider: &HOST_LOCAL,
                        model: "small",
                        capabilities: __rig::Capabilities::of(&[__rig::Capability::StructuredNative, __rig::Capability::JsonMode]),
                        enforcement: __rig::Enforcement::Native(&__rig::Lowered::AS_WRITTEN),
                        price: ::core::option::Option::Some(__rig::Price::flat(__rig::Rates::nanos(100_000_000, 400_000_000).cached(50_000_000))),
                        limits: __rig::Limits::UNKNOWN.context(32_768).output(8_192),
                    }),
                }),
            },
        },
    ],
    policy: __rig::Policy {
        retries: &[(__rig::FailureClass::ContentInvalid, 2), (__rig::FailureClass::Network, 4), (__rig::FailureClass::CapacityShed, 3)],
        backoff: &[(__rig::FailureClass::CapacityShed, __rig::Backoff { first_ms: 1_000, factor: 2.0, cap_ms: 8_000, jitter: 0.2 }), (__rig::FailureClass::Timeout, __rig::Backoff { first_ms: 500, factor: 1.0, cap_ms: 500, jitter: 0.0 })],
        timeout_ms: 30_000,
        first_token_ms: ::core::option::Option::Some(5_000),
        idle_ms: ::core::option::Option::Some(10_000),
        deadline_ms: ::core::option::Option::Some(1_800_000),
        tier: ::core::option::Option::Some(__rig::Tier::Flex),
        sampling: __rig::Sampling {
            temperature: ::core::option::Option::Some(0.1),
            top_p: ::core::option::Option::Some(0.9),
            max_output_tokens: ::core::option::Option::Some(8_192),
        },
    },
    max_chars: &[("note", 500)],
    capture: true,
    cache: __rig::Cache::Auto,
    grounding: ::core::option::Option::Some(__rig::Grounding {
        query: __rig::Template {
            segments: &[
                __rig::Segment::Variable("ticket"),
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
        dimensions: &[__rig::Dimension { key: "customer", required: true }, __rig::Dimension { key: "region", required: false }],
    },
    ..__rig::Route::BLANK
};

/// The most attempts that a call of `triage.ticket` makes.
pub const MAX_ATTEMPTS: u32 = 13;

/// The longest that a call of `triage.ticket` takes, attempts and waits together.
pub const MAX_WALL_CLOCK: ::core::time::Duration = ::core::time::Duration::from_mins(30);

/// The most that a call of `triage.ticket` costs, with a prompt as long as the context window.
pub const MAX_COST: __rig::Usd = __rig::Usd::nanos(2_661_057_600);
