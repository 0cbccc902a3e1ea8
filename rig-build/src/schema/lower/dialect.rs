//! What does each provider's native dialect of JSON Schema take?
//!
//! Data only. Sources: the providers' public documentation of structured output, as of August 2026. A keyword that
//! a provider says nothing about is not sent: a refused request costs the candidate, a coached keyword only a
//! promise that the gate keeps anyway.

use rig_spec::NativeSchema;

/// The rules of a dialect.
#[derive(Debug)]
pub(crate) struct Dialect {
    /// The bounds and the like that it enforces. Types, `enum`, `properties`, `required`, `items`, `anyOf`, `$ref`
    /// and `$defs` are enforced by all.
    pub(super) enforces: &'static [&'static str],
    /// The values of `format` that it enforces.
    pub(super) formats: &'static [&'static str],
    /// The largest `minItems` that it takes.
    pub(super) min_items: u64,
    /// Which values an `enum` may list.
    pub(super) values: Values,
    /// Whether the root has to be an object without a choice.
    pub(super) object_root: bool,
    /// Whether every place has to say its type.
    pub(super) typed: bool,
    /// Which properties an object may have besides those it names.
    pub(super) others: Others,
    /// Whether every property has to be required.
    pub(super) all_required: bool,
    /// Where a schema may refer to itself.
    pub(super) recursion: Recursion,
    /// Whether an array may say each item's schema by its place.
    pub(super) tuples: bool,
    /// How large a schema may be.
    pub(super) limits: Limits,
}

/// Which values an `enum` may list. Lists and objects are nowhere taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Values {
    Scalars,
    StringsAndNumbers,
}

/// Which properties an object may have besides those it names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Others {
    /// None, and every object says so.
    Never,
    /// None, unless the object says that it may have any; their schema cannot be said.
    IfSaid,
    /// None of an object that names some, unless it says what they are.
    IfDescribed,
    /// As JSON Schema has it.
    AsWritten,
}

/// Where a schema may refer to itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Recursion {
    Anywhere,
    /// Only within a property that is not required.
    Optional,
    Nowhere,
}

/// How large a schema may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Limits {
    /// Levels of objects and arrays.
    pub(super) depth: usize,
    /// Properties of all objects together.
    pub(super) properties: usize,
    /// Values of all enums together.
    pub(super) enum_values: usize,
    /// Characters of all names and enum values together.
    pub(super) characters: usize,
    /// Properties that are not required, of all objects together.
    pub(super) optional: usize,
    /// Places with several types or a choice.
    pub(super) unions: usize,
}

const NO_LIMITS: Limits = Limits {
    depth: usize::MAX,
    properties: usize::MAX,
    enum_values: usize::MAX,
    characters: usize::MAX,
    optional: usize::MAX,
    unions: usize::MAX,
};

static OPENAI: Dialect = Dialect {
    enforces: &[
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "multipleOf",
        "pattern",
        "format",
        "minItems",
        "maxItems",
    ],
    formats: &[
        "date-time",
        "time",
        "date",
        "duration",
        "email",
        "hostname",
        "ipv4",
        "ipv6",
        "uuid",
    ],
    min_items: u64::MAX,
    values: Values::Scalars,
    object_root: true,
    typed: true,
    others: Others::Never,
    all_required: true,
    recursion: Recursion::Anywhere,
    tuples: false,
    limits: Limits {
        depth: 10,
        properties: 5_000,
        enum_values: 1_000,
        characters: 120_000,
        ..NO_LIMITS
    },
};

static ANTHROPIC: Dialect = Dialect {
    enforces: &["pattern", "format", "minItems"],
    formats: &[
        "date-time",
        "time",
        "date",
        "duration",
        "email",
        "hostname",
        "uri",
        "ipv4",
        "ipv6",
        "uuid",
    ],
    min_items: 1,
    values: Values::Scalars,
    object_root: true,
    typed: true,
    others: Others::Never,
    all_required: false,
    recursion: Recursion::Nowhere,
    tuples: false,
    limits: Limits {
        optional: 24,
        unions: 16,
        ..NO_LIMITS
    },
};

static GEMINI: Dialect = Dialect {
    enforces: &["minimum", "maximum", "minItems", "maxItems", "format"],
    formats: &["date-time", "date", "time"],
    min_items: u64::MAX,
    values: Values::StringsAndNumbers,
    object_root: false,
    typed: false,
    others: Others::AsWritten,
    all_required: false,
    recursion: Recursion::Optional,
    tuples: true,
    limits: NO_LIMITS,
};

static XAI: Dialect = Dialect {
    enforces: &["format"],
    formats: &["date-time", "date", "time", "email", "uuid", "ipv4"],
    min_items: 0,
    values: Values::Scalars,
    object_root: true,
    typed: true,
    others: Others::IfSaid,
    all_required: false,
    recursion: Recursion::Nowhere,
    tuples: false,
    limits: NO_LIMITS,
};

static FIREWORKS: Dialect = Dialect {
    enforces: &[],
    formats: &[],
    min_items: 0,
    values: Values::Scalars,
    object_root: false,
    typed: true,
    others: Others::IfDescribed,
    all_required: false,
    recursion: Recursion::Anywhere,
    tuples: false,
    limits: NO_LIMITS,
};

/// It depends on the model behind it, so what grammar engines have in common is sent.
static DEEPINFRA: Dialect = Dialect {
    enforces: &[
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "pattern",
        "minLength",
        "maxLength",
        "minItems",
        "maxItems",
    ],
    formats: &[],
    min_items: u64::MAX,
    values: Values::Scalars,
    object_root: false,
    typed: false,
    others: Others::AsWritten,
    all_required: false,
    recursion: Recursion::Anywhere,
    tuples: true,
    limits: NO_LIMITS,
};

impl Dialect {
    /// Returns the rules of a dialect; `None` where every schema is sent as it is written.
    pub(crate) fn of(kind: NativeSchema) -> Option<&'static Self> {
        match kind {
            NativeSchema::OpenAiStrict => Some(&OPENAI),
            NativeSchema::Anthropic => Some(&ANTHROPIC),
            NativeSchema::Gemini => Some(&GEMINI),
            NativeSchema::Xai => Some(&XAI),
            NativeSchema::Fireworks => Some(&FIREWORKS),
            NativeSchema::DeepInfra => Some(&DEEPINFRA),
            NativeSchema::Any => None,
        }
    }

    /// Returns whether a keyword with this value can be sent.
    pub(super) fn takes(&self, keyword: &str, text: Option<&str>) -> bool {
        self.enforces.contains(&keyword)
            && match (keyword, text) {
                ("format", Some(format)) => self.formats.contains(&format),
                ("pattern", Some(pattern)) => is_plain(pattern),
                _ => true,
            }
    }
}

/// Returns whether a pattern does without what engines that know no way back leave out: looking around, referring
/// back, word boundaries, Unicode classes.
fn is_plain(pattern: &str) -> bool {
    let mut rest = pattern;
    while let Some(at) = rest.find(['\\', '(']) {
        let tail = &rest[at..];
        let escaped = tail.strip_prefix('\\').and_then(|tail| tail.chars().next());
        let refused = match escaped {
            Some(c) => c.is_ascii_digit() || matches!(c, 'b' | 'B' | 'k' | 'p' | 'P'),
            None => tail.starts_with("(?") && !tail.starts_with("(?:"),
        };
        if refused {
            return false;
        }
        let skipped = 1 + escaped.map_or(0, char::len_utf8);
        rest = &tail[skipped..];
    }
    true
}
