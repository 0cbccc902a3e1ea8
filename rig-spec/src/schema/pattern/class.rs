//! Which characters does one place of a pattern take?

use unicode_general_category::{GeneralCategory as Category, get_general_category};

/// A set of characters.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Class {
    pub(super) negated: bool,
    pub(super) items: Vec<Item>,
}

/// A part of a set.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Item {
    /// From the first to the last code point. Surrogates may be named; no text has them.
    Range(u32, u32),
    /// `\d`, `\D`.
    Digit { negated: bool },
    /// `\w`, `\W`.
    Word { negated: bool },
    /// `\s`, `\S`.
    Space { negated: bool },
    /// `\p{…}`, `\P{…}`.
    Property { property: Property, negated: bool },
}

/// A property of characters that a pattern can name.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Property {
    /// A general category (`Lu`) or a group of them (`L`), by its short name.
    Category(&'static str),
    /// `Alphabetic`.
    Alphabetic,
    /// `Lowercase`.
    Lowercase,
    /// `Uppercase`.
    Uppercase,
    /// `White_Space`.
    WhiteSpace,
    /// `ASCII`.
    Ascii,
    /// `Any`.
    Any,
    /// `Assigned`.
    Assigned,
}

impl Class {
    /// Returns the set of one item.
    pub(super) fn of(item: Item) -> Self {
        Self {
            negated: false,
            items: vec![item],
        }
    }

    pub(super) fn takes(&self, c: char) -> bool {
        self.items.iter().any(|item| item.takes(c)) != self.negated
    }
}

impl Item {
    fn takes(&self, c: char) -> bool {
        match self {
            Self::Range(first, last) => (*first..=*last).contains(&u32::from(c)),
            Self::Digit { negated } => c.is_ascii_digit() != *negated,
            Self::Word { negated } => is_word(c) != *negated,
            Self::Space { negated } => is_space(c) != *negated,
            Self::Property { property, negated } => property.has(c) != *negated,
        }
    }
}

/// Returns whether `\w` takes a character.
pub(super) fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// Returns whether `\s` takes a character: white space and line ends of ECMA-262.
fn is_space(c: char) -> bool {
    match c {
        '\t'..='\r' | ' ' | '\u{a0}' | '\u{feff}' | '\u{2028}' | '\u{2029}' => true,
        c if c.is_ascii() => false,
        c => get_general_category(c) == Category::SpaceSeparator,
    }
}

/// The categories with their short and long names; a group's short name begins those of its members.
const CATEGORIES: [(&str, &str); 38] = [
    ("L", "Letter"),
    ("LC", "Cased_Letter"),
    ("Lu", "Uppercase_Letter"),
    ("Ll", "Lowercase_Letter"),
    ("Lt", "Titlecase_Letter"),
    ("Lm", "Modifier_Letter"),
    ("Lo", "Other_Letter"),
    ("M", "Mark"),
    ("Mn", "Nonspacing_Mark"),
    ("Mc", "Spacing_Mark"),
    ("Me", "Enclosing_Mark"),
    ("N", "Number"),
    ("Nd", "Decimal_Number"),
    ("Nl", "Letter_Number"),
    ("No", "Other_Number"),
    ("P", "Punctuation"),
    ("Pc", "Connector_Punctuation"),
    ("Pd", "Dash_Punctuation"),
    ("Ps", "Open_Punctuation"),
    ("Pe", "Close_Punctuation"),
    ("Pi", "Initial_Punctuation"),
    ("Pf", "Final_Punctuation"),
    ("Po", "Other_Punctuation"),
    ("S", "Symbol"),
    ("Sm", "Math_Symbol"),
    ("Sc", "Currency_Symbol"),
    ("Sk", "Modifier_Symbol"),
    ("So", "Other_Symbol"),
    ("Z", "Separator"),
    ("Zs", "Space_Separator"),
    ("Zl", "Line_Separator"),
    ("Zp", "Paragraph_Separator"),
    ("C", "Other"),
    ("Cc", "Control"),
    ("Cf", "Format"),
    ("Cs", "Surrogate"),
    ("Co", "Private_Use"),
    ("Cn", "Unassigned"),
];

/// Other names of some categories.
const ALIASES: [(&str, &str); 5] = [
    ("Nd", "digit"),
    ("P", "punct"),
    ("Cc", "cntrl"),
    ("M", "Combining_Mark"),
    ("Mc", "Spacing_Combining_Mark"),
];

impl Property {
    /// Returns the property of a name, e.g. `L`, `Letter`, `gc=Lu`.
    pub(super) fn named(name: &str) -> Option<Self> {
        let (key, value) = name.split_once('=').unwrap_or(("", name));
        let category = || {
            let mut known = CATEGORIES.iter().chain(&ALIASES);
            let found = known.find(|(short, long)| *short == value || *long == value);
            found.map(|(short, _)| Self::Category(short))
        };
        match (key, value) {
            ("", "Alphabetic" | "Alpha") => Some(Self::Alphabetic),
            ("", "Lowercase" | "Lower") => Some(Self::Lowercase),
            ("", "Uppercase" | "Upper") => Some(Self::Uppercase),
            ("", "White_Space" | "space") => Some(Self::WhiteSpace),
            ("", "ASCII") => Some(Self::Ascii),
            ("", "Any") => Some(Self::Any),
            ("", "Assigned") => Some(Self::Assigned),
            ("" | "General_Category" | "gc", _) => category(),
            _ => None,
        }
    }

    fn has(self, c: char) -> bool {
        match self {
            Self::Category("LC") => ["Lu", "Ll", "Lt"].contains(&category(c)),
            Self::Category(name) => category(c).starts_with(name),
            Self::Alphabetic => c.is_alphabetic(),
            Self::Lowercase => c.is_lowercase(),
            Self::Uppercase => c.is_uppercase(),
            Self::WhiteSpace => c.is_whitespace(),
            Self::Ascii => c.is_ascii(),
            Self::Any => true,
            Self::Assigned => category(c) != "Cn",
        }
    }
}

fn category(c: char) -> &'static str {
    get_general_category(c).abbreviation()
}
