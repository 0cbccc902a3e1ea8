/// Whatever has a type of its own.
#[derive(Clone, Debug, PartialEq)]
pub struct Drawing {
    /// The property `shape`.
    pub shape: Shape,
    /// The property `origin`.
    pub origin: (f64, f64),
    /// The property `row`.
    pub row: ::core::option::Option<DrawingRow>,
    /// The property `label`.
    pub label: ::core::option::Option<DrawingLabel>,
    /// The property `order`.
    pub order: ::core::option::Option<DrawingOrder>,
    /// The property `scale`.
    pub scale: ::core::option::Option<DrawingScale>,
    /// The property `tree`.
    pub tree: ::core::option::Option<Tree>,
    /// The property `owner`.
    pub owner: ::core::option::Option<DrawingOwner>,
    /// The property `notes`.
    pub notes: ::core::option::Option<::std::collections::BTreeMap<::std::string::String, ::std::string::String>>,
    /// The property `exact`.
    pub exact: ::core::option::Option<DrawingExact>,
    /// The property `loose`.
    pub loose: ::core::option::Option<DrawingLoose>,
    /// The properties that the schema does not list.
    pub additional_properties: ::std::collections::BTreeMap<::std::string::String, f64>,
}

__rig::object!(Drawing {
    shape: required "shape",
    origin: required "origin",
    row: optional "row",
    label: required "label",
    order: optional "order",
    scale: optional "scale",
    tree: optional "tree",
    owner: optional "owner",
    notes: optional "notes",
    exact: optional "exact",
    loose: optional "loose",
    ..additional_properties
});

/// It is round.
#[derive(Clone, Debug, PartialEq)]
pub struct ShapeCircle {
    /// The property `kind`.
    pub kind: ShapeCircleKind,
    /// The property `radius`.
    pub radius: f64,
}

__rig::object!(ShapeCircle {
    kind: required "kind",
    radius: required "radius",
});

/// `ShapeGroup`, as the schema describes it.
#[derive(Clone, Debug, PartialEq)]
pub struct ShapeGroup {
    /// The property `kind`.
    pub kind: ShapeGroupKind,
    /// The property `members`.
    pub members: ::core::option::Option<::std::vec::Vec<Shape>>,
    /// The properties that the schema does not list.
    pub additional_properties: ::std::collections::BTreeMap<::std::string::String, __rig::Value>,
}

__rig::object!(ShapeGroup {
    kind: required "kind",
    members: optional "members",
    ..additional_properties
});

/// `Shape`, as the schema describes it.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// It is round.
    Circle(ShapeCircle),
    /// `kind` is "group" or "layer".
    Group(ShapeGroup),
}

__rig::union!(Shape by "kind" {
    Circle = "circle",
    Group = "group" | "layer",
});

/// `DrawingRow`, as the schema describes it.
#[derive(Clone, Debug, PartialEq)]
pub struct DrawingRow(
    /// The label.
    pub ::std::string::String,
    /// Item 2.
    pub ::core::option::Option<::core::option::Option<i64>>,
    /// The items behind these.
    pub ::std::vec::Vec<bool>,
);

__rig::items!(DrawingRow { 0: required, 1: optional, 2: rest });

/// `DrawingLabel`, as the schema describes it.
#[derive(Clone, Debug, PartialEq)]
pub enum DrawingLabel {
    /// The branch `String`.
    String(::std::string::String),
    /// The branch `Integer`.
    Integer(i64),
}

__rig::union!(DrawingLabel {
    String,
    Integer,
});

/// `DrawingOrder`, as the schema describes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DrawingOrder {
    /// Smallest first.
    Asc,
    /// As it was written in 1970.
    ASC,
    /// The value "".
    Empty,
}

__rig::scalars!(DrawingOrder {
    Asc = String("asc"),
    ASC = String("ASC"),
    Empty = String(""),
});

/// `DrawingScale`, as the schema describes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DrawingScale {
    /// The value `0.5`.
    N0_5,
    /// The value `1`.
    N1,
    /// The value `2`.
    N2,
}

__rig::scalars!(DrawingScale {
    N0_5 = Number(0.5),
    N1 = Integer(1),
    N2 = Integer(2),
});

/// `Tree`, as the schema describes it.
#[derive(Clone, Debug, PartialEq)]
pub enum Tree {
    /// The branch `String`.
    String(::std::string::String),
    /// The branch `List`.
    List(::std::vec::Vec<Tree>),
}

__rig::union!(Tree {
    String,
    List,
});

/// `DrawingOwner`, as the schema describes it.
#[derive(Clone, Debug, PartialEq)]
pub struct DrawingOwner {
    /// The property `name`.
    pub name: ::std::string::String,
    /// The property `age`.
    pub age: i64,
    /// The properties that the schema does not list.
    pub additional_properties: ::std::collections::BTreeMap<::std::string::String, __rig::Value>,
}

