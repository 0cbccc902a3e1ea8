//! How is the text of a pattern read?

use super::BadPattern;
use super::class::{Class, Item, Property};

/// A pattern as it is written.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Tree {
    /// One character.
    Class(Class),
    /// One after the other.
    Each(Vec<Tree>),
    /// One of these.
    Either(Vec<Tree>),
    /// Again and again.
    Repeat {
        what: Box<Tree>,
        least: u32,
        most: Option<u32>,
    },
    /// `^`.
    Start,
    /// `$`.
    End,
    /// `\b`, `\B`.
    Boundary { negated: bool },
    /// `(?=…)`, `(?!…)`, `(?<=…)`, `(?<!…)`.
    Look {
        what: Box<Tree>,
        behind: bool,
        negated: bool,
    },
}

/// Groups nest no deeper than this.
const DEEPEST: usize = 64;

/// Reads a pattern; returns it with its length in characters.
pub(super) fn parse(pattern: &str) -> Result<(Tree, usize), BadPattern> {
    let mut parser = Parser {
        text: pattern.chars().collect(),
        at: 0,
        depth: 0,
    };
    let tree = parser.either()?;
    match parser.peek() {
        None => Ok((tree, parser.at)),
        Some(_) => Err(parser.fault("a group is closed that was not opened")),
    }
}

struct Parser {
    text: Vec<char>,
    at: usize,
    depth: usize,
}

impl Parser {
    fn peek(&self) -> Option<char> {
        self.text.get(self.at).copied()
    }

    fn next(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += 1;
        Some(c)
    }

    fn eat(&mut self, what: &str) -> bool {
        let length = what.chars().count();
        let ahead = self.text.get(self.at..self.at + length);
        let found = ahead.is_some_and(|ahead| ahead.iter().copied().eq(what.chars()));
        if found {
            self.at += length;
        }
        found
    }

    fn fault(&self, reason: &str) -> BadPattern {
        BadPattern {
            reason: reason.to_owned(),
            at: self.at,
        }
    }

    fn either(&mut self) -> Result<Tree, BadPattern> {
        let mut options = vec![self.each()?];
        while self.eat("|") {
            options.push(self.each()?);
        }
        Ok(match options.len() {
            1 => options.remove(0),
            _ => Tree::Either(options),
        })
    }

    fn each(&mut self) -> Result<Tree, BadPattern> {
        let mut parts = Vec::new();
        while let Some(c) = self.peek() {
            if c == '|' || c == ')' {
                break;
            }
            let part = self.term()?;
            parts.push(self.repeated(part)?);
        }
        Ok(Tree::Each(parts))
    }

    fn term(&mut self) -> Result<Tree, BadPattern> {
        let Some(c) = self.next() else {
            return Err(self.fault("it ends too early"));
        };
        Ok(match c {
            '^' => Tree::Start,
            '$' => Tree::End,
            '(' => self.group()?,
            '[' => Tree::Class(self.class()?),
            '\\' => self.escape()?,
            '.' => Tree::Class(Class {
                negated: true,
                items: [(10, 10), (13, 13), (0x2028, 0x2029)]
                    .map(|(first, last)| Item::Range(first, last))
                    .into(),
            }),
            '*' | '+' | '?' => {
                self.at -= 1;
                return Err(self.fault("there is nothing to repeat"));
            }
            c => literal(c),
        })
    }

