/// `Order`, as the schema describes it.
#[derive(Clone, Debug, PartialEq)]
pub struct Order {
    /// The property `item`.
    pub item: Item,
    /// The property `note`.
    pub note: ::core::option::Option<::core::option::Option<::std::string::String>>,
}

__rig::object!(Order {
    item: required "item",
    note: optional "note",
});

/// `Item`, as the schema describes it.
#[derive(Clone, Debug, PartialEq)]
pub struct Item {
    /// The property `sku`.
    pub sku: ::core::option::Option<::std::string::String>,
    /// The property `note`.
    pub note: ::core::option::Option<::core::option::Option<::std::string::String>>,
}

__rig::object!(Item {
    sku: optional "sku",
    note: optional "note",
});

impl __rig::Output for Order {
    const SCHEMA: u64 = 0xb97e_86ac_6c82_0b8b;
}

/// What the prompt of `order` needs.
#[derive(Clone, Debug, PartialEq)]
pub struct OrderInput {
    /// The variable `text`.
    pub text: ::std::string::String,
}

__rig::input!(OrderInput {
    text: "text",
});

/// The variants that a call of `order` can name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Variant {}

impl __rig::RouteVariant for Variant {
    fn index(self) -> usize {
        match self {}
    }
}

/// Route `order`, version 1.
pub static ROUTE: __rig::Route = __rig::Route {
    name: "order",
    version: 1,
    schema: ::core::option::Option::Some(__rig::Schema {
        name: "Order",
        json: "{\"type\":\"object\",\"properties\":{\"item\":{\"$ref\":\"#/$defs/defs.json/$defs/item\"},\"note\":{\"$ref\":\"#/$defs/defs.json/$defs/note\"}},\"required\":[\"item\"],\"additionalProperties\":false,\"$defs\":{\"defs.json\":{\"$defs\":{\"item\":{\"type\":\"object\",\"properties\":{\"sku\":{\"type\":\"string\"},\"note\":{\"$ref\":\"#/$defs/defs.json/$defs/note\"}},\"additionalProperties\":false},\"note\":{\"type\":[\"string\",\"null\"],\"description\":\"A note.\"}}}}}",
        skeleton: "{\"item\":{\"sku\":\"…\",\"note\":\"…\"},\"note\":\"…\"}",
        gate: "6 64 16 --2 4:item1 1 4:note2 0 0 3 -0 0 -64 16 --2 3:sku4 0 4:note2 0 0 5 -0 0 -17 0 0 0 16 0 0 0 ",
        hash: 0xb97e_86ac_6c82_0b8b,
    }),
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
                __rig::Segment::Variable("text"),
                __rig::Segment::Text("\n"),
            ],
        },
        repair: ::core::option::Option::None,
    },
    ..__rig::Route::BLANK
};

/// The most attempts that a call of `order` makes.
pub const MAX_ATTEMPTS: u32 = 1;

/// The longest that a call of `order` takes, attempts and waits together.
pub const MAX_WALL_CLOCK: ::core::time::Duration = ::core::time::Duration::from_mins(1);

/// The most that a call of `order` costs, with a prompt as long as the context window.
pub const MAX_COST: __rig::Usd = __rig::Usd::nanos(142_293_760);