__rig::object!(DrawingOwner {
    name: required "name",
    age: required "age",
    ..additional_properties
});

/// `DrawingExact`, as the schema describes it.
#[derive(Clone, Debug, PartialEq)]
pub struct DrawingExact {
    /// The property `version`.
    pub version: DrawingExactVersion,
    /// The property `parts`.
    pub parts: ::std::vec::Vec<DrawingExactPartsItem>,
}

__rig::object!(DrawingExact {
    version: required "version",
    parts: required "parts",
});

/// `DrawingExactVersion`, as the schema describes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DrawingExactVersion {
    /// The value `1`.
    N1,
}

__rig::scalars!(DrawingExactVersion {
    N1 = Integer(1),
});

/// `DrawingExactPartsItem`, as the schema describes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DrawingExactPartsItem {
    /// The value "a".
    A,
    /// The value "b".
    B,
}

__rig::scalars!(DrawingExactPartsItem {
    A = String("a"),
    B = String("b"),
});

/// `DrawingLooseObject`, as the schema describes it.
#[derive(Clone, Debug, PartialEq)]
pub struct DrawingLooseObject {
    /// The property `anything`.
    pub anything: ::core::option::Option<::std::string::String>,
    /// The properties that the schema does not list.
    pub additional_properties: ::std::collections::BTreeMap<::std::string::String, __rig::Value>,
}

__rig::object!(DrawingLooseObject {
    anything: optional "anything",
    ..additional_properties
});

/// `DrawingLoose`, as the schema describes it.
#[derive(Clone, Debug, PartialEq)]
pub enum DrawingLoose {
    /// The branch `Object`.
    Object(DrawingLooseObject),
    /// The branch `Other`.
    Other(__rig::Value),
}

__rig::union!(DrawingLoose {
    Object,
    Other,
});

/// `ShapeCircleKind`, as the schema describes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ShapeCircleKind {
    /// The value "circle".
    Circle,
}

__rig::scalars!(ShapeCircleKind {
    Circle = String("circle"),
});

/// `ShapeGroupKind`, as the schema describes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ShapeGroupKind {
    /// The value "group".
    Group,
    /// The value "layer".
    Layer,
}

__rig::scalars!(ShapeGroupKind {
    Group = String("group"),
    Layer = String("layer"),
});

impl __rig::Output for Drawing {
    const SCHEMA: u64 = 0x5dd5_3a7a_7ae5_37f8;
}

/// What the prompt of `draw` needs.
#[derive(Clone, Debug, PartialEq)]
pub struct DrawInput {}

__rig::input!(DrawInput {});

/// The variants that a call of `draw` can name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Variant {}

impl __rig::RouteVariant for Variant {
    fn index(self) -> usize {
        match self {}
    }
}

