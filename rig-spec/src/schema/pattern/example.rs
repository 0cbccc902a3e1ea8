//! Which text holds a match of a pattern?
//!
//! A text is written along the pattern and then looked at: what the pattern asks for beside that (look-around,
//! boundaries) is met by chance, or not at all.

use std::ops::RangeInclusive;

use super::Pattern;
use super::class::{Class, Item};
use super::parse::{self, Tree};

/// How far repetitions go beyond what they have to, try by try.
const EXTRA: [u32; 8] = [1, 0, 2, 4, 8, 16, 32, 64];
/// The tries of each.
const TRIES: usize = 6;
/// Repetitions that need not go on end where the text has this many bytes more than it has to.
const LONGER: usize = 100;
/// The characters that are tried first.
const PLAIN: &str = "abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
/// Those that are tried next.
const OTHERS: &str = " -_.,:;/@+#!?()[]{}<>='\"*&%$|\\~^`\t\né中";
/// The last code point that is looked at for a property.
const LAST: u32 = 0x3000;

impl Pattern {
    /// Returns a text that holds a match of a pattern and has so many characters; `None` if none was found. `pick` is
    /// asked for numbers below its argument, and makes one text or another.
    pub fn example(
        pattern: &str,
        lengths: &RangeInclusive<usize>,
        pick: &mut dyn FnMut(u64) -> u64,
    ) -> Option<String> {
        let (tree, _) = parse::parse(pattern).ok()?;
        let ready = Self::new(pattern).ok()?;
        for extra in EXTRA {
            for _ in 0..TRIES {
                let mut text = String::new();
                let longest = lengths.start().saturating_add(LONGER);
                write(&tree, (extra, longest), pick, &mut text);
                // A pattern without an end takes anything behind its match.
                let length = text.chars().count();
                text.extend((length..*lengths.start()).map(|_| 'a'));
                if lengths.contains(&text.chars().count()) && ready.is_match(&text) == Some(true) {
                    return Some(text);
                }
            }
        }
        None
    }
}

fn write(
    tree: &Tree,
    (extra, longest): (u32, usize),
    pick: &mut dyn FnMut(u64) -> u64,
    out: &mut String,
) {
    match tree {
        Tree::Class(class) => out.extend(character(class, pick)),
        Tree::Each(parts) => parts
            .iter()
            .for_each(|part| write(part, (extra, longest), pick, out)),
        Tree::Either(options) => {
            let chosen = pick(options.len() as u64);
            if let Some(option) = options.get(chosen as usize) {
                write(option, (extra, longest), pick, out);
            }
        }
        Tree::Repeat { what, least, most } => {
            let room = most.map_or(extra, |most| most.saturating_sub(*least).min(extra));
            let times = u64::from(*least) + pick(u64::from(room) + 1);
            for time in 0..times {
                if time < u64::from(*least) || out.len() < longest {
                    write(what, (extra, longest), pick, out);
                }
            }
        }
        // What has to follow may well be written here, though what comes next in the pattern may be it as well.
        Tree::Look {
            what,
            behind: false,
            negated: false,
        } if pick(4) > 0 => write(what, (extra, longest), pick, out),
        // They take no character.
        Tree::Start | Tree::End | Tree::Boundary { .. } | Tree::Look { .. } => {}
    }
}

fn character(class: &Class, pick: &mut dyn FnMut(u64) -> u64) -> Option<char> {
    let taken = |from: &str| from.chars().filter(|c| class.takes(*c)).collect::<Vec<_>>();
    let mut known = taken(PLAIN);
    if known.is_empty() {
        known = taken(OTHERS);
    }
    if !known.is_empty() {
        let at = pick(known.len() as u64);
        return known.get(at as usize).copied();
    }
    let named = class.items.iter().filter_map(|item| match item {
        Item::Range(first, _) => char::from_u32(*first),
        Item::Digit { .. } | Item::Word { .. } | Item::Space { .. } | Item::Property { .. } => None,
    });
    let mut all = named.chain((0..LAST).filter_map(char::from_u32));
    all.find(|c| class.takes(*c))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example(pattern: &str, lengths: RangeInclusive<usize>, seed: u64) -> Option<String> {
        let mut state = seed;
        let mut pick = |below: u64| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (state >> 33) % below.max(1)
        };
        Pattern::example(pattern, &lengths, &mut pick)
    }

    #[test]
    fn patterns_as_people_write_them_have_examples() {
        for pattern in [
            "^[a-z]+$",
            r"^\d{4}-\d{2}-\d{2}$",
            r"^[A-Z]{2,3}-\d+$",
            r"^(?:https?://)?[\w.-]+\.[a-z]{2,6}(/.*)?$",
            r"^[\w.+-]+@[\w-]+\.[\w.]+$",
            r"^#([0-9a-fA-F]{3}|[0-9a-fA-F]{6})$",
            r"^\S+$",
            r"^[^\s]",
            r"^\p{Lu}\p{Ll}*$",
            "^(?!x).*$",
            r"^[\u4e00-\u9fff]$",
            "",
            "a|b",
            r"\.json$",
            r"^(?=.*\d)(?=.*[A-Z]).{8,}$",
            r"((?:[^/]*/)*)(?=\.(yaml|yml|json))",
            "^([^,]+(,|$)){3,}$",
            r"^(\w+\b ?)+$",
        ] {
            let ready = Pattern::new(pattern).unwrap();
            for seed in 0..50 {
                let text = example(pattern, 0..=usize::MAX, seed).unwrap();
                assert_eq!(ready.is_match(&text), Some(true), "{pattern}: {text}");
            }
        }
    }

    #[test]
    fn an_example_has_the_length_that_is_asked_for() {
        for lengths in [0..=1, 8..=8, 20..=30, 100..=101] {
            let text = example("^[a-z]*$", lengths.clone(), 1).unwrap();
            assert!(lengths.contains(&text.len()), "{text}");
        }
        assert_eq!(example("^[a-z]{3}$", 4..=9, 1), None);
    }

    #[test]
    fn what_nothing_matches_has_no_example() {
        for pattern in ["^a(?!.)b$", "[]", "(", r"$\d"] {
            assert_eq!(example(pattern, 0..=usize::MAX, 1), None, "{pattern}");
        }
    }
}