    fn group(&mut self) -> Result<Tree, BadPattern> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(self.fault("its groups nest too deeply"));
        }
        let look = [
            ("?=", false, false),
            ("?!", false, true),
            ("?<=", true, false),
            ("?<!", true, true),
        ];
        let look = look.into_iter().find(|(sign, ..)| self.eat(sign));
        if look.is_none() && !self.eat("?:") && self.eat("?") {
            self.name()?;
        }
        let inner = self.either()?;
        if !self.eat(")") {
            return Err(self.fault("a group is not closed"));
        }
        self.depth -= 1;
        Ok(match look {
            None => inner,
            Some((_, behind, negated)) => Tree::Look {
                what: Box::new(inner),
                behind,
                negated,
            },
        })
    }

    /// The name of a group, which nothing refers to.
    fn name(&mut self) -> Result<(), BadPattern> {
        if !self.eat("<") {
            return Err(self.fault("there is no such kind of group"));
        }
        let from = self.at;
        let is_name = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
        while self.peek().is_some_and(is_name) {
            self.at += 1;
        }
        if self.at == from || !self.eat(">") {
            return Err(self.fault("a group has no name"));
        }
        Ok(())
    }

    fn repeated(&mut self, what: Tree) -> Result<Tree, BadPattern> {
        let (least, most) = match self.peek() {
            Some('*') => (0, None),
            Some('+') => (1, None),
            Some('?') => (0, Some(1)),
            Some('{') => match self.counts() {
                Some(counts) => counts,
                None => return Ok(what),
            },
            _ => return Ok(what),
        };
        self.at += 1;
        // Greedy or not is about where a match ends, not about whether there is one.
        self.eat("?");
        if most.is_some_and(|most| most < least) {
            return Err(self.fault("the numbers of a repetition are out of order"));
        }
        if matches!(self.peek(), Some('*' | '+' | '?')) {
            return Err(self.fault("there is nothing to repeat"));
        }
        Ok(Tree::Repeat {
            what: Box::new(what),
            least,
            most,
        })
    }

    /// Reads `{2}`, `{2,}` or `{2,3}` up to its brace; stays where it is before a brace that is none of these.
    fn counts(&mut self) -> Option<(u32, Option<u32>)> {
        let from = self.at;
        self.at += 1;
        let least = self.count();
        let comma = self.eat(",");
        let most = if comma { self.count() } else { least };
        match (least, self.peek()) {
            (Some(least), Some('}')) => Some((least, most)),
            _ => {
                self.at = from;
                None
            }
        }
    }

    fn count(&mut self) -> Option<u32> {
        let mut count = None;
        while let Some(digit) = self.peek().and_then(|c| c.to_digit(10)) {
            count = Some(
                count
                    .unwrap_or(0_u32)
                    .saturating_mul(10)
                    .saturating_add(digit),
            );
            self.at += 1;
        }
        count
    }

    /// An escape outside of a set.
    fn escape(&mut self) -> Result<Tree, BadPattern> {
        match self.peek() {
            Some('b') => {
                self.at += 1;
                Ok(Tree::Boundary { negated: false })
            }
            Some('B') => {
                self.at += 1;
                Ok(Tree::Boundary { negated: true })
            }
            Some('1'..='9' | 'k') => {
                Err(self.fault("back-references such as `\\1` are not supported"))
            }
            _ => self.escaped().map(|item| Tree::Class(Class::of(item))),
        }
    }

    /// What follows a backslash, as a part of a set.
    fn escaped(&mut self) -> Result<Item, BadPattern> {
        let Some(c) = self.next() else {
            return Err(self.fault("it ends with a backslash"));
        };
        let code = match c {
            'd' | 'D' => return Ok(Item::Digit { negated: c == 'D' }),
            'w' | 'W' => return Ok(Item::Word { negated: c == 'W' }),
            's' | 'S' => return Ok(Item::Space { negated: c == 'S' }),
            'p' | 'P' => return self.property(c == 'P'),
            't' => 9,
            'n' => 10,
            'v' => 11,
            'f' => 12,
            'r' => 13,
            '0' if !self.peek().is_some_and(|c| c.is_ascii_digit()) => 0,
            'c' => match self.next() {
                Some(c) if c.is_ascii_alphabetic() => u32::from(c) % 32,
                _ => return Err(self.fault("`\\c` wants a letter")),
            },
            'x' => self.hex(2)?,
            'u' => self.unicode()?,
            c if !c.is_alphanumeric() => u32::from(c),
            c => {
                self.at -= 1;
                return Err(self.fault(&format!("there is no escape `\\{c}`")));
            }
        };
        Ok(Item::Range(code, code))
    }

    fn property(&mut self, negated: bool) -> Result<Item, BadPattern> {
        let from = self.at;
        let mut name = String::new();
        if self.eat("{") {
            while let Some(c) = self.next().filter(|c| *c != '}') {
                name.push(c);
            }
        }
        match Property::named(&name) {
            Some(property) => Ok(Item::Property { property, negated }),
            None => {
                self.at = from;
                let reason =
                    format!("the property `{name}` is not supported; general categories are");
                Err(self.fault(&reason))
            }
        }
    }

    fn hex(&mut self, digits: usize) -> Result<u32, BadPattern> {
        let mut code = 0;
        for _ in 0..digits {
            let digit = self.next().and_then(|c| c.to_digit(16));
            code = code * 16 + digit.ok_or_else(|| self.fault("a hexadecimal digit is missing"))?;
        }
        Ok(code)
    }

    /// `\u0041`, `\u{41}`, or a pair of surrogates, each written so.
    fn unicode(&mut self) -> Result<u32, BadPattern> {
        if self.eat("{") {
            let mut code: u32 = 0;
            while let Some(digit) = self.peek().and_then(|c| c.to_digit(16)) {
                code = code.saturating_mul(16).saturating_add(digit);
                self.at += 1;
            }
            if code > 0x10_ffff || !self.eat("}") {
                return Err(self.fault("there is no such code point"));
            }
            return Ok(code);
        }
        let high = self.hex(4)?;
        let after = self.at;
        if (0xd800..0xdc00).contains(&high) && self.eat("\\u") {
            match self.hex(4) {
                Ok(low) if (0xdc00..0xe000).contains(&low) => {
                    return Ok(0x1_0000 + ((high - 0xd800) << 10) + (low - 0xdc00));
                }
                _ => self.at = after,
            }
        }
        Ok(high)
    }

    fn class(&mut self) -> Result<Class, BadPattern> {
        let mut class = Class {
            negated: self.eat("^"),
            items: Vec::new(),
        };
        loop {
            let first = match self.next() {
                None => return Err(self.fault("a set is not closed")),
                Some(']') => return Ok(class),
                Some(c) => self.member(c)?,
            };
            let is_range =
                self.peek() == Some('-') && self.text.get(self.at + 1).is_some_and(|c| *c != ']');
            let Item::Range(low, _) = first else {
                class.items.push(first);
                continue;
            };
            if !is_range {
                class.items.push(first);
                continue;
            }
            self.at += 1;
            let last = match self.next() {
                None => return Err(self.fault("a set is not closed")),
                Some(c) => self.member(c)?,
            };
            match last {
                Item::Range(high, _) if low <= high => class.items.push(Item::Range(low, high)),
                Item::Range(..) => return Err(self.fault("a range is out of order")),
                // `[a-\d]` is `a`, `-` and the digits.
                other => {
                    let dash = u32::from('-');
                    class.items.extend([first, Item::Range(dash, dash), other]);
                }
            }
        }
    }

    fn member(&mut self, c: char) -> Result<Item, BadPattern> {
        match c {
            '\\' if self.eat("b") => Ok(Item::Range(8, 8)),
            '\\' => self.escaped(),
            c => Ok(Item::Range(u32::from(c), u32::from(c))),
        }
    }
}

fn literal(c: char) -> Tree {
    Tree::Class(Class::of(Item::Range(u32::from(c), u32::from(c))))
}