/// Route `draw`, version 1.
pub static ROUTE: __rig::Route = __rig::Route {
    name: "draw",
    version: 1,
    schema: ::core::option::Option::Some(__rig::Schema {
        name: "Drawing",
        json: "{\"title\":\"Drawing\",\"description\":\"Whatever has a type of its own.\",\"type\":\"object\",\"properties\":{\"shape\":{\"$ref\":\"#/$defs/shape\"},\"origin\":{\"type\":\"array\",\"prefixItems\":[{\"type\":\"number\"},{\"type\":\"number\"}],\"minItems\":2,\"maxItems\":2},\"row\":{\"type\":\"array\",\"prefixItems\":[{\"type\":\"string\",\"description\":\"The label.\"},{\"type\":[\"integer\",\"null\"]}],\"items\":{\"type\":\"boolean\"},\"minItems\":1},\"label\":{\"type\":[\"string\",\"integer\",\"null\"]},\"order\":{\"oneOf\":[{\"const\":\"asc\",\"description\":\"Smallest first.\"},{\"const\":\"ASC\",\"title\":\"As it was written in 1970.\"},{\"const\":\"\"}]},\"scale\":{\"enum\":[0.5,1,2.0]},\"tree\":{\"$ref\":\"#/$defs/tree\"},\"owner\":{\"allOf\":[{\"$ref\":\"#/$defs/named\"},{\"properties\":{\"age\":{\"type\":\"integer\"}},\"required\":[\"age\"]}]},\"notes\":{\"type\":\"object\",\"patternProperties\":{\"^x-\":{\"type\":\"string\"}},\"additionalProperties\":false},\"exact\":{\"const\":{\"version\":1,\"parts\":[\"a\",\"b\"]}},\"loose\":{\"properties\":{\"anything\":{\"type\":\"string\"}}},\"never\":false},\"required\":[\"shape\",\"origin\",\"label\"],\"anyOf\":[{\"required\":[\"tree\"]},{\"required\":[\"owner\"]}],\"additionalProperties\":{\"type\":\"number\"},\"$defs\":{\"shape\":{\"oneOf\":[{\"type\":\"object\",\"description\":\"It is round.\",\"properties\":{\"kind\":{\"const\":\"circle\"},\"radius\":{\"type\":\"number\"}},\"required\":[\"kind\",\"radius\"],\"additionalProperties\":false},{\"type\":\"object\",\"properties\":{\"kind\":{\"enum\":[\"group\",\"layer\"]},\"members\":{\"type\":\"array\",\"items\":{\"$ref\":\"#/$defs/shape\"}}},\"required\":[\"kind\"]}]},\"tree\":{\"anyOf\":[{\"type\":\"string\"},{\"type\":\"array\",\"items\":{\"$ref\":\"#/$defs/tree\"}}]},\"named\":{\"type\":\"object\",\"properties\":{\"name\":{\"type\":\"string\"}},\"required\":[\"name\"]}}}",
        skeleton: "{\"shape\":{\"kind\":\"circle\",\"radius\":0},\"origin\":[0,1],\"row\":[\"…\",1],\"label\":\"…\",\"order\":\"asc\",\"scale\":0.5,\"tree\":\"…\",\"owner\":{\"name\":\"…\",\"age\":0},\"notes\":{},\"exact\":{\"version\":1,\"parts\":[\"a\",\"b\"]},\"loose\":{\"anything\":\"…\"},\"…\":0}",
        gate: "40 64 48 --12 5:shape3 1 6:origin4 1 3:row5 0 5:label6 1 5:order7 0 5:scale8 0 4:tree9 0 5:owner10 0 5:notes11 0 5:exact12 0 5:loose13 0 5:never14 0 0 15 -0 0 -1 1 2 1 2 127 16 --1 4:tree-1 0 --0 0 -127 16 --1 5:owner-1 0 --0 0 -127 32 1 2 2 16 17 32 8 2 2 0 2 18 19 ---32 8 1 -0 2 20 21 22 --21 0 127 32 1 2 3 23 24 25 127 1 0 3 3 4:5e-13 1:13 1:2127 32 1 1 2 26 27 127 32 1 0 2 28 29 64 16 --0 1 3:^x-30 31 -0 0 -127 1 1 1 5 31:{\"version\":1,\"parts\":[\"a\",\"b\"]}127 16 --1 8:anything32 0 0 --0 0 -0 0 12 0 64 16 --2 4:kind33 1 6:radius34 1 0 35 -0 0 -64 16 --2 4:kind36 1 7:members37 0 0 --0 0 -12 0 12 0 16 0 5 0 2 0 127 1 1 1 4 3:asc127 1 1 1 4 3:ASC127 1 1 1 4 0:16 0 32 8 --0 0 9 --64 16 --1 4:name38 1 0 --0 0 -127 16 --1 3:age39 1 0 --0 0 -16 0 0 0 16 0 127 1 1 1 4 6:circle12 0 0 0 127 1 0 2 4 5:group4 5:layer32 8 --0 0 3 --16 0 4 0 ",
        hash: 0x5dd5_3a7a_7ae5_37f8,
    }),
    plan: __rig::Plan {
        candidates: &[
            __rig::Candidate {
                provider: &__rig::OPENAI,
                model: "gpt-5.4-mini",
                capabilities: __rig::Capabilities::of(&[__rig::Capability::StructuredNative, __rig::Capability::JsonMode]),
                enforcement: __rig::Enforcement::JsonMode,
                price: ::core::option::Option::Some(__rig::Price::flat(__rig::Rates::nanos(750_000_000, 4_500_000_000).cached(75_000_000))),
                limits: __rig::Limits::UNKNOWN.context(272_000).output(128_000).tier(__rig::Tier::Flex, __rig::Price::flat(__rig::Rates::nanos(375_000_000, 2_250_000_000).cached(37_500_000))).tier(__rig::Tier::Priority, __rig::Price::flat(__rig::Rates::nanos(1_500_000_000, 9_000_000_000).cached(150_000_000))),
            },
        ],
        prompt: __rig::Template {
            segments: &[
                __rig::Segment::Text("Draw a house.\n"),
            ],
        },
        repair: ::core::option::Option::None,
    },
    ..__rig::Route::BLANK
};

/// The most attempts that a call of `draw` makes.
pub const MAX_ATTEMPTS: u32 = 1;

/// The longest that a call of `draw` takes, attempts and waits together.
pub const MAX_WALL_CLOCK: ::core::time::Duration = ::core::time::Duration::from_mins(1);

/// The most that a call of `draw` costs, with a prompt as long as the context window.
pub const MAX_COST: __rig::Usd = __rig::Usd::nanos(1_560_000_000);
