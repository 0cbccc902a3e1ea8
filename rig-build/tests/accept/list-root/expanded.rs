/// `Tags`, as the schema describes it.
#[derive(Clone, Debug, PartialEq)]
pub struct Tags(
    /// The value.
    pub ::std::vec::Vec<Tag>,
);

__rig::newtype!(Tags);

/// `Tag`, as the schema describes it.
#[derive(Clone, Debug, PartialEq)]
pub struct Tag {
    /// The property `name`.
    pub name: ::std::string::String,
}

__rig::object!(Tag {
    name: required "name",
});

impl __rig::Output for Tags {
    const SCHEMA: u64 = 0x011f_7643_327b_5355;
}

/// What the prompt of `tags` needs.
#[derive(Clone, Debug, PartialEq)]
pub struct TagsInput {
    /// The variable `text`.
    pub text: ::std::string::String,
}

__rig::input!(TagsInput {
    text: "text",
});

/// The variants that a call of `tags` can name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Variant {}

impl __rig::RouteVariant for Variant {
    fn index(self) -> usize {
        match self {}
    }
}

/// Route `tags`, version 1.
pub static ROUTE: __rig::Route = __rig::Route {
    name: "tags",
    version: 1,
    schema: ::core::option::Option::Some(__rig::Schema {
        name: "Tags",
        json: "{\"type\":\"array\",\"items\":{\"type\":\"object\",\"properties\":{\"name\":{\"type\":\"string\"}},\"required\":[\"name\"],\"additionalProperties\":false}}",
        skeleton: "[{\"name\":\"…\"}]",
        gate: "4 32 8 --0 0 1 --64 16 --1 4:name2 1 0 3 -0 0 -16 0 0 0 ",
        hash: 0x011f_7643_327b_5355,
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
                __rig::Segment::Text("Tags of "),
                __rig::Segment::Variable("text"),
                __rig::Segment::Text(", in JSON.\n"),
            ],
        },
        repair: ::core::option::Option::None,
    },
    ..__rig::Route::BLANK
};

/// The most attempts that a call of `tags` makes.
pub const MAX_ATTEMPTS: u32 = 1;

/// The longest that a call of `tags` takes, attempts and waits together.
pub const MAX_WALL_CLOCK: ::core::time::Duration = ::core::time::Duration::from_mins(1);

/// The most that a call of `tags` costs, with a prompt as long as the context window.
pub const MAX_COST: __rig::Usd = __rig::Usd::nanos(142_293_760);
